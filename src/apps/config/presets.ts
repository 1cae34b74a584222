/** Chain presets: what is true of a public chain for everybody, from the files of `config/chains`. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import { suggest } from './schema-paths.ts';

const FOLDER = join(PACKAGE_FOLDER, 'config', 'chains');

type Entry = Record<string, unknown>;

export interface Preset extends Entry {
  id: number;
  slug: string;
  native: { symbol: string };
  /** The tokens that are known on the chain; none for a development chain. */
  tokens?: readonly { symbol: string; address: string }[];
}

const isEntry = (value: unknown): value is Entry =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const presetNames = (): string[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .map((name) => name.slice(0, -'.json'.length))
    .sort();

/** Throws `RangeError` for an unknown name. */
export function readPreset(name: string): Preset {
  const names = presetNames();
  if (!names.includes(name)) {
    const meant = suggest(name, names);
    throw new RangeError(
      `there is no chain preset "${name}"${meant ? `; did you mean "${meant}"?` : `: ${names.join(', ')}`}`,
    );
  }
  return JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')) as Preset;
}

/** Returns the preset of a chain, by its id. */
export const presetOf = (chainId: number): Preset | undefined =>
  presetNames()
    .map(readPreset)
    .find(({ id }) => id === chainId);

/**
 * Fills the preset into an entry of a list of chains: `"base"`, or `{ "preset": "base", … }` whose own
 * options win. A token may be named by its symbol in the preset. Other values are returned unchanged. Only
 * `options` of the preset are filled in.
 */
export function withPreset(entry: unknown, options: readonly string[]): unknown {
  const own: Entry | undefined =
    typeof entry === 'string' ? { preset: entry } : isEntry(entry) ? entry : undefined;
  if (own === undefined || typeof own['preset'] !== 'string') return entry;
  const { preset: name, ...given } = own;
  const preset = readPreset(name as string);
  const used = Object.entries(preset).filter(([key]) => options.includes(key));
  const merged: Entry = { ...Object.fromEntries(used), ...given };
  for (const [key, value] of Object.entries(given)) {
    const standard = preset[key];
    if (isEntry(value) && isEntry(standard)) merged[key] = { ...standard, ...value };
  }
  if (Array.isArray(given['tokens']))
    merged['tokens'] = given['tokens'].map((token) => tokenOf(preset, token));
  return merged;
}

function tokenOf(preset: Preset, token: unknown): unknown {
  if (typeof token !== 'string') return token;
  const { tokens = [], slug } = preset;
  const found = tokens.find(({ symbol }) => symbol === token);
  if (found === undefined)
    throw new RangeError(
      `the preset "${slug}" has no token "${token}": name one of ${tokens.map(({ symbol }) => symbol).join(', ')}, or describe the token`,
    );
  return found;
}
