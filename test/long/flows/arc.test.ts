/**
 * A chain as Arc is: gas is paid in USDC, one balance behind both, blocks share timestamps, and nothing is to
 * be learned about transactions that are not mined. What a venue, an LP and an owner make of it.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { assetId } from '../../../src/domain/asset.ts';
import { decodeContext, type OutputContext } from '../../../src/domain/context.ts';
import type { Address, Hex } from '../../../src/domain/hex.ts';
import type { LpNode } from '../../../src/lp/node/interface.ts';
import { openForCall } from '../../../src/settlement/call.ts';
import { type RpcProxy, startRpcProxy } from '../../faults/support/rpc-proxy.ts';
import { lpCommandHere } from '../../support/command.ts';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from '../../support/devnet.ts';
import { createTestLp, lpConfig, testTransactors } from '../../support/lp.ts';
import { awardOf, eventually, takeQuote, willingAttesters } from '../../support/lp-trades.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { referenceAt } from '../../support/reference.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../../support/scripted-venue.ts';
import { signPlan } from '../../support/taker.ts';
import { type Json, startTestVenue, type TestVenue } from '../../support/venue.ts';

const USDC = 1_000_000n;
/** Wei of one USDC as gas. */
const NATIVE_USDC = 10n ** 18n;

const setNative = ({ anvil }: TestChain, address: Address, usdc: bigint) =>
  anvil.rpc('anvil_setBalance', [address, `0x${(usdc * NATIVE_USDC).toString(16)}`]);

describe('a venue', () => {
  let v: TestVenue;
  let key: string;
  let c: TestChain;
  let takers = 8_100;

  beforeAll(async () => {
    // No price of ether anywhere.
    v = await startTestVenue({ chainIds: [31_601], arcIds: [31_601], reference: referenceAt({ USD: '1' }) });
    c = v.chain;
    key = await v.key('service');
    await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }));
  });
  afterAll(() => v.stop());

  async function newTaker(usdc: bigint): Promise<TestAccount> {
    const taker = account((takers += 1));
    await setNative(c, taker.address, usdc);
    return taker;
  }

  async function candidateOf(taker: TestAccount, amount: bigint): Promise<Json> {
    const { json, text } = await v.call('POST', '/api/v1/rfq/quotes', {
      key,
      body: {
        taker: taker.address,
        input: { asset: assetId({ chainId: c.chain.id, token: c.usdc.address }), amount: amount.toString() },
        output: { asset: assetId({ chainId: c.chain.id, token: c.weth.address }) },
      },
    });
    expect(json['quotes']?.[0], text).toBeDefined();
    return json['quotes']?.[0] as Json;
  }

  const preflight = async (candidate: Json): Promise<Json> => {
    const { status, json, text } = await v.call('POST', '/api/v1/rfq/orders/preflight', {
      key,
      body: { quoteResponse: candidate },
    });
    expect(status, text).toBe(200);
    return json;
  };
  const shortOf = (plan: Json) =>
    (plan['nextActions'] as Json[]).find(({ purpose }) => (purpose as unknown) === 'orderSignature')?.[
      'details'
    ]?.['insufficientBalance'];
  const transactionOf = (plan: Json, purpose: string): Json | undefined =>
    (plan['nextActions'] as Json[]).find((action) => (action['purpose'] as unknown) === purpose)?.['tx'];
  const send = (tx: Json) =>
    c.anvil.rpc<Hex>('eth_sendTransaction', [
      {
        from: tx['from'],
        to: tx['to'],
        data: tx['data'],
        gas: `0x${BigInt(tx['gas'] as number).toString(16)}`,
        gasPrice: `0x${BigInt(tx['gasPrice'] as number).toString(16)}`,
      },
    ]);

  test('the relay fee is what the gas costs in USDC, without a price of anything', async () => {
    v.relayer.healthy = true;
    const candidate = await candidateOf(await newTaker(100n), 5n * USDC);
    expect(candidate['executionMode']).toBe('apiSubmit');
    const [output] = candidate['order']['payload']['message']['outputs'] as Json[];
    const { relayFee: paid } = decodeContext(output?.['context'] as unknown as Hex) as OutputContext;
    // 230,000 gas at 20 gwei or a little more, and the buffer: half a cent.
    expect(paid).toBeGreaterThanOrEqual(4_600n);
    expect(paid).toBeLessThan(9_000n);
  });

  test('a taker that pays gas itself cannot sell its last USDC: the plan names the most, and that works', async () => {
    v.relayer.healthy = false;
    const taker = await newTaker(50n);
    const whole = await candidateOf(taker, 50n * USDC);
    expect(whole['executionMode']).toBe('walletBroadcast');
    const refused = await preflight(whole);
    expect(refused['ready']).toBe(false);
    expect(shortOf(refused)).toMatchObject({ balance: '50000000', needed: '50000000' });
    const most = BigInt(shortOf(refused)?.['most'] ?? 0);
    expect(most).toBeGreaterThan(49_900_000n);
    expect(most).toBeLessThan(50_000_000n);

    const candidate = await candidateOf(taker, most);
    const first = await preflight(candidate);
    expect(shortOf(first)).toBeUndefined();
    await send(transactionOf(first, 'tokenApproval') as Json);
    const plan = await preflight(candidate);
    expect([plan['ready'], shortOf(plan)]).toEqual([true, undefined]);
    const submitted = await v.call('POST', '/api/v1/rfq/orders', {
      key,
      body: await signPlan(taker, candidate, plan),
    });
    expect(submitted.status, submitted.text).toBe(200);
    const hash = await send(transactionOf(plan, 'settlementBroadcast') as Json);
    await expect
      .poll(() => c.anvil.rpc('eth_getTransactionReceipt', [hash]))
      .toMatchObject({ status: '0x1' });
  });

  test('neither can one whose approval costs gas, although the relayer sends the trade', async () => {
    v.relayer.healthy = true;
    const taker = await newTaker(20n);
    const candidate = await candidateOf(taker, 20n * USDC);
    const { json: plan } = await v.call('POST', '/api/v1/rfq/orders/preflight', {
      key,
      body: { quoteResponse: candidate, fundingLock: 'Permit2' },
    });
    expect([plan['ready'], shortOf(plan)?.['symbol']]).toEqual([false, 'USDC']);
    // By EIP-3009 it pays no gas.
    const free = await preflight(candidate);
    expect([free['ready'], free['fundingLock'], shortOf(free)]).toEqual([true, 'EIP-3009', undefined]);
  });
});

describe('an LP', () => {
  const [owner, operator, taker, keeper] = [account(8_201), account(8_202), account(8_203), account(8_204)];
  let devnet: Devnet;
  let base: TestChain;
  let arc: TestChain;
  let postgres: TestPostgres;
  let venue: ScriptedVenue;
  let lp: LpNode;
  let mining: NodeJS.Timeout;

  beforeAll(async () => {
    [devnet, postgres] = await Promise.all([
      startDevnet([31_611, 31_612], { arcIds: [31_612], landingMarginSeconds: 20 }),
      startTestPostgres(),
    ]);
    [base, arc] = devnet.chains as [TestChain, TestChain];
    for (const chain of devnet.chains) {
      for (const { address } of [owner, taker, operator, keeper]) await chain.fund(address, 50_000n);
      await chain.deposit(owner.address, chain.usdc.address, 20_000n * USDC);
      await chain.deposit(taker.address, chain.usdc.address, 20_000n * USDC);
      await chain.setOperator(owner.address, operator.address);
    }
    await setNative(arc, operator.address, 10n);
    // Three or four blocks share each second.
    mining = setInterval(() => void Promise.all(devnet.chains.map(({ anvil }) => anvil.mine())), 300);
    venue = await startScriptedVenue(devnet.chains.map(({ chain }) => chain));
    lp = await createTestLp({
      devnet,
      postgres,
      venueUrl: venue.url,
      operator,
      schema: 'lp_arc',
      config: lpConfig(devnet, owner.address, {
        // Of what is set nowhere: minGas, and the price of gas on Arc.
        chains: devnet.chains.map(({ chain }) => ({
          chainId: chain.id,
          account: owner.address,
          maxHeadAgeMs: 30_000,
          graceSeconds: 2,
        })),
        prices: { USDC: { fixed: '1' }, ETH: { fixed: '2500' } },
        assets: { USDC: { price: 'USDC' } },
        pairs: [{ base: 'USDC', quote: 'USDC' }],
        quoting: { validitySeconds: 5, claimSeconds: 10, fillMarginSeconds: 1 },
        reconcileSeconds: 1,
      }),
      transactors: await testTransactors({ devnet, postgres, operator, owner: 'lp-arc' }),
      proofs: willingAttesters,
    });
    await lp.start();
    await venue.until(({ status }) => status === 'active');
  }, 120_000);
  afterAll(async () => {
    clearInterval(mining);
    await lp?.stop();
    await venue?.stop();
    await Promise.all([devnet?.stop(), postgres?.stop()]);
  });

  const NATIVE = 10n * NATIVE_USDC;
  const stageOf = async (id: Hex) => (await lp.awards()).find(({ orderId }) => orderId === id)?.stage;

  test.each([
    ['into', () => [base, arc] as const],
    ['out of', () => [arc, base] as const],
  ])('trades %s Arc, and books gas and inventory apart', async (_, route) => {
    const [from, to] = route();
    const inventory = () =>
      Promise.all([from, to].map(({ port, usdc }) => port.ledgerBalance(owner.address, usdc.address)));
    const before = await inventory();
    const trade = await takeQuote(
      devnet,
      venue,
      taker,
      request({
        from: from.chain,
        to: to.chain,
        give: from.usdc,
        take: to.usdc,
        amount: 1_000n * USDC,
        taker: taker.address,
      }),
    );
    // Two transactions on Arc cost cents, not the dollars that an ether price would make of them.
    expect(trade.output).toBeGreaterThan(990n * USDC);
    venue.send({ type: 'award', ...awardOf(trade) });
    await eventually(async () => (await stageOf(trade.id)) === 'committed');
    await from.send(keeper.address, from.chain.escrow, openForCall(trade.order, trade.funding));
    await eventually(async () => (await stageOf(trade.id)) === 'finalised');
    const fee = (1_000n * USDC * 2n) / 10_000n;
    expect(await inventory()).toEqual([
      (before[0] as bigint) + 1_000n * USDC - fee,
      (before[1] as bigint) - trade.output,
    ]);
    const gasOnArc = async () =>
      (await lp.accounts().reconcileGas()).find(({ chain }) => chain === arc.chain.slug);
    await eventually(async () => ((await gasOnArc())?.chainSays ?? NATIVE) < NATIVE);
    await eventually(async () => {
      const rows = [...(await lp.accounts().reconcile()), ...(await lp.accounts().reconcileGas())];
      return rows.every(({ difference }) => difference === 0n);
    });
    expect(await gasOnArc()).toMatchObject({ symbol: 'USDC', decimals: 18, operator: operator.address });
  });

  test('stands by, and says how much USDC it needs, when five trades cost more than the operator has', async () => {
    await setNative(arc, operator.address, 0n);
    await venue.until(({ status }) => status === 'standby');
    const needed = () => lp.status().reasons.find(({ kind }) => kind === 'gas')?.note;
    await eventually(() => needed() !== undefined);
    expect(needed()).toMatch(/^chain2: the operator has 0 USDC for gas, and needs 0\.\d+ USDC$/);
    await setNative(arc, operator.address, 10n);
    await venue.until(({ status }) => status === 'active');
  });
});

describe('an owner', () => {
  const [owner, operator] = [account(8_301), account(8_302)];
  let folder: string;
  let devnet: Devnet;
  let c: TestChain;
  let proxy: RpcProxy;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'fq-arc-'));
    devnet = await startDevnet([31_621], { arcIds: [31_621] });
    c = devnet.chains[0] as TestChain;
    await setNative(c, owner.address, 30n);
    proxy = await startRpcProxy(c.anvil.url);
    const refusal = 'pending transactions are not available';
    proxy.fault('*', { do: 'reject', code: -32_001, message: refusal }, (params) =>
      params.includes('pending'),
    );
    await writeSecretFile(join(folder, 'password'), 'a password for tests');
    await writeSecretFile(
      join(folder, 'key.json'),
      await encryptKey(owner, 'a password for tests', { n: 1 << 10 }),
    );
    await writeSecretFile(
      join(folder, 'operator.json'),
      await encryptKey(operator, 'a password for tests', { n: 1 << 10 }),
    );
    const { id, slug, escrow, oracle, permit2, quoteBond, native } = c.chain;
    await writeFile(
      join(folder, 'lp.json'),
      JSON.stringify({
        app: 'lp',
        keys: {
          operator: { keystore: join(folder, 'operator.json'), passwordFile: join(folder, 'password') },
        },
        venues: [{ name: 'none', url: 'ws://127.0.0.1:1', apiKey: { env: 'NONE' } }],
        networks: [
          {
            id,
            slug,
            escrow,
            oracle,
            permit2,
            quoteBond,
            native,
            tokens: [c.usdc, c.weth],
            rpcUrls: [proxy.url],
          },
        ],
        lp: {
          solver: { id: 'o', name: 'O' },
          chains: [{ chainId: id, account: owner.address }],
          prices: { USDC: { fixed: '1' }, ETH: { fixed: '2500' } },
          assets: { USDC: { price: 'USDC' }, WETH: { price: 'ETH' } },
          pairs: [{ base: 'WETH', quote: 'USDC' }],
        },
      }),
    );
  }, 60_000);
  afterAll(async () => {
    await Promise.all([proxy?.stop(), devnet?.stop()]);
    await rm(folder, { recursive: true, force: true });
  });

  const deposit = (amount: string) =>
    lpCommandHere(
      ...['deposit', '--token', 'USDC', '--amount', amount],
      ...['-c', join(folder, 'lp.json'), '--owner', join(folder, 'key.json')],
      ...['--owner-password-file', join(folder, 'password')],
    );

  test('cannot deposit the whole balance: nothing is sent, and the most that can be paid in is named', async () => {
    const { status, stderr: refused } = await deposit('30');
    expect([status, refused]).toEqual([1, expect.stringContaining('Gas on chain1 is paid in USDC')]);
    expect(refused).toContain('Nothing was sent.');
    expect(await c.port.transactionCount(owner.address, 'latest')).toBe(0);
    const most = /At most ([0-9.]+) USDC/.exec(refused)?.[1] ?? '';
    expect(Number(most)).toBeGreaterThan(29.9);
    expect(await deposit(most)).toMatchObject({ status: 0, stderr: '' });
    // Nothing was asked about transactions that are not mined.
    expect(proxy.faulted()).toBe(0);
    expect(await c.port.ledgerBalance(owner.address, c.usdc.address)).toBe(BigInt(Number(most) * 1e6));
  });

  test('deposits through an address behind which every second node is a block behind', async () => {
    await setNative(c, owner.address, 60n);
    await c.anvil.mine(3);
    const before = await c.port.ledgerBalance(owner.address, c.usdc.address);
    let requests = 0;
    proxy.play({
      needsHead: false,
      refuse: () => undefined,
      refuseCall: () => undefined,
      behind: () => (requests += 1) % 2,
    });
    // The allowance that the first deposit left is used up, so this one approves again.
    expect(await deposit('1.5')).toMatchObject({ status: 0, stderr: '' });
    expect(await c.port.ledgerBalance(owner.address, c.usdc.address)).toBe(before + 1_500_000n);
  });
});
