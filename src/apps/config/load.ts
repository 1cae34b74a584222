/**
 * Reads an app's configuration: one JSON file, overridden by `FIRMQUOTE__…` variables. Unknown options are
 * errors.
 */

import type * as z from 'zod';
import { RequestError } from '../../domain/errors.ts';
import { OddTextError, readTextFile } from '../../adapters/system/text-file.ts';
import { keysAt, kindAt, suggest, type Path } from './schema-paths.ts';

const ENV_PREFIX = 'FIRMQUOTE__';

export interface Loaded<T> {
  config: T;
  fromEnv: string[];
}

export async function loadConfig<S extends z.ZodType>(
  schema: S,
  file: string,
  env: NodeJS.ProcessEnv,
): Promise<Loaded<z.output<S>>> {
  return parseConfig(schema, await readJson(file), env, file);
}

export async function readJson(file: string): Promise<unknown> {
  return configJson(await readConfigText(file), file);
}

export function readConfigText(file: string): Promise<string> {
  return readTextFile(file).catch((cause: NodeJS.ErrnoException) => {
    if (cause instanceof OddTextError) throw new ConfigError(file, [cause.what]);
    const why =
      cause.code === 'ENOENT' ? 'does not exist' : `cannot be read (${cause.code ?? 'unknown error'})`;
    throw new ConfigError(file, [`the file ${why}`]);
  });
}

export function configJson(text: string, file: string): unknown {
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
  const settings = envSettings(schema, env, file);
  if (!isRecord(json)) throw new ConfigError(file, ['must be one JSON object']);
  const fromEnv = settings.map(({ path }) => path.join('.'));
  const withEnv = (asText: ReadonlySet<string>) => {
    if (settings.length === 0) return json;
    const copy = structuredClone(json);
    for (const { path, text } of settings)
      put(copy, path, asText.has(path.join('.')) ? text : readValue(text));
    return copy;
  };
  // "8453" may be a number or a text: JSON first, else text.
  let parsed = schema.safeParse(withEnv(new Set()));
  if (!parsed.success && settings.length > 0) {
    const broken = new Set(parsed.error.issues.map((issue) => issue.path.join('.')));
    parsed = schema.safeParse(withEnv(new Set(fromEnv.filter((path) => broken.has(path)))));
  }
  if (parsed.success) return { config: parsed.data, fromEnv };
  throw new ConfigError(file, describeIssues(schema, parsed.error));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

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
      const options = keysAt(schema, path);
      const key = options.find((candidate) => plain(candidate) === plain(segment));
      if (kind === 'list' && /^\d+$/.test(segment)) path.push(Number(segment));
      else if (kind === 'object' && key !== undefined) path.push(key);
      else if (kind === 'record') path.push(segment);
      else {
        const meant = suggest(segment, options);
        throw new ConfigError(file, [
          `environment ${name}: "${segment}" is not an option${path.length > 0 ? ` of ${path.join('.')}` : ''}${meant ? `; did you mean ${screaming(meant)}?` : ''}`,
        ]);
      }
    }
    settings.push({ path, text });
  }
  return settings;
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
      const here = holder[key];
      // A chain in a list may be the name of its preset alone.
      if (typeof here === 'string' && Array.isArray(at)) holder[key] = { preset: here };
      else if (typeof here !== 'object' || here === null)
        holder[key] = typeof path[index + 1] === 'number' ? [] : {};
      at = holder[key];
    }
  }
}

export function describeIssues(schema: z.ZodType, { issues }: z.ZodError): string[] {
  return issues.flatMap((issue) => describeIssue(schema, issue));
}

function describeIssue(schema: z.ZodType, issue: z.core.$ZodIssue): string[] {
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
      errors.flatMap((error) => describeIssue(schema, { ...error, path: [...issue.path, ...error.path] })),
    );
    const best = branches.sort((a, b) => a.length - b.length)[0];
    if (best && best.length > 0) return best;
  }
  return [`${at}${issue.message}`];
}

export class ConfigError extends RequestError {
  readonly problems: readonly string[];
  readonly file: string;

  constructor(file: string, problems: readonly string[]) {
    const list = problems.map((problem) => `\n  - ${problem}`).join('');
    super(
      `The configuration in ${file} cannot be used.${list}\nCorrect it, then run: firmquote config check ${file}`,
      { code: 'config' },
    );
    this.problems = problems;
    this.file = file;
  }
}
