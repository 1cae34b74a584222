/** Plays a recording as a feed, at its own pace or faster. */

import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedListener } from '../../ports/feed.ts';
import { BINANCE } from './binance.ts';
import { type Format, isFuture, refused } from './format.ts';
import { readRecording } from './recording.ts';

interface FileFeedOptions {
  path: string;
  format?: Format;
  source?: string;
  speed?: number;
  loop?: boolean;
}

/** A recorder that was stopped for a day, or whose clock jumped, does not stop the price for a day. */
const LONGEST_PAUSE_MS = 60_000;

export function createFileFeed(
  { clock }: { clock: Clock },
  { path, format = BINANCE, source = 'file', speed = 1, loop = false }: FileFeedOptions,
): Feed {
  let stopped = false;
  let wake: (() => void) | undefined;

  const sleep = (ms: number) =>
    new Promise<void>((resolve) => {
      const cancel = clock.after(ms, resolve);
      wake = () => {
        cancel();
        resolve();
      };
    });

  async function play(listener: FeedListener): Promise<void> {
    let lastMs: number | undefined;
    const read = format.reader(() => lastMs ?? clock.nowMs());
    let dueMs = clock.monotonicMs();
    for await (const { atMs, text } of readRecording(path)) {
      if (stopped) return;
      if (atMs === undefined || isFuture(atMs, clock.nowMs())) {
        listener.trouble?.(refused(atMs === undefined ? 'malformed' : 'future', null));
        continue;
      }
      const pauseMs = Math.min(Math.max(atMs - (lastMs ?? atMs), 0), LONGEST_PAUSE_MS);
      dueMs += pauseMs / speed;
      lastMs = atMs;
      for (const event of read(text)) {
        if (event.kind === 'resync') continue;
        if (event.kind !== 'quote') {
          listener.trouble?.(event);
          continue;
        }
        const waitMs = dueMs - clock.monotonicMs();
        if (waitMs >= 1) await sleep(waitMs);
        if (stopped) return;
        const { symbol, bid, ask, sequence } = event;
        // Recorded times are in the past.
        listener.quote({
          source,
          symbol,
          bid,
          ask,
          exchangeTimeMs: null,
          receivedMs: clock.nowMs(),
          sequence,
        });
      }
    }
  }

  async function run(listener: FeedListener): Promise<void> {
    for (let again = true; again; again = loop && !stopped) {
      listener.trouble?.({ kind: 'connected' });
      try {
        await play(listener);
      } catch (error) {
        listener.trouble?.({
          kind: 'disconnected',
          detail: error instanceof Error ? error.message : 'unreadable',
          retryInMs: null,
        });
        return;
      }
      // Do not spin on a file without prices.
      if (loop && !stopped) await sleep(100);
    }
    if (!stopped) listener.trouble?.({ kind: 'disconnected', detail: 'end of recording', retryInMs: null });
  }

  return {
    source,
    start: (listener) => void run(listener),
    stop() {
      stopped = true;
      wake?.();
    },
  };
}
