import { expect, test } from 'vitest';
import { createManualClock } from '../../../test/support/manual-clock.ts';
import { silentLog } from '../../../test/support/silent.ts';
import type { Chain } from '../../domain/chain.ts';
import { createBonds } from './bonds.ts';

const NOW = 1_000_000;
const [IN, OUT, ACCOUNT] = ['0x01', '0x02', '0x03'] as const;

const portOf = (id: number, blockTimeMs: number) => ({
  chain: { id, slug: `chain${id}`, blockTimeMs, tokens: [] as Chain['tokens'] } as Chain,
  head: () => ({ number: 1n, hash: '0x00' as const, timestamp: NOW }),
  bond: async () => ({ amount: 10n, leaving: 0n, availableAt: 0 }),
  withdrawalDelay: async () => 900,
  bondTakeBackDelay: async () => 1_000,
});
const route = {
  origin: { id: 1 },
  dest: { id: 2 },
  inputToken: { address: IN },
  outputToken: { address: OUT },
};

test('the latest fill deadline leaves a block, and counts the bond where a venue demands it', async () => {
  const ports = new Map([
    [1, portOf(1, 12_000)],
    [2, portOf(2, 250)],
  ]);
  const bonds = createBonds({ ports, clock: createManualClock(), log: silentLog }, ACCOUNT);
  const latest = (proofWindowSeconds = 300) => bonds.latestFillDeadline(route, proofWindowSeconds);
  expect(latest()).toBeUndefined();
  await bonds.refresh();
  expect(latest()).toBe(NOW - 1 + 900);
  // On chain 2 nothing is claimed for this route.
  bonds.demanded('a', [{ chainId: 2, token: OUT, amount: 1n }]);
  expect(latest()).toBe(NOW - 1 + 900);
  bonds.demanded('b', [{ chainId: 1, token: IN, amount: 1n }]);
  expect(latest()).toBe(NOW - 12 + 1_000 - 1 - 300);
  expect(latest(10)).toBe(NOW - 12 + 900);
  bonds.demanded('b', []);
  expect(latest()).toBe(NOW - 1 + 900);
});
