/** What the steps of a session with one venue use and remember. */

import type { BondDemand } from '../../../domain/bond.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Link } from '../../../ports/link.ts';
import type { Log } from '../../../ports/log.ts';
import type { Signer } from '../../../ports/signer.ts';
import type { Tracer } from '../../../ports/tracer.ts';
import type { FromSolver, LinkMessage } from '../../../protocol/link/link.ts';
import type { Tokens } from '../../../risk/rate.ts';
import type { LpConfig } from '../../config/config.ts';
import type { LpMetrics } from '../../metrics.ts';
import type { LpChain } from '../../routes/route.ts';
import type { Awards } from '../../settlement/awards.ts';
import type { QuotingSnapshot } from '../quoting-snapshot.ts';

export interface VenueSessionDeps {
  link: Link;
  clock: Clock;
  log: Log;
  tracer?: Tracer | undefined;
  metrics: LpMetrics;
  /** Absent in shadow mode. */
  signer: Signer | undefined;
  quoting(): QuotingSnapshot;
  awards: Awards;
  chains: ReadonlyMap<number, LpChain>;
  status(): { status: 'active' | 'standby'; note: string | null };
  advanceAwards(): void;
  welcomed(minBond: readonly BondDemand[]): void;
  replica?: string | undefined;
  /** In shadow mode, takes in that a request was traded at another solver's quote. */
  outcome(told: LinkMessage<'outcome'>): void;
  tradedElsewhere(quoteIds: readonly Bytes32[]): void;
  /** true when other venues are served too. */
  shares?: boolean;
}

/** What the steps of a session use. Each line of its `log` names the venue. */
export interface SessionDeps extends VenueSessionDeps {
  solver: LpConfig['solver'];
}

export interface SessionState {
  /** The venue has accepted our proofs on this connection. */
  welcome: boolean;
  /** The venue has sent its challenge on this connection. */
  challenged: boolean;
  /** The frames that the venue may still send without asking for a quote. */
  notices: Tokens;
  /** The monotonic time at which the last frame was handled, in milliseconds. */
  lastFrameMs: number;
  /** The monotonic time at which a rejection was last logged, in milliseconds. */
  rejectionMs: number;
  /** The details of the frames that were warned of on this connection. */
  readonly warned: Set<string>;
  /** Requests and slices that are being answered. */
  inFlight: number;
  stopped: boolean;
  cancelHeartbeat: () => void;
}

/** Links with one configured venue id are replicas of one venue: they share its budget and its takers. */
export const venueOf = ({ venueId, name }: Pick<Link, 'venueId' | 'name'>): string => venueId ?? name;

/** false while disconnected. */
export const sendToVenue = ({ link }: Pick<VenueSessionDeps, 'link'>, message: FromSolver): boolean =>
  link.send(JSON.stringify(message));
