/**
 * CPU time of small parts that are our own, beside the package or the built-in function that would do
 * instead: canonical JSON of a quote's answer, strict JSON of a request, and one token of a bucket.
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

const figures = {
  'canonical JSON, ours': micros(() => canonicalJson(answer)),
  'canonical JSON, canonicalize': micros(() => canonicalize(answer)),
  'strict JSON, ours': micros(() => readStrictJson(bytes)),
  'JSON.parse': micros(() => JSON.parse(text)),
  'a token of a bucket': micros(() => takeToken(tokens, (now += 1), rule)),
};
for (const [name, each] of Object.entries(figures)) console.log(`${name.padEnd(30)}${each.toFixed(2)} µs`);
console.log(
  JSON.stringify({
    bench: 'own',
    cpuMicros: figures,
    machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
  }),
);

function micros(work: () => unknown): number {
  const times = (count: number) => {
    const from = process.cpuUsage();
    for (let done = 0; done < count; done += 1) work();
    const { user, system } = process.cpuUsage(from);
    return (user + system) / count;
  };
  times(20_000);
  return times(100_000);
}
