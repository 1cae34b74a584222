/** The version of firmquote that runs, from its package.json. */

import { readFileSync } from 'node:fs';

const file = new URL('../../../package.json', import.meta.url);

export const VERSION = (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version;
