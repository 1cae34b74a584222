/** A node that does not say whether it has the multicall contract costs the bundle, and never the process. */

import { expect, test } from 'vitest';
import { createViewCaller } from './multicall.ts';

const TO = `0x${'1'.repeat(40)}` as const;
const WORD = `0x${'2'.repeat(64)}`;

// What is rejected and seen by nobody fails the run.
test.each([1, 3])('of %i views at once each is answered although eth_getCode is not', async (count) => {
  const request = async (method: string) => {
    if (method === 'eth_getCode') throw new Error('no answer');
    return WORD;
  };
  const view = createViewCaller({ request: request as never });
  for (let again = 0; again < 2; again++)
    expect(await Promise.all(Array.from({ length: count }, () => view(TO, '0x1234', undefined)))).toEqual(
      Array.from({ length: count }, () => WORD),
    );
  await new Promise((resolve) => setImmediate(resolve));
});
