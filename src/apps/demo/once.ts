/** `demo --once`: runs the list of checks and prints each result. */

import { createRecorder, type OnceReport } from './checks/check.ts';
import { clientCheck } from './checks/client.ts';
import { conservationCheck } from './checks/conservation.ts';
import { attestedCheck, refundCheck } from './checks/cross-chain.ts';
import { deferredCheck } from './checks/deferred.ts';
import { dexCheck } from './checks/dex.ts';
import { fadeCheck } from './checks/fade.ts';
import { firmTimesCheck } from './checks/firm-times.ts';
import { fundingChecks } from './checks/funding.ts';
import { historyCheck } from './checks/history.ts';
import { operatorLimitCheck } from './checks/operator-limit.ts';
import { bridgeCheck } from './checks/routes/bridge.ts';
import { issuersCheck } from './checks/routes/issuers.ts';
import { partnerCheck } from './checks/routes/partner.ts';
import { refusalChecks } from './checks/refusals.ts';
import { rosterCheck } from './checks/roster.ts';
import { compositeCheck, routerCheck } from './checks/router.ts';
import { screeningCheck } from './checks/screening.ts';
import { splitCheck } from './checks/split.ts';
import { streamCheck } from './checks/streams.ts';
import { verifiedCheck } from './checks/verified.ts';
import { workspaceCheck } from './checks/workspaces.ts';
import type { DemoWorld } from './world.ts';

const AT_ONCE = 4;

export async function runOnce(
  world: DemoWorld,
  show: (line: string) => void,
  startedAtMs: number,
): Promise<OnceReport> {
  const { run, report } = createRecorder(world, show, startedAtMs);
  // The split needs all three LPs, so it runs first. Checks with long waits (refund, restart, withdrawal
  // delay) run beside the rest.
  await run(splitCheck);
  const slow = [run(refundCheck), run(rosterCheck), run(deferredCheck), run(partnerCheck), run(bridgeCheck)];
  const queue = [
    ...fundingChecks,
    dexCheck,
    issuersCheck,
    compositeCheck,
    routerCheck,
    firmTimesCheck,
    attestedCheck,
    screeningCheck,
    streamCheck,
    verifiedCheck,
    historyCheck,
    workspaceCheck,
    operatorLimitCheck,
    clientCheck,
    ...refusalChecks,
  ];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let check = queue.shift(); check; check = queue.shift()) await run(check);
    }),
  );
  await Promise.all(slow);
  // After all others, because its LP stops quoting the token that left its account.
  await run(fadeCheck);
  await run(conservationCheck);
  return report();
}
