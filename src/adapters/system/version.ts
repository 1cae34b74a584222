/** The version of firmquote that runs, from the package.json above this file. */

import { existsSync, readFileSync } from 'node:fs';

/** Sources, the package and the builds of benches lie at different depths below it. */
function packageFile(from: URL): URL {
  const file = new URL('package.json', from);
  const above = new URL('..', from);
  return existsSync(file) || above.href === from.href ? file : packageFile(above);
}

const file = packageFile(new URL('.', import.meta.url));

export const VERSION = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
