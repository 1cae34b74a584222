/**
 * Reads one block's state from several endpoints that must agree, so one lying node cannot cause a payout.
 */

import { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { Health } from './health.ts';

interface QuorumDeps<W> {
  chain: string;
  witnesses: readonly W[];
  hashOf: (witness: W, block: bigint) => Promise<Hex | undefined>;
  health: Health;
  log: Log;
  metrics: Metrics;
}

/** Throws `UpstreamError` `no_quorum` while too few agree. */
export type Agreed<W> = <T extends string | boolean | undefined>(
  at: bigint,
  read: (witness: W) => Promise<T>,
) => Promise<T>;

export function createQuorum<W>(
  { chain, witnesses, hashOf, health, log, metrics }: QuorumDeps<W>,
  needed: number,
): Agreed<W> {
  const disagreements = metrics.counter(
    'firmquote_chain_quorum_disagreements_total',
    'Times RPC endpoints contradicted each other about a block that decides over money',
    { chain: [chain] },
  );
  const missed = metrics.counter(
    'firmquote_chain_quorum_missed_total',
    'Decisions postponed because too few RPC endpoints agreed',
    { chain: [chain] },
  );

  return async (at, read) => {
    type Vote = { answer: Awaited<ReturnType<typeof read>>; by: number[] };
    const votes = new Map<string, Vote>();
    const ask = async (index: number): Promise<void> => {
      const witness = witnesses[index] as W;
      // Without the hash, nodes on two forks could agree by chance.
      const [hash, answer] = await Promise.all([hashOf(witness, at), read(witness)]);
      if (hash === undefined) return;
      const ballot = `${hash} ${String(answer)}`;
      votes.set(ballot, { answer, by: [...(votes.get(ballot)?.by ?? []), index] });
    };
    const enough = (): Vote | undefined => [...votes.values()].find(({ by }) => by.length >= needed);
    const order = health.witnesses();
    await Promise.allSettled(order.slice(0, needed).map(ask));
    for (const index of order.slice(needed)) {
      if (enough()) break;
      await ask(index).catch(() => {});
    }
    const agreed = enough();
    if (votes.size > 1) {
      disagreements.add({ chain });
      log.error(
        { block: at, votes: [...votes.values()].map(({ by }) => by) },
        'RPC endpoints contradict each other about a block that decides over money',
      );
    }
    if (agreed) {
      for (const { by } of votes.values())
        if (by !== agreed.by) for (const index of by) health.eject(index, 'contradicting');
      return agreed.answer;
    }
    missed.add({ chain });
    throw new UpstreamError(
      `No ${needed} RPC endpoints of ${chain} agree about block ${at} (${health.inService().length} ` +
        'in service). The decision is postponed until they do.',
      { code: 'no_quorum' },
    );
  };
}
