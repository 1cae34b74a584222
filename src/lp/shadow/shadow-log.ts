/**
 * Records what a shadow LP would have answered, what the venue told of each request, and where the mid went.
 * In memory for the newest requests; written to the database in the background.
 */

import { LRUCache } from 'lru-cache';
import { mulDivDown, mulDivUp } from '../../domain/amount.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ShadowRequest, ShadowStore } from '../../ports/stores/shadow-store.ts';
import type { Priced } from '../../pricing/price.ts';
import type { LinkMessage, Rfq } from '../../protocol/link/link.ts';
import { createMarkouts } from '../accounting/markout.ts';
import type { Horizon } from '../accounting/taker-costs.ts';
import type { QuoteEventListener } from '../quote-log/quote-events.ts';
import { type ShadowReport, shadowReport } from './report.ts';

interface ShadowLogDeps {
  clock: Clock;
  log: Log;
  store: ShadowStore;
  /** Quote tokens for one base token. */
  mid(pair: string): number | undefined;
}

export interface ShadowLog {
  readonly listener: QuoteEventListener;
  /** The venue told that the taker accepted another quote. */
  accepted(told: LinkMessage<'outcome'>): void;
  /** Writes to the database about once a second, until `stop`. */
  start(): void;
  /** Writes what is not written yet. Never rejects. */
  stop(): Promise<void>;
  /** Rejects when the database does not answer. */
  report(window: { sinceMs: number; untilMs: number | null }): Promise<ShadowReport>;
}

const WRITE_EVERY_MS = 1_000;
const WRITTEN_AT_ONCE = 1_000;
/** Writes between two deletions of what is more than `keep`. */
const KEEP_EVERY = 60;

const MARK_OF = { 1: 'mark1', 10: 'mark10', 60: 'mark60' } as const satisfies Record<Horizon, string>;

/** `keep`: how many requests it remembers; the oldest is forgotten first. */
export function createShadowLog(
  { clock, log, store, mid }: ShadowLogDeps,
  { keep }: { keep: number },
): ShadowLog {
  const unwritten = new Set<string>();
  const requests = new LRUCache<string, ShadowRequest>({
    max: keep,
    dispose: (_, rfqId, why) => void (why === 'evict' && unwritten.delete(rfqId)),
  });
  const markouts = createMarkouts({
    clock,
    mid,
    marked({ orderId: rfqId }, horizon, { bps, late }) {
      if (bps !== null && !late) change(rfqId, { [MARK_OF[horizon]]: bps });
    },
  });
  let writes = 0;
  let stopped = false;
  let cancel = () => {};
  let writing: Promise<void> = Promise.resolve();

  function record(request: ShadowRequest): void {
    requests.set(request.rfqId, request);
    unwritten.add(request.rfqId);
  }

  function change(rfqId: string, news: Partial<ShadowRequest>): void {
    const request = requests.peek(rfqId);
    if (request !== undefined) record({ ...request, ...news });
  }

  const listener: QuoteEventListener = {
    quoted({ rfqId, atMs, taker, route, inputs, priced }) {
      // The first is of the shortest tenor and the best price; longer tenors are not compared.
      if (requests.has(rfqId)) return;
      const { pairName: pair, lp: side } = route;
      const middle = Number(inputs.mid.num) / Number(inputs.mid.den);
      record({
        ...UNKNOWN,
        ...{ rfqId, atMs, pair, side, fixes: inputs.side },
        ...{ input: priced.input, output: priced.output, spreadBps: priced.lpSpreadBps },
        ...{ volumeMicros: priced.notional, earnedMicros: earnedMicros(priced), mid: middle },
        winProbability: priced.terms.winProbability,
      });
      markouts.watch({
        ...{ orderId: rfqId as `0x${string}`, acceptedAtMs: atMs, taker, pair, side },
        ...{ mid: middle, late: false },
      });
    },
    declined({ rfqId, side: fixes }: Pick<Rfq, 'rfqId' | 'side'>, route, decline, atMs) {
      if (requests.has(rfqId)) return;
      const [pair, side] = [route?.pairName ?? null, route?.lp ?? null];
      const control = decline.control ?? decline.code ?? null;
      record({ ...UNKNOWN, rfqId, atMs, pair, side, fixes, declined: decline.declined, control });
    },
  };

  async function write(): Promise<void> {
    const ids = [...unwritten].slice(0, WRITTEN_AT_ONCE);
    const rows = ids.flatMap((rfqId) => requests.peek(rfqId) ?? []);
    for (const rfqId of ids) unwritten.delete(rfqId);
    try {
      if (rows.length > 0) await store.put(rows);
      if (writes++ % KEEP_EVERY === 0) await store.keep(keep);
    } catch (error) {
      for (const { rfqId } of rows) if (requests.has(rfqId)) unwritten.add(rfqId);
      throw error;
    }
    if (unwritten.size > 0) await write();
  }

  /** One at a time. */
  function flush(): Promise<void> {
    const next = writing.then(write);
    writing = next.catch(() => {});
    return next;
  }

  function schedule(): void {
    cancel = clock.after(
      WRITE_EVERY_MS,
      () =>
        void flush()
          .catch((error: unknown) => log.warn({ error }, 'shadow quotes could not be stored yet'))
          .finally(() => stopped || schedule()),
    );
  }

  return {
    listener,
    accepted({ rfqId, inputAmount, outputAmount }) {
      change(rfqId, { acceptedInput: BigInt(inputAmount), acceptedOutput: BigInt(outputAmount) });
    },
    start: schedule,
    async stop() {
      stopped = true;
      cancel();
      markouts.stop();
      await flush().catch((error: unknown) =>
        log.error({ error }, 'the last shadow quotes could not be stored'),
      );
    },
    async report(window) {
      await flush();
      return shadowReport(await store.list(window, keep), window);
    },
  };
}

const UNKNOWN = {
  ...{ declined: null, control: null, input: null, output: null, spreadBps: null },
  ...{ volumeMicros: null, earnedMicros: null, winProbability: null, mid: null },
  ...{ acceptedInput: null, acceptedOutput: null, mark1: null, mark10: null, mark60: null },
} satisfies Partial<ShadowRequest>;

/** The spread is in output units, of which `gross` are worth `notional`. Rounded down. */
function earnedMicros({ spreadAmount, notional, gross }: Priced): bigint {
  return spreadAmount < 0n
    ? -mulDivUp(-spreadAmount, notional, gross)
    : mulDivDown(spreadAmount, notional, gross);
}
