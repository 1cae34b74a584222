/**
 * CPU time of small parts that are our own, beside the package or the built-in function that would do
 * instead: canonical JSON of a quote's answer, strict JSON of a request, one token of a bucket, and a
 * signer recovered on the event loop or in a thread. That of the thread contains both threads.
 *
 *   npm run bench -- own
 */

import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { fullBucket, takeToken } from '../src/risk/rate.ts';
import { canonicalJson } from '../src/protocol/canonical-json.ts';
import { readStrictJson } from '../src/protocol/strict-json.ts';
import { createRecoveryThread } from '../src/adapters/secp256k1/recovery-thread.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { keccakText } from '../src/domain/keccak.ts';
import { account } from '../test/support/devnet.ts';
import { silentLog } from '../test/support/silent.ts';
import { PACKAGE_FOLDER } from '../src/adapters/system/version.ts';

interface Exchange {
  request: { body?: unknown };
  answers: Record<string, { body: unknown }>;
}

const recorded = JSON.parse(readFileSync(join(PACKAGE_FOLDER, 'src/protocol/api/recorded.json'), 'utf8')) as {
  http: Record<string, Exchange>;
};
const { request, answers } = recorded.http['POST /api/v1/rfq/quotes'] as Exchange;
const answer = answers['200']?.body;
const text = JSON.stringify(request.body);
const bytes = Buffer.from(text);
const rule = { perSecond: 1e9, burst: 1e9 };
const tokens = fullBucket(rule, 0);
let now = 0;

const [inOrder, reversed] = [withKeys(answer, 1), withKeys(answer, -1)];
const digest = keccakText('bench');
const signed = Array.from({ length: 96 }, () => ({ digest, signature: account(1).sign(digest) }));
const thread = createRecoveryThread({ clock: systemClock, log: silentLog });

const figures = {
  'canonical JSON, ours, keys in order': micros(() => canonicalJson(inOrder)),
  'canonical JSON, ours, other keys': micros(() => canonicalJson(reversed)),
  'canonical JSON, canonicalize': micros(() => canonicalize(answer)),
  'strict JSON, ours': micros(() => readStrictJson(bytes)),
  'JSON.parse': micros(() => JSON.parse(text)),
  'a token of a bucket': micros(() => takeToken(tokens, (now += 1), rule)),
  'a signer, on the event loop': micros(() => thread.recover(digest, signed[0]?.signature ?? '0x'), 2_000),
  'a signer, in the thread, by 3': await microsInThread(3),
  'a signer, in the thread, by 96': await microsInThread(96),
};
await thread.stop();
for (const [name, each] of Object.entries(figures)) console.log(`${name.padEnd(36)}${each.toFixed(2)} µs`);
console.log(
  JSON.stringify({
    bench: 'own',
    cpuMicros: figures,
    machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
  }),
);

function micros(work: () => unknown, most = 100_000): number {
  const times = (count: number) => {
    const from = process.cpuUsage();
    for (let done = 0; done < count; done += 1) work();
    const { user, system } = process.cpuUsage(from);
    return (user + system) / count;
  };
  times(most / 5);
  return times(most);
}

/** The CPU of one recovery when so many are asked for together, all threads of the process. */
async function microsInThread(together: number): Promise<number> {
  const some = signed.slice(0, together);
  const times = async (count: number) => {
    const from = process.cpuUsage();
    for (let done = 0; done < count; done += together) await thread.recoverAll(some);
    const { user, system } = process.cpuUsage(from);
    return (user + system) / count;
  };
  await times(2_000);
  return times(20_000);
}

/** Copies a value with its keys in ascending or descending order. */
function withKeys(value: unknown, direction: 1 | -1): unknown {
  if (Array.isArray(value)) return value.map((item) => withKeys(item, direction));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -direction : direction));
  return Object.fromEntries(entries.map(([key, field]) => [key, withKeys(field, direction)]));
}
