/**
 * Runs the accounting beside quoting: explanations, books, positions and mark-outs. It reads final blocks
 * itself, so the books check the inventory ledger independently.
 */

import { isDecline } from '../../domain/decline.ts';
import { type Address, type Bytes32, ZERO_BYTES32 } from '../../domain/hex.ts';
import type {
  BookedTransfer,
  ProfitKey,
  ProfitWindow,
  Statement,
  TradeRecord,
} from '../../ports/stores/accounting-store.ts';
import { createPasses } from '../passes.ts';
import type { Explanation } from '../quote-log/explain.ts';
import type { ChainSighting, QuoteEventListener } from '../quote-log/quote-events.ts';
import { createRecentQuotes, type RecentAnswers } from '../quote-log/recent-quotes.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { adjustBooks } from './books/adjustment.ts';
import {
  type AccountsDeps,
  type AccountsOptions,
  type Bookkeeper,
  MOST_NOTES,
  note,
  type Reconciled,
  type ReconciledGas,
} from './books/bookkeeper.ts';
import { explainAccepted, heldBooks, runBooksPass } from './books/books-pass.ts';
import { behindOf, compareWhenDue, reconcileGas, reconcileTokens } from './books/comparison.ts';
import { bookedPositions, type Profit, profitOf, type Totals, totalsOf } from './books/profit.ts';
import {
  bookedBalances,
  entriesOf,
  type ShownBalance,
  type ShownEntry,
  type StatementPage,
  statementOf,
} from './books/statement.ts';
import { createChainReader } from './reader/chain-reader.ts';
import { createFolder } from './fold/fold.ts';
import { explanationOf } from './fold/fold-notes.ts';
import type { FactPlace } from './ledger/facts.ts';
import { createMarkouts } from './markout.ts';
import type { PositionView } from './pnl.ts';

/** Counts what the books have not taken in yet: notes that wait, and final blocks that they have not read. */
interface BooksLag {
  /** Notes that wait for the database. */
  waiting: number;
  chains: { chain: string; blocks: number }[];
}

/**
 * The accounting of one LP. Methods that return a promise reject when the store or a node does not answer.
 */
export interface Accounts {
  listener: QuoteEventListener;
  /** Loads the books and keeps them. Pricing has the taker costs when it resolves. */
  start(owner: number): Promise<void>;
  /** Another replica takes over. Resolves after the last write. */
  stepDown(): Promise<void>;
  /**
   * Loads taker costs of the leading replica and stores explanations of this one. Rejects when the store
   * does.
   */
  followLeader(): Promise<void>;
  /**
   * Call after the last block was processed. Unwritten facts are read from the chains at the next start.
   */
  stop(): Promise<void>;
  /** Quotes and declines since then that are still in memory. */
  recentAnswers(sinceMs: number): RecentAnswers;
  /** Explains a quote, order or request: from memory first, then from the store. */
  explain(id: string): Promise<Explanation[]>;
  profit(window: ProfitWindow & { by: ProfitKey; limit: number }): Promise<Profit>;
  /** Returns transfers that moved or cost something in the window, newest first. */
  transfers(window: ProfitWindow, limit: number): Promise<BookedTransfer[]>;
  /** Compares every token with its chain now. */
  reconcile(): Promise<Reconciled[]>;
  /** Compares the native currency of every operator with its chain now. */
  reconcileGas(): Promise<ReconciledGas[]>;
  /** The last comparison that the accounting made on its own. */
  reconciled(): Reconciled[];
  reconciledGas(): ReconciledGas[];
  /**
   * Books an explained difference of a token symbol, or of the 'native' currency of an operator. Resolves
   * with it in tokens. Throws `RequestError` unless `amount` equals the current difference in base units.
   */
  adjust(chain: string, token: string, amount: bigint, operator?: Address): Promise<string>;
  /** Says what the books have not read or compared since `start`; undefined when nothing is left. */
  behind(): string | undefined;
  entries(orderId: Bytes32): Promise<ShownEntry[]>;
  balances(): ShownBalance[];
  /**
   * Returns a page of the entries of a window. `last`: the one of the first page, so that later entries
   * change nothing; the first page has the balances at both ends. `next`: `after` of the next page; null: no
   * more.
   */
  statement(of: Statement, page: { after: number; last: number | undefined }): Promise<StatementPage>;
  /** Returns the profit of all time in millionths of USD; undefined while the books are not loaded. */
  totals(): Totals | undefined;
  positions(): PositionView[];
  lag(): BooksLag;
}

/** No quote lives longer. An order accepted later than this was quoted by this process. */
const LONGEST_LIFE_MS = 20 * 60_000;

export function createAccounts(deps: AccountsDeps, options: AccountsOptions): Accounts {
  const keeper = createBookkeeper(deps, options);
  const { recentQuotes, comparison } = keeper;
  return {
    listener: {
      quoted: recentQuotes.quoted,
      declined: recentQuotes.declined,
      accepted: (award) => noteAccepted(keeper, award),
      filled: (award, seen) => noteFilled(keeper, award, seen),
      unfilled: ({ orderId }, was) =>
        note(keeper, { kind: 'unfilled', orderId, was, atMs: deps.clock.nowMs() }),
      failed: ({ orderId }) => note(keeper, { kind: 'failed', orderId }),
    },
    start: (owner) => start(keeper, owner),
    stepDown: () => stepDown(keeper),
    followLeader: () => followLeader(keeper),
    stop: () => stop(keeper),
    recentAnswers: recentQuotes.since,
    explain: (id) => explain(keeper, id.toLowerCase()),
    profit: (window) => profitOf(keeper, window),
    transfers: (window, limit) => deps.store.transfersIn(window, limit),
    reconcile: () => reconcileTokens(keeper),
    reconcileGas: () => reconcileGas(keeper),
    reconciled: () => comparison.checked,
    reconciledGas: () => comparison.checkedGas,
    adjust: (chain, token, amount, operator = options.operator) =>
      adjustBooks(keeper, { chain, token, amount, operator }),
    behind: () => behindOf(keeper),
    entries: (orderId) => entriesOf(keeper, orderId),
    balances: () => bookedBalances(keeper),
    statement: (of, page) => statementOf(keeper, of, page),
    totals: () => keeper.books && totalsOf(keeper.books.sums, bookedPositions(keeper)),
    positions: () => bookedPositions(keeper),
    lag: () => lagOf(keeper),
  };
}

/** Wires the parts of the accounting, which does nothing before `start`. */
function createBookkeeper(deps: AccountsDeps, options: AccountsOptions): Bookkeeper {
  const { takers, clock } = deps;
  const mid = (pairName: string): number | undefined => midOf(deps, pairName);
  const reader = createChainReader(deps, options);
  const markouts = createMarkouts({
    clock,
    mid,
    marked({ orderId, taker, pair }, horizon, mark) {
      note(keeper, { kind: 'mark', orderId, horizon, mark });
      // A late mark measures the market, not the taker; one asset on two chains has no mid. Neither teaches
      // anything.
      if (mark.bps !== null && !mark.late && hasMid(deps, pair))
        takers.learn(taker, horizon, mark.bps, mark.atMs);
    },
  });
  const folder = createFolder({
    ...{ clock, reader, routes: deps.routes, usd: deps.usd, native: deps.native, mid },
    found: (trade) => markouts.watch(trade),
  });
  const keeper: Bookkeeper = {
    ...{ deps, options, reader, folder, markouts },
    recentQuotes: createRecentQuotes(options.explain),
    passes: createPasses(() => runBooksPass(keeper)),
    notes: [],
    unexplained: [],
    epoch: undefined,
    books: undefined,
    lost: false,
    following: options.following,
    stopped: false,
    stale: true,
    watched: false,
    startedMs: Number.POSITIVE_INFINITY,
    takersWrittenMs: 0,
    revaluedMs: Number.NEGATIVE_INFINITY,
    heardMs: 0,
    comparison: {
      due: undefined,
      checked: [],
      checkedGas: [],
      checkedMs: Number.NEGATIVE_INFINITY,
      saidDifferences: new Map(),
    },
    cancel() {},
  };
  return keeper;
}

const pairOf = (deps: AccountsDeps, pairName: string) =>
  deps.routes().all.find((each) => each.pairName === pairName)?.pair;

const hasMid = (deps: AccountsDeps, pairName: string): boolean =>
  pairOf(deps, pairName)?.base !== pairOf(deps, pairName)?.quote;

/** Returns the mid in quote tokens for one base token; undefined without a price. */
function midOf(deps: AccountsDeps, pairName: string): number | undefined {
  const pair = pairOf(deps, pairName);
  if (pair === undefined) return undefined;
  const price = deps.market().pair(pair.base, pair.quote);
  return isDecline(price) ? undefined : price.mid.value;
}

function noteAccepted(keeper: Bookkeeper, award: OpenAward): void {
  const { options, recentQuotes, deps } = keeper;
  const { orderId, slice, order, quoteId, acceptedAtMs } = award;
  const exchange = keeper.reader.exchangeOf(orderId, slice, order);
  recentQuotes.accepted(orderId);
  const record = recentQuotes.quote(orderId);
  // Acceptance time and mid are unknown when an earlier process or another replica quoted.
  const trade: TradeRecord = keeper.folder.tradeOf(
    exchange,
    order,
    acceptedAtMs,
    quoteId === ZERO_BYTES32 ? (record?.quoteId ?? null) : quoteId,
    record === undefined &&
      !options.following &&
      deps.clock.monotonicMs() - keeper.startedMs < LONGEST_LIFE_MS,
  );
  note(keeper, { kind: 'accepted', trade, record });
  // Only this replica knows the inputs of this price.
  if (keeper.following && record !== undefined && keeper.unexplained.length < MOST_NOTES)
    keeper.unexplained.push(explanationOf(record));
  if (!keeper.following) keeper.markouts.watch(trade);
  startPass(keeper);
}

function noteFilled(keeper: Bookkeeper, { orderId, slice, order }: OpenAward, seen: ChainSighting): void {
  const { chainId, blockNumber: block, blockHash, txHash } = seen;
  const exchange = keeper.reader.exchangeOf(orderId, slice, order);
  const place: FactPlace = { chainId, block, blockHash, txHash, atMs: keeper.deps.clock.nowMs() };
  note(keeper, { kind: 'filled', exchange, place });
}

async function start(keeper: Bookkeeper, owner: number): Promise<void> {
  const { clock, log, final } = keeper.deps;
  keeper.startedMs = clock.monotonicMs();
  keeper.following = false;
  // Chain facts are read later, while the LP already quotes.
  await heldBooks(keeper, owner).catch((error: unknown) =>
    log.error({ error }, 'the books could not be opened: takers are priced as strangers until they are'),
  );
  // Replicas quote while the lead changes hands. A chain without books has nothing to compare.
  const finals = [...(keeper.options.following ? [] : (keeper.books?.cursors.keys() ?? []))].map(
    (chainId) => [chainId, final(chainId)?.block ?? 0n] as const,
  );
  keeper.comparison.due = finals.length === 0 ? undefined : new Map(finals);
  keeper.epoch = owner;
  startPass(keeper);
  scheduleNext(keeper);
}

/** Starts a pass of the books now, beside the timer. */
function startPass(keeper: Bookkeeper): void {
  if (keeper.epoch !== undefined && !keeper.stopped)
    void runLogged(keeper).then(() => compareWhenDue(keeper));
}

function scheduleNext(keeper: Bookkeeper): void {
  keeper.cancel = keeper.deps.clock.after(
    keeper.options.journal.everyMs,
    () =>
      void runLogged(keeper)
        .then(() => compareWhenDue(keeper))
        .finally(() => keeper.stopped || keeper.following || scheduleNext(keeper)),
  );
}

/** Runs a pass; one that fails is logged and does not reject. */
const runLogged = ({ passes, deps: { log } }: Bookkeeper): Promise<void> =>
  passes
    .run()
    .catch((error: unknown) =>
      log.warn({ error }, 'the books could not be updated; the next pass tries again'),
    );

async function stepDown(keeper: Bookkeeper): Promise<void> {
  keeper.following = true;
  keeper.cancel();
  await keeper.passes.running?.catch(() => {});
  Object.assign(keeper, { epoch: undefined, books: undefined, lost: false, stale: true });
  keeper.comparison.due = undefined;
  keeper.notes.length = 0;
}

async function followLeader(keeper: Bookkeeper): Promise<void> {
  const { store, takers } = keeper.deps;
  await explainAccepted(keeper);
  if (!keeper.following) return;
  const rows = await store.takersSince(keeper.heardMs);
  if (!keeper.following) return;
  takers.load(rows);
  for (const { seenMs } of rows) keeper.heardMs = Math.max(keeper.heardMs, seenMs);
}

async function stop(keeper: Bookkeeper): Promise<void> {
  keeper.stopped = true;
  keeper.cancel();
  keeper.markouts.stop();
  await explainAccepted(keeper).catch((error: unknown) =>
    keeper.deps.log.warn({ error }, 'explanations of some accepted quotes could not be stored'),
  );
  await runLogged(keeper);
}

async function explain({ deps, recentQuotes }: Bookkeeper, wanted: string): Promise<Explanation[]> {
  const live = recentQuotes.explain(wanted);
  const named = new Set(live.map((each) => (each.kind === 'quote' ? each.orderId : each.rfqId)));
  const stored = (await deps.store.explanations(wanted)).map(({ explanation }) => explanation as Explanation);
  return [...live, ...stored.filter((each) => each.kind === 'quote' && !named.has(each.orderId))];
}

function lagOf({ deps, notes, books, epoch, lost }: Bookkeeper): BooksLag {
  return {
    waiting: notes.length,
    // From the chain's head: what keeps the books from reading may keep the inventory ledger as well. Empty
    // where another process keeps the books, or nobody does.
    chains: (epoch === undefined || lost ? [] : [...deps.chains]).map(([chainId, port]) => {
      const final = (port.head()?.number ?? 0n) - BigInt(port.chain.depth);
      const read = books?.cursors.get(chainId)?.block ?? 0n;
      return { chain: port.chain.slug, blocks: final > read ? Number(final - read) : 0 };
    }),
  };
}
