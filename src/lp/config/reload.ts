/** The differences between two configurations, and which of them a reload can apply while quoting goes on. */

import { isDeepStrictEqual } from 'node:util';

export interface Change {
  path: readonly string[];
  from: unknown;
  to: unknown;
}

/** A reload applies all changes or none, from the next request on. */
export type Reloaded = { applied: readonly Change[] } | { refused: readonly string[] };

/**
 * Everything else is read once, at start. `*` stands for any one name. Feeds, plug-in and kill file are made
 * outside the node (apps/lp/reload.ts). An option that only the quoting snapshot reads can be added here; an
 * option of a stateful part needs a call in `apply` (node/running-lp.ts). Left out on purpose:
 * `claimSeconds` and `fillMarginSeconds` decide whether an accepted order is still filled, and a quote keeps
 * the terms it was signed with.
 */
const RELOADABLE: readonly (readonly string[])[] = [
  ['prices'],
  ['pairs'],
  ['assets', '*', 'target'],
  ['assets', '*', 'softBand'],
  ['assets', '*', 'hardBand'],
  ['assets', '*', 'transportBps'],
  ['assets', '*', 'chains'],
  ['chains', '*', 'buffers'],
  ['chains', '*', 'minGas'],
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
  ['pricing'],
  ['limits'],
  ['signals'],
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
    'venueShare',
    'fatFinger',
    'killFile',
  ].map((control) => ['risk', control]),
  ['lease'],
];

export function isReloadable(path: readonly string[]): boolean {
  return RELOADABLE.some(
    (rule) => rule.length <= path.length && rule.every((name, at) => name === '*' || name === path[at]),
  );
}

/**
 * One change per leaf. List items are named by id (chain number, assets of a pair), so moving one changes
 * nothing.
 */
export function changesBetween(before: unknown, after: unknown, path: readonly string[] = []): Change[] {
  const [old, now] = [partsOf(before), partsOf(after)];
  if (old === undefined || now === undefined)
    return isDeepStrictEqual(before, after) ? [] : [{ path, from: before, to: after }];
  return [...new Set([...old.keys(), ...now.keys()])].flatMap((name) =>
    old.get(name) === now.get(name) ? [] : changesBetween(old.get(name), now.get(name), [...path, name]),
  );
}

/** Parts of an object or of a list of objects; undefined for a value. A list of values is one value. */
function partsOf(value: unknown): Map<string, unknown> | undefined {
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
