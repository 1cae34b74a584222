/** A solver on the roster, and its connections to this replica. */

import type { Entrant } from '../../auction/eligible.ts';
import type { Address } from '../../domain/hex.ts';
import type { KeyMode, RosterStatus } from '../../ports/stores/store.ts';
import type { Breaker } from './breaker.ts';

export interface SolverSession {
  readonly solverId: string;
  /** Absent when the solver has only one. */
  readonly replica?: string | undefined;
  /** It proved no account: it is shown requests and outcomes, and nothing it answers counts. */
  readonly shadow: boolean;
  /** The mode of its key: only requests and orders of this mode are sent to it. */
  readonly mode: KeyMode;
  readonly accounts: ReadonlyMap<number, { account: Address; operator: Address }>;
  readonly corridors: readonly string[];
  readonly maxInFlight: number;
  status: 'active' | 'standby';
  note: string | null;
  inFlight: number;
  readsInTime(): boolean;
  send(text: string | Buffer): void;
  /** Sends, like `send`, a frame that asks for no answer. */
  notify(text: string): void;
  end(code: number, reason: string): void;
}

export interface RosterEntry extends Entrant {
  readonly id: string;
  name: string;
  kind: 'lp' | 'solver';
  status: RosterStatus;
  corridors: ReadonlySet<string>;
  note: string | null;
  disabled: boolean;
  firstSeenAtMs: number | null;
  lastQuoteAtMs: number | null;
  /** The session to show: an active one if there is any. */
  session: SolverSession | undefined;
  sessions: readonly SolverSession[];
  /**
   * The sessions in shadow mode. They are never among `sessions`: they are no reason to ask this solver, nor
   * to wait for it.
   */
  shadows: readonly SolverSession[];
  breaker: Breaker;
  settled: number;
  faded: number;
  elsewhere: Map<string, Presence>;
}

export interface Presence {
  status: RosterStatus;
  /** The corridors; null when too long to send: then the onboarded ones are shown. */
  corridors: readonly string[] | null;
  note: string | null;
}
