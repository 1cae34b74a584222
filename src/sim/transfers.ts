/**
 * Where a simulated LP's inventory lies, and transfers between its chains by the policy of the live LP: what
 * they cost, and for how long chains were out of their bands.
 */

import { type ChainShare, chainBandOf } from '../inventory/bands.ts';
import { fromAttoDown, toAtto } from '../inventory/bucket.ts';
import type { Money } from '../inventory/event.ts';
import type { Ledger } from '../inventory/ledger.ts';
import {
  type Advice,
  createDailyFlow,
  createRebalancer,
  type RebalancePlace,
} from '../inventory/rebalance.ts';
import { type TransferPolicy, whyEachByHand } from '../inventory/transfer-policy.ts';
import { rebalanceTerm } from '../pricing/terms.ts';

export interface SimPlace extends ChainShare {
  chainId: number;
  slug: string;
  /** Cost of moving the asset to this chain that the LP reckons with. */
  costBps: number;
}

export interface SimTransfers {
  rule: { startQ: number; stopQ: number; cooldownSeconds: number };
  policy: TransferPolicy;
  /** Between two looks. */
  everySeconds: number;
  /** From the request until the escrow lets the money go, and from there until the other escrow has it. */
  delaySeconds: number;
  /** `assets`: the tokens that it carries. */
  bridge: { assets: readonly string[]; feeBps: number; seconds: number; gasUsd: number };
}

export interface TransferTally {
  /** That arrived, and what they carried and cost, in USD. */
  transfers: number;
  movedUsd: number;
  bridgeFeesUsd: number;
  transferGasUsd: number;
  underWaySeconds: number;
  /** Looks at which advice waited for the operator, by reason. */
  byHand: Record<string, number>;
  /** By asset and chain: seconds beyond the soft share, of all. */
  outOfBand: Record<string, number>;
  seconds: number;
}

interface Look {
  rebalanceBps: number;
  room: { input?: bigint; output?: bigint };
}

export type SimInventory = ReturnType<typeof createSimInventory>;

const DAY_SECONDS = 86_400;
const MEASURE_SECONDS = 10;

interface Parts {
  ledger: Ledger;
  /** Of a whole token; undefined: no price yet. */
  usd(asset: string): number | undefined;
}

export function createSimInventory(
  { ledger, usd }: Parts,
  places: ReadonlyMap<string, readonly SimPlace[]>,
  transfers: SimTransfers | undefined,
) {
  const rebalancer = createRebalancer(transfers?.rule ?? { startQ: 1, stopQ: 1, cooldownSeconds: 0 });
  const drained = createDailyFlow();
  const due: { atSecond: number; run(nowSecond: number): void }[] = [];
  /** One of a token from a chain at a time, as the escrow keeps one request of each. */
  const open = new Set<string>();
  const inTransit = new Map<string, bigint>();
  const begun: { atSecond: number; usd: number }[] = [];
  const out = new Map<string, number>();
  const byHand = new Map<string, number>();
  let [measuredAt, lookedAt, serial] = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY, 0];
  const total = {
    ...{ transfers: 0, movedUsd: 0, bridgeFeesUsd: 0, transferGasUsd: 0, underWaySeconds: 0, seconds: 0 },
  };

  const bucketOf = (asset: string, chainId: number) =>
    ledger.bucketsOf(asset).find((bucket) => bucket.chainId === chainId);
  const worth = (asset: string, atto: bigint): number =>
    (Number(atto / 10n ** 6n) / 1e12) * (usd(asset) ?? 0);

  function standing(asset: string) {
    const of = places.get(asset) ?? [];
    const shares = of.reduce((sum, { share }) => sum + share, 0n);
    const seen = of.map((place) => {
      const bucket = bucketOf(asset, place.chainId);
      const available =
        bucket === undefined
          ? 0n
          : toAtto(
              bucket.base + bucket.moved - bucket.pendingOut - bucket.committed - bucket.withdrawing,
              bucket.decimals,
            );
      return { place, available, held: bucket === undefined ? 0n : toAtto(bucket.held, bucket.decimals) };
    });
    const sum = seen.reduce((all, { available }) => all + (available > 0n ? available : 0n), 0n);
    return seen.map(({ place, available, held }) => ({
      ...{ ...place, available, held },
      ...chainBandOf({ available, total: sum }, place, shares),
    }));
  }

  function move(asset: string, change: bigint): void {
    const amount = (inTransit.get(asset) ?? 0n) + change;
    inTransit.set(asset, amount);
    ledger.setInTransit(asset, amount);
  }

  /** undefined: it cannot begin now, because the money is not free or the last one has not left yet. */
  function startOf({ asset, from, to, amount }: Advice) {
    const [source, dest] = [from, to].map((slug) => {
      const place = places.get(asset)?.find((each) => each.slug === slug);
      return place && bucketOf(asset, place.chainId);
    });
    if (source === undefined || dest === undefined || open.has(`${asset} ${from}`)) return undefined;
    const units = fromAttoDown(amount, source.decimals);
    return units <= 0n || units > ledger.free(source.chainId, source.token)
      ? undefined
      : { asset, from, units, source, dest };
  }

  function begin(
    { asset, from, units, source, dest }: NonNullable<ReturnType<typeof startOf>>,
    nowSecond: number,
    of: SimTransfers,
  ): void {
    const key = `${asset} ${from}`;
    const id = `transfer ${(serial += 1)}`;
    const moved = toAtto(units, source.decimals);
    const usdNow = worth(asset, moved);
    open.add(key);
    begun.push({ atSecond: nowSecond, usd: usdNow });
    const place = { chainId: source.chainId, token: source.token, amount: units };
    ledger.apply({ type: 'withdrawal_requested', id, ...place });
    due.push({
      atSecond: nowSecond + of.delaySeconds,
      run(leftAt) {
        open.delete(key);
        ledger.apply({ type: 'withdrawal_ended', id, ...place });
        move(asset, moved);
        rebalancer.left(asset, from, leftAt);
        due.push({
          atSecond: leftAt + of.bridge.seconds,
          run(arrivedAt) {
            const fee = feeOf(moved, of.bridge.feeBps);
            const got = fromAttoDown(moved - fee, dest.decimals);
            move(asset, -moved);
            ledger.apply({ type: 'deposited', id, chainId: dest.chainId, token: dest.token, amount: got });
            total.transfers += 1;
            total.movedUsd += usdNow;
            total.bridgeFeesUsd += worth(asset, moved - toAtto(got, dest.decimals));
            total.underWaySeconds += arrivedAt - nowSecond;
          },
        });
      },
    });
    total.transferGasUsd += of.bridge.gasUsd;
  }

  function look(nowSecond: number, of: SimTransfers): void {
    while ((begun[0]?.atSecond ?? nowSecond) <= nowSecond - DAY_SECONDS) begun.shift();
    const wanted = of.bridge.assets.flatMap((asset) => {
      const seen = standing(asset).map(({ slug, available, target, q, costBps }): RebalancePlace => ({
        ...{ chain: slug, available, target, q, costBps },
        chargeBps: rebalanceTerm({ drained: { q, costBps } }),
        drainedPerDay: drained.perDay(`${asset} ${slug}`, nowSecond),
      }));
      if (seen.length < 2) return [];
      return rebalancer.advise(asset, seen, nowSecond).flatMap((advice) => {
        const start = startOf(advice);
        return start === undefined ? [] : [{ advice, start }];
      });
    });
    const whys = whyEachByHand(
      of.policy,
      wanted.map(({ advice: { asset, from, amount, cost }, start }) => ({
        ...{ asset, from, amount, cost, decimals: start.source.decimals },
        usd: usd(asset) === undefined ? undefined : worth(asset, amount),
        fee: feeOf(amount, of.bridge.feeBps),
      })),
      begun.reduce((sum, each) => sum + each.usd, 0),
    );
    for (const [at, { start }] of wanted.entries()) {
      const why = whys[at];
      if (why === undefined) begin(start, nowSecond, of);
      else byHand.set(why.rule, (byHand.get(why.rule) ?? 0) + 1);
    }
  }

  function measure(nowSecond: number): void {
    const passed = Number.isFinite(measuredAt) ? nowSecond - measuredAt : 0;
    measuredAt = nowSecond;
    total.seconds += passed;
    for (const asset of places.keys())
      for (const { slug, q } of standing(asset))
        if (Math.abs(q) > 1) out.set(`${asset} on ${slug}`, (out.get(`${asset} on ${slug}`) ?? 0) + passed);
  }

  const located = (asset: string, chainId: number) => {
    const isBanded = (places.get(asset) ?? []).some(
      ({ costBps, hardShare }) => costBps > 0 || hardShare !== undefined,
    );
    return isBanded ? standing(asset).find((place) => place.chainId === chainId) : undefined;
  };

  return {
    /** What the place of input and output does to price and size, as in the live LP. Amounts in 1e-18. */
    look(input: Pick<Money, 'chainId'> & { symbol: string }, output: typeof input): Look {
      const [gives, takes] = [located(output.symbol, output.chainId), located(input.symbol, input.chainId)];
      const left = gives?.room && gives.room.out - gives.held;
      return {
        rebalanceBps: rebalanceTerm({ drained: gives, filled: takes }),
        room: {
          ...(left !== undefined && { output: left < 0n ? 0n : left }),
          ...(takes?.room && { input: takes.room.in }),
        },
      };
    },
    paid(asset: string, chainId: number, atto: bigint, nowSecond: number): void {
      const slug = places.get(asset)?.find((place) => place.chainId === chainId)?.slug;
      if (slug !== undefined) drained.add(`${asset} ${slug}`, atto, nowSecond);
    },
    step(nowSecond: number): void {
      due.sort((a, b) => a.atSecond - b.atSecond);
      while ((due[0]?.atSecond ?? Number.POSITIVE_INFINITY) <= nowSecond) due.shift()?.run(nowSecond);
      if (nowSecond >= measuredAt + MEASURE_SECONDS || !Number.isFinite(measuredAt)) measure(nowSecond);
      if (transfers === undefined || nowSecond < lookedAt + transfers.everySeconds) return;
      lookedAt = nowSecond;
      look(nowSecond, transfers);
    },
    gasUsd: () => total.transferGasUsd,
    tally: (): TransferTally => ({
      ...total,
      byHand: Object.fromEntries(byHand),
      outOfBand: Object.fromEntries(
        [...places].flatMap(([asset, of]) =>
          of.map(({ slug }) => [`${asset} on ${slug}`, out.get(`${asset} on ${slug}`) ?? 0] as const),
        ),
      ),
    }),
  };
}

/** Rounded up, as bridges do. */
function feeOf(amount: bigint, feeBps: number): bigint {
  return (amount * BigInt(Math.round(feeBps * 1e4)) + 99_999_999n) / 100_000_000n;
}
