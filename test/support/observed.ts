/**
 * An order's facts as a worker would have recorded them, read from real chains by the events of the order.
 */

import { fillPayloadHash } from '../../src/domain/attestation.ts';
import type { Evidence, Fact } from '../../src/domain/fact.ts';
import { bytes32ToAddress } from '../../src/domain/hex.ts';
import { outputHash } from '../../src/domain/order.ts';
import type { NewOrder, OrderRecord } from '../../src/ports/stores/store.ts';
import type { EscrowEvent } from '../../src/ports/chain.ts';
import { foldFacts } from '../../src/settlement/lifecycle.ts';
import type { TestChain } from './devnet.ts';
import { until } from './venue.ts';

/** `reached` says when enough has been seen: a port follows its chain a little behind. */
export async function observed(
  order: NewOrder,
  chains: readonly TestChain[],
  reached: (stage: string) => boolean,
): Promise<OrderRecord> {
  return until(async () => {
    const facts: Fact[] = [{ kind: 'accepted' }];
    const events = await Promise.all(
      chains.map(async (chain) =>
        (await chain.port.events(0n, chain.port.head()?.number ?? 0n)).map((event) => ({ chain, event })),
      ),
    );
    for (const { chain, event } of events.flat()) facts.push(...(await factsOf(order, chain, event)));
    for (const { chain, event } of events.flat()) facts.push(...(await proofOf(order, facts, chain, event)));
    const stage = foldFacts(order.order, ordered(facts)).stage;
    return reached(stage)
      ? {
          ...order,
          updatedAtMs: order.createdAtMs,
          facts: ordered(facts).map((fact, index) => ({
            seq: index + 1,
            recordedAtMs: order.createdAtMs,
            fact,
          })),
        }
      : undefined;
  });
}

const RANK: Record<Fact['kind'], number> = {
  accepted: 0,
  sent: 1,
  opened: 2,
  filled: 3,
  credited: 3,
  attested: 4,
  failed: 5,
  finalised: 6,
  refunded: 6,
  payout_sent: 7,
  withdrawal_requested: 7,
  withdrawn: 7,
};
const ordered = (facts: readonly Fact[]): Fact[] => facts.toSorted((a, b) => RANK[a.kind] - RANK[b.kind]);

const evidenceOf = async (
  chain: TestChain,
  { txHash, blockNumber, blockHash }: EscrowEvent,
): Promise<Evidence> => ({
  chainId: chain.chain.id,
  txHash,
  blockNumber,
  blockHash,
  at: (await chain.port.block(blockNumber))?.timestamp ?? 0,
});

/** A proof names a payload, and only a fill tells whose that is. */
async function proofOf(
  order: NewOrder,
  facts: readonly Fact[],
  chain: TestChain,
  event: EscrowEvent,
): Promise<Fact[]> {
  if (event.kind !== 'proven') return [];
  const record = {
    ...order,
    updatedAtMs: 0,
    facts: facts.map((fact, seq) => ({ seq, recordedAtMs: 0, fact })),
  };
  const outputIndex = order.order.outputs.findIndex(
    (_, index) =>
      facts.some((fact) => fact.kind === 'filled' && fact.outputIndex === index) &&
      payloadOf(record, index).payloadHash === event.payloadHash,
  );
  return outputIndex === -1
    ? []
    : [
        {
          kind: 'attested',
          outputIndex,
          payloadHash: event.payloadHash,
          evidence: await evidenceOf(chain, event),
        },
      ];
}

async function factsOf({ orderId, order }: NewOrder, chain: TestChain, event: EscrowEvent): Promise<Fact[]> {
  const evidence = () => evidenceOf(chain, event);
  if (!('orderId' in event) || event.orderId !== orderId) return [];
  if (event.kind === 'open') return [{ kind: 'opened', evidence: await evidence() }];
  if (event.kind === 'finalised') return [{ kind: 'finalised', evidence: await evidence() }];
  if (event.kind === 'refunded')
    return [
      { kind: 'failed', failure: { code: 'expired_unfilled', message: 'Nobody delivered in time.' } },
      { kind: 'refunded', evidence: await evidence() },
    ];
  if (event.kind !== 'filled') return [];
  return [
    {
      kind: 'filled',
      outputIndex: order.outputs.findIndex((output) => outputHash(output) === outputHash(event.output)),
      solver: bytes32ToAddress(event.solver),
      timestamp: event.timestamp,
      amount: event.amount,
      evidence: await evidence(),
    },
  ];
}

/** Computes the payload that attesters sign for an observed fill. */
export function payloadOf(
  { order, orderId, facts }: OrderRecord,
  outputIndex: number,
): { payloadHash: `0x${string}`; solver: `0x${string}`; timestamp: number } {
  const fill = facts
    .map(({ fact }) => fact)
    .find((fact) => fact.kind === 'filled' && fact.outputIndex === outputIndex);
  const output = order.outputs[outputIndex];
  if (fill?.kind !== 'filled' || !output) throw new Error('not filled');
  const solver = `0x${'0'.repeat(24)}${fill.solver.slice(2)}` as const;
  return {
    payloadHash: fillPayloadHash({ solver, orderId, timestamp: fill.timestamp, output }),
    solver,
    timestamp: fill.timestamp,
  };
}
