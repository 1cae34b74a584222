/** A partner's reconciliation file against the venue's records: equal after real trades, every lie named. */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSecretFile } from '../../src/adapters/keystore/file.ts';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import type { Hex } from '../../src/domain/hex.ts';
import { commandHere } from '../support/command.ts';
import { account } from '../support/devnet.ts';
import { startTestPartner, type TestPartner } from '../support/partner.ts';
import { type RouterWorld, startRouterWorld } from '../support/router.ts';

let w: RouterWorld;
let partner: TestPartner;
let folder: string;
let config: string;
const [owner, operator] = [account(6_940), account(6_941)];
const filled: Hex[] = [];
let lines: Record<string, unknown>[];
/** Of the chains, in UTC. */
let day: string;

beforeAll(async () => {
  w = await startRouterWorld(
    { chainIds: [31_465, 31_466], landingMarginSeconds: 20, router: { maxMiddles: 0, timeoutMs: 5_000 } },
    async ([a, b]) => {
      for (const chain of [a, b]) await chain.fund(owner.address);
      await b.deposit(owner.address, b.usdc.address, 50_000_000_000n);
      partner = await startTestPartner({ chains: [a, b], account: owner, operator });
      return [partner.venue];
    },
  );
  folder = await mkdtemp(join(tmpdir(), 'fq-reconcile-'));
  await writeSecretFile(join(folder, 'secrets', 'partners.pem'), partner.venueKey);
  config = join(folder, 'venue.json');
  const secret = { env: 'SECRET' };
  await writeFile(
    config,
    JSON.stringify({
      ...{ app: 'venue', venueId: 'test', http: { port: await freePort() }, ops: { port: 0 } },
      database: { url: w.v.db.url },
      keys: {
        ...{ relayer: { env: 'RELAYER', development: true }, seals: [{ id: 'k1', secret }] },
        partners: [{ file: join(folder, 'secrets', 'partners.pem') }],
      },
      outbound: { allowPrivate: true },
      partners: [
        {
          id: 'test-partner',
          name: 'Test',
          kind: 'bridge',
          url: partner.url,
          publicKeys: [partner.publicKey],
        },
      ],
      chains: [w.a, w.b].map(({ chain, anvil }) => ({
        ...{ id: chain.id, slug: chain.slug, sandbox: true, escrow: chain.escrow, oracle: chain.oracle },
        ...{ permit2: chain.permit2, tokens: chain.tokens, rpcUrls: [anvil.url] },
      })),
    }),
  );
}, 240_000);
afterAll(async () => {
  await partner?.stop();
  await w?.stop();
  if (folder) await rm(folder, { recursive: true, force: true });
});

const reconcile = (...words: string[]) =>
  commandHere('partner', 'reconcile', 'test-partner', '-c', config, '--day', day, ...words);

async function told(...words: string[]) {
  const { stdout, stderr, status } = await reconcile('--json', ...words);
  if (stdout === '') throw new Error(stderr);
  return { status, ...(JSON.parse(stdout) as { orders: number; lines: number; differences: object[] }) };
}

async function fromFile(changed: readonly object[]) {
  const file = join(folder, 'partner.ndjson');
  await writeFile(file, changed.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return told('--file', file);
}

test('trades of both sides: what the partner lists is what the venue has', async () => {
  const taker = await w.taker();
  for (const change of [
    { input: { asset: w.asset(w.a, w.a.usdc), amount: '1000000000' } },
    {
      input: { asset: w.asset(w.a, w.a.usdc) },
      output: { asset: w.asset(w.b, w.b.usdc), amount: '333333333' },
    },
  ]) {
    await w.seen();
    const [candidate] = await w.candidates({
      ...{ taker: taker.address, output: { asset: w.asset(w.b, w.b.usdc) } },
      ...{ solvers: { include: ['test-partner'] }, ...change },
    });
    const orderId = await w.submit(taker, candidate as never);
    const { facts } = await w.reaches(orderId, 'settled');
    const fill = facts.map(({ fact }) => fact).find((fact) => fact.kind === 'filled');
    day = new Date((fill?.evidence.at ?? 0) * 1_000).toISOString().slice(0, 10);
    filled.push(orderId);
  }
  const { status, stdout } = await reconcile();
  expect(stdout).toContain(
    `test-partner, ${day} (UTC): 2 orders filled by the records of the venue, 2 lines`,
  );
  expect(stdout).toContain('No difference.');
  expect(status).toBe(0);
  lines = (await partner.client.reconciliation(day, 5_000)) as unknown as Record<string, unknown>[];
  expect(lines.map(({ orderId }) => orderId).sort()).toEqual([...filled].sort());
});

test('each difference has a name, both values and the exit code 1', async () => {
  const [first, second] = lines as [Record<string, unknown>, Record<string, unknown>];
  const stranger = `0x${'5'.repeat(64)}`;
  expect(await fromFile([first])).toMatchObject({
    ...{ status: 1, orders: 2, lines: 1 },
    differences: [
      {
        orderId: second['orderId'],
        what: 'missing',
        file: null,
        venue: `${second['amountOut']} in ${second['fillTx']}`,
      },
    ],
  });
  const lies = await fromFile([
    { ...first, amountIn: '1', amountOut: '2', fillTx: stranger, filledAt: 0 },
    first,
    {
      ...second,
      input: second['output'],
      output: second['input'],
      filledAt: (second['filledAt'] as number) + 1,
    },
    { ...second, orderId: stranger },
  ]);
  expect(lies.status).toBe(1);
  expect(lies.differences.map((each) => [Reflect.get(each, 'orderId'), Reflect.get(each, 'what')])).toEqual([
    ...['amountIn', 'amountOut', 'fillTx', 'filledAt'].map((what) => [first['orderId'], what]),
    [first['orderId'], 'twice'],
    ...['input', 'output', 'filledAt'].map((what) => [second['orderId'], what]),
    [stranger, 'unknown'],
  ]);
  expect(lies.differences[0]).toEqual({
    ...{ orderId: first['orderId'], what: 'amountIn', venue: first['amountIn'], file: '1' },
  });
});

test('an order of another day, one that never filled, and one of another solver', async () => {
  const [first] = lines as [Record<string, unknown>];
  const dayBefore = new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);
  const file = join(folder, 'one.ndjson');
  await writeFile(file, JSON.stringify(first));
  const { stdout, status } = await commandHere(
    ...['partner', 'reconcile', 'test-partner', '-c', config, '--day', dayBefore, '--file', file],
  );
  expect(stdout).toMatch(/other_day: filled on another day/);
  expect(status).toBe(1);

  await partner.configure({ holdDeliveries: true });
  const taker = await w.taker();
  const [candidate] = await w.candidates({
    ...{ taker: taker.address, output: { asset: w.asset(w.b, w.b.usdc) } },
    input: { asset: w.asset(w.a, w.a.usdc), amount: '1000000000' },
    solvers: { include: ['test-partner'] },
  });
  const open = await w.submit(taker, candidate as never);
  await w.reaches(open, 'escrowed');
  expect((await fromFile([...lines, { ...first, orderId: open }])).differences).toMatchObject([
    { orderId: open, what: 'unfilled' },
  ]);
  await w.v.db.query(
    `update trade_order set route = jsonb_set(route, '{venueId}', '"another"') where order_id = $1`,
    [Buffer.from(open.slice(2), 'hex')],
  );
  expect((await fromFile([...lines, { ...first, orderId: open }])).differences).toMatchObject([
    { orderId: open, what: 'foreign', venue: 'test-partner' },
  ]);
});

test('bad input is refused with what is wrong', async () => {
  const said = async (...words: string[]) => (await commandHere('partner', 'reconcile', ...words)).stderr;
  expect(await said('nobody', '-c', config, '--day', day)).toContain('no partner nobody, only test-partner');
  expect(await said('test-partner', '-c', config, '--day', '2026-02-30')).toContain('is not a day');
  expect(await said('test-partner', '-c', config, '--day', '2999-01-01')).toContain('has not begun yet');
  const broken = join(folder, 'broken.ndjson');
  await writeFile(broken, `${JSON.stringify(lines[0])}\n{"orderId":"0x1"}\n`);
  expect(await said('test-partner', '-c', config, '--day', day, '--file', broken)).toMatch(
    /Line 2 of .*broken/,
  );
  expect(await said('test-partner', '-c', config, '--day', day, '--file', `${broken}.none`)).toContain(
    'read',
  );
  partner.kill();
  expect(await said('test-partner', '-c', config, '--day', day)).not.toBe('');
  expect(await readFile(broken, 'utf8')).toContain('0x1');
});
