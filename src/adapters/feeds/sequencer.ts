/**
 * Reads a rollup's sequencer uptime feed. Unknown and recently restarted count as down: orders may be stuck
 * in a queue that we cannot see.
 */

import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Sequencer } from '../../ports/feed.ts';
import { perHead, readRound, type Round } from './per-head.ts';

interface SequencerOptions {
  address: Address;
  graceSeconds: number;
  maxAgeMs?: number;
}

export function createSequencer(
  { clock, chain }: { clock: Clock; chain: ChainPort },
  { address, graceSeconds, maxAgeMs = 60_000 }: SequencerOptions,
): Sequencer {
  let read: { round: Round | undefined; blockTime: number; atMs: number } | undefined;
  let stop = () => {};
  const bornMs = clock.nowMs();
  const down = (sinceMs: number, detail: string) => ({ up: false as const, sinceMs, detail });

  return {
    chainId: chain.chain.id,
    state() {
      if (read === undefined) return down(bornMs, 'the uptime feed of its sequencer has not been read yet');
      const { round, blockTime, atMs } = read;
      const ageMs = clock.nowMs() - atMs;
      if (ageMs > maxAgeMs)
        return down(
          atMs,
          `the uptime feed of its sequencer could not be read for ${Math.round(ageMs / 1_000)} s`,
        );
      if (round === undefined) return down(atMs, `${address} is no uptime feed`);
      if (round.startedAt === 0) return down(bornMs, 'the uptime feed of its sequencer has no answer yet');
      const sinceMs = round.startedAt * 1_000;
      if (round.answer !== 0n)
        return down(sinceMs, `its sequencer is down since ${new Date(sinceMs).toISOString()}`);
      const upSeconds = blockTime - round.startedAt;
      return upSeconds < graceSeconds
        ? down(sinceMs, `its sequencer came back ${upSeconds} s ago: quoting resumes after ${graceSeconds} s`)
        : { up: true, sinceMs };
    },
    start() {
      stop = perHead(chain, async (block) => {
        const round = await readRound(chain, address, block.number).catch(() => null);
        // Without an answer, the last reading ages.
        if (round !== null) read = { round, blockTime: block.timestamp, atMs: clock.nowMs() };
      });
    },
    stop: () => stop(),
  };
}
