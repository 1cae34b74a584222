/** A venue that asks for what cannot be: declined in words, no error of the LP, and nothing is signed. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Log } from '../../src/ports/log.ts';
import type { FromSolver, Rfq } from '../../src/protocol/link/link.ts';
import { account } from '../support/devnet.ts';
import { awardOf, takeQuote } from '../support/lp-trades.ts';
import { request, type ScriptedVenue, startScriptedVenue } from '../support/scripted-venue.ts';
import { startTwoVenues, type TwoVenues } from '../support/two-venues.ts';
import { silentLog } from '../support/silent.ts';

const fatal: string[] = [];
const errors: string[] = [];
const warnings: string[] = [];
const log: Log = {
  ...silentLog,
  fatal: (_, message) => void fatal.push(message),
  error: (_, message) => void errors.push(message),
  warn: (_, message) => void warnings.push(message),
  child: () => log,
};

let v: TwoVenues;
let impostor: ScriptedVenue;

beforeAll(async () => {
  v = await startTwoVenues(31_463, async ({ chain }) => (impostor = await startScriptedVenue([chain])).url, {
    log,
    otherId: 'the venue that we signed up with',
  });
}, 120_000);

afterAll(async () => {
  await v?.stop();
  await impostor?.stop();
});

const ask = (change: (rfq: Rfq) => Partial<Rfq>): Promise<Extract<FromSolver, { rfqId: string }>> => {
  const { chain, usdc, weth } = v.chain;
  const plain = request({
    from: chain,
    to: chain,
    give: usdc,
    take: weth,
    amount: 2_500_000_000n,
    taker: account(9_900).address,
  });
  return v.honest.ask({ ...plain, ...change(plain) });
};

const HUGE = (2n ** 256n - 1n).toString();

test.each<[string, (rfq: Rfq) => Partial<Rfq>]>([
  ['a fee of everything', () => ({ platformFeeBps: 10_000 })],
  [
    'a proof window beyond uint32',
    ({ skeleton }) => ({ skeleton: { ...skeleton, proofWindowSeconds: 2 ** 50 } }),
  ],
  ['a proof window of years', ({ skeleton }) => ({ skeleton: { ...skeleton, proofWindowSeconds: 1e9 } })],
  ['a negative proof window', ({ skeleton }) => ({ skeleton: { ...skeleton, proofWindowSeconds: -1 } })],
  ['no receiver', () => ({ receiver: `0x${'0'.repeat(40)}` })],
  ['the LP as receiver', () => ({ receiver: account(9_100).address })],
  ['the largest amount', () => ({ amount: HUGE })],
  ['the largest relay fee', () => ({ relayFee: HUGE })],
  ['the last second of uint32', () => ({ minValidUntil: 0xffff_ffff })],
])('%s', async (_, change) => {
  await expect.poll(async () => (await ask(() => ({}))).type, { timeout: 15_000 }).toBe('quote');
  const answer = await ask(change);
  expect(answer.type).toBe('decline');
  expect(answer).not.toMatchObject({ reason: 'internal' });
  expect(fatal).toEqual([]);
});

test('a venue that names another id than the configuration gets no proof', async () => {
  await expect.poll(() => impostor.keys.length, { timeout: 15_000 }).toBeGreaterThan(1);
  expect(impostor.statuses).toEqual([]);
  expect(errors).toContain('the venue names another id than our configuration: no proof is signed');
});

test('an award that comes too late is logged once, however often the venue repeats it', async () => {
  const { chain, devnet, honest } = v;
  const rfq = request({
    ...{ from: chain.chain, to: chain.chain, give: chain.usdc, take: chain.weth },
    ...{ amount: 2_500_000_000n, taker: account(9_901).address },
  });
  const late = awardOf(await takeQuote(devnet, honest, account(9_901), rfq));
  await chain.anvil.rpc('evm_increaseTime', [3_600]);
  await chain.anvil.mine(2);
  await expect.poll(() => v.lp.status().liveQuotes, { timeout: 15_000 }).toBe(0);
  for (let n = 0; n < 20; n += 1) honest.send({ type: 'award', ...late });
  // Frames are read in turn.
  await ask(() => ({}));
  expect(warnings.concat(fatal).filter((each) => each.startsWith('refused an award'))).toHaveLength(1);
});
