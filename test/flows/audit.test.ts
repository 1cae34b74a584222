/**
 * `firmquote audit`: silent about a sound system, at rest and at work; and one unit wrong anywhere is found,
 * there and nowhere else.
 */

import { concat, encodeAbiParameters, keccak256, pad, toHex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rebuildTrades } from '../../src/adapters/postgres/trades/trade-rebuild.ts';
import { auditVenue, type AuditReport } from '../../src/apps/audit/audit.ts';
import type { Kind } from '../../src/apps/audit/difference.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import { DEPLOYER, FEE_RECIPIENT } from '../support/devnet.ts';
import { type Settling, startSettling, type Worker } from '../support/settling.ts';

let ground: Settling;
let worker: Worker;
let settled: NewOrder;
let split: NewOrder;
let crossed: NewOrder;

const audit = (patienceMs = 0): Promise<AuditReport> =>
  auditVenue(
    {
      db: ground.db,
      chains: ground.devnet.chains.map(({ port }) => port),
      startBlock: () => 0,
      sleep: (ms) => sleep(ms),
    },
    { sinceMs: 0, patienceMs, everyMs: 250 },
  );
const sql = (text: string, ...values: unknown[]) => ground.db.query(text, values);
const id = ({ orderId }: NewOrder) => Buffer.from(orderId.slice(2), 'hex');
const seen = (report: AuditReport) =>
  report.differences.map(({ kind, by }) => (by === undefined ? kind : `${kind} ${by}`));

beforeAll(async () => {
  ground = await startSettling([41_501, 41_502]);
  worker = await ground.worker();
  settled = await ground.accept({ relayFee: 1_000n });
  split = await ground.accept({ lps: ground.lps.map((account) => ({ account })) });
  crossed = await ground.accept({ dest: ground.there });
  await ground.reach('escrowed', [crossed]);
  await ground.fill(crossed);
  await ground.reach('settled', [settled, split, crossed]);
}, 120_000);
afterAll(() => ground.stop());

test('a consistent system: everything is compared and nothing differs', async () => {
  // Patience, because the snapshot of the database is older than the block that it is compared with.
  const report = await audit(20_000);
  expect(report).toMatchObject({ differences: [], unasked: [] });
  expect(report.compared).toMatchObject({ orders: 3, outputs: 4, 'idempotency keys': 3 });
  expect(report.compared['slots']).toBeGreaterThanOrEqual(4);
});

test('a busy system differs only temporarily', async () => {
  const done = new AbortController();
  const mining = (async () => {
    while (!done.signal.aborted) {
      await ground.mine();
      await sleep(30);
    }
  })();
  const trades: NewOrder[] = [];
  const trading = (async () => {
    for (let n = 0; n < 12; n += 1)
      trades.push(
        await ground.accept(n % 3 === 0 ? { lps: ground.lps.map((account) => ({ account })) } : {}),
      );
  })();
  // Until the last of them is settled, one audit after the other.
  do expect(await audit(60_000)).toMatchObject({ differences: [], unasked: [] });
  while (
    trades.length < 12 ||
    (await Promise.all(trades.map((trade) => ground.stageOf(trade)))).some((stage) => stage !== 'settled')
  );
  await trading;
  done.abort();
  await mining;
});

describe('one planted difference in the database', () => {
  /** What is changed, the difference that must be found, alone, and how it is put right again. */
  const PLANTED: [Kind, string | undefined, () => Promise<unknown>, () => Promise<unknown>][] = [
    [
      'order_row',
      undefined,
      () => sql(`update trade_order set status = 'failed' where order_id = $1`, id(settled)),
      () => sql(`update trade_order set status = 'settled' where order_id = $1`, id(settled)),
    ],
    [
      'fact_sequence',
      undefined,
      () => sql('update trade_order set last_seq = last_seq + 1 where order_id = $1', id(settled)),
      () => sql('update trade_order set last_seq = last_seq - 1 where order_id = $1', id(settled)),
    ],
    [
      'fact_without_event',
      undefined,
      () =>
        sql(
          `update order_event set order_id = $2 where order_id = $1 and type = 'order.settled'`,
          id(split),
          id(settled),
        ).catch(() =>
          sql(`delete from order_event where order_id = $1 and type = 'order.settled'`, id(split)),
        ),
      () =>
        sql(
          `insert into order_event (order_id, seq, type, occurred_at_ms) values ($1, 2, 'order.settled', 1)`,
          id(split),
        ),
    ],
    [
      'event_without_fact',
      undefined,
      () =>
        sql(
          `insert into order_event (order_id, seq, type, occurred_at_ms) values ($1, 3, 'order.failed', 1)`,
          id(split),
        ),
      () => sql(`delete from order_event where order_id = $1 and seq = 3`, id(split)),
    ],
    ['output_amount', '1', () => bumpFill(1n), () => bumpFill(-1n)],
    [
      'trade_row',
      undefined,
      () => sql('update trade set amount = amount + 1 where order_id = $1', id(settled)),
      () => sql('update trade set amount = amount - 1 where order_id = $1', id(settled)),
    ],
    [
      'idempotency',
      undefined,
      () =>
        sql(
          `insert into idempotency values ('test', 'rfq', 'test', 'orphan', 'x', $1, '{}', 1)`,
          Buffer.alloc(32, 9),
        ),
      () => sql(`delete from idempotency where key = 'orphan'`),
    ],
    [
      'solver_account',
      undefined,
      () =>
        sql(
          `update trade_order set commitments = jsonb_set(commitments, '{0,lp}', to_jsonb($2::text)) where order_id = $1`,
          id(crossed),
          ground.lps[1]?.address,
        ),
      () =>
        sql(
          `update trade_order set commitments = jsonb_set(commitments, '{0,lp}', to_jsonb($2::text)) where order_id = $1`,
          id(crossed),
          ground.lps[0]?.address,
        ),
    ],
    ['fact_without_log', undefined, mirrorEnd, mirrorEnd],
    [
      'delivery_row',
      undefined,
      () =>
        sql(
          `insert into ledger_delivery values ($1, 0, $2, '0x00', '0x00', 1, 0, false, 0, 0)`,
          id(settled),
          ground.here.chain.id,
        ),
      () => sql('delete from ledger_delivery'),
    ],
    [
      'nonce_gap',
      undefined,
      () =>
        sql(
          'update tx_slot set nonce = 900, state = $1 where id = (select max(id) from tx_slot where chain_id = $2)',
          'open',
          ground.here.chain.id,
        ).then(() => sql('update tx_signer set next_nonce = 901 where chain_id = $1', ground.here.chain.id)),
      async () => {
        await sql(
          'update tx_slot set nonce = (select max(nonce) + 1 from tx_slot where chain_id = $1 and nonce < 900), state = $2 where nonce = 900',
          ground.here.chain.id,
          'mined',
        );
        await sql(
          'update tx_signer s set next_nonce = (select max(nonce) + 1 from tx_slot t where t.chain_id = s.chain_id and t.signer = s.signer) where chain_id = $1',
          ground.here.chain.id,
        );
      },
    ],
    [
      'next_nonce',
      undefined,
      () => sql('update tx_signer set next_nonce = next_nonce + 1 where chain_id = $1', ground.here.chain.id),
      () => sql('update tx_signer set next_nonce = next_nonce - 1 where chain_id = $1', ground.here.chain.id),
    ],
    [
      'slot_state',
      undefined,
      () => sql(`update tx_slot set state = 'open' where id = (select min(id) from tx_slot)`),
      () => sql(`update tx_slot set state = 'mined' where id = (select min(id) from tx_slot)`),
    ],
  ];

  beforeAll(async () => {
    // Nobody puts right what is planted, and nothing is in flight.
    await worker.stop();
    await ground.store.trades.adopt();
    await ground.store.trades.fold();
  });

  test.each(PLANTED)('%s', async (kind, by, plant, undo) => {
    await plant();
    const report = await audit();
    await undo();
    expect(seen(report), JSON.stringify(report.differences)).toEqual([
      by === undefined ? kind : `${kind} ${by}`,
    ]);
    expect(await audit()).toMatchObject({ differences: [] });
  });

  test('trade_count: one row too many', async () => {
    const bump = (by: number) =>
      sql(
        'update trade_count set n = n + $1 where sort = 0 and cell = (select min(cell) from trade_count where sort = 0 and cell >= 0)',
        by,
      );
    await bump(1);
    const report = await audit();
    await bump(-1);
    expect(seen(report)).toEqual(['trade_count 1']);
  });

  test('order_status: a recorded settlement that the escrow does not have', async () => {
    const open = await ground.accept();
    await sql(
      `insert into order_fact select $1, f.seq, f.recorded_at_ms, f.fact from order_fact f where order_id = $2 and seq > 1`,
      id(open),
      id(settled),
    );
    await sql(
      `update trade_order set status = 'settled', final = true, last_seq = (select count(*) from order_fact where order_id = $1) where order_id = $1`,
      id(open),
    );
    await sql(
      `insert into order_event (order_id, seq, type, occurred_at_ms) values ($1, 2, 'order.settled', 1)`,
      id(open),
    );
    await rebuildTrades(ground.db);
    const report = await audit();
    for (const table of ['order_event', 'order_fact', 'idempotency', 'trade_fresh', 'trade', 'trade_order'])
      await sql(`delete from ${table} where order_id = $1`, id(open));
    await rebuildTrades(ground.db);
    expect(seen(report)).toEqual(['order_status']);
    expect(report.differences[0]).toMatchObject({
      subject: open.orderId,
      expected: `none on chain ${ground.here.chain.id}`,
      found: 'claimed in the database',
    });
    expect(await audit()).toMatchObject({ differences: [] });
  });

  test('unknown_order: an order on chain that the database does not have', async () => {
    const tables = ['trade_order', 'order_fact', 'order_event', 'idempotency', 'trade', 'order_gas'];
    for (const table of tables)
      await sql(`create table kept_${table} as select * from ${table} where order_id = $1`, id(crossed));
    for (const table of tables.toReversed())
      await sql(`delete from ${table} where order_id = $1`, id(crossed));
    await rebuildTrades(ground.db);
    const report = await audit();
    for (const table of tables) {
      await sql(`insert into ${table} select * from kept_${table}`);
      await sql(`drop table kept_${table}`);
    }
    await rebuildTrades(ground.db);
    expect(seen(report)).toEqual(['unknown_order']);
    expect(await audit()).toMatchObject({ differences: [] });
  });

  /** History is a view of facts, so it goes along; who reads the chain finds the fact. */
  async function bumpFill(by: bigint): Promise<void> {
    await sql(
      `update order_fact set fact = jsonb_set(fact, '{amount}', to_jsonb(((fact ->> 'amount')::numeric + $2)::text)) where order_id = $1 and fact ->> 'kind' = 'filled'`,
      id(settled),
      by.toString(),
    );
    await rebuildTrades(ground.db);
  }

  /** The transaction that paid the inputs out, under another name; twice is the old one. */
  async function mirrorEnd(): Promise<void> {
    await sql(
      `update order_fact set fact = jsonb_set(fact, '{evidence,txHash}', to_jsonb('0x' || translate(substr(fact -> 'evidence' ->> 'txHash', 3), '0123456789abcdef', 'fedcba9876543210'))) where order_id = $1 and fact ->> 'kind' = 'finalised'`,
      id(crossed),
    );
    await rebuildTrades(ground.db);
  }
});

describe('one planted difference on the chain', () => {
  test('log_without_fact: a step of the escrow that is not recorded', async () => {
    const lost = await ground.accept({ dest: ground.there });
    const other = await ground.worker();
    await ground.reach('escrowed', [lost]);
    await other.stop();
    await ground.fill(lost);
    await ground.mine(3);
    await synced();
    expect(seen(await audit())).toEqual(['log_without_fact']);
    const again = await ground.worker();
    await ground.reach('settled', [lost]);
    await again.stop();
    await ground.store.trades.fold();
    expect(seen(await audit())).toEqual([]);
  });

  test('fee_sum: one unit moved from an LP to the fee recipient', async () => {
    const { anvil, chain, usdc } = ground.here;
    const slotOf = (who: Address) =>
      keccak256(
        concat([
          pad(usdc.address),
          keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [who, 0n])),
        ]),
      );
    const move = async (who: Address, by: bigint) => {
      const slot = slotOf(who);
      const now = BigInt(await anvil.rpc<Hex>('eth_getStorageAt', [chain.escrow, slot, 'latest']));
      // Above the balance are the fees beside it.
      expect(BigInt.asUintN(128, now)).toBe(await ground.here.port.ledgerBalance(who, usdc.address));
      await anvil.rpc('anvil_setStorageAt', [chain.escrow, slot, toHex(now + by, { size: 32 })]);
    };
    await move(FEE_RECIPIENT.address, 1n);
    await move((ground.lps[0] as { address: Address }).address, -1n);
    await ground.mine(3);
    await synced();
    expect(seen(await audit())).toEqual(['fee_sum 1']);
    await move(FEE_RECIPIENT.address, -1n);
    await move((ground.lps[0] as { address: Address }).address, 1n);
    await ground.mine(3);
    await synced();
    expect(seen(await audit())).toEqual([]);
  });

  test('escrow_balance: one unit in the contract that is in no ledger', async () => {
    await ground.here.fund(DEPLOYER.address, 1n);
    await ground.here.send(
      DEPLOYER.address,
      ground.here.usdc.address,
      concat(['0xa9059cbb', pad(ground.here.chain.escrow), pad('0x1', { size: 32 })]),
    );
    await ground.mine(3);
    await synced();
    expect(seen(await audit())).toEqual(['escrow_balance 1']);
  });
});

test('a chain that does not answer is reported as unanswered, not as a difference', async () => {
  const silent = {
    ...ground.there.port,
    block: () => Promise.reject(new Error('away')),
    events: () => Promise.reject(new Error('away')),
  };
  const report = await auditVenue(
    { db: ground.db, chains: [silent], startBlock: () => 0, sleep: (ms) => sleep(ms) },
    { sinceMs: 0, patienceMs: 0 },
  );
  expect(report.differences).toEqual([]);
  expect(report.unasked).toEqual([
    { what: `everything on ${ground.there.chain.slug}`, why: 'no node answered with a final block' },
  ]);
});

/** The ports have seen the newest block. */
async function synced(): Promise<void> {
  for (const { anvil, port } of ground.devnet.chains) {
    const mined = BigInt(await anvil.rpc<Hex>('eth_blockNumber'));
    while ((port.head()?.number ?? -1n) < mined) await sleep(10);
  }
}
