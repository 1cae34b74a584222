/**
 * Runs the accounting beside quoting: explanations, books, positions and mark-outs. It reads final blocks
 * itself, so the books check the inventory ledger independently. Memory mirrors the store and is reloaded
 * after any failure.
 */

import { formatTokens } from '../../domain/amount.ts';
import { isDecline } from '../../domain/decline.ts';
import { RequestError } from '../../domain/errors.ts';
import { type Address, type Bytes32, ZERO_BYTES32 } from '../../domain/hex.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type {
  Balance,
  JournalStore,
  Statement,
  PositionRow,
  ProfitKey,
  ProfitWindow,
  StoredExplanation,
  StoredProfit,
  TradeRecord,
  TransferCosts,
} from '../../ports/stores/accounting-store.ts';
import type { OpenAward } from '../settlement/awards.ts';
import type { Explanation } from '../quote-log/explain.ts';
import { createRecentQuotes } from '../quote-log/recent-quotes.ts';
import { createAccountingLedger, type Exchange, idOf, type FactPlace } from './ledger.ts';
import { type Books, forget, type ProfitSums } from './fold/books.ts';
import { createFolder } from './fold/fold.ts';
import { explanationOf } from './fold/fold-notes.ts';
import type { Note } from './fold/folding.ts';
import {
  createChainReader,
  gasKey,
  type OpeningBalances,
  type ReaderDeps,
  type ReaderOptions,
  type Reading,
} from './chain-reader.ts';
import type { Market } from '../market/market.ts';
import { createMarkouts } from './markout.ts';
import type { QuoteEventListener, ChainSighting } from '../quote-log/quote-events.ts';
import { type PositionView, positionViewOf } from './pnl.ts';
import { createPasses } from '../passes.ts';
import type { Takers } from './taker-costs.ts';
import { type ShownProfitRow, showTrade } from './trade-view.ts';

interface AccountsDeps extends ReaderDeps {
  store: JournalStore;
  open(): readonly OpenAward[];
  market(): Pick<Market, 'pair'>;
  ledger: Pick<Ledger, 'bucket'>;
  takers: Takers;
}

interface AccountsOptions extends ReaderOptions {
  reconcileMs: number;
  explain: { keep: number };
  journal: { everyMs: number };
  /** True while another replica keeps the books; `start` ends it. */
  resting: boolean;
}

/** Balances of one token on one chain by the books, the chain and the inventory ledger, in base units. */
export interface Reconciled {
  chain: string;
  token: string;
  address: string;
  /** null: the token is not configured any more. */
  decimals: number | null;
  block: bigint;
  journal: bigint;
  chainSays: bigint | null;
  /** null while the inventory ledger is at another block. */
  ledger: bigint | null;
  difference: bigint | null;
}

/** The native currency of an operator, running or rotated out, in wei. */
export interface ReconciledGas {
  chain: string;
  operator: Address;
  /** Of the native currency, such as "ETH". */
  symbol: string;
  decimals: number;
  block: bigint;
  journal: bigint;
  chainSays: bigint;
  difference: bigint;
}

export interface Totals extends ProfitSums {
  realised: bigint;
  unrealised: bigint;
  /** spread + realised + unrealised - gas - lost - bridgeFees - transferGas. */
  total: bigint;
}

/** Every figure is what was booked in the window; `unrealised` is its change over the window. */
export interface Profit extends ProfitWindow {
  by: ProfitKey;
  rows: ShownProfitRow[];
  /** Of all trades of the window, whatever the limit of `rows`. */
  totals: Totals;
  transfers: TransferCosts;
  positions: PositionInWindow[];
  /** Unix ms. A window that starts earlier counts from here, except that of all time; null: no such limit. */
  timedFromMs: number | null;
}

/** What is held is null when the window ended in the past. */
interface PositionInWindow {
  asset: string;
  quantity: bigint | null;
  /** USD for one whole token; null when there is no price. */
  price: number | null;
  valueMicros: bigint | null;
  costMicros: bigint | null;
  realisedMicros: bigint;
  unrealisedMicros: bigint;
  ownerMicros: bigint;
}

export type Accounts = ReturnType<typeof createAccounts>;

/** Most notes waiting for the database. Chain facts never wait here: they are read from the chain. */
const MOST_NOTES = 20_000;
const NOTES_AT_ONCE = 200;
const NATIVE_DECIMALS = 18;
const PRICE_PATIENCE_MS = 30_000;
const TAKERS_EVERY_MS = 5_000;
const STATEMENT_PAGE = 500;
/** Between two facts the change of value is known by time to this. */
const REVALUE_EVERY_MS = 60_000;
const SECOND_LOOK_MS = 2_000;
/** No quote lives longer. An order accepted later than this was quoted by this process. */
const LONGEST_LIFE_MS = 20 * 60_000;

export function createAccounts(deps: AccountsDeps, options: AccountsOptions) {
  const { store, chains, takers, clock, log } = deps;
  const { account, tokens, reconcileMs } = options;
  const recentQuotes = createRecentQuotes(options.explain);
  const reader = createChainReader(deps, options);
  const { infoOf, exchangeOf } = reader;
  const notes: Note[] = [];
  let epoch: number | undefined;
  let books: Books | undefined;
  let lost = false;
  let { resting } = options;
  let startedMs = Number.POSITIVE_INFINITY;
  let takersWrittenMs = 0;
  let revaluedMs = Number.NEGATIVE_INFINITY;
  const unexplained: StoredExplanation[] = [];
  let stale = true;
  let heardMs = 0;
  let stopped = false;
  let cancel = () => {};
  /** Blocks up to which the books are compared before the first quote. */
  let due: ReadonlyMap<number, bigint> | undefined;

  const slugOf = (chainId: number): string => reader.described.get(chainId)?.slug ?? String(chainId);

  const markouts = createMarkouts({
    clock,
    mid: midOf,
    marked({ orderId, taker, pair }, horizon, mark) {
      note({ kind: 'mark', orderId, horizon, mark });
      // A late mark measures the market, not the taker; one asset on two chains has no mid. Neither teaches
      // anything.
      if (mark.bps !== null && !mark.late && hasMid(pair)) takers.learn(taker, horizon, mark.bps, mark.atMs);
    },
  });

  const { fold, tradeOf } = createFolder({
    clock,
    reader,
    routes: deps.routes,
    usd: deps.usd,
    native: deps.native,
    mid: midOf,
    found: (trade) => markouts.watch(trade),
  });

  const pairOf = (pairName: string) => deps.routes().all.find((each) => each.pairName === pairName)?.pair;
  const hasMid = (pairName: string): boolean => pairOf(pairName)?.base !== pairOf(pairName)?.quote;

  function midOf(pairName: string): number | undefined {
    const pair = pairOf(pairName);
    if (pair === undefined) return undefined;
    const price = deps.market().pair(pair.base, pair.quote);
    return isDecline(price) ? undefined : price.mid.value;
  }

  function note(made: Note): void {
    if (resting) return;
    if (notes.length >= MOST_NOTES)
      return log.error(
        { kind: made.kind },
        'the accounting queue is full: a note was dropped, and its trade will be marked as late',
      );
    notes.push(made);
  }

  const placeOf = ({ chainId, blockNumber, blockHash, txHash }: ChainSighting, atMs: number): FactPlace => ({
    chainId,
    block: blockNumber,
    blockHash,
    txHash,
    atMs,
  });

  const listener: QuoteEventListener = {
    quoted: recentQuotes.quoted,
    declined: recentQuotes.declined,
    accepted(award: OpenAward) {
      const { orderId, slice, order, quoteId, acceptedAtMs } = award;
      const exchange = exchangeOf(orderId, slice, order);
      recentQuotes.accepted(orderId);
      const record = recentQuotes.quote(orderId);
      // Acceptance time and mid are unknown when an earlier process or another replica quoted.
      const trade = tradeOf(
        exchange,
        order,
        acceptedAtMs,
        quoteId === ZERO_BYTES32 ? (record?.quoteId ?? null) : quoteId,
        record === undefined && !options.resting && clock.monotonicMs() - startedMs < LONGEST_LIFE_MS,
      );
      note({ kind: 'accepted', trade, record });
      // Only this replica knows the inputs of this price.
      if (resting && record !== undefined && unexplained.length < MOST_NOTES)
        unexplained.push(explanationOf(record));
      if (!resting) markouts.watch(trade);
      kick();
    },
    filled: ({ orderId, slice, order }, seen) =>
      note({
        kind: 'filled',
        exchange: exchangeOf(orderId, slice, order),
        place: placeOf(seen, clock.nowMs()),
      }),
    unfilled: ({ orderId }, was) => note({ kind: 'unfilled', orderId, was, atMs: clock.nowMs() }),
    failed: ({ orderId }) => note({ kind: 'failed', orderId }),
  };

  async function explainAccepted(): Promise<void> {
    const rows = unexplained.splice(0, NOTES_AT_ONCE);
    if (rows.length === 0) return;
    await store.explain(rows).catch((error: unknown) => {
      unexplained.unshift(...rows);
      throw error;
    });
  }

  async function load(owner: number): Promise<Books> {
    const [opening, all, ids] = await Promise.all([
      store.open(owner),
      store.profit('pair', { sinceMs: 0, untilMs: null }, 1),
      store.known(tokens.map(({ chainId, token }) => idOf.opening(chainId, token))),
    ]);
    if (stale) takers.load(opening.takers);
    stale = false;
    return {
      journal: createAccountingLedger(opening),
      cursors: new Map(opening.cursors.map((cursor) => [cursor.chainId, cursor])),
      gas: new Map(opening.gas.map((cursor) => [gasKey(cursor), cursor])),
      began: new Map(opening.began.map(({ chainId, block }) => [chainId, block])),
      positions: new Map(opening.positions.map((row) => [row.asset, row])),
      trades: new Map(opening.trades.map((trade) => [trade.orderId, trade])),
      opened: new Set(ids),
      sums: sumsOf(all),
    };
  }

  async function heldBooks(owner: number): Promise<Books> {
    if (books !== undefined) return books;
    books = await load(owner);
    watchAgain(books);
    return books;
  }

  async function pass(): Promise<void> {
    if (epoch === undefined || lost) return;
    const held = await heldBooks(epoch);
    const taken = notes.slice(0, NOTES_AT_ONCE);
    const readings: Reading[] = [];
    const openings: OpeningBalances[] = [];
    const patient = clock.monotonicMs() - startedMs < PRICE_PATIENCE_MS;
    // During a stop only notes are written: chain facts can be read again.
    for (const chainId of stopped ? [] : chains.keys()) {
      try {
        const opening = await reader.opening(held, chainId, patient);
        if (opening !== undefined) openings.push(opening);
        const reading = await reader.next(held, chainId, patient);
        if (reading !== undefined) readings.push(reading);
      } catch (error) {
        // A chain that fails must not keep the other chains out of the books.
        log.warn(
          { chain: slugOf(chainId), error },
          'a chain could not be read for the books; the next pass tries again',
        );
      }
    }
    const inFlight = openings.flatMap((opening) => (opening.fresh ? filledBefore(opening) : []));
    const facts = readings.flatMap((reading) => reading.facts);
    const seen = taken.flatMap((made) =>
      made.kind === 'filled'
        ? [idOf.fill(made.exchange.orderId, made.place), idOf.sent(made.exchange.orderId, made.place)]
        : [],
    );
    const transferIds = facts.flatMap((fact) =>
      'transfer' in fact && fact.transfer !== undefined ? [fact.transfer.id] : [],
    );
    const [known, stored] = await Promise.all([
      store.known([...facts.map(({ id }) => id), ...seen, ...transferIds.map(idOf.departed)]),
      store.transfers(transferIds),
    ]);
    const transfers = new Map(stored.map((transfer) => [transfer.id, transfer]));
    const older = await olderTrades(held, taken, facts);
    const rows = clock.monotonicMs() - takersWrittenMs >= TAKERS_EVERY_MS || stopped ? takers.changed() : [];
    const revalue = clock.monotonicMs() - revaluedMs >= REVALUE_EVERY_MS || stopped;
    if (![taken, readings, openings, rows].some(({ length }) => length > 0) && !revalue) return;
    try {
      const batch = {
        ...fold(held, { openings, readings, notes: taken, known, older, transfers, inFlight, revalue }),
        takers: rows,
      };
      if (!(await store.write(batch))) {
        lost = true;
        return log.warn({}, 'another process keeps the books now; this one writes nothing more');
      }
    } catch (error) {
      // Memory may be ahead of the store, so the next pass loads it again.
      books = undefined;
      takers.again(rows);
      throw error;
    }
    notes.splice(0, taken.length);
    if (rows.length > 0) takersWrittenMs = clock.monotonicMs();
    if (revalue) revaluedMs = clock.monotonicMs();
    forget(held);
    // Continue immediately only if a chain that answered has more blocks.
    const behind = readings.some(
      ({ cursor: { chainId, block } }) => (deps.final(chainId)?.block ?? 0n) > block,
    );
    if (notes.length > 0 || behind) void passes.run();
  }

  /** Unclaimed fills from before the books opened: their input is an asset from the start. */
  function filledBefore({ cursor: { chainId, block } }: OpeningBalances): Exchange[] {
    return deps.open().flatMap(({ orderId, slice, order, fill, stage }) => {
      const owed =
        stage === 'filled' &&
        fill !== null &&
        slice.destChainId === chainId &&
        slice.originChainId !== chainId &&
        fill.blockNumber <= block;
      return owed ? [exchangeOf(orderId, slice, order)] : [];
    });
  }

  async function olderTrades(
    { trades }: Books,
    taken: readonly Note[],
    facts: Reading['facts'],
  ): Promise<Map<Bytes32, TradeRecord>> {
    const ids = new Set<Bytes32>();
    for (const made of taken)
      if (made.kind !== 'adjusted')
        ids.add(
          made.kind === 'accepted'
            ? made.trade.orderId
            : made.kind === 'filled'
              ? made.exchange.orderId
              : made.orderId,
        );
    for (const fact of facts) {
      if ('exchange' in fact) ids.add(fact.exchange.orderId);
      else if (fact.kind === 'gas' && fact.orderId !== null) ids.add(fact.orderId);
    }
    const found = await Promise.all([...ids].filter((id) => !trades.has(id)).map((id) => store.trade(id)));
    return new Map(found.flatMap((trade) => (trade === undefined ? [] : [[trade.orderId, trade]])));
  }

  let watched = false;
  function watchAgain({ trades }: Books): void {
    if (watched) return;
    watched = true;
    for (const trade of trades.values()) markouts.watch(trade, trade.marks);
  }

  const passes = createPasses(pass);

  const quietly = () =>
    passes
      .run()
      .catch((error: unknown) =>
        log.warn({ error }, 'the books could not be updated; the next pass tries again'),
      );

  function kick(): void {
    if (epoch !== undefined && !stopped) void quietly().then(check);
  }

  function loop(): void {
    cancel = clock.after(
      options.journal.everyMs,
      () =>
        void quietly()
          .then(check)
          .finally(() => stopped || resting || loop()),
    );
  }

  const unread = () =>
    [...(due ?? [])].filter(([chainId, block]) => (books?.cursors.get(chainId)?.block ?? 0n) < block);

  let checked: Reconciled[] = [];
  let checkedGas: ReconciledGas[] = [];
  let checkedMs = Number.NEGATIVE_INFINITY;
  const saidDifferences = new Map<string, bigint>();
  const gasNameOf = ({ chain, operator }: ReconciledGas) => `native of ${operator} on ${chain}`;

  async function check(): Promise<void> {
    const [chainBehind] = unread();
    if (stopped || lost || chainBehind !== undefined) return;
    if (due === undefined && clock.monotonicMs() - checkedMs < reconcileMs) return;
    checkedMs = clock.monotonicMs();
    const now = await Promise.all([reconcile(), reconcileGas()]).catch((error: unknown) =>
      log.warn({ error }, 'the books could not be compared with the chains; the next interval tries again'),
    );
    if (now === undefined) return;
    const before = new Map(checkedGas.map((row) => [gasNameOf(row), row.difference]));
    [checked, checkedGas] = now;
    due = undefined;
    // A transaction is mined some moments before its gas is booked.
    const lasting = checkedGas.filter((row) => before.get(gasNameOf(row)) === row.difference);
    for (const { chain, token, symbol, decimals, block, journal, chainSays, difference } of [
      ...checked.map((row) => ({ ...row, symbol: row.token })),
      ...lasting.map((row) => ({ ...row, token: gasNameOf(row) })),
    ]) {
      const shownAs = (amount: bigint) => formatTokens(amount, { decimals, symbol });
      const said = saidDifferences.get(`${chain} ${token}`) ?? 0n;
      if ((difference ?? 0n) === said) continue;
      saidDifferences.set(`${chain} ${token}`, difference ?? 0n);
      if (difference === null || chainSays === null) continue;
      if (difference === 0n) log.warn({ chain, token, block }, 'books and chain agree again');
      else
        log.error(
          {
            ...{ chain, token, block },
            ...{ journal: shownAs(journal), chainSays: shownAs(chainSays), difference: shownAs(difference) },
          },
          'books and chain differ, and nothing is adjusted automatically: find what moved (docs/lp/reconcile.md)',
        );
    }
  }

  async function reconcile(): Promise<Reconciled[]> {
    const held = books;
    if (held === undefined) return [];
    const due = tokens.filter(({ chainId, token }) => held.opened.has(idOf.opening(chainId, token)));
    return Promise.all(
      due.map(async ({ chainId, token }): Promise<Reconciled> => {
        const block = held.cursors.get(chainId)?.block ?? 0n;
        // Read both before the first await: they must be of the same block.
        const journal = held.journal.inventory({ chainId, token });
        const ledger =
          deps.final(chainId)?.block === block ? (deps.ledger.bucket(chainId, token)?.onchain ?? null) : null;
        const chainSays = (await chains.get(chainId)?.ledgerBalance(account, token, block)) ?? null;
        return {
          chain: slugOf(chainId),
          token: infoOf({ chainId, token })?.symbol ?? token,
          address: token,
          decimals: infoOf({ chainId, token })?.decimals ?? null,
          block,
          journal,
          chainSays,
          ledger,
          difference: chainSays === null ? null : chainSays - journal,
        };
      }),
    );
  }

  /** Native currency of every operator. Transfers to it emit no event and show as a difference. */
  async function reconcileGas(): Promise<ReconciledGas[]> {
    const held = books;
    if (held === undefined) return [];
    return Promise.all(
      [...held.gas.values()].flatMap(({ chainId, operator }) => {
        const port = chains.get(chainId);
        const block = held.cursors.get(chainId)?.block ?? 0n;
        const journal = held.journal.gas(chainId, operator);
        return port === undefined ? [] : [compareGas(port, operator, block, journal)];
      }),
    );
  }

  async function compareGas(
    port: ChainPort,
    operator: Address,
    block: bigint,
    journal: bigint,
  ): Promise<ReconciledGas> {
    const chainSays = await port.nativeBalance(operator, block);
    const { slug: chain, id } = port.chain;
    return {
      ...{ chain, operator, symbol: deps.nativeSymbol(id), decimals: NATIVE_DECIMALS },
      ...{ block, journal, chainSays, difference: chainSays - journal },
    };
  }

  const views = (held: Books | undefined): PositionView[] =>
    [...(held?.positions.values() ?? [])].map((row) => positionViewOf(row, deps.usd(row.asset)));

  /** What the value has changed by since the position was last written. */
  function sinceValued(
    row: PositionRow | undefined,
    view: PositionView | undefined,
    sinceMs: number,
  ): bigint {
    if (row === undefined || (view?.unrealisedMicros ?? null) === null || row.unpriced !== 0n) return 0n;
    if (row.unrealisedMicros === null && sinceMs > 0) return 0n;
    return (view?.unrealisedMicros ?? 0n) - (row.unrealisedMicros ?? 0n);
  }

  function totalsOf(
    sums: Books['sums'],
    positions: readonly Pick<PositionView, 'realisedMicros' | 'unrealisedMicros'>[],
  ): Totals {
    const realised = positions.reduce((sum, each) => sum + each.realisedMicros, 0n);
    const unrealised = positions.reduce((sum, each) => sum + (each.unrealisedMicros ?? 0n), 0n);
    return {
      ...sums,
      realised,
      unrealised,
      total: sums.spread + realised + unrealised - sums.gas - sums.lost - sums.bridgeFees - sums.transferGas,
    };
  }

  const symbolOf = ({ chainId, token }: Pick<Balance, 'chainId' | 'token'>) => {
    const { decimals, token: symbol } = shown({ account: '', chainId, token, amount: 0n });
    return {
      chain: slugOf(chainId),
      symbol: symbol === 'native' ? deps.nativeSymbol(chainId) : symbol,
      decimals,
    };
  };

  function shown({ account: name, chainId, token, amount }: Balance) {
    const info = token === 'native' ? undefined : infoOf({ chainId, token });
    return {
      account: name,
      chain: slugOf(chainId),
      token: info?.symbol ?? token,
      /** null: the token is not configured any more. */
      decimals: token === 'native' ? NATIVE_DECIMALS : (info?.decimals ?? null),
      amount,
    };
  }

  return {
    listener,
    /** Loads the books and keeps them. Pricing has the taker costs when it resolves. */
    async start(owner: number) {
      startedMs = clock.monotonicMs();
      resting = false;
      // Chain facts are read later, while the LP already quotes.
      await heldBooks(owner).catch((error: unknown) =>
        log.error({ error }, 'the books could not be opened: takers are priced as strangers until they are'),
      );
      // Replicas quote while the lead changes hands. A chain without books has nothing to compare.
      const finals = [...(options.resting ? [] : (books?.cursors.keys() ?? []))].map(
        (chainId) => [chainId, deps.final(chainId)?.block ?? 0n] as const,
      );
      due = finals.length === 0 ? undefined : new Map(finals);
      epoch = owner;
      kick();
      loop();
    },
    /** Another replica takes over. Resolves after the last write. */
    async rest() {
      resting = true;
      cancel();
      await passes.running?.catch(() => {});
      [epoch, books, lost, stale, due] = [undefined, undefined, false, true, undefined];
      notes.length = 0;
    },
    /**
     * Loads taker costs of the leading replica and stores explanations of this one. Rejects when the store
     * does.
     */
    async heed() {
      await explainAccepted();
      if (!resting) return;
      const rows = await store.takersSince(heardMs);
      if (!resting) return;
      takers.load(rows);
      for (const { seenMs } of rows) heardMs = Math.max(heardMs, seenMs);
    },
    /**
     * Call after the last block was processed. Unwritten facts are read from the chains at the next start.
     */
    async stop() {
      stopped = true;
      cancel();
      markouts.stop();
      await explainAccepted().catch((error: unknown) =>
        log.warn({ error }, 'explanations of some accepted quotes could not be stored'),
      );
      await quietly();
    },
    /** Quotes and declines since then that are still in memory. */
    recentAnswers: recentQuotes.since,
    async explain(id: string) {
      const wanted = id.toLowerCase();
      const live = recentQuotes.explain(wanted);
      const named = new Set(live.map((each) => (each.kind === 'quote' ? each.orderId : each.rfqId)));
      const stored = (await store.explanations(wanted)).map(({ explanation }) => explanation as Explanation);
      return [...live, ...stored.filter((each) => each.kind === 'quote' && !named.has(each.orderId))];
    },
    async profit({ by, limit, ...window }: ProfitWindow & { by: ProfitKey; limit: number }): Promise<Profit> {
      const stored = await store.profit(by, window, limit);
      const { rows, assets, transfers, timedFromMs } = stored;
      const held = window.untilMs === null ? books?.positions : undefined;
      const positions = [...new Set([...(held?.keys() ?? []), ...assets.map(({ asset }) => asset)])].map(
        (asset): PositionInWindow => {
          const booked = assets.find((each) => each.asset === asset);
          const row = held?.get(asset);
          const view = row && positionViewOf(row, deps.usd(asset));
          return {
            asset,
            quantity: view?.quantity ?? null,
            price: view?.price ?? null,
            valueMicros: view?.valueMicros ?? null,
            costMicros: view?.costMicros ?? null,
            realisedMicros: booked?.realised ?? 0n,
            unrealisedMicros: (booked?.unrealised ?? 0n) + sinceValued(row, view, window.sinceMs),
            ownerMicros: booked?.owner ?? 0n,
          };
        },
      );
      const shown = rows.map(({ trade, ...row }): ShownProfitRow => ({
        ...row,
        ...(trade && { trade: showTrade(trade, infoOf) }),
      }));
      const totals = totalsOf(sumsOf(stored), positions);
      return { ...window, by, rows: shown, totals, transfers, positions, timedFromMs };
    },
    /** Newest first, of those that moved or cost something in the window. */
    transfers: (window: ProfitWindow, limit: number) => store.transfersIn(window, limit),
    reconcile,
    reconcileGas,
    reconciled: () => checked,
    reconciledGas: () => checkedGas,
    /**
     * Books an explained difference of a token symbol, or of the 'native' currency of an operator. Resolves
     * with it in tokens. Throws `RequestError` unless `amount` equals the current difference in base units.
     */
    async adjust(chain: string, token: string, amount: bigint, operator: Address = options.operator) {
      const look = async () => {
        await passes.run();
        return token === 'native'
          ? (await reconcileGas())
              .filter((row) => row.operator === operator)
              .map((row) => ({ ...row, token, address: 'native' as const }))
          : (await reconcile()).map((row) => ({ ...row, symbol: row.token }));
      };
      const rows = await look();
      const row = rows.find((each) => each.chain === chain && each.token === token);
      if (row === undefined)
        throw new RequestError(
          `The books have no ${token}${token === 'native' ? ` of ${operator}` : ''} on ${chain}. They have: ${rows.map((each) => `${each.token} on ${each.chain}`).join(', ') || 'nothing yet'}.`,
          { code: 'bad_request' },
        );
      if (row.difference === null || row.difference === 0n)
        throw new RequestError(`Books and chain agree on ${token} on ${chain}: there is nothing to adjust.`, {
          code: 'nothing_to_adjust',
        });
      if (row.difference !== amount)
        throw new RequestError(
          `The difference is ${formatTokens(row.difference, row)} on ${chain}, not ${formatTokens(amount, row)}. Look again (firmquote lp journal) and name exactly what you have explained.`,
          { code: 'wrong_amount' },
        );
      // A movement that was not booked yet has disappeared by the second read.
      await new Promise<void>((resolve) => clock.after(SECOND_LOOK_MS, resolve));
      const again = (await look()).find((each) => each.chain === chain && each.token === token);
      if (again?.difference !== amount)
        throw new RequestError(
          `The difference of ${token} on ${chain} is changing: the books are still reading it. Try again in a few seconds.`,
          { code: 'not_settled' },
        );
      const chainId = [...reader.described.values()].find(({ slug }) => slug === chain)?.id ?? 0;
      note({
        kind: 'adjusted',
        money:
          row.address === 'native'
            ? { chainId, token: row.address, operator, amount }
            : { chainId, token: row.address as Address, amount },
        block: row.block,
        atMs: clock.nowMs(),
      });
      await passes.run();
      checkedMs = Number.NEGATIVE_INFINITY;
      return formatTokens(amount, row);
    },
    /** What is not compared with the chains yet since `start`; undefined when nothing is left. */
    behind(): string | undefined {
      if (due === undefined || lost) return undefined;
      const [first] = unread();
      if (first === undefined) return 'comparing the accounting ledger with the chains';
      const [chainId, block] = first;
      const blocks = block - (books?.cursors.get(chainId)?.block ?? 0n);
      return `${slugOf(chainId)}: the accounting ledger has ${blocks} blocks to read before anything is signed`;
    },
    async entries(orderId: Bytes32) {
      const entries = await store.entries(orderId);
      return entries.map(({ postings, ...entry }) => ({
        ...entry,
        postings: postings.map((posting) => ({ ...posting, ...symbolOf(posting) })),
      }));
    },
    balances: () => (books?.journal.balances() ?? []).map(shown),
    /**
     * A page of the entries of a window. `last`: of the first page, so that later entries change nothing; the
     * first page has the balances at both ends. `next`: `after` of the next page; null: no more.
     */
    async statement(of: Statement, { after, last }: { after: number; last: number | undefined }) {
      const ends = last === undefined ? await store.statement(of) : { last, opening: [], closing: [] };
      const entries = await store.statementEntries(of, { after, last: ends.last, limit: STATEMENT_PAGE });
      return {
        last: ends.last,
        opening: ends.opening.map(shown),
        closing: ends.closing.map(shown),
        entries: entries.map(({ postings, ...entry }) => ({ ...entry, postings: postings.map(shown) })),
        next: entries.length < STATEMENT_PAGE ? null : (entries.at(-1)?.n ?? null),
      };
    },
    totals: () => books && totalsOf(books.sums, views(books)),
    positions: () => views(books),
    lag: () => ({
      waiting: notes.length,
      // From the chain's head: what keeps the books from reading may keep the inventory ledger as well. Empty
      // where another process keeps the books, or nobody does.
      chains: (epoch === undefined || lost ? [] : [...chains]).map(([chainId, port]) => {
        const final = (port.head()?.number ?? 0n) - BigInt(port.chain.depth);
        const read = books?.cursors.get(chainId)?.block ?? 0n;
        return { chain: port.chain.slug, blocks: final > read ? Number(final - read) : 0 };
      }),
    }),
  };
}

const sumsOf = ({
  all: { grossMicros, feesMicros, gasMicros, lostMicros, markMicros },
  transfers,
}: Pick<StoredProfit, 'all' | 'transfers'>): ProfitSums => ({
  spread: grossMicros - feesMicros,
  fees: feesMicros,
  gas: gasMicros,
  lost: lostMicros,
  markout_1s: markMicros[1] ?? 0n,
  markout_10s: markMicros[10] ?? 0n,
  markout_60s: markMicros[60] ?? 0n,
  bridgeFees: transfers.feesMicros,
  transferGas: transfers.gasMicros,
});
