/**
 * `firmquote take` as a taker runs it: a process of its own against a real venue, worker and chains. The test
 * plays the LPs.
 */

import { chmod, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import { createClient, type SignedTrade } from '../../../src/client/client.ts';
import type { Hex } from '../../../src/domain/hex.ts';
import { postBondCall, setBondTermsCall } from '../../../src/settlement/bond-call.ts';
import { commandHere, type Ended, firmquote, type Running, startFirmquote } from '../../support/command.ts';
import { account, type TestAccount, type TestChain } from '../../support/devnet.ts';
import { type RouterWorld, startRouterWorld } from '../../support/router.ts';
import { until } from '../../support/venue.ts';

const PASSWORD = 'a password for tests';
/** Each command decrypts a key; with the default cost that takes half a second of a core. */
const CHEAP = { n: 1 << 10 };
/** What each LP of these tests gives for 1,000 USDC. */
const WETH_OUT = 400_000_000_000_000_000n;

let w: RouterWorld;
let lp: { lp: TestAccount; operator: TestAccount };
let bonded: { lp: TestAccount; operator: TestAccount };
let taker: TestAccount;
let folder = '';
let config = '';
let mining: ReturnType<typeof setInterval>;

beforeAll(async () => {
  w = await startRouterWorld(
    { chainIds: [31_451, 31_452], landingMarginSeconds: 30, breaker: { limit: 1_000 } },
    async () => [],
  );
  lp = await w.v.solver(1, (rfq, make) => answer(rfq, make, 0n));
  bonded = await w.v.solver(2, (rfq, make) => answer(rfq, make, WETH_OUT / 400n));
  const bond = w.a.deployment.quoteBond;
  await w.a.fund(bonded.lp.address, 100n);
  await w.a.approve(bonded.lp.address, w.a.usdc.address, bond);
  await w.a.send(bonded.lp.address, bond, postBondCall(bonded.lp.address, w.a.usdc.address, 100_000_000n));
  await w.a.send(bonded.lp.address, bond, setBondTermsCall({ fillWindowSeconds: 5, wallets: true }));
  taker = await w.taker();
  folder = await mkdtemp(join(tmpdir(), 'fq-take-'));
  await chmod(folder, 0o700);
  config = await writeConfig('take.json');
  await writeSecretFile(join(folder, 'key'), `${w.key}\n`);
  await writeSecretFile(join(folder, 'password'), `${PASSWORD}\n`);
  await writeSecretFile(join(folder, 'wrong'), 'not the right one');
  await writeSecretFile(join(folder, 'taker.json'), await encryptKey(taker, PASSWORD, CHEAP));
  // Time passes on these chains.
  mining = setInterval(
    () => void Promise.all([w.a, w.b].map(({ anvil }) => anvil.mine())).catch(() => {}),
    200,
  );
}, 300_000);
afterAll(async () => {
  clearInterval(mining);
  await w.stop();
  await rm(folder, { recursive: true, force: true });
});

type Answering = Parameters<RouterWorld['v']['solver']>[1];

/** Prices USDC and WETH only; `less` WETH base units than the best. */
function answer(
  rfq: Parameters<Answering>[0],
  make: Parameters<Answering>[1],
  less: bigint,
): ReturnType<Answering> {
  const usdc = new Set([w.a, w.b].map((chain) => w.asset(chain, chain.usdc)));
  const sellsUsdc = usdc.has(rfq.input);
  if (sellsUsdc === usdc.has(rfq.output)) return make.decline(rfq, 'pair');
  const [from, to] = sellsUsdc ? [1_000_000_000n, WETH_OUT - less] : [WETH_OUT, 999_000_000n];
  const given = BigInt(rfq.amount);
  return rfq.side === 'exactOutput'
    ? make.quote(rfq, { input: (given * from) / to + 1n, output: given }, { validSeconds: 120 })
    : make.quote(rfq, { output: (given * to) / from }, { validSeconds: 120 });
}

async function writeConfig(name: string, change: object = {}): Promise<string> {
  const file = join(folder, name);
  const chainOf = ({ chain, anvil, deployment }: TestChain) => ({
    ...{ id: chain.id, slug: chain.slug, escrow: chain.escrow, oracle: chain.oracle },
    ...{ permit2: chain.permit2, quoteBond: deployment.quoteBond, blockTimeMs: 200 },
    ...{ tokens: chain.tokens, rpcUrls: [anvil.url] },
  });
  const whole = {
    app: 'take',
    venue: { urls: [w.v.url], key: { file: join(folder, 'key') } },
    wallet: { keystore: join(folder, 'taker.json'), passwordFile: join(folder, 'password') },
    folder: join(folder, 'orders'),
    chains: [w.a, w.b].map(chainOf),
    ...change,
  };
  await writeFile(file, JSON.stringify(whole));
  return file;
}

const words = (...more: string[]): string[] => ['take', '--config', config, ...more];
const SALE = ['--sell', 'USDC@chain1', '--buy', 'WETH@chain1', '--amount', '1000'];
const ACROSS = ['--sell', 'USDC@chain1', '--buy', 'WETH@chain2', '--amount', '1000'];
const take = (...more: string[]): Promise<Ended> => firmquote(words(...more));

/** In this process, for what begins no trade: a process of its own takes seconds to start. */
const here = (...more: string[]): Promise<Ended> =>
  commandHere('take', ...(more.includes('--config') ? [] : ['--config', config]), ...more);

/** The facts of each line. */
const steps = ({ stdout }: Pick<Ended, 'stdout'>): Record<string, never>[] =>
  stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, never>);

const orderIn = (text: string): Hex => /Signed order (0x[0-9a-f]{64})/.exec(text)?.[1] as Hex;

/** Runs until the order is in escrow. */
async function escrowed(...more: string[]): Promise<{ running: Running; orderId: Hex }> {
  const running = startFirmquote(words(...ACROSS, '--yes', ...more));
  await running.says('escrowed: ');
  return { running, orderId: orderIn(running.output()) };
}

describe('a trade that settles', { timeout: 120_000 }, () => {
  test('on one chain: explained, signed, followed, and paid', async () => {
    const before = await w.held(taker, w.a, w.a.weth);
    const { status, stdout, stderr } = await take(...SALE, '--yes', '--limit', '0.39', '--firm-for', '60');
    expect([status, stderr]).toEqual([0, '']);
    const lines = stdout.split('\n');
    expect(lines[0]).toMatch(/^# +solver +pay +get +at least +vs mid +fees +gas +eta +firm for +check$/);
    expect(lines[1]).toMatch(/^1 +lp-1 +1000 USDC +0\.4 WETH +0\.4 WETH .* ok$/);
    expect(lines[2]).toMatch(/^2 +lp-2 /);
    expect(stdout).toContain('Signing an EIP-3009 authorization');
    expect(stdout).toContain('settled: the output was delivered');
    expect(stdout).toContain(`Settled: order ${orderIn(stdout)}.`);
    expect((await w.held(taker, w.a, w.a.weth)) - before).toBe(WETH_OUT);
  });

  test('with approvals that are shown, exact output, and the candidate asked for; --json is one object a line', async () => {
    const before = await w.held(taker, w.a, w.a.usdc);
    const sale = ['--sell', 'WETH@chain1', '--buy', 'USDC@chain1', '--amount', '99900000'];
    const ended = await take(
      ...sale,
      '--exact',
      'output',
      '--base-units',
      '--candidate',
      '2',
      '--yes',
      '--json',
    );
    const said = steps(ended);
    expect([ended.status, ended.stderr]).toEqual([0, '']);
    expect(said[0]).toMatchObject({ step: 'quotes', candidates: [{ number: 1, ok: true }, { number: 2 }] });
    expect(said.find(({ step }) => step === 'chosen')).toMatchObject({ number: 2, outputAmount: '99900000' });
    expect(said.filter(({ step }) => step === 'preflight')).toMatchObject([
      { purpose: 'tokenApproval' },
      { kind: 'permit2Lock' },
    ]);
    expect(said.at(-1)).toMatchObject({ step: 'result', outcome: 'settled', exitCode: 0, claimed: [] });
    expect((await w.held(taker, w.a, w.a.usdc)) - before).toBe(99_900_000n);
  });

  test('across chains, one line for each stage', async () => {
    const before = await w.held(taker, w.b, w.b.weth);
    const { running, orderId } = await escrowed();
    await w.fill(orderId, lp);
    expect(await running.ended).toBe(0);
    const stages = [...running.output().matchAll(/^\d\d:\d\d:\d\d {2}(\w+): /gm)].map(([, stage]) => stage);
    expect([...new Set(stages)]).toEqual(stages);
    expect([stages[0] === 'settled', stages.includes('escrowed'), stages.at(-1)]).toEqual([
      false,
      true,
      'settled',
    ]);
    expect((await w.held(taker, w.b, w.b.weth)) - before).toBe(WETH_OUT);
  });
});

describe('a trade that does not begin', { timeout: 60_000 }, () => {
  test('--dry-run shows the candidates without a password', async () => {
    const open = await writeConfig('dry.json', { wallet: null });
    const ended = await here(
      ...['--config', open, ...SALE, '--dry-run', '--keystore', join(folder, 'taker.json')],
    );
    expect([ended.status, ended.stdout.split('\n').length]).toEqual([0, 4]);
  });

  test('no quotes', async () => {
    const ended = await here('--sell', 'USDC@chain1', '--buy', 'USDC@chain2', '--amount', '5', '--yes');
    expect([ended.status, ended.stderr]).toEqual([2, expect.stringContaining('Nothing was signed.')]);
  });

  test('a price below the limit is refused, and the row says why', async () => {
    const ended = await here(...SALE, '--yes', '--limit', '0.41');
    expect([ended.status, ended.stdout, ended.stderr]).toEqual([
      3,
      expect.stringContaining('price_limit'),
      expect.stringContaining('No order was submitted.'),
    ]);
  });

  test('a wallet without the tokens', async () => {
    const poor = account(9_990);
    await w.a.fund(poor.address, 0n);
    const keystore = join(folder, 'poor.json');
    await writeSecretFile(keystore, await encryptKey(poor, PASSWORD, CHEAP));
    const ended = await here(
      ...[...SALE, '--yes', '--keystore', keystore, '--password-file', join(folder, 'password')],
    );
    expect([ended.status, ended.stderr]).toEqual([
      5,
      expect.stringMatching(/The wallet holds 0 of 0x.* takes 1000000000\.\nNo order was submitted\./),
    ]);
  });

  test('a wrong password, no consent, no key, an unknown token', async () => {
    const wrong = await here(
      ...[...SALE, '--yes', '--keystore', join(folder, 'taker.json')],
      ...['--password-file', join(folder, 'wrong')],
    );
    expect([wrong.status, wrong.stderr]).toEqual([
      1,
      expect.stringContaining('does not open with this password'),
    ]);
    const silent = await here(...SALE);
    expect([silent.status, silent.stderr]).toEqual([1, expect.stringContaining('Give --yes')]);
    const keyless = await writeConfig('keyless.json', { venue: { urls: [w.v.url] } });
    const nokey = await here('--config', keyless, ...SALE, '--yes');
    expect([nokey.status, nokey.stderr]).toEqual([1, expect.stringContaining('FIRMQUOTE_KEY')]);
    const refused = await here(
      ...['--config', keyless, ...SALE, '--yes', '--key-file', join(folder, 'wrong')],
    );
    expect([refused.status, refused.stderr]).toEqual([3, expect.stringContaining('Check the API key')]);
    const token = await here('--sell', 'DOGE@chain1', '--buy', 'WETH@chain1', '--amount', '1', '--json');
    expect(token.status).toBe(1);
    expect(steps(token)).toMatchObject([{ step: 'error', code: 'bad_request', exitCode: 1 }]);
  });
});

describe('a command that ends early', { timeout: 120_000 }, () => {
  test('killed after the submission, then resumed to the settlement', async () => {
    const { running, orderId } = await escrowed();
    running.child.kill('SIGKILL');
    await running.ended;
    await w.fill(orderId, lp);
    const ended = await take('--resume', orderId);
    expect([ended.status, ended.stderr]).toEqual([0, '']);
    expect(ended.stdout).toContain(`Settled: order ${orderId}.`);
    // Another folder has no signed order: the order is followed all the same.
    const elsewhere = await writeConfig('elsewhere.json', { folder: join(folder, 'empty') });
    const followed = await firmquote(['take', '--config', elsewhere, '--resume', orderId]);
    expect([followed.status, followed.stdout]).toEqual([0, expect.stringContaining('without claims')]);
  });

  test('Ctrl-C after the submission says how to resume', async () => {
    const { running, orderId } = await escrowed();
    running.child.kill('SIGINT');
    expect(await running.ended).toBe(130);
    expect(running.output()).toContain(`firmquote take --config ${config} --resume ${orderId}`);
    await w.fill(orderId, lp);
    await w.reaches(orderId, 'settled');
  });

  test('between the signature and the submission: resuming submits once', async () => {
    const chains = Object.fromEntries(
      [w.a, w.b].map(({ chain, anvil }) => [
        chain.id,
        {
          rpc: createPublicClient({ transport: http(anvil.url), cacheTime: 0 }),
          escrow: chain.escrow,
          oracles: [chain.oracle],
        },
      ]),
    );
    const wallet = createWalletClient({
      account: privateKeyToAccount(taker.privateKey),
      transport: http(w.a.anvil.url),
    });
    const request = {
      taker: taker.address,
      input: { asset: w.asset(w.a, w.a.usdc), amount: 1_000_000_000n },
      output: { asset: w.asset(w.a, w.a.weth) },
    };
    let signed: SignedTrade | undefined;
    const first = createClient({ url: w.v.url, key: w.key, chains });
    const died = first.trade({
      request,
      wallet,
      onSigned(order) {
        signed = order;
        throw new Error('The process died.');
      },
    });
    await expect(died).rejects.toThrow('The process died.');
    const { orderId } = signed as SignedTrade;
    expect(await w.v.store.order(orderId)).toBeUndefined();
    const other = createClient({ url: w.v.url, key: w.key, chains });
    const { status } = await other.resume(signed as SignedTrade, { wallet });
    expect([status.id, status.status]).toEqual([orderId, 'settled']);
    const again = await other.resume(signed as SignedTrade, { wallet });
    expect(again.status.status).toBe('settled');
    // What was reopened cannot be signed again.
    const reopened = await other.reopen(
      (signed as SignedTrade).candidate,
      (signed as SignedTrade).expectations,
    );
    await expect(other.sign(reopened, wallet)).rejects.toMatchObject({ code: 'not_checked' });
  });
});

/** These move the time of the chains. */
describe('an order that nobody fills', { timeout: 120_000 }, () => {
  async function expire(orderId: Hex): Promise<void> {
    const { order } = await until(() => w.v.store.order(orderId));
    for (const chain of [w.b, w.a])
      await chain.anvil.advance(Math.max(0, order.expires + 2 - (chain.port.head()?.timestamp ?? 0)));
  }

  test('is refunded', async () => {
    const before = await w.held(taker, w.a, w.a.usdc);
    const { running, orderId } = await escrowed('--solver', 'lp-1');
    await expire(orderId);
    expect(await running.ended).toBe(7);
    expect(running.output()).toContain(`order ${orderId} failed with expired_unfilled`);
    expect(running.output()).toContain('The input went back to the taker');
    expect(await w.held(taker, w.a, w.a.usdc)).toBe(before);
  });

  test('and whose LP has a bond pays the taker, also after the command was killed', async () => {
    const before = await w.held(taker, w.a, w.a.usdc);
    const { running, orderId } = await escrowed('--solver', 'lp-2', '--bond');
    running.child.kill('SIGKILL');
    await running.ended;
    await expire(orderId);
    await w.reaches(orderId, 'refunded');
    const ended = await take('--resume', orderId);
    expect([ended.status, ended.stderr]).toEqual([8, '']);
    expect(ended.stdout).toContain('broke its promise; its bond paid you 5 USDC in 0x');
    expect((await w.held(taker, w.a, w.a.usdc)) - before).toBe(5_000_000n);
    // A claim is paid once.
    const again = await take('--resume', orderId, '--json');
    expect([again.status, steps(again).at(-1)]).toMatchObject([7, { outcome: 'refunded', claimed: [] }]);
  });
});

test('signed orders are kept for their owner only', async () => {
  const kept = await readdir(join(folder, 'orders'));
  expect(kept.every((name) => /^0x[0-9a-f]{64}\.json$/.test(name))).toBe(true);
  expect(kept.length).toBeGreaterThan(5);
});
