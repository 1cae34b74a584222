/** Simulates the LP: real pricing, ledger and risk controls, without network, disk and signatures. */

import type { Decline } from '../../domain/decline.ts';
import { InvariantError } from '../../domain/errors.ts';
import { bandQ } from '../../inventory/bands.ts';
import { toAtto } from '../../inventory/bucket.ts';
import type { LedgerEvent } from '../../inventory/event.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import { observeMid, regimeSample, sigmaOf, volatilityRatio } from '../../pricing/volatility.ts';
import { recordAcceptance } from '../../risk/burst.ts';
import { updateRegime } from '../../risk/regime.ts';
import { accepted, tradedElsewhere, usageAt } from '../../risk/taker-activity.ts';
import type { TransferTally } from '../transfers.ts';
import { measureCapital, updateActivity } from './controls.ts';
import { ask } from './quotes.ts';
import {
  edgeUsd,
  type MakerQuote,
  type MakerSetup,
  type SimRequest,
  type Steps,
  toWholeTokens,
} from './setup.ts';
import { bandOf, heldOf, type MakerState, type PairState, startOf } from './state.ts';

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

const FILL_SECONDS = 2;

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
  inventory.paid(symbol, chainId, toAtto(priced.output, route.output.decimals), now);
  one.gasUsd += route.sameChain ? 0 : setup.gasUsd;
  one.cash +=
    route.lp === 'buy'
      ? -toAtto(priced.output, route.output.decimals)
      : toAtto(priced.received, route.input.decimals);
  const usd = Number(priced.notional) / 1e6;
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
