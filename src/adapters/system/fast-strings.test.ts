/** V8 itself says how it keeps String.prototype, beside what our own imports made of it. */

import { setFlagsFromString } from 'node:v8';
import { expect, test } from 'vitest';
import { keepStringsFast } from './fast-strings.ts';

setFlagsFromString('--allow-natives-syntax');
const areFast = new Function('return %HasFastProperties(String.prototype)') as () => boolean;

test('strings are fast again after a class that extends String, and stay so', async () => {
  await import('ioredis');
  keepStringsFast();
  expect(areFast()).toBe(true);
  expect(new (class extends String {})('later').length).toBe(5);
  expect(areFast()).toBe(true);
});

test.each(['../redis/shared-inventory.ts', '../bullmq/queue.ts'])('%s leaves them fast', async (file) => {
  await import(file);
  expect(areFast()).toBe(true);
});
