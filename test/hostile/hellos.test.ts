/** A solver that names ever new accounts in its hellos makes the venue follow none of them for long. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { type ScriptedSolver, startSolver, type SolverSpec } from '../support/solver.ts';
import { startTestVenue, type TestVenue, until } from '../support/venue.ts';

const metrics = createMetrics();
/** Blocks after which the venue has read all followed balances, whether or not anything happened to them. */
const ALL_READ_BLOCKS = 40n;
/** Times that a balance of each account was read. */
const reads = new Map<string, number>();
let v: TestVenue;
/** As the venue sees it. */
let seen: ChainPort;
let spec: Omit<SolverSpec, 'lp' | 'operator'>;

beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [31_453],
    metrics,
    seen(port) {
      seen = port;
      return {
        ...port,
        ledgerBalance(owner, token) {
          reads.set(owner, (reads.get(owner) ?? 0) + 1);
          return port.ledgerBalance(owner, token);
        },
      };
    },
  });
  await v.store.putSolver({ id: 'lp-1', name: 'lp-1', kind: 'lp', corridors: null, disabled: false });
  await v.bus.publish('solvers', 'lp-1');
  await until(() => v.venue.roster.entry('lp-1'));
  spec = {
    id: 'lp-1',
    apiKey: await v.key('solver', { solverId: 'lp-1' }),
    chains: [v.chain.chain],
    corridors: [],
    answer: () => undefined,
  };
});
afterAll(() => v.stop());

/** An account signs for itself, so anybody has as many as wanted. */
const join = (who: TestAccount): Promise<ScriptedSolver> =>
  startSolver(v.urls.slice(0, 1), { ...spec, lp: who.address, operator: who });

async function followed(): Promise<number> {
  const line = /^firmquote_venue_followed_accounts\{.*\} (\d+)$/m.exec(await metrics.text());
  return Number(line?.[1]);
}

test('accounts of closed connections are no longer read', async () => {
  const guests = Array.from({ length: 20 }, (_, index) => account(9_000 + index));
  for (const guest of guests) await (await join(guest)).stop();
  const stays = await join(account(9_100));
  await until(async () => (await followed()) === 1);
  reads.clear();
  // One at a time: a head that leaps is not believed for a while.
  const last = (seen.head()?.number ?? 0n) + ALL_READ_BLOCKS;
  for (let next = seen.head()?.number ?? 0n; next < last; next = seen.head()?.number ?? 0n) {
    await v.chain.anvil.rpc('anvil_mine', ['0x1', '0x0']);
    await until(() => (seen.head()?.number ?? 0n) > next);
  }
  await until(() => reads.has(account(9_100).address));
  expect(guests.filter(({ address }) => reads.has(address))).toEqual([]);
  await stays.stop();
  await until(async () => (await followed()) === 0);
});

test('a hello that names several accounts of one chain is refused', async () => {
  const who = account(9_200);
  await expect(
    startSolver(v.urls.slice(0, 1), {
      ...spec,
      chains: [v.chain.chain, v.chain.chain],
      lp: who.address,
      operator: who,
    }),
  ).rejects.toThrow('duplicate_chain');
  expect(await followed()).toBe(0);
});

test('a solver that says hello without pause is refused, joins after a pause, and others join meanwhile', async () => {
  const who = account(9_300);
  const tries = await Promise.allSettled(
    Array.from({ length: 6 }, async () => {
      for (let left = 60; left > 0; left--) await (await join(who)).stop();
    }),
  );
  const refusals = tries.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
  expect(refusals.filter((why) => why.includes('try_later'))).not.toEqual([]);
  const other = await v.solver(2, () => undefined, { inventory: 0n });
  await other.stop();
  const back = await until(() => join(who).catch(() => undefined));
  await back.stop();
});
