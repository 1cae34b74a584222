/**
 * Points where a process may die or stop, as decorators of its ports. `CRASH_AT=after_sign` kills it there
 * with SIGKILL, `CRASH_AT=after_sign:3` when it reaches the point for the third time. Production code
 * contains none of this.
 */

import { existsSync, writeSync } from 'node:fs';
import type { LpGround } from '../../../src/apps/lp/main.ts';
import type { VenueGround } from '../../../src/apps/venue/main.ts';
import type { ChainPort } from '../../../src/ports/chain.ts';
import type { TransferStore } from '../../../src/ports/stores/transfers.ts';
import type { TxStore } from '../../../src/ports/stores/tx-store.ts';

const CRASH_POINTS = [
  /** Venue: a submission is verified, nothing is written. */
  'before_commit',
  /** Venue: the order is committed, the answer is not sent. */
  'before_reply',
  /** Venue worker: orders are claimed, nothing is done about them. */
  'after_claim',
  /** Venue worker: facts are about to be appended to an order. */
  'before_append',
  /** A nonce is reserved, nothing is signed. */
  'after_reserve',
  /** Bytes are signed and about to be stored. */
  'before_persist',
  /** The signed bytes are in the database, and no node has received them. */
  'after_sign',
  /** A node has the bytes; the database does not record that. */
  'after_send',
  /** A slot is about to be recorded as mined. */
  'before_finish',
  /** LP: its fill is mined and about to be recorded. */
  'before_filled',
  /** LP: its fill is mined and recorded, and the claim is not made. */
  'filled',
  /** A transfer between chains of an LP is about to be stored; nothing was sent for it. */
  'before_transfer',
  /** A step of a transfer is final and about to be recorded, or was recorded just now. */
  'before_fact',
  'after_fact',
] as const;
export type CrashPoint = (typeof CRASH_POINTS)[number];

/** What happens at a point; `say` tells the test that it was reached. */
type Act = (say: () => void) => void | Promise<void>;

/** Reports that a point was reached; what happens there may take a while, or end the process. */
export type Reached = (point: CrashPoint) => void | Promise<void>;

/**
 * From `CRASH_AT`, `FREEZE_AT`, `BLOCK_AT` and `HOLD_AT`, each a point's name with `:n` for its n-th time. A
 * frozen process (SIGSTOP) needs a SIGCONT from outside. A blocked one does nothing else while the file
 * `BLOCK_FILE` exists. A held one continues that call on SIGWINCH.
 */
export function pointsOf(env: NodeJS.ProcessEnv): Reached {
  const wanted = new Map<string, { left: number; act: Act }>();
  const on = (variable: string, act: Act) => {
    const [name = '', times = '1'] = (env[variable] ?? '').split(':');
    if (name === '') return;
    if (!CRASH_POINTS.some((point) => point === name))
      throw new Error(`There is no point "${name}". They are ${CRASH_POINTS.join(', ')}.`);
    wanted.set(name, { left: Number(times), act });
  };
  on('CRASH_AT', (say) => {
    say();
    process.kill(process.pid, 'SIGKILL');
  });
  on('FREEZE_AT', (say) => {
    say();
    process.kill(process.pid, 'SIGSTOP');
  });
  on('BLOCK_AT', (say) => {
    say();
    const idle = new Int32Array(new SharedArrayBuffer(4));
    while (existsSync(env['BLOCK_FILE'] ?? '')) Atomics.wait(idle, 0, 0, 20);
  });
  on('HOLD_AT', (say) => {
    // The test may send the signal as soon as it reads the line, so that the handler is set first.
    const released = new Promise<void>((resolve) => void process.once('SIGWINCH', () => resolve()));
    say();
    return released;
  });
  return (point) => {
    const fault = wanted.get(point);
    if (!fault || (fault.left -= 1) !== 0) return undefined;
    return fault.act(() => tell(`reached ${point}`));
  };
}

/** Written directly to the test, because buffered logs would be lost. */
const tell = (what: string) => void writeSync(2, `fault: ${what}\n`);

export function crashingVenue(ground: VenueGround, reached: Reached): VenueGround {
  const { store, transactions, chains, transfers } = ground;
  return {
    ...ground,
    transfers: crashingTransfers(transfers, reached),
    store: {
      ...store,
      async accept(...args) {
        await reached('before_commit');
        const acceptance = await store.accept(...args);
        if (acceptance.kind === 'accepted') await reached('before_reply');
        return acceptance;
      },
      async claim(...args) {
        const claims = await store.claim(...args);
        if (claims.length > 0) await reached('after_claim');
        return claims;
      },
      async append(...args) {
        await reached('before_append');
        const ours = await store.append(...args);
        tell(`append ${ours ? 'written' : 'refused'}`);
        return ours;
      },
    },
    transactions: crashingTransactions(transactions, reached),
    chains: chains.map((chain) => crashingChain(chain, reached)),
  };
}

export function crashingLp(ground: LpGround, reached: Reached): LpGround {
  const { store, transactions, chains, transfers } = ground;
  return {
    ...ground,
    store: {
      ...store,
      async putAward(award) {
        if (award.stage === 'filled') await reached('before_filled');
        const ours = await store.putAward(award);
        if (award.stage === 'filled') await reached('filled');
        return ours;
      },
    },
    transactions: crashingTransactions(transactions, reached),
    chains: chains.map((chain) => crashingChain(chain, reached)),
    transfers: crashingTransfers(transfers, reached),
  };
}

function crashingTransfers(transfers: TransferStore, reached: Reached): TransferStore {
  return {
    ...transfers,
    async add(transfer) {
      await reached('before_transfer');
      return transfers.add(transfer);
    },
    async append(...args) {
      await reached('before_fact');
      const ours = await transfers.append(...args);
      if (ours) await reached('after_fact');
      return ours;
    },
  };
}

function crashingTransactions(store: TxStore, reached: Reached): TxStore {
  return {
    ...store,
    async reserve(...args) {
      const slots = await store.reserve(...args);
      if (slots) await reached('after_reserve');
      return slots;
    },
    async addAttempts(...args) {
      await reached('before_persist');
      const ours = await store.addAttempts(...args);
      tell(`attempts ${ours ? 'written' : 'refused'}`);
      if (ours) await reached('after_sign');
      return ours;
    },
    async finish(...args) {
      await reached('before_finish');
      return store.finish(...args);
    },
  };
}

function crashingChain<T extends ChainPort>(chain: T, reached: Reached): T {
  return {
    ...chain,
    async sendRaw(raw: `0x${string}`) {
      const outcome = await chain.sendRaw(raw);
      if (outcome.kind === 'sent') await reached('after_send');
      return outcome;
    },
  };
}
