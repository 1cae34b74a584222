/** The database lease on a signer: only the process that holds it reserves nonces and sends. */

import { UpstreamError } from '../../../domain/errors.ts';
import type { TxSigner } from '../../../ports/stores/tx-store.ts';
import type { LaneDeps, LaneState } from './lane-state.ts';

export const holdsLease = ({ clock }: LaneDeps, { lease }: LaneState): boolean =>
  lease !== undefined && clock.monotonicMs() < lease.untilMs;

/** The lease, or an error while this process does not hold it. */
export function requireLease(deps: LaneDeps, state: LaneState): TxSigner {
  if (state.lease && holdsLease(deps, state)) return state.lease;
  throw new UpstreamError('Another process holds this signer. The transaction will be tried again.', {
    code: 'signer_not_held',
  });
}

export async function takeLease(deps: LaneDeps, state: LaneState): Promise<void> {
  const { chain, store, signer, clock, settings } = deps;
  const chainId = chain.chain.id;
  const startedMs = clock.monotonicMs();
  const fence = await store.leaseSigner(chainId, signer.address, settings.owner, settings.leaseMs);
  if (fence === undefined) return;
  state.lease = { chainId, signer: signer.address, fence, untilMs: startedMs + settings.leaseMs };
  state.reload = true;
}

/** Drops the lease after the store refused its fence, and returns the error to throw. */
export function lostLease(state: LaneState): UpstreamError {
  state.lease = undefined;
  return new UpstreamError('Another process took over this signer; nothing was sent.', {
    code: 'signer_not_held',
  });
}
