/** The LP's books. Only the process that owns the LP writes. */

import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { Side } from '../../inventory/event.ts';

/** Positive is a debit. `lp/accounting/ledger/entries.ts` describes the accounts. */
export interface Posting {
  account: string;
  chainId: number;
  /** Stored in lower case. */
  token: Address | 'native';
  amount: bigint;
}

/** One fact in the books. Its postings sum to zero per token. Never changed. */
export interface JournalEntry {
  /** The same fact twice is one entry. */
  id: string;
  kind:
    | 'opening'
    | 'fill'
    | 'sent'
    | 'reversal'
    | 'credit'
    | 'refund'
    | 'loss'
    | 'owner'
    | 'gas'
    | 'transfer'
    | 'departed'
    | 'arrived'
    | 'returned'
    | 'adjustment';
  atMs: number;
  orderId: Bytes32 | null;
  chainId: number;
  block: bigint | null;
  txHash: Hex | null;
  postings: readonly Posting[];
}

/** The mid some seconds after acceptance. */
export interface Mark {
  /** side * (mid at acceptance - later mid): positive when the market moved against us. */
  bps: number | null;
  /** Unix ms of the measurement; late after a restart. */
  atMs: number;
  late: boolean;
}

export type TradeStage = 'accepted' | 'filled' | 'finalised' | 'failed' | 'lost';

/** Values in millionths of USD at the mids of acceptance. */
export interface TradeRecord {
  orderId: Bytes32;
  quoteId: Bytes32 | null;
  acceptedAtMs: number;
  taker: Address;
  pair: string;
  corridor: string;
  side: Side;
  stage: TradeStage;
  /** Its fill is final and counts in positions and profit. */
  counted: boolean;
  /** Quote tokens per base token. null: no price, and the values below are 0. */
  mid: number | null;
  /** The mid was taken after acceptance. */
  late: boolean;
  /** Paid by us, input before fees, fees of the escrow, earned by us. */
  paidMicros: bigint;
  inputMicros: bigint;
  feesMicros: bigint;
  earnedMicros: bigint;
  /** In base units, as `earned` is. */
  paid: bigint;
  earned: bigint;
  gasMicros: bigint;
  /** The profit by average cost, in millionths of USD; set when the fill is final. */
  realisedMicros: bigint;
  /** The mark-outs by seconds after acceptance. */
  marks: Record<string, Mark>;
}

/** An asset over all chains, at average cost. Quantities in 1e-18 of a whole token. */
export interface PositionRow {
  asset: string;
  quantity: bigint;
  costMicros: bigint;
  realisedMicros: bigint;
  /** Net deposits of the owner, at the mids at the time. */
  ownerMicros: bigint;
  /** Arrived without a price; its cost is zero until there is one. */
  unpriced: bigint;
  /** Value less cost when it was last valued; null: by no release that writes it down. */
  unrealisedMicros: bigint | null;
}

/** A transfer between chains as the books have it: what it moved, and what it cost. */
export interface BookedTransfer {
  id: string;
  asset: string;
  /** Slugs. */
  fromChain: string;
  toChain: string;
  bridge: string;
  /** `begun`: only gas so far. */
  stage: 'begun' | 'departed' | 'arrived' | 'returned';
  /** Base units of the source, and of the chain where it ended; 0 until then. */
  departed: bigint;
  ended: bigint;
  /** Unix ms when booked. */
  departedAtMs: number | null;
  endedAtMs: number | null;
  /** Millionths of USD when booked: what left, what the bridge kept, gas with the bridge's native fee. */
  movedMicros: bigint;
  feeMicros: bigint;
  gasMicros: bigint;
}

export interface TakerMarks {
  key: string;
  means: readonly number[];
  trades: readonly number[];
  seenMs: number;
}

export interface StoredExplanation {
  orderId: Bytes32;
  quoteId: string;
  rfqId: string;
  atMs: number;
  explanation: object;
}

/** A final block of a chain. */
export interface JournalCursor {
  chainId: number;
  block: bigint;
  hash: Hex;
  /** The running operator's. Only programs without the migration `lp-10-gas-per-operator` use it. */
  nonce: number;
}

/** An operator's first nonce on a chain that is not booked. Kept when the key is rotated out. */
export interface GasCursor {
  chainId: number;
  operator: Address;
  nonce: number;
  /** Its opening balance is of this block. */
  block: bigint;
}

export interface Balance extends Omit<Posting, 'amount'> {
  amount: bigint;
}

interface JournalOpening {
  cursors: readonly JournalCursor[];
  gas: readonly GasCursor[];
  /** The block of each chain at which its books were opened. */
  began: readonly { chainId: number; block: bigint }[];
  balances: readonly Balance[];
  positions: readonly PositionRow[];
  /** Fills neither final nor reversed. */
  pending: readonly JournalEntry[];
  /** Unfinished or with missing mark-outs, newest last, limited in number. */
  trades: readonly TradeRecord[];
  takers: readonly TakerMarks[];
}

export interface JournalBatch {
  entries: readonly JournalEntry[];
  cursors: readonly JournalCursor[];
  gas: readonly GasCursor[];
  /** Replaced by orderId. */
  trades: readonly TradeRecord[];
  positions: readonly PositionRow[];
  /** Replaced by id. */
  transfers: readonly BookedTransfer[];
  takers: readonly TakerMarks[];
  explanations: readonly StoredExplanation[];
}

/**
 * Sums what was booked in a window: final fills, and the gas of other orders. Positive mark-outs are profit.
 */
export interface ProfitRow {
  key: string;
  trades: number;
  volumeMicros: bigint;
  /** Input less output at mid, before fees. */
  grossMicros: bigint;
  feesMicros: bigint;
  gasMicros: bigint;
  lostMicros: bigint;
  realisedMicros: bigint;
  /**
   * The mark-outs by seconds after acceptance. A mark that was not taken has no entry: it is not due, or
   * there was no price.
   */
  markMicros: Record<string, bigint>;
  late: number;
  /** The trade of the row; only with `by: 'trade'`. */
  trade?: ProfitTrade;
}

/** A trade, and what its entries moved: `trading:<pair>` and fees. */
export interface ProfitTrade extends Pick<
  TradeRecord,
  'acceptedAtMs' | 'taker' | 'pair' | 'corridor' | 'side' | 'stage'
> {
  moved: readonly Posting[];
}

/** Entries in a window, of one counterparty or of all. */
export interface Statement extends ProfitWindow {
  /** A taker's address, 'owner', 'bridge' (transfers) or 'network' (gas of no order); null: everybody. */
  counterparty: string | null;
}

export interface StatementEntry extends JournalEntry {
  n: number;
  counterparty: string;
}

export interface ProfitWindow {
  /** Unix ms: from the first on, before the second; null: until now. */
  sinceMs: number;
  untilMs: number | null;
}

/** Transfers between chains in a window, in millionths of USD. */
export interface TransferCosts {
  /** That ended in the window, and what they moved. */
  transfers: number;
  movedMicros: bigint;
  /** Sum over them, from leaving one escrow until entering another. */
  underWayMs: number;
  feesMicros: bigint;
  gasMicros: bigint;
}

export interface StoredProfit {
  rows: ProfitRow[];
  /** Sums all trades of the window, whatever the limit. */
  all: ProfitRow;
  transfers: TransferCosts;
  /** The changes of each position's figures, in millionths of USD. */
  assets: { asset: string; realised: bigint; unrealised: bigint; owner: bigint }[];
  /** Unix ms since when the books know the time of every figure; null: from their opening on. */
  timedFromMs: number | null;
}

export type ProfitKey = 'pair' | 'corridor' | 'taker' | 'trade';

/** All throw `UpstreamError` when the database does not answer. */
export interface JournalStore {
  /** `epoch` comes from `LpStore.open`; once there is a newer one, this store writes nothing. */
  open(epoch: number): Promise<JournalOpening>;
  /** Returns up to which block the books have read each chain. */
  cursors(): Promise<JournalCursor[]>;
  /** Stores explanations for a replica that does not keep the books. Existing explanations stay. */
  explain(rows: readonly StoredExplanation[]): Promise<void>;
  takersSince(sinceMs: number): Promise<TakerMarks[]>;
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** false, and nothing written, once another process has taken over. Throws when an entry exists already. */
  write(batch: JournalBatch): Promise<boolean>;
  trade(orderId: Bytes32): Promise<TradeRecord | undefined>;
  transfers(ids: readonly string[]): Promise<BookedTransfer[]>;
  /** Returns transfers with an amount in the window, newest first. */
  transfersIn(window: ProfitWindow, limit: number): Promise<BookedTransfer[]>;
  /** Returns trades newest first, otherwise the largest volume first. */
  profit(by: ProfitKey, window: ProfitWindow, limit: number): Promise<StoredProfit>;
  entries(orderId: Bytes32): Promise<JournalEntry[]>;
  /**
   * Balances before and at the end of the window, over the entries up to `last`: opening plus the postings of
   * the window's entries is closing.
   */
  statement(of: Statement): Promise<{ last: number; opening: Balance[]; closing: Balance[] }>;
  /** Returns entries in order, after entry `after` and up to `last`. */
  statementEntries(
    of: Statement,
    page: { after: number; last: number; limit: number },
  ): Promise<StatementEntry[]>;
  explanations(id: string): Promise<StoredExplanation[]>;
  /** Counts unbalanced postings, and balances that differ from their postings. */
  audit(): Promise<{ unbalanced: number; postings: number; astray: number }>;
}
