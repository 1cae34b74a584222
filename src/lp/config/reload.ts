/**
 * What changed between two configurations, told in an operator's words, and which of it may change while
 * quoting goes on.
 */

import { isDeepStrictEqual } from 'node:util';

/** undefined: absent. */
export interface Change {
  path: readonly string[];
  from: unknown;
  to: unknown;
}

/** All or nothing: the new configuration is in force from the next request on, or nothing changed at all. */
export type Reloaded = { applied: readonly Change[] } | { refused: readonly string[] };

/**
 * Everything else is read once, at start. What the desk reads belongs here by itself, for the desk is made
 * anew; what something with a memory reads belongs here once `reload` in node.ts hands it over. `*` stands
 * for any one name. Not here on purpose: `claimSeconds` and `fillMarginSeconds` decide whether an accepted
 * order is still filled, and a promise keeps the terms it was signed with.
 */
const LIVE: readonly (readonly string[])[] = [
  ['pairs'],
  ['assets', '*', 'target'],
  ['assets', '*', 'softBand'],
  ['assets', '*', 'hardBand'],
  ['assets', '*', 'transportBps'],
  ['assets', '*', 'chains'],
  ['chains', '*', 'buffers'],
  ['chains', '*', 'minGas'],
  ['chains', '*', 'l1Fee'],
  ['chains', '*', 'maxHeadAgeMs'],
  ['quoting', 'validitySeconds'],
  ['quoting', 'pointsSeconds'],
  ['quoting', 'maxValiditySeconds'],
  ['quoting', 'maxLandingMarginSeconds'],
  ['quoting', 'clockSkewSeconds'],
  ['quoting', 'etaSeconds'],
  ['quoting', 'lockSeconds'],
  ['quoting', 'gasUnits'],
  ['quoting', 'txBytes'],
  ['quoting', 'maxInFlight'],
  ['pricing', 'calibration'],
  ['limits'],
  ['levels'],
  ...[
    'standbyAfterSeconds',
    'leastValiditySeconds',
    'totalBps',
    'volSpike',
    'gapLoss',
    'freeOption',
    'rate',
    'takers',
    'burst',
    'drawdown',
    'fatFinger',
  ].map((control) => ['risk', control]),
  ['lease'],
];

export function isLive(path: readonly string[]): boolean {
  return LIVE.some(
    (rule) => rule.length <= path.length && rule.every((name, at) => name === '*' || name === path[at]),
  );
}

/**
 * One change a leaf, in steps of an item of a list each. Items of a list go by their own name (a chain by its
 * id, a pair by its assets) so that moving one changes nothing.
 */
export function* changesBetween(
  before: unknown,
  after: unknown,
  path: readonly string[] = [],
): Generator<void, Change[]> {
  const [old, now] = [named(before), named(after)];
  if (old === undefined || now === undefined)
    return same(before, after) ? [] : [{ path, from: before, to: after }];
  const changes: Change[] = [];
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [from, to] = [old.get(name), now.get(name)];
    if (from === to) continue;
    // Of a thousand pairs mostly one has changed.
    if (Array.isArray(after) && isDeepStrictEqual(from, to)) yield;
    else changes.push(...(yield* changesBetween(from, to, [...path, name])));
  }
  yield;
  return changes;
}

/**
 * The parts of an object or of a list of objects; undefined for a value, and a list of values is one value.
 */
function named(value: unknown): Map<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!Array.isArray(value)) return new Map(Object.entries(value).filter(([, part]) => part !== undefined));
  if (
    !value.every(
      (item): item is Record<string, unknown> =>
        typeof item === 'object' && item !== null && !Array.isArray(item),
    )
  )
    return undefined;
  const parts = new Map<string, unknown>();
  for (const [index, item] of value.entries()) {
    const name = nameOf(item) ?? String(index);
    parts.set(parts.has(name) ? `${name}#${index}` : name, item);
  }
  return parts;
}

function nameOf({
  base,
  quote,
  chainId,
  id,
  name,
  feed,
  symbol,
}: Record<string, unknown>): string | undefined {
  if (base !== undefined && quote !== undefined) return `${String(base)}-${String(quote)}`;
  const own = chainId ?? id ?? name ?? (feed === undefined ? symbol : `${String(feed)}:${String(symbol)}`);
  return own === undefined ? undefined : String(own);
}

const same = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
