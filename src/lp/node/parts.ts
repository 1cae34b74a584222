/** The parts of an LP, and what they have in common. `wiring.ts` makes them. */

import type { Chain } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { LeaseRule } from '../../inventory/lease.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Accounts } from '../accounting/accounts.ts';
import type { Rebalancing } from '../accounting/rebalancing.ts';
import type { Receivables } from '../accounting/receivables.ts';
import type { Bonds } from '../chain/bonds.ts';
import type { Follower } from '../chain/follow.ts';
import type { Reconciler } from '../chain/reconcile.ts';
import type { LpConfig } from '../config/config.ts';
import type { Market } from '../market/market.ts';
import type { QuoteEvents } from '../quote-log/quote-events.ts';
import type { RecordedRequests } from '../quote-log/recorded-requests.ts';
import type { LevelsPublisher } from '../quoting/levels.ts';
import type { QuotingSnapshot, QuotingSnapshotDeps } from '../quoting/quoting-snapshot.ts';
import type { VenueSession } from '../quoting/session/venue-session.ts';
import type { Signals } from '../quoting/signals.ts';
import type { WinRates } from '../quoting/win-rates.ts';
import type { Lead } from '../replicas/leadership.ts';
import type { Leases } from '../replicas/lease.ts';
import type { Replica } from '../replicas/replica.ts';
import type { Sharing } from '../replicas/sharing.ts';
import type { Risk } from '../risk/risk.ts';
import type { Standby } from '../risk/standby.ts';
import type { VenueBudgets } from '../risk/venue-budgets.ts';
import type { ChainState } from '../routes/chain-state.ts';
import type { Awards, OpenAward } from '../settlement/awards.ts';
import type { Proving } from '../settlement/proving.ts';
import type { ShadowLog } from '../shadow/shadow-log.ts';
import type { LpNodeDeps } from './interface.ts';
import type { OpenedLedger } from './opened-ledger.ts';
import type { NodeBase } from './setup.ts';
import type { Values } from './values.ts';

/** The dependencies that most parts have. */
export interface CommonDeps extends Pick<LpNodeDeps, 'clock' | 'log' | 'store' | 'metrics'> {
  tracer: LpNodeDeps['tracer'];
  ledger: Ledger;
  market(): Market;
  chains: ReadonlyMap<number, Chain>;
  /** Filled when the chains are followed. */
  followers: Map<number, Follower>;
  reconcilers: Map<number, Reconciler>;
  /** The time of the last block whose events are in the ledger; 0 before the first. */
  time(chainId: number): UnixSeconds;
}

/** What the parts are made of, in the order of the start. */
export interface LpCore {
  deps: LpNodeDeps;
  base: NodeBase;
  opened: OpenedLedger;
  /** The configuration of the start. */
  config: LpConfig;
  /** The key that signs; the account itself in shadow mode. */
  operator: Address;
  common: CommonDeps;
  ports: ReadonlyMap<number, ChainPort>;
  states: ReadonlyMap<number, ChainState>;
  /** What a reload replaces. */
  current: { snapshot?: QuotingSnapshot };
  /** The snapshot in force. Call it only after the wiring. */
  quoting(): QuotingSnapshot;
  values: Values;
}

export interface LpParts
  extends
    CommonDeps,
    Pick<LpCore, 'deps' | 'base' | 'opened' | 'operator' | 'states' | 'current' | 'quoting'>,
    Pick<Values, 'worthUsd'> {
  /** The last final block that the ledger has; 0 before the first. */
  finalBlock(chainId: number): bigint;
  pairOf(award: Pick<OpenAward, 'slice'>): string;
  quotingDeps: QuotingSnapshotDeps;
  /** A reload changes them. */
  rules: Map<number, LeaseRule>;
  quoteEvents: QuoteEvents;
  risk: Risk;
  leases: Leases;
  lead: Lead;
  awards: Awards;
  accounts: Accounts;
  recordedRequests: RecordedRequests;
  winRates: WinRates;
  /** undefined: this LP runs alone. */
  sharing: Sharing | undefined;
  replica: Replica | undefined;
  /** undefined: another party proves our fills. */
  proving: Proving | undefined;
  bonds: Bonds;
  venues: VenueBudgets;
  standby: Standby;
  levels: LevelsPublisher;
  sessions: readonly VenueSession[];
  receivables: Receivables;
  rebalancing: Rebalancing;
  signals: Signals;
  /** In shadow mode only. */
  shadowLog: ShadowLog | undefined;
  /** Runs the awards on the leading replica; the others only store what they received. */
  advance(): Promise<void>;
  /** Evaluates the reasons for standby, and tells every venue. */
  announceStatus(): void;
}
