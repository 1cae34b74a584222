/** A worker and an LP that breaks its promise: the bond pays a taker who has no gas and does nothing. */

import { erc20Abi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addressToBytes32, type Hex } from '../../src/domain/hex.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import { postBondCall } from '../../src/settlement/bond-call.ts';
import { fillCall } from '../../src/settlement/call.ts';
import type { TestAccount } from '../support/devnet.ts';
import { readerOf } from '../support/bonded-taker.ts';
import { type Settling, startSettling } from '../support/settling.ts';
import { random32 } from '../support/trade.ts';

const PROMISED = 10n ** 18n;
const SHARE = PROMISED / 200n;

let s: Settling;
let lp: TestAccount;

beforeAll(async () => {
  s = await startSettling([31_461, 31_462]);
  lp = s.lps[0] as TestAccount;
  const { weth, deployment } = s.here;
  await s.here.approve(lp.address, weth.address, deployment.quoteBond, PROMISED);
  await s.here.send(lp.address, deployment.quoteBond, postBondCall(lp.address, weth.address, PROMISED));
});
afterAll(() => s.stop());

/** The LP fills an order that it made up, to its own wallet: no withdrawal delay applies. */
async function moveAway(): Promise<bigint> {
  const { chain, port, weth } = s.here;
  const { timestamp } = await readerOf(s.here).getBlock();
  const amount = await port.ledgerBalance(lp.address, weth.address);
  const output = {
    oracle: addressToBytes32(chain.oracle),
    settler: addressToBytes32(chain.escrow),
    chainId: BigInt(chain.id),
    token: addressToBytes32(weth.address),
    amount,
    recipient: addressToBytes32(lp.address),
    callbackData: '0x',
    context: '0x',
  } as const;
  await s.here.send(
    lp.address,
    chain.escrow,
    fillCall(random32(), output, Number(timestamp) + 3_600, lp.address),
  );
  return amount;
}

const putBack = async (amount: bigint): Promise<void> => {
  await s.here.approve(lp.address, s.here.weth.address, s.here.chain.escrow, amount);
  await s.here.deposit(lp.address, s.here.weth.address, amount);
};
const wethOf = ({ order }: NewOrder): Promise<bigint> =>
  readerOf(s.here).readContract({
    address: s.here.weth.address,
    abi: erc20Abi,
    functionName: 'balanceOf',
    args: [order.user],
  });
const bondOf = async () => (await s.here.port.bond(lp.address, s.here.weth.address))?.amount;
/** Chain time passes to this second. */
async function until(second: number): Promise<void> {
  const { timestamp } = await readerOf(s.here).getBlock();
  for (const { anvil } of [s.here, s.there]) await anvil.advance(second - Number(timestamp));
  // A worker decides by the blocks that it has seen.
  await expect.poll(() => s.here.port.head()?.timestamp ?? 0).toBeGreaterThanOrEqual(second);
}

test('an LP that has moved its money away pays, and the order fails with the money still in place', async () => {
  const trade = await s.accept({ outputAmount: PROMISED });
  const bond = (await bondOf()) ?? 0n;
  const [before, moved] = [await wethOf(trade), await moveAway()];
  const worker = await s.worker();
  await expect.poll(() => wethOf(trade), { timeout: 20_000 }).toBe(before + SHARE);
  expect(await bondOf()).toBe(bond - 2n * SHARE);
  expect(await s.here.port.isNonceUsed(trade.order.user, trade.order.nonce)).toBe(false);
  await until(trade.order.fillDeadline + 1);
  await s.reach('failed', [trade]);
  await worker.stop();
  await putBack(moved);
});

test('in the last seconds one transaction settles the order, or claims', async () => {
  const kept = await s.accept({ outputAmount: PROMISED });
  await until(kept.order.fillDeadline - s.here.chain.landingMarginSeconds + 1);
  const worker = await s.worker();
  await s.reach('settled', [kept]);
  const facts = (await s.store.order(kept.orderId))?.facts.map(({ fact }) => fact) ?? [];
  const hash = facts.flatMap((fact) => ('evidence' in fact && fact.evidence ? [fact.evidence] : []));
  const sent = await Promise.all(
    hash.flatMap((each) =>
      'txHash' in each ? [readerOf(s.here).getTransaction({ hash: each.txHash as Hex })] : [],
    ),
  );
  expect(new Set(sent.map(({ to }) => to?.toLowerCase()))).toEqual(new Set([s.here.deployment.quoteBond]));
  await worker.stop();
});

test('an LP without a bond: the order fails as before', async () => {
  const other = s.lps[1] as TestAccount;
  const trade = await s.accept({ outputAmount: PROMISED, lps: [{ account: other }] });
  const amount = await s.here.port.ledgerBalance(other.address, s.here.weth.address);
  const owner = lp;
  lp = other;
  await moveAway();
  lp = owner;
  const before = await wethOf(trade);
  const worker = await s.worker();
  await until(trade.order.fillDeadline + 1);
  await s.reach('failed', [trade]);
  expect(await wethOf(trade)).toBe(before);
  expect(amount).toBeGreaterThan(PROMISED);
  await worker.stop();
});
