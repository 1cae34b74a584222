/** A candidate written the quick way is its RFC 8785 text. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arbAddress, arbBytes32, arbOrder, arbUint256 } from '../../../test/support/arbitrary-order.ts';
import { orderEnvelope } from '../../domain/order.ts';
import { canonicalJson } from '../canonical-json.ts';
import { ORDER_TYPE, type Terms } from './candidate.ts';
import { plainTerms } from './plain-terms.ts';

const units = arbUint256.map(String);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary);
const finite = maybe(fc.double({ noNaN: true, noDefaultInfinity: true }));
const asset = arbAddress.map((token) => `eip155:1/erc20:${token}`);
const anyText = fc.string({ unit: 'binary', maxLength: 20 });

const arbTerms: fc.Arbitrary<Terms> = fc.record({
  quoteId: arbBytes32,
  solverId: anyText,
  executionMode: fc.constantFrom('apiSubmit', 'walletBroadcast'),
  order: fc.record({
    type: fc.constant(ORDER_TYPE),
    payload: fc
      .tuple(fc.nat(), arbAddress, arbOrder)
      .map(([chainId, escrow, order]) => orderEnvelope({ chainId, escrow }, order)),
  }),
  validUntil: fc.nat(),
  eta: maybe(fc.nat()),
  validity: fc.record({ validUntil: fc.nat(), minValidUntil: maybe(fc.nat()) }),
  preview: fc.record({
    inputs: fc.array(
      fc.record({
        asset,
        amount: units,
        decimals: maybe(fc.nat(36)),
        symbol: maybe(anyText),
        priceUsd: finite,
      }),
      { minLength: 1, maxLength: 2 },
    ),
    outputs: fc.array(
      fc.record({
        asset,
        amount: units,
        minimumAmount: units,
        decimals: maybe(fc.nat(36)),
        symbol: maybe(anyText),
        priceUsd: finite,
        receiver: arbAddress,
        amountBeforeFees: maybe(units),
        deltaFromMid: finite,
      }),
      { minLength: 1, maxLength: 2 },
    ),
  }),
  routingPath: fc.constant('direct'),
  platformFeeBps: fc.nat(10_000),
  lpSpreadBps: maybe(fc.integer()),
  splitFill: maybe(
    fc.record({
      fills: fc.array(fc.record({ solverId: anyText, portionBps: fc.nat(10_000), outputAmount: units })),
      executionModel: fc.constant('atomic' as const),
    }),
  ),
  gas: fc.record({ native: units, usd: finite }),
  warnings: fc.array(fc.record({ code: fc.nat(), message: anyText }), { maxLength: 3 }),
});

test('law: equal to the canonical text, whatever is in it', () => {
  fc.assert(fc.property(arbTerms, (terms) => plainTerms(terms) === canonicalJson(terms)));
});

test('a number that JSON cannot spell is refused like there', () => {
  const [terms] = fc.sample(arbTerms, 1) as [Terms];
  expect(() => plainTerms({ ...terms, gas: { native: '0', usd: Number.NaN } })).toThrow('not finite');
});
