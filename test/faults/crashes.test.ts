/** Processes that die at the worst times, in one world. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestChain } from '../support/devnet.ts';
import { diceOf } from './seed.ts';
import { broken, sceneOf } from './support/checker.ts';
import { type Client, patiently, type Prepared, someUsdc } from './support/client.ts';
import type { CrashPoint } from './support/crash.ts';
import { startTcpProxy } from './support/tcp-proxy.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let chain: TestChain;
let client: Client;
/** Replaces the database URL for the venue's next start. */
let databaseUrl: string | undefined;

beforeAll(async () => {
  world = await startWorld({
    chainIds: [31_601],
    validitySeconds: 300,
    ownDatabase: true,
    configure: (part, config) =>
      part === 'venue' && databaseUrl !== undefined ? { ...config, database: { url: databaseUrl } } : config,
  });
  [chain] = world.devnet.chains as [TestChain];
  await world.startAll();
  client = await world.client();
});
afterAll(() => world?.stop());

/** The venue restarts with a fault in it, and this process signs a quote. */
async function doomed(env: NodeJS.ProcessEnv, id: string): Promise<Prepared> {
  const dice = diceOf(id);
  await world.venue().kill();
  await world.venue().start(env, 'ready');
  return client.prepare({ usdc: someUsdc(dice) });
}

async function back(): Promise<void> {
  await world.venue().died();
  await world.venue().start({}, 'ready');
}

const REUSED = { status: 422, json: { detail: [{ type: 'idempotency_key_reuse' }] } };
const bytes = (hex: string) => Buffer.from(hex.slice(2), 'hex');
const ordersOf = async ({ candidate }: Prepared) =>
  (
    await world.database.query<{ id: string }>(
      `select '0x' || encode(order_id, 'hex') as id from trade_order where quote_id = $1`,
      [bytes(candidate.quoteId)],
    )
  ).map(({ id }) => id);
const nonce = () => chain.port.transactionCount(world.relayer.address, 'latest');
const unharmed = async () => expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
async function settles(id: string | undefined): Promise<void> {
  const { status, failure } = await client.ended(id ?? '');
  expect(status, `${JSON.stringify(failure)}\n${world.venue().said().slice(-6_000)}`).toBe('settled');
}

/** The last signed bytes, and their step. */
async function lastAttempt(): Promise<{ slot: number; hash: string }> {
  const [row] = await world.database.query<{ slot: number; hash: string }>(
    `select slot_id as slot, '0x' || encode(hash, 'hex') as hash from tx_attempt order by slot_id desc, n desc limit 1`,
  );
  if (!row) throw new Error('nothing was signed');
  return row;
}
const slotState = (slot: number) =>
  world.database.query<{ state: string; hash: string; attempts: number }>(
    `select state, '0x' || encode(mined_hash, 'hex') as hash, (select count(*)::int from tx_attempt where slot_id = $1) as attempts from tx_slot where id = $1`,
    [slot],
  );

test('F1: killed between verifying and committing', async () => {
  const prepared = await doomed({ CRASH_AT: 'before_commit' }, 'F1');
  expect(await client.submit(prepared, 'f1')).toBeUndefined();
  await back();
  expect(await ordersOf(prepared)).toEqual([]);
  const ids = await Promise.all([
    client.insist(prepared, 'f1'),
    client.insist(prepared, 'f1'),
    client.insist(prepared, 'f1'),
  ]);
  expect(await ordersOf(prepared)).toEqual([...new Set(ids)]);
  await settles(ids[0]);
  await unharmed();
});

test('F2: killed between committing and answering', async () => {
  const prepared = await doomed({ CRASH_AT: 'before_reply' }, 'F2');
  expect(await client.submit(prepared, 'f2')).toBeUndefined();
  await back();
  const [id] = await ordersOf(prepared);
  // The key was stored with the order, so nothing else can use it, before or after its owner restarts.
  expect(await client.submit(await client.prepare(), 'f2')).toMatchObject(REUSED);
  expect(await client.insist(prepared, 'f2')).toBe(id);
  // A client that lost its key gets the same order, not a second one or a refusal.
  expect(await client.insist(prepared, 'f2-anew')).toBe(id);
  await settles(id);
  await unharmed();
});

/** Dies at this point of an order's settlement. Returns what it had signed by then, and how to continue. */
async function dieSettling(
  point: CrashPoint,
  id: string,
): Promise<{ prepared: Prepared; usedBefore: number; key: string }> {
  const prepared = await doomed({ CRASH_AT: point }, id);
  const usedBefore = await nonce();
  const key = id.toLowerCase();
  // It may die before the answer or after.
  await client.submit(prepared, key);
  await world.venue().died();
  return { prepared, usedBefore, key };
}

test('F3: killed after claiming an order, before signing', async () => {
  const { prepared, usedBefore, key } = await dieSettling('after_claim', 'F3');
  const [id] = await ordersOf(prepared);
  expect(
    await world.database.query(
      `select 1 from trade_order where order_id = $1 and owner is not null and lease_until > '-infinity'`,
      [bytes(id ?? '')],
    ),
  ).toHaveLength(1);
  await back();
  expect(await client.insist(prepared, key)).toBe(id);
  await settles(id);
  expect(await nonce()).toBe(usedBefore + 1);
  await unharmed();
});

test('F4: killed with signed bytes in the database that no node has received', async () => {
  const { prepared, usedBefore, key } = await dieSettling('after_sign', 'F4');
  const { slot, hash } = await lastAttempt();
  expect(await chain.anvil.rpc('eth_getTransactionByHash', [hash])).toBeNull();
  await back();
  await settles(await client.insist(prepared, key));
  await expect.poll(() => slotState(slot)).toEqual([{ state: 'mined', hash, attempts: 1 }]);
  expect(await nonce()).toBe(usedBefore + 1);
  await unharmed();
});

test('F5: killed after broadcasting, before recording the broadcast', async () => {
  const prepared = await doomed({ CRASH_AT: 'after_send' }, 'F5');
  const usedBefore = await nonce();
  await chain.anvil.rpc('evm_setIntervalMining', [0]);
  await client.submit(prepared, 'f5');
  await world.venue().died();
  const { slot, hash } = await lastAttempt();
  expect(await chain.anvil.rpc('eth_getTransactionByHash', [hash])).toMatchObject({ blockNumber: null });
  await back();
  // The bytes are sent once more, and the node answers that it has them.
  await chain.anvil.rpc('evm_setIntervalMining', [1]);
  await settles(await client.insist(prepared, 'f5'));
  await expect.poll(() => slotState(slot)).toEqual([{ state: 'mined', hash, attempts: 1 }]);
  expect(await nonce()).toBe(usedBefore + 1);
  await unharmed();
});

test('F12: the database dies while an order commits, and the client cannot tell whether it committed', async () => {
  const proxy = await startTcpProxy(world.postgres.url);
  databaseUrl = `${proxy.url.slice(0, proxy.url.lastIndexOf('/'))}/venue`;
  try {
    for (const committed of diceOf('F12').next() < 0.5 ? [true, false] : [false, true]) {
      const key = `f12-${committed}`;
      // The second submission, because by then the process has prepared the statement.
      const first = await doomed({ HOLD_AT: 'before_commit:2' }, 'F12');
      const warm = await client.insist(first, `${key}-first`);
      const prepared = await client.prepare();
      // A database is killed meanwhile, which takes a busy machine its time.
      const said = client.submit(prepared, key, 100_000);
      await world.venue().says('reached before_commit');
      proxy.set({ kind: 'half_open', stopped: committed ? 'down' : 'up' });
      world.venue().release();
      if (committed) await patiently(async () => (await ordersOf(prepared))[0]);
      await world.killDatabase();
      proxy.cut();
      proxy.set({ kind: 'pass' });
      expect((await said)?.status, world.venue().said().slice(-4_000)).toBe(503);
      await world.startDatabase();
      const [before] = await patiently(async () => ordersOf(prepared).catch(() => undefined));
      expect(before !== undefined).toBe(committed);
      if (committed) {
        const other = await client.prepare();
        // A venue whose database has just returned may still shed load.
        expect(
          await patiently(async () =>
            client.submit(other, key).then((answer) => (answer?.status === 503 ? undefined : answer)),
          ),
        ).toMatchObject(REUSED);
      }
      const id = await client.insist(prepared, key);
      expect(await ordersOf(prepared)).toEqual([id]);
      if (committed) expect(id).toBe(before);
      await settles(warm);
      await settles(id);
    }
    await unharmed();
  } finally {
    await proxy.stop();
    databaseUrl = undefined;
  }
});
