/**
 * `firmquote lp account` on two real chains: an LpAccount deployed, set up, filled, drained to its treasury,
 * changed with its delay, handed over and closed by nothing but the owner's commands.
 */

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import { readLpAccount, readMoverLimit } from '../../../src/apps/lp/account/state.ts';
import type { Address } from '../../../src/domain/hex.ts';
import { lpAccountDeployment } from '../../../src/adapters/evm/deploy/lp-account.ts';
import { accountCall } from '../../../src/settlement/lp-account.ts';
import { commandHere, type Ended, lpCommandHere } from '../../support/command.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';

const [owner, operator, mover] = [account(441), account(442), account(443)];
const [heir, plain] = [account(444), account(447)];
const TREASURY: Address = '0x00000000000000000000000000000000000007ea';
const MESSENGER: Address = '0x00000000000000000000000000000000000000c1';
const USDC = 1_000_000n;
const DAYS = 86_400;
const SECOND_SALT = `0x${'07'.padStart(64, '0')}` as const;

const lpAccount = lpAccountDeployment(owner.address).address;
let folder: string;
let devnet: Devnet;
let chains: readonly [TestChain, TestChain];
let file: string;

const keystore = (name: string) => join(folder, `${name}.json`);
const password = () => ['--owner-password-file', join(folder, 'password')];

async function writeConfig(name: string, account: Address): Promise<string> {
  const at = join(folder, name);
  await writeFile(
    at,
    JSON.stringify({
      app: 'lp',
      keys: Object.fromEntries(
        ['operator', 'mover'].map((name) => [
          name,
          { keystore: keystore(name), passwordFile: join(folder, 'password') },
        ]),
      ),
      venues: [{ name: 'none', url: 'ws://127.0.0.1:1', apiKey: { env: 'NONE' } }],
      networks: chains.map(({ chain, anvil, usdc }, domain) => ({
        ...{ id: chain.id, slug: chain.slug, sandbox: true, escrow: chain.escrow, oracle: chain.oracle },
        ...{ quoteBond: chain.quoteBond, tokens: chain.tokens, rpcUrls: [anvil.url], cctpDomain: domain },
        cctp: {
          ...{ token: usdc.address, messenger: MESSENGER, transmitter: MESSENGER },
          ...{ fastSeconds: 10, standardSeconds: 20 },
        },
      })),
      bridges: { cctp: { maxFeeBps: 2 } },
      lp: {
        solver: { id: 'o', name: 'O' },
        chains: chains.map(({ chain: { id } }) => ({ chainId: id, account })),
        prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
        assets: { USDC: { price: 'USD' }, WETH: { price: 'ETH' } },
        pairs: [{ base: 'WETH', quote: 'USDC' }],
      },
    }),
  );
  return at;
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-lp-account-'));
  devnet = await startDevnet([41_411, 41_412]);
  chains = devnet.chains as [TestChain, TestChain];
  await Promise.all(
    chains.map(async (chain) => {
      await chain.fund(owner.address, 100_000n);
      await chain.fund(heir.address, 0n);
      await chain.fund(mover.address, 0n);
    }),
  );
  await writeSecretFile(join(folder, 'password'), 'a password for tests');
  for (const [name, key] of Object.entries({ owner, operator, mover, heir, plain }))
    await writeSecretFile(keystore(name), await encryptKey(key, 'a password for tests', { n: 1 << 10 }));
  file = await writeConfig('lp.json', lpAccount);
}, 60_000);

afterAll(async () => {
  await devnet?.stop();
  await rm(folder, { recursive: true, force: true });
});

const look = (...args: string[]) => lpCommandHere(...args, '-c', file);
const signed =
  (who: string) =>
  (...args: string[]): Promise<Ended> =>
    look(...args, '--owner', keystore(who), ...password());
const own = signed('owner');
const onFirst = ['--chain', 'chain1', '--token', 'USDC'];
const fails = async (command: Promise<Ended>, says: string | RegExp) => {
  const { status, stderr } = await command;
  expect([status, stderr]).toEqual([
    1,
    typeof says === 'string' ? expect.stringContaining(says) : expect.stringMatching(says),
  ]);
};
const done = async (command: Promise<Ended>, says: RegExp): Promise<string> => {
  const { status, stdout, stderr } = await command;
  expect([status, stderr, stdout]).toEqual([0, '', expect.stringMatching(says)]);
  return stdout;
};
const stateOn = (chain: TestChain) => readLpAccount(chain.port, lpAccount);
const advance = async (seconds: number) => {
  for (const { anvil } of chains) await anvil.advance(seconds);
};
/** What `firmquote doctor` says of the account, as `chain1 ok: …`. */
const doctor = async (): Promise<string[]> => {
  const { rows } = JSON.parse((await commandHere('doctor', '--lp', file, '--json')).stdout) as {
    rows: { check: string; subject: string; verdict: string; found: string }[];
  };
  return rows
    .filter(({ check }) => check === 'account')
    .map(({ subject, verdict, found }) => `${subject} ${verdict}: ${found}`);
};
const [first, second] = [() => chains[0], () => chains[1]];

test('deploy: at one address on every chain, and again it changes nothing', async () => {
  await fails(
    look('account', 'set', '--treasury', TREASURY, '--dry-run'),
    /is no LpAccount on chain1.*lp account deploy/,
  );
  await fails(own('deposit', ...onFirst, '--amount', '1'), /this key's LpAccount, which is not deployed/);
  await done(
    look('account', 'show'),
    /chain1: 0x\w+ is a plain account, or an LpAccount that is not deployed/,
  );
  await fails(
    own('account', 'deploy', '--salt', SECOND_SALT),
    `names the account ${lpAccount}; the LpAccount`,
  );
  await done(
    look('account', 'deploy', '--first-owner', owner.address, '--dry-run'),
    /would deploy the LpAccount [\s\S]*to {4}0x4e59b44847b379578588920ca78fbf26c0b4956c\n {2}data {2}0x/,
  );
  expect(await stateOn(first())).toBeUndefined();
  expect(await doctor()).toEqual([]);
  // Anyone may deploy: the address depends on the first owner alone.
  await done(
    signed('heir')('account', 'deploy', '--chain', 'chain1', '--first-owner', owner.address),
    /to deploy the LpAccount/,
  );
  expect(await doctor()).toEqual([
    `chain1 failure: the LpAccount ${lpAccount} is not set up`,
    `chain2 failure: ${lpAccount} is an LpAccount on another chain, and not here`,
  ]);
  await done(
    own('account', 'deploy'),
    /is there already on chain1[\s\S]*to deploy the LpAccount 0x\w+ on chain2[\s\S]*Next.*account set --treasury/,
  );
  for (const chain of chains)
    expect(await stateOn(chain)).toMatchObject({ owner: owner.address, escrow: null });
});

test('set: names escrow, roles, limits and routes on every chain at once, within the set-up', async () => {
  await fails(own('account', 'finish'), 'has not begun');
  await fails(own('account', 'set', '--mover', owner.address), 'cannot be the owner');
  await fails(own('account', 'set', '--mover-limit', 'USDC'), 'is not a limit of the mover');
  await fails(own('account', 'set', '--mover-limit', 'GOLD=1'), 'No chain has a token GOLD');
  const wishes = [
    ...['account', 'set', '--treasury', TREASURY, '--mover', 'config'],
    ...['--mover-limit', 'USDC=5000', '--mover-limit', 'WETH=2', '--routes'],
  ];
  const dry = await done(look(...wishes, '--dry-run'), /would make 0x\w+ the treasury, once the step before/);
  expect(dry).toContain(accountCall.initialize(first().chain.escrow, first().deployment.quoteBond));
  await done(own(...wishes), /begin the set-up on chain2[\s\S]*For a day from now nothing waits/);
  for (const chain of chains) {
    expect(await stateOn(chain)).toMatchObject({
      ...{ escrow: chain.chain.escrow, bond: chain.deployment.quoteBond, closed: false },
      ...{ treasury: TREASURY, mover: mover.address },
    });
    expect(await readMoverLimit(chain.port, lpAccount, chain.usdc.address)).toMatchObject({
      most: 5_000n * USDC,
    });
  }
  await done(own(...wishes), /nothing is to be changed on chain1[\s\S]*nothing is to be changed on chain2/);
  await done(
    look('account', 'show'),
    /in its set-up until 20\S+: nothing waits[\s\S]*USDC: the mover may move 5000 a day[\s\S]*route by CCTP to chain2: listed, for a fee of at most 3 bps/,
  );
});

test('doctor: says who may do what, and that the set-up is open', async () => {
  const rows = await doctor();
  expect(rows).toHaveLength(4);
  expect(rows.slice(0, 2)).toEqual([
    `chain1 ok: LpAccount of ${owner.address}; ${mover.address} may move 5000 USDC a day (0 USDC requested and 0 USDC sent today), 2 WETH a day (0 WETH requested and 0 WETH sent today)`,
    expect.stringMatching(
      /^chain1 warning: it is in its set-up until 20\S+: nothing that its owner changes waits$/,
    ),
  ]);
});

test('operator: within its limits on every chain, set at once and with the account as who lets it', async () => {
  await done(
    own('operator', 'set', '--limit', 'USDC=1000/1h', '--limit', 'WETH=1/1h'),
    /may now sign quotes and fills for the account, within its limits/,
  );
  for (const { port, usdc } of chains)
    expect(await port.operatorLimit(lpAccount, operator.address, usdc.address)).toMatchObject({
      most: 1_000n * USDC,
    });
  await fails(own('operator', 'set', owner.address, '--unlimited'), 'An operator is a different key');
});

test('finish: from then on what widens waits two days, and what narrows counts at once', async () => {
  await done(own('account', 'finish'), /finish the set-up on chain2[\s\S]*waits two days/);
  await done(own('account', 'finish'), /the set-up on chain1 is over/);

  const raise = ['operator', 'set', '--chain', 'chain1', '--limit', 'USDC=2000/1h'];
  const scheduled = await done(
    own(...raise),
    /to schedule: let the operator .* Run the same command again from/s,
  );
  expect(scheduled).not.toContain('may now sign');
  const limit = async () =>
    (await first().port.operatorLimit(lpAccount, operator.address, first().usdc.address))?.most;
  expect(await limit()).toBe(1_000n * USDC);
  await done(own(...raise), /scheduled before; run the same command again from 20/);
  await done(
    look('account', 'show', '--chain', 'chain1'),
    /WAITS: limitOperator\(0x\w+, 0x\w+, 2000000000, 3600\), from 20\S+ until 20\S+; firmquote lp account cancel 0x/,
  );
  expect((await doctor()).filter((row) => row.includes('warning'))).toEqual([
    expect.stringMatching(
      /^chain1 warning: a change waits: limitOperator\(0x\w+, 0x\w+, 2000000000, 3600\), from 20/,
    ),
  ]);
  await advance(2 * DAYS + 1);
  await done(own(...raise), /may now sign quotes and fills/);
  expect(await limit()).toBe(2_000n * USDC);

  await done(own('operator', 'set', '--chain', 'chain1', '--limit', 'USDC=500/1h'), /may now sign/);
  expect(await limit()).toBe(500n * USDC);
});

test('doctor: a route that is off the list, a key with two roles, and a mover that is another', async () => {
  await done(own('account', 'set', '--chain', 'chain2', '--drop-routes'), /take the route off the list/);
  const before = file;
  const config = JSON.parse(await readFile(file, 'utf8')) as { keys: { operator: object; mover: object } };
  config.keys = { operator: config.keys.mover, mover: config.keys.operator };
  file = join(folder, 'two-roles.json');
  await writeFile(file, JSON.stringify(config));
  expect((await doctor()).filter((row) => !row.includes(' ok: '))).toEqual([
    "chain1 failure: the operator's key is also that of its mover",
    `chain1 warning: its mover is ${mover.address}, and the key in keys.mover is ${operator.address}`,
    "chain2 failure: the operator's key is also that of its mover",
    `chain2 warning: its mover is ${mover.address}, and the key in keys.mover is ${operator.address}`,
    'chain2 warning: the route by CCTP to chain1 is not listed, so its mover cannot use it',
  ]);
  file = before;
});

test('cancel: a change that waits is found by its id, on the chain where it waits', async () => {
  await done(own('account', 'set', '--mover', heir.address), /schedule: make 0x\w+ the mover/);
  const { accounts } = JSON.parse((await look('account', 'show', '--json')).stdout) as {
    accounts: { waiting: { id: string; call: string }[] }[];
  };
  const id = accounts[1]?.waiting[0]?.id ?? '';
  expect(accounts[1]?.waiting).toEqual([expect.objectContaining({ call: `setMover(${heir.address})` })]);
  await done(own('account', 'cancel', id), /cancel the scheduled change 0x/);
  await fails(own('account', 'cancel', id), 'No such change waits');
  await fails(own('account', 'cancel', 'it'), 'is not the id of a change');
  await advance(2 * DAYS + 1);
  await done(own('account', 'set', '--mover', heir.address), /schedule: make/);
  expect(await stateOn(first())).toMatchObject({ mover: mover.address });
});

test('money goes in from the account and the wallet, and out to the treasury only', async () => {
  const { port, usdc } = first();
  await fails(own('deposit', ...onFirst, '--amount', 'all'), 'must be above zero');
  await first().fund(lpAccount, 300n);
  await fails(own('deposit', ...onFirst, '--amount', '200000'), /lie 300 USDC, and its owner .* not enough/);
  await done(
    own('deposit', ...onFirst, '--amount', '1000'),
    /deposit 300 USDC that lie on the account[\s\S]*to deposit 700 USDC[\s\S]*has 1000 USDC in the escrow/,
  );
  await fails(signed('heir')('withdraw', ...onFirst, '--amount', '1'), /the owner of the LpAccount .* is 0x/);

  await done(own('withdraw', ...onFirst, '--amount', '400'), /400 USDC can be withdrawn from/);
  await done(own('withdraw', ...onFirst, '--cancel'), /No withdrawal of USDC is pending/);
  await done(own('withdraw', ...onFirst, '--amount', '400'), /400 USDC can be withdrawn from/);
  await advance(901);
  await fails(own('withdraw', ...onFirst, '--complete', '--to', heir.address), 'only to its treasury');
  await done(
    own('withdraw', ...onFirst, '--complete', '--to', TREASURY),
    /by way of the account[\s\S]*take 400 USDC to the treasury/,
  );
  expect(await port.tokenBalance(TREASURY, usdc.address)).toBe(400n * USDC);

  await done(own('withdraw', ...onFirst, '--amount', '100'), /can be withdrawn from/);
  await advance(901);
  await done(own('withdraw', ...onFirst, '--complete'), /withdraw 100 USDC to 0x/);
  expect(await port.tokenBalance(lpAccount, usdc.address)).toBe(100n * USDC);
  await fails(
    own('account', 'take', ...onFirst, '--amount', '101'),
    'lie 100 USDC: 101 USDC cannot be taken',
  );
  await done(own('account', 'take', ...onFirst, '--amount', '40'), /take 40 USDC to the treasury/);
  await done(own('deposit', ...onFirst, '--amount', 'all'), /has 560 USDC in the escrow/);
  const native = ['account', 'take', '--chain', 'chain1', '--token', 'native', '--amount'];
  await fails(own(...native, '1000'), 'lie 100 of native currency: 1000 of native currency cannot be taken');
  await done(own(...native, '1'), /take 1 of native currency to the treasury/);
  expect(await port.nativeBalance(TREASURY)).toBe(10n ** 18n);
});

test('bond: posted by the owner for the account, and taken back to it', async () => {
  await done(own('bond', 'post', ...onFirst, '--amount', '50'), /to post a bond of 50 USDC/);
  await done(own('bond', 'terms', '--chain', 'chain1', '--fill-window', '2m'), /answer for orders/);
  await done(look('bond', 'show', '--chain', 'chain1'), /a bond of 50/);
  await done(own('bond', 'take-back', ...onFirst, '--amount', 'all'), /to ask to take back 50 USDC/);
  await advance(DAYS + 1);
  await done(own('bond', 'take-back', ...onFirst, '--complete'), /take back 50 USDC of the bond to 0x/);
  expect(await first().port.tokenBalance(lpAccount, first().usdc.address)).toBe(50n * USDC);
});

test('money of a plain account moves to the LpAccount: withdrawn to it, and deposited by its owner', async () => {
  await first().fund(plain.address, 70n);
  const [now, old] = [file, await writeConfig('of-plain.json', plain.address)];
  file = old;
  const before = signed('plain');
  await done(before('deposit', ...onFirst, '--amount', '70'), /has 70 USDC in the escrow/);
  await done(before('withdraw', ...onFirst, '--amount', 'all'), /70 USDC can be withdrawn/);
  await advance(901);
  await done(before('withdraw', ...onFirst, '--complete', '--to', lpAccount), /withdraw 70 USDC to 0x/);
  file = now;
  const { port, usdc } = first();
  const [ledger, lies] = [
    await port.ledgerBalance(lpAccount, usdc.address),
    await port.tokenBalance(lpAccount, usdc.address),
  ];
  await done(own('deposit', ...onFirst, '--amount', 'all'), /USDC that lie on the account/);
  expect(await port.ledgerBalance(lpAccount, usdc.address)).toBe(ledger + lies);
  expect(lies).toBe(120n * USDC);
});

test('offer and accept: another owner, after the delay and by its own key', async () => {
  await done(own('account', 'offer', heir.address, '--chain', 'chain2'), /schedule: offer the account/);
  await advance(2 * DAYS + 1);
  await done(own('account', 'offer', heir.address, '--chain', 'chain2'), /Next, with the key of 0x/);
  expect(await doctor()).toContain(`chain2 warning: it is offered to another owner, ${heir.address}`);
  await fails(own('account', 'accept', '--chain', 'chain2'), /is offered to 0x.* Use the keystore of who/);
  await done(signed('heir')('account', 'accept', '--chain', 'chain2'), /accept the account on chain2/);
  expect(await stateOn(second())).toMatchObject({ owner: heir.address, pendingOwner: null });
});

test('close: for good, and then any key brings the money to the treasury', async () => {
  await fails(own('account', 'close', '--chain', 'chain1'), 'Closing is for good');
  await done(own('account', 'close', '--chain', 'chain1', '--yes'), /close the account on chain1 for good/);
  expect(await doctor()).toContain(`chain1 failure: the LpAccount ${lpAccount} is closed`);
  await fails(
    own('operator', 'set', '--chain', 'chain1', '--limit', 'USDC=9000/1h'),
    'nothing widens any more',
  );
  const anybody = signed('mover');
  await done(anybody('withdraw', ...onFirst, '--amount', 'all'), /680 USDC can be withdrawn/);
  await advance(901);
  await done(anybody('withdraw', ...onFirst, '--complete'), /withdraw 680 USDC/);
  await done(anybody('account', 'take', ...onFirst, '--amount', 'all'), /take 680 USDC to the treasury/);
  expect(await first().port.tokenBalance(TREASURY, first().usdc.address)).toBe(1_120n * USDC);
});
