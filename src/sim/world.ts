/**
 * What happens whoever quotes: the mid, second by second, and the requests with their takers' luck.
 * Strategies that live in the same world are compared on equal terms.
 */

import { perRootSecond } from '../pricing/option.ts';
import { observeMid, sigmaOf, UNSEEN } from '../pricing/volatility.ts';
import { createDice, type Dice } from './random.ts';

export interface Arrival {
  /** Second of the request. */
  at: number;
  /** What the LP would do: +1 it buys. */
  side: 1 | -1;
  /** Uniform draws that decide who the taker is, and whether an ordinary one accepts. */
  who: number;
  whether: number;
}

export interface SimWorld {
  /** Mid in bps of its start, arithmetic, at every whole second. */
  mids: Float64Array;
  arrivals: readonly Arrival[];
  /**
   * Annualised volatility as an LP watching would estimate it at that second; undefined where the set-up
   * knows it.
   */
  sigmas: Float64Array | undefined;
}

export interface WorldSetup {
  seconds: number;
  /** Mean seconds between two requests. */
  rfqSeconds: number;
  sigma: number;
  jumpsPerHour: number;
  jumpBps: number;
}

export function drawWorld(
  { seconds, rfqSeconds, sigma, jumpsPerHour, jumpBps }: WorldSetup,
  seed: number,
  path: number,
): SimWorld {
  const dice = createDice(seed, 2 * path);
  const step = perRootSecond(sigma);
  const jump = jumpsPerHour / 3600;
  const mids = new Float64Array(seconds + 1);
  let mid = 0;
  for (let at = 1; at <= seconds; at++) {
    mid += step * dice.normal();
    if (dice.uniform() < jump) mid += dice.laplace(jumpBps);
    mids[at] = mid;
  }
  return {
    mids,
    arrivals: drawArrivals(seconds, rfqSeconds, createDice(seed, 2 * path + 1)),
    sigmas: undefined,
  };
}

/** Blocks of a recording that are put together to a longer one. */
const BLOCK_SECONDS = 60;
/**
 * Before it has seen a minute, an estimate is worth nothing: the floor of the LP's configuration by default.
 */
const SIGMA_FLOOR = 0.2;

/**
 * A world with a recorded mid, one price for each second. A recording longer than the world lends a stretch
 * of itself; of a shorter one, blocks of a minute are drawn, up or down with equal chance, so that its drift
 * is no strategy's luck.
 */
export function replayWorld(
  prices: readonly number[],
  { seconds, rfqSeconds }: Pick<WorldSetup, 'seconds' | 'rfqSeconds'>,
  seed: number,
  path: number,
): SimWorld {
  const dice = createDice(seed, 2 * path);
  const mids = new Float64Array(seconds + 1);
  const moves = prices.slice(1).map((price, at) => Math.log(price / (prices[at] as number)) * 1e4);
  if (moves.length >= seconds) {
    const from = dice.below(moves.length - seconds + 1);
    for (let at = 1; at <= seconds; at++)
      mids[at] = (mids[at - 1] as number) + (moves[from + at - 1] as number);
  } else {
    const block = Math.min(BLOCK_SECONDS, moves.length);
    let [from, left, sign] = [0, 0, 1];
    for (let at = 1; at <= seconds; at++) {
      if (left === 0)
        [from, left, sign] = [dice.below(moves.length - block + 1), block, dice.uniform() < 0.5 ? 1 : -1];
      mids[at] = (mids[at - 1] as number) + sign * (moves[from + block - left] as number);
      left -= 1;
    }
  }
  return {
    mids,
    arrivals: drawArrivals(seconds, rfqSeconds, createDice(seed, 2 * path + 1)),
    sigmas: watch(mids),
  };
}

/** The volatility that the LP's own estimator has at each second. */
function watch(mids: Float64Array): Float64Array {
  let seen = UNSEEN;
  return mids.map((mid, at) => {
    seen = observeMid(seen, Math.exp(mid / 1e4), at * 1000);
    return sigmaOf(seen, SIGMA_FLOOR);
  });
}

function drawArrivals(seconds: number, every: number, dice: Dice): Arrival[] {
  const arrivals: Arrival[] = [];
  for (let time = dice.exponential(every); time < seconds; time += dice.exponential(every)) {
    arrivals.push({
      at: Math.floor(time),
      side: dice.uniform() < 0.5 ? 1 : -1,
      who: dice.uniform(),
      whether: dice.uniform(),
    });
  }
  return arrivals;
}
