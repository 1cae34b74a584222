/** One connection of a solver: what the venue knows about it, and how it speaks to it and ends it. */

import type { BondDemand } from '../../domain/bond.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Counter } from '../../ports/metrics.ts';
import type { Socket } from '../../ports/http.ts';
import type { FirmnessStore } from '../../ports/stores/firmness.ts';
import type { ApiKey, OrderStore } from '../../ports/stores/store.ts';
import type { FromVenue } from '../../protocol/link/link.ts';
import type { VenueDeps } from '../deps.ts';
import type { VenueOptions } from '../options.ts';
import type { FanOut } from '../quoting/fan-out.ts';
import type { SolverLevels } from '../solvers/levels.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { Buckets } from '../access/token-buckets.ts';
import type { Roster } from '../solvers/roster.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';

export type LinkDeps = Pick<
  VenueDeps,
  'chains' | 'queue' | 'recovery' | 'clock' | 'random' | 'log' | 'metrics'
> & {
  store: OrderStore & Pick<FirmnessStore, 'putSolverAccounts'>;
  roster: Roster;
  fanOut: FanOut;
  levels: SolverLevels;
  liquidity: Liquidity;
  bondDemands: readonly BondDemand[];
};

export type LinkOptions = Pick<VenueOptions, 'venueId' | 'shadows'>;

/** The state that all connections share. */
export interface LinkDoor {
  /** true when solvers without an account may connect. */
  readonly shadows: boolean;
  readonly frames: Counter;
  readonly floods: Counter;
  readonly hellos: Buckets;
}

/** The state of one connection. */
export interface LinkConnection {
  readonly socket: Socket;
  readonly key: ApiKey;
  /** The solver signs it in its hello. */
  readonly nonce: Bytes32;
  readonly solverId: string;
  /** undefined until the solver has proven its identity. */
  session: SolverSession | undefined;
  /** A hello has come. */
  greeting: boolean;
  closed: boolean;
  /** Heartbeats in a row without a frame or pong since. */
  missed: number;
  /** A frame that cannot be read has been logged. */
  warned: boolean;
  /** The limit of each kind of frame. */
  readonly limits: Map<string, () => boolean>;
  /** Answers that the solver may still send. */
  spareAnswers: number;
  readonly mayHint: () => boolean;
  /** A resync was answered less than `RESYNC_EVERY_MS` ago, or is in progress. */
  resyncing: boolean;
  /** The solver asked again meanwhile. */
  resyncAgain: boolean;
  cancelResync: () => void;
  /** The solver's accounts by chain; the venue follows their balances. */
  readonly accounts: Map<number, { account: Address; operator: Address }>;
  cancelTimer: () => void;
  /** The chains on which the key trades. */
  readonly ours: readonly ChainPort[];
}

/** A solver that does not read is disconnected. */
const MAX_BUFFERED_BYTES = 1024 * 1024;

export const say = (connection: LinkConnection, message: FromVenue): void =>
  connection.socket.send(JSON.stringify(message));

/** Disconnects a solver that does not read. */
export function push(connection: LinkConnection, text: string | Buffer): void {
  if (connection.socket.bufferedBytes() > MAX_BUFFERED_BYTES) connection.socket.terminate();
  else connection.socket.send(text);
}

/** Tells the solver why, and closes the connection. */
export function refuse(deps: LinkDeps, connection: LinkConnection, code: string, message: string): void {
  if (connection.closed) return;
  connection.closed = true;
  deps.log.warn({ solver: connection.solverId, code }, 'solver refused');
  say(connection, { type: 'refused', code, message });
  connection.socket.close(1008, code);
}

/** Follows the balances of the solver's accounts no longer. */
export function unfollow(deps: LinkDeps, connection: LinkConnection): void {
  for (const [chainId, { account }] of connection.accounts) deps.liquidity.unwatch(chainId, account);
  connection.accounts.clear();
}
