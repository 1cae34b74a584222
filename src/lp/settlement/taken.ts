/**
 * Remembers steps that another party has taken, such as a venue that finalises an order before the LP does.
 * The chain refuses them until its final blocks show what happened, so they are not tried at every head.
 */

import { LRUCache } from 'lru-cache';
import { SettlementError } from '../../domain/errors.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { decodeRevert } from '../../settlement/revert.ts';

export interface TakenSteps {
  /**
   * Sends a step of an order unless it is known to be taken. Returns whether it was sent. Throws what `send`
   * throws, but not the chain's answer that the step was taken.
   */
  unlessTaken(
    orderId: Bytes32,
    chain: Pick<ChainPort, 'head' | 'chain'>,
    send: () => Promise<void>,
  ): Promise<boolean>;
}

/** The escrow's answer for an order that is paid out already: status 2 is Claimed. */
const PAID_OUT = /^InvalidOrderStatus\(.*, 2\)$/;
const MOST_ORDERS = 10_000;

export function createTakenSteps(): TakenSteps {
  /** The block from which on a step is tried again: a reorganisation may have undone what took it. */
  const again = new LRUCache<Bytes32, { from: bigint }>({ max: MOST_ORDERS });
  return {
    async unlessTaken(orderId, { head, chain }, send) {
      const now = head()?.number ?? 0n;
      if (now < (again.get(orderId)?.from ?? 0n)) return false;
      try {
        await send();
        return true;
      } catch (error) {
        if (!isTaken(error)) throw error;
        again.set(orderId, { from: now + BigInt(chain.depth) + 1n });
        return false;
      }
    },
  };
}

const isTaken = (error: unknown): boolean =>
  error instanceof SettlementError &&
  error.code === 'would_revert' &&
  PAID_OUT.test(decodeRevert((error.facts['data'] ?? '0x') as Hex).text);
