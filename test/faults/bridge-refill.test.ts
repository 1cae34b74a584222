/**
 * A bridge venue is killed at every step of a transfer that refills its float: the money moves once and is in
 * one place. That quotes leave it alone meanwhile, test/long/flows/bridge-refill.test.ts shows.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { diceOf } from './seed.ts';
import type { CrashPoint } from './support/crash.ts';
import { type RefillingVenue, startRefillingVenue } from './support/refilling-venue.ts';

const WHOLE = 1_000_000n;
const [HERE, THERE, LOT] = [50_000n, 1_000n, 20_000n];
/** Transactions of the mover: request, withdraw, send; deliver, deposit. */
const SENT = { here: 3, there: 2 };
const IN_A_TRANSACTION = [
  'after_reserve',
  'before_persist',
  'after_sign',
  'after_send',
  'before_finish',
] as const;
const KINDS = ['requested', 'withdrawn', 'burned', 'attested', 'minted', 'deposited'] as const;

let venue: RefillingVenue;

beforeAll(async () => {
  venue = await startRefillingVenue({
    ...{ chainIds: [31_697, 31_698], owned: [HERE, THERE], low: 10_000n, lot: LOT },
  });
}, 300_000);
afterAll(() => venue?.stop());

test('F50: killed at every step of a refill, in its transactions and between its facts', async () => {
  const { part } = venue;
  const dice = diceOf('F50');
  const had = await venue.holdings();
  const points: CrashPoint[] = KINDS.map((_, at) =>
    dice.pick(at % 2 === dice.pick([0, 1]) ? IN_A_TRANSACTION : (['before_fact', 'after_fact'] as const)),
  );
  let kills = 0;
  for (const point of [...points, undefined]) {
    await part.start(point === undefined ? {} : { CRASH_AT: point }).catch((error: unknown) => {
      if (!part.said().includes(`reached ${point}`)) throw error;
    });
    if ((await venue.untilOver()) === 'over') break;
    expect(part.said()).toContain(`reached ${point}`);
    kills += 1;
  }
  expect(kills).toBeGreaterThan(4);
  const all = await venue.transfers();
  expect(all.map(({ facts }) => facts.map(({ kind }) => kind))).toEqual([KINDS]);
  expect(await venue.holdings()).toEqual({
    here: { ledger: (HERE - LOT) * WHOLE, beside: 0n },
    there: { ledger: (THERE + LOT) * WHOLE, beside: 0n },
    nonces: { here: had.nonces.here + SENT.here, there: had.nonces.there + SENT.there },
  });
}, 600_000);
