/** Pauses of pairs and chains: what they refuse, and how several replicas agree on them. */

import fc from 'fast-check';
import { expect, test } from 'vitest';
import { silentLog } from '../../../test/support/silent.ts';
import { createScopedPauses, type ScopedPauses } from './scoped-pauses.ts';

function createStore() {
  let rows: Record<string, string> = {};
  let broken = false;
  return {
    fail: (now: boolean) => (broken = now),
    async pauses() {
      return Promise.resolve({ ...rows });
    },
    async putPauses(changes: Readonly<Record<string, string | null>> | null) {
      if (broken) throw new Error('no database');
      const merged = Object.entries({ ...(changes && rows), ...changes });
      rows = Object.fromEntries(merged.filter((entry): entry is [string, string] => entry[1] !== null));
      return Promise.resolve(true);
    },
  };
}
const named = (pauses: Pick<ScopedPauses, 'list'>) => JSON.stringify(pauses.list());

test('law: after every command was stored and read, all replicas have the pauses of the store', async () => {
  const scope = fc.oneof(
    fc.record({ pair: fc.constantFrom('WETH-USDC', 'WBTC-USDC') }),
    fc.record({ chain: fc.constantFrom('base', 'arc') }),
  );
  const step = fc.record({
    at: fc.nat(2),
    what: fc.constantFrom('pause', 'resume', 'resumeAll', 'flush', 'follow'),
    scope,
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const store = createStore();
      const replicas = [0, 1, 2].map(() => createScopedPauses({ log: silentLog }, {}));
      for (const { at, what, scope: of } of steps) {
        const one = replicas[at] as (typeof replicas)[number];
        if (what === 'pause') one.pause(of, 'why');
        if (what === 'resume') one.resume(of);
        if (what === 'resumeAll') one.resumeAll();
        if (what === 'flush') await one.flush(store);
        if (what === 'follow') await one.follow(store);
      }
      for (const each of replicas) await each.flush(store);
      for (const each of replicas) await each.follow(store);
      const stored = createScopedPauses({ log: silentLog }, await store.pauses());
      for (const each of replicas) expect(each.list()).toHaveLength(stored.list().length);
      for (const each of replicas) expect(new Set(each.list())).toEqual(new Set(stored.list()));
    }),
  );
});

test('a failed write is tried again, and what the store says meanwhile does not undo the command', async () => {
  const store = createStore();
  const pauses = createScopedPauses({ log: silentLog }, {});
  store.fail(true);
  pauses.pause({ chain: 'base' }, 'moved');
  await expect(pauses.flush(store)).rejects.toThrow('no database');
  expect(await pauses.follow(store)).toBe(false);
  expect(named(pauses)).toContain('moved');
  store.fail(false);
  await pauses.flush(store);
  expect(await store.pauses()).toEqual({ 'chain base': 'moved' });
  expect(pauses.resume({ chain: 'arc' })).toBe(false);
});
