/** Attesters' signatures, as proofs of fills. */

import { createAttestationClient } from '../../adapters/attestations/client.ts';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { Attestations, AttesterPresence } from '../../ports/attestations.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';

const PROBE_MS = 3_000;

/**
 * Asks regularly who answers, for the metrics of a process that needs no presence itself. Returns a function
 * that ends it.
 */
export function watchAttesters(presence: AttesterPresence, chains: readonly ChainPort[]): () => void {
  let stopped = false;
  let cancel = () => {};
  async function probe(): Promise<void> {
    await Promise.all(chains.map(({ chain: { id, oracle } }) => presence.probe({ chainId: id, oracle })));
    if (!stopped) cancel = systemClock.after(PROBE_MS, probe);
  }
  void probe();
  return () => {
    stopped = true;
    cancel();
  };
}

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
