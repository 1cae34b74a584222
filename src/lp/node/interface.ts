/** Dependencies and interface of an LP node. */

import type { Money } from '../../inventory/event.ts';
import type { Advice } from '../../inventory/rebalance.ts';
import type { Attestations, AttesterPresence } from '../../ports/attestations.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, Sequencer } from '../../ports/feed.ts';
import type { Link } from '../../ports/link.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Random } from '../../ports/random.ts';
import type { SharedInventory } from '../../ports/shared-inventory.ts';
import type { Recovery, Signer } from '../../ports/signer.ts';
import type { JournalStore, ProfitWindow } from '../../ports/stores/accounting-store.ts';
import type { LpAward, LpSignal, LpStore } from '../../ports/stores/lp-store.ts';
import type { ShadowStore } from '../../ports/stores/shadow-store.ts';
import type { TransferStore } from '../../ports/stores/transfers.ts';
import type { TxStore } from '../../ports/stores/tx-store.ts';
import type { Tracer } from '../../ports/tracer.ts';
import type { Transactor } from '../../ports/transactor.ts';
import type { PricingPlugin } from '../../pricing/price-inputs.ts';
import type { Accounts } from '../accounting/accounts.ts';
import type { Position } from '../accounting/bands.ts';
import type { Receivable } from '../accounting/receivables.ts';
import type { LpConfig } from '../config/config.ts';
import type { Change, Reloaded } from '../config/reload.ts';
import type { SourceView } from '../market/source-view.ts';
import type { RecordedPage } from '../quote-log/recorded-requests.ts';
import type { PairPreview } from '../quoting/preview.ts';
import type { ShadowReport } from '../shadow/report.ts';
import type { CommitmentSigner } from '../commitment-signer.ts';
import type { SignalRequest } from '../quoting/signals.ts';
import type { CurveView } from '../quoting/win-rates.ts';
import type { SharedBucket } from '../replicas/sharing.ts';
import type { KilledBy } from '../risk/kill-switch.ts';
import type { LimitUse } from '../risk/limit-use.ts';
import type { RiskStatus } from '../risk/risk.ts';
import type { PauseScope } from '../risk/scoped-pauses.ts';
import type { PairStatus, StandbyReason } from '../risk/standby-reason.ts';

export type LpNodeDeps = LpNodeParts &
  (
    | { signer: Signer; shadow?: undefined }
    /** Shadow mode: the LP prices every request, and there is no key that could sign anything. */
    | { signer?: undefined; shadow: ShadowDeps }
  );

interface ShadowDeps {
  store: ShadowStore;
  /** The report covers at most this many requests. */
  keep: number;
}

interface LpNodeParts {
  /** One per configured chain, already started by the caller. */
  chains: readonly ChainPort[];
  /**
   * The transactors for cross-chain fills, by chain id, with the operator's key. The node starts and stops
   * them.
   */
  transactors: ReadonlyMap<number, Transactor>;
  /** One per venue. The node starts and stops them. */
  links: readonly Link[];
  /** The node starts and stops them. `reload` may bring others. */
  feeds: readonly Feed[];
  /** Uptime feeds of rollups, by chain id. The node starts and stops them. */
  sequencers?: ReadonlyMap<number, Sequencer>;
  /** The caller closes it. */
  store: LpStore;
  journal: JournalStore;
  transactions?: Pick<TxStore, 'slotsFrom' | 'signers' | 'keyOf'>;
  /** Absent: this LP has no transfers between chains. */
  transfers?: Pick<TransferStore, 'find' | 'open' | 'newest'>;
  recovery: Recovery;
  /** Signs commitments in another way than `signer` does. */
  commitments?: CommitmentSigner;
  random: Random;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Absent: no spans are recorded. */
  tracer?: Tracer | undefined;
  /** Attester signatures; without them another party has to prove our fills. */
  proofs?: Attestations;
  attesterPresence?: AttesterPresence;
  /** Absent: this LP runs alone. The caller closes it. */
  shared?: ReplicaDeps;
  killed?(by: KilledBy, note: string): void;
  plugin?: PricingPlugin | undefined;
}

/** The objects that a reloaded configuration names and its caller makes. */
export interface ReloadedSources {
  /** A feed that is running already, the same object, keeps its connection and its prices. */
  feeds: readonly Feed[];
  plugin: PricingPlugin | undefined;
}

export interface ReplicaDeps {
  inventory: SharedInventory;
  /** The name of this replica, the same after a restart. */
  replica: string;
  leadMs: number;
}

export interface LpStatus {
  /** null: this LP runs alone. `leads`: this replica sends transactions for all. */
  replica: { name: string; leads: boolean } | null;
  status: 'active' | 'standby';
  note: string | null;
  /** Nothing is signed: `active` means that it prices requests, and venues see it as standby. */
  shadow: boolean;
  reasons: readonly StandbyReason[];
  /** Says for each pair whether it can be quoted now. */
  pairs: readonly PairStatus[];
  liveQuotes: number;
  openAwards: number;
  venues: { name: string; welcome: boolean }[];
  /** The operator's own, in force now. */
  signals: readonly LpSignal[];
  chains: {
    chainId: number;
    slug: string;
    head: bigint | null;
    final: bigint;
    gasWei: bigint | null;
    /** The native currency, such as "ETH". */
    gasSymbol: string;
  }[];
  /** `detail` says why there is no price, or which sources the price lacks. */
  prices: { symbol: string; usd: number | null; detail: string | null }[];
  sources: SourceView[];
}

type Preview = { changes: readonly Change[]; pairs: PairPreview[] } | { refused: readonly string[] };

interface TransferReservations {
  /** False, and nothing changes, when that much is not free, or the LP does not follow the place. */
  take(id: string, place: Pick<Money, 'chainId' | 'token'>, amount: bigint): boolean;
  /** Reserves for a transfer that began before, even before `start`. Unlike `take`, it cannot be refused. */
  restore(id: string, place: Pick<Money, 'chainId' | 'token'>, amount: bigint): void;
  /** Ends a reservation whose money left the ledger in block `leftIn`; undefined: it stays there. */
  release(id: string, place: Pick<Money, 'chainId' | 'token'>, leftIn: bigint | undefined): void;
}

export interface LpNode {
  /** Resolves when quoting may begin. Rejects when configuration or chains do not allow it. */
  start(): Promise<void>;
  stop(): Promise<void>;
  status(): LpStatus;
  /** With several replicas, returns the last answer of the shared inventory. */
  inventory(): SharedBucket[];
  positions(): Position[];
  receivables(): Receivable[];
  rebalancing(): readonly Advice[];
  /** The amounts that transfers between chains keep back from quotes, by transfer. */
  readonly reservations: TransferReservations;
  /** `signals`: the bounds of the operator's own signals, and how many are in force. */
  limits(): { limits: LimitUse[]; signals: (LpConfig['signals'] & { active: number }) | null };
  curves(): CurveView[];
  awards(limit?: number): Promise<LpAward[]>;
  /**
   * Returns explanations, accounting ledger and profit. Throws `RequestError` before the node has started.
   */
  accounts(): Accounts;
  recorded(after?: number, limit?: number): RecordedPage;
  /** The same requests, newest first. */
  newest(before?: number, limit?: number): RecordedPage;
  /** Rejects with `RequestError` where this LP is not in shadow mode. */
  shadowReport(window: ProfitWindow): Promise<ShadowReport>;
  /** Engages the kill switch: the LP signs nothing; signed quotes stay honoured. Allowed before `start`. */
  pause(note: string): void;
  kill(by: KilledBy, note: string): void;
  /** Releases the kill switch, unless a kill file still exists, and every pause of a pair or chain. */
  resume(): void;
  /** Stops quoting one pair or chain. Throws `RequestError` for one that this LP does not have. */
  pauseScope(scope: PauseScope, note: string): void;
  /** Throws `RequestError` where nothing was paused. */
  resumeScope(scope: PauseScope): void;
  /**
   * Moves or widens the prices of a pair until it expires, from the next request on. Throws
   * `SignalRefusedError`, and `RequestError` before the LP has started; then nothing changed.
   */
  setSignal(wanted: SignalRequest): { signal: LpSignal; replaced: readonly LpSignal[] };
  /** Ends one by its id, all of a pair, or all. Throws `RequestError` where none was in force. */
  clearSignals(of: string | undefined): readonly LpSignal[];
  killFileGone(): void;
  risk(): RiskStatus;
  /**
   * Applies a configuration from the next request on, fully or not at all. Signed quotes keep their terms.
   * Waits for the first prices of new feeds. Without `sources`, feeds and plug-in stay. One at a time.
   */
  reload(next: LpConfig, sources?: ReloadedSources): Promise<Reloaded>;
  /** Tells what `reload` would do, and prices the requests of the last hour again. Changes nothing. */
  preview(next: LpConfig, sources?: ReloadedSources): Promise<Preview>;
}
