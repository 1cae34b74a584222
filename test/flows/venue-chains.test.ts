/**
 * Two chains, contract wallets, exact output and a rotated seal: what a quote means when it is not the plain
 * case.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { deployContractWallets } from '../../src/adapters/evm/deploy/deploy.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { SealKey } from '../../src/auction/seal.ts';
import { createSealer } from '../../src/auction/seal.ts';
import { openForCall, settleCall } from '../../src/settlement/call.ts';
import { createSealing } from '../../src/venue/quoting/sealing.ts';
import type { QuoteCandidate } from '../../src/protocol/api/candidate.ts';
import { account, DEPLOYER, type TestAccount, type TestChain } from '../support/devnet.ts';
import { signPlan } from '../support/taker.ts';
import { type Answer, type Json, startTestVenue, type TestVenue } from '../support/venue.ts';

let v: TestVenue;
let key: string;
let here: TestChain;
let there: TestChain;
const asset = ({ chain }: TestChain, token: { address: Hex }) =>
  assetId({ chainId: chain.id, token: token.address });
const k1: SealKey = { kid: 'k1', secret: Buffer.alloc(32, 7), acceptUntil: null };

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_411, 31_412], landingMarginSeconds: 40, sealKeys: [k1] });
  key = await v.key('service');
  [here, there] = v.devnet.chains as [TestChain, TestChain];
  await v.solver(1, (rfq, make) => {
    const amount = BigInt(rfq.amount);
    return rfq.side === 'exactOutput'
      ? make.quote(rfq, { input: (amount * 2_600n) / 10n ** 12n + 1n, output: amount })
      : make.quote(rfq, { output: (amount * 10n ** 12n) / 2_600n });
  });
});
afterAll(() => v.stop());

const ask = (taker: Hex, body: object = {}): Promise<Answer> =>
  v.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker,
      input: { asset: asset(here, here.usdc), amount: '1000000000' },
      output: { asset: asset(there, there.weth) },
      ...body,
    },
  });
const preflight = async (quoteResponse: Json) =>
  (await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse } })).json;

async function funded(n: number): Promise<TestAccount> {
  const taker = account(n);
  await here.fund(taker.address, 10_000n);
  return taker;
}

test('cross-chain: the stored order is opened on the origin, and the LP is notified', async () => {
  const taker = await funded(6_000);
  const quote = (await ask(taker.address)).json['quotes']?.[0] as Json;
  const message = quote['order']?.['payload']?.['message'] as Json;
  expect(message).toMatchObject({ originChainId: String(here.chain.id), inputOracle: here.chain.oracle });
  expect(message['outputs']?.[0]).toMatchObject({ chainId: String(there.chain.id) });
  const submitted = await v.call('POST', '/api/v1/rfq/orders', {
    key,
    body: await signPlan(taker, quote, await preflight(quote)),
  });
  expect(submitted.status, submitted.text).toBe(200);
  const id = submitted.json['id'] as unknown as Hex;
  const record = await v.store.order(id);
  if (!record) throw new Error('no order');
  expect(record.destChainIds).toEqual([there.chain.id]);
  await here.send(DEPLOYER.address, here.chain.escrow, openForCall(record.order, record.funding));
  expect(await here.port.orderStatus(id)).toBe('deposited');
});

test('exact output: least input first, the output to the unit', async () => {
  const taker = account(6_001);
  const wanted = 123_456_789_012_345_678n;
  const { json } = await ask(taker.address, {
    input: { asset: asset(here, here.usdc) },
    output: { asset: asset(here, here.weth), amount: wanted.toString() },
  });
  const [quote] = json['quotes'] as unknown as [Json];
  expect(quote['preview']?.['outputs']?.[0]).toMatchObject({
    amount: wanted.toString(),
    minimumAmount: wanted.toString(),
  });
  expect(quote['preview']?.['inputs']?.[0]?.['amount']).toBe(
    ((wanted * 2_600n) / 10n ** 12n + 1n).toString(),
  );
});

test('a contract wallet: EIP1271 for order and permit, settled on chain', async () => {
  const owner = account(6_002);
  await here.fund(owner.address, 0n);
  const [wallet] = (await deployContractWallets({
    rpcUrl: here.anvil.url,
    chainId: here.chain.id,
    deployerPrivateKey: DEPLOYER.privateKey,
    owners: [owner.address],
  })) as [Hex];
  await here.fund(wallet, 10_000n);
  await here.approve(wallet, here.usdc.address, here.chain.permit2);
  const quote = (await ask(wallet, { output: { asset: asset(here, here.weth) } })).json[
    'quotes'
  ]?.[0] as Json;
  const plan = await preflight(quote);
  // EIP-3009 is for accounts without code.
  expect(plan['fundingLock']).toBe('Permit2');
  const body = await signPlan(owner, quote, plan);
  const asEoa = await v.call('POST', '/api/v1/rfq/orders', { key, body });
  expect([asEoa.status, asEoa.json['detail']?.[0]?.['type']]).toEqual([422, 'invalid_signature']);
  const stranger = await signPlan(account(6_003), quote, plan);
  const forged = await v.call('POST', '/api/v1/rfq/orders', {
    key,
    body: { ...stranger, signScheme: 'EIP1271' },
  });
  expect([forged.status, forged.json['detail']?.[0]?.['type']]).toEqual([422, 'invalid_signature']);
  const submitted = await v.call('POST', '/api/v1/rfq/orders', {
    key,
    body: { ...body, signScheme: 'EIP1271' },
  });
  expect(submitted.status, submitted.text).toBe(200);
  const record = await v.store.order(submitted.json['id'] as unknown as Hex);
  if (!record) throw new Error('no order');
  await here.send(
    DEPLOYER.address,
    here.chain.escrow,
    settleCall(record.order, record.funding, record.quoteId, record.commitments),
  );
  expect(await here.port.orderStatus(record.orderId)).toBe('claimed');
});

test('F39: a candidate sealed by the previous key is accepted until that key expires', async () => {
  const quote = (await ask(account(6_004).address)).json['quotes']?.[0] as unknown as QuoteCandidate;
  const chains = new Map(v.devnet.chains.map(({ chain }) => [chain.id, chain]));
  const owner = { account: 'w1', namespace: 'rfq', mode: 'test' } as const;
  const k2: SealKey = { kid: 'k2', secret: Buffer.alloc(32, 8), acceptUntil: null };
  const rotated = createSealing(createSealer([k2, { ...k1, acceptUntil: quote.validUntil }]), chains);
  expect(rotated.open(owner, quote, quote.validUntil).quoteId).toBe(quote.quoteId);
  expect(() => rotated.open(owner, quote, quote.validUntil + 1)).toThrow('not the one that was quoted');
  expect(() => createSealing(createSealer([k2]), chains).open(owner, quote, 0)).toThrow(
    'not the one that was quoted',
  );
});
