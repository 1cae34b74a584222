/**
 * A slow database and a slow node, each before a venue that runs as it ships: what needs them waits or is
 * refused, and nothing else notices.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { TestChain } from '../support/devnet.ts';
import { broken, sceneOf } from './support/checker.ts';
import type { Client } from './support/client.ts';
import { type RpcProxy, startRpcProxy } from './support/rpc-proxy.ts';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let home: TestChain;
let away: TestChain;
let client: Client;
/** The venue's node on one of the chains, and its database. */
let node: RpcProxy;
let cable: TcpProxy;

beforeAll(async () => {
  world = await startWorld({
    chainIds: [31_661, 31_662],
    validitySeconds: 300,
    configure(part, config) {
      if (part !== 'venue') return config;
      const [first, ...others] = config['chains'] as object[];
      const database = config['database'] as { url: string };
      return {
        ...config,
        chains: [{ ...first, rpcUrls: [node.url] }, ...others],
        database: { ...database, url: database.url.replace(/:\d+\//, `:${cable.port}/`) },
      };
    },
  });
  [home, away] = world.devnet.chains as [TestChain, TestChain];
  node = await startRpcProxy(home.anvil.url);
  cable = await startTcpProxy(world.postgres.url);
  await world.startAll();
  client = await world.client();
});
afterAll(async () => {
  await world?.stop();
  await Promise.all([node?.stop(), cable?.stop()]);
});

const settles = async (id: string | undefined) =>
  expect((await client.ended(id ?? '')).status).toBe('settled');

test('a node needs minutes to answer: its chain is not quoted, the other chain trades, and with slow answers it settles slowly', async () => {
  const [there, here] = [
    { from: away, to: away },
    { from: home, to: home },
  ];
  const waits = await client.prepare(here);
  node.fault('*', { do: 'delay', ms: 600_000 });
  const refused = client.submit(waits, 'slow-node');
  for (const key of ['other-1', 'other-2'])
    await settles(await client.insist(await client.prepare(there), key));
  expect(await refused).toMatchObject({ status: 503, json: { error: { code: 'unavailable' } } });
  node.heal();
  node.fault('*', { do: 'delay', ms: 700 });
  await settles(await client.insist(waits, 'slow-node'));
  node.heal();
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});

test('a slow database delays submissions and not quotes', async () => {
  const prepared = [await client.prepare(), await client.prepare(), await client.prepare()];
  const asset = (token: string) => `eip155:${home.chain.id}/erc20:${token}`;
  cable.set({ kind: 'delay', ms: 3_000 });
  let waiting = prepared.length;
  const submitted = prepared.map((each, n) =>
    client.submit(each, `slow-${n}`).finally(() => {
      waiting -= 1;
    }),
  );
  let quotes = 0;
  // A key may hold so many live quotes and no more.
  while (waiting === prepared.length && quotes < 20) {
    const { quotes: found } = await client.taker.quote({
      input: { asset: asset(home.usdc.address), amount: '100000000' },
      output: { asset: asset(home.weth.address) },
    });
    expect(found.length).toBeGreaterThan(0);
    if (waiting === prepared.length) quotes += 1;
  }
  // Each submission asks the database twice at least, six seconds each time; what asked it too would come to
  // two at most.
  expect(quotes).toBeGreaterThan(2);
  for (const answer of await Promise.all(submitted)) expect([200, 503]).toContain(answer?.status);
  cable.set({ kind: 'pass' });
  for (const [n, each] of prepared.entries()) await settles(await client.insist(each, `slow-${n}`));
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});
