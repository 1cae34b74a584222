/** The version of firmquote that runs and its folder, from the package.json above this file. */

import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Sources, the package and the builds of benches lie at different depths below it. */
function packageFile(from: URL): URL {
  const file = new URL('package.json', from);
  const above = new URL('..', from);
  return existsSync(file) || above.href === from.href ? file : packageFile(above);
}

const file = packageFile(new URL('.', import.meta.url));

export const VERSION = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;

/** The folder of the checkout or of the installed package. */
export const PACKAGE_FOLDER = fileURLToPath(new URL('.', file));
