/** `demo --once --risk`: trips every risk control, observes it, and waits until it has passed. */

import { CONTROLS } from '../../../domain/control.ts';
import { type DemoCheck, type CheckResult, runCheck, type OrderCounts } from '../checks/check.ts';
import { conservationCheck } from '../checks/conservation.ts';
import type { OnceReport } from '../once.ts';
import type { DemoWorld } from '../world.ts';
import {
  confidenceCheck,
  depegCheck,
  deviationCheck,
  lagCheck,
  outlierCheck,
  sequencerCheck,
  spikeCheck,
  staleCheck,
} from './markets.ts';
import { driftCheck, drawdownCheck, killApiCheck, killFileCheck, killSignalCheck } from './stops.ts';
import { burstCheck, capChecks, doubtChecks, freeOptionCheck } from './takers.ts';

export async function runRisk(
  world: DemoWorld,
  show: (line: string) => void,
  startedAtMs: number,
): Promise<OnceReport> {
  const tally: OrderCounts = { settled: 0, failed: 0, refunded: 0 };
  const checks: CheckResult[] = [];
  const run = async (check: DemoCheck) => {
    const before = performance.now();
    const result = await runCheck(check, world, tally);
    checks.push(result);
    show(
      `${result.ok ? 'ok  ' : 'FAIL'}  ${result.name}  (${((performance.now() - before) / 1000).toFixed(1)} s)\n        ${result.detail}`,
    );
  };
  const inTurn = async (list: readonly DemoCheck[]) => {
    for (const check of list) await run(check);
  };

  // First one LP per group; what affects all LPs follows.
  await Promise.all([
    inTurn(capChecks('alpha')),
    inTurn([
      killApiCheck('beta'),
      killFileCheck('beta'),
      freeOptionCheck('beta'),
      burstCheck('beta'),
      ...doubtChecks('beta'),
    ]),
    inTurn([killSignalCheck('gamma')]),
  ]);
  await inTurn([
    spikeCheck('gamma'),
    outlierCheck('alpha'),
    confidenceCheck('alpha'),
    deviationCheck('alpha'),
    staleCheck('gamma'),
    depegCheck('alpha'),
  ]);
  await Promise.all([inTurn([sequencerCheck('alpha'), lagCheck('alpha')]), run(driftCheck('beta'))]);
  await inTurn([drawdownCheck('gamma'), conservationCheck]);
  const shown = new Set(checks.map(({ name }) => name.split(':')[0] ?? ''));
  const missing = CONTROLS.filter((control) => !shown.has(control));
  if (missing.length > 0)
    checks.push({ name: 'every control is shown', ok: false, detail: `not shown: ${missing.join(', ')}` });
  return { checks, ...tally, seconds: Math.round((Date.now() - startedAtMs) / 100) / 10 };
}
