/**
 * Shortens the names of variables in bundles, a sixth of their size. Functions and classes keep theirs, which
 * stack traces and errors show.
 */

import { decode, encode } from '@jridgewell/sourcemap-codec';
import { minify } from 'rolldown/utils';

/** Returns the shorter code, and the source map of it when `map` leads from `code` to the sources. */
export async function shortened(file, code, map) {
  const short = await minify(file, code, {
    module: true,
    compress: false,
    mangle: { keepNames: true },
    sourcemap: true,
  });
  if (short.errors.length > 0) throw new Error(`${file}: ${short.errors[0].message}`);
  return { code: short.code, map: map && composed(decode(short.map.mappings), map) };
}

/** Leaves out code of packages: nobody looks for its lines, and they are a third of a map. */
function composed(places, { sources, mappings }) {
  const lines = decode(mappings);
  const own = sources.filter((source) => !source.includes('node_modules/'));
  const indexes = sources.map((source) => own.indexOf(source));
  const composedLines = places.map((line) => {
    const segments = [];
    for (const [column, , fromLine, fromColumn] of line) {
      const [, source, ...place] = lines[fromLine]?.findLast(([start]) => start <= fromColumn) ?? [];
      const index = source === undefined ? -1 : indexes[source];
      const segment = index === -1 ? [column] : [column, index, ...place.slice(0, 2)];
      if (String(segment.slice(1)) !== String(segments.at(-1)?.slice(1))) segments.push(segment);
    }
    return segments;
  });
  return { version: 3, sources: own, names: [], mappings: encode(composedLines) };
}
