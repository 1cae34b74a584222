/** Asks a partner for payouts, and checks its signed answers against the request and the partner's terms. */

import type { Address } from '../../domain/hex.ts';
import { ZERO_ADDRESS } from '../../domain/hex.ts';
import { toSeconds } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PayoutAsk, PayoutDesk } from '../../ports/payouts.ts';
import type { PartnerPayoutOffer, PartnerTerms } from '../../protocol/partner/messages.ts';
import { type PartnerClient, PartnerFault, PartnerRefusal } from './client.ts';
import { hoursAt } from './hours.ts';

interface PayoutOptions {
  id: string;
  publicKeys: readonly string[];
  timeoutMs: number;
}

export function createPayoutDesk(
  { client, clock, terms }: { client: PartnerClient; clock: Clock; terms(): PartnerTerms | undefined },
  { id, publicKeys, timeoutMs }: PayoutOptions,
): PayoutDesk {
  const listed = (asset: string, currency: string) =>
    terms()?.payouts.find((each) => each.asset === asset && each.currency === currency);

  return {
    publicKeys,
    pays: (asset, currency) => listed(asset, currency) !== undefined,
    async offer(ask) {
      const pair = listed(ask.asset, ask.currency);
      if (!pair) return { declined: 'pair' };
      const now = toSeconds(clock.nowMs());
      const opening = hoursAt(terms()?.hours ?? null, now, now);
      if (opening && 'declined' in opening) return opening;
      const limits = { minAmount: bigintOf(pair.minAmount), maxAmount: bigintOf(pair.maxAmount) };
      if (limits.minAmount !== null && ask.amount < limits.minAmount)
        return { declined: 'size_below_min', minAmount: limits.minAmount };
      if (limits.maxAmount !== null && ask.amount > limits.maxAmount)
        return { declined: 'size_above_max', maxAmount: limits.maxAmount };
      const { answer, signed } = await client.askSigned(
        'payout-offer',
        { ...ask, amount: ask.amount.toString() },
        timeoutMs,
      );
      if ('declined' in answer) {
        const { declined, detail } = answer;
        const said = detail !== undefined && { detail };
        if (declined === 'closed') return { declined, opensAt: answer.opensAt, ...said };
        return {
          ...{ declined, ...said },
          ...(answer.minAmount !== undefined && { minAmount: BigInt(answer.minAmount) }),
          ...(answer.maxAmount !== undefined && { maxAmount: BigInt(answer.maxAmount) }),
        };
      }
      const wrong = objectionTo(answer, ask, toSeconds(clock.nowMs()));
      if (wrong !== undefined) throw new PartnerFault(id, 'payout-offer', wrong);
      return { offer: answer, opening, limits, signed };
    },
    async status(offerId) {
      try {
        const { answer, signed } = await client.askSigned('payout-status', { offerId }, timeoutMs);
        if (answer.offerId !== offerId)
          throw new PartnerFault(id, 'payout-status', 'it is about another offer');
        return { state: answer, signed };
      } catch (error) {
        if (error instanceof PartnerRefusal && error.reason === 'unknown') return undefined;
        throw error;
      }
    },
  };
}

/** Explains to people what is wrong with an offer; undefined: nothing. */
function objectionTo(offer: PartnerPayoutOffer, ask: PayoutAsk, now: number): string | undefined {
  if (
    offer.asset !== ask.asset ||
    offer.amount !== ask.amount.toString() ||
    offer.currency !== ask.currency ||
    offer.from !== ask.from
  )
    return 'it offers a payout of something else than it was asked for';
  const token = ask.asset.slice(ask.asset.lastIndexOf(':') + 1) as Address;
  if ([ZERO_ADDRESS, ask.from, token].includes(offer.payTo)) return `nobody can be paid at ${offer.payTo}`;
  if (offer.validUntil <= now) return `its validUntil ${offer.validUntil} has passed`;
  return offer.arrivesAt < offer.validUntil ? 'it would arrive before the token has to come' : undefined;
}

const bigintOf = (text: string | undefined): bigint | null => (text === undefined ? null : BigInt(text));
