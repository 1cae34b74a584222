/**
 * Keeps count beside everything else: explanations, books, positions, mark-outs. It reads the chains' final blocks for
 * itself, so the books check the ledger instead of repeating it; what it holds in memory is the store's content, and after
 * any failure it is read again. Nothing here is on the way of a quote.
 */

import { tokenOf, type TokenInfo } from '../domain/chain.ts';
import { assetId } from '../domain/asset.ts';
import { corridorOf } from '../domain/corridor.ts';
import { isDecline } from '../domain/decline.ts';
import { min } from '../domain/amount.ts';
import type { Address, Bytes32 } from '../domain/hex.ts';
import { addressToBytes32, ZERO_BYTES32 } from '../domain/hex.ts';
import type { StandardOrder } from '../domain/order.ts';
import type { Money } from '../inventory/event.ts';
import type { Ledger } from '../inventory/ledger.ts';
import type { ChainPort, EscrowEvent } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { JournalBatch, JournalCursor, JournalEntry, JournalStore, Mark, PositionRow, ProfitKey, ProfitRow, StoredExplanation, TradeRecord, TradeStage } from '../ports/journal-store.ts';
import type { Log } from '../ports/log.ts';
import type { ChainCursor, LpStore } from '../ports/lp-store.ts';
import type { TxStore } from '../ports/store.ts';
import type { Rational } from '../pricing/rational.ts';
import type { OpenAward } from './award.ts';
import { createExplainer, explainQuote, type Explanation } from './explain.ts';
import { createJournal, type Exchange, idOf, type Journal, type Place } from './journal.ts';
import type { Market } from './market.ts';
import { createMarkouts } from './markout.ts';
import type { MomentListener, QuoteRecord, Seen } from './moments.ts';
import { ownSlice, type OwnSlice } from './order.ts';
import { attoOf, emptyPosition, microsOf, moved, owned, type PositionView, priced, viewOf } from './pnl.ts';
import type { Routes } from './route.ts';
import { HORIZONS, type Horizon, type Takers } from './takers.ts';

export interface AccountsDeps {
  store: JournalStore;
  /** Where awards are remembered when memory has let go of them. */
  awards: Pick<LpStore, 'award'>;
  /** Those that memory has. */
  open(): readonly OpenAward[];
  chains: ReadonlyMap<number, ChainPort>;
  /** The last final block whose events are in the ledger. */
  final(chainId: number): ChainCursor | undefined;
  /** Of a chain's native currency, in USD. */
  native(chainId: number): Rational | undefined;
  usd(asset: string): Rational | undefined;
  market: Pick<Market, 'pair'>;
  routes(): Routes;
  ledger: Pick<Ledger, 'bucket' | 'nearest' | 'live'>;
  /** The operator's transactions; without them gas is not in the books. */
  transactions: Pick<TxStore, 'liveSlots'> | undefined;
  takers: Takers;
  clock: Clock;
  log: Log;
}

export interface AccountsOptions {
  account: Address;
  operator: Address;
  /** Every token whose balance is kept. */
  tokens: readonly { chainId: number; token: Address }[];
  maxBlocks: number;
  /** How often the books are compared with the chains. */
  reconcileMs: number;
  explain: { keep: number };
  journal: { everyMs: number };
}

/** One token of one chain: three opinions that have to be one. */
export interface Reconciled {
  chain: string;
  token: string;
  address: string;
  block: bigint;
  journal: bigint;
  chainSays: bigint | null;
  /** null: the ledger is at another block at the moment. */
  ledger: bigint | null;
  /** chainSays - journal. */
  difference: bigint | null;
}

export interface Totals {
  spread: bigint;
  fees: bigint;
  gas: bigint;
  lost: bigint;
  realised: bigint;
  unrealised: bigint;
  /** spread + realised + unrealised - gas - lost. */
  total: bigint;
  markout_1s: bigint;
  markout_10s: bigint;
  markout_60s: bigint;
}

export interface Profit {
  sinceMs: number;
  by: ProfitKey;
  rows: ProfitRow[];
  /** Of the rows' window; realised and unrealised of positions are since the books were opened. */
  totals: Totals;
  positions: PositionView[];
}

export interface Accounts {
  readonly listener: MomentListener;
  /** Takes up the books where the last owner left them, and keeps them from now on. */
  start(epoch: number): void;
  /** After the last block was taken in. What cannot be written is found again at the next start. */
  stop(): Promise<void>;
  /** Newest first; empty: nobody knows. */
  explain(id: string): Promise<Explanation[]>;
  profit(query: { by: ProfitKey; sinceMs: number; limit: number }): Promise<Profit>;
  reconcile(): Promise<Reconciled[]>;
  /** The last comparison. */
  reconciled(): readonly Reconciled[];
  entries(orderId: Bytes32): Promise<JournalEntry[]>;
  balances(): readonly { account: string; chain: string; token: string; amount: bigint }[];
  /** Since the books were opened; undefined until they are. */
  totals(): Totals | undefined;
  positions(): PositionView[];
  /** What waits to be written, and how far the books are behind. */
  lag(): { waiting: number; chains: { chain: string; blocks: number }[] };
}

type Note =
  | { kind: 'accepted'; trade: TradeRecord; record: QuoteRecord | undefined }
  | { kind: 'filled'; exchange: Exchange; place: Place }
  | { kind: 'unfilled'; orderId: Bytes32; was: Pick<Seen, 'blockHash' | 'txHash'>; atMs: number }
  | { kind: 'failed'; orderId: Bytes32 }
  | { kind: 'mark'; orderId: Bytes32; horizon: Horizon; mark: Mark };

/** What one chain's next blocks say, read before anything is folded. */
interface Reading {
  cursor: JournalCursor;
  facts: ({ id: string } & (
    | { kind: 'sent' | 'credited' | 'refunded'; exchange: Exchange; place: Place; order: StandardOrder | undefined }
    | { kind: 'owner'; money: Money; place: Place; logIndex: number }
    | { kind: 'gas'; wei: bigint; place: Place; orderId: Bytes32 | null }
  ))[];
}

/** Notes waiting for a database that does not answer. Chain facts do not wait here: they are read from the chain. */
const MOST_NOTES = 20_000;
const NOTES_AT_ONCE = 500;
const RECEIPTS_AT_ONCE = 50;
const MOST_EXCHANGES = 5_000;
const MOST_TRADES = 50_000;
/** How long the books wait to be opened for prices to be there. */
const PRICE_PATIENCE_MS = 30_000;
const TAKERS_EVERY_MS = 5_000;
const NEVER = 2n ** 62n;
const DEAD: ReadonlySet<TradeStage> = new Set<TradeStage>(['finalised', 'failed', 'lost']);

export function createAccounts(deps: AccountsDeps, { account, operator, tokens, maxBlocks, reconcileMs, explain: { keep }, journal: { everyMs } }: AccountsOptions): Accounts {
  const { store, chains, takers, clock, log } = deps;
  const explainer = createExplainer({ keep });
  const described = new Map([...chains].map(([chainId, { chain }]) => [chainId, chain]));
  const me = addressToBytes32(account);
  const notes: Note[] = [];
  const exchanges = new Map<Bytes32, { exchange: Exchange; order: StandardOrder }>();
  let epoch: number | undefined;
  let books: Books | undefined;
  let lost = false;
  let startedMs = 0;
  let takersWrittenMs = 0;
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let cancel = () => {};

  interface Books {
    journal: Journal;
    cursors: Map<number, JournalCursor>;
    positions: Map<string, PositionRow>;
    /** Not over, or with marks to come. */
    trades: Map<Bytes32, TradeRecord>;
    opened: Set<string>;
    sums: Omit<Totals, 'unrealised' | 'total' | 'realised'>;
  }

  const infoOf = ({ chainId, token }: Pick<Money, 'chainId' | 'token'>): TokenInfo | undefined => {
    const chain = described.get(chainId);
    return chain && tokenOf(chain, token);
  };
  const slugOf = (chainId: number): string => described.get(chainId)?.slug ?? String(chainId);

  const markouts = createMarkouts({
    clock,
    mid: (pair) => midOf(pair),
    marked({ orderId, taker }, horizon, mark) {
      note({ kind: 'mark', orderId, horizon, mark });
      // What was looked at late says something about the market since, not about the taker.
      if (mark.bps !== null && !mark.late) takers.learn(taker, horizon, mark.bps, mark.atMs);
    },
  });

  function midOf(pairName: string): number | undefined {
    const route = deps.routes().all.find((each) => each.pairName === pairName);
    if (route === undefined) return undefined;
    const price = deps.market.pair(route.pair.base, route.pair.quote);
    return isDecline(price) ? undefined : price.mid.value;
  }

  /* Notes: taken in the middle of other work */

  function note(made: Note): void {
    if (notes.length >= MOST_NOTES) return log.error({ kind: made.kind }, 'the books cannot keep up: a note is lost, and the trade it is of will be marked as late');
    notes.push(made);
  }

  function exchangeOf(orderId: Bytes32, slice: OwnSlice, order: StandardOrder): Exchange {
    const { pays, earns, portion, context } = slice;
    const [paid, got] = [infoOf(pays), infoOf(earns)];
    const route = deps.routes().find(assetId(earns), assetId(pays));
    const exchange: Exchange = { orderId, pair: route?.pairName ?? `${got?.symbol ?? '?'}-${paid?.symbol ?? '?'}`, pays, earns, portion, platformFee: (portion * BigInt(context.feeBps)) / 10_000n, relayFee: context.relayFee };
    exchanges.delete(orderId);
    exchanges.set(orderId, { exchange, order });
    if (exchanges.size > MOST_EXCHANGES) exchanges.delete(exchanges.keys().next().value as Bytes32);
    return exchange;
  }

  /** A trade valued at the mids of this moment. `late`: it was not accepted at this moment. */
  function tradeOf(exchange: Exchange, order: StandardOrder, atMs: number, quoteId: Bytes32 | null, late: boolean): TradeRecord {
    const { orderId, pair, pays, earns, portion, platformFee, relayFee } = exchange;
    const route = deps.routes().find(assetId(earns), assetId(pays));
    const [paid, got] = [infoOf(pays), infoOf(earns)];
    const [paidUsd, gotUsd] = [paid && deps.usd(paid.symbol), got && deps.usd(got.symbol)];
    const mid = route === undefined ? undefined : midOf(route.pairName);
    const known = paid !== undefined && got !== undefined && paidUsd !== undefined && gotUsd !== undefined && mid !== undefined;
    const [origin, dest] = [described.get(earns.chainId), described.get(pays.chainId)];
    return {
      orderId,
      quoteId,
      acceptedAtMs: atMs,
      taker: order.user,
      pair,
      corridor: origin && dest ? corridorOf(origin, dest) : `${earns.chainId}-${pays.chainId}`,
      side: route?.lp ?? 'buy',
      stage: 'accepted',
      counted: false,
      mid: known ? mid : null,
      late: late || !known,
      paidMicros: known ? microsOf(pays.amount, paid.decimals, paidUsd) : 0n,
      inputMicros: known ? microsOf(portion, got.decimals, gotUsd) : 0n,
      feesMicros: known ? microsOf(portion, got.decimals, gotUsd) - microsOf(portion - platformFee - relayFee, got.decimals, gotUsd) : 0n,
      earnedMicros: known ? microsOf(earns.amount, got.decimals, gotUsd) : 0n,
      paid: pays.amount,
      earned: earns.amount,
      gasMicros: 0n,
      realisedMicros: 0n,
      marks: {},
    };
  }

  const placeOf = ({ chainId, blockNumber, blockHash, txHash }: Seen, atMs: number): Place => ({ chainId, block: blockNumber, blockHash, txHash, atMs });

  const listener: MomentListener = {
    quoted(record) {
      record.nearest = deps.ledger.nearest(record.orderId);
      record.liveQuotes = deps.ledger.live;
      explainer.quoted(record);
    },
    declined: explainer.declined,
    accepted(award: OpenAward) {
      const { orderId, slice, order, quoteId, acceptedAtMs } = award;
      const exchange = exchangeOf(orderId, slice, order);
      const record = explainer.quote(orderId);
      // Handed back after a restart: nobody knows any more when it was accepted, or at which mid.
      const trade = tradeOf(exchange, order, acceptedAtMs, quoteId === ZERO_BYTES32 ? (record?.quoteId ?? null) : quoteId, record === undefined);
      note({ kind: 'accepted', trade, record });
      markouts.watch(trade);
      kick();
    },
    filled: ({ orderId, slice, order }, seen) => note({ kind: 'filled', exchange: exchangeOf(orderId, slice, order), place: placeOf(seen, clock.nowMs()) }),
    unfilled: ({ orderId }, was) => note({ kind: 'unfilled', orderId, was, atMs: clock.nowMs() }),
    failed: ({ orderId }) => note({ kind: 'failed', orderId }),
  };

  /* Reading: what has to be waited for */

  async function load(owner: number): Promise<Books> {
    const [opening, all, ids] = await Promise.all([store.open(owner), store.profit('pair', 0, 10_000), store.known([...tokens.map(({ chainId, token }) => idOf.opening(chainId, token))])]);
    if (books === undefined && takers.known === 0) takers.load(opening.takers);
    const sum = (of: (row: ProfitRow) => bigint) => all.reduce((total, row) => total + of(row), 0n);
    const fresh: Books = {
      journal: createJournal(opening),
      cursors: new Map(opening.cursors.map((cursor) => [cursor.chainId, cursor])),
      positions: new Map(opening.positions.map((row) => [row.asset, row])),
      trades: new Map(opening.trades.map((trade) => [trade.orderId, trade])),
      opened: new Set(ids),
      sums: {
        spread: sum(({ grossMicros, feesMicros }) => grossMicros - feesMicros),
        fees: sum(({ feesMicros }) => feesMicros),
        gas: sum(({ gasMicros }) => gasMicros),
        lost: sum(({ lostMicros }) => lostMicros),
        markout_1s: sum(({ markMicros }) => markMicros[1] ?? 0n),
        markout_10s: sum(({ markMicros }) => markMicros[10] ?? 0n),
        markout_60s: sum(({ markMicros }) => markMicros[60] ?? 0n),
      },
    };
    return fresh;
  }

  /** Which order of ours this is, from memory or from the award's row; undefined: none. */
  async function ours(orderId: Bytes32, orders: ReadonlyMap<Bytes32, StandardOrder>): Promise<{ exchange: Exchange; order: StandardOrder } | undefined> {
    const known = exchanges.get(orderId);
    if (known !== undefined) return known;
    const order = orders.get(orderId) ?? (await deps.awards.award(orderId))?.order;
    const slice = order && ownSlice(order, account, described);
    return order && slice && { exchange: exchangeOf(orderId, slice, order), order };
  }

  /** The chain's next final blocks; undefined when there is nothing new. */
  async function read({ cursors, opened }: Books, chainId: number, port: ChainPort): Promise<Reading | undefined> {
    const cursor = cursors.get(chainId);
    const final = deps.final(chainId);
    if (cursor === undefined || final === undefined || final.block <= cursor.block) return undefined;
    const to = min(final.block, cursor.block + BigInt(maxBlocks));
    const events = await port.events(cursor.block + 1n, to);
    const bottom = to === final.block ? { number: final.block, hash: final.hash } : await port.block(to);
    if (bottom === undefined) return undefined;
    const reading: Reading = { cursor: { chainId, block: to, hash: bottom.hash, nonce: cursor.nonce }, facts: [] };
    const orders = new Map(events.flatMap((event) => (event.kind === 'open' ? [[event.orderId, event.order] as const] : [])));
    for (const event of events) {
      const place: Place = { chainId, block: event.blockNumber, blockHash: event.blockHash, txHash: event.txHash, atMs: clock.nowMs() };
      await readEvent(event, place, orders, opened, reading.facts);
    }
    await readGas(chainId, port, reading);
    return reading;
  }

  async function readEvent(event: EscrowEvent, place: Place, orders: ReadonlyMap<Bytes32, StandardOrder>, opened: ReadonlySet<string>, facts: Reading['facts']): Promise<void> {
    switch (event.kind) {
      case 'filled': {
        if (event.solver !== me) return;
        const found = await ours(event.orderId, orders);
        if (found === undefined) return log.error({ orderId: event.orderId, txHash: event.txHash }, 'our account filled an order that is none of ours: the books leave it out and will differ from the chain');
        return void facts.push({ id: idOf.sent(event.orderId, place), kind: 'sent', ...found, place });
      }
      case 'finalised':
      case 'refunded': {
        const found = await ours(event.orderId, orders);
        if (found === undefined) return;
        const id = (event.kind === 'finalised' ? idOf.credit : idOf.refund)(event.orderId, place);
        return void facts.push({ id, kind: event.kind === 'finalised' ? 'credited' : 'refunded', ...found, place });
      }
      case 'ledger': {
        const { token, amount } = event;
        // Before a token's opening its balance holds it already.
        if (event.account !== account || amount === 0n || !opened.has(idOf.opening(place.chainId, token))) return;
        return void facts.push({ id: idOf.owner(place, event.logIndex), kind: 'owner', money: { chainId: place.chainId, token, amount }, place, logIndex: event.logIndex });
      }
      default:
    }
  }

  /** Nonces are mined in order: whatever lies below the first one that is not final is in the books, exactly once. */
  async function readGas(chainId: number, port: ChainPort, { cursor, facts }: Reading): Promise<void> {
    const slots = (await deps.transactions?.liveSlots(chainId, operator, { nonce: cursor.nonce, block: NEVER })) ?? [];
    for (const { nonce, state, mined, key } of slots.filter((slot) => slot.nonce >= cursor.nonce).slice(0, RECEIPTS_AT_ONCE)) {
      if (state === 'open' || (mined !== null && mined.blockNumber > cursor.block)) return;
      if (mined !== null) {
        const receipt = await port.receipt(mined.txHash);
        if (receipt === undefined || receipt.blockNumber > cursor.block) return;
        const place: Place = { chainId, block: receipt.blockNumber, blockHash: receipt.blockHash, txHash: receipt.txHash, atMs: clock.nowMs() };
        const orderId = /^0x[0-9a-f]{64}/.exec(key)?.[0] as Bytes32 | undefined;
        facts.push({ id: idOf.gas(chainId, place), kind: 'gas', wei: receipt.gasUsed * receipt.effectiveGasPrice + receipt.l1Fee, place, orderId: orderId ?? null });
      }
      cursor.nonce = nonce + 1;
    }
  }

  /** A chain's first balances: what the books begin with, at one final block. */
  async function readOpening({ cursors, opened, journal }: Books, chainId: number, port: ChainPort): Promise<Opened | undefined> {
    const missing = tokens.filter((each) => each.chainId === chainId && !opened.has(idOf.opening(chainId, each.token)));
    const known = cursors.get(chainId);
    const final = deps.final(chainId);
    if (final === undefined || (known !== undefined && (missing.length === 0 || known.block !== final.block))) return undefined;
    const unpriced = missing.filter((each) => deps.usd(infoOf(each)?.symbol ?? '') === undefined);
    if (unpriced.length > 0 && clock.monotonicMs() - startedMs < PRICE_PATIENCE_MS) return undefined;
    const balances = await Promise.all(missing.map(async ({ token }): Promise<Money> => ({ chainId, token, amount: await port.ledgerBalance(account, token, final.block) })));
    const first = known === undefined && deps.transactions !== undefined;
    const count = first ? await port.transactionCount(operator, 'latest') : 0;
    const slots = first ? await deps.transactions?.liveSlots(chainId, operator, { nonce: count, block: final.block + 1n }) : [];
    const native = first ? await port.nativeBalance(operator, final.block) : undefined;
    const nonce = known?.nonce ?? Math.min(count, ...(slots ?? []).map((slot) => slot.nonce));
    const gasOpened = native === undefined || journal.gas(chainId) !== 0n ? undefined : native;
    return { cursor: known ?? { chainId, block: final.block, hash: final.hash, nonce }, balances, native: gasOpened, fresh: known === undefined };
  }

  interface Opened {
    cursor: JournalCursor;
    balances: Money[];
    native: bigint | undefined;
    fresh: boolean;
  }

  /* Folding: nothing is waited for, so it is all or nothing in memory too */

  interface Batch extends JournalBatch {
    entries: JournalEntry[];
    cursors: JournalCursor[];
    trades: TradeRecord[];
    positions: PositionRow[];
    explanations: StoredExplanation[];
  }

  function fold(held: Books, openings: readonly Opened[], readings: readonly Reading[], taken: readonly Note[], known: ReadonlySet<string>, older: ReadonlyMap<Bytes32, TradeRecord>, inFlight: readonly Exchange[]): Batch {
    const { journal, positions, cursors, opened, sums } = held;
    const batch: Batch = { entries: [], cursors: [], trades: [], positions: [], takers: [], explanations: [] };
    const touched = new Map<Bytes32, TradeRecord>();
    const shifted = new Set<string>();

    const tradeOfId = (orderId: Bytes32): TradeRecord | undefined => touched.get(orderId) ?? held.trades.get(orderId) ?? older.get(orderId);
    function put(trade: TradeRecord): void {
      const before = tradeOfId(trade.orderId);
      for (const [key, now, was] of pairsOf(shareOf(trade), shareOf(before))) sums[key] += now - was;
      touched.set(trade.orderId, trade);
    }
    /** Answers what was realised by it. */
    function shift(money: Money, change: (position: PositionRow, quantity: bigint) => PositionRow): bigint {
      const info = infoOf(money);
      if (info === undefined) return 0n;
      const before = positions.get(info.symbol) ?? emptyPosition(info.symbol);
      const after = change(before, money.amount < 0n ? -attoOf(-money.amount, info.decimals) : attoOf(money.amount, info.decimals));
      positions.set(info.symbol, after);
      shifted.add(info.symbol);
      return after.realisedMicros - before.realisedMicros;
    }
    const ownerMoves = (money: Money) => shift(money, (position, quantity) => owned(position, quantity, deps.usd(position.asset)));

    for (const { cursor, balances, native, fresh } of openings) {
      const { chainId, block } = cursor;
      for (const money of balances) {
        batch.entries.push(...journal.opening(money, block, clock.nowMs()));
        opened.add(idOf.opening(chainId, money.token));
        ownerMoves(money);
      }
      if (native !== undefined) batch.entries.push(...journal.opening({ chainId, token: 'native', amount: native }, block, clock.nowMs()));
      if (!fresh) continue;
      cursors.set(chainId, cursor);
      batch.cursors.push(cursor);
      for (const exchange of inFlight.filter(({ pays }) => pays.chainId === chainId)) {
        batch.entries.push(...journal.owed(exchange, block, clock.nowMs()));
        ownerMoves(exchange.earns);
      }
    }

    for (const made of taken) {
      switch (made.kind) {
        case 'accepted': {
          if (tradeOfId(made.trade.orderId) !== undefined) break;
          put(made.trade);
          if (made.record !== undefined) batch.explanations.push({ orderId: made.trade.orderId, quoteId: made.record.quoteId, rfqId: made.record.rfqId, atMs: made.record.atMs, explanation: explainQuote(made.record) });
          break;
        }
        case 'filled':
          if (!known.has(idOf.fill(made.exchange.orderId, made.place)) && !known.has(idOf.sent(made.exchange.orderId, made.place))) batch.entries.push(...journal.filled(made.exchange, made.place));
          break;
        case 'unfilled':
          batch.entries.push(...journal.unfilled(made.orderId, made.was, made.atMs));
          break;
        case 'failed': {
          const trade = tradeOfId(made.orderId);
          // Filled ones end by what the chain says.
          if (trade !== undefined && trade.stage === 'accepted' && !trade.counted) put({ ...trade, stage: 'failed' });
          break;
        }
        case 'mark': {
          const trade = tradeOfId(made.orderId);
          if (trade !== undefined) put({ ...trade, marks: { ...trade.marks, [made.horizon]: made.mark } });
          break;
        }
      }
    }

    for (const { cursor, facts } of readings) {
      for (const fact of facts) {
        if (known.has(fact.id)) continue;
        switch (fact.kind) {
          case 'sent': {
            const { exchange, place, order } = fact;
            const posted = journal.sent(exchange, place);
            batch.entries.push(...posted);
            if (posted.length === 0 || order === undefined) break;
            const noted = tradeOfId(exchange.orderId);
            // Accepted while nobody looked, or without a price: the mid of now is the best there is.
            const trade = noted !== undefined && noted.mid !== null ? noted : { ...tradeOf(exchange, order, noted?.acceptedAtMs ?? place.atMs, noted?.quoteId ?? null, true), gasMicros: noted?.gasMicros ?? 0n, stage: noted?.stage ?? 'accepted', marks: noted?.marks ?? {} };
            const into = shift(exchange.earns, (position, quantity) => moved(position, quantity, trade.earnedMicros));
            const out = shift({ ...exchange.pays, amount: -exchange.pays.amount }, (position, quantity) => moved(position, quantity, trade.paidMicros));
            const stage: TradeStage = trade.stage === 'accepted' ? 'filled' : trade.stage === 'failed' ? 'lost' : trade.stage;
            put({ ...trade, stage, counted: true, realisedMicros: into + out });
            if (stage === 'lost') lose(exchange, trade, journal.lost(exchange, place));
            if (noted === undefined) markouts.watch({ ...trade, late: true });
            break;
          }
          case 'credited': {
            batch.entries.push(...journal.credited(fact.exchange, fact.place));
            const trade = tradeOfId(fact.exchange.orderId);
            if (trade !== undefined) put({ ...trade, stage: 'finalised' });
            break;
          }
          case 'refunded': {
            const trade = tradeOfId(fact.exchange.orderId);
            const filled = trade?.counted === true;
            const posted = journal.refunded(fact.exchange, fact.place, filled);
            batch.entries.push(...(filled ? [] : posted));
            if (trade !== undefined) put({ ...trade, stage: filled ? 'lost' : 'failed' });
            if (filled) lose(fact.exchange, trade, posted);
            break;
          }
          case 'owner':
            batch.entries.push(...journal.owner(fact.money, fact.place, fact.logIndex));
            ownerMoves(fact.money);
            break;
          case 'gas': {
            const posted = journal.spent(fact.wei, fact.place, fact.orderId);
            batch.entries.push(...posted);
            const price = deps.native(fact.place.chainId);
            const trade = fact.orderId === null ? undefined : tradeOfId(fact.orderId);
            if (trade !== undefined && posted.length > 0 && price !== undefined) put({ ...trade, gasMicros: trade.gasMicros + microsOf(fact.wei, 18, price) });
            break;
          }
        }
      }
      batch.entries.push(...journal.passed(cursor.chainId, cursor.block, clock.nowMs()));
      cursors.set(cursor.chainId, cursor);
      batch.cursors.push(cursor);
    }

    /** Delivered, and the input went back to the taker. */
    function lose({ earns }: Exchange, trade: TradeRecord, posted: readonly JournalEntry[]): void {
      batch.entries.push(...posted);
      if (posted.length > 0) shift({ ...earns, amount: -earns.amount }, (position, quantity) => moved(position, quantity, trade.earnedMicros));
    }

    // What came without a price gets the first one there is.
    for (const [asset, row] of positions) {
      const now = priced(row, row.unpriced === 0n ? undefined : deps.usd(asset));
      if (now !== row) {
        positions.set(asset, now);
        shifted.add(asset);
      }
    }
    for (const symbol of shifted) batch.positions.push(positions.get(symbol) ?? emptyPosition(symbol));
    for (const trade of touched.values()) {
      batch.trades.push(trade);
      held.trades.set(trade.orderId, trade);
    }
    return batch;
  }

  function forget({ trades }: Books): void {
    for (const [orderId, trade] of trades) {
      const over = DEAD.has(trade.stage) && (trade.counted || trade.stage === 'failed') && HORIZONS.every((horizon) => trade.marks[horizon] !== undefined);
      if (over || trades.size > MOST_TRADES) trades.delete(orderId);
    }
  }

  async function pass(): Promise<void> {
    if (epoch === undefined || lost) return;
    if (books === undefined) {
      books = await load(epoch);
      watchAgain(books);
    }
    const held = books;
    const taken = notes.slice(0, NOTES_AT_ONCE);
    const readings: Reading[] = [];
    const openings: Opened[] = [];
    for (const [chainId, port] of chains) {
      const opening = await readOpening(held, chainId, port);
      if (opening !== undefined) openings.push(opening);
      const reading = await read(held, chainId, port);
      if (reading !== undefined) readings.push(reading);
    }
    const inFlight = openings.flatMap((opening) => (opening.fresh ? filledBefore(opening) : []));
    const facts = readings.flatMap((reading) => reading.facts);
    const seen = taken.flatMap((made) => (made.kind === 'filled' ? [idOf.fill(made.exchange.orderId, made.place), idOf.sent(made.exchange.orderId, made.place)] : []));
    const known = await store.known([...facts.map(({ id }) => id), ...seen]);
    const older = await olderTrades(held, taken, facts);
    const rows = clock.monotonicMs() - takersWrittenMs >= TAKERS_EVERY_MS || stopped ? takers.changed() : [];
    if (taken.length === 0 && readings.length === 0 && openings.length === 0 && rows.length === 0) return;
    try {
      const batch = { ...fold(held, openings, readings, taken, known, older, inFlight), takers: rows };
      if (!(await store.write(batch))) {
        lost = true;
        return log.warn({}, 'another process keeps the books now');
      }
    } catch (error) {
      // Memory may be ahead of the store: it is read again.
      books = undefined;
      takers.again(rows);
      throw error;
    }
    notes.splice(0, taken.length);
    if (rows.length > 0) takersWrittenMs = clock.monotonicMs();
    forget(held);
    const behind = [...chains.keys()].some((chainId) => (deps.final(chainId)?.block ?? 0n) > (held.cursors.get(chainId)?.block ?? NEVER));
    if (notes.length > 0 || behind) again = true;
  }

  /** Fills of an earlier time that nobody has claimed yet: their inputs are ours from the beginning. */
  function filledBefore({ cursor: { chainId, block } }: Opened): Exchange[] {
    return deps.open().flatMap(({ orderId, slice, order, fill, stage }) => {
      const owed = stage === 'filled' && fill !== null && slice.destChainId === chainId && slice.originChainId !== chainId && fill.blockNumber <= block;
      return owed ? [exchangeOf(orderId, slice, order)] : [];
    });
  }

  /** Trades that memory let go of and facts still speak of. */
  async function olderTrades({ trades }: Books, taken: readonly Note[], facts: Reading['facts']): Promise<Map<Bytes32, TradeRecord>> {
    const ids = new Set<Bytes32>();
    for (const made of taken) ids.add(made.kind === 'accepted' ? made.trade.orderId : made.kind === 'filled' ? made.exchange.orderId : made.orderId);
    for (const fact of facts) {
      if ('exchange' in fact) ids.add(fact.exchange.orderId);
      else if (fact.kind === 'gas' && fact.orderId !== null) ids.add(fact.orderId);
    }
    const found = await Promise.all([...ids].filter((id) => !trades.has(id)).map((id) => store.trade(id)));
    return new Map(found.flatMap((trade) => (trade === undefined ? [] : [[trade.orderId, trade]])));
  }

  let watched = false;
  /** Marks that an earlier life left open. */
  function watchAgain({ trades }: Books): void {
    if (watched) return;
    watched = true;
    for (const trade of trades.values()) markouts.watch(trade, trade.marks);
  }

  async function work(): Promise<void> {
    do {
      again = false;
      await pass();
    } while (again);
  }

  function run(): Promise<void> {
    again = true;
    running ??= work().finally(() => (running = undefined));
    return running;
  }

  const quietly = () => run().catch((error: unknown) => log.warn({ error }, 'the books could not be kept just now: again in a moment'));

  function kick(): void {
    if (epoch !== undefined && !stopped) void quietly();
  }

  function loop(): void {
    cancel = clock.after(everyMs, () => void quietly().then(check).finally(() => stopped || loop()));
  }

  let checked: Reconciled[] = [];
  let checkedMs = Number.NEGATIVE_INFINITY;
  async function check(): Promise<void> {
    if (stopped || lost || clock.monotonicMs() - checkedMs < reconcileMs) return;
    checkedMs = clock.monotonicMs();
    const before = new Map(checked.map(({ chain, token, difference }) => [`${chain} ${token}`, difference]));
    const now = await reconcile().catch((error: unknown) => log.warn({ error }, 'the books could not be compared with the chains just now'));
    if (now === undefined) return;
    checked = now;
    for (const { chain, token, block, journal, chainSays, difference } of now) {
      if ((difference ?? 0n) === (before.get(`${chain} ${token}`) ?? 0n)) continue;
      if (difference === 0n) log.warn({ chain, token, block }, 'books and chain agree again');
      else log.error({ chain, token, block, journal, chainSays, difference }, 'books and chain differ: nothing is adjusted by itself, find what moved (docs/profit.md)');
    }
  }

  async function reconcile(): Promise<Reconciled[]> {
    const held = books;
    if (held === undefined) return [];
    const due = tokens.filter(({ chainId, token }) => held.opened.has(idOf.opening(chainId, token)));
    return Promise.all(due.map(async ({ chainId, token }): Promise<Reconciled> => {
      const block = held.cursors.get(chainId)?.block ?? 0n;
      // Read in one breath, before anything is waited for: all of them are of one block, or they cannot be compared.
      const journal = held.journal.inventory({ chainId, token });
      const ledger = deps.final(chainId)?.block === block ? (deps.ledger.bucket(chainId, token)?.onchain ?? null) : null;
      const chainSays = (await chains.get(chainId)?.ledgerBalance(account, token, block)) ?? null;
      return { chain: slugOf(chainId), token: infoOf({ chainId, token })?.symbol ?? token, address: token, block, journal, chainSays, ledger, difference: chainSays === null ? null : chainSays - journal };
    }));
  }

  const views = (held: Books | undefined): PositionView[] => [...(held?.positions.values() ?? [])].map((row) => viewOf(row, deps.usd(row.asset)));

  function totalsOf(sums: Books['sums'], positions: readonly PositionView[]): Totals {
    const realised = positions.reduce((sum, each) => sum + each.realisedMicros, 0n);
    const unrealised = positions.reduce((sum, each) => sum + (each.unrealisedMicros ?? 0n), 0n);
    return { ...sums, realised, unrealised, total: sums.spread + realised + unrealised - sums.gas - sums.lost };
  }

  return {
    listener,
    start(owner) {
      epoch = owner;
      startedMs = clock.monotonicMs();
      loop();
      kick();
    },
    async stop() {
      stopped = true;
      cancel();
      markouts.stop();
      await quietly();
    },
    async explain(id) {
      const wanted = id.toLowerCase();
      const live = explainer.explain(wanted);
      const named = new Set(live.map((each) => (each.kind === 'quote' ? each.orderId : each.rfqId)));
      const stored = (await store.explanations(wanted)).map(({ explanation }) => explanation as Explanation);
      return [...live, ...stored.filter((each) => each.kind === 'quote' && !named.has(each.orderId))];
    },
    async profit({ by, sinceMs, limit }) {
      const rows = await store.profit(by, sinceMs, limit);
      const all = by === 'pair' && rows.length < limit ? rows : await store.profit('pair', sinceMs, 10_000);
      const sum = (of: (row: ProfitRow) => bigint) => all.reduce((total, row) => total + of(row), 0n);
      const positions = views(books);
      const sums = {
        spread: sum(({ grossMicros, feesMicros }) => grossMicros - feesMicros),
        fees: sum(({ feesMicros }) => feesMicros),
        gas: sum(({ gasMicros }) => gasMicros),
        lost: sum(({ lostMicros }) => lostMicros),
        markout_1s: sum(({ markMicros }) => markMicros[1] ?? 0n),
        markout_10s: sum(({ markMicros }) => markMicros[10] ?? 0n),
        markout_60s: sum(({ markMicros }) => markMicros[60] ?? 0n),
      };
      return { sinceMs, by, rows, totals: totalsOf(sums, positions), positions };
    },
    reconcile,
    reconciled: () => checked,
    entries: (orderId) => store.entries(orderId),
    balances: () => (books?.journal.balances() ?? []).map(({ account: name, chainId, token, amount }) => ({ account: name, chain: slugOf(chainId), token: token === 'native' ? token : (infoOf({ chainId, token })?.symbol ?? token), amount })),
    totals: () => books && totalsOf(books.sums, views(books)),
    positions: () => views(books),
    lag: () => ({
      waiting: notes.length,
      chains: [...chains].map(([chainId, { chain }]) => ({ chain: chain.slug, blocks: Number((deps.final(chainId)?.block ?? 0n) - (books?.cursors.get(chainId)?.block ?? 0n)) })),
    }),
  };
}

/** What a trade adds to the totals. */
function shareOf(trade: TradeRecord | undefined): Omit<Totals, 'unrealised' | 'total' | 'realised'> {
  if (trade === undefined) return { spread: 0n, fees: 0n, gas: 0n, lost: 0n, markout_1s: 0n, markout_10s: 0n, markout_60s: 0n };
  const { counted, earnedMicros, paidMicros, feesMicros, gasMicros, stage, marks } = trade;
  const mark = (horizon: Horizon): bigint => (counted ? markMicros(paidMicros, marks[horizon]) : 0n);
  return { spread: counted ? earnedMicros - paidMicros : 0n, fees: counted ? feesMicros : 0n, gas: gasMicros, lost: counted && stage === 'lost' ? earnedMicros : 0n, markout_1s: mark(1), markout_10s: mark(10), markout_60s: mark(60) };
}

/** What the mid did to us after a trade, in millionths of USD: positive is good. */
function markMicros(paidMicros: bigint, mark: Mark | undefined): bigint {
  return mark === undefined || mark.bps === null ? 0n : (-paidMicros * BigInt(Math.round(mark.bps * 1e6))) / 10_000_000_000n;
}

function pairsOf<T extends Record<string, bigint>>(now: T, was: T): [keyof T, bigint, bigint][] {
  return (Object.keys(now) as (keyof T)[]).map((key) => [key, now[key] as bigint, was[key] as bigint]);
}
