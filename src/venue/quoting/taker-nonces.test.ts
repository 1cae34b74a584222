import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemRandom } from '../../adapters/system/random.ts';
import type { Address } from '../../domain/hex.ts';
import { createTakerNonces } from './taker-nonces.ts';

const TAKERS: Address[] = [`0x${'11'.repeat(20)}`, `0x${'22'.repeat(20)}`];
const wordOf = (nonce: bigint) => nonce >> 8n;

test('no nonce of a taker comes twice on a chain, whatever the replica, and each fits 256 bits', () => {
  const request = fc.record({
    replica: fc.constantFrom(0, 1, 2),
    chainId: fc.constantFrom(1, 10),
    taker: fc.constantFrom(...TAKERS),
  });
  fc.assert(
    fc.property(fc.array(request, { maxLength: 1_200 }), (requests) => {
      const replicas = [0, 1, 2].map(() => createTakerNonces({ random: systemRandom }));
      const given = new Set<string>();
      for (const { replica, chainId, taker } of requests) {
        const nonce = (replicas[replica] as (typeof replicas)[0]).next(chainId, taker);
        expect(nonce >= 0n && nonce < 1n << 256n).toBe(true);
        given.add(`${chainId} ${taker} ${nonce}`);
      }
      expect(given.size).toBe(requests.length);
    }),
    { numRuns: 50 },
  );
});

test('a taker’s nonces fill one word before the next, and no two takers share a word', () => {
  const nonces = createTakerNonces({ random: systemRandom });
  const words = TAKERS.map((taker) => {
    const given = Array.from({ length: 512 }, () => nonces.next(1, taker));
    const first = given.slice(0, 256).map(wordOf);
    expect(new Set(first).size).toBe(1);
    expect(new Set(given.map(wordOf)).size).toBe(2);
    expect(given.slice(0, 256).map((nonce) => Number(nonce & 255n))).toEqual([...Array(256).keys()]);
    return first[0];
  });
  expect(words[0]).not.toBe(words[1]);
});

test('a taker that was forgotten gets a new word, never its old nonces', () => {
  const nonces = createTakerNonces({ random: systemRandom });
  const taker = TAKERS[0] as Address;
  const before = [nonces.next(1, taker), nonces.next(1, taker)];
  for (let n = 0; n < 20_000; n += 1) nonces.next(1, `0xf${n.toString(16).padStart(39, '0')}`);
  const after = nonces.next(1, taker);
  expect(before).not.toContain(after);
  expect(wordOf(after)).not.toBe(wordOf(before[0] as bigint));
});
