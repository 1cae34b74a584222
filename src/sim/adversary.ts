/**
 * An adversary collects quotes, then accepts all together, per nonce the one that drains one balance most.
 * Plain balances stand for the chain: a payment they cannot make is an unpayable quote.
 */

import { isDecline } from '../domain/decline.ts';
import type { Address } from '../domain/hex.ts';
import { createLedger } from '../inventory/ledger.ts';
import { DEFAULT_PARAMS } from '../pricing/params.ts';
import { price } from '../pricing/price.ts';
import { createRandom } from './random.ts';

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

/** `graceSeconds`: how long holds outlive their quotes. A negative value proves that the check can fail. */
export function runAdversary(mostEvents: number, seed: number, graceSeconds = 2): AdversaryResult {
  const random = createRandom(seed);
  const balances = new Map(BUCKETS.map((bucket) => [bucket, bucket.start]));
  const ledger = createLedger({
    buckets: BUCKETS,
    graceSeconds: () => graceSeconds,
    limits: {},
    rememberSeconds: 5,
  });
  const result: AdversaryResult = {
    events: 0,
    quoted: 0,
    declined: 0,
    strikes: 0,
    paid: 0,
    unpayable: 0,
    shortfalls: 0,
  };
  const live = new Map<string, LiveQuote[]>();
  const unclaimed: LiveQuote[] = [];
  const now = new Map([
    [1, 1_000_000],
    [2, 1_000_000],
  ]);
  let [mid, nonce] = [2500, 0];
  for (const bucket of BUCKETS)
    ledger.apply({
      type: 'deposited',
      chainId: bucket.chainId,
      token: bucket.token,
      id: `start ${bucket.asset}`,
      amount: bucket.start,
    });

  const pick = <T>(items: readonly T[]): T => items[random.below(items.length)] as T;
  const apply = (event: Parameters<typeof ledger.apply>[0]) => {
    result.events += 1;
    return ledger.apply(event).applied;
  };

  function ask(): void {
    result.events += 1;
    mid *= 1 + 0.0005 * random.normal();
    // A nonce belongs to one origin chain, so its quotes share that chain.
    const shared = live.size > 0 && random.uniform() < 0.3 ? pick([...live]) : undefined;
    const into = pick(
      BUCKETS.filter(({ chainId }) => shared === undefined || chainId === shared[1][0]?.into.chainId),
    );
    const out = pick(BUCKETS.filter(({ asset }) => asset !== into.asset));
    const lp = out.asset === 'USD' ? 'buy' : 'sell';
    const [base, counter] = lp === 'buy' ? [into, out] : [out, into];
    const size = 10 ** (2 + 3 * random.uniform());
    const answer = price({
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
    });
    if (isDecline(answer)) {
      result.declined += 1;
      return;
    }
    const [group, answers] = shared ?? [`nonce ${nonce++}`, []];
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
        side: lp,
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

  function strike(): void {
    result.strikes += 1;
    const wanted = pick(BUCKETS);
    for (const [group, answers] of live) {
      const open = answers.filter(({ lapsesAt, into }) => lapsesAt >= (now.get(into.chainId) as number));
      const [worst] = open.sort(
        (a, b) => Number(b.out === wanted) - Number(a.out === wanted) || (a.amount < b.amount ? 1 : -1),
      );
      live.delete(group);
      if (worst === undefined) continue;
      apply({ type: 'accepted', orderId: worst.orderId });
      const left = (balances.get(worst.out) as bigint) - worst.amount;
      if (left < 0n) {
        result.unpayable += 1;
        apply({ type: 'failed', orderId: worst.orderId });
        continue;
      }
      balances.set(worst.out, left);
      result.paid += 1;
      apply({ type: 'filled', orderId: worst.orderId, id: `fill ${worst.orderId}` });
      unclaimed.push(worst);
    }
  }

  function claim(): void {
    const paid = unclaimed.splice(random.below(unclaimed.length), 1)[0];
    if (paid === undefined) return;
    apply({ type: 'fill_final', orderId: paid.orderId, id: `fill ${paid.orderId}` });
    apply({ type: 'finalised', orderId: paid.orderId, id: `claim ${paid.orderId}`, received: paid.received });
    balances.set(paid.into, (balances.get(paid.into) as bigint) + paid.received);
  }

  function passTime(): void {
    const chainId = 1 + random.below(2);
    const time = (now.get(chainId) as number) + 1 + random.below(5);
    now.set(chainId, time);
    apply({ type: 'time', chainId, now: time });
    for (const [group, answers] of live)
      if (answers.every(({ lapsesAt, into }) => lapsesAt < (now.get(into.chainId) as number)))
        live.delete(group);
  }

  while (result.events < mostEvents) {
    const draw = random.uniform();
    if (draw < 0.8) ask();
    else if (draw < 0.9) claim();
    else if (draw < 0.99) passTime();
    else strike();
    if (ledger.buckets().some(({ shortfall }) => shortfall > 0n)) result.shortfalls += 1;
  }
  return result;
}
