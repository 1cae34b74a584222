/** An order as its taker sees it. */

import { assetId } from '../../domain/asset.ts';
import { type Chain, tokenOf } from '../../domain/chain.ts';
import type { Failure } from '../../domain/fact.ts';
import { bytes32ToAddress } from '../../domain/hex.ts';
import { toIso } from '../../domain/time.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { OrderStatusResponse } from '../../protocol/api/status.ts';
import { foldFacts, type Progress, receivedIn, settlementTxHash } from '../../settlement/lifecycle.ts';
import { receiverOf } from '../quoting/receiver.ts';

export const progressOf = (record: OrderRecord): Progress =>
  foldFacts(
    record.order,
    record.facts.map(({ fact }) => fact),
  );

export function statusResponse(
  record: OrderRecord,
  chains: ReadonlyMap<number, Chain>,
  atMs = Number.POSITIVE_INFINITY,
): OrderStatusResponse {
  const facts = record.facts.filter(({ recordedAtMs }) => recordedAtMs <= atMs);
  const progress = foldFacts(
    record.order,
    facts.map(({ fact }) => fact),
  );
  const txHash = settlementTxHash(progress);
  return {
    id: record.orderId,
    status: progress.status,
    quoteId: record.quoteId,
    createdAt: toIso(record.createdAtMs),
    updatedAt: toIso(facts.at(-1)?.recordedAtMs ?? record.createdAtMs),
    stage: progress.stage,
    ...(txHash && { txHash }),
    ...(progress.status === 'settled' && { settledAmounts: settledAmounts(record, progress, chains) }),
    ...(record.referenceId !== null && { referenceId: record.referenceId }),
    ...(progress.status === 'failed' && { failure: failureOf(record, progress) }),
  };
}

function settledAmounts(
  { order }: OrderRecord,
  progress: Progress,
  chains: ReadonlyMap<number, Chain>,
): NonNullable<OrderStatusResponse['settledAmounts']> {
  const totals = new Map<
    string,
    { amount: bigint; decimals: number | null; symbol: string | null; receiver: string; txHash: string }
  >();
  order.outputs.forEach((output, index) => {
    const fill = progress.fills[index];
    if (!fill) return;
    const chain = chains.get(Number(output.chainId));
    const token = bytes32ToAddress(output.token);
    const info = chain && tokenOf(chain, token);
    const asset = assetId({ chainId: Number(output.chainId), token });
    const known = totals.get(asset);
    totals.set(asset, {
      amount: (known?.amount ?? 0n) + receivedIn(fill),
      decimals: info?.decimals ?? null,
      symbol: info?.symbol ?? null,
      receiver: receiverOf(order),
      txHash: fill.evidence.txHash,
    });
  });
  return Object.fromEntries(
    [...totals].map(([asset, { amount, ...rest }]) => [asset, { ...rest, amount: amount.toString() }]),
  );
}

/** Keeps what happened, and drops what the message then announced. */
export const firstSentence = (message: string): string => /^[^.]*\./.exec(message)?.[0] ?? message;

/** The stored message tells of the refund as still to come. */
export const refundedMessage = (failure: Failure | undefined, refundTx: string): string => {
  const { message } = failure ?? UNSTATED;
  return `${firstSentence(message)} The input went back to the taker in transaction ${refundTx}. Ask for a new quote to trade again.`;
};

const UNSTATED: Failure = { code: 'expired_unfilled', message: 'The order was not delivered in time.' };

function failureOf(
  { order }: OrderRecord,
  { failure = UNSTATED, opened, refunded }: Progress,
): NonNullable<OrderStatusResponse['failure']> {
  return {
    code: failure.code,
    message: refunded ? refundedMessage(failure, refunded.txHash) : failure.message,
    refundTxHash: refunded?.txHash ?? null,
    refundableFrom: opened && !refunded ? order.expires + 1 : null,
  };
}
