/** What we know of each taker's way of asking and taking. Bounded: of many takers those heard of last are remembered. */

import type { Bytes32 } from '../domain/hex.ts';
import { createBoundedMap } from '../domain/bounded.ts';
import { createTextTable } from '../domain/text-table.ts';
import { createQueue } from '../domain/queue.ts';
import type { UnixSeconds } from '../domain/time.ts';
import { accepted, type Conduct, faded, quoted, type Suspicion, suspicion, tradedElsewhere, UNKNOWN } from '../risk/conduct.ts';
import { fullBucket, take, type Tokens } from '../risk/rate.ts';
import type { OpenAward } from './award.ts';
import type { QuoteRecord } from './moments.ts';
import type { LpRisk } from './risk-config.ts';

export interface ConductBook {
  /** Counts a request. On the hot path: one lookup. */
  asked(taker: string, nowMs: number): Suspicion | 'too_often';
  quoted(record: Pick<QuoteRecord, 'quoteId' | 'rfqId' | 'atMs' | 'taker' | 'times'>): void;
  /** `markBps`: what the trade was worth to us at mid at that moment. */
  accepted(award: Pick<OpenAward, 'quoteId' | 'order'>, markBps: number, nowMs: number): void;
  /** Another quote of the same request was taken, on chain. */
  elsewhere(quoteIds: readonly Bytes32[], nowMs: number): void;
  /** Those under suspicion, the worst first; of very many some. */
  suspects(nowMs: number): { taker: string; step: Suspicion; quotes: number; liveSeconds: number; accepts: number }[];
}

interface Known {
  tokens: Tokens;
  conduct: Conduct;
  suspicion: Suspicion;
}

/** A quote; the first that a request got also speaks for the request. */
interface Open {
  quoteId: Bytes32;
  atMs: number;
  until: UnixSeconds;
  /** undefined: this is it. */
  first: Open | undefined;

  /* Of a first one: its request, whatever the number of answers. */
  rfqId: string;
  taker: string;
  /** The longest option that it got. */
  seconds: number;
  /** Taken, here or elsewhere: nothing more is learnt from it. */
  over: boolean;
}

/** How long after its end a quote is remembered: an award may come a little later than the acceptance. */
const LINGER_MS = 60_000;
const MOST_OPEN = 200_000;
/** More than a quote adds, so that quotes alone keep up; and no more, so that none waits for a crowd. */
const MOST_AT_ONCE = 4;
const MOST_SUSPECTS = 100;

export function createConductBook(rule: () => Pick<LpRisk, 'freeOption' | 'rate' | 'takers'>): ConductBook {
  const suspected = new Set<string>();
  const takers = createBoundedMap<string, Known>({ most: () => rule().takers, forgot: (taker) => suspected.delete(taker) });
  const open = createTextTable<string, Open>();
  /** In order of asking, so nearly in order of ending. */
  const queue = createQueue<Open>();
  let last: Open | undefined;

  /** Heard of last: a request and the quotes it gets look for its taker once. */
  let newest: { taker: string; one: Known } | undefined;

  /** Who was heard of longest ago is forgotten first. */
  function known(taker: string, nowMs: number): Known {
    if (newest?.taker === taker) return newest.one;
    const found = takers.use(taker);
    const one = found ?? { tokens: fullBucket(rule().rate, nowMs), conduct: { ...UNKNOWN, atMs: nowMs }, suspicion: 0 as Suspicion };
    if (found === undefined) takers.set(taker, one);
    newest = { taker, one };
    return one;
  }

  function learn(taker: string, nowMs: number, lesson: (conduct: Conduct) => Conduct): void {
    const { freeOption } = rule();
    const one = known(taker, nowMs);
    one.conduct = lesson(faded(one.conduct, nowMs, freeOption));
    judge(taker, one);
  }

  function judge(taker: string, one: Known): Suspicion {
    const step = suspicion(one.conduct, rule().freeOption);
    if (step !== one.suspicion) {
      if (step === 0) suspected.delete(taker);
      else suspected.add(taker);
      one.suspicion = step;
    }
    return step;
  }

  /** Nothing is learnt by waiting, but it fades. */
  function waited(taker: string, one: Known, nowMs: number): Suspicion {
    one.conduct = faded(one.conduct, nowMs, rule().freeOption);
    return judge(taker, one);
  }

  function prune(nowMs: number): void {
    for (let left = MOST_AT_ONCE; left > 0; left -= 1) {
      const first = queue.first();
      if (first === undefined || (first.until * 1000 + LINGER_MS > nowMs && queue.size <= MOST_OPEN)) return;
      queue.take();
      if (open.get(first.quoteId) === first) open.delete(first.quoteId);
    }
  }

  return {
    asked(taker, nowMs) {
      const one = known(taker, nowMs);
      if (!take(one.tokens, nowMs, rule().rate)) return 'too_often';
      return one.suspicion === 0 ? 0 : waited(taker, one, nowMs);
    },
    quoted({ quoteId, rfqId, atMs, taker, times }) {
      prune(atMs);
      const seconds = Math.max(0, times.validUntil - atMs / 1000);
      const again = last?.rfqId === rfqId && last.taker === taker ? last : undefined;
      const one: Open = { quoteId, atMs, until: times.validUntil, first: again, rfqId, taker, seconds, over: false };
      open.set(quoteId, one);
      queue.push(one);
      const more = again === undefined ? seconds : Math.max(0, seconds - again.seconds);
      if (again === undefined) last = one;
      else again.seconds += more;
      learn(taker, atMs, (conduct) => quoted(conduct, more, again === undefined ? 1 : 0));
    },
    accepted({ quoteId, order }, markBps, nowMs) {
      const found = open.get(quoteId);
      if (found === undefined) {
        // Seen on a chain only, or quoted before a restart: it was taken, and that is all we know.
        learn(order.user, nowMs, (conduct) => accepted(conduct, { share: 0.5, markBps: 0, unused: 0 }));
        return;
      }
      const { first: asked = found, atMs, until } = found;
      const untilMs = until * 1000;
      asked.over = true;
      open.delete(quoteId);
      const share = untilMs > atMs ? Math.min(1, Math.max(0, (nowMs - atMs) / (untilMs - atMs))) : 1;
      learn(asked.taker, nowMs, (conduct) => accepted(conduct, { share, markBps, unused: asked.seconds * (1 - share) }));
    },
    elsewhere(quoteIds, nowMs) {
      for (const quoteId of quoteIds) {
        const found = open.get(quoteId);
        if (found === undefined) continue;
        open.delete(quoteId);
        const asked = found.first ?? found;
        if (asked.over) continue;
        asked.over = true;
        learn(asked.taker, nowMs, (conduct) => tradedElsewhere(conduct, asked.seconds));
      }
    },
    suspects: (nowMs) =>
      [...suspected]
        .slice(0, MOST_SUSPECTS)
        .flatMap((taker) => {
          const one = takers.get(taker);
          const step = one === undefined ? 0 : waited(taker, one, nowMs);
          return one === undefined || step === 0 ? [] : [{ taker, step, quotes: one.conduct.quotes, liveSeconds: one.conduct.liveSeconds, accepts: one.conduct.accepts }];
        })
        .sort((a, b) => b.step - a.step || b.liveSeconds - a.liveSeconds),
  };
}
