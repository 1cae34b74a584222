/** A quote written the quick way is the text that JSON would write. */

import fc from 'fast-check';
import { test } from 'vitest';
import { arbAddress, arbBytes32, arbOrder, arbUint256 } from '../../../test/support/arbitrary-order.ts';
import type { LinkQuote } from './link.ts';
import { plainQuote } from './plain-quote.ts';
import { orderToMessage } from '../wire.ts';

test('law: equal to JSON.stringify, whatever the venue calls its request', () => {
  const arbQuote = fc.record(
    {
      type: fc.constant('quote' as const),
      rfqId: fc.string({ unit: 'binary', minLength: 1, maxLength: 64 }),
      quoteId: arbBytes32,
      order: arbOrder.map((order) => orderToMessage(order) as LinkQuote['order']),
      validUntil: fc.nat(),
      eta: fc.option(fc.nat()),
      lpSpreadBps: fc.integer({ min: -10_000, max: 10_000 }),
      amountBeforeFees: arbUint256.map(String),
      commitment: fc.record({
        lp: arbAddress,
        deadline: fc.nat(),
        signature: fc
          .uint8Array({ minLength: 65, maxLength: 65 })
          .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}` as const),
      }),
      more: fc.boolean(),
    },
    {
      requiredKeys: [
        'type',
        'rfqId',
        'quoteId',
        'order',
        'validUntil',
        'eta',
        'lpSpreadBps',
        'amountBeforeFees',
        'commitment',
      ],
    },
  );
  fc.assert(fc.property(arbQuote, (quote) => plainQuote(quote as LinkQuote) === JSON.stringify(quote)));
});
