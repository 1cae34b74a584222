/**
 * `firmquote verify-fade`: real claims hold against chains alone; one that the contract should not have paid,
 * or never paid, does not.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { verifyFade } from '../../../src/apps/verify/fade.ts';
import { openWitness, type Witness } from '../../../src/apps/verify/witness.ts';
import { addressToBytes32, type Hex } from '../../../src/domain/hex.ts';
import type { NewOrder } from '../../../src/ports/stores/store.ts';
import { postBondCall, setBondTermsCall } from '../../../src/settlement/bond-call.ts';
import {
  fillCall,
  limitOperatorCall,
  openForCall,
  refundCall,
  setOperatorCall,
} from '../../../src/settlement/call.ts';
import { claimCall, claimUnfilledCall } from '../../support/bond-claims.ts';
import { firmquote } from '../../support/command.ts';
import {
  account,
  DEPLOYER,
  type Devnet,
  startDevnet,
  type TestAccount,
  type TestChain,
} from '../../support/devnet.ts';
import { makeTrade, random32, type TradeTerms } from '../../support/trade.ts';

const WETH = 10n ** 18n;

let devnet: Devnet;
let a: TestChain;
let b: TestChain;
let taker: TestAccount;
const witnesses = new Map<number, Witness>();
let accounts = 400;

beforeAll(async () => {
  devnet = await startDevnet([31_511, 31_512], { landingMarginSeconds: 600, proofWindowSeconds: 60 });
  [a, b] = devnet.chains as [TestChain, TestChain];
  taker = account(399);
  for (const chain of [a, b]) {
    await chain.fund(taker.address);
    witnesses.set(chain.chain.id, await openWitness(chain.chain.id, chain.anvil.url, chain.chain.escrow));
  }
});
afterAll(async () => {
  for (const witness of witnesses.values()) witness.close();
  await devnet.stop();
});

interface Lp {
  owner: TestAccount;
  operator: TestAccount;
}

/** With 10 WETH in each ledger and a bond of 1 WETH and 1,000 USDC on the origin. */
async function freshLp(): Promise<Lp> {
  const [owner, operator] = [account(accounts++), account(accounts++)];
  for (const chain of [a, b]) {
    await chain.fund(owner.address);
    await chain.deposit(owner.address, chain.weth.address, 10n * WETH);
    await chain.setOperator(owner.address, operator.address);
    await chain.fund(operator.address, 0n);
  }
  const { quoteBond } = a.deployment;
  for (const [token, amount] of [
    [a.weth.address, WETH],
    [a.usdc.address, 1_000_000_000n],
  ] as const) {
    await a.approve(owner.address, token, quoteBond, amount);
    await a.send(owner.address, quoteBond, postBondCall(owner.address, token, amount));
  }
  await a.send(owner.address, quoteBond, setBondTermsCall({ fillWindowSeconds: 1, wallets: true }));
  return { owner, operator };
}

const now = async (chain: TestChain) =>
  (await chain.port.block(BigInt(await chain.anvil.rpc<Hex>('eth_blockNumber'))))?.timestamp ?? 0;
const promiseOf = async ({ owner, operator }: Lp, more: Partial<TradeTerms> = {}): Promise<NewOrder> =>
  makeTrade({
    ...{ origin: a, taker, lps: [{ account: owner, operator }], now: await now(a), validForSeconds: 60 },
    ...more,
  });
const claim = ({ order, signature, quoteId, commitments: [one] }: NewOrder): Promise<Hex> =>
  a.send(DEPLOYER.address, a.deployment.quoteBond, claimCall(order, signature, quoteId, one as never));

/** The LP fills an order that it made up, to its own wallet. */
const moveAway = async ({ owner }: Lp) =>
  a.send(
    owner.address,
    a.chain.escrow,
    fillCall(
      random32(),
      {
        oracle: addressToBytes32(a.chain.oracle),
        settler: addressToBytes32(a.chain.escrow),
        chainId: BigInt(a.chain.id),
        token: addressToBytes32(a.weth.address),
        amount: 10n * WETH,
        recipient: addressToBytes32(owner.address),
        callbackData: '0x',
        context: '0x',
      },
      (await now(a)) + 3_600,
      owner.address,
    ),
  );

const checksOf = (txHash: Hex, known = witnesses, bond = a.deployment.quoteBond) =>
  verifyFade({ txHash, chainId: a.chain.id, bond, escrow: a.chain.escrow, witnesses: known });
const wrong = async (txHash: Hex, ...more: [ReadonlyMap<number, Witness>?, Hex?]) =>
  (await checksOf(txHash, more[0] as never, more[1]))
    .filter(({ result }) => result !== 'held')
    .map(({ id, result }) => `${id} ${result}`);

async function unfilled(lp: Lp, more: Partial<TradeTerms> = {}): Promise<{ made: NewOrder; txHash: Hex }> {
  const made = await promiseOf(lp, { dest: b, ...more });
  await a.send(DEPLOYER.address, a.chain.escrow, openForCall(made.order, made.funding));
  await a.anvil.rpc('evm_setNextBlockTimestamp', [made.order.expires + 1]);
  await a.send(DEPLOYER.address, a.chain.escrow, refundCall(made.order));
  const [commitment] = made.commitments;
  const data = claimUnfilledCall(made.order, made.quoteId, commitment as never);
  return { made, txHash: await a.send(DEPLOYER.address, a.deployment.quoteBond, data) };
}

describe('a claim that was paid for a reason holds', () => {
  test('the LP moved its balance away', async () => {
    const lp = await freshLp();
    const made = await promiseOf(lp);
    await moveAway(lp);
    const checks = await checksOf(await claim(made));
    expect(checks.map(({ id, result }) => `${id} ${result}`)).toEqual([
      'claim.paid held',
      'order.id held',
      'taker.signature held',
      'lp.commitment held',
      'lp.failed held',
      'taker.paid held',
    ]);
    expect(checks[4]?.says).toContain('its ledger balance was 0 WETH');
  });

  test('its operator was revoked, or its limit lowered', async () => {
    const [one, other] = [await freshLp(), await freshLp()];
    const promises = [await promiseOf(one), await promiseOf(other)] as const;
    await a.send(one.owner.address, a.chain.escrow, setOperatorCall(one.operator.address, false));
    expect(await wrong(await claim(promises[0]))).toEqual([]);
    const limit = limitOperatorCall(other.operator.address, a.weth.address, 1n, 60);
    await a.send(other.owner.address, a.chain.escrow, limit);
    expect(await wrong(await claim(promises[1]))).toEqual([]);
  });

  test('the token refused the payment, and the bond contract keeps it for the taker', async () => {
    const lp = await freshLp();
    const made = await promiseOf(lp);
    await moveAway(lp);
    const code = await a.anvil.rpc<Hex>('eth_getCode', [a.weth.address, 'latest']);
    // Reverts whatever it is asked.
    await a.anvil.rpc('anvil_setCode', [a.weth.address, '0x60006000fd']);
    const txHash = await claim(made);
    await a.anvil.rpc('anvil_setCode', [a.weth.address, code]);
    expect(await wrong(txHash)).toEqual([]);
    expect((await checksOf(txHash)).at(-1)?.says).toContain('takeOwed');
  });

  test('an order across chains of two inputs pays a share of each', async () => {
    const lp = await freshLp();
    await a.deposit(taker.address, a.usdc.address, 2_500_000_000n);
    await a.deposit(taker.address, a.weth.address, WETH);
    const { txHash } = await unfilled(lp, { lock: 'resourceLock', wethInput: WETH });
    const checks = await checksOf(txHash);
    expect(checks.filter(({ result }) => result !== 'held')).toEqual([]);
    expect(checks.filter(({ id }) => id.startsWith('taker.paid'))).toHaveLength(2);
  });

  test('an order across chains was not filled, as the destination shows', async () => {
    const { txHash } = await unfilled(await freshLp());
    expect(await wrong(txHash)).toEqual([]);
    const origin = new Map([[a.chain.id, witnesses.get(a.chain.id) as Witness]]);
    expect(await wrong(txHash, origin)).toEqual(['lp.failed unchecked']);
  });
});

describe('what does not hold is named', () => {
  test('a transaction that claims nothing, none at all, and a contract that is not the bond', async () => {
    const lp = await freshLp();
    const made = await promiseOf(lp);
    const moved = await moveAway(lp);
    expect(await wrong(moved)).toEqual(['claim.paid failed']);
    expect(await wrong(random32())).toEqual(['claim.paid failed']);
    const claimed = await claim(made);
    expect(await wrong(claimed)).toEqual([]);
    expect(await wrong(claimed, witnesses, a.chain.escrow)).toEqual(['claim.paid failed']);
  });

  test('an order across chains that was filled, and proven too late', async () => {
    const lp = await freshLp();
    const made = await promiseOf(lp, { dest: b });
    const [output] = made.order.outputs as [NewOrder['order']['outputs'][number]];
    await a.send(DEPLOYER.address, a.chain.escrow, openForCall(made.order, made.funding));
    const fill = fillCall(made.orderId, output, made.order.fillDeadline, lp.owner.address);
    await b.send(lp.operator.address, b.chain.escrow, fill);
    await a.anvil.rpc('evm_setNextBlockTimestamp', [made.order.expires + 1]);
    const [commitment] = made.commitments;
    const data = claimUnfilledCall(made.order, made.quoteId, commitment as never);
    const txHash = await a.send(DEPLOYER.address, a.deployment.quoteBond, data);
    expect(await wrong(txHash)).toEqual(['lp.failed failed']);
  });
});

test('the command prints each check and its verdict', async () => {
  const lp = await freshLp();
  const made = await promiseOf(lp);
  await moveAway(lp);
  const txHash = await claim(made);
  const run = (...more: string[]) =>
    firmquote([
      ...['verify-fade', txHash, '--chain', String(a.chain.id), '--bond', a.deployment.quoteBond],
      ...more,
    ]);
  const held = await run('--rpc', `${a.chain.id}=${a.anvil.url}`);
  expect([held.status, held.stderr]).toEqual([0, '']);
  expect(held.stdout).toContain('All 6 checks held for claim');
  expect((await run()).stderr).toContain('Give a node of the chain of the claim');
  expect((await run('--rpc', `${a.chain.id}=${a.anvil.url}`, '--bond', a.chain.oracle)).stderr).toContain(
    'There is no bond contract at',
  );
});
