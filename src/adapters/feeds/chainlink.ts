/**
 * Chainlink aggregators, read at each head. A price is as old as its round's `updatedAt`. A round is
 * refused when incomplete, not positive, too large, dated after the block, or when the sequencer is not up.
 */

import { formatUnits } from '../../domain/amount.ts';
import type { Address } from '../../domain/hex.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedListener, FeedRefusal, Sequencer } from '../../ports/feed.ts';
import { readPrices } from './format.ts';
import { contractFeed, readDecimals, readRound, type Round } from './per-head.ts';

interface ChainlinkFeedOptions {
  source: string;
  aggregators: Readonly<Record<string, Address>>;
}

interface ChainlinkTools {
  clock: Clock;
  chain: ChainPort;
  /** The uptime feed of the same chain's sequencer, where it has one. */
  sequencer?: Sequencer;
}

export function createChainlinkFeed(
  { clock, chain, sequencer }: ChainlinkTools,
  { source, aggregators }: ChainlinkFeedOptions,
): Feed {
  const rejected = new Set<string>();

  async function one(listener: FeedListener, symbol: string, address: Address, block: Block): Promise<void> {
    const [round, decimals] = await Promise.all([
      readRound(chain, address, block.number),
      readDecimals(chain, address, block.number),
    ]);
    if (round === undefined || decimals === undefined) {
      if (!rejected.has(symbol))
        listener.trouble?.({
          kind: 'rejected',
          symbol,
          detail: `${address} on ${chain.chain.slug} is no aggregator`,
        });
      rejected.add(symbol);
      return;
    }
    rejected.delete(symbol);
    const price = formatUnits(round.answer, decimals);
    const book = readPrices(price, price);
    const why =
      wrongRound(round, block) ??
      (typeof book === 'string' ? book : undefined) ??
      (sequencer === undefined || sequencer.state().up ? undefined : 'closed');
    if (why !== undefined) return listener.trouble?.({ kind: 'refused', why, symbol });
    // Round ids exceed 53 bits, so there is no sequence.
    listener.quote({
      source,
      symbol,
      bid: price,
      ask: price,
      exchangeTimeMs: round.updatedAt * 1_000,
      receivedMs: clock.nowMs(),
      sequence: null,
    });
  }

  return contractFeed(chain, source, aggregators, one);
}

function wrongRound({ id, answer, updatedAt, answeredIn }: Round, block: Block): FeedRefusal | undefined {
  if (answer <= 0n || updatedAt === 0) return 'empty';
  if (answeredIn < id) return 'out_of_order';
  // The chain port keeps blocks that are dated ahead of our clock away.
  return updatedAt > block.timestamp ? 'future' : undefined;
}
