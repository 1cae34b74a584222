/**
 * `npm run soak:ledger -- --events 1000000 --seed 1`: random events on the ledger, figures, and one JSON
 * line.
 */

import { parseArgs } from 'node:util';
import { soak } from './ledger.ts';

const { values } = parseArgs({
  options: { events: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const [events, seed] = [Number(values.events), Number(values.seed)];
if (!Number.isSafeInteger(events) || events < 1 || !Number.isSafeInteger(seed)) {
  console.error('--events and --seed are whole numbers, such as --events 1000000 --seed 1.');
  process.exit(2);
}

try {
  const { ok, ...report } = soak({ events, seed });
  console.log(`${report.events} events in ${report.seconds} s, no invariant broken:`);
  console.log(
    `  ${report.quotes} quotes held, ${report.refusals} refused, at most ${report.mostLive} live at once`,
  );
  console.log(
    `  ${report.fills} taken, ${report.onslaughts} times everything at once, ${report.reorgs} blocks reorganised`,
  );
  console.log(
    `  ${report.restarts} clean restarts, ${report.crashes} crashes, all balances checked ${report.checks} times`,
  );
  console.log(JSON.stringify({ ok, ...report }));
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  console.log(JSON.stringify({ ok: false, events, seed }));
  process.exitCode = 1;
}
