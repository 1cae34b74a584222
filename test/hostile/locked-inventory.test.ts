/** A venue that asks for quotes without end and trades nothing leaves inventory for another venue. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';
import { startTwoVenues, type TwoVenues } from '../support/two-venues.ts';
import { UNLIMITED } from '../support/unlimited.ts';

/** Each is worth 1 of the 100 WETH that the LP has. */
const REQUESTS = 150;
const PER_TAKER = 3;

let hostile: ScriptedVenue;
let v: TwoVenues;

beforeAll(async () => {
  v = await startTwoVenues(31_462, async ({ chain }) => (hostile = await startScriptedVenue([chain])).url, {
    config: {
      limits: { perTakerPair: {}, perTaker: { count: PER_TAKER }, total: { count: 1_000 } },
      risk: UNLIMITED.risk,
      quoting: { validitySeconds: 60, maxValiditySeconds: 60 },
    },
  });
  await hostile.until(({ status }) => status === 'active');
}, 120_000);

afterAll(async () => {
  await v?.stop();
  await hostile?.stop();
});

test('replicas of one venue, named by its id, are one venue', async () => {
  const replica: { venue?: ScriptedVenue } = {};
  const one = await startTwoVenues(
    31_463,
    async ({ chain }) => (replica.venue = await startScriptedVenue([chain])).url,
    { config: { limits: { perTaker: { count: PER_TAKER } } }, honestId: 'scripted', otherId: 'scripted' },
  );
  const second = replica.venue as ScriptedVenue;
  await second.until(({ status }) => status === 'active');
  await expect.poll(() => one.answerTo(9_399), { timeout: 15_000 }).toBe('quote');
  for (let n = 0; n < PER_TAKER; n += 1) expect(await one.answerTo(9_400, second)).toBe('quote');
  expect(await one.answerTo(9_400)).toBe('limit limit_taker');
  await one.stop();
  await second.stop();
});

test('a taker that the hostile venue invents is not the honest venue’s taker of the same address', async () => {
  await expect.poll(() => v.answerTo(9_499), { timeout: 15_000 }).toBe('quote');
  for (let n = 0; n < PER_TAKER; n += 1) expect(await v.answerTo(9_500, hostile)).toBe('quote');
  expect(await v.answerTo(9_500, hostile)).toBe('limit limit_taker');
  expect(await v.answerTo(9_500)).toBe('quote');
});

test('takers invented without end get half of the inventory, and the honest venue keeps its half', async () => {
  const answers = await Promise.all(
    Array.from({ length: REQUESTS }, (_, n) => v.answerTo(9_600 + n, hostile)),
  );
  const quoted = answers.filter((answer) => answer === 'quote').length;
  expect(quoted).toBeGreaterThan(40);
  expect(quoted).toBeLessThanOrEqual(50);
  expect(answers.at(-1)).toBe('limit limit_venue');
  for (let n = 0; n < 10; n += 1) expect(await v.answerTo(9_800 + n)).toBe('quote');
  const row = v.lp.limits().limits.find(({ scope, of }) => scope === 'perVenue' && of === 'other');
  expect(row).toMatchObject({ count: quoted + PER_TAKER, maxCount: 500 });
  expect(row?.used).toBeGreaterThan(0.9);
  expect(await v.metric('firmquote_lp_risk_refusals_total{control="limit_venue"}')).toBe(REQUESTS - quoted);
});
