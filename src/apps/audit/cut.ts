/**
 * Reads a database snapshot, then one final block per chain: the database never holds a fact newer than the
 * block.
 */

import type { Database, Queryable } from '../../adapters/postgres/pool.ts';
import { UpstreamError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import { type Unit, unitOf } from './difference.ts';

export interface PinnedChain {
  port: ChainPort;
  deep: Block;
}

export interface Cut {
  session: Queryable;
  chain(chainId: number): PinnedChain | undefined;
  chains: readonly PinnedChain[];
  /** Returns how amounts of this token, or of the chain's "native" currency, are shown. */
  unit(chainId: number, token: string): Unit;
}

const NATIVE: Unit = { decimals: 18, symbol: 'of the gas currency' };

/** Runs `work` in one read-only REPEATABLE READ transaction. `silent`: chains that did not answer. */
export async function withConsistentCut<T>(
  db: Database,
  ports: readonly ChainPort[],
  work: (cut: Cut, silent: readonly string[]) => Promise<T>,
): Promise<T> {
  return db.transaction(async (session) => {
    await session.query(
      'set transaction isolation level repeatable read read only; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0',
    );
    // The first statement takes the snapshot.
    await session.query('select 1 from migration limit 1');
    const silent: string[] = [];
    const pinned = await Promise.all(
      ports.map((port) => pin(port).catch(() => void silent.push(port.chain.slug))),
    );
    const chains = pinned.filter((each): each is PinnedChain => each !== undefined);
    const chain: Cut['chain'] = (chainId) => chains.find(({ port }) => port.chain.id === chainId);
    return work(
      {
        session,
        chains,
        chain,
        unit(chainId, token) {
          if (token === 'native') return NATIVE;
          const described = chain(chainId)?.port.chain;
          return described ? unitOf(described, token as Address) : { decimals: null, symbol: token };
        },
      },
      silent,
    );
  });
}

async function pin(port: ChainPort): Promise<PinnedChain> {
  const head = port.head();
  const deep =
    head &&
    (await port.block(head.number > BigInt(port.chain.depth) ? head.number - BigInt(port.chain.depth) : 0n));
  if (!deep) throw new UpstreamError('The chain has not been seen.', { code: 'chain_unknown' });
  return { port, deep };
}
