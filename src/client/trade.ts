/**
 * One whole trade, from the quote request to settlement: the best candidate that holds, planned, signed,
 * submitted, watched, and confirmed on the chain.
 */

import type { z } from 'zod';
import type { Hex } from '../domain/hex.ts';
import type { FundingLock } from '../protocol/api/preflight.ts';
import type { zQuoteResponse } from '../protocol/api/quote.ts';
import type { OrderStatusResponse } from '../protocol/api/status.ts';
import type { Candidate } from './candidate.ts';
import type { Checked, Expectations } from './check.ts';
import { DistrustError, NoQuoteError } from './errors.ts';
import type { Following, FollowOptions, OrderEvent } from './follow.ts';
import type { NextLeg } from './next-leg.ts';
import type { Approvals, Plan } from './plan.ts';
import type { Limits, TradeRequest } from './request.ts';
import type { Order, Submission } from './submit.ts';
import type { Done, RunOptions, Wallet } from './wallet.ts';

export type QuoteAnswer = Omit<z.infer<typeof zQuoteResponse>, 'quotes'> & { quotes: Candidate[] };

/** The calls that one trade consists of, in order. */
export interface TradeCalls {
  /** Candidates best first, or `productUnavailable` with the reason. Nothing in it has been checked yet. */
  requestQuotes(request: TradeRequest): Promise<QuoteAnswer>;
  /**
   * Holds a candidate against the request, its own signed payload and the chains. What it returns is what the
   * following calls take.
   */
  check(candidate: Candidate, expectations: Expectations): Promise<Checked>;
  /** What still has to be sent and signed, checked step by step and written anew. */
  preflight(checked: Checked, options?: Approvals & { fundingLock?: FundingLock }): Promise<Plan>;
  /** Sends the plan's transactions and signs its locks. When `rerun` is true, run preflight again. */
  runActions(checked: Checked, plan: Plan, wallet: Wallet, options?: RunOptions): Promise<Done>;
  sign(checked: Checked, wallet: Wallet): Promise<Hex>;
  /** Safe to repeat with the same arguments, in this process or another: it can only happen once. */
  submit(checked: Checked, submission: Submission): Promise<Order>;
  /**
   * walletBroadcast quotes, after `submit`: the wallet sends the settlement. undefined when there is nothing
   * to send.
   */
  broadcast(checked: Checked, plan: Plan, wallet: Wallet): Promise<Hex | undefined>;
  /**
   * Sequential routes, once the order of `checked` has been submitted: what follows. A leg that comes is
   * checked already.
   */
  nextLeg(checked: Checked): Promise<Exclude<NextLeg, { kind: 'leg' }> | { kind: 'leg'; checked: Checked }>;
  /** Events until the order is settled or has failed; `final` resolves then. */
  follow(orderId: string, options?: FollowOptions): Following;
  /** Does the chain agree that it is settled? Throws `DistrustError` "not_settled". */
  confirm(checked: Checked): Promise<void>;
}

export interface TakeOptions extends Approvals, RunOptions {
  /**
   * Of the taker, on the chain of the input. For a route across chains: whichever wallet works on the chain
   * that is named.
   */
  wallet: Wallet | ((chainId: number) => Wallet);
  /** Default: what preflight chooses. */
  fundingLock?: FundingLock;
  /** "EIP1271" when the taker is a contract. */
  signScheme?: 'EIP712' | 'EIP1271';
  /** How long to wait for a price of the next leg of a route. Default 60,000 ms. */
  nextLegTimeoutMs?: number;
  onEvent?: (event: OrderEvent) => void;
  /** Stops watching. What was submitted goes on. */
  signal?: AbortSignal;
}

export interface TradeOptions extends TakeOptions, Limits {
  request: TradeRequest;
  /** Told of each candidate that did not hold; the next one is tried. */
  onRefused?: (candidate: Candidate, why: DistrustError) => void;
}

export interface Trade {
  checked: Checked;
  order: Order;
  /** `settled`, confirmed on the chain; or `failed` with the reason, and the way back of the input. */
  status: OrderStatusResponse;
  /** Of a sequential route: the leg after this one. */
  next: Trade | null;
  /**
   * A route that stopped here, and why: the taker holds what this leg delivered. `client.nextLeg(checked)`
   * goes on.
   */
  stopped: string | null;
}

/** Each plan may ask for one more step of set-up: a grant, then a deposit. */
const MOST_PLANS = 4;
const NEXT_LEG_TIMEOUT_MS = 60_000;
const BETWEEN_LOOKS_MS = 500;

/** Throws `NoQuoteError` when no LP quotes, `DistrustError` when no candidate holds. */
export async function trade(client: TradeCalls, options: TradeOptions): Promise<Trade> {
  return take(client, await best(client, options), options);
}

/** By our own comparison of what they promise: the venue's ranking is a claim like any other. */
async function best(
  client: TradeCalls,
  {
    request,
    onRefused,
    minOutput,
    maxInput,
    maxPlatformFeeBps,
    maxRelayFee,
    maxSlippageBps,
    maxLockUpSeconds,
  }: TradeOptions,
): Promise<Checked> {
  const { quotes, productUnavailable } = await client.requestQuotes(request);
  if (productUnavailable || quotes.length === 0)
    throw new NoQuoteError(
      productUnavailable?.code ?? 'no_quotes',
      productUnavailable?.message ?? 'Nobody quoted.',
    );
  const expectations: Expectations = {
    request,
    ...given({ minOutput, maxInput, maxPlatformFeeBps, maxRelayFee, maxSlippageBps, maxLockUpSeconds }),
  };
  let refusal: DistrustError | undefined;
  for (const candidate of quotes.toSorted(request.output.amount === undefined ? byOutput : byInput)) {
    try {
      return await client.check(candidate, expectations);
    } catch (error) {
      if (!(error instanceof DistrustError)) throw error;
      refusal ??= error;
      onRefused?.(candidate, error);
    }
  }
  throw refusal ?? new NoQuoteError('no_quotes', 'Nobody quoted.');
}

/** Everything after the check. Throws `DistrustError` where an answer does not hold. */
export async function take(client: TradeCalls, checked: Checked, options: TakeOptions): Promise<Trade> {
  const { signScheme, onEvent, signal } = options;
  const wallet =
    typeof options.wallet === 'function' ? options.wallet(checked.domain.chainId) : options.wallet;
  const { plan, done } = await prepare(client, checked, wallet, options);
  const signature = await client.sign(checked, wallet);
  const order = await client.submit(checked, { signature, ...done.locks, ...given({ signScheme }) });
  await client.broadcast(checked, plan, wallet);
  const following = client.follow(order.id, given({ signal }));
  for await (const event of following) onEvent?.(event);
  const status = await following.final;
  if (status.status === 'settled') await client.confirm(checked);
  const ended: Trade = { checked, order, status, next: null, stopped: null };
  return checked.sequential && status.status === 'settled'
    ? { ...ended, ...(await goOn(client, checked, options)) }
    : ended;
}

async function prepare(
  client: TradeCalls,
  checked: Checked,
  wallet: Wallet,
  { fundingLock, standingGrant, unlimitedPermit2, tradesAhead }: TakeOptions,
): Promise<{ plan: Plan; done: Done }> {
  for (let left = MOST_PLANS; left > 0; left--) {
    const plan = await client.preflight(checked, given({ fundingLock, unlimitedPermit2, tradesAhead }));
    const done = await client.runActions(checked, plan, wallet, given({ standingGrant }));
    if (!done.rerun) return { plan, done };
  }
  throw new DistrustError(
    'action_unexpected',
    `After ${MOST_PLANS} plans the venue still asks for more set-up.`,
  );
}

/** The first leg is in the taker's wallet: nothing is lost if the route ends here. */
async function goOn(
  client: TradeCalls,
  checked: Checked,
  options: TakeOptions,
): Promise<Pick<Trade, 'next' | 'stopped'>> {
  const until = Date.now() + (options.nextLegTimeoutMs ?? NEXT_LEG_TIMEOUT_MS);
  for (;;) {
    options.signal?.throwIfAborted();
    const found = await client.nextLeg(checked);
    if (found.kind === 'done') return { next: null, stopped: null };
    if (found.kind === 'leg') return { next: await take(client, found.checked, options), stopped: null };
    if (Date.now() > until)
      return {
        next: null,
        stopped: found.kind === 'no_quote' ? found.message : 'The venue brought no next leg in time.',
      };
    await new Promise((resume) => setTimeout(resume, BETWEEN_LOOKS_MS));
  }
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
/** What was left out stays out. */
const given = <T extends object>(options: T): Given<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<T>;

const shown = (amount: string | null | undefined): bigint =>
  /^[0-9]{1,78}$/.test(amount ?? '') ? BigInt(amount as string) : 0n;
const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
/** By what is enforced; a route that is not firm yet counts with what it shows. */
const enforced = ({ preview: { outputs } }: Candidate): bigint =>
  shown(outputs[0]?.minimumAmount ?? outputs[0]?.amount);
const byOutput = (a: Candidate, b: Candidate): number => compare(enforced(b), enforced(a));
const byInput = (a: Candidate, b: Candidate): number =>
  compare(shown(a.preview.inputs[0]?.amount), shown(b.preview.inputs[0]?.amount));
