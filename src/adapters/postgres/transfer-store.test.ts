/** Transfers in a real database: one open transfer of a token from a chain, and no fact written twice. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import type { StoredTransfer, TransferStore } from '../../ports/stores/transfers.ts';
import type { TransferFact } from '../../settlement/transfer.ts';
import type { Address } from '../../domain/hex.ts';
import { TRANSFER_MIGRATIONS } from './migrations/transfers.ts';
import { createTransferStore } from './transfer-store.ts';

let postgres: TestPostgres;
let store: TransferStore;
let number = 0;

beforeAll(async () => {
  postgres = await startTestPostgres();
  store = createTransferStore(await postgres.database('transfers', TRANSFER_MIGRATIONS));
});
afterAll(() => postgres.stop());

const TOKEN: Address = `0x${'70'.repeat(20)}`;
const BIG = 2n ** 200n + 1n;

function newTransfer(account = (number += 1)): StoredTransfer {
  return {
    id: `t${(number += 1)}`,
    bridge: 'cctp',
    move: {
      account: `0x${account.toString(16).padStart(40, '0')}`,
      from: { chainId: 31_001, token: TOKEN },
      to: { chainId: 31_002, token: TOKEN },
      amount: BIG,
    },
    reason: 'by hand',
    createdAtMs: number,
    estimate: null,
    sent: null,
    facts: [],
  };
}
const block = { txHash: '0xaa', blockNumber: BIG } as const;
const burned: TransferFact = { kind: 'burned', amount: BIG, ...block };
const find = (id: string) => store.find(id);

test('everything of a transfer comes back as it was, above 2^53 too', async () => {
  const transfer = newTransfer();
  expect(await store.add(transfer)).toBe(true);
  expect(await find(transfer.id)).toEqual(transfer);
  const estimate = { leastReceived: BIG - 1n, seconds: 20, nativeFee: BIG, mode: 'fast' };
  await store.putEstimate(transfer.id, estimate);
  const sent = {
    bridge: 'cctp',
    move: transfer.move,
    leastReceived: BIG - 1n,
    txHash: '0xaa',
    reference: `0x${'1'.repeat(64)}`,
    message: '0x',
  } as const;
  expect(await store.append(transfer.id, 0, burned, { sent, final: false })).toBe(true);
  expect(await store.append(transfer.id, 1, { kind: 'attested' }, { final: false })).toBe(true);
  expect(await find(transfer.id)).toEqual({
    ...transfer,
    estimate,
    sent,
    facts: [burned, { kind: 'attested' }],
  });
});

test('a second transfer of the same token begins only after the first is over', async () => {
  const first = newTransfer();
  const second = { ...newTransfer(), move: first.move };
  expect(await store.add(first)).toBe(true);
  expect(await store.add(second)).toBe(false);
  expect(await store.append(first.id, 0, { kind: 'cancelled', detail: '' }, { final: true })).toBe(true);
  expect((await store.open()).map(({ id }) => id)).not.toContain(first.id);
  expect(await store.add(second)).toBe(true);
  expect((await store.open()).map(({ id }) => id)).toContain(second.id);
});

test('of processes that write the same fact at once, one does', async () => {
  const { id, ...rest } = newTransfer();
  await store.add({ id, ...rest });
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => store.append(id, 0, burned, { final: false })),
  );
  expect(answers.filter(Boolean)).toHaveLength(1);
  expect((await find(id))?.facts).toEqual([burned]);
  // Numbers have no gaps.
  expect(await store.append(id, 5, { kind: 'attested' }, { final: false })).toBe(false);
});
