/**
 * Measures what the number of LPs in a fan-out costs: 3, 30 and 300 LPs that all quote every request. The
 * venue asks all of them, checks the terms of each quote against the request, and recovers signatures, best
 * price first, for as many quotes as the taker is shown.
 *
 * npm run bench -- fanout [--seconds=5]
 */

import { cpus } from 'node:os';
import { createMetrics } from '../src/adapters/prometheus/metrics.ts';
import { startTestVenue } from '../test/support/venue.ts';
import { cpuPer, cpuUsed, showCpu } from './cpu.ts';
import { showStatuses, table } from './load.ts';
import { fundQuoteLoad, type QuoteFigures, startQuoteLoad, targetOf } from './quote-load.ts';

/** LPs, and the requests a second that the LPs' own process can answer beside the venue. */
const STEPS = [
  { lps: 3, rates: [100, 400] },
  { lps: 30, rates: [10, 40] },
  { lps: 300, rates: [1, 4] },
] as const;
const SECONDS = Number(process.argv.find((word) => word.startsWith('--seconds='))?.slice(10) ?? 5);

const v = await startTestVenue({
  metrics: createMetrics(),
  rates: {
    quotesPerSecond: 1e6,
    perIpPerSecond: 1e6,
    openQuotes: 1e9,
    openNotionalUsd: 1e15,
    leastSubmittedShare: 0,
  },
  http: { maxSocketsPerAddress: 10_000 },
  fanOut: { timeoutMs: 2_000 },
});
await fundQuoteLoad(v);
const rows: (QuoteFigures & { lps: number; cpu: Record<string, number>; venueMicrosPerLp: number })[] = [];
for (const { lps, rates } of STEPS) {
  const load = await startQuoteLoad(await targetOf(v), lps);
  for (const rate of rates) {
    const before = cpuUsed();
    const figures = await load.run(rate, SECONDS);
    const cpu = cpuPer(figures.statuses[200] ?? 0, before, cpuUsed());
    rows.push({ ...figures, lps, cpu, venueMicrosPerLp: Math.round((cpu['venue'] ?? 0) / lps) });
  }
  load.stop();
  while ([...v.venue.roster.entries()].some(({ status }) => status === 'active'))
    await new Promise((done) => setTimeout(done, 50));
}
await v.stop();

const shown = rows.map((row) => [
  row.lps,
  `${row.offered}/s`,
  row.perSecond,
  row.p50Ms,
  row.p99Ms,
  row.candidates,
  showStatuses(row.statuses),
  row.venueMicrosPerLp,
  showCpu(row.cpu),
]);
console.log(
  table(
    [
      'LPs',
      'offered',
      'answered/s',
      'p50 ms',
      'p99 ms',
      'candidates',
      'answers',
      'venue us per LP',
      'CPU us per quote',
    ],
    shown,
  ),
);
console.log(
  JSON.stringify({
    bench: 'fanout',
    rows,
    machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
  }),
);
