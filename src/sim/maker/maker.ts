/** Simulates the LP: real pricing, ledger and risk controls, without network, disk and signatures. */

import { type Decline, isDecline } from '../../domain/decline.ts';
import { InvariantError } from '../../domain/errors.ts';
import { type Band, bandQ, bandHeadroom } from '../../inventory/bands.ts';
import type { HoldRequest, LedgerEvent } from '../../inventory/event.ts';
import { createLedger, type Ledger } from '../../inventory/ledger.ts';
import { check } from '../../pricing/check.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import { price } from '../../pricing/price.ts';
import {
  deviationOver,
  observeMid,
  regimeSample,
  sigmaOf,
  UNSEEN,
  type Volatility,
  volatilityRatio,
} from '../../pricing/volatility.ts';
import type { RiskAdjustment } from '../../risk/adjustment.ts';
import { recordAcceptance } from '../../risk/burst.ts';
import { gapLoss, jumpOf } from '../../risk/gap-loss.ts';
import { NEW_PAIR_RISK, type PairRisk } from '../../risk/pair-risk.ts';
import { updateRegime } from '../../risk/regime.ts';
import { accepted, quoted, tradedElsewhere, usageAt } from '../../risk/taker-activity.ts';
import {
  admitRequest,
  type ControlState,
  measureCapital,
  newControls,
  updateActivity,
} from './controls.ts';
import {
  edgeUsd,
  type MakerPair,
  type MakerQuote,
  type MakerSetup,
  pairName,
  type SimRequest,
  type SimToken,
  type Steps,
  toWholeTokens,
} from './setup.ts';
import { createSimInventory, type SimInventory, type TransferTally } from '../transfers.ts';

export interface Maker {
  readonly setup: MakerSetup;
  readonly ledger: Ledger;
  /** Takes one mid for each pair. Must be called first in each second. */
  see(mids: readonly number[], atMs: number): void;
  /** Answers one quote per tenor, the shortest first. */
  ask(request: SimRequest, atMs: number): readonly MakerQuote[] | Decline;
  /** The taker accepts the quote: its payments become due. */
  accept(quote: MakerQuote, atMs: number): Steps;
  /** The taker executed the quote of another LP for the same request. */
  elsewhere(offers: readonly MakerQuote[], atMs: number): void;
  /** Applies due payments and expiries. */
  step(atMs: number): void;
  transfers(): TransferTally;
  /** Change of a pair's base asset since the start, 1e-18 of a whole token, accepted trades included. */
  baseChange(pair: number): bigint;
  /** Changes by a pair since the start, accepted trades included: 1e-18 of a whole token, own gas in USD. */
  pairChange(pair: number): { base: bigint; quote: bigint; gasUsd: number };
  /** Changes of the whole LP: its base tokens by pair, and what all pairs did to the quote asset. */
  change(): { bases: bigint[]; quote: bigint; gasUsd: number };
  /** Returns the position of a pair's base asset in its band: 0 at the target. */
  q(pair: number): number;
  /** Values everything held, at one mid for each pair. */
  heldUsd(mids: readonly number[]): number;
}

interface MakerState {
  setup: MakerSetup;
  ledger: Ledger;
  inventory: SimInventory;
  pairs: readonly PairState[];
  controls: ControlState;
  due: { atSecond: number; event: LedgerEvent }[];
  chains: readonly number[];
  /** The asset in which all pairs are priced. */
  quote: string;
  startQuote: bigint;
  longestSeconds: number;
  midAtMs: number;
}

/** Holds what the LP knows of one of its markets, and what that market did to its balances. */
interface PairState {
  setup: MakerPair;
  name: string;
  /** Balance of the base asset at the start, 1e-18 of a whole token, as the target. */
  start: bigint;
  target: bigint;
  mid: number;
  volatility: Volatility;
  risk: PairRisk;
  /** Earned less spent of the quote asset, 1e-18 of a whole token. */
  cash: bigint;
  gasUsd: number;
}

const FILL_SECONDS = 2;
const MICRO = 1_000_000;
const ATTO = 1e18;
/** Resolution of the exact mid: 1e-9 of a quote token. */
const NANO = 1_000_000_000;

export function createMaker(setup: MakerSetup): Maker {
  const state = startOf(setup);
  const { ledger, inventory, pairs, quote } = state;
  return {
    setup,
    ledger,
    see: (mids, atMs) => see(state, mids, atMs),
    ask: (request, atMs) => ask(state, request, atMs),
    accept: (made, atMs) => accept(state, made, atMs),
    elsewhere: (offers, atMs) => elsewhere(state, offers, atMs),
    step: (atMs) => step(state, atMs),
    transfers: () => inventory.tally(),
    baseChange: (pair) => baseChange(state, pairs[pair] as PairState),
    pairChange(pair) {
      const one = pairs[pair] as PairState;
      return { base: baseChange(state, one), quote: one.cash, gasUsd: one.gasUsd };
    },
    change: () => ({
      bases: pairs.map((one) => baseChange(state, one)),
      quote: heldOf(ledger, quote) - state.startQuote,
      gasUsd: pairs.reduce((sum, { gasUsd }) => sum + gasUsd, inventory.gasUsd()),
    }),
    q(pair) {
      const one = pairs[pair] as PairState;
      return bandQ(ledger.exposure(one.setup.base).owned, bandOf(one));
    },
    heldUsd: (mids) => heldUsd(state, mids),
  };
}

function startOf(setup: MakerSetup): MakerState {
  const { quoting, buckets, graceSeconds, limits } = setup;
  const ledger = createLedger({
    buckets,
    graceSeconds: () => graceSeconds,
    limits,
    rememberSpentSeconds: 60,
  });
  for (const { chainId, token, start } of buckets)
    ledger.apply({ type: 'deposited', chainId, token, id: `start ${chainId} ${token}`, amount: start });
  const quote = setup.pairs[0]?.quote ?? '';
  const pairs = setup.pairs.map((pair) => createPair(pair, ledger.exposure(pair.base).owned));
  const usd = (asset: string): number | undefined =>
    asset === quote ? 1 : pairs.find(({ setup: { base } }) => base === asset)?.mid || undefined;
  return {
    setup,
    ledger,
    inventory: createSimInventory({ ledger, usd }, setup.places ?? new Map(), setup.transfers),
    pairs,
    controls: newControls(),
    due: [],
    chains: [...new Set(buckets.map(({ chainId }) => chainId))],
    quote,
    startQuote: ledger.exposure(quote).owned,
    longestSeconds: Math.max(quoting.validitySeconds, ...quoting.pointsSeconds),
    midAtMs: 0,
  };
}

const createPair = (setup: MakerPair, start: bigint): PairState => ({
  setup,
  name: pairName(setup),
  start,
  target: setup.target === null ? start : atto(setup.target),
  mid: 0,
  volatility: UNSEEN,
  risk: { ...NEW_PAIR_RISK },
  cash: 0n,
  gasUsd: 0,
});

function see(state: MakerState, mids: readonly number[], atMs: number): void {
  const { setup, ledger, controls, pairs, quote } = state;
  state.midAtMs = atMs;
  for (const [at, one] of pairs.entries()) observe(setup, one, mids[at] as number, atMs);
  const whole = (asset: string) => Number(heldOf(ledger, asset) / 1_000_000_000n) / 1e9;
  const limits = measureCapital(setup.risk, controls, {
    navUsd: () => pairs.reduce((sum, { setup: { base }, mid }) => sum + whole(base) * mid, 0) + whole(quote),
    limits: setup.limits,
    atMs,
  });
  if (limits !== undefined) ledger.setLimits(limits);
}

function observe({ risk }: MakerSetup, one: PairState, mid: number, atMs: number): void {
  one.mid = mid;
  one.volatility = observeMid(one.volatility, mid, atMs);
  if (risk === null) return;
  const { sigmaFloor } = one.setup;
  const sigma = sigmaOf(one.volatility, sigmaFloor);
  one.risk.regime = updateRegime(
    one.risk.regime,
    regimeSample(mid, sigma, volatilityRatio(one.volatility), sigmaFloor),
    atMs,
    risk.volSpike,
  );
}

function ask(state: MakerState, request: SimRequest, atMs: number): readonly MakerQuote[] | Decline {
  const { setup, controls, longestSeconds } = state;
  const { risk, quoting } = setup;
  const { taker, minValidSeconds } = request;
  const one = state.pairs[request.route.pair] as PairState;
  const adjustment = admitRequest(risk, controls, { taker, pair: one.risk, atMs });
  if (isDecline(adjustment)) return adjustment;
  const mostSeconds = adjustment.maxSeconds ?? Number.POSITIVE_INFINITY;
  if (minValidSeconds > Math.min(Math.max(quoting.maxValiditySeconds, longestSeconds), mostSeconds + 1))
    return { declined: 'validity' };
  const inputs = inputsOf(state, request, one, adjustment);
  const tenors = [
    ...new Set(
      [...quoting.pointsSeconds, quoting.validitySeconds].map((seconds) =>
        Math.max(Math.min(seconds, mostSeconds), minValidSeconds),
      ),
    ),
  ].sort((a, b) => a - b);
  const offers: MakerQuote[] = [];
  let refusal: Decline | undefined;
  for (const seconds of tenors) {
    const made = offer(state, request, seconds, inputs, atMs);
    if (isDecline(made)) refusal ??= made;
    else offers.push(made);
  }
  if (offers.length === 0) return refusal ?? { declined: 'internal' };
  updateActivity(risk, controls, { taker, atMs }, (activity) => quoted(activity, tenors.at(-1) ?? 0, 1));
  return offers;
}

function inputsOf(
  { setup, ledger, inventory, longestSeconds }: MakerState,
  { route, side, amount, platformFeeBps }: SimRequest,
  one: PairState,
  { sigmaFactor, sizeFactor, omegaFactor }: RiskAdjustment,
): PriceInputs {
  const { mid, volatility } = one;
  const bounds = bandOf(one);
  const exposed = ledger.exposure(one.setup.base).total;
  const band = bandHeadroom(exposed, bounds);
  const units = (room: bigint, { decimals }: SimToken) => room / 10n ** BigInt(18 - decimals);
  const usd = route.lp === 'buy' ? 1 : mid;
  const { rebalanceBps, room: there } = inventory.termsOf(route.input, route.output);
  const bound = route.lp === 'buy' ? { input: band?.in } : { output: band?.out };
  const most = { input: smallest(bound.input, there.input), output: smallest(bound.output, there.output) };
  return {
    side,
    amount,
    platformFeeBps,
    relayFee: 0n,
    lp: route.lp,
    baseDecimals: (route.lp === 'buy' ? route.input : route.output).decimals,
    quoteDecimals: (route.lp === 'buy' ? route.output : route.input).decimals,
    mid: { num: BigInt(Math.round(mid * NANO)), den: BigInt(NANO) },
    quoteValue: 1,
    confidenceBps: setup.noiseBps,
    sigma: sigmaOf(volatility, one.setup.sigmaFloor) * sigmaFactor,
    firmSeconds: longestSeconds,
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
      maxSize: route.params.maxSize * sizeFactor,
      omega: route.params.omega * omegaFactor,
    },
    market: { pair: one.name, corridor: route.corridor },
    ...(setup.plugin && { plugin: setup.plugin }),
  };
}

/** Prices one tenor, checks the price independently, and holds the output. */
function offer(
  { setup, ledger, pairs, longestSeconds, midAtMs }: MakerState,
  request: SimRequest,
  validSeconds: number,
  inputs: PriceInputs,
  atMs: number,
): MakerQuote | Decline {
  const { route } = request;
  const { risk, quoting } = setup;
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
            jumpOf(deviationOver(inputs.sigma, longestSeconds), risk.gapLoss),
          ),
    fillProbabilityBps: Math.min(10_000, Math.max(1, Math.ceil(priced.terms.winProbability * 10_000))),
  };
  const answer = ledger.hold(hold, now);
  return isDecline(answer) ? answer : { id, request, atMs, validUntil: now + validSeconds, priced };
}

function accept(state: MakerState, made: MakerQuote, atMs: number): Steps {
  const { id, request, atMs: quotedAtMs, validUntil, priced } = made;
  const { route, taker } = request;
  const { setup, ledger, inventory, controls } = state;
  const { risk } = setup;
  const one = state.pairs[route.pair] as PairState;
  const now = Math.floor(atMs / 1000);
  const applied = ledger.apply({ type: 'accepted', orderId: id });
  if (!applied.applied)
    throw new InvariantError('The ledger refused an event of a quote that it holds.', {
      facts: { event: 'accepted', quote: id, why: applied.why },
    });
  const steps: Steps = {
    filled: now + FILL_SECONDS,
    finalised: now + FILL_SECONDS + (route.sameChain ? 0 : route.lockSeconds),
  };
  schedulePayments(state, made, steps);
  const { symbol, chainId } = route.output;
  inventory.paid(symbol, chainId, attoOf(priced.output, route.output), now);
  one.gasUsd += route.sameChain ? 0 : setup.gasUsd;
  one.cash +=
    route.lp === 'buy' ? -attoOf(priced.output, route.output) : attoOf(priced.received, route.input);
  const usd = Number(priced.notional) / MICRO;
  if (risk !== null)
    one.risk.burst = recordAcceptance(one.risk.burst, { atMs, side: route.lp, usd }, risk.burst);
  const validUntilMs = validUntil * 1000;
  const heldSeconds = (validUntilMs - quotedAtMs) / 1000;
  const edgeBps = (edgeUsd({ request, priced }, one.mid) / usd) * 1e4;
  updateActivity(risk, controls, { taker, atMs }, (activity) =>
    accepted(activity, { ...usageAt({ quotedAtMs, validUntilMs, heldSeconds }, atMs), edgeBps }),
  );
  return steps;
}

function schedulePayments(
  { due }: MakerState,
  { id, priced: { received } }: MakerQuote,
  { filled, finalised }: Steps,
): void {
  const fill = `fill ${id}`;
  due.push(
    { atSecond: filled, event: { type: 'filled', orderId: id, id: fill } },
    { atSecond: finalised, event: { type: 'fill_final', orderId: id, id: fill } },
    { atSecond: finalised, event: { type: 'finalised', orderId: id, id: fill, received } },
  );
}

function elsewhere({ setup, controls, due }: MakerState, offers: readonly MakerQuote[], atMs: number): void {
  const [first] = offers;
  if (first === undefined) return;
  const { taker } = first.request;
  const longest = Math.max(...offers.map(({ validUntil, atMs: from }) => validUntil - from / 1000));
  updateActivity(setup.risk, controls, { taker, atMs }, (activity) => tradedElsewhere(activity, longest));
  for (const { id } of offers)
    due.push({ atSecond: Math.floor(atMs / 1000) + FILL_SECONDS, event: { type: 'released', orderId: id } });
}

function step({ ledger, inventory, due, chains }: MakerState, atMs: number): void {
  const now = Math.floor(atMs / 1000);
  due.sort((a, b) => a.atSecond - b.atSecond);
  while ((due[0]?.atSecond ?? Number.POSITIVE_INFINITY) <= now)
    ledger.apply((due.shift() as { event: LedgerEvent }).event);
  inventory.step(now);
  for (const chainId of chains) ledger.advance(chainId, now);
}

const baseChange = ({ ledger }: MakerState, { setup: { base }, start }: PairState): bigint =>
  heldOf(ledger, base) - start;

function heldUsd({ ledger, pairs }: MakerState, mids: readonly number[]): number {
  const valueOf = (asset: string) => mids[pairs.findIndex(({ setup: { base } }) => base === asset)] ?? 1;
  return ledger
    .buckets()
    .reduce((sum, { held, decimals, asset }) => sum + toWholeTokens(held, { decimals }) * valueOf(asset), 0);
}

/** Sums what the LP has of an asset on all chains, and what accepted orders will take of it. */
function heldOf(ledger: Ledger, asset: string): bigint {
  const { owned, committed } = ledger.exposure(asset);
  return owned + committed;
}

function bandOf({ setup: { routes, softBand, hardBand }, mid, target }: PairState): Band {
  const soft = softBand ?? (routes[0]?.params.halfBand ?? 0) / mid;
  return { target, soft: atto(soft), hard: atto(hardBand ?? 2 * soft) };
}

const attoOf = (units: bigint, { decimals }: SimToken): bigint => units * 10n ** BigInt(18 - decimals);

const atto = (tokens: number): bigint => BigInt(Math.round(tokens * 1e9)) * BigInt(ATTO / 1e9);

const smallest = (a: bigint | undefined, b: bigint | undefined): bigint | undefined =>
  a === undefined ? b : b === undefined || a < b ? a : b;
