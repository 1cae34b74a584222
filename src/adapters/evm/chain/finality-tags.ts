/** The newest blocks that nodes call `safe` or `finalized`, read with every head. */

import type { FinalityTag } from '../../../domain/chain.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Health } from '../rpc/health.ts';
import type { ChainRpc } from '../rpc/rpc.ts';

/** Chains of faster blocks move these tags no more often. */
const LEAST_PAUSE_MS = 1_000;

export interface FinalityTags {
  /** Asks all endpoints for the tagged blocks. Never rejects. */
  refresh(): Promise<void>;
  /** undefined until enough endpoints have named one. */
  newest(tag: FinalityTag): bigint | undefined;
}

/** A block counts when so many endpoints as must agree about large amounts call it so, or a later one. */
export function createFinalityTags(
  { rpc, health, clock, log }: { rpc: ChainRpc; health: Pick<Health, 'order'>; clock: Clock; log: Log },
  { tags, agree }: { tags: readonly FinalityTag[]; agree: number },
): FinalityTags {
  const newest = new Map<FinalityTag, bigint>();
  const missed = new Set<FinalityTag>();
  let readMs = Number.NEGATIVE_INFINITY;

  const ask = (index: number, tag: FinalityTag) =>
    rpc
      .only(index)
      .request<{ number: Hex } | null>('eth_getBlockByNumber', [tag, false])
      .then(
        (block) => (block === null ? undefined : BigInt(block.number)),
        () => undefined,
      );

  async function read(tag: FinalityTag): Promise<void> {
    const answers = await Promise.all(health.order().map((index) => ask(index, tag)));
    const numbers = answers
      .filter((number) => number !== undefined)
      .sort((a, b) => (a < b ? 1 : a > b ? -1 : 0));
    const agreed = numbers[Math.min(agree, rpc.endpoints) - 1];
    if (agreed !== undefined) {
      newest.set(tag, agreed);
      missed.delete(tag);
    } else if (!missed.has(tag)) {
      missed.add(tag);
      log.warn(
        { tag, endpoints: rpc.endpoints, answers: numbers.length },
        `too few endpoints name their ${tag} block: LPs fill no large orders from this chain and attesters ` +
          'sign no fills. If the nodes never name it, give this chain finality by depth (docs/venue/chains.md)',
      );
    }
  }

  return {
    async refresh(): Promise<void> {
      if (tags.length === 0 || clock.monotonicMs() - readMs < LEAST_PAUSE_MS) return;
      readMs = clock.monotonicMs();
      await Promise.all(tags.map(read));
    },
    newest: (tag: FinalityTag): bigint | undefined => newest.get(tag),
  };
}
