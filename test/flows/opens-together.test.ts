/** Waiting orders across chains are opened in one transaction; one that cannot be opened fails alone. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSettling, type Settling } from '../support/settling.ts';
import { account } from '../support/devnet.ts';

let s: Settling;
beforeAll(async () => {
  s = await startSettling([31_451, 31_452]);
});
afterAll(() => s?.stop());

test('several waiting orders share the transaction that opens them', async () => {
  const taker = await s.taker();
  const good = await Promise.all(
    Array.from({ length: 6 }, () => s.accept({ taker, dest: s.there, inputAmount: 1_000_000n })),
  );
  // Its taker has nothing.
  const bad = await s.accept({ taker: account(9_999), dest: s.there, inputAmount: 1_000_000n });
  const worker = await s.worker({ sender: { batch: s.here.deployment.batch } });
  await s.reach('escrowed', good);
  const opened = await Promise.all(
    good.map(async ({ orderId }) =>
      (await s.store.order(orderId))?.facts.flatMap(({ fact }) =>
        fact.kind === 'opened' ? [fact.evidence.txHash] : [],
      ),
    ),
  );
  expect(opened.every((hashes) => hashes?.length === 1)).toBe(true);
  expect(new Set(opened.flat()).size).toBeLessThan(good.length);
  expect(await s.stageOf(bad)).toBe('awaiting_escrow');
  await worker.stop();
});
