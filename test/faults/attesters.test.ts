/**
 * Attesters that are away, have lost their key, or come late: what was filled is paid, and nothing is
 * promised or filled that could not be proven.
 */

import { encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Bytes32 } from '../../src/domain/hex.ts';
import { attestationOracleAbi } from '../../src/settlement/abi/attestation-oracle.ts';
import { account, ATTESTERS, DEPLOYER, type TestChain } from '../support/devnet.ts';
import { diceOf } from './seed.ts';
import { broken, sceneOf } from './support/checker.ts';
import { type Client, patiently, someUsdc } from './support/client.ts';
import { type RpcProxy, startRpcProxy } from './support/rpc-proxy.ts';
import { startWorld, type World } from './support/world.ts';

/**
 * Between the last moment to fill and the refund: a proof that takes longer than this, less the time for the
 * claim, is too late.
 */
const WINDOW_SECONDS = 28;

let world: World;
let home: TestChain;
let away: TestChain;
let client: Client;
/** What two of the three attesters see the other chain through. */
const nodes: RpcProxy[] = [];

beforeAll(async () => {
  world = await startWorld({
    chainIds: [31_641, 31_642],
    validitySeconds: 300,
    proofWindowSeconds: WINDOW_SECONDS,
    rotationDelaySeconds: 20,
    configure(part, config) {
      const node = nodes[['attester-1', 'attester-2'].indexOf(part)];
      if (!node) return config;
      const [here, there] = config['chains'] as object[];
      return { ...config, chains: [here, { ...there, rpcUrls: [node.url] }] };
    },
  });
  [home, away] = world.devnet.chains as [TestChain, TestChain];
  for (let n = 0; n < 2; n += 1) nodes.push(await startRpcProxy(away.anvil.url));
  await world.startAll();
  client = await world.client();
});
afterAll(async () => {
  await world?.stop();
  for (const node of nodes) await node.stop();
});

/** What the LP says of an award. */
async function award(id: string): Promise<{ stage: string; note: string | null } | undefined> {
  const [lp] = world.lps;
  const [row] =
    (await lp?.database.query<{ stage: string; note: string | null }>(
      'select stage, note from lp_award where order_id = $1',
      [Buffer.from(id.slice(2), 'hex')],
    )) ?? [];
  return row;
}

/** Asks for quotes across until there are none because of this. */
async function refusedAcross(because: string): Promise<void> {
  const [lp] = world.lps;
  let last = '';
  await patiently(
    async () => {
      const asked = {
        input: { asset: `eip155:${home.chain.id}/erc20:${home.usdc.address}`, amount: '100000000' },
        output: { asset: `eip155:${away.chain.id}/erc20:${away.weth.address}` },
      };
      const quotes = await client.taker.quote(asked).then(
        (answer) => answer.quotes.length,
        () => undefined,
      );
      const status = (await (await fetch(`${lp?.adminUrl}/status`)).json()) as {
        reasons: { kind: string; note: string }[];
      };
      last = `${quotes} quotes, ${JSON.stringify(status.reasons)}`;
      return (
        (quotes === 0 &&
          status.reasons.some(({ kind, note }) => kind === 'proof' && note.includes(because))) ||
        undefined
      );
    },
    () => `the LP still quotes across, or for other reasons not: ${last}`,
  );
}

test('an attester changes its key by docs/venue/rotate-keys.md, with trades before, during and after', async () => {
  const [, second, third] = world.attesters;
  const [kept, also, replaced] = ATTESTERS;
  if (!second || !third) throw new Error('there are three attesters');
  const trade = async (key: string) => {
    const accepted = await client.insist(await client.prepare({ to: away, usdc: 100n }), key);
    expect((await client.ended(accepted ?? '')).status).toBe('settled');
  };
  await trade('rotation-before');

  const fresh = account(3_901);
  const signers = [kept, also, fresh]
    .map(({ address }) => address)
    .toSorted((a, b) => (BigInt(a) < BigInt(b) ? -1 : 1));
  const scheduleSigners = encodeFunctionData({
    abi: attestationOracleAbi,
    functionName: 'scheduleSigners',
    args: [signers, 2n],
  });
  const membersOf = async ({ port, chain }: TestChain) => (await port.committee(chain.oracle)).signers;
  for (const chain of [home, away]) await chain.send(DEPLOYER.address, chain.chain.oracle, scheduleSigners);
  expect(await membersOf(home)).toContain(replaced.address);
  await trade('rotation-during');

  for (const chain of [home, away])
    await patiently(async () => (await membersOf(chain)).includes(fresh.address) || undefined);
  await third.kill();
  await third.start({ ATTESTER: fresh.privateKey }, 'ready');
  // Without the second, the new key must count.
  await second.kill();
  await trade('rotation-after');
  expect(await membersOf(away)).toEqual(signers);
  await second.start({}, 'ready');
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});

test('F33: one attester lost its key, another is offline, and later all are late', async () => {
  const dice = diceOf('F33');
  const [, second, third] = world.attesters;
  if (!second || !third) throw new Error('there are three attesters');
  const across = () => client.prepare({ to: away, usdc: someUsdc(dice) });

  // One of three: nobody notices.
  await third.kill();
  await third.start({ ATTESTER: account(3_900).privateKey }, 'ready');
  expect((await client.ended((await client.insist(await across(), 'f33-lost')) ?? '')).status).toBe(
    'settled',
  );

  // Two of three, while a promise is out: from now on none is made, and this one is not filled.
  const promised = await across();
  await second.kill();
  await refusedAcross('1 of 2 attesters answer');
  const waiting = (await client.insist(promised, 'f33-away')) as Bytes32;
  const note = await patiently(async () => {
    const seen = await award(waiting);
    return seen?.note?.includes('attesters') || seen?.stage === 'filled' ? seen : undefined;
  });
  expect(note).toEqual({ stage: 'committed', note: 'too few attesters answer to prove a fill' });
  expect(await home.port.orderStatus(waiting)).toBe('deposited');
  // What needs no proof goes on.
  expect(
    (
      await client.ended(
        (await client.insist(await client.prepare({ usdc: someUsdc(dice) }), 'f33-here')) ?? '',
      )
    ).status,
  ).toBe('settled');
  await second.start({}, 'ready');
  expect((await client.ended(waiting)).status).toBe('settled');

  // All are there, and two of them see the other chain as it was: what is filled waits for its proof, and for
  // as long as that takes.
  const late = await across();
  const at = away.port.head()?.number ?? 0n;
  for (const node of nodes) node.fault('*', { do: 'stale', at });
  const filled = (await client.insist(late, 'f33-late')) as Bytes32;
  await patiently(async () => (await award(filled))?.stage === 'filled' || undefined);
  await refusedAcross('proofs take too long');
  expect(await home.port.orderStatus(filled)).toBe('deposited');
  for (const node of nodes) node.heal();
  expect((await client.ended(filled)).status).toBe('settled');
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});
