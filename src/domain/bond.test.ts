import { describe, expect, test } from 'vitest';
import { latestBonded, latestFillDeadline, latestPaid } from './bond.ts';

const paying = { now: 1_000, delays: { withdrawalSeconds: 900, takeBackSeconds: undefined } };
const bonding = (takeBackSeconds: number | undefined, withdrawalSeconds = 900) => ({
  now: 2_000,
  delays: { withdrawalSeconds, takeBackSeconds },
});

test('a balance stays for the withdrawal delay', () => {
  expect(latestPaid(paying)).toBe(1_900);
});

describe('a bond across chains', () => {
  test('stays until the refund and the claim: one second after `expires`', () => {
    // The order expires at 2,940. The refund is possible at 2,941, when the bond may leave.
    expect(latestBonded(bonding(941), 60)).toBe(2_880);
  });
  test('answers for a revoked signature within the delay of its own escrow', () => {
    expect(latestBonded(bonding(86_400), 60)).toBe(2_900);
    expect(latestBonded(bonding(86_400, 300), 60)).toBe(2_300);
  });
  test('is none without a bond contract', () => {
    expect(latestBonded(bonding(undefined), 60)).toBeLessThan(2_000);
  });
});

test('the earliest of both counts where a bond has to answer', () => {
  expect(latestFillDeadline({ paying, bonding: undefined }, 60)).toBe(1_900);
  expect(latestFillDeadline({ paying, bonding: bonding(86_400) }, 60)).toBe(1_900);
  expect(latestFillDeadline({ paying: { ...paying, now: 9_000 }, bonding: bonding(941) }, 60)).toBe(2_880);
});
