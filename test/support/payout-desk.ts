/** A partner of the outside world that pays out: it answers from memory, and signs what it says. */

import { createHash } from 'node:crypto';
import type { PayoutDesk, SignedAnswer } from '../../src/ports/payouts.ts';
import type { RouteVenue } from '../../src/ports/route-venue.ts';
import type { PartnerPayoutOffer, PartnerPayoutState } from '../../src/protocol/partner/messages.ts';
import { partnerHeaders, partnerSigningKey, publicKeyText } from '../../src/protocol/partner/signature.ts';
import { newPem } from './partner.ts';

/** Always open; one offer is like another, so that documents can show it. */
export function payoutVenue(currency = 'EUR'): RouteVenue {
  const key = partnerSigningKey(newPem());
  const signed = (answer: object): SignedAnswer => {
    const body = JSON.stringify(answer);
    const id = createHash('sha256').update(body).digest('hex').slice(0, 32);
    const timestamp = Math.floor(Date.now() / 1_000);
    return {
      id,
      timestamp,
      body,
      signature: partnerHeaders({ id, timestamp, body }, [key])['webhook-signature'],
    };
  };
  const assets = new Map<string, PartnerPayoutState['asset']>();
  const payouts: PayoutDesk = {
    publicKeys: [publicKeyText(key)],
    pays: (_, wanted) => wanted === currency,
    async offer({ amount, ...ask }) {
      const now = Math.floor(Date.now() / 1_000);
      const offerId = `offer-${assets.size + 1}`;
      assets.set(offerId, ask.asset);
      const offer: PartnerPayoutOffer = {
        offerId,
        ...ask,
        amount: amount.toString(),
        payTo: `0x${'ab'.repeat(20)}`,
        amountOut: '899.00',
        fee: '1.00',
        arrivesAt: now + 90_000,
        validUntil: now + 3_600,
        link: `https://partner.example/payouts/${offerId}`,
      };
      return {
        offer,
        opening: { from: now - 3_600, cutOff: now + 3_600, to: now + 7_200 },
        limits: { minAmount: 10_000_000n, maxAmount: 50_000_000_000n },
        signed: signed(offer),
      };
    },
    async status(offerId) {
      const asset = assets.get(offerId);
      if (asset === undefined) return undefined;
      const state: PartnerPayoutState = { offerId, asset, status: 'waiting', reference: null, sentAt: null };
      return { state, signed: signed(state) };
    },
  };
  return {
    id: 'acme-payouts',
    name: 'Acme Payouts',
    kind: 'fiat',
    limits: { timeoutMs: 500, maxInFlight: 8, maxSlackBps: 0 },
    serves: () => false,
    quote: async () => ({ declined: 'pair' }),
    payouts,
  };
}
