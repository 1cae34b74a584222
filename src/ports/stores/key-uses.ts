/** The valid keys of a workspace, with when each was last used and who issued it. */

import type { ApiKey, KeyMode } from './store.ts';

export interface KeyInUse extends ApiKey {
  /** null: never. */
  lastUsedAtMs: number | null;
  /** `who` of the audit entry; null for keys that were stored without one. */
  issuer: string | null;
}

export interface KeyUseStore {
  /** An older time than the stored one changes nothing. */
  addKeyUses(uses: readonly { keyId: string; atMs: number }[]): Promise<void>;
  /** Oldest first. */
  keysInUse(workspaceId: string, mode: KeyMode): Promise<KeyInUse[]>;
}
