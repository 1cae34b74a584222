/**
 * Places where a process may die, as decorators of what it stands on: `CRASH_AT=after_sign` kills it there with SIGKILL, without a chance
 * to say anything, `CRASH_AT=after_sign:3` when it comes there for the third time. Production code knows nothing of them.
 */

import { writeSync } from 'node:fs';
import type { LpGround } from '../../../src/apps/lp/main.ts';
import type { VenueGround } from '../../../src/apps/venue/main.ts';
import type { ChainPort } from '../../../src/ports/chain.ts';
import type { TxStore } from '../../../src/ports/store.ts';

export const CRASH_POINTS = [
  /** Venue: a submission is verified, nothing is written. */
  'before_commit',
  /** Venue: the order is committed, nobody has been answered. */
  'before_reply',
  /** Venue worker: orders are claimed, nothing is done about them. */
  'after_claim',
  /** A nonce is reserved, nothing is signed. */
  'after_reserve',
  /** The signed bytes are in the database, no node has seen them. */
  'after_sign',
  /** A node has the bytes; nobody has written down that it does. */
  'after_send',
  /** A slot is about to be called mined. */
  'before_finish',
  /** LP: its fill is mined and about to be written down. */
  'before_filled',
  /** LP: its fill is mined and written down, the claim is not made. */
  'filled',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** Says that a point was passed; the process may not survive it. */
export type Passed = (point: CrashPoint) => void;

export function crashes(setting: string | undefined): Passed {
  const [name, times = '1'] = (setting ?? '').split(':');
  if (name !== '' && !CRASH_POINTS.some((point) => point === name)) throw new Error(`There is no crash point "${name ?? ''}". They are ${CRASH_POINTS.join(', ')}.`);
  let left = Number(times);
  return (point) => {
    if (point !== name || (left -= 1) !== 0) return;
    writeSync(2, `crash point ${point}\n`);
    process.kill(process.pid, 'SIGKILL');
  };
}

export function crashingVenue(ground: VenueGround, passed: Passed): VenueGround {
  const { store, transactions, chains } = ground;
  return {
    ...ground,
    store: {
      ...store,
      async accept(...args) {
        passed('before_commit');
        const acceptance = await store.accept(...args);
        if (acceptance.kind === 'accepted') passed('before_reply');
        return acceptance;
      },
      async claim(...args) {
        const claims = await store.claim(...args);
        if (claims.length > 0) passed('after_claim');
        return claims;
      },
    },
    transactions: crashingTransactions(transactions, passed),
    chains: chains.map((chain) => crashingChain(chain, passed)),
  };
}

export function crashingLp(ground: LpGround, passed: Passed): LpGround {
  const { store, transactions, chains } = ground;
  return {
    ...ground,
    store: {
      ...store,
      async putAward(award) {
        if (award.stage === 'filled') passed('before_filled');
        const ours = await store.putAward(award);
        if (award.stage === 'filled') passed('filled');
        return ours;
      },
    },
    transactions: crashingTransactions(transactions, passed),
    chains: chains.map((chain) => crashingChain(chain, passed)),
  };
}

function crashingTransactions(store: TxStore, passed: Passed): TxStore {
  return {
    ...store,
    async reserve(...args) {
      const slots = await store.reserve(...args);
      if (slots) passed('after_reserve');
      return slots;
    },
    async addAttempts(...args) {
      const ours = await store.addAttempts(...args);
      if (ours) passed('after_sign');
      return ours;
    },
    async finish(...args) {
      passed('before_finish');
      return store.finish(...args);
    },
  };
}

function crashingChain<T extends ChainPort>(chain: T, passed: Passed): T {
  return {
    ...chain,
    async sendRaw(raw: `0x${string}`) {
      const outcome = await chain.sendRaw(raw);
      if (outcome.kind === 'sent') passed('after_send');
      return outcome;
    },
  };
}
