/** Reads what the final blocks say about an order, and returns the facts that are not recorded yet. */

import { fillPayloadHash, fillRecordOf } from '../../../domain/attestation.ts';
import type { Evidence, Fact, FactKind } from '../../../domain/fact.ts';
import { readDelivery } from '../../../domain/delivery.ts';
import { addressToBytes32, bytes32ToAddress } from '../../../domain/hex.ts';
import { outputHash } from '../../../domain/order.ts';
import type { ChainPort, EscrowEvent, EscrowStatus } from '../../../ports/chain.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { Progress } from '../../../settlement/lifecycle.ts';
import type { ChainTime } from '../../../settlement/plan.ts';
import type { CachedOrderEvent } from './event-cache.ts';
import type { ChainView, PinnedBlocks } from './chain-view.ts';

export interface ChainObservation {
  facts: Fact[];
  /** The order can never open. */
  nonceGone: boolean;
  /** The times of exactly the blocks that were read. */
  timeOf: (chainId: number) => ChainTime | undefined;
}

/**
 * Returns the new facts in the order of recording; undefined while a chain was not read or took back final
 * blocks.
 */
export async function observeOrder(
  record: OrderRecord,
  progress: Progress,
  views: ReadonlyMap<number, ChainView>,
): Promise<ChainObservation | undefined> {
  const { orderId, order, createdAtMs, amountUsd } = record;
  const origin = views.get(Number(order.originChainId));
  const pins = new Map<number, PinnedBlocks>();
  for (const id of [Number(order.originChainId), ...order.outputs.map(({ chainId }) => Number(chainId))]) {
    if (views.get(id)?.chain.healthIssue()?.kind === 'reorg') return undefined;
    const pin = await views.get(id)?.pinnedFor(amountUsd ?? undefined);
    if (pin) pins.set(id, pin);
  }
  const pin = origin && pins.get(origin.chain.chain.id);
  if (!origin || !pin || order.outputs.some(({ chainId }) => !pins.has(Number(chainId)))) return undefined;
  // Wall and chain clocks differ.
  const since = Math.floor(createdAtMs / 1_000) - 120;
  const at = pin.final.number;
  const facts: Fact[] = [];
  const deciding = (chain: ChainPort) => chain.deciding(amountUsd ?? undefined);
  const mayBeFilled = progress.stage === 'escrowed' || progress.stage === 'awaiting_escrow';

  const [status, nonceUsed, ...records] = await Promise.all([
    deciding(origin.chain).orderStatus(orderId, at),
    progress.opened ? false : origin.chain.isNonceUsed(order.user, order.nonce, at),
    ...order.outputs.map((output, index) => {
      const chainId = Number(output.chainId);
      const unknown =
        mayBeFilled && !progress.fills[index] && (chainId !== origin.chain.chain.id || progress.opened);
      const [view, seen] = [views.get(chainId), pins.get(chainId)];
      return unknown && view && seen
        ? deciding(view.chain).fillRecord(orderId, outputHash(output), seen.final.number)
        : undefined;
    }),
  ]);

  if (status !== 'none') {
    const wanted = status === 'claimed' ? 'finalised' : status === 'refunded' ? 'refunded' : 'open';
    const events = await origin.orderEvents(orderId, since, pin.final, (found) =>
      found.some(({ kind }) => kind === wanted),
    );
    for (const event of events) facts.push(...(await originFacts(record, event, origin)));
  }
  for (const [index, filled] of records.entries()) {
    const output = order.outputs[index];
    const [view, seen] = [output && views.get(Number(output.chainId)), pins.get(Number(output?.chainId))];
    if (!filled || !output || !view || !seen) continue;
    const key = outputHash(output);
    // The log names the solver; the escrow stores a hash.
    const isOurs = (event: CachedOrderEvent) =>
      event.kind === 'filled' && outputHash(event.output) === key && fillRecordOf(event) === filled;
    const event = (await view.orderEvents(orderId, since, seen.final, (found) => found.some(isOurs))).find(
      isOurs,
    );
    if (event) facts.push(...(await filledFact(record, event, index, view)));
  }
  const fills = progress.fills.map(
    (fill, index) => fill ?? facts.find((fact) => fact.kind === 'filled' && fact.outputIndex === index),
  );
  if (status !== 'none')
    facts.push(...(await proofFacts(record, { progress, origin, pin, status, fills, facts })));
  return {
    facts: facts.filter((fact) => isNews(fact, progress)).sort((x, y) => RANK[x.kind] - RANK[y.kind]),
    nonceGone: status === 'none' && nonceUsed === true,
    timeOf: timeIn(pins),
  };
}

/** The origin chain's part of an observation, read before the proofs. */
interface OriginRead {
  progress: Progress;
  origin: ChainView;
  pin: PinnedBlocks;
  status: EscrowStatus;
  /** The fill of each output; undefined while it is not filled. */
  fills: readonly (Fact | undefined)[];
  facts: readonly Fact[];
}

/** Returns the facts in one event of the order's escrow. */
async function originFacts(record: OrderRecord, event: CachedOrderEvent, view: ChainView): Promise<Fact[]> {
  if (event.kind === 'open') return [{ kind: 'opened', evidence: await evidenceOf(event, view) }];
  if (event.kind === 'finalised') return [{ kind: 'finalised', evidence: await evidenceOf(event, view) }];
  if (event.kind === 'refunded') return [{ kind: 'refunded', evidence: await evidenceOf(event, view) }];
  if (event.kind !== 'filled') return [];
  const key = outputHash(event.output);
  const index = record.order.outputs.findIndex((output) => outputHash(output) === key);
  return index === -1 ? [] : filledFact(record, event, index, view);
}

/** Returns the fill of one output, and the credit of a delivery into the ledger. */
async function filledFact(
  { orderId, route }: OrderRecord,
  event: CachedOrderEvent,
  outputIndex: number,
  view: ChainView,
): Promise<Fact[]> {
  if (event.kind !== 'filled') return [];
  const evidence = await evidenceOf(event, view);
  // The surplus went from the pools to the receiver.
  const surplus = route?.through
    ? await view.chain.surplus(route.through.filler, orderId, event.blockNumber)
    : 0n;
  const filled: Fact = {
    kind: 'filled',
    outputIndex,
    solver: bytes32ToAddress(event.solver),
    timestamp: event.timestamp,
    amount: event.amount,
    ...(surplus > 0n && { surplus }),
    evidence,
  };
  const delivery = readDelivery(event.output);
  if (!delivery || delivery.settlement === 'wallet') return [filled];
  const { account, settlement } = delivery;
  const windowSeconds = await view.chain.withdrawalDelay();
  return [
    filled,
    {
      kind: 'credited',
      outputIndex,
      account,
      token: bytes32ToAddress(event.output.token),
      amount: event.amount,
      autoWithdraw: settlement === 'ledger_auto_withdraw',
      windowSeconds,
      evidence,
    },
  ];
}

/** Proofs of fills on other chains, once final in the origin's oracle. */
async function proofFacts(
  { orderId, order, amountUsd }: OrderRecord,
  { progress, origin, pin, status, fills, facts }: OriginRead,
): Promise<Fact[]> {
  const at = pin.final.number;
  const found: Fact[] = [];
  await Promise.all(
    order.outputs.map(async (output, index) => {
      const fill = fills[index];
      if (output.chainId === order.originChainId || progress.attested[index] || fill?.kind !== 'filled')
        return;
      const payloadHash = fillPayloadHash({
        solver: addressToBytes32(fill.solver),
        orderId,
        timestamp: fill.timestamp,
        output,
      });
      // What was proven for the transaction that claimed the order, the oracle does not remember.
      if (
        status !== 'claimed' &&
        !(await origin.chain
          .deciding(amountUsd ?? undefined)
          .isProven(order.inputOracle, output.chainId, output.oracle, output.settler, payloadHash, at))
      )
        return;
      const opened =
        progress.opened ?? facts.flatMap((fact) => (fact.kind === 'opened' ? [fact.evidence] : []))[0];
      const event = await origin.proof(payloadHash, opened?.blockNumber ?? at, pin.final);
      // A node without the log leaves the fact for later.
      if (event)
        found.push({
          kind: 'attested',
          outputIndex: index,
          payloadHash,
          evidence: await evidenceOf(event, origin),
        });
    }),
  );
  return found;
}

/** A final fact closes the order, so it is recorded last. */
const RANK: Record<FactKind, number> = {
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

async function evidenceOf(
  { txHash, blockNumber, blockHash }: Pick<EscrowEvent, 'txHash' | 'blockNumber' | 'blockHash'>,
  view: ChainView,
): Promise<Evidence> {
  return {
    chainId: view.chain.chain.id,
    txHash,
    blockNumber,
    blockHash,
    at: (await view.blockAt(blockNumber, blockHash)).timestamp,
  };
}

function isNews(fact: Fact, progress: Progress): boolean {
  switch (fact.kind) {
    case 'opened':
      return !progress.opened;
    case 'filled':
      return !progress.fills[fact.outputIndex];
    case 'credited':
      return !progress.credited[fact.outputIndex];
    case 'attested':
      return !progress.attested[fact.outputIndex];
    case 'finalised':
      return !progress.finalised;
    case 'refunded':
      return !progress.refunded;
    default:
      return true;
  }
}

const timeIn =
  (pins: ReadonlyMap<number, PinnedBlocks>): ChainObservation['timeOf'] =>
  (chainId) => {
    const pin = pins.get(chainId);
    return pin && { head: pin.head.timestamp, deep: pin.final.timestamp };
  };
