/** Folds an order's facts into a stage; every view of an order uses this fold. */

import type { Evidence, Fact, FactOf, Failure } from '../domain/fact.ts';
import type { Hex } from '../domain/hex.ts';
import type { StandardOrder } from '../domain/order.ts';

/** The stages are the public `settlementStatus`, too. */
export type OrderStage =
  /** The chain has not taken the input yet. */
  | 'awaiting_escrow'
  /** Some output is not delivered. */
  | 'escrowed'
  /** Some fill is not proven to the origin. */
  | 'delivered'
  /** The inputs have not been paid out. */
  | 'proven'
  /** Final. */
  | 'settled'
  /** Cannot settle any more; the input is still in escrow. */
  | 'refund_pending'
  /** Final: the input was returned. */
  | 'refunded'
  /** Final: it never opened and never can. */
  | 'failed';

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

type PublicStatus = 'pending' | 'settled' | 'failed';

export interface Progress {
  stage: OrderStage;
  status: PublicStatus;
  final: boolean;
  flow: 'same_chain' | 'cross_chain';
  opened: Evidence | undefined;
  /** One entry per output. */
  fills: (FactOf<'filled'> | undefined)[];
  attested: (FactOf<'attested'> | undefined)[];
  /** `foldCredits` says what happened to them. */
  credited: (FactOf<'credited'> | undefined)[];
  finalised: Evidence | undefined;
  refunded: Evidence | undefined;
  failure: Failure | undefined;
  sent: FactOf<'sent'>[];
}

const FINAL: ReadonlySet<OrderStage> = new Set<OrderStage>(['settled', 'refunded', 'failed']);

/** Returns what the receiver got, in base units. */
export const receivedIn = ({ amount, surplus = 0n }: Pick<FactOf<'filled'>, 'amount' | 'surplus'>): bigint =>
  amount + surplus;

/** Adds up what was delivered in all outputs, in base units; undefined while an output is missing. */
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

const isSameChain = (order: StandardOrder): boolean =>
  order.outputs.every(({ chainId }) => chainId === order.originChainId);

/** Facts may arrive in any order within a stage; once it is final, later ones change nothing. */
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

/** Returns the transaction that settled, else the latest that was sent. */
export function settlementTxHash(progress: Progress): Hex | undefined {
  const delivered = progress.fills.find(Boolean)?.evidence.txHash;
  return progress.flow === 'same_chain'
    ? (progress.finalised?.txHash ?? progress.opened?.txHash ?? progress.sent.at(-1)?.txHash)
    : (delivered ?? progress.opened?.txHash ?? progress.sent.at(-1)?.txHash);
}
