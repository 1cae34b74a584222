/**
 * docs/examples/solver.mjs, which knows nothing of firmquote but its protocol document, in a process of its
 * own: asked, chosen, settled, and filling across chains.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPublicClient, createWalletClient, erc20Abi, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Client, createClient, type TradeRequest } from '../../src/client/client.ts';
import { assetId } from '../../src/domain/asset.ts';
import { DECLINE_REASONS } from '../../src/domain/decline.ts';
import {
  LINK_PATH,
  LINK_PROOF_TYPE,
  zFromSolver,
  zFromVenue,
  zSkeleton,
} from '../../src/protocol/link/link.ts';
import { REJECTIONS } from '../../src/protocol/link/rejections.ts';
import { zOrderMessage } from '../../src/protocol/wire.ts';
import { openForCall, settleCall } from '../../src/settlement/call.ts';
import { account, DEPLOYER, type TestAccount, type TestChain } from '../support/devnet.ts';
import { startTestVenue, type TestVenue, until } from '../support/venue.ts';

const PROGRAM = join(import.meta.dirname, '../../docs/examples/solver.mjs');
const [lp, operator] = [account(1_901), account(1_902)];
let v: TestVenue;
let origin: TestChain;
let dest: TestChain;
let folder: string;
let child: ChildProcess;
let said = '';
let client: Client;
let takers = 0;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_421, 31_422] });
  [origin, dest] = v.devnet.chains as [TestChain, TestChain];
  for (const chain of [origin, dest]) {
    await chain.fund(lp.address, 1_000_000n);
    await chain.fund(operator.address, 0n);
    for (const token of [chain.usdc, chain.weth])
      await chain.deposit(lp.address, token.address, 1_000_000n * 10n ** BigInt(token.decimals));
    await chain.setOperator(lp.address, operator.address);
  }
  await v.store.putSolver({
    id: 'example',
    name: 'Example',
    kind: 'solver',
    corridors: null,
    disabled: false,
  });
  await v.bus.publish('solvers', 'example');
  folder = await mkdtemp(join(tmpdir(), 'fq-solver-'));
  const config = {
    urls: v.urls,
    key: await v.key('solver', { solverId: 'example' }),
    solverId: 'example',
    account: lp.address,
    operatorKey: operator.privateKey,
    spreadBps: 10,
    validSeconds: 60,
    chains: Object.fromEntries(
      [origin, dest].map(({ chain, anvil }) => [
        chain.id,
        { rpc: anvil.url, escrow: chain.escrow, oracle: chain.oracle, depth: 0 },
      ]),
    ),
    assets: Object.fromEntries(
      [origin, dest].flatMap(({ chain, usdc, weth }) => [
        [assetId({ chainId: chain.id, token: usdc.address }), { decimals: 6, usdE8: 100_000_000 }],
        [assetId({ chainId: chain.id, token: weth.address }), { decimals: 18, usdE8: 250_000_000_000 }],
      ]),
    ),
  };
  await writeFile(join(folder, 'solver.json'), JSON.stringify(config));
  child = spawn(process.execPath, [PROGRAM, join(folder, 'solver.json')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (data: Buffer) => (said += data.toString()));
  await until(() => {
    if (child.exitCode !== null) throw new Error(said);
    return v.venue.roster.entry('example')?.status === 'active';
  });
  const trusted = ({ chain, anvil }: TestChain) => ({
    rpc: createPublicClient({ transport: http(anvil.url), cacheTime: 0 }),
    escrow: chain.escrow,
    oracles: [chain.oracle],
  });
  client = createClient({
    url: v.url,
    key: await v.key('service'),
    chains: { [origin.chain.id]: trusted(origin), [dest.chain.id]: trusted(dest) },
  });
});
afterAll(async () => {
  child?.kill();
  await v.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Quoted by the example alone, checked, signed and submitted by the client. */
async function submitted(
  more: Partial<TradeRequest> & { output: TradeRequest['output'] },
): Promise<{ taker: TestAccount; checked: Awaited<ReturnType<Client['check']>> }> {
  const taker = account(7_900 + takers++);
  await origin.fund(taker.address, 10_000n);
  const request: TradeRequest = {
    taker: taker.address,
    input: {
      asset: assetId({ chainId: origin.chain.id, token: origin.usdc.address }),
      amount: 1_000_000_000n,
    },
    ...more,
  };
  const { quotes, productUnavailable } = await client.requestQuotes(request);
  expect([productUnavailable, quotes.map(({ solverId }) => solverId)]).toEqual([null, ['example']]);
  const checked = await client.check(quotes[0] as (typeof quotes)[number], { request });
  const wallet = createWalletClient({
    account: privateKeyToAccount(taker.privateKey),
    transport: http(origin.anvil.url),
  });
  const { locks } = await client.runActions(checked, await client.preflight(checked), wallet);
  await client.submit(checked, { signature: await client.sign(checked, wallet), ...locks });
  await until(() => said.includes(`"won","orderId":"${checked.orderId}"`));
  return { taker, checked };
}

const held = (chain: TestChain, who: TestAccount) =>
  createPublicClient({ transport: http(chain.anvil.url), cacheTime: 0 }).readContract({
    address: chain.weth.address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [who.address],
  });

test('the example imports nothing of firmquote', async () => {
  const program = await readFile(PROGRAM, 'utf8');
  const imports = [...program.matchAll(/from '([^']+)'/g)].map((match) => match[1]);
  expect(imports.filter((name) => !name?.startsWith('node:')).sort()).toEqual([
    'viem',
    'viem/accounts',
    'ws',
  ]);
});

test('the document names every message and every field', async () => {
  const pages = ['solver-protocol.md', 'solver-protocol-settlement.md'];
  const page = (
    await Promise.all(pages.map((name) => readFile(join(import.meta.dirname, '../../docs/lp', name), 'utf8')))
  ).join('\n');
  const fields = [...zFromVenue.options, ...zFromSolver.options].flatMap(({ shape }) => [
    shape.type.value,
    ...Object.keys(shape),
  ]);
  const within = [zSkeleton, zOrderMessage, zOrderMessage.shape.outputs.element].flatMap(({ shape }) =>
    Object.keys(shape),
  );
  expect(
    [...new Set([...fields, ...within])].filter((name) => name !== 'type' && !page.includes(`\`${name}\``)),
  ).toEqual([]);
  for (const text of [LINK_PATH, LINK_PROOF_TYPE, ...DECLINE_REASONS]) expect(page).toContain(text);
  for (const code of Object.keys(REJECTIONS)) expect(page).toContain(`\`${code}\``);
});

test('one chain: the order it signed settles', { timeout: 180_000 }, async () => {
  const { taker, checked } = await submitted({
    output: { asset: assetId({ chainId: origin.chain.id, token: origin.weth.address }) },
  });
  const before = await held(origin, taker);
  const record = await v.store.order(checked.orderId);
  if (!record) throw new Error('no order');
  await origin.send(
    DEPLOYER.address,
    origin.chain.escrow,
    settleCall(record.order, record.funding, record.quoteId, record.commitments),
  );
  expect((await held(origin, taker)) - before).toBe(checked.outputAmount);
});

test('exact output, and an amount above its balance', async () => {
  const { checked } = await submitted({
    input: { asset: assetId({ chainId: origin.chain.id, token: origin.usdc.address }) },
    output: { asset: assetId({ chainId: origin.chain.id, token: origin.weth.address }), amount: 10n ** 17n },
  });
  expect([
    checked.outputAmount,
    checked.inputAmount > 250_000_000n && checked.inputAmount < 260_000_000n,
  ]).toEqual([10n ** 17n, true]);
  const { productUnavailable } = await client.requestQuotes({
    taker: account(7_999).address,
    input: { asset: assetId({ chainId: origin.chain.id, token: origin.usdc.address }) },
    output: { asset: assetId({ chainId: origin.chain.id, token: origin.weth.address }), amount: 10n ** 30n },
  });
  expect(productUnavailable).toMatchObject({ code: expect.stringMatching(/amount_too_large|no_quotes/) });
});

test('two chains: it fills after the input is in escrow', { timeout: 180_000 }, async () => {
  const { taker, checked } = await submitted({
    output: { asset: assetId({ chainId: dest.chain.id, token: dest.weth.address }) },
  });
  expect(await held(dest, taker)).toBe(0n);
  expect(said).not.toContain(`"filled","orderId":"${checked.orderId}"`);
  const record = await v.store.order(checked.orderId);
  if (!record) throw new Error('no order');
  await origin.send(DEPLOYER.address, origin.chain.escrow, openForCall(record.order, record.funding));
  await until(() => said.includes(`"filled","orderId":"${checked.orderId}"`));
  expect(await held(dest, taker)).toBe(checked.outputAmount);
});
