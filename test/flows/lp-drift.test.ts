/**
 * Money that comes, goes or vanishes behind the LP's back, on a real chain: what an event explains is taken
 * over to the unit, anything else freezes that token and nothing more.
 */

import { encodeAbiParameters, keccak256 } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SignedCommitment } from '../../src/domain/commitment.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import type { Log } from '../../src/ports/log.ts';
import { postBondCall } from '../../src/settlement/bond-call.ts';
import {
  depositCall,
  requestWithdrawalCall,
  withdrawCall,
  withdrawDeferredCall,
} from '../../src/settlement/call.ts';
import { claimCall } from '../support/bond-claims.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { giveInto } from '../support/gift.ts';
import { REPLICAS } from '../support/lp.ts';
import { eventually } from '../support/lp-trades.ts';
import { startOneChainLp } from '../support/one-chain-lp.ts';
import { request, type ScriptedVenue } from '../support/scripted-venue.ts';
import { silentLog } from '../support/silent.ts';
import { makeTrade } from '../support/trade.ts';

const owner = account(81);
const operator = account(82);
const taker = account(83);
const CHAIN_ID = 41_601;
const USDC = 10n ** 6n;
const WETH = 10n ** 18n;
const DELAY_SECONDS = 901;

let chain: TestChain;
let venue: ScriptedVenue;
let lp: LpNode;
let stop: () => Promise<void>;
/** Messages that page an operator. */
const paged: string[] = [];
const log: Log = { ...silentLog, fatal: (_, message) => void paged.push(message), child: () => log };
/** Where the escrow keeps our WETH. */
let slot: Hex;

beforeAll(async () => {
  ({ chain, venue, lp, stop } = await startOneChainLp({
    chainId: CHAIN_ID,
    owner,
    operator,
    others: [taker],
    usdc: 50_000n * USDC,
    weth: 20n * WETH,
    schema: 'lp_drift',
    log,
    config: {
      reconcileSeconds: 1,
      chains: [{ chainId: CHAIN_ID, account: owner.address, maxHeadAgeMs: 1_000_000_000, graceSeconds: 2 }],
    },
  }));
  slot = await slotOf(20n * WETH);
}, 120_000);

afterAll(() => stop?.());

/** Nested mapping, account then token; which of the contract's slots it is, the balance itself tells. */
async function slotOf(balance: bigint): Promise<Hex> {
  const inner = (key: Hex, at: Hex) =>
    keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'bytes32' }], [key, at]));
  for (let index = 0n; index < 20n; index += 1n) {
    const at = inner(chain.weth.address, inner(owner.address, `0x${index.toString(16).padStart(64, '0')}`));
    if (
      BigInt(await chain.anvil.rpc<Hex>('eth_getStorageAt', [chain.chain.escrow, at, 'latest'])) === balance
    )
      return at;
  }
  throw new Error('the escrow keeps its balances elsewhere');
}

/** Behind everybody's back: no transaction, no event. */
async function tamper(change: bigint): Promise<void> {
  const entry = BigInt(await chain.anvil.rpc<Hex>('eth_getStorageAt', [chain.chain.escrow, slot, 'latest']));
  await chain.anvil.rpc('anvil_setStorageAt', [
    chain.chain.escrow,
    slot,
    `0x${(entry + change).toString(16).padStart(64, '0')}`,
  ]);
}

const weth = () =>
  lp.inventory().find(({ token }) => token === chain.weth.address) ?? expect.fail('no such bucket');
const kinds = () => lp.status().reasons.map(({ kind }) => kind);
const ask = (give: 'usdc' | 'weth', amount: bigint) =>
  venue.ask(
    request({
      from: chain.chain,
      to: chain.chain,
      give: chain[give],
      take: chain[give === 'usdc' ? 'weth' : 'usdc'],
      amount,
      taker: taker.address,
    }),
  );
/** Blocks until it is so: heads, and so comparisons, come only with blocks. */
const minedUntil = (what: () => boolean) =>
  eventually(async () => {
    await chain.anvil.mine(1);
    return what();
  });

test('a claim whose block is read again is logged and counted once', async () => {
  const { quoteBond } = chain.deployment;
  await chain.fund(taker.address, 0n);
  await chain.approve(owner.address, chain.weth.address, quoteBond, WETH);
  await chain.send(owner.address, quoteBond, postBondCall(owner.address, chain.weth.address, WETH));
  const { order, signature, quoteId, commitments } = makeTrade({
    ...{ origin: chain, taker, lps: [{ account: owner, operator }], outputAmount: 10n ** 30n },
  });
  const data = claimCall(order, signature, quoteId, commitments[0] as SignedCommitment);
  await chain.send(taker.address, quoteBond, data);
  const told = () => paged.filter((message) => message.startsWith('our bond has paid')).length;
  await minedUntil(() => told() === REPLICAS);
  // A difference makes the LP read the events since the last agreement again.
  await tamper(5n);
  await minedUntil(() => weth().drift !== null);
  await tamper(-5n);
  await minedUntil(() => weth().drift === null);
  expect(told()).toBe(REPLICAS);
});

test('a deposit and an unexplained surplus in one block: the deposit counts to the unit, the surplus does not', async () => {
  const before = weth();
  await chain.approve(owner.address, chain.weth.address, chain.chain.escrow);
  await tamper(5n);
  await chain.send(owner.address, chain.chain.escrow, depositCall(chain.weth.address, 3n * WETH));
  await minedUntil(() => weth().drift !== null);
  expect(weth()).toMatchObject({ onchain: before.onchain + 3n * WETH, drift: 5n });
  await eventually(() => kinds().includes('drift'));
  expect(lp.status().note).toContain(
    'WETH on chain1: ledger and chain disagree, the chain has 0.000000000000000005 WETH more',
  );
  // That token is not promised any more, by any replica; one that has not compared yet only sees that another
  // left no room. What goes the other way is.
  await eventually(async () => {
    const answer = await ask('usdc', 100n * USDC);
    expect(answer).toMatchObject(
      REPLICAS === 1
        ? { type: 'decline', reason: 'standby', code: 'drift' }
        : { type: 'decline', reason: expect.stringMatching(/^(?:standby|no_inventory)$/) },
    );
    return 'code' in answer && answer.code === 'drift';
  });
  expect(await ask('weth', WETH / 100n)).toMatchObject({ type: 'quote' });
});

test('the token is quoted again when chain and ledger agree', async () => {
  await tamper(-5n);
  await minedUntil(() => weth().drift === null);
  await eventually(() => !kinds().includes('drift'));
  expect(await ask('usdc', 100n * USDC)).toMatchObject({ type: 'quote' });
});

test('a withdrawal and an unexplained loss: the withdrawal leaves to the unit, the loss freezes the token', async () => {
  const before = weth();
  await chain.send(owner.address, chain.chain.escrow, requestWithdrawalCall(chain.weth.address, 2n * WETH));
  await minedUntil(() => weth().withdrawing === 2n * WETH);
  await chain.anvil.advance(DELAY_SECONDS);
  await tamper(-7n);
  await chain.send(owner.address, chain.chain.escrow, withdrawCall(chain.weth.address, owner.address));
  await minedUntil(() => weth().drift !== null && weth().withdrawing === 0n);
  expect(weth()).toMatchObject({ onchain: before.onchain - 2n * WETH, drift: -7n, withdrawing: 0n });
  await tamper(7n);
  await minedUntil(() => weth().drift === null);
  expect(weth().onchain).toBe(await chain.port.ledgerBalance(owner.address, chain.weth.address));
});

test('a deferred delivery to the account is never quoted and freezes nothing', async () => {
  const before = weth();
  const gift = { from: taker.address, to: owner.address, token: chain.weth.address };
  const { orderId, output } = await giveInto(chain, {
    ...gift,
    amount: 2n * WETH,
    settlement: 'ledger_auto_withdraw',
  });
  await minedUntil(() => weth().withdrawing === 2n * WETH && weth().onchain === before.onchain + 2n * WETH);
  expect(weth()).toMatchObject({ free: before.free, drift: null });
  await giveInto(chain, { ...gift, amount: 1n * WETH, settlement: 'ledger' });
  await minedUntil(() => weth().onchain === before.onchain + 3n * WETH);
  expect(weth()).toMatchObject({ free: before.free + WETH, drift: null });
  await chain.anvil.advance(DELAY_SECONDS);
  await chain.send(taker.address, chain.chain.escrow, withdrawDeferredCall(orderId, output));
  await minedUntil(() => weth().withdrawing === 0n && weth().onchain === before.onchain + WETH);
  expect(weth()).toMatchObject({ free: before.free + WETH, drift: null });
});
