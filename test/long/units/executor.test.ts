/**
 * Transfers between two real chains over CCTP by the mover of an `LpAccount`: whatever dies, lapses or
 * refuses, one transfer happens at most, and the money is always in one place.
 */

import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type TestCctp, startCctp } from '../../support/cctp.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { createTransactor } from '../../../src/adapters/evm/transactor/transactor.ts';
import { TRANSACTION_MIGRATIONS } from '../../../src/adapters/postgres/migrations/transactions.ts';
import { TRANSFER_MIGRATIONS } from '../../../src/adapters/postgres/migrations/transfers.ts';
import { createTransferStore } from '../../../src/adapters/postgres/transfer-store.ts';
import { createTxStore } from '../../../src/adapters/postgres/tx-store.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import type { Address } from '../../../src/domain/hex.ts';
import type { Bridge, BridgeMove } from '../../../src/ports/bridge.ts';
import type { Transactor } from '../../../src/ports/transactor.ts';
import type { StoredTransfer, TransferStore } from '../../../src/ports/stores/transfers.ts';
import type { TxStore } from '../../../src/ports/stores/tx-store.ts';
import { lpAccountDeployment } from '../../../src/adapters/evm/deploy/lp-account.ts';
import { accountCall, EVERYTHING, moverCall } from '../../../src/settlement/lp-account.ts';
import { foldTransfer } from '../../../src/settlement/transfer.ts';
import { createTransfers } from '../../../src/transfers/executor.ts';

const OWNER = account(8_300);
const MOVER = account(8_301);
const WHOLE = 1_000_000n;
const OWNED = 1_000n * WHOLE;
const AMOUNT = 100n * WHOLE;

let postgres: TestPostgres;
let devnet: Devnet;
let cctp: TestCctp;
let [base, arc] = [] as unknown as [TestChain, TestChain];
let [store, transactions] = [] as unknown as [TransferStore, TxStore];
let lpAccount: Address;
let serial = 0;
const running: Transactor[] = [];

beforeAll(async () => {
  [postgres, devnet] = await Promise.all([startTestPostgres(), startDevnet([31_451, 31_452])]);
  [base, arc] = devnet.chains as [TestChain, TestChain];
  cctp = await startCctp([
    { chain: base, domain: 6 },
    { chain: arc, domain: 26, isFinalAtOnce: true },
  ]);
  const db = await postgres.database('transfers', [...TRANSFER_MIGRATIONS, ...TRANSACTION_MIGRATIONS]);
  [store, transactions] = [createTransferStore(db), createTxStore(db)];
  const created = lpAccountDeployment(OWNER.address);
  lpAccount = created.address;
  for (const [index, chain] of [base, arc].entries()) {
    for (const { address } of [OWNER, MOVER]) await chain.fund(address);
    const { to, data } = created;
    // More gas than `send` gives.
    await chain.anvil.rpc('eth_sendTransaction', [{ from: OWNER.address, to, data, gas: '0x7a1200' }]);
    const { messenger } = cctp.deployments[index] as { messenger: Address };
    const token = chain.usdc.address;
    for (const change of [
      accountCall.initialize(chain.chain.escrow, chain.chain.quoteBond as Address),
      accountCall.setMover(MOVER.address),
      accountCall.setMoverLimit(token, 1_000_000n * WHOLE),
      accountCall.setCctpRoute(token, index === 0 ? 26 : 6, messenger, 100),
    ])
      await chain.send(OWNER.address, lpAccount, change);
    const gift = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [lpAccount, OWNED] });
    await chain.send(OWNER.address, token, gift);
    await chain.send(OWNER.address, lpAccount, moverCall.deposit(token, EVERYTHING));
  }
});
afterEach(async () => {
  cctp.circle.setFaults({});
  await Promise.all(running.splice(0).map((transactor) => transactor.stop()));
});
afterAll(async () => {
  await cctp.stop();
  await devnet.stop();
  await postgres.stop();
});

/** A process of its own. `free`: what the ledger would let go. */
async function startProcess({ bridge = cctp.open(), free = OWNED }: { bridge?: Bridge; free?: bigint } = {}) {
  const transactors = new Map<number, Transactor>();
  for (const { port } of [base, arc]) {
    const transactor = createTransactor(
      {
        ...{ chain: port, store: transactions, signer: MOVER.signer, clock: systemClock },
        ...{ log: silentLog, metrics: silentMetrics },
      },
      { owner: `mover-${(serial += 1)}`, leaseMs: 3_000 },
    );
    await transactor.start();
    running.push(transactor);
    transactors.set(port.chain.id, transactor);
  }
  const reserved = new Map<string, bigint>();
  const transfers = createTransfers(
    {
      ...{ store, bridges: [bridge], transactors, clock: systemClock, log: silentLog },
      chains: new Map([base, arc].map(({ port }) => [port.chain.id, port])),
      worthUsd: () => undefined,
      reservations: {
        take(id, _, amount) {
          if (amount > free) return false;
          reserved.set(id, amount);
          return true;
        },
        restore: (id, _, amount) => void reserved.set(id, amount),
        release: (id) => void reserved.delete(id),
      },
    },
    { patienceMs: 3_600_000 },
  );
  return {
    ...transfers,
    reserved,
    async stop() {
      await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
    },
  };
}

const moveOf = (amount = AMOUNT): BridgeMove => ({
  account: lpAccount,
  amount,
  from: { chainId: base.chain.id, token: base.usdc.address },
  to: { chainId: arc.chain.id, token: arc.usdc.address },
});
const newId = () => `transfer-${(serial += 1)}`;

async function read(id: string): Promise<StoredTransfer> {
  const found = (await store.newest(100)).find((each) => each.id === id);
  if (!found) throw new Error(`no transfer ${id}`);
  return found;
}
const stageOf = async (id: string) => {
  const { move, facts } = await read(id);
  return foldTransfer(move.amount, facts).stage;
};

/** What the account owns of USDC on a chain, in its ledger and beside it. */
async function holdings({ port, usdc }: TestChain) {
  const [ledger, beside] = await Promise.all([
    port.ledgerBalance(lpAccount, usdc.address),
    port.tokenBalance(lpAccount, usdc.address),
  ]);
  return { ledger, beside };
}
const both = async () => ({ base: await holdings(base), arc: await holdings(arc) });

/** Time passes on both chains. */
async function pass(): Promise<void> {
  for (const { anvil } of [base, arc]) await anvil.mine(2);
  await new Promise((done) => setTimeout(done, 150));
}
async function skipDelay(): Promise<void> {
  await base.anvil.advance((await base.port.withdrawalDelay()) + 1);
}

/** Turns until the stage is reached; says what it waits for when it is not. */
async function drive(
  { turn, waits }: Pick<Awaited<ReturnType<typeof startProcess>>, 'turn' | 'waits'>,
  id: string,
  stage: string,
): Promise<void> {
  for (let n = 0; n < 80; n += 1) {
    if ((await stageOf(id)) === stage) return;
    if (waits().get(id)?.detail.includes('possible from')) await skipDelay();
    await turn();
    await pass();
  }
  throw new Error(`${id} is ${await stageOf(id)}: ${waits().get(id)?.detail ?? 'waits for nothing'}`);
}

const startAll = async () => ({ process: await startProcess(), id: newId(), before: await both() });

describe('a transfer', () => {
  test('goes from ledger to ledger, less the fee of the bridge, and leaves nothing on the way', async () => {
    const { process, id, before } = await startAll();
    expect(await process.begin(id, moveOf(), 'by hand')).toMatchObject({ id });
    await drive(process, id, 'deposited');
    const minted = (await read(id)).facts.find(({ kind }) => kind === 'minted');
    const arrived = minted?.kind === 'minted' ? minted.amount : 0n;
    expect(arrived).toBeGreaterThan((AMOUNT * 99n) / 100n);
    expect(await both()).toEqual({
      base: { ledger: before.base.ledger - AMOUNT, beside: before.base.beside },
      arc: { ledger: before.arc.ledger + arrived, beside: before.arc.beside },
    });
    expect(process.reserved.size).toBe(0);
  });

  test('whose process is replaced after every turn happens once', async () => {
    const { process: first, id, before } = await startAll();
    await first.begin(id, moveOf(), 'by hand');
    await first.stop();
    for (let n = 0; n < 60 && (await stageOf(id)) !== 'deposited'; n += 1) {
      const next = await startProcess();
      await next.turn();
      const reservedIn = ['planned', 'requested'].includes(await stageOf(id));
      expect(next.reserved.has(id)).toBe(reservedIn);
      if (next.waits().get(id)?.detail.includes('possible from')) await skipDelay();
      await next.stop();
      await pass();
    }
    const { facts } = await read(id);
    expect(facts.map(({ kind }) => kind)).toEqual([
      'requested',
      'withdrawn',
      'burned',
      'attested',
      'minted',
      'deposited',
    ]);
    const after = await both();
    expect(after.base).toEqual({ ledger: before.base.ledger - AMOUNT, beside: before.base.beside });
    expect(after.arc.beside).toBe(before.arc.beside);
  });

  test('of money that is not free does not begin', async () => {
    const process = await startProcess({ free: AMOUNT - 1n });
    const id = newId();
    expect(await process.begin(id, moveOf(), 'by hand')).toMatchObject({ refused: 'not_free' });
    await expect(read(id)).rejects.toThrow('no transfer');
  });

  test('does not begin while another of the same token from the same chain is open', async () => {
    const process = await startProcess();
    const [one, other] = [newId(), newId()];
    await process.begin(one, moveOf(), 'by hand');
    expect(await process.begin(other, moveOf(), 'by hand')).toMatchObject({ refused: 'one_is_open' });
    expect([...process.reserved.keys()]).toEqual([one]);
    await drive(process, one, 'deposited');
  });

  test('whose request lapses is requested again', async () => {
    const { process, id, before } = await startAll();
    await process.begin(id, moveOf(), 'by hand');
    await drive(process, id, 'requested');
    const { lapsesAt } = await base.port.pendingWithdrawal(lpAccount, base.usdc.address);
    await base.anvil.advance(lapsesAt - (base.port.head()?.timestamp ?? 0) + 1);
    await pass();
    await drive(process, id, 'planned');
    expect(process.reserved.get(id)).toBe(AMOUNT);
    await drive(process, id, 'deposited');
    const kinds = (await read(id)).facts.map(({ kind }) => kind);
    expect(kinds.slice(0, 4)).toEqual(['requested', 'lapsed', 'requested', 'withdrawn']);
    expect((await both()).base.ledger).toBe(before.base.ledger - AMOUNT);
  });

  test("leaves the owner's own request alone, and begins after it", async () => {
    const { process, id } = await startAll();
    await base.send(OWNER.address, lpAccount, moverCall.requestWithdrawal(base.usdc.address, 5n));
    await pass();
    await process.begin(id, moveOf(), 'by hand');
    await process.turn();
    expect(process.waits().get(id)?.detail).toContain('Another withdrawal');
    expect((await base.port.pendingWithdrawal(lpAccount, base.usdc.address)).amount).toBe(5n);
    await base.send(OWNER.address, lpAccount, moverCall.requestWithdrawal(base.usdc.address, 0n));
    await pass();
    await drive(process, id, 'deposited');
  });

  test('that the bridge refuses after the withdrawal goes back', async () => {
    const { process: first, id, before } = await startAll();
    await first.begin(id, moveOf(), 'by hand');
    await drive(first, id, 'withdrawn');
    await first.stop();
    const real = cctp.open();
    // As Circle's burn limit does when it is lowered in the meantime.
    const bridge: Bridge = {
      ...real,
      estimate: async () => ({ refused: 'too_much', maxAmount: 1n, detail: 'The limit is lower now.' }),
    };
    await drive(await startProcess({ bridge }), id, 'abandoned');
    expect(await both()).toEqual(before);
  });

  test('waits while the attestation service is down, and then goes on', async () => {
    const { process, id } = await startAll();
    await process.begin(id, moveOf(), 'by hand');
    await drive(process, id, 'burned');
    cctp.circle.setFaults({ status: 503 });
    await process.turn();
    expect(await stageOf(id)).toBe('burned');
    expect(process.waits().get(id)?.detail).toContain('503');
    cctp.circle.setFaults({});
    await drive(process, id, 'deposited');
  });
});
