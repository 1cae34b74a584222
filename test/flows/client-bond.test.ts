/** A taker demands bonds, recognises an LP whose promise fails, and is paid out of that LP's bond. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, type DistrustError, type TradeRequest } from '../../src/client/client.ts';
import { assetId } from '../../src/domain/asset.ts';
import { addressToBytes32, type Address } from '../../src/domain/hex.ts';
import { postBondCall, requestTakeBackCall, setBondTermsCall } from '../../src/settlement/bond-call.ts';
import { fillCall, setOperatorCall } from '../../src/settlement/call.ts';
import { bondedTaker, readerOf, USDC_IN, WETH_OUT } from '../support/bonded-taker.ts';
import type { TestAccount, TestChain } from '../support/devnet.ts';
import { startTestVenue, type TestVenue } from '../support/venue.ts';

/** Half a per cent. */
const SHARE = WETH_OUT / 200n;

let v: TestVenue;
let origin: TestChain;
let dest: TestChain;
let key: string;
let count = 0;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_421, 31_422] });
  [origin, dest] = v.devnet.chains as [TestChain, TestChain];
  key = await v.key('service');
});
afterAll(() => v.stop());

interface Lp {
  id: string;
  lp: TestAccount;
  operator: TestAccount;
}

/** An LP of its own for each test, since most of them spoil it. */
async function lpWithBond(bond: { weth?: bigint; usdc?: bigint } = {}): Promise<Lp> {
  const lp = await v.solver(1_300 + count++, (rfq, make) => make.quote(rfq, { output: WETH_OUT }));
  for (const [token, amount] of [
    [origin.weth.address, bond.weth ?? 0n],
    [origin.usdc.address, bond.usdc ?? 0n],
  ] as const)
    if (amount > 0n) {
      await origin.fund(lp.lp.address, 10n);
      await origin.approve(lp.lp.address, token, quoteBond(), amount);
      await origin.send(lp.lp.address, quoteBond(), postBondCall(lp.lp.address, token, amount));
    }
  return lp;
}

const quoteBond = (): Address => origin.deployment.quoteBond;

const takerOf = ({ id }: Lp, more: Partial<TradeRequest> = {}) =>
  bondedTaker(v, origin, key, { include: [id] }, more);

/** The LP fills an order that it made up, to its own wallet: no withdrawal delay applies. */
async function moveAway({ lp }: Lp, chain = origin): Promise<void> {
  const { timestamp } = await readerOf(chain).getBlock();
  const output = {
    oracle: addressToBytes32(chain.chain.oracle),
    settler: addressToBytes32(chain.chain.escrow),
    chainId: BigInt(chain.chain.id),
    token: addressToBytes32(chain.weth.address),
    amount: await chain.port.ledgerBalance(lp.address, chain.weth.address),
    recipient: addressToBytes32(lp.address),
    callbackData: '0x',
    context: '0x',
  } as const;
  const orderId = `0x${(count++).toString(16).padStart(64, '7')}` as const;
  await chain.send(
    lp.address,
    chain.chain.escrow,
    fillCall(orderId, output, Number(timestamp) + 3_600, lp.address),
  );
}

const refusal = (work: Promise<unknown>): Promise<DistrustError> =>
  work.then(
    () => Promise.reject(new Error('accepted')),
    (error: unknown) => error as DistrustError,
  );

test('a bond that covers the whole share passes; one unit less is refused', async () => {
  const lp = await lpWithBond({ weth: 2n * SHARE });
  const { check } = await takerOf(lp);
  await expect(check({ bond: 'required' })).resolves.toBeDefined();
  await origin.send(lp.lp.address, quoteBond(), requestTakeBackCall(origin.weth.address, 1n));
  const { code, message } = await refusal(check({ bond: 'required' }));
  expect(code).toBe('bond');
  expect(message).toContain(`needs ${2n * SHARE}`);
  await expect(check()).resolves.toBeDefined();
});

test('an LP that keeps its promise cannot be claimed against', async () => {
  const lp = await lpWithBond({ weth: 2n * SHARE });
  const { client, wallet, check } = await takerOf(lp);
  const checked = await check();
  const signature = await client.sign(checked, wallet);
  expect(await client.fades(checked, signature)).toEqual([]);
  await expect(client.claim(checked, signature, wallet)).rejects.toMatchObject({ code: 'would_revert' });
});

test('an LP that moves its money away pays its taker', async () => {
  const lp = await lpWithBond({ weth: 2n * SHARE });
  const { client, wallet, check, held } = await takerOf(lp);
  const checked = await check({ bond: 'required' });
  const signature = await client.sign(checked, wallet);
  await moveAway(lp);
  const paid = [{ token: origin.weth.address, amount: SHARE }];
  expect(await client.fades(checked, signature)).toEqual([{ lp: lp.lp.address, output: 0, paid }]);
  const before = await held(origin.weth.address);
  const [claimed] = await client.claim(checked, signature, wallet);
  expect(claimed).toMatchObject({ lp: lp.lp.address, paid });
  expect((await held(origin.weth.address)) - before).toBe(SHARE);
  expect(await client.fades(checked, signature)).toEqual([]);
  const bond = await origin.port.bond(lp.lp.address, origin.weth.address);
  expect(bond).toEqual({ amount: 0n, leaving: 0n, availableAt: 0 });
});

test('an LP that revokes its operator after it signed pays its taker', async () => {
  const lp = await lpWithBond({ weth: 2n * SHARE });
  const { client, wallet, check } = await takerOf(lp);
  const checked = await check();
  const signature = await client.sign(checked, wallet);
  await origin.send(lp.lp.address, origin.chain.escrow, setOperatorCall(lp.operator.address, false));
  expect(await client.claim(checked, signature, wallet)).toHaveLength(1);
});

test('a trade that is followed claims by itself', async () => {
  const lp = await lpWithBond({ weth: 2n * SHARE });
  const { client, wallet, check, held } = await takerOf(lp);
  const checked = await check();
  const before = await held(origin.weth.address);
  let moved: Promise<void> | undefined;
  const ending = new AbortController();
  const trade = client.take(checked, {
    wallet,
    claimFades: true,
    signal: ending.signal,
    // Accepted by the venue, and not yet settled: nobody relays here.
    onEvent: () => void (moved ??= moveAway(lp)),
  });
  await expect.poll(() => held(origin.weth.address), { timeout: 20_000 }).toBe(before + SHARE);
  ending.abort();
  await trade.catch(() => {});
  await moved;
});

test('a trade that demands a bond takes no quote without one', async () => {
  const lp = await lpWithBond();
  const { client, wallet, request } = await takerOf(lp);
  const { code } = await refusal(client.trade({ request, wallet, bond: 'required' }));
  expect(code).toBe('bond');
});

test('a claim that the wallet refuses ends the trade with its reason, and nothing else', async () => {
  const lp = await lpWithBond({ weth: 2n * SHARE });
  const { client, wallet, check } = await takerOf(lp);
  let asked = 0;
  let moved: Promise<void> | undefined;
  const ending = new AbortController();
  const checked = await check();
  const trade = client.take(checked, {
    wallet: {
      ...wallet,
      // The trade itself needs no transaction of the taker after its set-up.
      sendTransaction: (call) =>
        call.to === quoteBond()
          ? ((asked += 1), Promise.reject(new Error('The user said no.')))
          : wallet.sendTransaction(call),
    },
    claimFades: true,
    signal: ending.signal,
    onEvent: () => void (moved ??= moveAway(lp)),
  });
  await expect.poll(() => asked, { timeout: 20_000 }).toBe(1);
  // While the order is followed further, the refusal waits to be told.
  await new Promise((resume) => setTimeout(resume, 1_000));
  ending.abort();
  await expect(trade).rejects.toThrow();
  await moved;
});

test('across chains the terms of the bond say what it covers', async () => {
  const lp = await lpWithBond({ usdc: USDC_IN / 100n });
  const { check } = await takerOf(lp, {
    output: { asset: assetId({ chainId: dest.chain.id, token: dest.weth.address }) },
  });
  const terms = (fillWindowSeconds: number, wallets: boolean) =>
    origin.send(lp.lp.address, quoteBond(), setBondTermsCall({ fillWindowSeconds, wallets }));
  expect((await refusal(check({ bond: 'required' }))).message).toContain('covers no orders across chains');
  await terms(5, true);
  await expect(check({ bond: 'required' })).resolves.toBeDefined();
});

test('across chains the bond has to stay until after the refund, and pay for a signer revoked by then', async () => {
  const lp = await lpWithBond({ usdc: USDC_IN / 100n });
  await origin.send(lp.lp.address, quoteBond(), setBondTermsCall({ fillWindowSeconds: 5, wallets: true }));
  const { check, request } = await takerOf(lp, {
    output: { asset: assetId({ chainId: dest.chain.id, token: dest.weth.address }) },
  });
  const { candidate, order } = await check();
  const rpc = readerOf(origin);
  const { timestamp } = await rpc.getBlock();
  /** Checks where a contract of the origin has this delay. */
  const where = (name: string, seconds: bigint) => {
    const readContract = (call: { functionName: string }) =>
      call.functionName === name ? Promise.resolve(seconds) : rpc.readContract(call as never);
    const client = createClient({
      url: v.url,
      key,
      chains: {
        [origin.chain.id]: {
          rpc: { ...rpc, readContract } as typeof rpc,
          escrow: origin.chain.escrow,
          oracles: [origin.chain.oracle],
          quoteBond: quoteBond(),
        },
        [dest.chain.id]: { rpc: readerOf(dest), escrow: dest.chain.escrow, oracles: [dest.chain.oracle] },
      },
    });
    return client.check(candidate, { request, bond: 'required' });
  };
  for (const [name, least] of [
    // The refund is possible one second after `expires`.
    ['TAKE_BACK_DELAY', BigInt(order.expires) + 1n - timestamp],
    ['WITHDRAWAL_DELAY', BigInt(order.fillDeadline) - timestamp],
  ] as const) {
    await expect(where(name, least)).resolves.toBeDefined();
    expect((await refusal(where(name, least - 1n))).code).toBe('bond');
  }
});

test('a client without the address of the bond contract says so', async () => {
  const lp = await lpWithBond();
  const { check, request } = await takerOf(lp);
  const { candidate } = await check();
  const bare = createClient({
    url: v.url,
    key,
    chains: { [origin.chain.id]: { rpc: readerOf(origin), escrow: origin.chain.escrow } },
  });
  expect((await refusal(bare.check(candidate, { request, bond: 'required' }))).message).toContain(
    'quoteBond',
  );
});
