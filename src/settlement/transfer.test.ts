/** Money of a transfer is in one place at a time, and no step can take effect twice. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldTransfer, nextTransferStep, type TransferFact, transferKey } from './transfer.ts';

const block = { txHash: '0xaa', blockNumber: 7n } as const;
const requested: TransferFact = {
  kind: 'requested',
  amount: 100n,
  availableAt: 1_000,
  lapsesAt: 2_000,
  ...block,
};
const withdrawn: TransferFact = { kind: 'withdrawn', amount: 100n, ...block };
const burned: TransferFact = { kind: 'burned', amount: 100n, ...block };
const minted: TransferFact = { kind: 'minted', amount: 98n, ...block };
const deposited: TransferFact = { kind: 'deposited', amount: 98n, ...block };
const WHOLE: readonly TransferFact[] = [
  requested,
  withdrawn,
  burned,
  { kind: 'attested' },
  minted,
  deposited,
];

const stageOf = (...facts: TransferFact[]) => foldTransfer(100n, facts);
const nextOf = (now: number, ...facts: TransferFact[]) => nextTransferStep(stageOf(...facts), now);

test('a whole transfer passes each stage once, and ends with what arrived', () => {
  const stages = WHOLE.map((_, index) => foldTransfer(100n, WHOLE.slice(0, index + 1)));
  expect(stages.map(({ stage }) => stage)).toEqual([
    'requested',
    'withdrawn',
    'burned',
    'attested',
    'minted',
    'deposited',
  ]);
  expect(stages.map(({ isFinal }) => isFinal)).toEqual([false, false, false, false, false, true]);
  expect(stages.at(-1)?.amount).toBe(98n);
});

test('the amount is reserved until it has left the ledger of the source', () => {
  expect(stageOf().isReserved).toBe(true);
  expect(stageOf(requested).isReserved).toBe(true);
  expect(stageOf(requested, { kind: 'lapsed' }).isReserved).toBe(true);
  expect(stageOf(requested, withdrawn).isReserved).toBe(false);
  expect(stageOf({ kind: 'cancelled', detail: 'by hand' }).isReserved).toBe(false);
});

test('each stage has one next step', () => {
  expect(nextOf(0)).toEqual({ do: 'request' });
  expect(nextOf(999, requested)).toEqual({ do: 'wait_until', at: 1_000 });
  expect(nextOf(1_000, requested)).toEqual({ do: 'withdraw' });
  expect(nextOf(2_000, requested)).toEqual({ do: 'withdraw' });
  expect(nextOf(2_001, requested)).toEqual({ do: 'note_lapse' });
  expect(nextOf(0, requested, withdrawn)).toEqual({ do: 'send' });
  expect(nextOf(0, requested, withdrawn, burned)).toEqual({ do: 'follow' });
  expect(nextOf(0, requested, withdrawn, burned, minted)).toEqual({ do: 'deposit' });
  expect(nextOf(0, ...WHOLE)).toEqual({ do: 'nothing' });
});

test('a request that lapsed is made again', () => {
  expect(nextOf(3_000, requested, { kind: 'lapsed' })).toEqual({ do: 'request' });
});

test('what the bridge refused after the withdrawal goes back into the ledger', () => {
  const refused: TransferFact = { kind: 'refused', detail: 'closed' };
  expect(nextOf(0, requested, withdrawn, refused)).toEqual({ do: 'give_back' });
  const back = stageOf(requested, withdrawn, refused, { kind: 'given_back', amount: 100n, ...block });
  expect(back).toMatchObject({ stage: 'abandoned', isFinal: true, amount: 100n });
});

test('a key changes only after a final block shows that the last attempt did nothing', () => {
  const arbitraryFact = fc.constantFrom<TransferFact>(
    ...WHOLE,
    { kind: 'lapsed' },
    { kind: 'reverted', step: 'request', ...block },
    { kind: 'reverted', step: 'withdraw', ...block },
    { kind: 'reverted', step: 'send', ...block },
    { kind: 'reverted', step: 'deposit', ...block },
  );
  fc.assert(
    fc.property(
      fc.array(arbitraryFact, { maxLength: 12 }),
      arbitraryFact,
      fc.constantFrom('request', 'withdraw', 'send', 'deposit', 'deliver', 'give_back'),
      (facts, next, step) => {
        const ended =
          (next.kind === 'reverted' && next.step === step) ||
          (next.kind === 'lapsed' && (step === 'request' || step === 'withdraw'));
        const [before, after] = [transferKey('t', step, facts), transferKey('t', step, [...facts, next])];
        expect(after === before).toBe(!ended);
        if (ended)
          for (let n = 0; n <= facts.length; n += 1)
            expect(transferKey('t', step, facts.slice(0, n))).not.toBe(after);
      },
    ),
  );
});
