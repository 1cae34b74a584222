/**
 * The lease: nothing is signed beyond what is durable, and after a crash nothing until that has passed on the
 * chain.
 */

import { expect, test } from 'vitest';
import { silentLog } from '../../../test/support/silent.ts';
import type { Lease } from '../../inventory/lease.ts';
import { createLeases } from './lease.ts';

function world({ found = new Map<number, Lease>(), clean = false, now = 1_000, settled = 1_000 } = {}) {
  const state = {
    now,
    settled,
    writes: [] as Lease[],
    ours: true,
    fails: false,
    answer: undefined as undefined | (() => void),
  };
  const leases = createLeases(
    {
      store: {
        async writeLease(_, lease) {
          if (state.fails) throw new Error('the store does not answer');
          if (state.answer === undefined && state.ours) state.writes.push(lease);
          return state.ours;
        },
      },
      log: silentLog,
      now: () => state.now,
      lastReadTime: () => state.settled,
    },
    { found, clean, rules: new Map([[1, { longestQuoteSeconds: 40, aheadSeconds: 10, graceSeconds: 5 }]]) },
  );
  return { leases, state };
}

test('signs nothing before the first lease is stored, and nothing beyond it', async () => {
  const { leases } = world();
  expect(leases.covers(1, 1_001)).toBe(false);
  await leases.tick();
  expect([leases.covers(1, 1_050), leases.covers(1, 1_051), leases.covers(2, 1_001)]).toEqual([
    true,
    false,
    false,
  ]);
});

test('renews early, not at every tick', async () => {
  const { leases, state } = world();
  for (state.now = 1_000; state.now < 1_030; state.now += 1) {
    await leases.tick();
    expect(leases.covers(1, state.now + 40)).toBe(true);
  }
  expect(state.writes.length).toBeLessThanOrEqual(6);
});

test('a longer deadline needs one write', async () => {
  const { leases } = world();
  await leases.tick();
  expect(leases.covers(1, 1_500)).toBe(false);
  expect(await leases.extend(1, 1_500)).toBe(true);
  expect(leases.covers(1, 1_500)).toBe(true);
});

test('a request within a pending extension waits for it, and fails with it', async () => {
  const { leases, state } = world();
  await leases.tick();
  const before = state.writes.length;
  expect(
    await Promise.all([1_500, 1_499, 1_500, 1_501, 1_500].map((deadline) => leases.extend(1, deadline))),
  ).toEqual([true, true, true, true, true]);
  expect(state.writes.slice(before).map(({ signedUpTo }) => signedUpTo)).toEqual([1_500, 1_501]);
  expect(await leases.extend(1, 1_600)).toBe(true);
  state.fails = true;
  expect(await Promise.all([1_700, 1_650].map((deadline) => leases.extend(1, deadline)))).toEqual([
    false,
    false,
  ]);
  expect(leases.covers(1, 1_650)).toBe(false);
  state.fails = false;
  expect(await leases.extend(1, 1_650)).toBe(true);
});

test('after a crash waits on chain time, whatever our clock says; after a clean stop does not wait', () => {
  const found = new Map([[1, { signedUpTo: 1_100, clean: true }]]);
  const crashed = world({ found, clean: false, now: 9_000, settled: 1_000 });
  expect(crashed.leases.quarantine()).toEqual([{ chainId: 1, until: 1_105 }]);
  crashed.state.settled = 1_105;
  expect(crashed.leases.quarantine()).toHaveLength(1);
  crashed.state.settled = 1_106;
  expect(crashed.leases.quarantine()).toEqual([]);
  expect(world({ found, clean: true }).leases.quarantine()).toEqual([]);
});

test('after a takeover covers nothing', async () => {
  const { leases, state } = world();
  await leases.tick();
  expect(leases.covers(1, 1_010)).toBe(true);
  state.ours = false;
  state.now = 1_020;
  await leases.tick();
  expect(leases.lost).toBe(true);
  expect(leases.covers(1, 1_010)).toBe(false);
  expect(await leases.extend(1, 1_100)).toBe(false);
});
