/** Decides why a process of the venue should get no traffic. */

import type { ChainPort } from '../ports/chain.ts';
import type { VenueStore } from '../ports/stores/venue-store.ts';
import type { VenueDeps } from './deps.ts';

/** A newest block older than this and than `STALE_FLOOR_MS` is stale. */
const STALE_BLOCKS = 10;
const STALE_FLOOR_MS = 15_000;

export async function unready({
  store,
  chains,
  clock,
}: Pick<VenueDeps, 'chains' | 'clock'> & { store: Pick<VenueStore, 'ping'> }): Promise<string[]> {
  const reasons: string[] = [];
  await store.ping().catch(() => reasons.push('the database does not answer'));
  for (const port of chains.values()) {
    const issue = port.healthIssue();
    if (issue) reasons.push(issue.note);
    if (!port.head()) reasons.push(`no block of ${port.chain.slug} has been seen`);
    else if (isStale(port, clock.nowMs())) reasons.push(`the newest block of ${port.chain.slug} is old`);
  }
  return reasons;
}

/**
 * Returns whether the chain has had no new block for so long that an operator must check it, or its
 * endpoints.
 */
export const isStale = (port: Pick<ChainPort, 'chain' | 'headSeenAtMs'>, nowMs: number): boolean =>
  nowMs - port.headSeenAtMs() > Math.max(STALE_FLOOR_MS, port.chain.blockTimeMs * STALE_BLOCKS);
