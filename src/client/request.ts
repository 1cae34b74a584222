/**
 * What a taker asks for, and the limits it sets to any answer. Amounts are bigints here and decimal text on
 * the wire.
 */

import type { QuoteRequest } from '../protocol/api/quote.ts';

export interface TradeRequest {
  /** Who pays and signs. */
  taker: string;
  /** Who gets the output. Default: the taker. */
  receiver?: string;
  /** Exactly one of the two amounts, in base units. `asset` is CAIP-19: eip155:<chainId>/erc20:<token>. */
  input: { asset: string; amount?: bigint };
  output: { asset: string; amount?: bigint };
  /** Unix seconds; quotes that lapse sooner are not wanted. */
  minValidUntil?: number;
  maxCandidates?: number;
  splitFill?: 'allow' | 'never';
  /** Where the receiver gets the output. Default: its wallet. */
  settlement?: 'wallet' | 'ledger' | 'ledger_auto_withdraw';
  solvers?: { include?: string[]; exclude?: string[] };
  referenceId?: string;
}

/** How far an answer may go. Whatever is left out has a default that protects. */
export interface Limits {
  /**
   * Exact input: the least output to accept, base units. Without it any price passes: compare it with a
   * source of your own.
   */
  minOutput?: bigint;
  /** Exact output: the most input to give, base units. */
  maxInput?: bigint;
  /** Default 100 (one percent), which is also the most that an escrow takes. */
  maxPlatformFeeBps?: number;
  /**
   * Base units of the input token that the venue may take out of the trade for carrying the gas. Default: 5 %
   * of the input.
   */
  maxRelayFee?: bigint;
  /**
   * What liquidity that nobody has committed (a DEX) may give less than shown. Default 100 (one percent). An
   * LP's quote gives exactly what it shows.
   */
  maxSlippageBps?: number;
  /** Seconds from now until an unfilled order can be refunded at the latest. Default 6 hours. */
  maxLockUpSeconds?: number;
}

export const DEFAULT_LIMITS = {
  maxPlatformFeeBps: 100,
  maxSlippageBps: 100,
  maxLockUpSeconds: 6 * 3_600,
} as const;

/** The body of `POST …/quotes`. */
export function requestBody(request: TradeRequest): QuoteRequestBody {
  const side = ({ asset, amount }: TradeRequest['input']) => ({
    asset,
    ...(amount === undefined ? {} : { amount: amount.toString() }),
  });
  return { ...request, input: side(request.input), output: side(request.output) };
}

export type QuoteRequestBody = Omit<Partial<QuoteRequest>, 'taker' | 'receiver' | 'input' | 'output'> & {
  taker: string;
  receiver?: string;
  input: { asset: string; amount?: string };
  output: { asset: string; amount?: string };
};
