import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createNonces } from './nonces.ts';

test('law: a used nonce names its quotes that have not lapsed, once; what lapsed is kept no longer', () => {
  const arbHeld = fc.record({ group: fc.nat(5).map(String), lapsesAt: fc.integer({ min: 10, max: 40 }) });
  const arbStep = fc.oneof(fc.record({ add: arbHeld }), fc.record({ take: fc.nat(5).map(String) }), fc.record({ seconds: fc.nat(6) }));
  fc.assert(
    fc.property(fc.array(arbStep, { maxLength: 60 }), (steps) => {
      const nonces = createNonces();
      let now = 0;
      let live: { quoteId: string; group: string; lapsesAt: number }[] = [];
      for (const [at, step] of steps.entries()) {
        if ('add' in step) {
          const held = { quoteId: `q${at}`, ...step.add };
          nonces.add(held);
          // One that is over already goes with the next look at the clock.
          live.push(held);
        } else if ('take' in step) {
          expect(nonces.take(step.take)).toEqual(live.filter(({ group }) => group === step.take).map(({ quoteId }) => quoteId));
          live = live.filter(({ group }) => group !== step.take);
        } else {
          now += step.seconds;
          while (nonces.prune(now));
          live = live.filter(({ lapsesAt }) => lapsesAt >= now);
        }
        expect(nonces.size).toBe(new Set(live.map(({ group }) => group)).size);
      }
    }),
  );
});

test('a crowd that lapses together is forgotten whole, in steps', () => {
  const nonces = createNonces();
  for (let n = 0; n < 1_700; n++) nonces.add({ quoteId: `q${n}`, group: `g${n}`, lapsesAt: 10 });
  const left: number[] = [];
  while (nonces.prune(11)) left.push(nonces.size);
  expect([left, nonces.size]).toEqual([[1_200, 700, 200], 0]);
});
