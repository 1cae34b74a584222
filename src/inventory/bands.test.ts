import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bandQ, bandHeadroom, fairShare } from './bands.ts';

const band = { target: 100n, soft: 40n, hard: 80n };

test.each([
  [100n, 0, 80n, 80n],
  [140n, 1, 40n, 120n],
  [180n, 2, 0n, 160n],
  [181n, 2.025, 0n, 161n],
  [20n, -2, 160n, 0n],
  [19n, -2.025, 161n, 0n],
])('at %s', (position, q, into, out) => {
  expect(bandQ(position, band)).toBe(q);
  expect(bandHeadroom(position, band)).toEqual({ in: into, out });
});

test('without a hard band there is no bound, and without a soft band no position', () => {
  expect(bandHeadroom(1_000_000n, { target: 0n, hard: undefined })).toBeUndefined();
  expect(bandQ(1_000_000n, { target: 0n, soft: 0n })).toBe(0);
});

test("using up the hard band's room reaches its edge and never passes it", () => {
  fc.assert(
    fc.property(
      fc.bigInt(-(10n ** 24n), 10n ** 24n),
      fc.bigInt(0n, 10n ** 24n),
      fc.bigInt(0n, 10n ** 24n),
      (position, target, hard) => {
        const room = bandHeadroom(position, { target, hard }) ?? expect.fail();
        const within = position <= target + hard && position >= target - hard;
        if (within) expect([position + room.in, position - room.out]).toEqual([target + hard, target - hard]);
        // Outside, the way home is open and the way out is shut.
        else expect([room.in, room.out]).toContain(0n);
      },
    ),
  );
});

test('shares: by weight, of the total; a debt counts as zero', () => {
  expect([1n, 1n].map((share) => fairShare(200n, share, 2n))).toEqual([100n, 100n]);
  expect([3n, 1n].map((share) => fairShare(200n, share, 4n))).toEqual([150n, 50n]);
  expect(fairShare(100n, 0n, 0n)).toBe(0n);
});
