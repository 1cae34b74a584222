/** One key asks more than the venue can quote: what it and another key get. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import { ADMISSION } from '../../src/venue/options.ts';
import { account } from '../support/devnet.ts';
import { type Answer, startTestVenue, type TestVenue } from '../support/venue.ts';

const AT_ONCE = 200;
const MODEST_REQUESTS = 30;

let v: TestVenue;
beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [31_498],
    rates: {
      quotesPerSecond: 1e6,
      perIpPerSecond: 1e6,
      openQuotes: 1e9,
      openNotionalUsd: 1e15,
      leastSubmittedShare: 0,
    },
    admission: {
      places: { ...ADMISSION.places, quote: 64 },
      waiting: { ...ADMISSION.waiting, quote: 256 },
      targetWaitMs: { ...ADMISSION.targetWaitMs, quote: 1 },
    },
    http: { origins: ['https://app.example.com'] },
  });
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: 10n ** 15n }), { inventory: 1_000_000n });
});
afterAll(() => v.stop());

test('the greedy key is refused early, with the time to come back; the modest key is served as before', async () => {
  const [greedy, modest] = [await v.key('service'), await v.key('service')];
  const { chain, usdc, weth } = v.chain;
  const body = {
    taker: account(61).address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000' },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  };
  const ask = (key: string, headers: Record<string, string> = {}) =>
    v.call('POST', '/api/v1/rfq/quotes', { key, body, headers });

  const refused: Answer[] = [];
  const others = new Set<number>();
  let goesOn = true;
  const flood = Array.from({ length: AT_ONCE }, async (_, n) => {
    // Some come from a web page, whose browser must be able to read the refusal.
    const headers: Record<string, string> = n % 10 === 0 ? { Origin: 'https://app.example.com' } : {};
    while (goesOn) {
      const answer = await ask(greedy, headers);
      if (answer.status === 503) refused.push(answer);
      else others.add(answer.status);
    }
  });
  const answers: number[] = [];
  while (refused.length === 0) await new Promise((done) => setTimeout(done, 5));
  for (let n = 0; n < MODEST_REQUESTS; n++) answers.push((await ask(modest)).status);
  while (!refused.some(({ headers }) => headers.has('access-control-allow-origin')))
    await new Promise((done) => setTimeout(done, 5));
  goesOn = false;
  await Promise.all(flood);

  expect(new Set(answers)).toEqual(new Set([200]));
  expect([...others].filter((status) => status !== 200 && status !== 429)).toEqual([]);
  expect(others).toContain(200);
  for (const { headers, json } of refused) {
    expect(json).toEqual({
      error: { code: 'unavailable', message: expect.stringContaining('nothing was done') },
    });
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect([headers.get('api-version'), headers.get('cache-control'), headers.get('content-type')]).toEqual([
      '1',
      'no-store',
      expect.stringContaining('application/json'),
    ]);
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
  // Nothing is left of the overload.
  expect((await ask(greedy)).status).toBe(200);
});
