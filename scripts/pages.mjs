// node scripts/pages.mjs
//
// Builds the console into dist/console, unless it is newer than everything that it is made of.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'vite';

const ROOT = join(import.meta.dirname, '..');
const changedMs = (path) => statSync(join(ROOT, path)).mtimeMs;
const sources = [
  'package-lock.json',
  'web/index.html',
  'web/workspace.html',
  'web/operator.html',
  'web/vite.config.ts',
].concat(
  // The workspace's console has the client in it, that of the LP its CSV of profit.
  ['web/src', 'src/client', 'src/domain', 'src/protocol', 'src/lp/accounting'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true }).map((file) => `${folder}/${file}`),
  ),
);
// Otherwise a shell or a test runner that sets it chooses React's development build.
process.env.NODE_ENV = 'production';
const built = 'dist/console/index.html';
if (!existsSync(join(ROOT, built)) || sources.some((file) => changedMs(file) > changedMs(built)))
  await build({ configFile: join(ROOT, 'web/vite.config.ts'), logLevel: 'warn' });
