/**
 * One moment of database and chains to compare: a snapshot of the database, then a final block of every
 * chain, so that nothing on record can be later than what the chains are asked about.
 */

import type { Database, Queryable } from '../../adapters/postgres/pool.ts';
import { UpstreamError } from '../../domain/errors.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';

export interface PinnedChain {
  port: ChainPort;
  /** Its last final block. */
  deep: Block;
}

export interface Cut {
  session: Queryable;
  /** undefined for a chain that does not answer. */
  chain(chainId: number): PinnedChain | undefined;
  chains: readonly PinnedChain[];
}

/**
 * Runs within one REPEATABLE READ transaction that writes nothing. Answers also which chains did not show
 * their block.
 */
export async function atOneMoment<T>(
  db: Database,
  ports: readonly ChainPort[],
  work: (cut: Cut, silent: readonly string[]) => Promise<T>,
): Promise<T> {
  return db.transaction(async (session) => {
    // An audit of years takes its time.
    await session.query(
      'set transaction isolation level repeatable read read only; set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0',
    );
    // The first statement draws the snapshot.
    await session.query('select 1 from migration limit 1');
    const silent: string[] = [];
    const pinned = await Promise.all(
      ports.map((port) => pin(port).catch(() => void silent.push(port.chain.slug))),
    );
    const chains = pinned.filter((each): each is PinnedChain => each !== undefined);
    return work(
      { session, chains, chain: (chainId) => chains.find(({ port }) => port.chain.id === chainId) },
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
