/** A recording played as a feed, at its own pace or faster: the same messages through the same reader, only the clock is ours. */

import type { Clock } from '../../ports/clock.ts';
import type { Feed, FeedListener } from '../../ports/feed.ts';
import { createSequence, readMessage } from './book-ticker.ts';
import { readRecording } from './recording.ts';

export interface FileFeedOptions {
  path: string;
  /** Default "file". */
  source?: string;
  /** 1: as recorded; 10: ten times as fast. Default 1. */
  speed?: number;
  /** Start over at the end. Default false. */
  loop?: boolean;
}

export function createFileFeed({ clock }: { clock: Clock }, { path, source = 'file', speed = 1, loop = false }: FileFeedOptions): Feed {
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
    const sequence = createSequence();
    const startedMs = clock.monotonicMs();
    let firstMs: number | undefined;
    for await (const { atMs, text } of readRecording(path)) {
      if (stopped) return;
      const message = atMs === undefined ? ({ kind: 'refused', why: 'malformed', symbol: null } as const) : readMessage(text);
      if (message.kind === 'refused') listener.trouble?.(message);
      if (message.kind !== 'ticker' || atMs === undefined) continue;
      firstMs ??= atMs;
      const waitMs = (atMs - firstMs) / speed - (clock.monotonicMs() - startedMs);
      if (waitMs >= 1) await sleep(waitMs);
      if (stopped) return;
      const { symbol, bid, ask, update } = message.ticker;
      const late = sequence.take(symbol, update);
      if (late !== undefined) listener.trouble?.({ kind: 'refused', why: late, symbol });
      else listener.quote({ source, symbol, bid, ask, exchangeTimeMs: null, receivedMs: clock.nowMs(), sequence: update });
    }
  }

  async function run(listener: FeedListener): Promise<void> {
    for (let again = true; again; again = loop && !stopped) {
      listener.trouble?.({ kind: 'connected' });
      try {
        await play(listener);
      } catch (error) {
        listener.trouble?.({ kind: 'disconnected', detail: error instanceof Error ? error.message : 'unreadable', retryInMs: null });
        return;
      }
      // A file without a single price must not spin.
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
