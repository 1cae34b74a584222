/**
 * Trades as a taker and a venue would make them, for tests that stand on the LP's side: quotes taken, signed,
 * funded and awarded by hand.
 */

import { attestationDigest, attestationListDigest } from '../../src/domain/attestation.ts';
import type { Bytes32, Hex } from '../../src/domain/hex.ts';
import { orderDigest, orderId, type StandardOrder } from '../../src/domain/order.ts';
import type { Attestations } from '../../src/ports/attestations.ts';
import type { Award, LinkQuote, Rfq } from '../../src/protocol/link/link.ts';
import { orderFromMessage } from '../../src/protocol/wire.ts';
import { encodeFunding } from '../../src/settlement/funding.ts';
import { ATTESTERS, type Devnet, type TestAccount } from './devnet.ts';
import { random32, type ScriptedVenue } from './scripted-venue.ts';

/**
 * Two of three attesters who sign whatever they are asked: what they would check is their own tests'
 * business.
 */
export const willingAttesters: Attestations = {
  signatures: (attestation, oracle) => twoSign(attestationDigest(oracle, attestation)),
  listSignatures: (list, oracle) =>
    twoSign(
      attestationListDigest(oracle, {
        ...list,
        payloadHashes: list.fills.map(({ payloadHash }) => payloadHash),
      }),
    ),
};

const twoSign = async (digest: Bytes32): Promise<Hex[]> =>
  [...ATTESTERS]
    .sort((a, b) => (a.address < b.address ? -1 : 1))
    .slice(0, 2)
    .map((attester) => attester.sign(digest));

export interface Trade {
  message: LinkQuote;
  order: StandardOrder;
  id: Hex;
  /** The taker's, and what it makes of it: the input comes out of its ledger balance. */
  signature: Hex;
  funding: Hex;
  output: bigint;
}

/**
 * Asks an active LP for a quote, as a venue does. On a busy machine blocks and proofs come late, and the LP
 * is on standby until they come, so a decline with that reason is followed by another request, for up to a
 * minute.
 */
export async function takeQuote(
  devnet: Devnet,
  venue: ScriptedVenue,
  taker: TestAccount,
  rfq: Rfq,
): Promise<Trade> {
  const untilMs = Date.now() + 60_000;
  for (let next = rfq; ; next = { ...rfq, rfqId: random32().slice(2, 34) }) {
    const message = await venue.ask(next);
    if (message.type === 'quote') return tradeOf(devnet, taker, message);
    if (message.type !== 'decline' || message.reason !== 'standby' || Date.now() > untilMs)
      throw new Error(
        `no quote: ${JSON.stringify(message)}; the LP said ${JSON.stringify(venue.statuses.at(-1))}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
}

/** The taker takes this one. */
export async function tradeOf(devnet: Devnet, taker: TestAccount, message: LinkQuote): Promise<Trade> {
  const order = orderFromMessage(message.order);
  const origin = devnet.chains.find(({ chain }) => BigInt(chain.id) === order.originChainId);
  if (origin === undefined) throw new Error('an order on no chain of ours');
  const domain = { chainId: origin.chain.id, escrow: origin.chain.escrow };
  const signature = taker.sign(orderDigest(domain, order));
  return {
    message,
    order,
    id: orderId(domain, order),
    signature,
    funding: encodeFunding({ mode: 'resourceLock', orderSignature: signature }),
    output: order.outputs[0]?.amount ?? 0n,
  };
}

export function awardOf({ message, id, signature, funding }: Trade): Omit<Award, 'type'> {
  return {
    orderId: id,
    quoteId: message.quoteId,
    order: message.order,
    signature,
    funding,
    commitment: message.commitment,
    status: 'pending',
    stage: 'awaiting_escrow',
  };
}

export async function eventually(what: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 50));
}
