/**
 * Packs the package from a copy in which the pages link only to what is packed: no pictures, sources and
 * OpenAPI documents, which the venue serves itself.
 */

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { outputOf, ROOT, run } from './processes.mjs';

/** `args`: further arguments of `npm pack`. */
export function pack(args) {
  const [{ files }] = JSON.parse(outputOf('npm', ['pack', '--dry-run', '--json', '--ignore-scripts']));
  const paths = files.map(({ path }) => path);
  const copy = join(ROOT, 'dist', 'package');
  rmSync(copy, { recursive: true, force: true });
  for (const path of paths) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    if (path.endsWith('.md')) writeFileSync(join(copy, path), withoutDeadLinks(path, paths));
    // Grafana reads it without spaces too.
    else if (/^ops\/grafana\/.*\.json$/.test(path))
      writeFileSync(join(copy, path), JSON.stringify(JSON.parse(readFileSync(join(ROOT, path), 'utf8'))));
    else cpSync(join(ROOT, path), join(copy, path));
  }
  return run('npm', ['pack', copy, ...args]);
}

/** A link becomes its text, a picture its caption. */
function withoutDeadLinks(page, paths) {
  const isPacked = (target) => {
    const path = posix.join(posix.dirname(page), target.replace(/#.*$/, '')).replace(/\/$/, '');
    return (
      /^(?:[a-z]+:|#)/.test(target) || paths.some((each) => each === path || each.startsWith(`${path}/`))
    );
  };
  return readFileSync(join(ROOT, page), 'utf8').replaceAll(
    /(!?)\[([^\]\n]*(?:\n[^\]\n]*)?)\]\(([^)\s]+)\)/g,
    (link, picture, text, target) => (isPacked(target) ? link : picture ? `*Picture: ${text}*` : text),
  );
}
