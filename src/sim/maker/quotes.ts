/** How the simulated LP answers a request: risk controls, price, independent check, and hold. */

import { type Decline, isDecline } from '../../domain/decline.ts';
import { InvariantError } from '../../domain/errors.ts';
import { bandHeadroom, bandQ } from '../../inventory/bands.ts';
import { fromAttoDown } from '../../inventory/bucket.ts';
import type { HoldRequest } from '../../inventory/event.ts';
import { check } from '../../pricing/check.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import { price } from '../../pricing/price.ts';
import { deviationOver, sigmaOf } from '../../pricing/volatility.ts';
import type { RiskAdjustment } from '../../risk/adjustment.ts';
import { gapLoss, jumpOf } from '../../risk/gap-loss.ts';
import { quoted } from '../../risk/taker-activity.ts';
import { admitRequest, updateActivity } from './controls.ts';
import type { MakerQuote, SimRequest, SimToken } from './setup.ts';
import { bandOf, type MakerState, type PairState } from './state.ts';

/** Resolution of the exact mid: 1e-9 of a quote token. */
const NANO = 1_000_000_000;
const MICRO = 1_000_000;

/** Answers one quote per tenor, the shortest first. */
export function ask(state: MakerState, request: SimRequest, atMs: number): readonly MakerQuote[] | Decline {
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
  const units = (room: bigint, { decimals }: SimToken) => fromAttoDown(room, decimals);
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

const smallest = (a: bigint | undefined, b: bigint | undefined): bigint | undefined =>
  a === undefined ? b : b === undefined || a < b ? a : b;
