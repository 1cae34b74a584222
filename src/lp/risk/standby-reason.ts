/** The reasons for which the LP, a chain or a pair is not quoted, and what others may read of them. */

import { formatTokens } from '../../domain/amount.ts';
import type { Control } from '../../domain/decline.ts';
import type { BucketView } from '../../inventory/ledger.ts';

export const STANDBY_KINDS = [
  'killed',
  'risk',
  'paused',
  'stopping',
  'starting',
  'lost',
  'quarantine',
  'lag',
  'reorg',
  'clock',
  'gas',
  'sender',
  'signer',
  'operator',
  'drift',
  'price',
  'store',
  'shared',
  'proof',
  'inventory',
  'bond',
  'paused_part',
] as const;
type StandbyKind = (typeof STANDBY_KINDS)[number];

/** `note` is for the operator. Takers and venues see only `PUBLIC_NOTES`. */
export interface StandbyReason {
  kind: StandbyKind;
  note: string;
  control?: Control;
}

/** The notes that the roster may show. They reveal no balance, limit, source or remark of ours. */
export const PUBLIC_NOTES: Readonly<Record<StandbyKind, string>> = {
  killed: 'stopped until its operator resumes it',
  risk: 'a risk control is active',
  paused: 'by its operator',
  stopping: 'shuts down',
  starting: 'not ready yet',
  lost: 'replaced by another process',
  quarantine: 'waits for quotes of before a restart to expire',
  lag: 'a chain is late',
  reorg: 'a chain was reorganised',
  clock: 'clocks differ',
  gas: 'cannot send transactions on a chain',
  sender: 'cannot send transactions on a chain',
  signer: 'cannot sign at the moment',
  operator: 'its signer is not allowed on a chain',
  drift: 'checks its balances',
  price: 'no reliable price',
  store: 'storage is not available',
  shared: 'storage is not available',
  proof: 'cannot prove fills on a chain',
  inventory: 'no inventory',
  bond: 'its bond is less than a venue demands',
  paused_part: 'some pairs or chains are paused',
};

/** Says whether any request for this pair could be answered now, and if not, why. */
export interface PairStatus {
  pair: string;
  quoting: boolean;
  reason: string | null;
}

const CONTROL_OF: Partial<Record<StandbyKind, Control>> = {
  killed: 'kill_switch',
  paused: 'kill_switch',
  lag: 'chain_lag',
  price: 'stale_mid',
  drift: 'drift',
};

/** The reason with the control that its kind implies. */
export function withControl(reason: StandbyReason): StandbyReason {
  const control = reason.control ?? CONTROL_OF[reason.kind];
  return control === undefined ? reason : { ...reason, control };
}

/** The note about a token whose ledger and chain disagree. `drift`: what the chain has more. */
export const driftText = (slug: string, { asset, decimals }: BucketView, drift: bigint): string =>
  `${asset} on ${slug}: ledger and chain disagree, the chain has ${formatTokens(drift < 0n ? -drift : drift, { decimals, symbol: asset })} ${drift < 0n ? 'less' : 'more'}`;
