/** The legs of a candidate as `firmquote take` prints them. */

import { expect, test } from 'vitest';
import { legLines } from './candidates.ts';

const leg = (index: number, minimumAmount: string | null) => ({
  index,
  kind: index === 0 ? ('rfq' as const) : ('bridge' as const),
  solverId: index === 0 ? 'lp-1' : 'float',
  venue: index === 0 ? 'rfq' : 'float',
  chainId: 1,
  input: { asset: 'A', amount: '10' },
  output: { asset: 'B', amount: '9', minimumAmount },
  eta: index === 0 ? 2 : null,
  dependsOn: index === 0 ? [] : [0],
});

test('a line for each leg, with its minimum where there is one', () => {
  const composite = { legs: [leg(0, '9'), leg(1, null)], executionModel: 'sequential' as const };
  expect(legLines({ composite })).toEqual([
    'leg 0: rfq, lp-1, chain 1: 10 of A to 9 (at least 9) of B, 2 s',
    'leg 1: bridge, float, chain 1: 10 of A to 9 (no minimum yet) of B',
  ]);
  expect(legLines({ composite: { ...composite, legs: [leg(0, '9')] } })).toEqual([]);
  expect(legLines({})).toEqual([]);
});
