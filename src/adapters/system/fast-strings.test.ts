/**
 * V8 itself says how it keeps String.prototype, each time in a process of its own: once they are fast in one,
 * they stay so.
 */

import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { PROGRAM } from '../../../test/support/build.ts';

const adapters = pathToFileURL(`${dirname(dirname(dirname(PROGRAM)))}/adapters/`).href;
const ALONE = `await import('ioredis');`;
const KEPT = `${ALONE} (await import('${adapters}system/fast-strings.js')).keepStringsFast();`;

test.each([
  ['ioredis alone makes them slow: without that we would not need this', ALONE, 'false'],
  ['they are fast again', KEPT, 'true'],
  ['and stay so, whatever else extends String', `${KEPT} new (class extends String {})('later');`, 'true'],
  ['where our inventory imports ioredis', `await import('${adapters}redis/shared-inventory.js');`, 'true'],
  ['where our queue imports it with BullMQ', `await import('${adapters}bullmq/queue.js');`, 'true'],
])('%s', (_, code, fast) => {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--allow-natives-syntax',
      '--input-type=module',
      '-e',
      `${code} console.log(%HasFastProperties(String.prototype));`,
    ],
    { encoding: 'utf8', cwd: import.meta.dirname },
  );
  expect([stdout.trim(), stderr]).toEqual([fast, '']);
});
