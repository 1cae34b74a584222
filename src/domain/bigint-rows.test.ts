import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBigintRows } from './bigint-rows.ts';

test('law: whatever was put there last is there', () => {
  const edges = [0n, 64n, 128n].flatMap((bits) => [
    2n ** bits - 1n,
    2n ** bits,
    2n ** bits + 1n,
    -(2n ** bits),
  ]);
  const value = fc.oneof(
    fc.constant(undefined),
    fc.constantFrom(...edges),
    fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
    fc.bigInt({ min: 0n, max: 2n ** 90n }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.nat(4), value), { maxLength: 100 }), (steps) => {
      const rows = createBigintRows(5);
      const model: (bigint | undefined)[] = [undefined, undefined, undefined, undefined, undefined];
      for (const [at, each] of steps) {
        rows.set(at, each);
        model[at] = each;
        expect(model.map((_, row) => rows.get(row))).toEqual(model);
      }
    }),
  );
});
