/**
 * An LP whose account is an LpAccount, made by nothing but the commands of docs/lp/account.md: it quotes on a
 * real venue, settles on one chain and fills across two, and its owner takes the proceeds to the treasury.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import type { Address } from '../../../src/domain/hex.ts';
import { lpAccountDeployment } from '../../../src/adapters/evm/deploy/lp-account.ts';
import { startWorld, type World } from '../../faults/support/world.ts';
import { PROGRAM } from '../../support/build.ts';
import { type Running, startFirmquote } from '../../support/command.ts';
import { account, type TestChain } from '../../support/devnet.ts';
import { blocksOf, openShell, type Shell } from '../../support/page.ts';
import { until } from '../../support/venue.ts';

const PAGE = 'docs/lp/account.md';
const ID = 'contract';
const [owner, stranger] = [account(445), account(446)];
const TREASURY = '0x00000000000000000000000000000000000007ea';
const USDC = 1_000_000n;
const lpAccount = lpAccountDeployment(owner.address).address;

let folder: string;
let world: World;
let chains: readonly [TestChain, TestChain];
let shell: Shell;
let lp: Running | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-lp-account-trade-'));
  world = await startWorld({ chainIds: [41_421, 41_422], lps: [], guests: [ID], program: PROGRAM });
  chains = world.devnet.chains as [TestChain, TestChain];
  await world.startAll();
  await Promise.all(chains.map((chain) => chain.fund(owner.address, 10n)));
  await writeFile(
    join(folder, 'answers.json'),
    JSON.stringify({
      venue: { url: world.venueUrl().replace('http', 'ws'), keyEnv: 'VENUE_KEY' },
      solver: { id: ID, name: 'Contract' },
      chains: Object.fromEntries(
        chains.map(({ chain, anvil, usdc, weth }) => [
          chain.slug,
          { rpcUrl: anvil.url, tokens: [usdc.address, weth.address] },
        ]),
      ),
      attesters: world.attesterUrls,
      feeds: {},
      prices: { USDC: { fixed: '1' }, ETH: { fixed: '2500' } },
      pairs: [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: 3, maxSize: 5_000 } }],
      databaseUrl: await world.postgres.database('lp_contract'),
    }),
  );
  await writeSecretFile(
    join(folder, 'owner.json'),
    await encryptKey(owner, 'a password for tests', { n: 1 << 10 }),
  );
  shell = openShell(folder);
  const { status } = await shell.run(
    [
      `firmquote() { "${process.execPath}" "${PROGRAM}" "$@"; }`,
      `export VENUE_KEY=${world.solverKey(ID)} OWNER_PASSWORD="a password for tests"`,
      `export OWNER_ADDRESS=${owner.address} TREASURY=${TREASURY}`,
    ].join('\n'),
  );
  expect(status).toBe(0);
}, 180_000);

afterAll(async () => {
  shell?.end();
  await lp?.stop();
  await world?.stop();
  await rm(folder, { recursive: true, force: true });
});

test(
  'the page’s commands make an account that its operator may trade with',
  { timeout: 180_000 },
  async () => {
    const [block] = await blocksOf(PAGE, 'sh');
    // Its transactions need not wait for a block each.
    for (const { anvil } of chains) await anvil.rpc('evm_setAutomine', [true]);
    const { status, output } = await shell.run(block ?? '');
    expect([status, output]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          `the account is the LpAccount ${lpAccount}[\\s\\S]*deploy the LpAccount ${lpAccount} on chain2[\\s\\S]*within its limits[\\s\\S]*From now on a change that widens waits two days[\\s\\S]*treasury {2}${TREASURY}[\\s\\S]*mover {5}0x[\\s\\S]*in use`,
        ),
      ),
    ]);
    for (const { chain } of chains) {
      const paid = await shell.run(
        `firmquote lp deposit --chain ${chain.slug} --token WETH --amount 8 $OWNER`,
      );
      expect([paid.status, paid.output]).toEqual([0, expect.stringContaining('has 8 WETH in the escrow')]);
    }
    const operator = /The operator is (0x[0-9a-f]{40})/.exec(output)?.[1] as Address;
    for (const chain of chains) {
      await chain.fund(operator, 0n);
      await chain.anvil.rpc('evm_setIntervalMining', [1]);
    }
  },
);

test('it quotes, settles on one chain, and fills across two', { timeout: 180_000 }, async () => {
  lp = startFirmquote(['lp', '--config', 'my-lp/lp.json'], {}, folder);
  await lp.says('LP is running');
  const [from, to] = chains;
  const client = await world.client();
  const before = await to.port.ledgerBalance(lpAccount, to.weth.address);
  const here = await client.insist(await client.prepare({ from }), 'one chain');
  expect(await client.ended(here ?? '')).toMatchObject({ status: 'settled' });
  expect(await from.port.ledgerBalance(lpAccount, from.usdc.address)).toBeGreaterThan(0n);
  const across = await client.insist(await client.prepare({ from, to }), 'across');
  expect(await client.ended(across ?? '')).toMatchObject({ status: 'settled' });
  await until(async () => (await to.port.ledgerBalance(lpAccount, to.weth.address)) < before);
});

test('the owner takes proceeds to the treasury, and nowhere else', { timeout: 120_000 }, async () => {
  const [{ anvil, port, usdc }] = chains;
  const usd = '--chain chain1 --token USDC $OWNER';
  expect((await shell.run(`firmquote lp withdraw --amount 50 ${usd}`)).status).toBe(0);
  await anvil.advance(901);
  const elsewhere = await shell.run(`firmquote lp withdraw --complete --to ${stranger.address} ${usd}`);
  expect([elsewhere.status, elsewhere.output]).toEqual([1, expect.stringContaining('only to its treasury')]);
  const taken = await shell.run(`firmquote lp withdraw --complete --to ${TREASURY} ${usd}`);
  expect([taken.status, taken.output]).toEqual([0, expect.stringContaining('take 50 USDC to the treasury')]);
  expect(await port.tokenBalance(TREASURY, usdc.address)).toBe(50n * USDC);
});
