/**
 * Order nonces for takers. The escrow keeps the used nonces of a taker as bits of words, and changing a word
 * that has a bit already costs about 17,000 gas less than a fresh one. So a taker's nonces on a chain are the
 * bits of one word, in order. The word is random: no other replica, and no later run of this one, has it.
 */

import { LRUCache } from 'lru-cache';
import type { Address } from '../../domain/hex.ts';
import type { Random } from '../../ports/random.ts';

const BITS = 8n;
/** Takers with a word. One that is forgotten gets another word, at the gas of a first trade. */
const MAX_TAKERS = 20_000;

export interface TakerNonces {
  /** Returns a uint256 that this venue has never given out for this taker on this chain. */
  next(chainId: number, taker: Address): bigint;
}

export function createTakerNonces({ random }: { random: Random }): TakerNonces {
  /** The last nonce given out, by chain and taker. */
  const last = new LRUCache<string, bigint>({ max: MAX_TAKERS });
  return {
    next(chainId: number, taker: Address): bigint {
      const key = `${chainId} ${taker}`;
      const previous = last.get(key);
      const isWordFull = previous === undefined || previous % (1n << BITS) === (1n << BITS) - 1n;
      const nonce = isWordFull ? (BigInt(random.bytes32()) >> BITS) << BITS : previous + 1n;
      last.set(key, nonce);
      return nonce;
    },
  };
}
