/** The exchange's prices of a simulation: drawn, or those of recordings; one path for each pair. */

import { drawPrices, realised } from '../../../sim/exchange.ts';
import { type PricePath, streamOf } from '../../../sim/market.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { pairsOf } from './maker.ts';
import { overlapOf, readRecordedPrices } from './prices.ts';

/**
 * The values of an option that is given once for all pairs, or once for each pair in the order of `--pair`.
 */
type OncePerPair<T> = readonly T[];

export interface PathOptions {
  config: string;
  pair?: OncePerPair<string>;
  seed: number;
  minutes?: number;
  start?: OncePerPair<number>;
  sigma?: OncePerPair<number>;
  jumps: number;
  jumpBps: number;
  correlation?: number;
  prices?: OncePerPair<string>;
}

/** The shortest path; a shorter one says nothing about a configuration. */
const LEAST_SECONDS = 5;
/** A fixed start, so that the same seed gives the same bytes. */
const EPOCH_MS = Date.UTC(2026, 0, 1);
const START = 2_500;
const SIGMA = 0.9;

export interface Paths {
  /** One path per pair, in the order of the pairs. */
  paths: PricePath[];
  startMs: number;
  /** Describes the source for people. */
  source: string;
}

/** Throws `RequestError` when the options do not fit the pairs. */
export async function readPaths(options: PathOptions): Promise<Paths> {
  const pairs = await pairsOf(options.config, options.pair);
  if (options.correlation !== undefined && (pairs.length === 1 || options.prices !== undefined))
    throw badRequest(
      '--correlation is for drawn prices of several pairs. Name them with --pair, and leave --prices out.',
    );
  const { minutes } = options;
  const seconds = minutes === undefined ? undefined : Math.round(minutes * 60);
  return options.prices === undefined
    ? drawn(options, pairs, seconds ?? 3_600)
    : recorded(options, options.prices, pairs, seconds);
}

function drawn(options: PathOptions, pairs: readonly string[], seconds: number): Paths {
  const { seed, jumps, jumpBps, correlation = 0 } = options;
  const starts = pairs.length === 1 ? (options.start ?? [START]) : options.start;
  if (starts?.length !== pairs.length)
    throw badRequest(
      `--start is given for ${starts?.length ?? 0} of ${pairs.length} pairs. Give the first mid of each once, in the order of --pair: ${pairs.join(', ')}.`,
    );
  const sigmas = eachOf('sigma', options.sigma ?? [SIGMA], pairs);
  const factor = streamOf(seed, 'common', 0);
  const draws = Float64Array.from({ length: seconds + 1 }, () => factor.normal());
  const paths = pairs.map((_, pair): PricePath => {
    const [start, sigma] = [starts[pair] as number, sigmas[pair] as number];
    return {
      prices: drawPrices(
        { seconds, start, sigma, jumpsPerHour: jumps, jumpBps },
        streamOf(seed, 'prices', pair),
        { share: correlation, draws },
      ),
      motion: { sigma, jumpsPerHour: jumps, jumpBps },
    };
  });
  const percent = [...new Set(sigmas)].map((sigma) => `${(sigma * 100).toFixed(0)} %`).join(' and ');
  const together = pairs.length > 1 ? `, correlation ${correlation}` : '';
  return {
    paths,
    startMs: EPOCH_MS,
    source: `drawn: ${percent} a year, ${jumps} jumps an hour of ${jumpBps} bps${together}`,
  };
}

async function recorded(
  { jumpBps }: PathOptions,
  files: readonly string[],
  pairs: readonly string[],
  seconds: number | undefined,
): Promise<Paths> {
  if (files.length !== pairs.length)
    throw badRequest(
      `--prices is given for ${files.length} of ${pairs.length} pairs. Give a recording of each once, in the order of --pair: ${pairs.join(', ')}. A recording of several symbols is FILE#SYMBOL.`,
    );
  const whole = await Promise.all(files.map((file) => readRecordedPrices(file, LEAST_SECONDS)));
  const found = overlapOf(whole, LEAST_SECONDS);
  const paths = found.map(({ prices: all }): PricePath => {
    const prices = seconds === undefined ? all : all.slice(0, seconds + 1);
    return { prices, motion: { sigma: realised(prices), jumpsPerHour: 0, jumpBps } };
  });
  const startMs = found[0]?.startMs ?? 0;
  const symbols = found.map(({ symbol }) => symbol).join(' and ');
  const seen = paths.map(({ motion }) => `${(motion.sigma * 100).toFixed(0)} %`).join(' and ');
  return {
    paths,
    startMs,
    source: `recorded: ${symbols} from ${new Date(startMs).toISOString()}, ${seen} a year realised`,
  };
}

function eachOf<T>(option: string, given: OncePerPair<T>, pairs: readonly string[]): readonly T[] {
  if (given.length === pairs.length) return given;
  if (given.length === 1) return pairs.map(() => given[0] as T);
  throw badRequest(
    `--${option} is given for ${given.length} of ${pairs.length} pairs. Give it once for all, or once for each in the order of --pair: ${pairs.join(', ')}.`,
  );
}

export const firstMids = (paths: readonly PricePath[]): number[] =>
  paths.map(({ prices }) => prices[0] as number);

/** Spaces the samples so that a run has about 120. */
export const sampleSecondsOf = (paths: readonly PricePath[]): number =>
  Math.max(1, Math.ceil((paths[0]?.prices.length ?? 0) / 120));
