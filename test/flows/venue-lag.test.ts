/** A venue whose balanced nodes differ: the one that answers lacks blocks that another has told of. */

import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
let key: string;
/** The newest block of the node that is asked for "latest"; undefined: that of the chain. */
let lagsAt: bigint | undefined;

const lagging = (port: ChainPort): ChainPort => ({
  ...port,
  tokenBalance: (owner, token, at = lagsAt) => port.tokenBalance(owner, token, at),
  allowance: (owner, token, spender, at = lagsAt) => port.allowance(owner, token, spender, at),
  permit2Allowance: (owner, token, spender, at = lagsAt) => port.permit2Allowance(owner, token, spender, at),
});

beforeAll(async () => {
  v = await startTestVenue({ seen: lagging });
  key = await v.key('service');
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 2_400n) / 10n ** 12n }));
});
afterAll(() => v.stop());
beforeEach(() => void (lagsAt = undefined));

const post = (path: string, body: unknown) => v.call('POST', `/api/v1/rfq/${path}`, { key, body });
const blockNow = async () => BigInt(await v.chain.anvil.rpc<string>('eth_blockNumber'));

/** Signed as preflight asks when all is there. Blocks: before the money came, and before the approval. */
async function readyToSubmit(taker: TestAccount) {
  const { chain, weth, usdc, port } = v.chain;
  const poor = await blockNow();
  await v.chain.fund(taker.address, 10_000n);
  const unapproved = await blockNow();
  await v.chain.approve(taker.address, weth.address, chain.permit2);
  const approved = await blockNow();
  await until(async () => (port.head()?.number ?? 0n) >= approved);
  const asset = (token: typeof weth) => assetId({ chainId: chain.id, token: token.address });
  const { json } = await post('quotes', {
    taker: taker.address,
    input: { asset: asset(weth), amount: '400000000000000000' },
    output: { asset: asset(usdc) },
  });
  const candidate = json['quotes']?.[0] as Json;
  const { json: plan } = await post('orders/preflight', { quoteResponse: candidate });
  return { poor, unapproved, submission: await signPlan(taker, candidate, plan) };
}

test('an approval that the answering node has not seen yet: the order is accepted', async () => {
  const { unapproved, submission } = await readyToSubmit(account(8_501));
  lagsAt = unapproved;
  const { status, text } = await post('orders', submission);
  expect([status, text]).toEqual([200, expect.any(String)]);
});

test('money that the answering node has not seen yet: the order is accepted', async () => {
  const { poor, submission } = await readyToSubmit(account(8_502));
  lagsAt = poor;
  const { status, text } = await post('orders', submission);
  expect([status, text]).toEqual([200, expect.any(String)]);
});

test('an approval that was taken back: refused, whatever the node knows', async () => {
  const taker = account(8_503);
  const { submission } = await readyToSubmit(taker);
  const { chain, weth, port } = v.chain;
  await v.chain.approve(taker.address, weth.address, chain.permit2, 0n);
  const revoked = await blockNow();
  await until(async () => (port.head()?.number ?? 0n) >= revoked);
  const { status, json } = await post('orders', submission);
  expect([status, json['detail']?.[0]?.['type']]).toEqual([422, 'lock_required']);
});
