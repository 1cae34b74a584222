/** Derives trade rows from orders and facts. */

import { decodeContext } from '../../../domain/context.ts';
import type { Address, Bytes32, Hex } from '../../../domain/hex.ts';
import type { RecordedFact } from '../../../domain/fact.ts';
import type { NewOrder, OrderRecord } from '../../../ports/stores/store.ts';
import type {
  OrderKind,
  TradeBook,
  TradeLegName,
  TradeFamily,
  TradeRow,
  TradeTerms,
} from '../../../ports/stores/trades.ts';
import { type OrderStage, STAGES } from '../../../settlement/lifecycle.ts';
import { tradeState, type TradeState } from '../../../settlement/trade-state.ts';
import type { Queryable, Row } from '../pool.ts';
import { select, toHex } from '../rows.ts';

export const CELL_STAGES = STAGES.length;
export const stageRank = (stage: OrderStage): number => STAGES.indexOf(stage);
export const cellOf = (family: number, stage: OrderStage): number => family * CELL_STAGES + stageRank(stage);

/** Old candidates lack some of these. */
interface Quoted {
  lpSpreadBps?: number | null;
  platformFeeBps?: number | null;
  composite?: { legs?: TradeLegName[] } | null;
  preview?: { outputs?: { amount?: string; minimumAmount?: string | null }[] };
}

export function tradeTerms(order: NewOrder): TradeTerms {
  const [first] = order.order.outputs;
  const [input] = order.order.inputs;
  if (!first || !input) throw new RangeError('An order has an input and an output.');
  const contexts = order.order.outputs.map(({ context }) => decodeContext(context));
  const quoted = JSON.parse(order.candidate) as Quoted;
  const amount = order.order.outputs.reduce((sum, output) => sum + output.amount, 0n).toString();
  const shown = quoted.preview?.outputs?.[0];
  return {
    executionMode: order.executionMode,
    sourceChainId: order.originChainId,
    destChainId: Number(first.chainId),
    lp:
      order.solverIds[largest(contexts.map((context) => context?.portionBps ?? 0))] ??
      order.solverIds[0] ??
      '',
    orderKind: kindOf(order, quoted),
    ...legsOf(order, quoted),
    input: { token: tokenOf(input[0]), amount: input[1].toString() },
    output: {
      token: addressIn(first.token),
      amount,
      ...(shown?.amount !== undefined &&
        shown.minimumAmount === amount &&
        shown.amount !== amount && { quoted: shown.amount }),
    },
    platformFeeBps: contexts[0]?.feeBps ?? quoted.platformFeeBps ?? null,
    lpSpreadBps: quoted.lpSpreadBps ?? null,
    deferred: first.recipient === first.settler,
  };
}

function kindOf({ namespace, order, route }: NewOrder, { composite }: Quoted): OrderKind {
  const legs = namespace === 'router' ? (composite?.legs ?? []) : [];
  if (legs.length > order.outputs.length) return 'route_composite';
  if (route !== null) return 'route_dex';
  return order.outputs.length > 1 ? 'rfq_split' : 'rfq_direct';
}

function legsOf(
  { namespace, order, solverIds, route }: NewOrder,
  { composite }: Quoted,
): Pick<TradeTerms, 'legs'> {
  const legs = namespace === 'router' ? composite?.legs : undefined;
  if (legs)
    return {
      legs: legs.map(({ kind, solverId, dependsOn, fees }) => ({
        ...{ kind, solverId, dependsOn },
        ...(fees !== undefined && { fees }),
      })),
    };
  if (route !== null || order.outputs.length < 2) return {};
  return { legs: solverIds.map((solverId) => ({ kind: 'rfq', solverId, dependsOn: [] })) };
}

const largest = (values: readonly number[]): number =>
  values.reduce((best, value, index) => (value > (values[best] ?? 0) ? index : best), 0);
const tokenOf = (token: bigint): Address => `0x${token.toString(16).padStart(40, '0').slice(-40)}`;
/** Cuts off invalid upper bytes. */
const addressIn = (word: Bytes32): Address => `0x${word.slice(-40)}`;

export function tradeColumns(record: OrderRecord) {
  const state = tradeState(record.order, record.facts);
  return {
    created_at_ms: record.createdAtMs,
    amount: record.amountUsd ?? -1,
    speed_ms: speedOf(record.createdAtMs, state),
    terms: JSON.stringify(tradeTerms(record)),
    state: JSON.stringify(state),
    rank: stageRank(state.stage),
  };
}

const speedOf = (createdAtMs: number, { settledAtMs }: TradeState): number =>
  settledAtMs === null ? -1 : Math.max(0, settledAtMs - createdAtMs);

export function transactionsOf(facts: readonly RecordedFact['fact'][]): { chainId: number; txHash: Hex }[] {
  const found = facts.flatMap((fact): [string, { chainId: number; txHash: Hex }][] => {
    if (!('evidence' in fact)) return [];
    const { chainId, txHash } = fact.evidence;
    return [[`${chainId} ${txHash}`, { chainId, txHash }]];
  });
  return [...new Map(found).values()];
}

export interface TradeDbRow extends Row {
  order_id: Buffer;
  created_at_ms: number;
  amount: number;
  speed_ms: number;
  terms: TradeTerms;
  state: TradeState;
  member: string;
}

export const TRADE_COLUMNS = 't.order_id, t.created_at_ms, t.amount, t.speed_ms, t.terms, t.state, f.member';

export const tradeFromRow = (row: TradeDbRow): TradeRow => ({
  orderId: toHex(row.order_id),
  createdAtMs: row.created_at_ms,
  memberId: row.member === '' ? null : row.member,
  amountUsd: row.amount < 0 ? null : row.amount,
  speedMs: row.speed_ms < 0 ? null : row.speed_ms,
  terms: row.terms,
  state: row.state,
});

export interface Families {
  /** Stores the book and the family of an order where they are new, and returns their ids. */
  of(order: NewOrder, terms: TradeTerms): Promise<{ book: number; family: number }>;
  /** Returns the id of a book; undefined while it has no orders. */
  book(book: TradeBook): Promise<number | undefined>;
  list(book: number): Promise<readonly TradeFamily[]>;
}

/** Families never change, so they are cached. */
export function createFamilies(db: Queryable): Families {
  const books = new Map<string, Promise<number>>();
  const families = new Map<string, Promise<number>>();
  const lists = new Map<number, readonly TradeFamily[]>();

  function once(
    known: Map<string, Promise<number>>,
    key: string,
    ask: () => Promise<number>,
  ): Promise<number> {
    const found = known.get(key);
    if (found) return found;
    const asked = ask();
    known.set(key, asked);
    asked.catch(() => known.delete(key));
    return asked;
  }

  async function bookOf({ workspaceId, mode }: TradeBook): Promise<number> {
    await db.query(
      'insert into trade_book (workspace_id, mode) select $1, $2 where not exists (select from ' +
        'trade_book where workspace_id = $1 and mode = $2) on conflict do nothing',
      [workspaceId, mode],
    );
    const [row] = await db.query<{ id: number }>(
      'select id from trade_book where workspace_id = $1 and mode = $2',
      [workspaceId, mode],
    );
    return (row as { id: number }).id;
  }

  async function familyOf(
    book: number,
    { sourceChainId, destChainId, lp, orderKind }: TradeTerms,
    member: string,
  ): Promise<number> {
    const values = [book, sourceChainId, destChainId, lp, member, orderKind];
    const which =
      'book = $1 and source_chain = $2 and dest_chain = $3 and lp = $4 and member = $5 and kind = $6';
    await db.query(
      'insert into trade_family (book, source_chain, dest_chain, lp, member, kind) select $1, $2, ' +
        `$3, $4, $5, $6 where not exists (select from trade_family where ${which}) on conflict do ` +
        'nothing',
      values,
    );
    const [row] = await db.query<{ id: number }>(`select id from trade_family where ${which}`, values);
    return (row as { id: number }).id;
  }

  return {
    async of(order, terms) {
      const member = order.memberId ?? '';
      const book = await once(books, `${order.mode} ${order.workspaceId}`, () => bookOf(order));
      const key = JSON.stringify([
        book,
        terms.sourceChainId,
        terms.destChainId,
        terms.lp,
        member,
        terms.orderKind,
      ]);
      return { book, family: await once(families, key, () => familyOf(book, terms, member)) };
    },
    async book({ workspaceId, mode }) {
      const known = books.get(`${mode} ${workspaceId}`);
      if (known) return known;
      const [row] = await db.query<{ id: number }>(
        { name: 'trade-book', text: 'select id from trade_book where workspace_id = $1 and mode = $2' },
        [workspaceId, mode],
      );
      if (row) books.set(`${mode} ${workspaceId}`, Promise.resolve(row.id));
      return row?.id;
    },
    async list(book) {
      const known = lists.get(book);
      const [row] = await db.query<{ n: number }>(
        { name: 'trade-families-known', text: 'select count(*) as n from trade_family where book = $1' },
        [book],
      );
      if (known && known.length === row?.n) return known;
      const rows = await select<TradeFamily>(
        db,
        {
          name: 'trade-families',
          text: 'select id, source_chain as source_chain_id, dest_chain as dest_chain_id, lp, member as member_id, kind as order_kind from trade_family where book = $1 order by id',
        },
        [book],
      );
      const list = rows.map((family) => ({ ...family, memberId: family.memberId || null }));
      lists.set(book, list);
      return list;
    },
  };
}
