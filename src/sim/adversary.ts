/**
 * An adversary collects quotes, then accepts all together, per nonce the one that drains one balance most.
 * Plain balances stand for the chain: a payment they cannot make is an unpayable quote.
 */

import { isDecline } from '../domain/decline.ts';
import type { Address } from '../domain/hex.ts';
import type { LedgerEvent } from '../inventory/event.ts';
import { createLedger, type Ledger } from '../inventory/ledger.ts';
import { DEFAULT_PARAMS } from '../pricing/params.ts';
import type { PriceInputs } from '../pricing/price-inputs.ts';
import { price } from '../pricing/price.ts';
import { createRandom, type SimRandom } from './random.ts';

export interface AdversaryResult {
  events: number;
  quoted: number;
  declined: number;
  strikes: number;
  paid: number;
  unpayable: number;
  shortfalls: number;
}

interface Bucket {
  chainId: number;
  token: Address;
  asset: 'ETH' | 'USD';
  decimals: number;
  start: bigint;
}

const ETH: Address = '0x1111111111111111111111111111111111111111';
const USD: Address = '0x2222222222222222222222222222222222222222';
const BUCKETS: readonly Bucket[] = [1, 2].flatMap((chainId) => [
  { chainId, token: ETH, asset: 'ETH' as const, decimals: 18, start: 100n * 10n ** 18n },
  {
    chainId,
    token: USD,
    asset: 'USD' as const,
    decimals: chainId === 1 ? 6 : 18,
    start: 250_000n * 10n ** (chainId === 1 ? 6n : 18n),
  },
]);

interface LiveQuote {
  orderId: string;
  out: Bucket;
  into: Bucket;
  amount: bigint;
  received: bigint;
  lapsesAt: number;
}

interface AdversaryState {
  random: SimRandom;
  ledger: Ledger;
  /** Balances from which the chain would pay. */
  balances: Map<Bucket, bigint>;
  result: AdversaryResult;
  /** Quotes that may still be accepted, by nonce group. */
  live: Map<string, LiveQuote[]>;
  unclaimed: LiveQuote[];
  /** Time of each chain, Unix seconds. */
  now: Map<number, number>;
  mid: number;
  nonce: number;
}

/**
 * Runs the adversary. `graceSeconds`: how long holds outlive their quotes. A negative value proves that the
 * check can fail.
 */
export function runAdversary(mostEvents: number, seed: number, graceSeconds = 2): AdversaryResult {
  const state = startOf(seed, graceSeconds);
  const { random, ledger, result } = state;
  while (result.events < mostEvents) {
    const draw = random.uniform();
    if (draw < 0.8) ask(state);
    else if (draw < 0.9) claim(state);
    else if (draw < 0.99) passTime(state);
    else strike(state);
    if (ledger.buckets().some(({ shortfall }) => shortfall > 0n)) result.shortfalls += 1;
  }
  return result;
}

function startOf(seed: number, graceSeconds: number): AdversaryState {
  const ledger = createLedger({
    buckets: BUCKETS,
    graceSeconds: () => graceSeconds,
    limits: {},
    rememberSeconds: 5,
  });
  for (const { chainId, token, asset, start } of BUCKETS)
    ledger.apply({ type: 'deposited', chainId, token, id: `start ${asset}`, amount: start });
  return {
    random: createRandom(seed),
    ledger,
    balances: new Map(BUCKETS.map((bucket) => [bucket, bucket.start])),
    result: { events: 0, quoted: 0, declined: 0, strikes: 0, paid: 0, unpayable: 0, shortfalls: 0 },
    live: new Map(),
    unclaimed: [],
    now: new Map([
      [1, 1_000_000],
      [2, 1_000_000],
    ]),
    mid: 2500,
    nonce: 0,
  };
}

function pick<T>({ random }: AdversaryState, items: readonly T[]): T {
  return items[random.below(items.length)] as T;
}

function apply({ result, ledger }: AdversaryState, event: LedgerEvent): void {
  result.events += 1;
  ledger.apply(event);
}

/** Requests a quote, and holds its output as an LP does. */
function ask(state: AdversaryState): void {
  const { random, ledger, result, live, now } = state;
  result.events += 1;
  state.mid *= 1 + 0.0005 * random.normal();
  // A nonce belongs to one origin chain, so its quotes share that chain.
  const shared = live.size > 0 && random.uniform() < 0.3 ? pick(state, [...live]) : undefined;
  const into = pick(
    state,
    BUCKETS.filter(({ chainId }) => shared === undefined || chainId === shared[1][0]?.into.chainId),
  );
  const out = pick(
    state,
    BUCKETS.filter(({ asset }) => asset !== into.asset),
  );
  const answer = price(inputsOf(state, into, out));
  if (isDecline(answer)) {
    result.declined += 1;
    return;
  }
  const [group, answers] = shared ?? [`nonce ${state.nonce++}`, []];
  const quote: LiveQuote = {
    orderId: `quote ${result.events}`,
    out,
    into,
    amount: answer.output,
    received: answer.received,
    lapsesAt: (now.get(into.chainId) as number) + 1 + random.below(30),
  };
  const held = ledger.hold(
    {
      orderId: quote.orderId,
      chainId: out.chainId,
      token: out.token,
      amount: answer.output,
      input: { chainId: into.chainId, token: into.token, amount: answer.received },
      group,
      lapsesAt: quote.lapsesAt,
      taker: 'adversary',
      pair: 'ETH-USD',
      side: lpSideOf(out),
      notional: answer.notional,
    },
    now.get(into.chainId) as number,
  );
  if (isDecline(held)) {
    result.declined += 1;
    return;
  }
  result.quoted += 1;
  live.set(group, [...answers, quote]);
}

const lpSideOf = (out: Bucket): 'buy' | 'sell' => (out.asset === 'USD' ? 'buy' : 'sell');

/** Draws a request of 100 to 100,000 USD, at a random position of the LP. */
function inputsOf({ random, mid }: AdversaryState, into: Bucket, out: Bucket): PriceInputs {
  const lp = lpSideOf(out);
  const [base, counter] = lp === 'buy' ? [into, out] : [out, into];
  const size = 10 ** (2 + 3 * random.uniform());
  return {
    side: 'exactInput',
    amount:
      into.asset === 'ETH'
        ? BigInt(Math.round((size / mid) * 1e9)) * 10n ** 9n
        : BigInt(Math.round(size * 1e6)) * 10n ** BigInt(into.decimals - 6),
    platformFeeBps: 2,
    relayFee: 0n,
    lp,
    baseDecimals: base.decimals,
    quoteDecimals: counter.decimals,
    mid: { num: BigInt(Math.round(mid * 1e6)), den: 1_000_000n },
    quoteValue: 1,
    confidenceBps: 1,
    sigma: 0.9,
    firmSeconds: 30,
    q: 2 * random.uniform() - 1,
    ownGas: 0n,
    lockSeconds: 60,
    params: DEFAULT_PARAMS,
  };
}

/** Accepts of every nonce group the quote that drains one bucket most. */
function strike(state: AdversaryState): void {
  const { balances, result, live, unclaimed, now } = state;
  result.strikes += 1;
  const wanted = pick(state, BUCKETS);
  for (const [group, answers] of live) {
    const open = answers.filter(({ lapsesAt, into }) => lapsesAt >= (now.get(into.chainId) as number));
    const [worst] = open.sort(
      (a, b) => Number(b.out === wanted) - Number(a.out === wanted) || (a.amount < b.amount ? 1 : -1),
    );
    live.delete(group);
    if (worst === undefined) continue;
    apply(state, { type: 'accepted', orderId: worst.orderId });
    const left = (balances.get(worst.out) as bigint) - worst.amount;
    if (left < 0n) {
      result.unpayable += 1;
      apply(state, { type: 'failed', orderId: worst.orderId });
      continue;
    }
    balances.set(worst.out, left);
    result.paid += 1;
    apply(state, { type: 'filled', orderId: worst.orderId, id: `fill ${worst.orderId}` });
    unclaimed.push(worst);
  }
}

/** Makes one fill final, and pays its input to the LP. */
function claim(state: AdversaryState): void {
  const { random, balances, unclaimed } = state;
  const paid = unclaimed.splice(random.below(unclaimed.length), 1)[0];
  if (paid === undefined) return;
  const { orderId, into, received } = paid;
  apply(state, { type: 'fill_final', orderId, id: `fill ${orderId}` });
  apply(state, { type: 'finalised', orderId, id: `claim ${orderId}`, received });
  balances.set(into, (balances.get(into) as bigint) + received);
}

function passTime(state: AdversaryState): void {
  const { random, live, now } = state;
  const chainId = 1 + random.below(2);
  const time = (now.get(chainId) as number) + 1 + random.below(5);
  now.set(chainId, time);
  apply(state, { type: 'time', chainId, now: time });
  for (const [group, answers] of live)
    if (answers.every(({ lapsesAt, into }) => lapsesAt < (now.get(into.chainId) as number)))
      live.delete(group);
}
