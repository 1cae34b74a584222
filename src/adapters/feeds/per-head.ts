/** Reads contracts once per new head. */

import type { Address } from '../../domain/hex.ts';
import { aggregatorAbi, tryReadContract } from '../evm/chain/read-contract.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { Feed, FeedListener } from '../../ports/feed.ts';

/** Heads that arrive during a reading are skipped except the last. Returns a stop function. */
export function perHead(chain: ChainPort, read: (block: Block) => Promise<void>): () => void {
  let stopped = false;
  let reading = false;
  let next: Block | undefined;

  async function run(): Promise<void> {
    if (reading) return;
    reading = true;
    for (let block = next; block !== undefined && !stopped; block = next) {
      next = undefined;
      await read(block);
    }
    reading = false;
  }

  const take = (block: Block | undefined) => {
    if (block === undefined || stopped) return;
    next = block;
    void run();
  };
  const off = chain.onHead(take);
  take(chain.head());
  return () => {
    stopped = true;
    off();
  };
}

/** Counts as disconnected while the node does not answer. */
export function contractFeed<T>(
  chain: ChainPort,
  source: string,
  contracts: Readonly<Record<string, T>>,
  ask: (listener: FeedListener, symbol: string, contract: T, block: Block) => Promise<void>,
): Feed {
  let connected = false;
  let stop = () => {};
  return {
    source,
    start(listener) {
      stop = perHead(chain, async (block) => {
        try {
          await Promise.all(
            Object.entries(contracts).map(([symbol, contract]) => ask(listener, symbol, contract, block)),
          );
          if (!connected) listener.trouble?.({ kind: 'connected' });
          connected = true;
        } catch {
          if (connected)
            listener.trouble?.({
              kind: 'disconnected',
              detail: `${chain.chain.slug} does not answer`,
              retryInMs: null,
            });
          connected = false;
        }
      });
    },
    stop: () => stop(),
  };
}

/** One round of a Chainlink aggregator. Times are Unix seconds; `answer` is in units of its decimals. */
export interface Round {
  id: bigint;
  answer: bigint;
  startedAt: number;
  updatedAt: number;
  answeredIn: bigint;
}

export async function readRound(
  chain: ChainPort,
  aggregator: Address,
  at: bigint,
): Promise<Round | undefined> {
  const round = await tryReadContract(
    chain.read,
    { abi: aggregatorAbi, address: aggregator, functionName: 'latestRoundData' },
    at,
  );
  if (round === undefined) return undefined;
  const [id, answer, startedAt, updatedAt, answeredIn] = round;
  return { id, answer, startedAt: Number(startedAt), updatedAt: Number(updatedAt), answeredIn };
}

/** Reads the decimals of a token or an aggregator; undefined when there are none, or more than 36. */
export async function readDecimals(
  chain: ChainPort,
  contract: Address,
  at: bigint,
): Promise<number | undefined> {
  const decimals = await tryReadContract(
    chain.read,
    { abi: aggregatorAbi, address: contract, functionName: 'decimals' },
    at,
  );
  return decimals !== undefined && decimals <= 36n ? Number(decimals) : undefined;
}
