/**
 * Three replicas of a venue, each behind its own URL, are killed and started again one after the other while
 * takers trade with the client, and our LP and the example solver stay connected to all of them.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { createClient, type Trade } from '../../src/client/client.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { QuoteCandidate } from '../../src/protocol/api/candidate.ts';
import { mintKey } from '../../src/venue/access/keys.ts';
import { account, type TestAccount, type TestChain } from '../support/devnet.ts';
import { broken, sceneOf } from './support/checker.ts';
import { patiently } from './support/client.ts';
import { startWorld, type World } from './support/world.ts';

const REPLICAS = ['a', 'b', 'c'];
const [owner, operator] = [account(3_300), account(3_301)];
const WHOLE = 100_000n;
/** Whom each taker asks. */
const ASKED = ['alpha', 'example', 'alpha', 'example'];
const takers = ASKED.map((_, index) => account(3_400 + index));

let w: World;
let folder: string;
let solver: ChildProcess | undefined;
let said = '';
let chain: TestChain;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmquote-failover-'));
  w = await startWorld({
    chainIds: [31_651],
    venues: { a: 'api', b: 'api', c: 'api', worker: 'worker' },
    validitySeconds: 30,
    // On a busy machine an answer takes long, which is no fault of a replica.
    configure: (_part, config) =>
      config['app'] === 'venue' ? { ...config, fanOut: { timeoutMs: 10_000 } } : config,
  });
  [chain] = w.devnet.chains as [TestChain];
  await chain.fund(operator.address, 0n);
  await chain.fund(owner.address, WHOLE);
  await chain.deposit(owner.address, chain.weth.address, WHOLE * 10n ** 18n);
  await chain.setOperator(owner.address, operator.address);
  for (const { address } of takers) await chain.fund(address, WHOLE);
  await w.store.putSolver({
    id: 'example',
    name: 'Example',
    kind: 'solver',
    corridors: null,
    disabled: false,
  });
  const { text, record } = mintKey(
    { random: systemRandom, clock: systemClock },
    {
      kind: 'solver',
      mode: 'test',
      workspaceId: null,
      role: null,
      memberId: null,
      solverId: 'example',
      label: 'failover',
    },
  );
  await w.store.addKey(record);
  await w.startAll();
  const file = join(folder, 'solver.json');
  await writeFile(
    file,
    JSON.stringify({
      urls: REPLICAS.map((name) => w.venueUrl(name)),
      key: text,
      solverId: 'example',
      account: owner.address,
      operatorKey: operator.privateKey,
      spreadBps: 10,
      validSeconds: 30,
      chains: {
        [chain.chain.id]: {
          rpc: chain.anvil.url,
          escrow: chain.chain.escrow,
          oracle: chain.chain.oracle,
          depth: chain.chain.depth,
        },
      },
      assets: {
        [asset('usdc')]: { decimals: 6, usdE8: 100_000_000 },
        [asset('weth')]: { decimals: 18, usdE8: 250_000_000_000 },
      },
    }),
  );
  solver = spawn(
    process.execPath,
    [join(import.meta.dirname, '..', '..', 'docs', 'examples', 'solver.mjs'), file],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  for (const stream of [solver.stdout, solver.stderr])
    stream?.on('data', (data: Buffer) => (said += data.toString()));
  await patiently(
    async () => said.split('"what":"active"').length > REPLICAS.length || undefined,
    () => `the example solver said ${said}`,
  );
  for (const name of REPLICAS) for (const solverId of new Set(ASKED)) await quoted(name, solverId);
}, 300_000);
afterAll(async () => {
  solver?.kill();
  await w?.stop();
  await rm(folder, { recursive: true, force: true });
});

const asset = (token: 'usdc' | 'weth') => assetId({ chainId: chain.chain.id, token: chain[token].address });

/** Resolves when this replica itself has a quote of that solver: its session may be younger than its list. */
async function quoted(name: string, solverId: string): Promise<void> {
  const client = await w.client(name);
  await patiently(
    async () => {
      const { quotes } = await client.taker.quote({
        input: { asset: asset('usdc'), amount: '100000000' },
        output: { asset: asset('weth') },
        splitFill: 'never',
        solvers: { include: [solverId] },
      });
      return quotes.length > 0 || undefined;
    },
    () => `${name} has no quote of ${solverId}`,
  );
}

/** A taker's own program: it never asks twice, because the client does so where that helps. */
async function trading(solverId: string, index: number, goesOn: () => boolean): Promise<Trade[]> {
  const who = takers[index] as TestAccount;
  const client = createClient({
    // Each prefers another replica.
    url: REPLICAS.map((_, at) => w.venueUrl(REPLICAS[(at + index) % REPLICAS.length])),
    key: w.apiKey,
    chains: {
      [chain.chain.id]: {
        rpc: createPublicClient({ transport: http(chain.anvil.url), cacheTime: 0, pollingInterval: 100 }),
        escrow: chain.chain.escrow,
      },
    },
    openSocket: (url, headers) => new WebSocket(url, { headers }) as never,
  });
  const wallet = createWalletClient({
    account: privateKeyToAccount(who.privateKey),
    transport: http(chain.anvil.url),
  });
  const trades: Trade[] = [];
  while (goesOn() || trades.length < 3) {
    const trade = await client.trade({
      request: {
        taker: who.address,
        input: { asset: asset('usdc'), amount: 100_000_000n },
        output: { asset: asset('weth') },
        solvers: { include: [solverId] },
      },
      wallet,
    });
    const candidate = trade.checked.candidate as QuoteCandidate;
    w.log.push({ kind: 'submitted', key: null, candidate, taker: who.address, atMs: Date.now() });
    trades.push(trade);
  }
  return trades;
}

test('F45: each replica is killed in turn: takers with all URLs see no error, no order is made twice, and no award is lost', async () => {
  let rolling = true;
  const roll = async () => {
    try {
      for (const name of REPLICAS) {
        await w.venue(name).kill();
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        await w.venue(name).start({}, 'ready');
      }
    } finally {
      rolling = false;
    }
  };
  const [, ...traded] = await Promise.all([
    roll(),
    ...ASKED.map((solverId, index) => trading(solverId, index, () => rolling)),
  ]);

  // One order for each trade, and each order reached its end.
  const trades = traded.flat();
  expect(trades.map(({ status }) => status.status)).toEqual(trades.map(() => 'settled'));
  expect(await w.database.query('SELECT count(*)::int AS orders FROM trade_order')).toEqual([
    { orders: trades.length },
  ]);

  // Whoever had signed was told, although the replica that accepted the order may be dead.
  const [lp] = w.lps;
  const won = async (): Promise<string[]> => {
    const answer = await fetch(`${lp?.adminUrl}/awards?limit=1000`);
    const { awards } = (await answer.json()) as { awards: { orderId: string }[] };
    const example = [...said.matchAll(/"won","orderId":"(0x[0-9a-f]+)"/g)].map(([, id]) => id as string);
    return [...new Set([...awards.map(({ orderId }) => orderId), ...example])].toSorted();
  };
  const ids = trades.map(({ order }) => order.id).toSorted();
  await expect.poll(won, { timeout: 30_000 }).toEqual(ids);
  expect(await broken(sceneOf(w), { ended: true })).toEqual([]);
}, 400_000);
