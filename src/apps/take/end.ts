/** Describes how a trade ended: what happened, where the money is, what to do next; and the exit code. */

import {
  type Claimed,
  DistrustError,
  NoQuoteError,
  type OrderStatusResponse,
  RevertedError,
  type Trade,
  VenueError,
  WalletError,
} from '../../client/client.ts';
import { formatTokens } from '../../domain/amount.ts';
import { BaseError, RequestError } from '../../domain/errors.ts';
import { EXIT_CODES, type Outcome, type Report } from './report.ts';

/** The tokens of the trade, for amounts in words. */
export type TokenNames = (address: string) => { symbol: string; decimals: number | null };

export class DeclinedError extends RequestError {
  constructor() {
    super('You declined. Nothing was signed or sent.', { code: 'declined' });
  }
}

export interface Reached {
  /** The order's id, known from the signature on. */
  orderId: string | undefined;
  /** The venue may have the order. */
  submitted: boolean;
  /** The venue has said that it has the order. */
  accepted: boolean;
}

interface EndContext {
  /** The command that continues this order. */
  resumeCommand: (orderId: string) => string;
  /** The reason why no claim was tried or paid; undefined when the LPs were checked and nothing was due. */
  noClaim: string | undefined;
}

export function tellEnd(report: Report, trade: Trade, context: EndContext): Outcome {
  const last = lastLeg(trade);
  const { status, claimed } = last;
  const outcome = outcomeOf(last);
  report.say(
    'result',
    {
      outcome,
      exitCode: EXIT_CODES[outcome],
      orderId: status.id,
      status: status.status,
      stage: status.stage,
      settledAmounts: status.settledAmounts ?? null,
      txHash: status.txHash ?? null,
      failure: status.failure ?? null,
      claimed,
      stopped: last.stopped,
    },
    ...(status.status === 'settled' ? settledLines(status) : failedLines(status, context)),
    ...(last.stopped === null
      ? []
      : [`The route stopped after this leg: ${last.stopped} You hold its output; ask for quotes with it.`]),
  );
  return outcome;
}

function lastLeg(trade: Trade): Trade {
  return trade.next ? lastLeg(trade.next) : trade;
}

function outcomeOf({ status, claimed, stopped }: Pick<Trade, 'status' | 'claimed' | 'stopped'>): Outcome {
  if (stopped !== null) return 'stopped';
  if (status.status === 'settled') return 'settled';
  if (claimed.length > 0) return 'faded';
  if (status.stage === 'refunded') return 'refunded';
  return status.stage === 'failed' ? 'failed' : 'unknown';
}

const settledLines = ({ id, settledAmounts = {}, txHash }: OrderStatusResponse): string[] => [
  `Settled: order ${id}.`,
  ...Object.entries(settledAmounts).map(
    ([asset, { amount, decimals, symbol, receiver }]) =>
      `  ${receiver} received ${formatTokens(BigInt(amount), { decimals, symbol: symbol ?? asset })}.`,
  ),
  ...(txHash === undefined ? [] : [`  Settlement transaction ${txHash}.`]),
];

function failedLines(
  { id, stage, failure }: OrderStatusResponse,
  { resumeCommand, noClaim }: EndContext,
): string[] {
  const waits = failure?.refundableFrom
    ? `from ${dateOf(failure.refundableFrom)} anybody can refund it`
    : 'the venue refunds it';
  return [
    `Not settled: order ${id}${failure ? ` failed with ${failure.code}: ${failure.message}` : '.'}`,
    ...(stage === 'refund_pending'
      ? [`  The input is still in escrow; ${waits}. To wait for it: ${resumeCommand(id)}`]
      : []),
    ...(noClaim === undefined ? [] : [`  ${noClaim}`]),
  ];
}

export const claimLines = (claimed: readonly Claimed[], names: TokenNames): string[] =>
  claimed.map(
    ({ lp, paid, txHash }) =>
      `  The LP ${lp} broke its promise; its bond paid you ${paid.map(({ token, amount }) => formatTokens(amount, names(token))).join(' and ')} in ${txHash}.`,
  );

const dateOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

/** Prints what stopped the command. Throws errors that are bugs. */
export function tellError(
  report: Report,
  error: unknown,
  reached: Reached,
  resumeCommand: (orderId: string) => string,
): Outcome {
  const known = error instanceof BaseError || 'shortMessage' in (error as object);
  const { orderId } = reached;
  const outcome = errorOutcome(error, reached);
  if (!known && outcome !== 'unknown') throw error;
  const { message, shortMessage = message } = error as Error & { shortMessage?: string };
  const code = error instanceof BaseError ? error.code : 'wallet';
  const resume = outcome === 'unknown' && orderId !== undefined ? resumeCommand(orderId) : null;
  report.complain(
    'error',
    { outcome, exitCode: EXIT_CODES[outcome], code, message: shortMessage, orderId: orderId ?? null, resume },
    shortMessage,
    ...(resume === null
      ? adviceOf(error, outcome)
      : [`The order may be with the venue. Continue: ${resume}`]),
  );
  return outcome;
}

function errorOutcome(error: unknown, { submitted, accepted }: Reached): Outcome {
  const refusedForGood =
    error instanceof VenueError && error.retry === 'never' && !isKeyRefused(error) && !accepted;
  if (submitted && !refusedForGood) return 'unknown';
  if (error instanceof DeclinedError) return 'declined';
  if (error instanceof NoQuoteError) return 'no_quotes';
  if (error instanceof DistrustError || error instanceof VenueError) return 'refused';
  if (error instanceof WalletError || error instanceof RevertedError) return 'wallet';
  // viem's: the node or the account would not send the transaction.
  return error instanceof BaseError ? 'error' : 'wallet';
}

const isKeyRefused = ({ status }: VenueError): boolean => status === 401 || status === 403;

function adviceOf(error: unknown, outcome: Outcome): string[] {
  switch (outcome) {
    case 'no_quotes':
      return ['Nothing was signed. Ask again later, for another amount, or for another pair.'];
    case 'wallet':
      return [
        'No order was submitted. Give the wallet the tokens and native currency for gas, or trade less; then run the command again.',
      ];
    case 'refused':
      if (error instanceof DistrustError)
        return [
          'No order was submitted. What the venue showed is not what would be signed: compare with another venue, and check the addresses in your configuration.',
        ];
      if (error instanceof VenueError && isKeyRefused(error))
        return ['Nothing was submitted. Check the API key: --key-file, FIRMQUOTE_KEY or venue.key.'];
      return ['No order was submitted. Run the command again for a new quote.'];
    default:
      return [];
  }
}
