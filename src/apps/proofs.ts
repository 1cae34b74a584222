/** Attesters' signatures, as proofs of fills. */

import { createAttestationClient } from '../adapters/attestations/client.ts';
import { createRecovery } from '../adapters/secp256k1/recovery.ts';
import { systemClock } from '../adapters/system/clock.ts';
import type { Attestations, AttesterPresence } from '../ports/attestations.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';

export function createProofs(
  { urls, timeoutMs }: { urls: readonly string[]; timeoutMs: number },
  { chains, log, metrics }: { chains: readonly ChainPort[]; log: Log; metrics: Metrics },
): Attestations & AttesterPresence {
  const byId = new Map(chains.map((chain) => [chain.chain.id, chain]));
  return createAttestationClient(
    {
      chains: byId,
      recovery: createRecovery(),
      clock: systemClock,
      log: log.child({ part: 'attestations' }),
      metrics,
    },
    { urls, timeoutMs },
  );
}
