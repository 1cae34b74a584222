/** Laws of the auction: one total order, shares that sum, seals that bind. */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eligible } from './eligible.ts';
import { compareQuotes, rank, type Ranked } from './rank.ts';
import { createSealer, type SealKey } from './seal.ts';
import { type Ladder, outputAt, planSplit, portionsOf, type Slice, sliceInputs } from './split.ts';

const quote = fc.record<Ranked>({
  quoteId: fc.constantFrom('0xa', '0xb', '0xc', '0xd'),
  inputAmount: fc.bigInt(1n, 5n),
  outputAmount: fc.bigInt(1n, 5n),
  takerGas: fc.bigInt(0n, 2n),
  eta: fc.option(fc.integer({ min: 0, max: 2 })),
  fillRateBps: fc.constantFrom(9_000, 10_000),
  validUntil: fc.constantFrom(100, 200),
});
const side = fc.constantFrom('exactInput' as const, 'exactOutput' as const);

describe('rank', () => {
  test('law: a total order, so any arrival order ranks the same', () => {
    fc.assert(
      fc.property(side, quote, quote, quote, (which, a, b, c) => {
        const sign = (x: Ranked, y: Ranked) => Math.sign(compareQuotes(which, x, y));
        expect(sign(a, b)).toBe(-sign(b, a) + 0);
        if (sign(a, b) <= 0 && sign(b, c) <= 0) expect(sign(a, c)).toBeLessThanOrEqual(0);
      }),
    );
    fc.assert(
      fc.property(
        side,
        fc.uniqueArray(quote, { selector: (q) => q.quoteId, minLength: 2, maxLength: 4 }),
        (which, quotes) => {
          expect(rank(which, [...quotes].reverse())).toEqual(rank(which, quotes));
        },
      ),
    );
  });

  test('behavior: gas that the taker pays counts', () => {
    const base = {
      quoteId: '0xa',
      inputAmount: 10n,
      outputAmount: 100n,
      takerGas: 0n,
      eta: 1,
      fillRateBps: 10_000,
      validUntil: 100,
    };
    expect(
      rank('exactInput', [{ ...base, quoteId: '0xb', outputAmount: 104n, takerGas: 5n }, base])[0]?.quoteId,
    ).toBe('0xa');
    expect(
      rank('exactOutput', [{ ...base, quoteId: '0xb', inputAmount: 8n, takerGas: 3n }, base])[0]?.quoteId,
    ).toBe('0xa');
  });
});

test('at equal price the quote with the longer tenor ranks first', () => {
  const base = {
    quoteId: '0xa',
    inputAmount: 10n,
    outputAmount: 100n,
    takerGas: 0n,
    eta: 1,
    fillRateBps: 10_000,
    validUntil: 100,
  };
  expect(
    rank('exactInput', [
      base,
      { ...base, quoteId: '0xb', validUntil: 101 },
      { ...base, quoteId: '0xc', outputAmount: 101n, validUntil: 50 },
    ]).map(({ quoteId }) => quoteId),
  ).toEqual(['0xc', '0xb', '0xa']);
});

test('eligible: status, corridor, workspace, include, exclude', () => {
  const entrant = (id: string, status: 'active' | 'standby' = 'active', corridors = ['a-b']) => ({
    id,
    status,
    corridors: new Set(corridors),
  });
  const roster = [
    entrant('1'),
    entrant('2', 'standby'),
    entrant('3', 'active', ['b-a']),
    entrant('4'),
    entrant('5'),
  ];
  const gate = { corridor: 'a-b', workspace: null, include: null, exclude: [] };
  expect(eligible(roster, gate).map(({ id }) => id)).toEqual(['1', '4', '5']);
  expect(
    eligible(roster, { ...gate, workspace: ['1', '2', '4'], exclude: ['4'] }).map(({ id }) => id),
  ).toEqual(['1']);
  expect(eligible(roster, { ...gate, include: ['5', '3'] }).map(({ id }) => id)).toEqual(['5']);
});

const ladder = fc
  .array(fc.tuple(fc.bigInt(1n, 10n ** 20n), fc.bigInt(1n, 10n ** 12n)), { minLength: 1, maxLength: 5 })
  .map((steps): Ladder => {
    let [input, output] = [0n, 0n];
    return steps.map(([more, pays]) => {
      [input, output] = [input + more, output + pays];
      return [input, output] as const;
    });
  });
const ladders = fc
  .array(ladder, { minLength: 1, maxLength: 6 })
  .map((all) => new Map(all.map((steps, index) => [`lp-${index}`, steps])));

describe('split', () => {
  test('law: shares sum to 10,000, slice inputs to the whole, outputs to the promised output', () => {
    let planned = 0;
    fc.assert(
      fc.property(
        ladders,
        side,
        fc.integer({ min: 1, max: 130 }),
        fc.integer({ min: 2, max: 4 }),
        (all, which, percent, maxParts) => {
          const capacity = [...all.values()].reduce(
            (sum, steps) => sum + (steps.at(-1)?.[which === 'exactInput' ? 0 : 1] as bigint),
            0n,
          );
          const amount = (capacity * BigInt(percent)) / 100n;
          if (amount === 0n) return;
          const plan = planSplit(all, { side: which, amount, maxParts });
          if (!plan) return;
          planned++;
          const sum = (pick: (slice: Slice) => bigint) =>
            plan.slices.reduce((total, slice) => total + pick(slice), 0n);
          expect(plan.slices.length).toBeGreaterThanOrEqual(2);
          expect(plan.slices.length).toBeLessThanOrEqual(maxParts);
          expect(plan.slices.reduce((total, slice) => total + slice.portionBps, 0)).toBe(10_000);
          expect(
            plan.slices.every(({ portionBps, outputAmount }) => portionBps > 0 && outputAmount > 0n),
          ).toBe(true);
          expect(sum(({ inputAmount }) => inputAmount)).toBe(plan.inputAmount);
          expect(sum(({ outputAmount }) => outputAmount)).toBe(plan.outputAmount);
          expect(which === 'exactInput' ? plan.inputAmount : plan.outputAmount).toBe(amount);
          expect(
            sliceInputs(
              plan.inputAmount,
              plan.slices.map(({ portionBps }) => portionBps),
            ),
          ).toEqual(plan.slices.map(({ inputAmount }) => inputAmount));
          // No LP is asked for more than its ladder pays at that size.
          for (const slice of plan.slices)
            expect(slice.outputAmount).toBeLessThanOrEqual(
              outputAt(all.get(slice.solverId) as Ladder, slice.inputAmount) as bigint,
            );
        },
      ),
      { numRuns: 500 },
    );
    expect(planned).toBeGreaterThan(50);
  });

  test('law: portions of any inputs sum to 10,000', () => {
    fc.assert(
      fc.property(fc.array(fc.bigInt(1n, 10n ** 24n), { minLength: 1, maxLength: 8 }), (inputs) => {
        const portions = portionsOf(inputs);
        expect(portions.reduce((a, b) => a + b, 0)).toBe(10_000);
        expect(Math.min(...portions)).toBeGreaterThan(0);
      }),
    );
  });

  test('behavior: the better marginal price is taken first', () => {
    const all = new Map<string, Ladder>([
      ['a', [[50n, 5_000n]]],
      [
        'b',
        [
          [50n, 4_900n],
          [100n, 9_700n],
        ],
      ],
    ]);
    expect(planSplit(all, { side: 'exactInput', amount: 100n, maxParts: 3 })).toEqual({
      slices: [
        { solverId: 'a', portionBps: 5_000, inputAmount: 50n, outputAmount: 5_000n },
        { solverId: 'b', portionBps: 5_000, inputAmount: 50n, outputAmount: 4_900n },
      ],
      inputAmount: 100n,
      outputAmount: 9_900n,
    });
    expect(planSplit(all, { side: 'exactInput', amount: 151n, maxParts: 3 })).toBeUndefined();
    expect(planSplit(all, { side: 'exactInput', amount: 40n, maxParts: 3 })).toBeUndefined();
  });
});

describe('seal', () => {
  const key = (kid: string, byte: number, acceptUntil: number | null = null): SealKey => ({
    kid,
    secret: Buffer.alloc(32, byte),
    acceptUntil,
  });
  const scope = {
    account: 'w1',
    namespace: 'rfq',
    mode: 'test',
    commitments: 'AAAA',
    candidate: '{"a":1}',
  } as const;

  test('law: binds every part of its scope', () => {
    const sealer = createSealer([key('k1', 1)]);
    const mac = sealer.mac(scope);
    expect(sealer.verify('k1', mac, scope, 0)).toBe(true);
    for (const other of [
      { account: 'w2' },
      { namespace: 'router' as const },
      { mode: 'live' as const },
      { commitments: 'AAAB' },
      { candidate: '{"a":2}' },
    ]) {
      expect(sealer.verify('k1', mac, { ...scope, ...other }, 0)).toBe(false);
    }
  });

  test('law: never throws, for any mac', () => {
    const sealer = createSealer([key('k1', 1)]);
    fc.assert(
      fc.property(
        fc.string(),
        fc.string(),
        (kid, mac) => void expect(sealer.verify(kid, mac, scope, 0)).toBe(false),
      ),
    );
  });

  test('behavior: a rotated key verifies until its last quote has expired', () => {
    const old = createSealer([key('k1', 1)]);
    const mac = old.mac(scope);
    const rotated = createSealer([key('k2', 2), key('k1', 1, 1_000)]);
    expect(rotated.kid).toBe('k2');
    expect(rotated.verify('k1', mac, scope, 1_000)).toBe(true);
    expect(rotated.verify('k1', mac, scope, 1_001)).toBe(false);
    expect(createSealer([key('k2', 2)]).verify('k1', mac, scope, 0)).toBe(false);
    expect(rotated.verify('k2', mac, scope, 0)).toBe(false);
  });

  test('error: no key, a short key, a repeated id', () => {
    expect(() => createSealer([])).toThrow('needs a key');
    expect(() => createSealer([{ kid: 'k', secret: Buffer.alloc(31), acceptUntil: null }])).toThrow(
      'shorter than 32',
    );
    expect(() => createSealer([key('k', 1), key('k', 2)])).toThrow('same id');
  });
});
