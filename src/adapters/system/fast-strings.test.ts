/**
 * Tests how V8 stores String.prototype. Each case runs in a process of its own, because the effect lasts as
 * long as the process.
 */

import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../../..');
const adapters = pathToFileURL(`${ROOT}/src/adapters/`).href;
const TYPESCRIPT = pathToFileURL(join(ROOT, 'node_modules/tsx/dist/loader.mjs')).href;
const IOREDIS = `await import('ioredis');`;
const KEPT = `${IOREDIS} (await import('${adapters}system/fast-strings.ts')).keepStringsFast();`;

test.each([
  ['slow after ioredis alone: without that, this file is not needed', IOREDIS, 'false'],
  ['fast after keepStringsFast', KEPT, 'true'],
  ['still fast when another class extends String', `${KEPT} new (class extends String {})('a');`, 'true'],
  [
    'fast in a process with the shared inventory',
    `await import('${adapters}redis/shared-inventory.ts');`,
    'true',
  ],
  ['fast in a process with the queue', `await import('${adapters}bullmq/queue.ts');`, 'true'],
])('String.prototype is %s', (_, code, fast) => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--allow-natives-syntax',
      '--import',
      TYPESCRIPT,
      '--input-type=module',
      '--eval',
      `${code} console.log(%HasFastProperties(String.prototype));`,
    ],
    { encoding: 'utf8', cwd: import.meta.dirname },
  );
  expect([stdout.trim(), stderr]).toEqual([fast, '']);
});
