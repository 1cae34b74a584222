/**
 * Laws of the fold and of the plan: final is final, order within a stage does not matter, and there is always
 * a next step.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Fact } from '../domain/fact.ts';
import type { MandateOutput, StandardOrder } from '../domain/order.ts';
import { foldFacts, isFinal, type OrderStage } from './lifecycle.ts';
import { plan, type PlanInput } from './plan.ts';

const word = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const;
const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}` as const;
const output = (chainId: bigint): MandateOutput => ({
  oracle: word(1),
  settler: word(2),
  chainId,
  token: word(3),
  amount: 5n,
  recipient: word(4),
  callbackData: '0x',
  context: '0x',
});
const orderOf = (chains: readonly bigint[]): StandardOrder => ({
  user: address(9),
  nonce: 1n,
  originChainId: 1n,
  fillDeadline: 1_000,
  expires: 2_000,
  inputOracle: address(8),
  inputs: [[7n, 8n]],
  outputs: chains.map(output),
});

const evidence = { chainId: 1, txHash: word(5), blockNumber: 1n, blockHash: word(6), at: 900 };
const opened: Fact = { kind: 'opened', evidence };
const filled = (outputIndex: number): Fact => ({
  kind: 'filled',
  outputIndex,
  solver: address(3),
  timestamp: 900,
  amount: 5n,
  evidence,
});
const attested = (outputIndex: number): Fact => ({
  kind: 'attested',
  outputIndex,
  payloadHash: word(7),
  evidence,
});
const finalised: Fact = { kind: 'finalised', evidence };
const refunded: Fact = { kind: 'refunded', evidence };
const failed: Fact = { kind: 'failed', failure: { code: 'expired_unfilled', message: 'nobody delivered' } };

const order2 = fc.array(fc.constantFrom(1n, 2n, 3n), { minLength: 1, maxLength: 3 }).map(orderOf);
const anyFact = fc.oneof(
  fc.constantFrom<Fact>(
    { kind: 'accepted' },
    { kind: 'sent', step: 'settle', chainId: 1, txHash: word(1) },
    opened,
    finalised,
    refunded,
    failed,
  ),
  fc.nat({ max: 3 }).map(filled),
  fc.nat({ max: 3 }).map(attested),
);

describe('fold', () => {
  test.each<[string, bigint[], Fact[], OrderStage]>([
    ['accepted', [1n], [], 'awaiting_escrow'],
    ['settled on one chain', [1n], [opened, filled(0), finalised], 'settled'],
    ['opened', [2n], [opened], 'escrowed'],
    ['one of two slices delivered', [2n, 2n], [opened, filled(1)], 'escrowed'],
    ['delivered', [2n], [opened, filled(0)], 'delivered'],
    ['one chain needs no proof', [1n], [opened, filled(0)], 'proven'],
    ['proven', [2n], [opened, filled(0), attested(0)], 'proven'],
    ['never opened', [2n], [failed], 'failed'],
    ['unfilled', [2n], [opened, failed], 'refund_pending'],
    ['refunded', [2n], [opened, failed, refunded], 'refunded'],
    ['refunded by a third party', [2n], [opened, refunded], 'refunded'],
  ])('%s', (_, chains, facts, stage) => {
    expect(foldFacts(orderOf(chains), facts).stage).toBe(stage);
  });

  test('law: a final stage never changes', () => {
    fc.assert(
      fc.property(order2, fc.array(anyFact, { maxLength: 12 }), (order, facts) => {
        let last: OrderStage | undefined;
        for (let n = 0; n <= facts.length; n += 1) {
          const { stage, status, final } = foldFacts(order, facts.slice(0, n));
          if (last && isFinal(last)) expect(stage).toBe(last);
          expect(final).toBe(isFinal(stage));
          if (final) expect(status).not.toBe('pending');
          last = stage;
        }
      }),
    );
  });

  test('law: a status that is not pending never changes', () => {
    fc.assert(
      fc.property(
        order2,
        fc.array(
          anyFact.filter(({ kind }) => kind !== 'finalised'),
          { maxLength: 12 },
        ),
        (order, facts) => {
          let last = 'pending';
          for (let n = 0; n <= facts.length; n += 1) {
            const { status } = foldFacts(order, facts.slice(0, n));
            if (last !== 'pending') expect(status).toBe(last);
            last = status;
          }
        },
      ),
    );
  });

  test('law: facts of opening, filling and proving commute', () => {
    const progress = fc.uniqueArray(fc.constantFrom(opened, filled(0), filled(1), attested(0), attested(1)), {
      selector: (fact) => JSON.stringify(fact, (_, v) => (typeof v === 'bigint' ? `${v}` : v)),
    });
    fc.assert(
      fc.property(
        order2,
        progress.chain((facts) =>
          fc.tuple(fc.constant(facts), fc.shuffledSubarray(facts, { minLength: facts.length })),
        ),
        (order, [facts, shuffled]) => {
          expect(foldFacts(order, shuffled)).toEqual(foldFacts(order, facts));
        },
      ),
    );
  });

  test('law: folding a fact twice equals folding it once', () => {
    fc.assert(
      fc.property(
        order2,
        fc.array(
          anyFact.filter(({ kind }) => kind !== 'sent'),
          { maxLength: 8 },
        ),
        (order, facts) => {
          expect(
            foldFacts(
              order,
              facts.flatMap((fact) => [fact, fact]),
            ),
          ).toEqual(foldFacts(order, facts));
        },
      ),
    );
  });
});

describe('plan', () => {
  const at =
    (head: number, deep = head): PlanInput['timeOf'] =>
    () => ({ head, deep });
  const next = (
    chains: bigint[],
    facts: Fact[],
    timeOf: PlanInput['timeOf'],
    executionMode: PlanInput['executionMode'] = 'apiSubmit',
  ) => {
    const order = orderOf(chains);
    return plan({ order, progress: foldFacts(order, facts), executionMode, openReserveSeconds: 30, timeOf });
  };

  test('law: total; there is a next step exactly until the stage is final', () => {
    const time = fc.option(
      fc
        .record({ head: fc.nat({ max: 3_000 }), lag: fc.nat({ max: 50 }) })
        .map(({ head, lag }) => ({ head, deep: Math.max(0, head - lag) })),
      { nil: undefined },
    );
    fc.assert(
      fc.property(
        order2,
        fc.array(anyFact, { maxLength: 10 }),
        time,
        fc.constantFrom('apiSubmit' as const, 'walletBroadcast' as const),
        (order, facts, now, executionMode) => {
          const progress = foldFacts(order, facts);
          const result = plan({ order, progress, executionMode, openReserveSeconds: 30, timeOf: () => now });
          expect(result.kind === 'done').toBe(progress.final);
          if (result.kind === 'wait' && now)
            expect(result.at === 'head' ? now.head : now.deep).toBeLessThanOrEqual(result.until);
          if (result.kind === 'step' && result.notAfter !== null && now)
            expect(now.head).toBeLessThanOrEqual(result.notAfter);
        },
      ),
    );
  });

  test('one chain: settle until the last second, fail only when the finality depth is past it', () => {
    expect(next([1n], [], at(1_000))).toMatchObject({
      kind: 'step',
      step: 'settle',
      by: 'venue',
      notAfter: 1_000,
    });
    expect(next([1n], [], at(1_001, 1_000))).toEqual({ kind: 'wait', chainId: 1, until: 1_000, at: 'deep' });
    expect(next([1n], [], at(1_001))).toEqual({ kind: 'fail', code: 'not_opened' });
    expect(next([1n], [], at(1_001), 'walletBroadcast')).toEqual({ kind: 'fail', code: 'not_broadcast' });
    expect(next([1n], [], at(500), 'walletBroadcast')).toMatchObject({ step: 'settle', by: 'taker' });
  });

  test('two chains: open, fill, attest, finalise', () => {
    expect(next([2n], [], at(970))).toMatchObject({ step: 'open', by: 'venue', chainId: 1 });
    expect(next([2n], [], at(971))).toMatchObject({ kind: 'wait', at: 'deep' });
    expect(next([2n], [opened], at(1_000))).toMatchObject({
      step: 'fill',
      by: 'lp',
      chainId: 2,
      outputs: [0],
    });
    expect(next([2n], [opened], at(1_001, 1_000))).toMatchObject({ kind: 'wait', chainId: 2 });
    expect(next([2n], [opened], at(1_001))).toEqual({ kind: 'fail', code: 'expired_unfilled' });
    expect(next([2n], [opened, filled(0)], at(5_000))).toMatchObject({ step: 'attest', outputs: [0] });
    expect(next([2n], [opened, filled(0), attested(0)], at(5_000))).toMatchObject({ step: 'finalise' });
    expect(next([2n], [opened, failed], at(2_000))).toEqual({
      kind: 'wait',
      chainId: 1,
      until: 2_000,
      at: 'head',
    });
    expect(next([2n], [opened, failed], at(2_001))).toMatchObject({ step: 'refund', chainId: 1 });
  });

  test('decides nothing about a chain that was not read', () => {
    expect(next([2n], [], () => undefined)).toMatchObject({ kind: 'step', step: 'open' });
    expect(next([2n], [opened, failed], () => undefined)).toMatchObject({ kind: 'wait' });
  });
});
