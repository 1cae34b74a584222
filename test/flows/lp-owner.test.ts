/**
 * The owner's commands on a real chain: money in, money out after the delay, operators named and revoked, and
 * no key but the owner's does any of it.
 */

import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSecretFile } from '../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../src/adapters/keystore/keystore.ts';
import { PROGRAM } from '../support/build.ts';
import { lpCommandHere } from '../support/command.ts';
import type { Address } from '../../src/domain/hex.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';

const owner = account(41);
const operator = account(42);
const USDC = 1_000_000n;

let folder: string;
let file: string;
let devnet: Devnet;
let chain: TestChain;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-owner-'));
  file = join(folder, 'lp.json');
  devnet = await startDevnet([41201]);
  chain = devnet.chains[0] as TestChain;
  await chain.fund(owner.address, 1_000n);
  await writeSecretFile(join(folder, 'password'), 'a password for tests');
  await writeSecretFile(
    join(folder, 'owner.json'),
    await encryptKey(owner, 'a password for tests', { n: 1 << 10 }),
  );
  await writeSecretFile(
    join(folder, 'operator.json'),
    await encryptKey(operator, 'a password for tests', { n: 1 << 10 }),
  );
  const { id, slug, escrow, oracle, permit2, quoteBond, tokens } = chain.chain;
  await writeFile(
    file,
    JSON.stringify({
      app: 'lp',
      keys: { operator: { keystore: join(folder, 'operator.json'), passwordFile: join(folder, 'password') } },
      venues: [{ name: 'none', url: 'ws://127.0.0.1:1', apiKey: { env: 'NONE' } }],
      networks: [{ id, slug, escrow, oracle, permit2, quoteBond, tokens, rpcUrls: [chain.anvil.url] }],
      lp: {
        solver: { id: 'o', name: 'O' },
        chains: [{ chainId: id, account: owner.address }],
        prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
        assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
        pairs: [{ base: 'WETH', quote: 'USDC' }],
      },
    }),
  );
}, 60_000);

afterAll(async () => {
  await devnet?.stop();
  await rm(folder, { recursive: true, force: true });
});

const look = (...args: string[]) => lpCommandHere(...args, '-c', file);
const own = (...args: string[]) =>
  look(...args, '--owner', join(folder, 'owner.json'), '--owner-password-file', join(folder, 'password'));
const ledger = () => chain.port.ledgerBalance(owner.address, chain.usdc.address);

test('deposit: simulated without a key, then approved and paid with it', async () => {
  const dry = await look('deposit', '--token', 'USDC', '--amount', '600', '--dry-run');
  expect([dry.status, dry.stdout]).toEqual([
    0,
    expect.stringMatching(
      /would let the escrow take 600 USDC: about \d+ gas[\s\S]*would deposit 600 USDC, once the step before is mined[\s\S]*data  0x/,
    ),
  ]);
  expect(await ledger()).toBe(0n);
  const done = await own('deposit', '--token', 'USDC', '--amount', '600', '--json');
  const { steps, balance } = JSON.parse(done.stdout) as {
    steps: { what: string; txHash: string }[];
    balance: string;
  };
  expect([steps.map(({ what }) => what), balance]).toEqual([
    ['let the escrow take 600 USDC', 'deposit 600 USDC'],
    '600',
  ]);
  expect(await ledger()).toBe(600n * USDC);
});

test('error: a deposit that fails after its approval says what is in force, and runs again', async () => {
  const { escrow } = chain.chain;
  const code = await chain.anvil.rpc<string>('eth_getCode', [escrow, 'latest']);
  // Reverts whatever is called; the token still takes the approval.
  await chain.anvil.rpc('anvil_setCode', [escrow, '0x60006000fd']);
  const failed = await own('deposit', '--token', 'USDC', '--amount', '7');
  expect([failed.status, failed.stderr]).toEqual([
    1,
    expect.stringMatching(
      /would refuse to deposit 7 USDC.*Mined before and still in force: let the escrow take 7 USDC\. Run/,
    ),
  ]);
  expect(failed.stderr).not.toContain('Nothing was sent');
  const again = await own('deposit', '--token', 'USDC', '--amount', '7');
  expect(again.stderr).toContain('would refuse to deposit 7 USDC');
  expect(again.stderr).toContain('Nothing was sent.');
  await chain.anvil.rpc('anvil_setCode', [escrow, code]);
  expect((await own('deposit', '--token', 'USDC', '--amount', '7')).status).toBe(0);
  const back = await own('withdraw', '--token', 'USDC', '--amount', '7');
  expect(back.status).toBe(0);
  await chain.anvil.advance(901);
  expect((await own('withdraw', '--token', 'USDC', '--complete')).status).toBe(0);
});

test('a command whose reader hangs up, such as `head`, ends without a stack trace', () => {
  const command = `"${process.execPath}" "${PROGRAM}" config check "${file}" | true; exit "\${PIPESTATUS[0]}"`;
  const { status, stderr } = spawnSync('bash', ['-c', command], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

test('withdraw: request, wait, complete, with the remaining time shown', async () => {
  expect((await look('withdraw', '--token', 'USDC')).stdout).toBe(
    'No withdrawal of USDC is pending on chain1.\n',
  );
  const requested = await own('withdraw', '--token', 'USDC', '--amount', '250.5');
  expect([requested.status, requested.stdout]).toEqual([
    0,
    expect.stringMatching(
      /withdrawn 900 s after the request is mined\.[\s\S]*250\.5 USDC can be withdrawn from 20.*Z until 20.*Z/,
    ),
  ]);
  expect((await own('withdraw', '--token', 'USDC', '--complete')).stderr).toMatch(
    /can be completed from .* on, in \d+ s by the clock/,
  );
  expect((await own('withdraw', '--token', 'USDC', '--amount', '1')).stderr).toContain('--replace');
  await chain.anvil.advance(901);
  const before = await chain.port.tokenBalance(owner.address, chain.usdc.address);
  const completed = await own('withdraw', '--token', 'USDC', '--complete');
  expect([completed.status, completed.stderr]).toEqual([0, '']);
  expect((await chain.port.tokenBalance(owner.address, chain.usdc.address)) - before).toBe(250_500_000n);
  expect((await own('withdraw', '--token', 'USDC', '--complete')).stderr).toContain(
    'it was never requested, was completed, or expired',
  );
});

test('withdraw: a cancelled request keeps the money, and a new request restarts the delay', async () => {
  await own('withdraw', '--token', 'USDC', '--amount', 'all');
  expect((await own('withdraw', '--token', 'USDC', '--amount', '10', '--replace')).stdout).toMatch(
    /10 USDC can be withdrawn/,
  );
  const cancelled = await own('withdraw', '--token', 'USDC', '--cancel');
  expect(cancelled.stdout).toMatch(/No withdrawal of USDC is pending on chain1\.\n$/);
  expect(await ledger()).toBe(349_500_000n);
});

test.each([
  [
    'more than there is',
    ['withdraw', '--token', 'USDC', '--amount', '5000'],
    'The account has 349.5 USDC in the escrow on chain1: 5000 USDC cannot be withdrawn.',
  ],
  [
    'more than the wallet has',
    ['deposit', '--token', 'WETH', '--amount', '2000'],
    'has 1000 WETH on chain1: not enough to deposit 2000 WETH.',
  ],
  [
    'more decimals than the token has',
    ['deposit', '--token', 'USDC', '--amount', '0.0000001'],
    'is not an amount',
  ],
  [
    'an unknown token',
    ['deposit', '--token', 'GOLD', '--amount', '1'],
    'has no token "GOLD" on chain1. It has: USDC, WETH.',
  ],
  [
    'an unknown chain',
    ['deposit', '--chain', 'mars', '--token', 'USDC', '--amount', '1'],
    'has no chain "mars". It has: chain1.',
  ],
  ['two things at once', ['withdraw', '--token', 'USDC', '--amount', '1', '--cancel'], 'Give only one of'],
])('error: %s', async (_, args, sentence) => {
  const { status, stderr } = await own(...args);
  expect([status, stderr]).toEqual([1, expect.stringContaining(sentence)]);
});

test('error: any key but the owner’s is refused', async () => {
  const args = [
    'withdraw',
    '--token',
    'USDC',
    '--amount',
    '1',
    '--owner-password-file',
    join(folder, 'password'),
    '--owner',
  ];
  expect((await look(...args, join(folder, 'operator.json'))).stderr).toContain(
    "is the operator's key, which cannot withdraw",
  );
  await writeSecretFile(
    join(folder, 'other.json'),
    await encryptKey(account(43), 'a password for tests', { n: 1 << 10 }),
  );
  expect((await look(...args, join(folder, 'other.json'))).stderr).toContain(
    `but the account of the LP on chain1 is ${owner.address}`,
  );
  expect((await look('withdraw', '--token', 'USDC', '--amount', '1')).stderr).toContain(
    "Give the owner's keystore",
  );
  expect(await ledger()).toBe(349_500_000n);
});

test('operator: set and revoke, by default the configured operator', async () => {
  expect((await own('operator', 'set')).stderr).toContain(
    'Say what the operator may spend: --limit USDC=250000/1h for each token, or --unlimited.',
  );
  expect((await own('operator', 'set', '--unlimited', '--limit', 'USDC=1/1h')).stderr).toContain('not both');
  expect((await own('operator', 'set', '--unlimited')).stdout).toContain(
    'may now sign quotes and fills for the account, without limits; it cannot withdraw.',
  );
  expect(await chain.port.isOperator(owner.address, operator.address)).toBe(true);
  expect((await own('operator', 'set', operator.address, '--unlimited')).stdout).toContain(
    'is already an operator without limits',
  );
  expect((await own('operator', 'revoke', operator.address, '--chain', 'chain1')).status).toBe(0);
  expect(await chain.port.isOperator(owner.address, operator.address)).toBe(false);
  expect((await own('operator', 'set', owner.address, '--unlimited')).stderr).toContain(
    'An operator is a different key',
  );
});

test('operator: limits are set for each token, changed, and read back', async () => {
  const limitOf = (token: Address) => chain.port.operatorLimit(owner.address, operator.address, token);
  const set = await own('operator', 'set', '--limit', 'USDC=250000.5/1h', '--limit', 'WETH=0/90s');
  expect(set.stdout).toMatch(
    /to let the operator 0x[0-9a-f]{40} spend 250,?000\.5 USDC in 3600 s on chain1[\s\S]*may now sign quotes and fills for the account, within its limits/,
  );
  expect(await limitOf(chain.usdc.address)).toEqual({
    most: 250_000_500_000n,
    windowSeconds: 3_600,
    since: 0,
    spent: 0n,
  });
  expect(await limitOf(chain.weth.address)).toMatchObject({ most: 0n, windowSeconds: 90 });
  const again = await own('operator', 'set', '--limit', 'USDC=250000.5/1h', '--json');
  expect(JSON.parse(again.stdout)).toMatchObject({ steps: [] });
  expect((await own('operator', 'set', '--limit', 'USDC=1/2d')).status).toBe(0);
  expect(await limitOf(chain.usdc.address)).toMatchObject({ most: 1_000_000n, windowSeconds: 172_800 });

  for (const [limit, says] of [
    ['USDC=10', 'is not a limit: write the token, the most it may spend and the time'],
    ['USDC=-1/1h', 'is not a limit'],
    ['USDC=1/1w', 'is not a limit'],
    ['USDC=0.0000001/1h', 'is not an amount'],
    ['EURC=1/1h', 'No chain has a token EURC: nothing was changed.'],
    [`WETH=${10n ** 12n}/1h`, 'is more than the escrow can count: at most'],
  ] as const) {
    const refused = await own('operator', 'set', '--limit', limit);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(says)]);
  }
  for (const [mistaken, says] of [
    ['WETHH=1/1h', 'No chain has a token WETHH: nothing was changed. There are USDC, WETH'],
    [`WETH=${10n ** 12n}/1h`, 'Nothing was sent.'],
  ] as const) {
    const refused = await own('operator', 'set', '--limit', 'USDC=7/1h', '--limit', mistaken);
    expect([refused.status, refused.stderr]).toEqual([1, expect.stringContaining(says)]);
  }
  expect(await limitOf(chain.usdc.address)).toMatchObject({ most: 1_000_000n });
  expect((await own('operator', 'revoke')).stdout).toContain('Its limits are kept');
});

test('bond: posted, shown, asked back and taken after the delay', async () => {
  const bondOf = () => chain.port.bond(owner.address, chain.usdc.address);
  expect((await own('bond', 'post', '--token', 'USDC', '--amount', '0')).stderr).toContain('above zero');
  expect((await own('bond', 'post', '--token', 'USDC', '--amount', '1000000')).stderr).toContain(
    'not enough to post a bond of',
  );
  const posted = await own('bond', 'post', '--token', 'USDC', '--amount', '100');
  expect([posted.status, posted.stdout]).toEqual([
    0,
    expect.stringMatching(/let the bond contract take 100 USDC[\s\S]*to post a bond of 100 USDC/),
  ]);
  expect(await bondOf()).toMatchObject({ amount: 100n * USDC, leaving: 0n });
  const shown = await look('bond', 'show');
  expect([shown.status, shown.stderr]).toEqual([0, '']);
  expect(shown.stdout).toContain('USDC: a bond of 100; it covers a quote of 10000');
  expect(shown.stdout).toContain('A failed promise costs 1 % of it');
  expect(shown.stdout).toContain('no orders across chains');

  expect((await own('bond', 'take-back', '--token', 'USDC', '--complete')).stderr).toContain('is asked back');
  expect((await own('bond', 'take-back', '--token', 'USDC', '--amount', '101')).stderr).toContain(
    'cannot be taken back',
  );
  expect((await own('bond', 'take-back', '--token', 'USDC', '--amount', '60')).status).toBe(0);
  expect((await look('bond', 'show')).stdout).toMatch(
    /a bond of 100, of which 60 can be taken back from 20.*; it covers a quote of 4000/,
  );
  expect((await own('bond', 'take-back', '--token', 'USDC', '--complete')).stderr).toContain(
    'can be taken back from',
  );
  expect((await own('bond', 'take-back', '--token', 'USDC', '--cancel')).status).toBe(0);
  expect(await bondOf()).toMatchObject({ amount: 100n * USDC, leaving: 0n });
  expect((await own('bond', 'take-back', '--token', 'USDC', '--amount', 'all')).status).toBe(0);
  await chain.anvil.advance(86_401);
  expect((await own('bond', 'take-back', '--token', 'USDC', '--complete')).stdout).toContain(
    `to take back 100 USDC of the bond to ${owner.address}`,
  );
  expect(await bondOf()).toMatchObject({ amount: 0n });
});

test('bond: its terms say which orders across chains it answers for', async () => {
  expect((await own('bond', 'terms', '--fill-window', 'soon')).stderr).toContain('is no time');
  const set = await own('bond', 'terms', '--fill-window', '2m', '--wallets');
  expect(set.stdout).toContain(
    'answer for orders across chains that are open 120 s before their deadline and deliver anywhere',
  );
  expect(await chain.port.bondTerms(owner.address)).toEqual({ fillWindowSeconds: 120, wallets: true });
  const short = await own('bond', 'terms', '--fill-window', '1s');
  expect(short.stdout).toMatch(/WARNING: with its depth and fill margin this LP needs at least \d+ s/);
  expect(set.stdout).not.toContain('WARNING');
  expect((await own('bond', 'terms', '--fill-window', '0')).stdout).not.toContain('WARNING');
  expect(await chain.port.bondTerms(owner.address)).toMatchObject({ fillWindowSeconds: 120 });
});
