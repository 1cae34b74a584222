/**
 * What the LP room takes, with what only a process needs around it: doors, keys, venues, databases,
 * endpoints.
 */

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { atOnce } from '../../domain/steps.ts';
import { zLpConfig } from '../../lp/config/config.ts';
import { wantedOf } from '../../lp/market/market.ts';
import { problemsOf } from '../../lp/config/problems.ts';
import { unhurried } from '../../lp/quoting/turns.ts';
import { feedProblems, zFeed } from '../config/feeds.ts';
import { type Loaded, parsingConfig, readJson } from '../config/load.ts';
import {
  zAddress,
  zChain,
  zDatabase,
  zDoor,
  zKeySource,
  zLogSection,
  zSecretSource,
  zSecretText,
} from '../config/parts.ts';

const zLpNetwork = zChain.extend({
  maxFeeGwei: z.number().positive().default(500),
  /**
   * Of a rollup: the uptime feed of its sequencer. Its corridors are not quoted while that is down, nor for
   * the grace after.
   */
  sequencer: z
    .strictObject({ address: zAddress, graceSeconds: z.int().min(0).default(3_600) })
    .nullable()
    .default(null),
});

const zOps = zDoor(9200);

/** Pause, resume, kill switch: opened on loopback only. */
const zAdmin = z.strictObject({
  port: z.int().min(0).max(65_535).default(9201),
  /**
   * A secret that whoever knocks has to show, made at the first start; null: every program on this machine
   * may knock.
   */
  tokenFile: z.string().min(1).nullable().default(null),
});

/**
 * Several processes as one LP: the same configuration, operator, accounts and database, one inventory through
 * Redis.
 */
const zReplicas = z.strictObject({
  /** null: this process runs the LP alone. */
  redisUrl: zSecretText.nullable().default(null),
  /** This process's own among them, the same after a restart. */
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{0,39}$/)
    .default('a'),
  /** How long Redis may take to answer before it counts as away and nothing is signed. */
  timeoutMs: z.int().min(5).max(10_000).default(150),
  /** How long the replica that fills may be silent before another one takes its place. */
  leadSeconds: z.int().min(1).max(60).default(3),
});

/**
 * Where a running LP is found, whatever else its file says: it must be stopped even while somebody is half
 * way through editing it.
 */
export const zLpDoors = z.object({ ops: zOps.prefault({}), admin: zAdmin.prefault({}) });

/** Pairs, assets or prices: less than a millisecond. */
const AT_ONCE = 50;

const zParts = z.strictObject({
  app: z.literal('lp'),
  ops: zOps.prefault({}),
  admin: zAdmin.prefault({}),
  log: zLogSection.prefault({}),
  database: zDatabase('firmquote_lp').prefault({}),
  replicas: zReplicas.prefault({}),
  keys: z.strictObject({
    /** Signs quotes and fills; can never withdraw. The owner's key has no place here. */
    operator: zKeySource,
    /** Development only: the operator's key may be the account's own, which can also withdraw. */
    operatorMayBeOwner: z.boolean().default(false),
  }),
  venues: z
    .array(z.strictObject({ name: z.string().min(1).max(40), url: z.string().min(1), apiKey: zSecretSource }))
    .min(1),
  /** The networks; what the LP does on them stands in `lp.chains`. */
  networks: z.array(zLpNetwork).min(1),
  attesters: z
    .strictObject({ urls: z.array(z.string()).default([]), timeoutMs: z.int().min(50).default(2_000) })
    .prefault({}),
  feeds: z.record(z.string(), zFeed).default({}),
  /**
   * Rows that have done their duty are let go after so many days; null: kept for good. The books always are.
   */
  retention: z
    .strictObject({
      /**
       * Nonces of the operator with all that was ever signed for them. Longer than the LP is ever down: their
       * gas goes into the books.
       */
      slotDays: z.int().min(7).nullable().default(90),
      /** Why an accepted quote was priced as it was. */
      explanationDays: z.int().min(1).nullable().default(null),
    })
    .prefault({}),
  lp: zLpConfig,
});

type Parts = z.infer<typeof zParts>;

/** What is wrong with parts that are each right alone. */
function* problemsBetween({
  feeds,
  networks,
  lp,
}: Parts): Generator<void, { path: (string | number)[]; message: string }[]> {
  const ofFeeds = feedProblems(
    feeds,
    wantedOf(lp.prices),
    networks.map(({ id }) => id),
  );
  yield;
  const ofLp = yield* problemsOf(lp, networks);
  return [
    ...ofFeeds.map((message) => ({ path: [], message })),
    ...ofLp.map(({ path, message }) => ({ path: ['lp', ...path], message })),
  ];
}

export const zLpAppConfig = zParts.superRefine((parts, context) => {
  for (const { path, message } of atOnce(problemsBetween(parts)))
    context.addIssue({ code: 'custom', path, message });
});

export type LpAppConfig = Parts;

/**
 * `loadConfig` for an LP that is quoting meanwhile: a thousand pairs are read in steps, and what stands in
 * the file as it did the last time is the very object that it was. Throws `ConfigError` as that does.
 */
export function createConfigReader(file: string, env: NodeJS.ProcessEnv): () => Promise<Loaded<LpAppConfig>> {
  const last: Remembered = new Map();
  return async () =>
    unhurried(parsingConfig(zLpAppConfig, await readJson(file), env, file, (json) => readParts(json, last)));
}

/** What was read, and what came of it, by where it stands. */
export type Remembered = Map<string, { json: unknown; data: unknown }>;

/** What may be long is read some at a time, and what stands around it with one of each. */
export function* readParts(
  json: Readonly<Record<string, unknown>>,
  last: Remembered = new Map(),
): Generator<void, LpAppConfig | undefined> {
  const lp = json['lp'];
  if (!isRecord(lp) || !Array.isArray(lp['pairs']) || !isRecord(lp['assets']) || !isRecord(lp['prices']))
    return undefined;
  const rest = zParts.safeParse({
    ...json,
    lp: { ...lp, pairs: lp['pairs'].slice(0, 1), assets: {}, prices: {} },
  });
  if (!rest.success) return undefined;
  yield;
  const pairs: LpAppConfig['lp']['pairs'] = [];
  for (const [index, some] of slices(lp['pairs'])) {
    const read = readSome(some, `pairs ${index}`, last, (list) => zLpConfig.shape.pairs.safeParse(list));
    if (read === undefined) return undefined;
    pairs.push(...read);
    yield;
  }
  const assets = yield* readRecord(zLpConfig.shape.assets, lp['assets'], 'assets', last);
  const prices = yield* readRecord(zLpConfig.shape.prices, lp['prices'], 'prices', last);
  if (assets === undefined || prices === undefined) return undefined;
  const config = { ...rest.data, lp: { ...rest.data.lp, prices, assets, pairs } };
  return (yield* problemsBetween(config)).length === 0 ? config : undefined;
}

function* readRecord<T>(
  schema: z.ZodType<Record<string, T>>,
  record: Record<string, unknown>,
  section: string,
  last: Remembered,
): Generator<void, Record<string, T> | undefined> {
  const whole: Record<string, T> = {};
  for (const [index, some] of slices(Object.entries(record))) {
    const read = readSome(some, `${section} ${index}`, last, (entries) =>
      schema.safeParse(Object.fromEntries(entries)),
    );
    if (read === undefined) return undefined;
    Object.assign(whole, read);
    yield;
  }
  return whole;
}

/** undefined: something is wrong with it. `at` stands for one schema. */
function readSome<J, T>(
  json: J,
  at: string,
  last: Remembered,
  parse: (json: J) => z.ZodSafeParseResult<T>,
): T | undefined {
  const known = last.get(at);
  if (known !== undefined && isDeepStrictEqual(known.json, json)) return known.data as T;
  const { data, success } = parse(json);
  if (success) last.set(at, { json, data });
  return data;
}

/** Each with its number. */
function* slices<T>(items: readonly T[]): Generator<[number, T[]]> {
  for (let at = 0; at < items.length; at += AT_ONCE) yield [at / AT_ONCE, items.slice(at, at + AT_ONCE)];
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
