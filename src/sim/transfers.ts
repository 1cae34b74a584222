/**
 * Tracks where a simulated LP's inventory lies, and makes transfers between its chains by the policy of the
 * live LP: what they cost, and for how long chains were out of their bands.
 */

import { type ChainShare, chainBandOf } from '../inventory/bands.ts';
import { type Bucket, fromAttoDown, toAtto } from '../inventory/bucket.ts';
import type { Money } from '../inventory/event.ts';
import type { Ledger } from '../inventory/ledger.ts';
import {
  type Advice,
  createDailyFlow,
  createRebalancer,
  type DailyFlow,
  type Rebalancer,
  type RebalancePlace,
} from '../inventory/rebalance.ts';
import { type TransferPolicy, whyEachByHand } from '../inventory/transfer-policy.ts';
import { rebalanceTerm } from '../pricing/terms.ts';

export interface SimPlace extends ChainShare {
  chainId: number;
  slug: string;
  /** The cost of moving the asset to this chain, as the LP reckons with it. */
  costBps: number;
}

export interface SimTransfers {
  rule: { startQ: number; stopQ: number; cooldownSeconds: number };
  policy: TransferPolicy;
  /** The interval at which the LP checks for transfers to begin. */
  everySeconds: number;
  /**
   * Seconds from the request until the escrow lets the money go; `bridge.seconds` run from there until the
   * other escrow has it.
   */
  delaySeconds: number;
  /** `assets`: the tokens that it carries. */
  bridge: { assets: readonly string[]; feeBps: number; seconds: number; gasUsd: number };
}

export interface TransferTally {
  /** Transfers that arrived, and what they carried and cost, in USD. */
  transfers: number;
  movedUsd: number;
  bridgeFeesUsd: number;
  transferGasUsd: number;
  underWaySeconds: number;
  /** How many checks found advice that waited for the operator, by reason. */
  byHand: Record<string, number>;
  /** How many of all `seconds` each asset and chain was beyond the soft share. */
  outOfBand: Record<string, number>;
  seconds: number;
}

/** The effect of the input's and output's place on price and size. Amounts in 1e-18. */
interface PlaceTerms {
  rebalanceBps: number;
  room: { input?: bigint; output?: bigint };
}

type TokenPlace = Pick<Money, 'chainId'> & { symbol: string };

export interface SimInventory {
  /** The terms of places as in the live LP. */
  termsOf(input: TokenPlace, output: TokenPlace): PlaceTerms;
  /** Counts what a trade took from a chain. */
  paid(asset: string, chainId: number, atto: bigint, nowSecond: number): void;
  /** Moves transfers on, measures, and begins what the policy allows. */
  step(nowSecond: number): void;
  gasUsd(): number;
  tally(): TransferTally;
}

const DAY_SECONDS = 86_400;
const MEASURE_SECONDS = 10;

interface Parts {
  ledger: Ledger;
  /** Returns the price of a whole token; undefined: no price yet. */
  usd(asset: string): number | undefined;
}

interface InventoryState extends Parts {
  places: ReadonlyMap<string, readonly SimPlace[]>;
  rebalancer: Rebalancer;
  drained: DailyFlow;
  due: { atSecond: number; run(nowSecond: number): void }[];
  /** The asset and chain of open requests: the escrow keeps one request of each at a time. */
  open: Set<string>;
  inTransit: Map<string, bigint>;
  begun: { atSecond: number; usd: number }[];
  /** Seconds out of band, by asset and chain. */
  out: Map<string, number>;
  byHand: Map<string, number>;
  measuredAt: number;
  advisedAt: number;
  serial: number;
  total: Omit<TransferTally, 'byHand' | 'outOfBand'>;
}

/** A transfer that can begin now. */
interface TransferStart {
  asset: string;
  from: string;
  units: bigint;
  source: Readonly<Bucket>;
  dest: Readonly<Bucket>;
}

export function createSimInventory(
  parts: Parts,
  places: ReadonlyMap<string, readonly SimPlace[]>,
  transfers: SimTransfers | undefined,
): SimInventory {
  const state: InventoryState = {
    ...parts,
    places,
    rebalancer: createRebalancer(transfers?.rule ?? { startQ: 1, stopQ: 1, cooldownSeconds: 0 }),
    drained: createDailyFlow(),
    due: [],
    open: new Set(),
    inTransit: new Map(),
    begun: [],
    out: new Map(),
    byHand: new Map(),
    measuredAt: Number.NEGATIVE_INFINITY,
    advisedAt: Number.NEGATIVE_INFINITY,
    serial: 0,
    total: {
      ...{ transfers: 0, movedUsd: 0, bridgeFeesUsd: 0, transferGasUsd: 0, underWaySeconds: 0, seconds: 0 },
    },
  };
  return {
    termsOf: (input, output) => placeTerms(state, input, output),
    paid(asset, chainId, atto, nowSecond) {
      const slug = places.get(asset)?.find((place) => place.chainId === chainId)?.slug;
      if (slug !== undefined) state.drained.add(`${asset} ${slug}`, atto, nowSecond);
    },
    step: (nowSecond) => step(state, transfers, nowSecond),
    gasUsd: () => state.total.transferGasUsd,
    tally: () => tallyOf(state),
  };
}

function placeTerms(state: InventoryState, input: TokenPlace, output: TokenPlace): PlaceTerms {
  const [gives, takes] = [bandedPlace(state, output), bandedPlace(state, input)];
  const left = gives?.room && gives.room.out - gives.held;
  return {
    rebalanceBps: rebalanceTerm({ drained: gives, filled: takes }),
    room: {
      ...(left !== undefined && { output: left < 0n ? 0n : left }),
      ...(takes?.room && { input: takes.room.in }),
    },
  };
}

function bandedPlace(state: InventoryState, { symbol, chainId }: TokenPlace) {
  const isBanded = (state.places.get(symbol) ?? []).some(
    ({ costBps, hardShare }) => costBps > 0 || hardShare !== undefined,
  );
  return isBanded ? standing(state, symbol).find((place) => place.chainId === chainId) : undefined;
}

/** Computes where an asset lies, and how far each chain is from its share. */
function standing({ ledger, places }: InventoryState, asset: string) {
  const of = places.get(asset) ?? [];
  const shares = of.reduce((sum, { share }) => sum + share, 0n);
  const seen = of.map((place) => {
    const bucket = bucketOf(ledger, asset, place.chainId);
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

const bucketOf = (ledger: Ledger, asset: string, chainId: number): Readonly<Bucket> | undefined =>
  ledger.bucketsOf(asset).find((bucket) => bucket.chainId === chainId);

function step(state: InventoryState, transfers: SimTransfers | undefined, nowSecond: number): void {
  const { due } = state;
  due.sort((a, b) => a.atSecond - b.atSecond);
  while ((due[0]?.atSecond ?? Number.POSITIVE_INFINITY) <= nowSecond) due.shift()?.run(nowSecond);
  if (nowSecond >= state.measuredAt + MEASURE_SECONDS || !Number.isFinite(state.measuredAt))
    measure(state, nowSecond);
  if (transfers === undefined || nowSecond < state.advisedAt + transfers.everySeconds) return;
  state.advisedAt = nowSecond;
  beginTransfers(state, transfers, nowSecond);
}

function measure(state: InventoryState, nowSecond: number): void {
  const { out, places, total } = state;
  const passed = Number.isFinite(state.measuredAt) ? nowSecond - state.measuredAt : 0;
  state.measuredAt = nowSecond;
  total.seconds += passed;
  for (const asset of places.keys())
    for (const { slug, q } of standing(state, asset))
      if (Math.abs(q) > 1) out.set(`${asset} on ${slug}`, (out.get(`${asset} on ${slug}`) ?? 0) + passed);
}

/** Begins the transfers that the rebalancer advises and the policy leaves to the machine. */
function beginTransfers(state: InventoryState, transfers: SimTransfers, nowSecond: number): void {
  const { begun, byHand, usd } = state;
  while ((begun[0]?.atSecond ?? nowSecond) <= nowSecond - DAY_SECONDS) begun.shift();
  const wanted = transfers.bridge.assets.flatMap((asset) => advised(state, asset, nowSecond));
  const whys = whyEachByHand(
    transfers.policy,
    wanted.map(({ advice: { asset, from, amount, cost }, start }) => ({
      ...{ asset, from, amount, cost, decimals: start.source.decimals },
      usd: usd(asset) === undefined ? undefined : worth(state, asset, amount),
      fee: feeOf(amount, transfers.bridge.feeBps),
    })),
    begun.reduce((sum, each) => sum + each.usd, 0),
  );
  for (const [at, { start }] of wanted.entries()) {
    const why = whys[at];
    if (why === undefined) begin(state, start, nowSecond, transfers);
    else byHand.set(why.rule, (byHand.get(why.rule) ?? 0) + 1);
  }
}

function advised(
  state: InventoryState,
  asset: string,
  nowSecond: number,
): { advice: Advice; start: TransferStart }[] {
  const { drained, rebalancer } = state;
  const seen = standing(state, asset).map(({ slug, available, target, q, costBps }): RebalancePlace => ({
    ...{ chain: slug, available, target, q, costBps },
    chargeBps: rebalanceTerm({ drained: { q, costBps } }),
    drainedPerDay: drained.perDay(`${asset} ${slug}`, nowSecond),
  }));
  if (seen.length < 2) return [];
  return rebalancer.advise(asset, seen, nowSecond).flatMap((advice) => {
    const start = startOf(state, advice);
    return start === undefined ? [] : [{ advice, start }];
  });
}

/**
 * Starts a transfer; undefined: it cannot begin now, because the money is not free or the last one has not
 * left yet.
 */
function startOf(
  { ledger, places, open }: InventoryState,
  { asset, from, to, amount }: Advice,
): TransferStart | undefined {
  const [source, dest] = [from, to].map((slug) => {
    const place = places.get(asset)?.find((each) => each.slug === slug);
    return place && bucketOf(ledger, asset, place.chainId);
  });
  if (source === undefined || dest === undefined || open.has(`${asset} ${from}`)) return undefined;
  const units = fromAttoDown(amount, source.decimals);
  return units <= 0n || units > ledger.free(source.chainId, source.token)
    ? undefined
    : { asset, from, units, source, dest };
}

function begin(
  state: InventoryState,
  start: TransferStart,
  nowSecond: number,
  { delaySeconds, bridge }: SimTransfers,
): void {
  const { ledger, due, open, begun, total, rebalancer } = state;
  const { asset, from, units, source } = start;
  const key = `${asset} ${from}`;
  const id = `transfer ${(state.serial += 1)}`;
  const moved = toAtto(units, source.decimals);
  const usdNow = worth(state, asset, moved);
  open.add(key);
  begun.push({ atSecond: nowSecond, usd: usdNow });
  const place = { chainId: source.chainId, token: source.token, amount: units };
  ledger.apply({ type: 'withdrawal_requested', id, ...place });
  due.push({
    atSecond: nowSecond + delaySeconds,
    run(leftAt) {
      open.delete(key);
      ledger.apply({ type: 'withdrawal_ended', id, ...place });
      setInTransit(state, asset, moved);
      rebalancer.left(asset, from, leftAt);
      due.push({
        atSecond: leftAt + bridge.seconds,
        run: (arrivedAt) =>
          arrive(state, start, { id, moved, usd: usdNow, seconds: arrivedAt - nowSecond, bridge }),
      });
    },
  });
  total.transferGasUsd += bridge.gasUsd;
}

function arrive(
  state: InventoryState,
  { asset, dest }: TransferStart,
  {
    id,
    moved,
    usd,
    seconds,
    bridge,
  }: { id: string; moved: bigint; usd: number; seconds: number; bridge: SimTransfers['bridge'] },
): void {
  const { ledger, total } = state;
  const fee = feeOf(moved, bridge.feeBps);
  const got = fromAttoDown(moved - fee, dest.decimals);
  setInTransit(state, asset, -moved);
  ledger.apply({ type: 'deposited', id, chainId: dest.chainId, token: dest.token, amount: got });
  total.transfers += 1;
  total.movedUsd += usd;
  total.bridgeFeesUsd += worth(state, asset, moved - toAtto(got, dest.decimals));
  total.underWaySeconds += seconds;
}

function setInTransit({ ledger, inTransit }: InventoryState, asset: string, change: bigint): void {
  const amount = (inTransit.get(asset) ?? 0n) + change;
  inTransit.set(asset, amount);
  ledger.setInTransit(asset, amount);
}

const worth = ({ usd }: InventoryState, asset: string, atto: bigint): number =>
  (Number(atto / 10n ** 6n) / 1e12) * (usd(asset) ?? 0);

const tallyOf = ({ places, total, byHand, out }: InventoryState): TransferTally => ({
  ...total,
  byHand: Object.fromEntries(byHand),
  outOfBand: Object.fromEntries(
    [...places].flatMap(([asset, of]) =>
      of.map(({ slug }) => [`${asset} on ${slug}`, out.get(`${asset} on ${slug}`) ?? 0] as const),
    ),
  ),
});

/** Rounded up, as bridges do. */
function feeOf(amount: bigint, feeBps: number): bigint {
  return (amount * BigInt(Math.round(feeBps * 1e4)) + 99_999_999n) / 100_000_000n;
}
