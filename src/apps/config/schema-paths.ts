/** Reads the structure of a zod schema, to map environment names and to suggest options. */

import * as z from 'zod';

export type Path = readonly (string | number)[];

function inner(schema: z.ZodType): z.ZodType {
  for (let at = schema; ;) {
    if (
      at instanceof z.ZodOptional ||
      at instanceof z.ZodNullable ||
      at instanceof z.ZodDefault ||
      at instanceof z.ZodPrefault ||
      at instanceof z.ZodReadonly
    ) {
      at = at.unwrap() as z.ZodType;
    } else if (at instanceof z.ZodPipe) {
      // After a preprocessing step the schema is what comes out of it.
      at = (at.in instanceof z.ZodTransform ? at.out : at.in) as z.ZodType;
    } else {
      return at;
    }
  }
}

export function schemasAt(schema: z.ZodType, path: Path): z.ZodType[] {
  const here = inner(schema);
  if (here instanceof z.ZodUnion)
    return here.options.flatMap((option) => schemasAt(option as z.ZodType, path));
  const [head, ...rest] = path;
  if (head === undefined) return [here];
  if (here instanceof z.ZodObject) {
    const next = here.shape[String(head)] as z.ZodType | undefined;
    return next ? schemasAt(next, rest) : [];
  }
  if (here instanceof z.ZodRecord) return schemasAt(here.valueType as z.ZodType, rest);
  if (here instanceof z.ZodArray) return schemasAt(here.element as z.ZodType, rest);
  if (here instanceof z.ZodTuple) {
    const next = here.def.items[Number(head)] as z.ZodType | undefined;
    return next ? schemasAt(next, rest) : [];
  }
  return [];
}

export function keysAt(schema: z.ZodType, path: Path): string[] {
  return [
    ...new Set(
      schemasAt(schema, path).flatMap((found) =>
        found instanceof z.ZodObject ? Object.keys(found.shape) : [],
      ),
    ),
  ];
}

/** Returns the kind at a path. `record`: any keys. */
export function kindAt(schema: z.ZodType, path: Path): 'object' | 'record' | 'list' | 'value' {
  const found = schemasAt(schema, path);
  if (found.some((one) => one instanceof z.ZodObject)) return 'object';
  if (found.some((one) => one instanceof z.ZodRecord)) return 'record';
  if (found.some((one) => one instanceof z.ZodArray || one instanceof z.ZodTuple)) return 'list';
  return 'value';
}

export function suggest(word: string, candidates: readonly string[]): string | undefined {
  const plain = (text: string) => text.toLowerCase().replace(/[-_]/g, '');
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: editDistance(plain(word), plain(candidate)) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.candidate : undefined;
}

/** Computes the Damerau-Levenshtein distance (optimal string alignment). */
function editDistance(a: string, b: string): number {
  const rows = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (__, j) => (i === 0 ? j : j === 0 ? i : 0)),
  );
  const at = (i: number, j: number): number => rows[i]?.[j] ?? 0;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, at(i - 2, j - 2) + 1);
      (rows[i] as number[])[j] = best;
    }
  }
  return at(a.length, b.length);
}
