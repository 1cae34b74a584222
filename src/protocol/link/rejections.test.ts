import { expect, test } from 'vitest';
import { readFromVenue } from './link.ts';
import { REJECTIONS } from './rejections.ts';

test.each(Object.entries(REJECTIONS))('%s: a solver can read the reason', (code, reason) => {
  const frame = JSON.stringify({ type: 'rejected', rfqId: null, quoteId: null, code, ...reason });
  expect(readFromVenue(frame)).toMatchObject({ ok: true });
});
