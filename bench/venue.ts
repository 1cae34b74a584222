/**
 * Measures how many quote requests one venue process answers: HTTP in, fan-out to three solvers over real
 * WebSockets, every signature verified, candidates ranked and sealed, HTTP out. The rate rises until answers
 * fall behind; rows at 50, 80, 150 and 300 % of the capacity follow. Solvers and takers run in processes of
 * their own on the same cores. The gate compares CPU per quote at 800 requests a second with the three
 * signature recoveries that a quote contains.
 *
 * npm run bench -- venue [--seconds=5] [--rates=800,2400] [--profile=FILE]
 */

import { cpus } from 'node:os';
import { createMetrics } from '../src/adapters/prometheus/metrics.ts';
import { createRecovery } from '../src/adapters/secp256k1/recovery.ts';
import { keccakText } from '../src/domain/keccak.ts';
import { account } from '../test/support/devnet.ts';
import { ADMISSION } from '../src/venue/options.ts';
import { startTestVenue } from '../test/support/venue.ts';
import { cpuOfVenue, cpuPer, cpuUsed, showCpu } from './cpu.ts';
import { showOffered, showSummary, summaryOf, toTheKnee } from './knee.ts';
import { profiled, rounded, showStatuses, table } from './load.ts';
import { fundQuoteLoad, type QuoteFigures, startQuoteLoad, targetOf } from './quote-load.ts';

const GATE = 800;
/** CPU per quote, in units of the signature recoveries that it contains. */
const MOST_RECOVERIES = 8;
const LPS = 3;
const SECONDS = Number(process.argv.find((word) => word.startsWith('--seconds='))?.slice(10) ?? 5);

const metrics = createMetrics();
const v = await startTestVenue({
  metrics,
  rates: {
    quotesPerSecond: 1e6,
    perIpPerSecond: 1e6,
    openQuotes: 1e9,
    openNotionalUsd: 1e15,
    leastSubmittedShare: 0,
  },
  admission: ADMISSION,
});
await fundQuoteLoad(v);
const load = await startQuoteLoad(await targetOf(v), LPS);
// Sustained load is served by compiled code: without this, the first rows measure the compiler.
await load.run(GATE, SECONDS);
const knee = await toTheKnee(GATE, async (rate) => {
  const before = cpuUsed();
  const run = () => load.run(rate, SECONDS);
  const figures: QuoteFigures = await (rate === GATE ? profiled(run) : run());
  const after = cpuUsed();
  return { ...figures, cpuMicros: cpuOfVenue(before, after), cpu: cpuPer(figures.served, before, after) };
});
const { rows } = knee;
load.stop();
const recoverMicros = recoveries();
await v.stop();

const shown = rows.map((row) => [
  showOffered(row),
  row.perSecond,
  row.p50Ms,
  row.p99Ms,
  row.maxMs,
  row.candidates,
  showStatuses(row.statuses),
  row.refusalP99Ms,
  showCpu(row.cpu),
]);
shown.push(['gate', `>= ${GATE}`, '< 10', '< 50', '', LPS, '200, 429 or 503 only', '', '']);
console.log(
  table(
    [
      'offered, of capacity',
      'answered/s',
      'p50 ms',
      'p99 ms',
      'max ms',
      'candidates',
      'answers',
      'refusal p99 ms',
      'CPU us per quote',
    ],
    shown,
  ),
);
console.log(showSummary(knee, { refuses: true }));
const gate = rows.find(({ offered }) => offered === GATE);
const ratio = rounded((gate?.cpu['venue'] ?? Number.NaN) / (LPS * recoverMicros));
if (gate !== undefined)
  console.log(
    `gate, ${GATE} requests a second: CPU per quote ${ratio} times its ${LPS} signature recoveries (<= ${MOST_RECOVERIES}; they take ${LPS * recoverMicros} us), p50 ${gate.p50Ms} ms (< 10), p99 ${gate.p99Ms} ms (< 50): ${ratio <= MOST_RECOVERIES && gate.p50Ms < 10 && gate.p99Ms < 50 ? 'met' : 'MISSED'}`,
  );
console.log(
  JSON.stringify({
    bench: 'venue',
    ...summaryOf(knee),
    recoveriesMicros: LPS * recoverMicros,
    ratio,
    rows,
    machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version },
  }),
);

/** Measures the CPU of one signature recovery, in microseconds, in this process. */
function recoveries(): number {
  const [{ sign }, recovery] = [account(1), createRecovery()];
  const signed = Array.from({ length: 1_000 }, (_, n) => keccakText(`bench ${n}`)).map((digest) => ({
    digest,
    signature: sign(digest),
  }));
  for (const { digest, signature } of signed) recovery.recover(digest, signature);
  const before = process.cpuUsage();
  for (const { digest, signature } of signed) recovery.recover(digest, signature);
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / signed.length);
}
