/**
 * The LP's books on disk: entries that balance, trades with what they earned, positions, what takers cost,
 * and why each accepted quote was priced as it was. A batch is written whole or not at all, and only by the
 * process that owns the LP.
 */

import type { Address, Bytes32, Hex } from '../../domain/hex.ts';
import type { Side } from '../../inventory/event.ts';

/** One line of an entry. The accounts are described in `lp/accounting/ledger.ts`; positive is a debit. */
export interface Posting {
  account: string;
  chainId: number;
  /** The commodity: a token in lower case, or the chain's own currency. */
  token: Address | 'native';
  amount: bigint;
}

/** One fact in the books. Its postings sum to zero for every token. Never changed, never deleted. */
export interface JournalEntry {
  /** Names the fact once and for all: the same fact twice is one entry. */
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
    | 'adjustment';
  atMs: number;
  orderId: Bytes32 | null;
  chainId: number;
  block: bigint | null;
  txHash: Hex | null;
  postings: readonly Posting[];
}

/** How the mid stood some seconds after acceptance. */
export interface Mark {
  /**
   * side * (mid at acceptance - mid then), in bps: positive when it moved against us. null: there was no mid.
   */
  bps: number | null;
  /** When it was really looked at; later than due after a restart. */
  atMs: number;
  late: boolean;
}

export type TradeStage = 'accepted' | 'filled' | 'finalised' | 'failed' | 'lost';

/** One accepted quote and what became of it. Values are in millionths of USD, at the mids of acceptance. */
export interface TradeRecord {
  orderId: Bytes32;
  quoteId: Bytes32 | null;
  acceptedAtMs: number;
  taker: Address;
  pair: string;
  corridor: string;
  side: Side;
  stage: TradeStage;
  /** Its fill is at depth: from then on it counts in positions and profit. */
  counted: boolean;
  /** Quote tokens for one base token at acceptance. null: there was no price, and the values below are 0. */
  mid: number | null;
  /** The mid is not of the acceptance itself: the LP was down or without a price then. */
  late: boolean;
  /**
   * What left us, and what the input was worth before fees, what the escrow kept of it, what was left for us.
   */
  paidMicros: bigint;
  inputMicros: bigint;
  feesMicros: bigint;
  earnedMicros: bigint;
  /** The same in base units. */
  paid: bigint;
  earned: bigint;
  gasMicros: bigint;
  /** By average cost, on the asset that left; known when the fill is at depth. */
  realisedMicros: bigint;
  /** By seconds after acceptance. */
  marks: Record<string, Mark>;
}

/** An asset over all chains, at average cost. Quantity in 1e-18 of a whole token. */
export interface PositionRow {
  asset: string;
  quantity: bigint;
  costMicros: bigint;
  realisedMicros: bigint;
  /** What came in from and went out to the owner, at the mids of those moments. */
  ownerMicros: bigint;
  /** Part of it came at a moment without a price and stands in the cost at nothing until there is one. */
  unpriced: bigint;
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

/**
 * How far the books have read: a final block of a chain, and the operator's first nonce whose transaction is
 * not in them.
 */
export interface JournalCursor {
  chainId: number;
  block: bigint;
  hash: Hex;
  nonce: number;
}

export interface Balance extends Omit<Posting, 'amount'> {
  amount: bigint;
}

/** What the last owner left. */
export interface JournalOpening {
  cursors: readonly JournalCursor[];
  balances: readonly Balance[];
  positions: readonly PositionRow[];
  /** Fills that were seen and are neither at depth nor reversed. */
  pending: readonly JournalEntry[];
  /** Trades that are not over, or whose marks are not all there: newest last, a bounded number. */
  trades: readonly TradeRecord[];
  takers: readonly TakerMarks[];
}

export interface JournalBatch {
  entries: readonly JournalEntry[];
  cursors: readonly JournalCursor[];
  /** Inserted or replaced by orderId. */
  trades: readonly TradeRecord[];
  positions: readonly PositionRow[];
  takers: readonly TakerMarks[];
  explanations: readonly StoredExplanation[];
}

/**
 * Sums over trades whose fill is at depth (and the gas of those that came to nothing), in millionths of USD;
 * marks are what the mid did to us, positive is good.
 */
export interface ProfitRow {
  key: string;
  trades: number;
  volumeMicros: bigint;
  /** Input at mid less output at mid, before fees. */
  grossMicros: bigint;
  feesMicros: bigint;
  gasMicros: bigint;
  lostMicros: bigint;
  realisedMicros: bigint;
  /** By horizon in seconds. */
  markMicros: Record<string, bigint>;
  /** Trades of it whose price or marks were not taken at their time. */
  late: number;
}

export type ProfitKey = 'pair' | 'corridor' | 'taker' | 'trade';

/** All throw `UpstreamError` when the database does not answer. */
export interface JournalStore {
  /**
   * `epoch` is the one that `LpStore.open` raised: once it is raised again, nothing more is written from
   * here.
   */
  open(epoch: number): Promise<JournalOpening>;
  /** Of a replica that priced quotes and does not keep the books: what is there already stays. */
  explain(rows: readonly StoredExplanation[]): Promise<void>;
  /**
   * What whoever keeps the books has learned of takers since this time (Unix ms), by when each was learned
   * about.
   */
  takersSince(sinceMs: number): Promise<TakerMarks[]>;
  /** Which of these facts are in the books. */
  known(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * In one transaction. false, and nothing written, once another process has taken over. Throws when an entry
   * is in the books already.
   */
  write(batch: JournalBatch): Promise<boolean>;
  trade(orderId: Bytes32): Promise<TradeRecord | undefined>;
  /** Newest first for trades, largest volume first otherwise. */
  profit(by: ProfitKey, sinceMs: number, limit: number): Promise<ProfitRow[]>;
  /** Oldest first. */
  entries(orderId: Bytes32): Promise<JournalEntry[]>;
  /** Under an order, quote or rfq id. */
  explanations(id: string): Promise<StoredExplanation[]>;
  /**
   * Per token, what all postings ever written sum to: anything but zero is a broken book. And balances that
   * are not the sum of their postings.
   */
  audit(): Promise<{ unbalanced: number; postings: number; astray: number }>;
}
