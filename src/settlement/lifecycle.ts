/**
 * The life of an order: a fold of its facts into the stage it is in. Whatever anybody shows of an order is a
 * view of this fold.
 */

import type { Evidence, Fact, FactOf, Failure } from '../domain/fact.ts';
import type { Hex } from '../domain/hex.ts';
import type { StandardOrder } from '../domain/order.ts';

/** Also the public `settlementStatus`. */
export type OrderStage =
  /** Accepted; the chain has not taken the input yet. */
  | 'awaiting_escrow'
  /** The input is in escrow; not everything is delivered. */
  | 'escrowed'
  /** Every output is delivered; not every fill is proven to the origin. */
  | 'delivered'
  /** Every fill is proven; the inputs have not been paid out. */
  | 'proven'
  /** Final: delivered, and the inputs paid out. */
  | 'settled'
  /** Cannot settle any more; the input is still in escrow. */
  | 'refund_pending'
  /** Final: the input went back. */
  | 'refunded'
  /** Final: it never opened and never can. */
  | 'failed';

/** As far as they follow each other, in the order in which orders pass through them. */
export const STAGES = [
  'awaiting_escrow',
  'escrowed',
  'delivered',
  'proven',
  'settled',
  'refund_pending',
  'refunded',
  'failed',
] as const satisfies readonly OrderStage[];

export type PublicStatus = 'pending' | 'settled' | 'failed';

export interface Progress {
  stage: OrderStage;
  status: PublicStatus;
  /** Nothing is left to be done. */
  final: boolean;
  flow: 'same_chain' | 'cross_chain';
  opened: Evidence | undefined;
  /** One entry per output. */
  fills: (FactOf<'filled'> | undefined)[];
  attested: (FactOf<'attested'> | undefined)[];
  /** Outputs that went into a ledger; `foldDeferral` says what became of them. */
  credited: (FactOf<'credited'> | undefined)[];
  finalised: Evidence | undefined;
  refunded: Evidence | undefined;
  failure: Failure | undefined;
  /** Transactions that left for a chain, oldest first. */
  sent: FactOf<'sent'>[];
}

const FINAL: ReadonlySet<OrderStage> = new Set<OrderStage>(['settled', 'refunded', 'failed']);

/** What the receiver got of a fill, base units. */
export const receivedIn = ({ amount, surplus = 0n }: Pick<FactOf<'filled'>, 'amount' | 'surplus'>): bigint =>
  amount + surplus;

/** All that the receiver got, base units; undefined while an output is missing. */
export function lpReceived({ fills }: Pick<Progress, 'fills'>): bigint | undefined {
  return fills.reduce<bigint | undefined>(
    (sum, fill) => (sum === undefined || !fill ? undefined : sum + receivedIn(fill)),
    0n,
  );
}

export const isFinal = (stage: OrderStage): boolean => FINAL.has(stage);

export const orderStatusOf = (stage: OrderStage): PublicStatus =>
  stage === 'settled'
    ? 'settled'
    : stage === 'refund_pending' || stage === 'refunded' || stage === 'failed'
      ? 'failed'
      : 'pending';

export const isSameChain = (order: StandardOrder): boolean =>
  order.outputs.every(({ chainId }) => chainId === order.originChainId);

/** Facts may arrive in any order within a stage; once the stage is final, later ones change nothing. */
export function foldFacts(order: StandardOrder, facts: Iterable<Fact>): Progress {
  const progress: Progress = {
    stage: 'awaiting_escrow',
    status: 'pending',
    final: false,
    flow: isSameChain(order) ? 'same_chain' : 'cross_chain',
    opened: undefined,
    fills: order.outputs.map(() => undefined),
    attested: order.outputs.map(() => undefined),
    credited: order.outputs.map(() => undefined),
    finalised: undefined,
    refunded: undefined,
    failure: undefined,
    sent: [],
  };
  for (const fact of facts) {
    if (progress.final) break;
    take(progress, fact);
    progress.stage = stageOf(order, progress);
    progress.status = orderStatusOf(progress.stage);
    progress.final = isFinal(progress.stage);
  }
  return progress;
}

function take(progress: Progress, fact: Fact): void {
  switch (fact.kind) {
    case 'accepted':
      break;
    case 'sent':
      progress.sent.push(fact);
      break;
    case 'opened':
      progress.opened ??= fact.evidence;
      break;
    case 'filled':
      if (fact.outputIndex < progress.fills.length) progress.fills[fact.outputIndex] ??= fact;
      break;
    case 'attested':
      if (fact.outputIndex < progress.attested.length) progress.attested[fact.outputIndex] ??= fact;
      break;
    case 'credited':
      if (fact.outputIndex < progress.credited.length) progress.credited[fact.outputIndex] ??= fact;
      break;
    case 'payout_sent':
    case 'withdrawal_requested':
    case 'withdrawn':
      break;
    case 'finalised':
      progress.finalised ??= fact.evidence;
      break;
    case 'refunded':
      progress.refunded ??= fact.evidence;
      break;
    case 'failed':
      progress.failure ??= fact.failure;
      break;
  }
}

function stageOf(
  order: StandardOrder,
  { opened, fills, attested, finalised, refunded, failure }: Progress,
): OrderStage {
  if (finalised) return 'settled';
  if (refunded) return 'refunded';
  if (failure) return opened ? 'refund_pending' : 'failed';
  if (!opened) return 'awaiting_escrow';
  if (!fills.every(Boolean)) return 'escrowed';
  const proven = order.outputs.every(
    ({ chainId }, index) => chainId === order.originChainId || attested[index],
  );
  return proven ? 'proven' : 'delivered';
}

/**
 * Hash of the transaction that a taker should look at: the one that settled, else the latest that was sent.
 */
export function settlementTxHash(progress: Progress): Hex | undefined {
  const delivered = progress.fills.find(Boolean)?.evidence.txHash;
  return progress.flow === 'same_chain'
    ? (progress.finalised?.txHash ?? progress.opened?.txHash ?? progress.sent.at(-1)?.txHash)
    : (delivered ?? progress.opened?.txHash ?? progress.sent.at(-1)?.txHash);
}
