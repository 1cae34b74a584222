/**
 * Transactions that do not go as planned: two processes with one key, settlements that the chain refuses, and
 * a race between claim and refund.
 */

import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { createTxStore } from '../../src/adapters/postgres/tx-store.ts';
import { fillAttestation } from '../../src/domain/attestation.ts';
import { addressToBytes32, type Hex } from '../../src/domain/hex.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import { finaliseCall, refundCall, submitAttestationsCall } from '../../src/settlement/call.ts';
import { account, type TestAccount, type TestChain } from '../support/devnet.ts';
import { willingAttesters } from '../support/lp-trades.ts';
import { type Settling, startSettling } from '../support/settling.ts';
import { until } from '../support/venue.ts';
import { diceOf } from './seed.ts';

let s: Settling;
const ENOUGH = 10n ** 15n;
const REVERTS = '0x60006000fd';
let relayers = 31_000;

beforeAll(async () => {
  s = await startSettling([31_631, 31_632]);
});
afterEach(async () => {
  for (const { anvil } of s.devnet.chains) await anvil.rpc('evm_setAutomine', [true]);
});
afterAll(() => s?.stop());

async function newRelayer(): Promise<TestAccount> {
  const relayer = account((relayers += 1));
  for (const chain of s.devnet.chains) await chain.fund(relayer.address, 0n);
  return relayer;
}
/** Counts the transactions that pass through it. */
function counted(): { chains: ReadonlyMap<number, ChainPort>; sent(): number } {
  let count = 0;
  const wrap = ({ port }: TestChain): ChainPort => ({
    ...port,
    async sendRaw(raw) {
      count += 1;
      return port.sendRaw(raw);
    },
  });
  return {
    chains: new Map(s.devnet.chains.map((chain) => [chain.chain.id, wrap(chain)])),
    sent: () => count,
  };
}
const accept = (count: number, change: Parameters<Settling['accept']>[0] = {}): Promise<NewOrder[]> =>
  Promise.all(
    Array.from({ length: count }, () =>
      s.accept({ inputAmount: 1_000_000n, outputAmount: ENOUGH, ...change }),
    ),
  );
const usdcOf = (address: Hex, chain = s.here) => chain.port.tokenBalance(address, chain.usdc.address);
const ledgerOf = (chain: TestChain, token: Hex) =>
  Promise.all(s.lps.map(({ address }) => chain.port.ledgerBalance(address, token)));
/** The database has a record of every used nonce. */
const isGapless = (relayer: TestAccount) =>
  until(async () => {
    const [row] = await s.db.query<{ n: number; open: number }>(
      "select count(*)::int as n, count(*) filter (where state = 'open')::int as open from tx_slot where signer = $1 and chain_id = $2",
      [bytesOf(relayer), s.here.chain.id],
    );
    return row?.open === 0 && row.n === (await s.here.port.transactionCount(relayer.address, 'latest'));
  });

test('F8: of two processes with one key, one sends; the other takes over when the first stops or loses its lease', async () => {
  const dice = diceOf('F8');
  const relayer = await newRelayer();
  const taker = await s.taker();
  const [first, second] = [counted(), counted()];
  const transactions = createTxStore(s.db);
  // Its lease renewals do not reach the database and it does not notice, as if it had been frozen between two
  // instructions.
  let frozen = false;
  // Longer than a busy machine delays anything, so only the code below ends it.
  const one = await s.worker({
    relayer,
    sender: { leaseMs: 600_000 },
    chains: first.chains,
    transactions: {
      ...transactions,
      renewSigner: async (...args) => frozen || transactions.renewSigner(...args),
    },
  });
  const two = await s.worker({ relayer, sender: { leaseMs: 30_000 }, chains: second.chains });
  const before = await accept(50, { taker });
  await s.reach('settled', before);
  expect(second.sent()).toBe(0);
  await isGapless(relayer);
  frozen = true;
  const fence = await fenceOf(relayer);
  await s.db.query("update tx_signer set lease_until = '-infinity' where signer = $1", [bytesOf(relayer)]);
  await until(async () => (await fenceOf(relayer)) > fence);
  const sentBefore = first.sent();
  const after = await accept(5 + Math.floor(dice.next() * 10), { taker });
  await s.reach('settled', after);
  expect(first.sent()).toBe(sentBefore);
  expect(second.sent()).toBeGreaterThan(0);
  await isGapless(relayer);
  await Promise.all([one.stop(), two.stop()]);
});
const bytesOf = ({ address }: TestAccount): Buffer => Buffer.from(address.slice(2), 'hex');
const fenceOf = async (relayer: TestAccount): Promise<number> =>
  Number(
    (
      await s.db.query<{ fence: number }>('select fence from tx_signer where signer = $1 and chain_id = $2', [
        bytesOf(relayer),
        s.here.chain.id,
      ])
    )[0]?.fence,
  );

test('F30: an order that the chain refuses fails and releases everything (paused token, LP without balance, taker without balance); the others settle', async () => {
  const dice = diceOf('F30');
  const worker = await s.worker({ sender: { batch: s.here.deployment.batch } });
  const taker = await s.taker();
  const had = await usdcOf(taker.address);
  // Cross chain: opened, and then the token is paused where the LP would pay.
  const [across] = (await accept(1, { taker, dest: s.there })) as [NewOrder];
  await s.reach('escrowed', [across]);
  const code = await s.there.anvil.rpc<Hex>('eth_getCode', [s.there.weth.address, 'latest']);
  await s.there.anvil.rpc('anvil_setCode', [s.there.weth.address, REVERTS]);
  await expect(s.fill(across)).rejects.toThrow();
  const ledgers = await ledgerOf(s.there, s.there.weth.address);

  // Same chain: good and bad orders mixed.
  const poor = account((relayers += 1));
  const kinds = Array.from({ length: 12 }, (_, n) =>
    n < 2 ? 'empty LP' : n < 4 ? 'empty taker' : 'good',
  ).sort(() => dice.next() - 0.5);
  const trades = await Promise.all(
    kinds.map((kind) =>
      s.accept({
        taker: kind === 'empty taker' ? poor : taker,
        inputAmount: 1_000_000n,
        outputAmount: kind === 'empty LP' ? 10n ** 24n : ENOUGH,
      }),
    ),
  );
  const of = (kind: string) => trades.filter((_, n) => kinds[n] === kind);
  await s.reach('settled', of('good'));
  expect(await usdcOf(taker.address)).toBe(had - 1_000_000n * BigInt(of('good').length + 1));

  const end = Math.max(across.order.expires, ...trades.map(({ order }) => order.fillDeadline));
  for (const { anvil, port } of s.devnet.chains)
    await anvil.advance(end + 10 - (port.head()?.timestamp ?? 0));
  await s.reach('failed', [...of('empty LP'), ...of('empty taker')]);
  await s.reach('refunded', [across]);
  const codes = await Promise.all(
    [...of('empty LP'), ...of('empty taker'), across].map(async ({ orderId }) =>
      (await s.store.order(orderId))?.facts
        .map(({ fact }) => (fact.kind === 'failed' ? fact.failure.code : ''))
        .find(Boolean),
    ),
  );
  expect(codes).toEqual([
    'settlement_reverted',
    'settlement_reverted',
    'funding_failed',
    'funding_failed',
    'expired_unfilled',
  ]);
  expect(await usdcOf(taker.address)).toBe(had - 1_000_000n * BigInt(of('good').length));
  await s.there.anvil.rpc('anvil_setCode', [s.there.weth.address, code]);
  expect(await ledgerOf(s.there, s.there.weth.address)).toEqual(ledgers);
  await worker.stop();
});

test('F34: when a claim and a refund race in one block, exactly one succeeds, and the venue reports which', async () => {
  const dice = diceOf('F34');
  for (const first of dice.next() < 0.5 ? (['claim', 'refund'] as const) : (['refund', 'claim'] as const)) {
    const opener = await s.worker();
    const taker = await s.taker();
    const [trade] = (await accept(1, { taker, dest: s.there })) as [NewOrder];
    await s.reach('escrowed', [trade]);
    await opener.stop();
    const had = await usdcOf(taker.address);
    await s.fill(trade);
    await s.there.anvil.mine(2);
    const event = await until(async () =>
      (await s.there.port.orderEvents(trade.orderId, 0)).find((found) => found.kind === 'filled'),
    );
    if (event.kind !== 'filled') throw new Error('not filled');
    const proof = fillAttestation({
      solver: event.solver,
      orderId: trade.orderId,
      timestamp: event.timestamp,
      output: event.output,
    });
    const signatures =
      (await willingAttesters.signatures(
        proof,
        { chainId: s.here.chain.id, oracle: s.here.chain.oracle },
        trade.orderId,
      )) ?? [];
    const stranger = await newRelayer();
    await s.here.send(
      stranger.address,
      s.here.chain.oracle,
      submitAttestationsCall(proof.remoteChainId, proof.application, [
        { payloadHash: proof.payloadHash, signatures },
      ]),
    );
    await s.here.anvil.advance(
      trade.order.expires +
        1 -
        ((await s.here.port.block(BigInt(await s.here.anvil.rpc<Hex>('eth_blockNumber'))))?.timestamp ?? 0),
    );

    await s.here.anvil.rpc('evm_setAutomine', [false]);
    const lp = s.lps[0] as TestAccount;
    expect(event.solver).toBe(addressToBytes32(lp.address));
    const send = (data: Hex, from: TestAccount, sooner: boolean) =>
      s.here.anvil.rpc<Hex>('eth_sendTransaction', [
        {
          from: from.address,
          to: s.here.chain.escrow,
          data,
          gas: '0x1e8480',
          maxFeePerGas: sooner ? '0x2e90edd000' : '0x174876e800',
          maxPriorityFeePerGas: sooner ? '0x174876e800' : '0x3b9aca00',
        },
      ]);
    const claim = await send(
      finaliseCall(trade.order, [{ timestamp: event.timestamp, solver: lp.address }]),
      await newRelayer(),
      first === 'claim',
    );
    const refund = await send(refundCall(trade.order), await newRelayer(), first === 'refund');
    await s.here.anvil.mine();
    const [claimed, refunded] = await Promise.all(
      [claim, refund].map((hash) => until(() => s.here.port.receipt(hash))),
    );
    expect(claimed?.blockNumber).toBe(refunded?.blockNumber);
    expect([claimed?.status, refunded?.status]).toEqual(
      first === 'claim' ? ['success', 'reverted'] : ['reverted', 'success'],
    );
    expect(await usdcOf(taker.address)).toBe(first === 'claim' ? had : had + 1_000_000n);
    await s.here.anvil.rpc('evm_setAutomine', [true]);

    // Both processes find the outcome, whichever sent the transaction.
    const worker = await s.worker();
    await s.reach(first === 'claim' ? 'settled' : 'refunded', [trade]);
    expect(await s.here.port.orderStatus(trade.orderId)).toBe(first === 'claim' ? 'claimed' : 'refunded');
    expect(await s.here.port.transactionCount(worker.relayer.address, 'latest')).toBe(0);
    await worker.stop();
  }
});
