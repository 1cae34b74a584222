/** A taker's request and its limits for any answer. */

import type { QuoteRequest } from '../protocol/api/quote.ts';

export interface TradeRequest {
  taker: string;
  receiver?: string;
  /** Exactly one of the two amounts, in base units. `asset` is CAIP-19: eip155:<chainId>/erc20:<token>. */
  input: { asset: string; amount?: bigint };
  output: { asset: string; amount?: bigint };
  minValidUntil?: number;
  maxCandidates?: number;
  splitFill?: 'allow' | 'never';
  /** Where the output is delivered. Default: the receiver's wallet. */
  settlement?: 'wallet' | 'ledger' | 'ledger_auto_withdraw';
  solvers?: { include?: string[]; exclude?: string[] };
  referenceId?: string;
}

export interface Limits {
  /**
   * Exact input: the least output to accept, base units. Without it any price passes; compare with a source
   * of your own.
   */
  minOutput?: bigint;
  /** Exact output: the most input to give, base units. */
  maxInput?: bigint;
  /** Default 100, which is also the escrow's maximum. */
  maxPlatformFeeBps?: number;
  /** Base units of the input for gas. Default: 5 % of the input. */
  maxRelayFee?: bigint;
  /**
   * Limits how far the enforced output may lie below the shown one. Default 100. LP quotes give exactly what
   * they show.
   */
  maxSlippageBps?: number;
  /**
   * "required": every LP's bond must cover the whole share that a failed promise pays. Default: bonds are not
   * checked.
   */
  bond?: 'required';
  /** The longest time until an unfilled order can be refunded. Default 6 hours. */
  maxLockUpSeconds?: number;
}

export const DEFAULT_LIMITS = {
  maxPlatformFeeBps: 100,
  maxSlippageBps: 100,
  maxLockUpSeconds: 6 * 3_600,
} as const;

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
