/** Draws the market of a backtest: strategies are compared in the same mids and requests. */

import { perRootSecond } from '../pricing/option.ts';
import { observeMid, sigmaOf, UNSEEN } from '../pricing/volatility.ts';
import { createRandom, type SimRandom } from './random.ts';

interface Arrival {
  at: number;
  side: 1 | -1;
  who: number;
  whether: number;
}

export interface SimWorld {
  /** Mid in bps from its start, at every second. */
  mids: Float64Array;
  arrivals: readonly Arrival[];
  sigmas: Float64Array | undefined;
}

interface WorldSetup {
  seconds: number;
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
  const random = createRandom(seed, 2 * path);
  const step = perRootSecond(sigma);
  const jump = jumpsPerHour / 3600;
  const mids = new Float64Array(seconds + 1);
  let mid = 0;
  for (let at = 1; at <= seconds; at++) {
    mid += step * random.normal();
    if (random.uniform() < jump) mid += random.laplace(jumpBps);
    mids[at] = mid;
  }
  return {
    mids,
    arrivals: drawArrivals(seconds, rfqSeconds, createRandom(seed, 2 * path + 1)),
    sigmas: undefined,
  };
}

const BLOCK_SECONDS = 60;
/** The configuration's default floor, for the first minute. */
const SIGMA_FLOOR = 0.2;

/**
 * Cuts a random stretch, or minutes of a short recording with random sign, so that its drift favours no
 * strategy.
 */
export function replayWorld(
  prices: readonly number[],
  { seconds, rfqSeconds }: Pick<WorldSetup, 'seconds' | 'rfqSeconds'>,
  seed: number,
  path: number,
): SimWorld {
  const random = createRandom(seed, 2 * path);
  const mids = new Float64Array(seconds + 1);
  const moves = prices.slice(1).map((price, at) => Math.log(price / (prices[at] as number)) * 1e4);
  if (moves.length >= seconds) {
    const from = random.below(moves.length - seconds + 1);
    for (let at = 1; at <= seconds; at++)
      mids[at] = (mids[at - 1] as number) + (moves[from + at - 1] as number);
  } else {
    const block = Math.min(BLOCK_SECONDS, moves.length);
    let [from, left, sign] = [0, 0, 1];
    for (let at = 1; at <= seconds; at++) {
      if (left === 0)
        [from, left, sign] = [random.below(moves.length - block + 1), block, random.uniform() < 0.5 ? 1 : -1];
      mids[at] = (mids[at - 1] as number) + sign * (moves[from + block - left] as number);
      left -= 1;
    }
  }
  return {
    mids,
    arrivals: drawArrivals(seconds, rfqSeconds, createRandom(seed, 2 * path + 1)),
    sigmas: estimateSigmas(mids),
  };
}

function estimateSigmas(mids: Float64Array): Float64Array {
  let seen = UNSEEN;
  return mids.map((mid, at) => {
    seen = observeMid(seen, Math.exp(mid / 1e4), at * 1000);
    return sigmaOf(seen, SIGMA_FLOOR);
  });
}

function drawArrivals(seconds: number, every: number, random: SimRandom): Arrival[] {
  const arrivals: Arrival[] = [];
  for (let time = random.exponential(every); time < seconds; time += random.exponential(every)) {
    arrivals.push({
      at: Math.floor(time),
      side: random.uniform() < 0.5 ? 1 : -1,
      who: random.uniform(),
      whether: random.uniform(),
    });
  }
  return arrivals;
}
