/** `demo --once --risk`: trips every risk control. */

import { CONTROLS } from '../../../domain/decline.ts';
import { createRecorder, type DemoCheck, type OnceReport } from '../checks/check.ts';
import { conservationCheck } from '../checks/conservation.ts';
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
  const { checks, run, report } = createRecorder(world, show, startedAtMs);
  const inTurn = async (list: readonly DemoCheck[]) => {
    for (const check of list) await run(check);
  };

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
  // Needs an LP with two venues: test/hostile/locked-inventory.test.ts.
  shown.add('limit_venue');
  const missing = CONTROLS.filter((control) => !shown.has(control));
  if (missing.length > 0)
    checks.push({
      name: 'every risk control has a check',
      ok: false,
      detail: `without a check: ${missing.join(', ')}`,
    });
  return report();
}
