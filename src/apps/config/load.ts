/**
 * One JSON file per app plus the environment, read through the zod schema that is also the type. Nothing
 * unknown passes.
 */

import { readFile } from 'node:fs/promises';
import type { z } from 'zod';
import { RequestError } from '../../domain/errors.ts';
import { atOnce } from '../../domain/steps.ts';
import { keysAt, kindAt, suggest, type Path } from './schema.ts';

export const ENV_PREFIX = 'FIRMQUOTE__';

export interface Loaded<T> {
  config: T;
  /** Paths that the environment set, dotted. */
  fromEnv: string[];
}

/** Reads and parses a file. Throws `ConfigError` listing everything that is wrong with it. */
export async function loadConfig<S extends z.ZodType>(
  schema: S,
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<Loaded<z.output<S>>> {
  return parseConfig(schema, await readJson(file), env, file);
}

export async function readJson(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    const why =
      cause.code === 'ENOENT' ? 'does not exist' : `cannot be read (${cause.code ?? 'unknown error'})`;
    throw new ConfigError(file, [`the file ${why}`]);
  });
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new ConfigError(file, [`is not JSON: ${cause instanceof Error ? cause.message : String(cause)}`]);
  }
}

export function parseConfig<S extends z.ZodType>(
  schema: S,
  json: unknown,
  env: NodeJS.ProcessEnv,
  file = 'configuration',
): Loaded<z.output<S>> {
  return atOnce(parsingConfig(schema, json, env, file));
}

/**
 * Another way to read what `schema` reads, in steps: undefined where something is wrong, whereupon the schema
 * says what.
 */
export type ReadInSteps<T> = (json: Readonly<Record<string, unknown>>) => Generator<void, T | undefined>;

/** `parseConfig` in steps, as many as `read` takes. */
export function* parsingConfig<S extends z.ZodType>(
  schema: S,
  json: unknown,
  env: NodeJS.ProcessEnv,
  file: string,
  read?: ReadInSteps<z.output<S>>,
): Generator<void, Loaded<z.output<S>>> {
  const settings = envSettings(schema, env, file);
  const isRecord = (value: unknown): value is Record<string, unknown> =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isRecord(json)) throw new ConfigError(file, ['must be one JSON object']);
  const fromEnv = settings.map(({ path }) => path.join('.'));
  const withEnv = (raw: ReadonlySet<string>) => {
    if (settings.length === 0) return json;
    const copy = structuredClone(json);
    for (const { path, text } of settings) put(copy, path, raw.has(path.join('.')) ? text : readValue(text));
    return copy;
  };
  const whole = withEnv(new Set());
  const config = read && (yield* read(whole));
  if (config !== undefined) return { config, fromEnv };
  // "8453" may be a number or a text: JSON first, and where the schema then misses a text, the text itself.
  let parsed = schema.safeParse(whole);
  if (!parsed.success && settings.length > 0) {
    const broken = new Set(parsed.error.issues.map((issue) => issue.path.join('.')));
    parsed = schema.safeParse(withEnv(new Set(fromEnv.filter((path) => broken.has(path)))));
  }
  if (parsed.success) return { config: parsed.data, fromEnv };
  throw new ConfigError(file, problemsOf(schema, parsed.error));
}

/** Secrets come from keystores; the two services' URLs are conventional names of their own. */
function envSettings(
  schema: z.ZodType,
  env: NodeJS.ProcessEnv,
  file: string,
): { path: (string | number)[]; text: string }[] {
  const settings: { path: (string | number)[]; text: string }[] = [];
  for (const [name, text] of Object.entries(env)) {
    if (!name.startsWith(ENV_PREFIX) || text === undefined) continue;
    const path: (string | number)[] = [];
    for (const segment of name.slice(ENV_PREFIX.length).split('__')) {
      const kind = kindAt(schema, path);
      const plain = (word: string) => word.toLowerCase().replace(/[-_]/g, '');
      const known = keysAt(schema, path);
      const key = known.find((candidate) => plain(candidate) === plain(segment));
      if (kind === 'list' && /^\d+$/.test(segment)) path.push(Number(segment));
      else if (kind === 'object' && key !== undefined) path.push(key);
      else if (kind === 'record') path.push(segment);
      else {
        const meant = suggest(segment, known);
        throw new ConfigError(file, [
          `environment ${name}: "${segment}" is not an option${path.length > 0 ? ` of ${path.join('.')}` : ''}${meant ? `; did you mean ${screaming(meant)}?` : ''}`,
        ]);
      }
    }
    settings.push({ path, text });
  }
  return settings;
}

/** The variable that sets a path, as documentation prints it. */
export function envName(path: Path): string {
  return `${ENV_PREFIX}${path.map((segment) => (typeof segment === 'number' ? String(segment) : screaming(segment))).join('__')}`;
}

const screaming = (camel: string): string => camel.replace(/([a-z0-9])([A-Z])/g, '$1_$2').toUpperCase();

function readValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function put(target: Record<string, unknown>, path: Path, value: unknown): void {
  let at: unknown = target;
  for (const [index, key] of path.entries()) {
    const holder = at as Record<string | number, unknown>;
    if (index === path.length - 1) {
      Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
    } else {
      if (typeof holder[key] !== 'object' || holder[key] === null)
        holder[key] = typeof path[index + 1] === 'number' ? [] : {};
      at = holder[key];
    }
  }
}

/**
 * One sentence for each thing that is wrong, with its path and, for a key that is not known, the one that was
 * meant.
 */
export function problemsOf(schema: z.ZodType, { issues }: z.ZodError): string[] {
  return issues.flatMap((issue) => sentences(schema, issue));
}

function sentences(schema: z.ZodType, issue: z.core.$ZodIssue): string[] {
  const path = issue.path.filter((part) => typeof part !== 'symbol');
  const at = path.length === 0 ? '' : `${path.join('.')}: `;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const meant = suggest(key, keysAt(schema, path));
      return `${[...path, key].join('.')}: no such option${meant ? `; did you mean "${meant}"?` : ''}`;
    });
  }
  if (issue.code === 'invalid_union') {
    const branches = issue.errors.map((errors) =>
      errors.flatMap((error) => sentences(schema, { ...error, path: [...issue.path, ...error.path] })),
    );
    // The branch that got furthest is the one that was meant.
    const best = branches.sort((a, b) => a.length - b.length)[0];
    if (best && best.length > 0) return best;
  }
  return [`${at}${issue.message}`];
}

export class ConfigError extends RequestError {
  readonly problems: readonly string[];

  constructor(file: string, problems: readonly string[]) {
    const list = problems.map((problem) => `\n  - ${problem}`).join('');
    super(
      `The configuration in ${file} cannot be used.${list}\nCorrect it and look at it with: firmquote config check ${file}`,
      { code: 'config' },
    );
    this.problems = problems;
  }
}
