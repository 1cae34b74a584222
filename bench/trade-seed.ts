/**
 * Generates trade history in bulk: orders with all the facts that settlement would record, equal for equal
 * seeds.
 */

import { assetId } from '../src/domain/asset.ts';
import { encodeContext } from '../src/domain/context.ts';
import type { Chain, TokenInfo } from '../src/domain/chain.ts';
import type { Evidence, Fact } from '../src/domain/fact.ts';
import { addressToBytes32, type Address, type Bytes32, bytesToHex, type Hex } from '../src/domain/hex.ts';
import { type MandateOutput, orderId as orderIdOf, type StandardOrder } from '../src/domain/order.ts';
import type { OrderRecord } from '../src/ports/stores/store.ts';
import type { Leg } from '../src/protocol/api/router.ts';
import type { TradeBook } from '../src/ports/stores/trades.ts';
import { encodeFunding } from '../src/settlement/funding.ts';
import { foldFacts } from '../src/settlement/lifecycle.ts';
import { NEW_ORDER_COLUMNS, orderToValues, toJson } from '../src/adapters/postgres/venue/order-rows.ts';
import type { Database, Queryable } from '../src/adapters/postgres/pool.ts';
import { recountTrades } from '../src/adapters/postgres/trades/trade-counts.ts';
import {
  CELL_STAGES,
  createFamilies,
  tradeColumns,
  tradeTerms,
  transactionsOf,
} from '../src/adapters/postgres/trades/trade-rows.ts';

export interface TradeSeed {
  book: TradeBook;
  rows: number;
  /** Equal seeds generate equal trades, but for the times, which depend on `untilMs`. */
  seed: number;
  chains: readonly Chain[];
  lps: readonly string[];
  members: readonly string[];
  /** Unix ms; the trades are created during the `days` before it. */
  untilMs: number;
  days: number;
  /** Whole USD by price symbol. */
  usd: Readonly<Record<string, number>>;
}

/** Returns ids of the LPs and of the workspace's members; adds some where there are none. */
export async function seedPeople(
  db: Database,
  workspaceId: string,
): Promise<{ lps: string[]; members: string[] }> {
  const ids = async (text: string, values: unknown[] = []) =>
    (await db.query<{ id: string }>(text, values)).map(({ id }) => id);
  if ((await ids('select id from solver limit 1')).length === 0)
    await db.query(
      `insert into solver (id, name, kind, disabled) select 'seed-lp-' || n, 'Seed maker ' || n, ` +
        `'lp', true from generate_series(1, 5) n`,
    );
  if ((await ids('select id from member where workspace_id = $1 limit 1', [workspaceId])).length === 0) {
    await db.query(
      `insert into member (workspace_id, id, first_name, last_name, email, role, kyc_status, joined_at_ms)
       select $1, 'seed-member-' || n, 'Person ' || n, 'Seed', 'person' || n || '@example.com', case n when 1 then 'owner' when 2 then 'admin' else 'member' end, 'verified', 1700000000000 from generate_series(1, 8) n`,
      [workspaceId],
    );
  }
  return {
    lps: await ids('select id from solver order by id'),
    members: await ids('select id from member where workspace_id = $1 order by id', [workspaceId]),
  };
}

const BATCH = 1_000;
const PATHS = 2;
/** How many of the newest trades may be open, as in a real venue. */
const MAX_OPEN = 200;

/** Returns the number of rows added. Prices, sizes and signatures are random, so no order verifies. */
export async function seedTrades(
  db: Database,
  seed: TradeSeed,
  progress: (done: number) => void = () => {},
): Promise<number> {
  const families = createFamilies(db);
  const random = randomOf(seed.seed);
  let done = 0;
  let book: number | undefined;
  const types = await columnTypes(db);
  const [{ trusted } = { trusted: false }] = await db.query<{ trusted: boolean }>(
    `select current_setting('is_superuser') = 'on' as trusted`,
  );
  async function write(records: readonly OrderRecord[]): Promise<void> {
    const trades: unknown[][] = [];
    for (const record of records) {
      const columns = tradeColumns(record);
      const found = await families.of(record, tradeTerms(record));
      book = found.book;
      trades.push([
        record.orderId,
        found.book,
        found.family * CELL_STAGES + columns.rank,
        columns.created_at_ms,
        columns.amount,
        columns.speed_ms,
        columns.terms,
        columns.state,
      ]);
    }
    await db.transaction(async (session) => {
      // Skips foreign-key checks (needs superuser): each order is written in this transaction.
      if (trusted) await session.query('set local session_replication_role = replica');
      const put = (table: string, columns: readonly string[], rows: readonly (readonly unknown[])[]) =>
        insertRows(session, types, table, columns, rows);
      const folded = records.map((record) =>
        foldFacts(
          record.order,
          record.facts.map(({ fact }) => fact),
        ),
      );
      await put(
        'trade_order',
        [...NEW_ORDER_COLUMNS, 'response', 'updated_at_ms', 'status', 'final', 'last_seq'],
        records.map((record, index) => {
          const { status, final } = folded[index] as (typeof folded)[number];
          return [...orderToValues(record), '{}', record.updatedAtMs, status, final, record.facts.length];
        }),
      );
      await put(
        'order_fact',
        ['order_id', 'seq', 'recorded_at_ms', 'fact'],
        records.flatMap(({ orderId, facts }) =>
          facts.map(({ seq, recordedAtMs, fact }) => [orderId, seq, recordedAtMs, toJson(fact)]),
        ),
      );
      await put(
        'trade',
        ['order_id', 'book', 'cell', 'created_at_ms', 'amount', 'speed_ms', 'terms', 'state'],
        trades,
      );
      // The trigger does not run where foreign keys are not checked.
      if (trusted)
        await put(
          'trade_position',
          ['order_id', 'book'],
          trades.map(([orderId, book]) => [orderId, book]),
        );
      await put(
        'order_gas',
        [
          'order_id',
          'chain_id',
          'tx_hash',
          'due_at_ms',
          'gas_used',
          'fee_wei',
          'native_usd',
          'captured_at_ms',
        ],
        records.flatMap(({ orderId, facts, updatedAtMs }) =>
          transactionsOf(facts.map(({ fact }) => fact)).map(({ chainId, txHash }) => [
            orderId,
            chainId,
            txHash,
            updatedAtMs,
            196_000,
            196_000_000_000_000,
            seed.usd['ETH'] ?? null,
            updatedAtMs,
          ]),
        ),
      );
    });
    done += records.length;
    progress(done);
  }

  const working = new Set<Promise<void>>();
  for (let at = 0; at < seed.rows; at += BATCH) {
    const records = Array.from({ length: Math.min(BATCH, seed.rows - at) }, (_, index) =>
      makeTrade(seed, random, at + index),
    );
    const batch: Promise<void> = write(records).finally(() => working.delete(batch));
    working.add(batch);
    if (working.size >= PATHS) await Promise.race(working);
  }
  await Promise.all(working);
  if (book !== undefined) await recountTrades(db, book);
  return done;
}

type Random = ReturnType<typeof randomOf>;

/** Draws with Mulberry32, a small seeded generator with the same output on every machine. */
function randomOf(seed: number) {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let word = Math.imul(state ^ (state >>> 15), 1 | state);
    word ^= word + Math.imul(word ^ (word >>> 7), 61 | word);
    return ((word ^ (word >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    unit: next,
    below: (n: number) => Math.floor(next() * n),
    pick: <T>(from: readonly T[]): T =>
      from[Math.min(from.length - 1, Math.floor(next() ** 1.6 * from.length))] as T,
    hex(bytes: number): Hex {
      const buffer = Buffer.allocUnsafe(Math.ceil(bytes / 4) * 4);
      for (let at = 0; at < bytes; at += 4) buffer.writeUInt32BE(Math.floor(next() * 2 ** 32), at);
      return bytesToHex(buffer.subarray(0, bytes));
    },
  };
}

function makeTrade(seed: TradeSeed, random: Random, n: number): OrderRecord {
  const { chains, untilMs, days, rows, usd } = seed;
  const source = random.pick(chains);
  const dest = random.unit() < 0.7 ? source : random.pick(chains);
  const input = random.pick(source.tokens);
  const others = dest.tokens.filter(
    ({ address, symbol }) => dest !== source || (address !== input.address && symbol !== input.symbol),
  );
  const output = random.pick(others.length > 0 ? others : dest.tokens);
  const createdAtMs = Math.floor(untilMs - days * 86_400_000 * (1 - (n + random.unit()) / rows));
  const amountUsd = Math.round(10 ** (1 + random.unit() * 4.5) * 100) / 100;
  const units = (token: TokenInfo, worth: number) =>
    (BigInt(Math.round((worth / (usd[token.priceSymbol ?? ''] ?? 1)) * 1e6)) *
      10n ** BigInt(token.decimals)) /
      1_000_000n +
    1n;
  const parts = random.unit() < 0.12 && seed.lps.length > 1 ? 2 : 1;
  const first = random.pick(seed.lps);
  const lps = parts === 1 ? [first] : [first, seed.lps.find((lp) => lp !== first) as string];
  const seconds = Math.floor(createdAtMs / 1000);
  const order = makeOrder(random, {
    source,
    dest,
    input,
    output,
    inputAmount: units(input, amountUsd),
    outputAmount: units(output, amountUsd * 0.9985),
    parts,
    fillDeadline: seconds + 90,
  });
  const orderId = orderIdOf({ chainId: source.id, escrow: source.escrow }, order);
  const quoteId = random.hex(32);
  const router = parts === 1 && random.unit() < 0.08;
  const legs = router ? 1 + random.below(2) : 0;
  const facts = factsOf(random, order, createdAtMs, rows - n, source, dest);
  return {
    orderId,
    quoteId,
    workspaceId: seed.book.workspaceId,
    keyId: 'seed',
    memberId: random.unit() < 0.05 ? null : random.pick(seed.members),
    namespace: router ? 'router' : 'rfq',
    mode: seed.book.mode,
    executionMode: random.unit() < 0.8 ? 'apiSubmit' : 'walletBroadcast',
    originChainId: source.id,
    destChainIds: [dest.id],
    order,
    validUntil: seconds + 30,
    commitments: lps.map(() => ({
      lp: random.hex(20),
      deadline: order.fillDeadline,
      signature: random.hex(65),
    })),
    solverIds: lps,
    signature: random.hex(65),
    signScheme: 'EIP712',
    funding: encodeFunding({ mode: 'resourceLock', orderSignature: random.hex(65) }),
    candidate: JSON.stringify({
      quoteId,
      solverId: first,
      order: null,
      preview: { inputs: [previewOf(source, input, usd)], outputs: [previewOf(dest, output, usd)] },
      platformFeeBps: 2,
      lpSpreadBps: 3 + random.below(20),
      composite: legs === 0 ? null : { executionModel: 'atomic', legs: legsOf(legs, first, order) },
    }),
    referenceId: null,
    amountUsd: random.unit() < 0.01 ? null : amountUsd,
    route: router ? { venueId: 'seed-dex', kind: 'dex', through: null } : null,
    parentOrderId: null,
    screening: null,
    travelRule: null,
    createdAtMs,
    updatedAtMs: facts.at(-1)?.recordedAtMs ?? createdAtMs,
    facts,
  };
}

const previewOf = ({ id }: Chain, { address, priceSymbol }: TokenInfo, usd: TradeSeed['usd']) => ({
  asset: assetId({ chainId: id, token: address }),
  priceUsd: usd[priceSymbol ?? ''] ?? null,
});

/** Legs of an atomic route. The second leg swaps the output token into itself: there is no middle token. */
function legsOf(n: number, solverId: string, { originChainId, inputs, outputs }: StandardOrder): Leg[] {
  const chainId = Number(originChainId);
  const [[token, amount], output] = [inputs[0] as readonly [bigint, bigint], outputs[0] as MandateOutput];
  const input = {
    asset: assetId({ chainId, token: `0x${token.toString(16).padStart(40, '0')}` }),
    amount: amount.toString(),
  };
  const delivered = {
    asset: assetId({ chainId: Number(output.chainId), token: `0x${output.token.slice(26)}` }),
    amount: output.amount.toString(),
    minimumAmount: output.amount.toString(),
  };
  return Array.from({ length: n }, (_, index) => ({
    index,
    kind: 'dex',
    solverId,
    venue: 'seed-dex',
    chainId,
    input: index === 0 ? input : { asset: delivered.asset, amount: delivered.amount },
    output: delivered,
    eta: null,
    dependsOn: index === 0 ? [] : [index - 1],
  }));
}

function makeOrder(
  random: Random,
  {
    source,
    dest,
    input,
    output,
    inputAmount,
    outputAmount,
    parts,
    fillDeadline,
  }: {
    source: Chain;
    dest: Chain;
    input: TokenInfo;
    output: TokenInfo;
    inputAmount: bigint;
    outputAmount: bigint;
    parts: number;
    fillDeadline: number;
  },
): StandardOrder {
  const user: Address = random.hex(20);
  return {
    user,
    nonce: BigInt(random.hex(32)),
    originChainId: BigInt(source.id),
    fillDeadline,
    expires: fillDeadline + 3_600,
    inputOracle: source === dest ? source.escrow : source.oracle,
    inputs: [[BigInt(input.address), inputAmount]],
    outputs: Array.from({ length: parts }, (_, index) => ({
      oracle: addressToBytes32(source === dest ? dest.escrow : dest.oracle),
      settler: addressToBytes32(dest.escrow),
      chainId: BigInt(dest.id),
      token: addressToBytes32(output.address),
      amount: outputAmount / BigInt(parts),
      recipient: addressToBytes32(user),
      callbackData: '0x' as const,
      context: encodeContext({
        exclusiveFor: random.hex(20),
        startTime: fillDeadline + 1,
        portionBps: parts === 1 ? 10_000 : index === 0 ? 6_000 : 4_000,
        feeBps: 2,
        relayFee: 500_000n,
      }),
    })),
  };
}

/** About 3 % of the trades are refunded, 2 % fail before opening, and only the newest are still open. */
function factsOf(
  random: Random,
  order: StandardOrder,
  createdAtMs: number,
  age: number,
  source: Chain,
  dest: Chain,
): OrderRecord['facts'] {
  let atMs = createdAtMs;
  const facts: { seq: number; recordedAtMs: number; fact: Fact }[] = [];
  const add = (fact: Fact, afterMs: number) => {
    atMs += Math.round(afterMs);
    facts.push({ seq: facts.length + 1, recordedAtMs: atMs, fact });
  };
  const evidence = (chain: Chain, txHash: Bytes32 = random.hex(32)): Evidence => ({
    chainId: chain.id,
    txHash,
    blockNumber: BigInt(Math.floor(atMs / 2_000)),
    blockHash: random.hex(32),
    at: Math.floor(atMs / 1000),
  });
  const slow = 1 + random.unit() ** 4 * 8;
  const fate = random.unit();
  const stop = age <= MAX_OPEN && random.unit() < 0.8 ? random.below(4) : 9;
  add({ kind: 'accepted' }, 0);
  if (stop === 0) return facts;
  if (fate < 0.02) {
    add(
      {
        kind: 'failed',
        failure: {
          code: 'funding_failed',
          message: 'The input could not be collected before the fill deadline.',
        },
      },
      95_000,
    );
    return facts;
  }
  const opening = evidence(source);
  add(
    { kind: 'sent', step: source === dest ? 'settle' : 'open', chainId: source.id, txHash: opening.txHash },
    40 + random.below(200),
  );
  add({ kind: 'opened', evidence: opening }, (600 + random.below(1_500)) * slow);
  if (stop === 1) return facts;
  if (source !== dest && fate < 0.1) {
    add(
      {
        kind: 'failed',
        failure: {
          code: 'expired_unfilled',
          message: 'The output was not delivered before the fill deadline.',
        },
      },
      95_000,
    );
    if (stop !== 2) add({ kind: 'refunded', evidence: evidence(source) }, 3_600_000 + random.below(9_000));
    return facts;
  }
  const delivery = source === dest ? opening : evidence(dest);
  order.outputs.forEach(({ amount }, outputIndex) =>
    add(
      {
        kind: 'filled',
        outputIndex,
        solver: `0x${'11'.repeat(20)}`,
        timestamp: Math.floor(atMs / 1000),
        amount,
        evidence: delivery,
      },
      source === dest ? 0 : (900 + random.below(2_000)) * slow,
    ),
  );
  if (source === dest) {
    add({ kind: 'finalised', evidence: delivery }, 0);
    return facts;
  }
  if (stop === 2) return facts;
  const proof = evidence(source);
  order.outputs.forEach((_, outputIndex) =>
    add(
      { kind: 'attested', outputIndex, payloadHash: random.hex(32), evidence: proof },
      (500 + random.below(900)) * slow,
    ),
  );
  if (stop !== 3) add({ kind: 'finalised', evidence: evidence(source) }, (500 + random.below(900)) * slow);
  return facts;
}

async function columnTypes(db: Database): Promise<ReadonlyMap<string, string>> {
  const rows = await db.query<{ name: string; type: string }>(
    `select c.relname || '.' || a.attname as name, format_type(a.atttypid, a.atttypmod) as type from ` +
      'pg_attribute a join pg_class c on c.oid = a.attrelid where c.relnamespace = $1::regnamespace ' +
      'and a.attnum > 0',
    [db.schema],
  );
  return new Map(rows.map(({ name, type }) => [name, type]));
}

/** Inserts all rows in one statement: each column is passed as a text array and cast to its type. */
async function insertRows(
  session: Queryable,
  types: ReadonlyMap<string, string>,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly unknown[])[],
): Promise<void> {
  if (rows.length === 0) return;
  const arrays = columns.map((_, index) => rows.map((row) => textOf(row[index])));
  const read = columns.map((column, index) => `c${index}::${types.get(`${table}.${column}`)}`);
  await session.query(
    {
      name: `seed-${table}`,
      text: `insert into ${table} (${columns.join(', ')}) select ${read.join(', ')} from unnest(${columns.map((_, index) => `$${index + 1}::text[]`).join(', ')}) as x (${columns.map((_, index) => `c${index}`).join(', ')})`,
    },
    arrays,
  );
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  if (Buffer.isBuffer(value)) return `\\x${value.toString('hex')}`;
  if (Array.isArray(value))
    return `{${value.map((item) => (typeof item === 'number' ? item : JSON.stringify(item))).join(',')}}`;
  const text = String(value);
  return /^0x[0-9a-f]{64}$/.test(text) ? `\\x${text.slice(2)}` : text;
}
