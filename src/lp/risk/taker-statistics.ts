/**
 * What we know of each taker's way of asking and taking. Bounded: of many takers those heard of last are
 * remembered.
 */

import type { Bytes32 } from '../../domain/hex.ts';
import { createBoundedMap } from '../../domain/bounded.ts';
import { createIdRing } from '../../domain/id-ring.ts';
import { createNumberRows } from '../../domain/number-rows.ts';
import { createTexts, LONGEST } from '../../domain/texts.ts';
import {
  accepted,
  type Conduct,
  faded,
  quoted,
  type Suspicion,
  suspicion,
  tradedElsewhere,
  UNKNOWN,
} from '../../risk/conduct.ts';
import { fullBucket, takeToken, type Tokens } from '../../risk/rate.ts';
import type { OpenAward } from '../settlement/awards.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import type { LpRisk } from '../config/risk-config.ts';

export interface ConductBook {
  /** Counts a request. On the hot path: one lookup. */
  asked(taker: string, nowMs: number): Suspicion | 'too_often';
  quoted(record: Pick<QuoteRecord, 'quoteId' | 'rfqId' | 'atMs' | 'taker' | 'times'>): void;
  /** `markBps`: what the trade was worth to us at mid at that moment. */
  accepted(award: Pick<OpenAward, 'quoteId' | 'order'>, markBps: number, nowMs: number): void;
  /** Another quote of the same request was taken, on chain. */
  elsewhere(quoteIds: readonly Bytes32[], nowMs: number): void;
  /** Those under suspicion, the worst first; of very many some. */
  suspects(
    nowMs: number,
  ): { taker: string; step: Suspicion; quotes: number; liveSeconds: number; accepts: number }[];
}

/** What is known of a taker, a row each: its rate, its conduct, its suspicion. */
const TOKENS_LEFT = 0;
const TOKENS_AT = 1;
const CONDUCT = [
  'atMs',
  'quotes',
  'liveSeconds',
  'accepts',
  'lateness',
  'markBps',
] as const satisfies (keyof Conduct)[];
const FIRST_OF_CONDUCT = 2;
const SUSPICION = FIRST_OF_CONDUCT + CONDUCT.length;

/** How long after its end a quote is remembered: an award may come a little later than the acceptance. */
const LINGER_MS = 60_000;
const MOST_OPEN = 200_000;
/**
 * Those forgotten last can still be read: the first answer to a request speaks for the later ones, and may go
 * before them.
 */
const ROWS = MOST_OPEN + 64;
const GONE = 1;
const OVER = 2;
/** More than a quote adds, so that quotes alone keep up; and no more, so that none waits for a crowd. */
const MOST_AT_ONCE = 4;
const MOST_SUSPECTS = 100;

export function createConductBook(rule: () => Pick<LpRisk, 'freeOption' | 'rate' | 'takers'>): ConductBook {
  const suspected = new Set<string>();
  const rows = createNumberRows(SUSPICION + 1);
  const takers = createBoundedMap<string, number>({
    most: () => rule().takers,
    forgot(taker, row) {
      suspected.delete(taker);
      if (newest?.row === row) newest = undefined;
      rows.free(row);
    },
  });

  /**
   * In order of asking, so nearly in order of ending. Nothing else is made for a quote: it is looked for only
   * when one is taken.
   */
  const quotes = createIdRing(ROWS);
  const takerAt = createTexts<string>(LONGEST.account);
  const askedAtMs = new Float64Array(ROWS);
  const untilSeconds = new Float64Array(ROWS);
  /** Number of the first quote that the same request got, which speaks for the request. */
  const firsts = new Float64Array(ROWS);
  /** Of a first one: the longest option that the request got, seconds. */
  const longest = new Float64Array(ROWS);
  /**
   * GONE: no more to be found. Of a first one OVER: taken, here or elsewhere; nothing more is learnt from it.
   */
  const marks = new Uint8Array(ROWS);
  let last: { rfqId: string; taker: string; number: number } | undefined;

  /** The row of a quote, and the row that speaks for its request. */
  function find(quoteId: string): { row: number; asked: number } | undefined {
    const number = quotes.find(quoteId);
    const row = quotes.rowOf(number);
    if (number === -1 || ((marks[row] as number) & GONE) !== 0) return undefined;
    const first = firsts[row] as number;
    // A first one may be forgotten before the others, and can still be read; unless very many came after it
    // to the same request.
    return { row, asked: quotes.next - first <= ROWS ? quotes.rowOf(first) : row };
  }

  const mark = (row: number, as: number): void => void (marks[row] = (marks[row] as number) | as);

  /** Heard of last: a request and the quotes it gets look for its taker once. */
  let newest: { taker: string; row: number } | undefined;

  /** Who was heard of longest ago is forgotten first. */
  function known(taker: string, nowMs: number): number {
    if (newest?.taker === taker) return newest.row;
    const found = takers.use(taker);
    const row = found ?? rows.take();
    newest = { taker, row };
    if (found === undefined) {
      setTokens(row, fullBucket(rule().rate, nowMs));
      setConduct(row, { ...UNKNOWN, atMs: nowMs });
      takers.set(taker, row);
    }
    return row;
  }

  function setTokens(row: number, { left, atMs }: Tokens): void {
    rows.set(row, TOKENS_LEFT, left);
    rows.set(row, TOKENS_AT, atMs);
  }

  function conductOf(row: number): Conduct {
    const field = (at: number) => rows.get(row, FIRST_OF_CONDUCT + at);
    return {
      atMs: field(0),
      quotes: field(1),
      liveSeconds: field(2),
      accepts: field(3),
      lateness: field(4),
      markBps: field(5),
    };
  }

  function setConduct(row: number, conduct: Conduct): void {
    for (let at = 0; at < CONDUCT.length; at += 1)
      rows.set(row, FIRST_OF_CONDUCT + at, conduct[CONDUCT[at] as keyof Conduct]);
  }

  function learn(taker: string, nowMs: number, lesson: (conduct: Conduct) => Conduct): void {
    const row = known(taker, nowMs);
    judge(taker, row, lesson(faded(conductOf(row), nowMs, rule().freeOption)));
  }

  function judge(taker: string, row: number, conduct: Conduct): Suspicion {
    setConduct(row, conduct);
    const step = suspicion(conduct, rule().freeOption);
    if (step !== rows.get(row, SUSPICION)) {
      if (step === 0) suspected.delete(taker);
      else suspected.add(taker);
      rows.set(row, SUSPICION, step);
    }
    return step;
  }

  /** Nothing is learnt by waiting, but it fades. */
  const waited = (taker: string, row: number, nowMs: number): Suspicion =>
    judge(taker, row, faded(conductOf(row), nowMs, rule().freeOption));

  function prune(nowMs: number): void {
    for (let left = MOST_AT_ONCE; left > 0 && quotes.oldest < quotes.next; left -= 1) {
      const row = quotes.rowOf(quotes.oldest);
      if (
        (untilSeconds[row] as number) * 1000 + LINGER_MS > nowMs &&
        quotes.next - quotes.oldest <= MOST_OPEN
      )
        return;
      takerAt.set(row, undefined);
      quotes.dropOldest();
    }
  }

  return {
    asked(taker, nowMs) {
      const row = known(taker, nowMs);
      const tokens = { left: rows.get(row, TOKENS_LEFT), atMs: rows.get(row, TOKENS_AT) };
      const took = takeToken(tokens, nowMs, rule().rate);
      setTokens(row, tokens);
      if (!took) return 'too_often';
      return rows.get(row, SUSPICION) === 0 ? 0 : waited(taker, row, nowMs);
    },
    quoted({ quoteId, rfqId, atMs, taker, times }) {
      prune(atMs);
      const seconds = Math.max(0, times.validUntil - atMs / 1000);
      const number = quotes.add(quoteId);
      const row = quotes.rowOf(number);
      const again = last?.rfqId === rfqId && last.taker === taker ? quotes.rowOf(last.number) : undefined;
      if (again === undefined) last = { rfqId, taker, number };
      takerAt.set(row, taker);
      askedAtMs[row] = atMs;
      untilSeconds[row] = times.validUntil;
      firsts[row] = last?.number ?? number;
      longest[row] = seconds;
      marks[row] = 0;
      const more = again === undefined ? seconds : Math.max(0, seconds - (longest[again] as number));
      if (again !== undefined) longest[again] = (longest[again] as number) + more;
      learn(taker, atMs, (conduct) => quoted(conduct, more, again === undefined ? 1 : 0));
    },
    accepted({ quoteId, order }, markBps, nowMs) {
      const found = find(quoteId);
      if (found === undefined) {
        // Seen on a chain only, or quoted before a restart: it was taken, and that is all we know.
        learn(order.user, nowMs, (conduct) => accepted(conduct, { share: 0.5, markBps: 0, unused: 0 }));
        return;
      }
      const { row, asked } = found;
      const [atMs, untilMs] = [askedAtMs[row] as number, (untilSeconds[row] as number) * 1000];
      mark(row, GONE);
      mark(asked, OVER);
      const share = untilMs > atMs ? Math.min(1, Math.max(0, (nowMs - atMs) / (untilMs - atMs))) : 1;
      learn(takerAt.get(row) ?? order.user, nowMs, (conduct) =>
        accepted(conduct, { share, markBps, unused: (longest[asked] as number) * (1 - share) }),
      );
    },
    elsewhere(quoteIds, nowMs) {
      for (const quoteId of quoteIds) {
        const found = find(quoteId);
        if (found === undefined) continue;
        const { row, asked } = found;
        const over = ((marks[asked] as number) & OVER) !== 0;
        const taker = takerAt.get(row);
        mark(row, GONE);
        mark(asked, OVER);
        if (!over && taker !== undefined)
          learn(taker, nowMs, (conduct) => tradedElsewhere(conduct, longest[asked] as number));
      }
    },
    suspects: (nowMs) =>
      [...suspected]
        .slice(0, MOST_SUSPECTS)
        .flatMap((taker) => {
          const row = takers.get(taker);
          const step = row === undefined ? 0 : waited(taker, row, nowMs);
          if (row === undefined || step === 0) return [];
          const { quotes: asked, liveSeconds, accepts } = conductOf(row);
          return [{ taker, step, quotes: asked, liveSeconds, accepts }];
        })
        .sort((a, b) => b.step - a.step || b.liveSeconds - a.liveSeconds),
  };
}
