/** Reading contracts beside the hot path: once for each new head, never two readings at a time, all of one reading at one block. */

import type { Address } from '../../domain/hex.ts';
import { encode } from '../evm/views.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';

/** Reads at the newest head now and at each one that comes; heads that arrive meanwhile are skipped but for the last. Returns how to stop. */
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

/** The 32-byte words of an answer. */
export function wordsOf(data: string): bigint[] {
  const words: bigint[] = [];
  for (let at = 2; at + 64 <= data.length; at += 64) words.push(BigInt(`0x${data.slice(at, at + 64)}`));
  return words;
}

export const signed = (word: bigint): bigint => BigInt.asIntN(256, word);

/** What an aggregator says last. Times are of its chain, in seconds; answers are as it encodes them. */
export interface Round {
  id: bigint;
  answer: bigint;
  startedAt: number;
  updatedAt: number;
  answeredIn: bigint;
}

/** undefined: there is no aggregator. */
export async function readRound(chain: ChainPort, aggregator: Address, at: bigint): Promise<Round | undefined> {
  const [id, answer, startedAt, updatedAt, answeredIn] = wordsOf((await chain.read(aggregator, encode('latestRoundData()'), at)) ?? '0x');
  if (id === undefined || answer === undefined || startedAt === undefined || updatedAt === undefined || answeredIn === undefined) return undefined;
  return { id, answer: signed(answer), startedAt: Number(startedAt), updatedAt: Number(updatedAt), answeredIn };
}

/** Decimals of a token or an aggregator; undefined: it has none that make sense. */
export async function readDecimals(chain: ChainPort, contract: Address, at: bigint): Promise<number | undefined> {
  const [decimals] = wordsOf((await chain.read(contract, encode('decimals()'), at)) ?? '0x');
  return decimals !== undefined && decimals <= 36n ? Number(decimals) : undefined;
}
