/** One whole trade, from the question to the money: the best candidate that holds, planned, signed, submitted, watched, and confirmed on the chain. */

import type { FundingLock } from '../protocol/preflight.ts';
import type { OrderStatusResponse } from '../protocol/status.ts';
import type { Candidate } from './candidate.ts';
import type { Checked } from './check.ts';
import type { Client } from './client.ts';
import { DistrustError, NoQuoteError } from './errors.ts';
import type { OrderEvent } from './follow.ts';
import type { Approvals, Plan } from './plan.ts';
import type { Limits, TradeRequest } from './request.ts';
import type { Order } from './submit.ts';
import type { Done, RunOptions, Wallet } from './wallet.ts';

export interface TradeOptions extends Limits, Approvals, RunOptions {
  request: TradeRequest;
  /** Of the taker, on the chain of the input. */
  wallet: Wallet;
  /** Default: what preflight chooses. */
  fundingLock?: FundingLock;
  /** "EIP1271" when the taker is a contract. */
  signScheme?: 'EIP712' | 'EIP1271';
  /** Told of each candidate that did not hold; the next one is tried. */
  onRefused?: (candidate: Candidate, why: DistrustError) => void;
  onEvent?: (event: OrderEvent) => void;
  /** Stops watching. What was submitted goes on. */
  signal?: AbortSignal;
}

export interface Trade {
  checked: Checked;
  order: Order;
  /** `settled`, confirmed on the chain; or `failed` with the reason, and the way back of the input. */
  status: OrderStatusResponse;
}

/** Each plan may ask for one more step of set-up: a grant, then a deposit. */
const MOST_PLANS = 4;

/** Throws `NoQuoteError` when nobody quotes, `DistrustError` when no candidate holds. */
export async function trade(client: Client, { request, wallet, fundingLock, signScheme, onRefused, onEvent, signal, standingGrant, unlimitedPermit2, tradesAhead, ...limits }: TradeOptions): Promise<Trade> {
  const { quotes, productUnavailable } = await client.requestQuotes(request);
  if (productUnavailable || quotes.length === 0) throw new NoQuoteError(productUnavailable?.code ?? 'no_quotes', productUnavailable?.message ?? 'Nobody quoted.');
  const checked = await best();
  const { plan, done } = await prepare();
  const signature = await client.sign(checked, wallet);
  const order = await client.submit(checked, { signature, ...done.locks, ...(signScheme ? { signScheme } : {}) });
  await client.broadcast(checked, plan, wallet);
  const following = client.follow(order.id, signal ? { signal } : {});
  for await (const event of following) onEvent?.(event);
  const status = await following.final;
  if (status.status === 'settled') await client.confirm(checked);
  return { checked, order, status };

  /** By our own comparison of what they promise: the venue's ranking is a claim like any other. */
  async function best(): Promise<Checked> {
    let refusal: DistrustError | undefined;
    for (const candidate of quotes.toSorted(request.output.amount === undefined ? byOutput : byInput)) {
      try {
        return await client.check(candidate, { request, ...limits });
      } catch (error) {
        if (!(error instanceof DistrustError)) throw error;
        refusal ??= error;
        onRefused?.(candidate, error);
      }
    }
    throw refusal ?? new NoQuoteError('no_quotes', 'Nobody quoted.');
  }

  async function prepare(): Promise<{ plan: Plan; done: Done }> {
    for (let left = MOST_PLANS; left > 0; left--) {
      const plan = await client.preflight(checked, { ...(fundingLock ? { fundingLock } : {}), ...(unlimitedPermit2 ? { unlimitedPermit2 } : {}), ...(tradesAhead ? { tradesAhead } : {}) });
      const done = await client.runActions(checked, plan, wallet, standingGrant ? { standingGrant } : {});
      if (!done.rerun) return { plan, done };
    }
    throw new DistrustError('action_unexpected', `After ${MOST_PLANS} plans the venue still asks for more set-up.`);
  }
}

const shown = (amount: string | null | undefined): bigint => (/^[0-9]{1,78}$/.test(amount ?? '') ? BigInt(amount as string) : 0n);
const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
const byOutput = (a: Candidate, b: Candidate): number => compare(shown(b.preview.outputs[0]?.minimumAmount), shown(a.preview.outputs[0]?.minimumAmount));
const byInput = (a: Candidate, b: Candidate): number => compare(shown(a.preview.inputs[0]?.amount), shown(b.preview.inputs[0]?.amount));
