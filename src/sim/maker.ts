/** The simulated LP: real pricing, ledger and risk controls, without network, disk and signatures. */

import { type Decline, isDecline } from '../domain/decline.ts';
import { InvariantError } from '../domain/errors.ts';
import type { Address } from '../domain/hex.ts';
import { type Band, bandQ, bandRoom } from '../inventory/bands.ts';
import type { HoldRequest, LedgerEvent, Side } from '../inventory/event.ts';
import { type BucketConfig, createLedger } from '../inventory/ledger.ts';
import type { Cap, Limits } from '../inventory/limits.ts';
import { check } from '../pricing/check.ts';
import type { PricingParams } from '../pricing/params.ts';
import type { PriceInputs, PricingPlugin } from '../pricing/price-inputs.ts';
import { price, type Priced } from '../pricing/price.ts';
import { deviationOver, observeMid, sigmaOf, UNSEEN, volatilityRatio } from '../pricing/volatility.ts';
import { type Burst, type BurstRule, recordAcceptance, NO_ACCEPTANCES } from '../risk/burst.ts';
import {
  accepted,
  type TakerActivity,
  type TakerActivityRule,
  faded,
  quoted,
  suspicion,
  tradedElsewhere,
  NO_ACTIVITY,
} from '../risk/taker-activity.ts';
import { type DrawdownRule, judged, type Marks, rolled } from '../risk/drawdown.ts';
import { gapLoss, type GapRule, jumpOf } from '../risk/gap-loss.ts';
import { fullBucket, type RateRule, takeToken, type Tokens } from '../risk/rate.ts';
import { createSimInventory, type SimPlace, type SimTransfers } from './transfers.ts';
import { CALM_MARKET, updateRegime, type Regime, type SpikeRule } from '../risk/regime.ts';

export interface SimToken {
  chainId: number;
  token: Address;
  symbol: string;
  decimals: number;
}

export interface SimRoute {
  /** The place of its pair in the LP's list, from 0. */
  pair: number;
  corridor: string;
  sameChain: boolean;
  lp: Side;
  input: SimToken;
  output: SimToken;
  params: PricingParams;
  lockSeconds: number;
  /** Seconds after validUntil for which a quote still binds. */
  landingSeconds: number;
}

interface SimRisk {
  leastValiditySeconds: number;
  totalBps: number | null;
  volSpike: SpikeRule & { sizeFactor: number; sigmaFactor: number };
  gapLoss: GapRule & { budgetBps: number };
  freeOption: TakerActivityRule & { omegaFactor: number };
  rate: RateRule;
  burst: BurstRule;
  drawdown: DrawdownRule & { sizeFactor: number };
}

/** A market that the LP makes. */
export interface MakerPair {
  base: string;
  quote: string;
  routes: readonly SimRoute[];
  /** Whole base tokens either side of the target; null: the pair's half-band. */
  softBand: number | null;
  hardBand: number | null;
  /** Whole base tokens; null: the starting balance. */
  target: number | null;
  sigmaFloor: number;
}

export interface MakerSetup {
  name: string;
  /** At least one. All have the same quote asset, which counts as a dollar, and no two the same base. */
  pairs: readonly MakerPair[];
  /** Every token on every chain, with its starting balance in base units. */
  buckets: readonly (BucketConfig & { start: bigint })[];
  quoting: {
    validitySeconds: number;
    pointsSeconds: readonly number[];
    maxValiditySeconds: number;
    clockSkewSeconds: number;
  };
  graceSeconds: number;
  limits: Limits;
  risk: SimRisk | null;
  adverseBps: number;
  /** Deviation of its mids from the exchange's. Known to the LP and charged for. */
  noiseBps: number;
  /** Own gas of a cross-chain trade, USD. */
  gasUsd: number;
  plugin?: PricingPlugin;
  /** By asset: the chains' shares of it. Absent: the place of inventory neither costs nor bounds anything. */
  places?: ReadonlyMap<string, readonly SimPlace[]>;
  /** Transfers between chains; absent: none. */
  transfers?: SimTransfers;
}

export interface SimRequest {
  id: string;
  taker: string;
  route: SimRoute;
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  platformFeeBps: number;
  minValidSeconds: number;
}

export interface MakerQuote {
  id: string;
  request: SimRequest;
  atMs: number;
  validUntil: number;
  priced: Priced;
}

export interface Steps {
  filled: number;
  finalised: number;
}

export type Maker = ReturnType<typeof createMaker>;

const FILL_SECONDS = 2;
const MICRO = 1_000_000;
const ATTO = 1e18;
const NAV_EVERY_MS = 60_000;
/** Resolution of the exact mid: 1e-9 of a quote token. */
const NANO = 1_000_000_000;

export const pairName = ({ base, quote }: Pick<MakerPair, 'base' | 'quote'>): string => `${base}-${quote}`;

interface TakerState {
  tokens: Tokens;
  activity: TakerActivity;
}

export function createMaker(setup: MakerSetup) {
  const { risk, quoting } = setup;
  const ledger = createLedger({
    buckets: setup.buckets,
    graceSeconds: () => setup.graceSeconds,
    limits: setup.limits,
    rememberSpentSeconds: 60,
  });
  for (const { chainId, token, start } of setup.buckets)
    ledger.apply({ type: 'deposited', chainId, token, id: `start ${chainId} ${token}`, amount: start });
  const quote = setup.pairs[0]?.quote ?? '';
  const startQuote = ledger.exposure(quote).owned;
  const pairs = setup.pairs.map((pair) => createPair(pair, ledger.exposure(pair.base).owned));
  const inventory = createSimInventory(
    {
      ledger,
      usd: (asset) =>
        asset === quote ? 1 : pairs.find(({ setup: { base } }) => base === asset)?.mid || undefined,
    },
    setup.places ?? new Map(),
    setup.transfers,
  );
  const chains = [...new Set(setup.buckets.map(({ chainId }) => chainId))];
  const longest = Math.max(quoting.validitySeconds, ...quoting.pointsSeconds);
  const due: { atSecond: number; event: LedgerEvent }[] = [];
  const takers = new Map<string, TakerState>();

  let marks: Marks | undefined;
  let navAtMs = Number.NEGATIVE_INFINITY;
  let killed = false;
  let midAtMs = 0;

  const held = (asset: string): bigint => {
    const { owned, committed } = ledger.exposure(asset);
    return owned + committed;
  };

  function stateOf(taker: string, atMs: number): TakerState {
    const found = takers.get(taker);
    if (found !== undefined) return found;
    const one = {
      tokens: risk === null ? { left: 0, atMs } : fullBucket(risk.rate, atMs),
      activity: { ...NO_ACTIVITY, atMs },
    };
    takers.set(taker, one);
    return one;
  }

  function updateActivity(
    taker: string,
    atMs: number,
    update: (activity: TakerActivity) => TakerActivity,
  ): void {
    if (risk === null) return;
    const one = stateOf(taker, atMs);
    one.activity = update(faded(one.activity, atMs, risk.freeOption));
  }

  function applyControls(
    { taker }: SimRequest,
    { burst, regime }: PairState,
    atMs: number,
  ): { sigma: number; size: number; omega: number; mostSeconds: number } | Decline {
    if (risk === null) return { sigma: 1, size: 1, omega: 1, mostSeconds: Number.POSITIVE_INFINITY };
    if (killed) return { declined: 'standby', control: 'kill_switch' };
    const one = stateOf(taker, atMs);
    if (!takeToken(one.tokens, atMs, risk.rate)) return { declined: 'limit', control: 'rate_limit' };
    one.activity = faded(one.activity, atMs, risk.freeOption);
    const suspect = suspicion(one.activity, risk.freeOption);
    if (suspect === 3) return { declined: 'limit', control: 'free_option' };
    if (atMs < burst.frozenUntilMs) return { declined: 'standby', control: 'burst' };
    if (regime.level === 'stressed' && atMs < regime.untilMs)
      return { declined: 'standby', control: 'vol_spike' };
    const elevated = regime.level === 'elevated';
    return {
      sigma: elevated ? risk.volSpike.sigmaFactor : 1,
      size: (elevated ? risk.volSpike.sizeFactor : 1) * (marks?.cut === true ? risk.drawdown.sizeFactor : 1),
      omega: suspect > 0 ? risk.freeOption.omegaFactor : 1,
      mostSeconds: elevated || suspect > 1 ? risk.leastValiditySeconds : Number.POSITIVE_INFINITY,
    };
  }

  function offer(
    request: SimRequest,
    validSeconds: number,
    inputs: PriceInputs,
    atMs: number,
  ): MakerQuote | Decline {
    const { route } = request;
    const { name } = pairs[route.pair] as PairState;
    const firmSeconds = validSeconds + quoting.clockSkewSeconds + (atMs - midAtMs) / 1000;
    const priced = price({ ...inputs, firmSeconds });
    if (isDecline(priced)) return priced;
    const [problem] = check({ ...inputs, firmSeconds }, priced);
    if (problem !== undefined)
      throw new InvariantError('A simulated price failed the independent check.', {
        facts: { problem, request: request.id },
      });
    const now = Math.floor(atMs / 1000);
    const id = `${setup.name} ${request.id} ${validSeconds}`;
    const hold: HoldRequest = {
      orderId: id,
      chainId: route.output.chainId,
      token: route.output.token,
      amount: priced.output,
      input: { chainId: route.input.chainId, token: route.input.token, amount: priced.received },
      group: request.id,
      lapsesAt: now + validSeconds + route.landingSeconds,
      taker: request.taker,
      pair: name,
      side: route.lp,
      notional: priced.notional,
      gapLoss:
        risk === null
          ? 0n
          : gapLoss(
              priced.notional,
              priced.terms.D,
              jumpOf(deviationOver(inputs.sigma, longest), risk.gapLoss),
            ),
      fillProbabilityBps: Math.min(10_000, Math.max(1, Math.ceil(priced.terms.winProbability * 10_000))),
    };
    const answer = ledger.hold(hold, now);
    return isDecline(answer) ? answer : { id, request, atMs, validUntil: now + validSeconds, priced };
  }

  function observe(one: PairState, mid: number, atMs: number): void {
    one.mid = mid;
    one.volatility = observeMid(one.volatility, mid, atMs);
    if (risk === null) return;
    const { sigmaFloor } = one.setup;
    const sigma = sigmaOf(one.volatility, sigmaFloor);
    one.regime = updateRegime(
      one.regime,
      {
        mid,
        volatilityRatio: sigma > sigmaFloor ? volatilityRatio(one.volatility) : 0,
        secondBps: deviationOver(sigma, 1),
      },
      atMs,
      risk.volSpike,
    );
  }

  function measure(atMs: number): void {
    if (risk === null || atMs < navAtMs + NAV_EVERY_MS) return;
    navAtMs = atMs;
    const whole = (asset: string) => Number(held(asset) / 1_000_000_000n) / 1e9;
    const nav = pairs.reduce((sum, { setup: { base }, mid }) => sum + whole(base) * mid, 0) + whole(quote);
    const verdict = judged(rolled(marks, nav, atMs), nav, risk.drawdown);
    marks = verdict.marks;
    killed ||= verdict.verdict === 'kill';
    const share = (bps: number): bigint => BigInt(Math.floor((Math.max(0, nav) * bps * MICRO) / 1e4));
    const least = (a: bigint | undefined, b: bigint): bigint => (a !== undefined && a < b ? a : b);
    const total: Cap =
      risk.totalBps === null
        ? { ...setup.limits.total }
        : { ...setup.limits.total, notional: least(setup.limits.total?.notional, share(risk.totalBps)) };
    ledger.setLimits({
      ...setup.limits,
      total,
      perAssetSide: {
        ...setup.limits.perAssetSide,
        gapLoss: least(setup.limits.perAssetSide?.gapLoss, share(risk.gapLoss.budgetBps)),
      },
    });
  }

  return {
    setup,
    ledger,
    /** One mid for each pair. Must be called first in each second. */
    see(mids: readonly number[], atMs: number): void {
      midAtMs = atMs;
      for (const [at, one] of pairs.entries()) observe(one, mids[at] as number, atMs);
      measure(atMs);
    },
    ask(request: SimRequest, atMs: number): readonly MakerQuote[] | Decline {
      const { route } = request;
      const one = pairs[route.pair] as PairState;
      const { mid, volatility } = one;
      const adjusted = applyControls(request, one, atMs);
      if (isDecline(adjusted)) return adjusted;
      if (
        request.minValidSeconds >
        Math.min(Math.max(quoting.maxValiditySeconds, longest), adjusted.mostSeconds + 1)
      )
        return { declined: 'validity' };
      const bounds = bandOf(one);
      const exposed = ledger.exposure(one.setup.base).total;
      const room = bandRoom(exposed, bounds);
      const units = (amount: bigint, { decimals }: SimToken) => amount / 10n ** BigInt(18 - decimals);
      const usd = route.lp === 'buy' ? 1 : mid;
      const { rebalanceBps, room: there } = inventory.look(route.input, route.output);
      const bound = route.lp === 'buy' ? { input: room?.in } : { output: room?.out };
      const most = {
        input: smallest(bound.input, there.input),
        output: smallest(bound.output, there.output),
      };
      const inputs: PriceInputs = {
        side: request.side,
        amount: request.amount,
        platformFeeBps: request.platformFeeBps,
        relayFee: 0n,
        lp: route.lp,
        baseDecimals: (route.lp === 'buy' ? route.input : route.output).decimals,
        quoteDecimals: (route.lp === 'buy' ? route.output : route.input).decimals,
        mid: { num: BigInt(Math.round(mid * NANO)), den: BigInt(NANO) },
        quoteValue: 1,
        confidenceBps: setup.noiseBps,
        sigma: sigmaOf(volatility, one.setup.sigmaFloor) * adjusted.sigma,
        firmSeconds: longest,
        q: bandQ(exposed, bounds),
        ownGas: route.sameChain
          ? 0n
          : BigInt(Math.ceil((setup.gasUsd / usd) * MICRO)) *
            10n ** BigInt(Math.max(0, route.output.decimals - 6)),
        lockSeconds: route.sameChain ? 0 : route.lockSeconds,
        adverseBps: setup.adverseBps,
        freeOutput: ledger.free(route.output.chainId, route.output.token),
        ...(rebalanceBps !== 0 && { rebalanceBps }),
        ...((most.input !== undefined || most.output !== undefined) && {
          room: {
            ...(most.input !== undefined && { input: units(most.input, route.input) }),
            ...(most.output !== undefined && { output: units(most.output, route.output) }),
          },
        }),
        params: {
          ...route.params,
          maxSize: route.params.maxSize * adjusted.size,
          omega: route.params.omega * adjusted.omega,
        },
        market: { pair: one.name, corridor: route.corridor },
        ...(setup.plugin && { plugin: setup.plugin }),
      };
      const times = [
        ...new Set(
          [...quoting.pointsSeconds, quoting.validitySeconds].map((seconds) =>
            Math.max(Math.min(seconds, adjusted.mostSeconds), request.minValidSeconds),
          ),
        ),
      ].sort((a, b) => a - b);
      const offers: MakerQuote[] = [];
      let refusal: Decline | undefined;
      for (const seconds of times) {
        const made = offer(request, seconds, inputs, atMs);
        if (isDecline(made)) refusal ??= made;
        else offers.push(made);
      }
      if (offers.length === 0) return refusal ?? { declined: 'internal' };
      updateActivity(request.taker, atMs, (activity) => quoted(activity, times.at(-1) ?? 0, 1));
      return offers;
    },
    accept({ id, request, atMs: quotedAtMs, validUntil, priced }: MakerQuote, atMs: number): Steps {
      const { route, taker } = request;
      const one = pairs[route.pair] as PairState;
      const now = Math.floor(atMs / 1000);
      const done = (event: LedgerEvent) => {
        const applied = ledger.apply(event);
        if (!applied.applied)
          throw new InvariantError('The ledger refused an event of a quote that it holds.', {
            facts: { event: event.type, quote: id, why: applied.why },
          });
      };
      done({ type: 'accepted', orderId: id });
      const steps: Steps = {
        filled: now + FILL_SECONDS,
        finalised: now + FILL_SECONDS + (route.sameChain ? 0 : route.lockSeconds),
      };
      due.push({ atSecond: steps.filled, event: { type: 'filled', orderId: id, id: `fill ${id}` } });
      due.push(
        { atSecond: steps.finalised, event: { type: 'fill_final', orderId: id, id: `fill ${id}` } },
        {
          atSecond: steps.finalised,
          event: { type: 'finalised', orderId: id, id: `fill ${id}`, received: priced.received },
        },
      );
      const { symbol, chainId } = route.output;
      inventory.paid(symbol, chainId, attoOf(priced.output, route.output), now);
      one.gasUsd += route.sameChain ? 0 : setup.gasUsd;
      one.cash +=
        route.lp === 'buy' ? -attoOf(priced.output, route.output) : attoOf(priced.received, route.input);
      const usd = Number(priced.notional) / MICRO;
      if (risk !== null) one.burst = recordAcceptance(one.burst, { atMs, side: route.lp, usd }, risk.burst);
      const life = validUntil * 1000 - quotedAtMs;
      const share = life > 0 ? Math.min(1, (atMs - quotedAtMs) / life) : 1;
      const edgeBps = (edgeUsd({ request, priced }, one.mid) / usd) * 1e4;
      updateActivity(taker, atMs, (activity) =>
        accepted(activity, { share, edgeBps, unused: (1 - share) * (life / 1000) }),
      );
      return steps;
    },
    elsewhere(offers: readonly MakerQuote[], atMs: number): void {
      const [first] = offers;
      if (first === undefined) return;
      updateActivity(first.request.taker, atMs, (activity) =>
        tradedElsewhere(
          activity,
          Math.max(...offers.map(({ validUntil, atMs: from }) => validUntil - from / 1000)),
        ),
      );
      for (const { id } of offers)
        due.push({
          atSecond: Math.floor(atMs / 1000) + FILL_SECONDS,
          event: { type: 'released', orderId: id },
        });
    },
    /** Applies due payments and expiries. */
    step(atMs: number): void {
      const now = Math.floor(atMs / 1000);
      due.sort((a, b) => a.atSecond - b.atSecond);
      while ((due[0]?.atSecond ?? Number.POSITIVE_INFINITY) <= now)
        ledger.apply((due.shift() as { event: LedgerEvent }).event);
      inventory.step(now);
      for (const chainId of chains) ledger.advance(chainId, now);
    },
    transfers: inventory.tally,
    /** Of a pair's base asset since the start, 1e-18 of a whole token, accepted trades included. */
    baseChange: (pair: number): bigint => baseChange(pairs[pair] as PairState),
    /** Of a pair since the start, accepted trades included: 1e-18 of a whole token, and own gas in USD. */
    pairChange(pair: number) {
      const one = pairs[pair] as PairState;
      return { base: baseChange(one), quote: one.cash, gasUsd: one.gasUsd };
    },
    /** The same of the whole LP: its base tokens by pair, and what all pairs did to the quote asset. */
    change: () => ({
      bases: pairs.map(baseChange),
      quote: held(quote) - startQuote,
      gasUsd: pairs.reduce((sum, { gasUsd }) => sum + gasUsd, inventory.gasUsd()),
    }),
    q: (pair: number): number => qOf(pairs[pair] as PairState),
    /** At one mid for each pair. */
    heldUsd(mids: readonly number[]): number {
      const valueOf = (asset: string) => mids[pairs.findIndex(({ setup: { base } }) => base === asset)] ?? 1;
      return ledger
        .buckets()
        .reduce(
          (sum, { held: amount, decimals, asset }) =>
            sum + toWholeTokens(amount, { decimals }) * valueOf(asset),
          0,
        );
    },
  };

  function baseChange({ setup: { base }, start }: PairState): bigint {
    return held(base) - start;
  }

  function qOf(one: PairState): number {
    return bandQ(ledger.exposure(one.setup.base).owned, bandOf(one));
  }
}

/** What the LP knows of one of its markets, and what that market did to its balances. */
interface PairState {
  setup: MakerPair;
  name: string;
  /** Of the base asset, 1e-18 of a whole token, as the target. */
  start: bigint;
  target: bigint;
  mid: number;
  volatility: ReturnType<typeof observeMid>;
  regime: Regime;
  burst: Burst;
  /** Of the quote asset, earned less spent, 1e-18 of a whole token. */
  cash: bigint;
  gasUsd: number;
}

const createPair = (setup: MakerPair, start: bigint): PairState => ({
  setup,
  name: pairName(setup),
  start,
  target: setup.target === null ? start : atto(setup.target),
  mid: 0,
  volatility: UNSEEN,
  regime: CALM_MARKET,
  burst: NO_ACCEPTANCES,
  cash: 0n,
  gasUsd: 0,
});

function bandOf({ setup: { routes, softBand, hardBand }, mid, target }: PairState): Band {
  const soft = softBand ?? (routes[0]?.params.halfBand ?? 0) / mid;
  return { target, soft: atto(soft), hard: atto(hardBand ?? 2 * soft) };
}

const attoOf = (units: bigint, { decimals }: SimToken): bigint => units * 10n ** BigInt(18 - decimals);

const atto = (tokens: number): bigint => BigInt(Math.round(tokens * 1e9)) * BigInt(ATTO / 1e9);

const smallest = (a: bigint | undefined, b: bigint | undefined): bigint | undefined =>
  a === undefined ? b : b === undefined || a < b ? a : b;

/** For reports and takers' choices only. */
export const toWholeTokens = (units: bigint, { decimals }: Pick<SimToken, 'decimals'>): number =>
  Number(units) / 10 ** decimals;

/** USD at a mid, after the platform fee. */
export function edgeUsd(
  { request: { route }, priced }: Pick<MakerQuote, 'request' | 'priced'>,
  mid: number,
): number {
  const [got, given] = [
    toWholeTokens(priced.received, route.input),
    toWholeTokens(priced.output, route.output),
  ];
  return route.lp === 'buy' ? got * mid - given : got - given * mid;
}
