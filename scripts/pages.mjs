// node scripts/pages.mjs
//
// Builds the consoles into dist/console, unless they are newer than everything that they are made of. Assets
// are stored compressed: browsers take them as they are.
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'vite';
import { noticesOf } from './notices.mjs';

const ROOT = join(import.meta.dirname, '..');
const FOLDER = join(ROOT, 'dist/console');
/** The last file that is written. */
const NOTICE = join(FOLDER, 'NOTICE');
// The workspace's console has the client in it, that of the LP its CSV of profit.
const SOURCES = ['web', 'src/client', 'src/domain', 'src/protocol', 'src/lp/accounting'].flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true }).map((file) => join(folder, file)),
);
const changedMs = (path) => statSync(path).mtimeMs;

if (
  !existsSync(NOTICE) ||
  ['package-lock.json', 'scripts/pages.mjs', ...SOURCES].some(
    (file) => changedMs(join(ROOT, file)) > changedMs(NOTICE),
  )
) {
  // Otherwise a shell or a test runner that sets it chooses React's development build.
  process.env.NODE_ENV = 'production';
  const built = await build({ configFile: join(ROOT, 'web/vite.config.ts'), logLevel: 'warn' });
  const assets = join(FOLDER, 'assets');
  for (const name of readdirSync(assets)) {
    writeFileSync(join(assets, `${name}.gz`), gzipSync(readFileSync(join(assets, name)), { level: 9 }));
    rmSync(join(assets, name));
  }
  const modules = [built]
    .flat()
    .flatMap((each) => ('output' in each ? each.output : []))
    .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []));
  // The styles are of the components' package.
  writeFileSync(NOTICE, noticesOf([...modules, join(ROOT, 'node_modules/@radix-ui/themes/package.json')]));
}
