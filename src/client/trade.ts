/** A whole trade, from quotes to confirmation on the chain. */

import type * as z from 'zod';
import type { Hex } from '../domain/hex.ts';
import type { FundingLock } from '../protocol/api/preflight.ts';
import type { zQuoteResponse } from '../protocol/api/quote.ts';
import type { OrderStatusResponse } from '../protocol/api/status.ts';
import type { Claimed, Fade } from './bond.ts';
import type { Candidate } from './candidate.ts';
import type { Checked, Expectations } from './check.ts';
import { type BaseError } from '../domain/errors.ts';
import { DistrustError, NoQuoteError, VenueError, WalletError } from './errors.ts';
import type { Following, FollowOptions, OrderEvent } from './follow.ts';
import type { NextLeg } from './next-leg.ts';
import type { Approvals, Plan } from './plan.ts';
import type { Limits, TradeRequest } from './request.ts';
import type { Order, Submission } from './submit.ts';
import type { Done, RunOptions, Wallet } from './wallet.ts';

export type QuoteAnswer = Omit<z.infer<typeof zQuoteResponse>, 'quotes'> & { quotes: Candidate[] };

export interface TradeCalls {
  /** Requests candidates, best first, unchecked; or `productUnavailable` with the reason. */
  requestQuotes(request: TradeRequest): Promise<QuoteAnswer>;
  check(candidate: Candidate, expectations: Expectations): Promise<Checked>;
  /**
   * A candidate that was signed before, for `submit`, `confirm`, `fades` and `claim`. Its terms are checked
   * again, but not whether the quote is still firm.
   */
  reopen(candidate: Candidate, expectations: Expectations): Promise<Checked>;
  /** The steps still to be sent and signed, each checked and rebuilt. */
  preflight(checked: Checked, options?: Approvals & { fundingLock?: FundingLock }): Promise<Plan>;
  /** Sends the actions. When `rerun` is true, run preflight again. */
  runActions(checked: Checked, plan: Plan, wallet: Wallet, options?: RunOptions): Promise<Done>;
  sign(checked: Checked, wallet: Wallet): Promise<Hex>;
  /** Submits the order. Safe to repeat with the same arguments, also in another process. */
  submit(checked: Checked, submission: Submission): Promise<Order>;
  /** Sends the settlement of walletBroadcast, after `submit`. undefined when there is nothing to send. */
  broadcast(checked: Checked, plan: Plan, wallet: Wallet): Promise<Hex | undefined>;
  /** Requests and checks the next leg of a sequential route, after `submit`. */
  nextLeg(checked: Checked): Promise<Exclude<NextLeg, { kind: 'leg' }> | { kind: 'leg'; checked: Checked }>;
  follow(orderId: string, options?: FollowOptions): Following;
  order(orderId: string): Promise<OrderStatusResponse>;
  /** Throws `DistrustError` "not_settled" unless the chain shows it. */
  confirm(checked: Checked): Promise<void>;
  /**
   * LPs whose promise of this signed order fails now, and what their bonds pay. On one chain until the fill
   * deadline; across chains with the refund.
   */
  fades(checked: Checked, signature: Hex): Promise<Fade[]>;
  /** Claims from each of them. The wallet pays the gas. */
  claim(checked: Checked, signature: Hex, wallet: Wallet): Promise<Claimed[]>;
}

export interface TakeOptions extends Approvals, RunOptions {
  /** The wallet on the input's chain; for routes across chains, the wallet of each chain. */
  wallet: Wallet | ((chainId: number) => Wallet);
  fundingLock?: FundingLock;
  signScheme?: 'EIP712' | 'EIP1271';
  nextLegTimeoutMs?: number;
  /**
   * Ends when this leg of a sequential route has settled, so that the caller sees the price of the next one:
   * `nextLeg` continues.
   */
  oneLeg?: boolean;
  /** Claims from the bond of an LP whose promise fails while the order is followed. Needs `quoteBond`. */
  claimFades?: boolean;
  /** Called when a claim was not sent; the order is followed further. Default: the trade throws. */
  onClaimFailed?: (error: unknown) => void;
  onClaimed?: (claimed: Claimed[]) => void;
  /** True: also waits for the refund of an order that failed with its input in escrow. */
  untilRefunded?: boolean;
  /** Called and awaited before the submission, with what `resume` needs when this process ends early. */
  onSigned?: (signed: SignedTrade) => Promise<void> | void;
  onOrder?: (order: Order) => void;
  onEvent?: (event: OrderEvent) => void;
  onStage?: (status: OrderStatusResponse) => void;
  signal?: AbortSignal;
}

/** Plain data but for its bigints. It lets anybody execute the order at its price, and nothing else. */
export interface SignedTrade {
  orderId: Hex;
  candidate: Candidate;
  expectations: Expectations;
  submission: Submission;
}

export interface TradeOptions extends TakeOptions, Limits {
  request: TradeRequest;
  /** Called for each candidate that failed the check; the next one is tried. */
  onRefused?: (candidate: Candidate, why: DistrustError) => void;
}

export interface Trade {
  checked: Checked;
  order: Pick<Order, 'id' | 'quoteId'>;
  /** The order's status, confirmed on the chain when settled. */
  status: OrderStatusResponse;
  /** Claims from LPs that did not keep their promise; with `claimFades`. */
  claimed: Claimed[];
  next: Trade | null;
  /**
   * The reason why a route stopped; the taker holds this leg's output. Continue with
   * `client.nextLeg(checked)`.
   */
  stopped: string | null;
}

/** How many plans are made: each may ask for one more step of set-up, such as a grant, then a deposit. */
const MOST_PLANS = 4;
const NEXT_LEG_TIMEOUT_MS = 60_000;
const POLL_MS = 500;

/** Throws `NoQuoteError` when no LP quotes, `DistrustError` when no candidate passes. */
export async function trade(client: TradeCalls, options: TradeOptions): Promise<Trade> {
  return take(client, await best(client, options), options);
}

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
    bond,
  }: TradeOptions,
): Promise<Checked> {
  const { quotes, productUnavailable } = await client.requestQuotes(request);
  if (productUnavailable || quotes.length === 0)
    throw new NoQuoteError(
      productUnavailable?.code ?? 'no_quotes',
      productUnavailable?.message ?? 'No LP quoted.',
    );
  const expectations: Expectations = {
    request,
    ...given({
      ...{ minOutput, maxInput, maxPlatformFeeBps, maxRelayFee, maxSlippageBps, maxLockUpSeconds, bond },
      // A limit that is left out here would not be checked.
    } satisfies Record<keyof Limits, unknown>),
  };
  let refusal: DistrustError | undefined;
  for (const candidate of ranked(quotes, request)) {
    try {
      return await client.check(candidate, expectations);
    } catch (error) {
      if (!(error instanceof DistrustError)) throw error;
      refusal ??= error;
      onRefused?.(candidate, error);
    }
  }
  throw refusal ?? new NoQuoteError('no_quotes', 'No LP quoted.');
}

export async function take(client: TradeCalls, checked: Checked, options: TakeOptions): Promise<Trade> {
  const { signScheme } = options;
  const wallet = walletOf(checked, options);
  const { plan, done } = await prepare(client, checked, wallet, options);
  const signature = await client.sign(checked, wallet);
  const submission: Submission = { signature, ...done.locks, ...given({ signScheme }) };
  const { orderId, candidate, expectations } = checked;
  await options.onSigned?.({ orderId, candidate, expectations, submission });
  const order = await client.submit(checked, submission);
  options.onOrder?.(order);
  await client.broadcast(checked, plan, wallet);
  return toTheEnd(client, { checked, order, signature }, options);
}

export async function resumeTrade(
  client: TradeCalls,
  { candidate, expectations, submission }: SignedTrade,
  options: TakeOptions,
): Promise<Trade> {
  const checked = await client.reopen(candidate, expectations);
  const known = await client.order(checked.orderId).catch((error: unknown) => {
    if (error instanceof VenueError && error.status === 404) return undefined;
    throw error;
  });
  const order = known ?? (await client.submit(checked, submission));
  if (!known) options.onOrder?.(order as Order);
  if (
    checked.executionMode === 'walletBroadcast' &&
    (known === undefined || known.stage === 'awaiting_escrow')
  ) {
    const firm = await client.check(candidate, expectations);
    await client.broadcast(firm, await client.preflight(firm), walletOf(checked, options));
  }
  return toTheEnd(client, { checked, order, signature: submission.signature }, options);
}

const walletOf = ({ domain }: Checked, { wallet }: TakeOptions): Wallet =>
  typeof wallet === 'function' ? wallet(domain.chainId) : wallet;

async function toTheEnd(
  client: TradeCalls,
  { checked, order, signature }: { checked: Checked; order: Trade['order']; signature: Hex },
  options: TakeOptions,
): Promise<Trade> {
  const { onEvent, onStage, signal } = options;
  const following = client.follow(order.id, given({ onStage, signal }));
  const ending = options.untilRefunded
    ? following.final.then((status) => untilRefunded(client, status, options))
    : following.final;
  const claiming = options.claimFades
    ? claimWhileOpen(client, { checked, signature }, options, ending)
    : Promise.resolve([]);
  // A refused claim is told when the order has ended; until then nobody awaits it.
  claiming.catch(() => {});
  ending.catch(() => {});
  for await (const event of following) onEvent?.(event);
  const status = await ending;
  if (status.status === 'settled') await client.confirm(checked);
  const ended: Trade = { checked, order, status, claimed: await claiming, next: null, stopped: null };
  return checked.sequential && status.status === 'settled'
    ? { ...ended, ...(await goOn(client, checked, options)) }
    : ended;
}

/** The stream ends with the failure; the refund comes later. */
async function untilRefunded(
  client: TradeCalls,
  failed: OrderStatusResponse,
  { onStage, signal }: TakeOptions,
): Promise<OrderStatusResponse> {
  let status = failed;
  while (status.stage === 'refund_pending') {
    await new Promise((resume) => setTimeout(resume, POLL_MS));
    signal?.throwIfAborted();
    status = await client.order(failed.id).catch((error: BaseError) => {
      if (error.retry === 'later') return status;
      throw error;
    });
  }
  if (status.stage !== failed.stage) onStage?.(status);
  return status;
}

/**
 * Checks for claims until the order is final, and once more then: a refund across chains makes a claim
 * possible.
 */
async function claimWhileOpen(
  client: TradeCalls,
  { checked, signature }: { checked: Checked; signature: Hex },
  options: TakeOptions,
  final: Promise<OrderStatusResponse>,
): Promise<Claimed[]> {
  let over = false;
  const ended = final.then(
    () => (over = true),
    () => (over = true),
  );
  for (let last = false; ; last = over) {
    // An endpoint that does not answer now may answer at the next look.
    const fades = await client.fades(checked, signature).catch(() => []);
    if (fades.length > 0) {
      try {
        const claimed = await client.claim(checked, signature, walletOf(checked, options));
        options.onClaimed?.(claimed);
        return claimed;
      } catch (error) {
        // The LP has put the money back: the order can be settled.
        const over = error instanceof WalletError && error.code === 'would_revert';
        if (!over && !options.onClaimFailed) throw error;
        if (!over) {
          options.onClaimFailed?.(error);
          return [];
        }
      }
    }
    if (last) return [];
    await Promise.race([ended, new Promise((resume) => setTimeout(resume, POLL_MS))]);
  }
}

async function prepare(
  client: TradeCalls,
  checked: Checked,
  wallet: Wallet,
  { fundingLock, standingGrant, onStep, onSent, unlimitedPermit2, tradesAhead }: TakeOptions,
): Promise<{ plan: Plan; done: Done }> {
  for (let left = MOST_PLANS; left > 0; left--) {
    const plan = await client.preflight(checked, given({ fundingLock, unlimitedPermit2, tradesAhead }));
    const done = await client.runActions(checked, plan, wallet, given({ standingGrant, onStep, onSent }));
    if (!done.rerun) return { plan, done };
  }
  throw new DistrustError(
    'action_unexpected',
    `After ${MOST_PLANS} plans the venue still asks for more set-up.`,
  );
}

/** The taker holds the first leg's output: nothing is lost if the route ends here. */
async function goOn(
  client: TradeCalls,
  checked: Checked,
  options: TakeOptions,
): Promise<Pick<Trade, 'next' | 'stopped'>> {
  if (options.oneLeg) return { next: null, stopped: 'The next leg has not been requested.' };
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
    await new Promise((resume) => setTimeout(resume, POLL_MS));
  }
}

type Given<T> = { [K in keyof T]?: Exclude<T[K], undefined> };
const given = <T extends object>(options: T): Given<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Given<T>;

const shown = (amount: string | null | undefined): bigint =>
  /^[0-9]{1,78}$/.test(amount ?? '') ? BigInt(amount as string) : 0n;
const compare = (a: bigint, b: bigint): number => (a < b ? -1 : a > b ? 1 : 0);
/** Sequential routes count with what they show. */
const enforced = ({ preview: { outputs } }: Candidate): bigint =>
  shown(outputs[0]?.minimumAmount ?? outputs[0]?.amount);
/** Best first by what the escrow enforces, because the venue's ranking is not trusted. */
export const ranked = (quotes: readonly Candidate[], { output }: TradeRequest): Candidate[] =>
  quotes.toSorted(output.amount === undefined ? byOutput : byInput);
const byOutput = (a: Candidate, b: Candidate): number => compare(enforced(b), enforced(a));
const byInput = (a: Candidate, b: Candidate): number =>
  compare(shown(a.preview.inputs[0]?.amount), shown(b.preview.inputs[0]?.amount));
