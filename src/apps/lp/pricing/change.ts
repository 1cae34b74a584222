/** Writes a change of pricing parameters as an edit of the text of the configuration file. */

import * as z from 'zod';
import { RequestError } from '../../../domain/errors.ts';
import type { PricingVersion } from '../../../ports/stores/pricing-versions.ts';
import type { LpAppConfig } from '../config.ts';
import { withValueAt } from './edit-json.ts';

/** null: no longer set here. The schema of the configuration checks names and values. */
const zValues = z.record(z.string(), z.union([z.number(), z.boolean(), z.null()]));

export const zPairChanges = z.record(
  z.string(),
  z.strictObject({ params: zValues.default({}), corridorParams: z.record(z.string(), zValues).default({}) }),
);
type PairChanges = z.infer<typeof zPairChanges>;

type Values = Record<string, number | boolean>;

type PricingParameters = PricingVersion['parameters'];

type FilePair = Pick<LpAppConfig['lp']['pairs'][number], 'base' | 'quote'> & {
  params?: Values;
  corridorParams?: Record<string, Values>;
};

/**
 * Finds the pairs of a file that the schema accepts. A pair that is listed twice has its index in its second
 * name.
 */
function pairsIn(text: string): Map<string, { index: number; pair: FilePair }> {
  const { lp } = JSON.parse(text) as { lp?: { pairs?: FilePair[] } };
  const pairs = new Map<string, { index: number; pair: FilePair }>();
  for (const [index, pair] of (lp?.pairs ?? []).entries()) {
    const name = `${pair.base}-${pair.quote}`;
    pairs.set(pairs.has(name) ? `${name}#${index}` : name, { index, pair });
  }
  return pairs;
}

export const parametersIn = (text: string): PricingParameters =>
  Object.fromEntries(
    [...pairsIn(text)].map(
      ([
        name,
        {
          pair: { params = {}, corridorParams = {} },
        },
      ]) => [name, { params, corridorParams }],
    ),
  );

/** Throws `RequestError` for a pair that the file does not have. */
export function withChanges(text: string, changes: PairChanges): string {
  const before = parametersIn(text);
  const after = Object.entries(changes).map(([name, { params, corridorParams }]) => {
    const pair = Object.hasOwn(before, name) ? before[name] : undefined;
    if (pair === undefined)
      throw new RequestError(
        `The configuration has no pair "${name}": name one of ${Object.keys(before).join(', ')}.`,
        { code: 'unknown_pair' },
      );
    const slugs = [...new Set([...Object.keys(pair.corridorParams), ...Object.keys(corridorParams)])];
    const corridors = slugs.map((slug) => [
      slug,
      merged(pair.corridorParams[slug] ?? {}, corridorParams[slug] ?? {}),
    ]);
    return [name, { params: merged(pair.params, params), corridorParams: Object.fromEntries(corridors) }];
  });
  return withParameters(text, Object.fromEntries(after) as PricingParameters);
}

/** Pairs that only one of the two has stay as they are. Pairs without a difference keep their text. */
export function withParameters(text: string, wanted: PricingParameters): string {
  const before = parametersIn(text);
  let next = text;
  for (const [name, { index, pair }] of pairsIn(text)) {
    const [now, then] = [before[name], wanted[name]];
    if (then === undefined || JSON.stringify(now) === JSON.stringify(withoutEmpty(then))) continue;
    const { params, corridorParams } = withoutEmpty(then);
    const edited: FilePair = { ...pair, params, corridorParams };
    if (isEmpty(params) && pair.params === undefined) delete edited.params;
    if (isEmpty(corridorParams) && pair.corridorParams === undefined) delete edited.corridorParams;
    next = withValueAt(next, ['lp', 'pairs', index], edited);
  }
  return next;
}

const isEmpty = (object: object): boolean => Object.keys(object).length === 0;

/** A corridor without parameters of its own is not written. */
const withoutEmpty = ({ params, corridorParams }: PricingParameters[string]): PricingParameters[string] => ({
  params,
  corridorParams: Object.fromEntries(Object.entries(corridorParams).filter(([, own]) => !isEmpty(own))),
});

function merged(before: Values, changes: PairChanges[string]['params']): Values {
  const kept = Object.entries({ ...before, ...changes }).filter(
    (each): each is [string, number | boolean] => each[1] !== null,
  );
  return Object.fromEntries(kept);
}
