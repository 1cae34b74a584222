/**
 * Money on its way between chains counts as owned: no order of blocks, stored facts, looks and restarts makes
 * the owned amount drop or double.
 */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import '../../../test/support/fast-check.ts';
import { silentLog } from '../../../test/support/silent.ts';
import { createLedger } from '../../inventory/ledger.ts';
import type { StoredTransfer } from '../../ports/stores/transfers.ts';
import type { TransferFact } from '../../settlement/transfer.ts';
import { createInTransit } from './in-transit.ts';

const USDC = `0x${'a'.repeat(40)}` as const;
const OWNED = 1_000_000n;
const ATTO = 10n ** 12n;
const place = (chainId: number) => ({ chainId, token: USDC });
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const;

interface Move {
  key: string;
  txHash: ReturnType<typeof hash>;
  amount: bigint;
}

/** Two chains of blocks with one movement each, a store of facts, and a process that reads both. */
function createWorld() {
  const blocks: Record<number, Move[]> = { 1: [], 2: [] };
  const transfers = new Map<string, StoredTransfer>();
  /** Mined and not stored yet, in order. */
  const unstored: { id: string; fact: TransferFact }[] = [];
  const of = (chainId: number) => blocks[chainId] as Move[];
  let serial = 0;

  function startProcess(cursors: Map<number, bigint>, balances: Map<number, bigint>) {
    const ledger = createLedger({
      buckets: [1, 2].map((chainId) => ({ ...place(chainId), asset: 'USDC', decimals: 6 })),
      ...{ graceSeconds: () => 0, limits: {} },
    });
    for (const [chainId, amount] of balances)
      ledger.apply({ type: 'deposited', id: `start ${chainId}`, ...place(chainId), amount });
    const inTransit = createInTransit({
      ...{ ledger, log: silentLog },
      transactions: {
        keyOf: async (chainId, txHash) => {
          const found = of(chainId).find((move) => move.txHash === txHash);
          return found && { key: found.key, signer: USDC };
        },
      },
      transfers: {
        find: async (id) => transfers.get(id),
        newest: async () => [...transfers.values()],
        open: async () =>
          [...transfers.values()].filter(({ facts }) => !facts.some(({ kind }) => kind === 'deposited')),
      },
    });
    const blockOf = (chainId: number) => cursors.get(chainId) ?? 0n;
    return {
      owned: () => ledger.exposure('USDC').owned,
      refresh: () => inTransit.refresh(blockOf),
      async read(chainId: number): Promise<void> {
        const block = blockOf(chainId) + 1n;
        const move = of(chainId)[Number(block) - 1];
        if (move === undefined) return;
        const { amount, txHash } = move;
        const step = await inTransit.recognise(chainId, txHash);
        const money = { ...place(chainId), amount };
        ledger.apply(
          amount > 0n
            ? { type: 'deposited', id: txHash, ...money }
            : { type: 'withdrawal_ended', id: txHash, ...money, amount: -amount },
        );
        if (step !== undefined) inTransit.moved(step, money, blockOf);
        cursors.set(chainId, block);
        balances.set(chainId, (balances.get(chainId) ?? 0n) + amount);
      },
    };
  }

  function mine(chainId: number, id: string, step: string, amount: bigint, fact: TransferFact['kind']): void {
    const txHash = hash((serial += 1));
    of(chainId).push({ key: `${id}-${step}`, txHash, amount });
    const size = amount < 0n ? -amount : amount;
    const blockNumber = BigInt(of(chainId).length);
    unstored.push({ id, fact: { kind: fact, amount: size, txHash, blockNumber } as TransferFact });
  }
  function storeFact(): void {
    const [next] = unstored.splice(0, 1);
    const transfer = next && transfers.get(next.id);
    if (next && transfer) transfers.set(next.id, { ...transfer, facts: [...transfer.facts, next.fact] });
  }

  return {
    ...{ startProcess, mine, storeFact, transfers },
    storeAll(): void {
      while (unstored.length > 0) storeFact();
    },
    begin(from: number, amount: bigint): string {
      const id = `t${(serial += 1)}`;
      const move = { account: USDC, amount, from: place(from), to: place(3 - from) };
      const rest = { reason: '', createdAtMs: 0, estimate: null, sent: null, facts: [] };
      transfers.set(id, { id, bridge: 'cctp', move, ...rest });
      mine(from, id, 'withdraw', -amount, 'withdrawn');
      return id;
    },
  };
}

const act = fc.oneof(
  fc.record({
    do: fc.constant('begin' as const),
    from: fc.constantFrom(1, 2),
    amount: fc.bigInt(1n, 1_000n),
  }),
  fc.record({ do: fc.constantFrom('arrive', 'store', 'look', 'restart') }),
  fc.record({ do: fc.constant('read' as const), chainId: fc.constantFrom(1, 2) }),
);

test('the owned amount neither drops nor doubles while transfers are on their way', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 60 }), async (acts) => {
      const world = createWorld();
      const cursors = new Map([
        [1, 0n],
        [2, 0n],
      ]);
      const balances = new Map([
        [1, OWNED],
        [2, OWNED],
      ]);
      const onTheWay: string[] = [];
      let process = world.startProcess(cursors, balances);
      for (const each of acts) {
        switch (each.do) {
          case 'begin':
            onTheWay.push(world.begin(each.from, each.amount));
            break;
          case 'arrive': {
            const [id] = onTheWay.splice(0, 1);
            const transfer = id === undefined ? undefined : world.transfers.get(id);
            if (transfer === undefined || id === undefined) break;
            // A deposit is sent only after the withdrawal is a stored fact.
            world.storeAll();
            world.mine(transfer.move.to.chainId, id, 'deposit', transfer.move.amount, 'deposited');
            break;
          }
          case 'store':
            world.storeFact();
            break;
          case 'look':
            expect(await process.refresh()).toEqual([]);
            break;
          case 'restart':
            // Facts of final blocks are stored; what is not is found by a later look.
            world.storeAll();
            process = world.startProcess(cursors, balances);
            await process.refresh();
            break;
          case 'read':
            await process.read(each.chainId);
        }
        expect(process.owned(), each.do).toBe(OWNED * 2n * ATTO);
      }
    }),
    { numRuns: 300 },
  );
});

test('a fact that is stored after the restart is found, and says by how much the owned amount changes', async () => {
  const world = createWorld();
  const cursors = new Map([[1, 0n]]);
  const balances = new Map([
    [1, OWNED],
    [2, OWNED],
  ]);
  world.begin(1, 400n);
  await world.startProcess(cursors, balances).read(1);
  const next = world.startProcess(cursors, balances);
  expect(await next.refresh()).toEqual([]);
  expect(next.owned()).toBe((OWNED * 2n - 400n) * ATTO);
  world.storeAll();
  expect(await next.refresh()).toEqual([{ ...place(1), amount: 400n }]);
  expect(next.owned()).toBe(OWNED * 2n * ATTO);
});
