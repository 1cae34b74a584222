/**
 * Chainlink aggregators, read at each head. A price is as old as its round's `updatedAt`. A round is
 * refused when incomplete, not positive, dated after the block, or when the sequencer is not up.
 */

import { formatUnits } from '../../domain/amount.ts';
import type { Address } from '../../domain/hex.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedListener, FeedTrouble, Sequencer } from '../../ports/feed.ts';
import type { QuoteRefusal } from './format.ts';
import { contractFeed, readDecimals, readRound, type Round } from './per-head.ts';

interface ChainlinkFeedOptions {
  source: string;
  aggregators: Readonly<Record<string, Address>>;
}

interface ChainlinkTools {
  clock: Clock;
  chain: ChainPort;
  /** Of the same chain, where it has one. */
  sequencer?: Sequencer;
}

export function createChainlinkFeed(
  { clock, chain, sequencer }: ChainlinkTools,
  { source, aggregators }: ChainlinkFeedOptions,
): Feed {
  const lastReported = new Map<string, string>();

  function report(listener: FeedListener, symbol: string, trouble: FeedTrouble | undefined): void {
    const now = trouble === undefined ? '' : JSON.stringify(trouble);
    if (trouble !== undefined && lastReported.get(symbol) !== now) listener.trouble?.(trouble);
    lastReported.set(symbol, now);
  }

  async function one(listener: FeedListener, symbol: string, address: Address, block: Block): Promise<void> {
    const [round, decimals] = await Promise.all([
      readRound(chain, address, block.number),
      readDecimals(chain, address, block.number),
    ]);
    if (round === undefined || decimals === undefined)
      return report(listener, symbol, {
        kind: 'rejected',
        symbol,
        detail: `${address} on ${chain.chain.slug} is no aggregator`,
      });
    const why =
      wrongRound(round, block) ?? (sequencer === undefined || sequencer.state().up ? undefined : 'closed');
    if (why !== undefined) return report(listener, symbol, { kind: 'refused', why, symbol });
    report(listener, symbol, undefined);
    const price = formatUnits(round.answer, decimals);
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

function wrongRound({ id, answer, updatedAt, answeredIn }: Round, block: Block): QuoteRefusal | undefined {
  if (answer <= 0n || updatedAt === 0) return 'empty';
  if (answeredIn < id) return 'out_of_order';
  return updatedAt > block.timestamp ? 'malformed' : undefined;
}
