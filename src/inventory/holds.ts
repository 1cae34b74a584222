/**
 * Promises that nobody has taken, which is what nearly all of them are for all their life: a row of numbers
 * each, in typed arrays that a collector of memory does not look into. As objects, a hundred thousand of them
 * made it stop quotes for longer than everything else together. What is taken, disputed or too wide for a row
 * is an `Entry` (`group.ts`), and keeps its row's number.
 *
 * Rows of one nonce are a chain. They are of one lane and one taker, and what they put on the books is worked
 * out from them whenever it is needed: at most one of them can ever execute, so the books owe the largest.
 */

import { IN_PAGE, PAGE_BITS, PAGE_ROWS } from '../domain/page.ts';
import { createTexts, LONGEST } from '../domain/texts.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Bucket } from './bucket.ts';
import type { Way } from './counters.ts';
import type { HoldRequest, Side } from './event.ts';
import { type Clock, leads, quotedIn, quotedOut } from './group.ts';
import { type Facts, NO_FACTS } from './promise.ts';

/** Where a promise counts. */
export interface Place {
  readonly out: Bucket;
  readonly in: Bucket;
  readonly clock: Clock;
  readonly way: Way;
}

/** What promises from one place to another on one pair share. */
export interface Lane extends Place {
  /** Its number. */
  readonly at: number;
  readonly pair: string;
  readonly side: Side;
}

/** What is known of a promise that nobody has taken: bits, 0 while it is merely held. */
export const LAPSED = 1;
export const RELEASED = 2;
/** It is an object, or nothing at all. */
const NOT_HERE = 255;

/** The same as facts, by bits. */
const FACTS: readonly Facts[] = [0, LAPSED, RELEASED, LAPSED | RELEASED].map((bits) => ({
  ...NO_FACTS,
  lapsed: (bits & LAPSED) !== 0,
  released: (bits & RELEASED) !== 0,
}));
export const factsOf = (bits: number): Facts => FACTS[bits] as Facts;

/** undefined: more is known than bits can say. */
export function bitsOf({
  accepted,
  restored,
  lapsed,
  released,
  failed,
  overdue,
  fills,
  finals,
  finalised,
  undone,
}: Facts): number | undefined {
  if (
    accepted ||
    restored ||
    failed ||
    overdue ||
    fills.length + finals.length + finalised.length + undone.length > 0
  )
    return undefined;
  return (lapsed ? LAPSED : 0) | (released ? RELEASED : 0);
}

/** What a chain puts on the books: exposure in atto, the rest as in a request. */
export interface Sum {
  live: number;
  /** The largest. */
  amount: bigint;
  notional: bigint;
  gapLoss: bigint;
  /** Of the one that speaks for them. */
  quotedOut: bigint;
  quotedIn: bigint;
}

export interface Holds {
  /** The lane of a promise; the same for good. */
  laneOf(place: Place, pair: string, side: Side): Lane;
  /** A row for a promise, not in a chain yet. */
  add(request: HoldRequest, lane: Lane, bits: number): number;
  /** A row's number for what is an object. */
  reserve(): number;
  /** Is it here: neither an object, nor free? */
  has(row: number): boolean;
  /** It is an object from here on. */
  handOver(row: number): void;
  free(row: number): void;

  append(first: number, row: number): void;
  /** What is left of a chain is another, whose first row is told; -1: nothing is left. */
  unlink(first: number, row: number): number;
  rowsOf(first: number): number[];
  /** undefined: none of them is live, so they put nothing on the books. */
  sumOf(first: number): Sum | undefined;

  lane(row: number): Lane;
  orderId(row: number): string;
  group(row: number): string;
  taker(row: number): string;
  amount(row: number): bigint;
  lapsesAt(row: number): UnixSeconds;
  bits(row: number): number;
  mark(row: number, bits: number): void;
  forgetAt(row: number): UnixSeconds;
  setForgetAt(row: number, at: UnixSeconds): void;
  /** As it was asked for, with what it left to defaults. */
  request(row: number): HoldRequest;
}

/** Output, low and high; input, low and high; notional; loss by a jump. */
const WORDS = 6;
/** Last second; when it is forgotten. */
const TIMES = 2;
/** Lane; next of its nonce + 1; chance to be taken. */
const LINKS = 3;

interface Page {
  words: BigUint64Array;
  times: Float64Array;
  links: Int32Array;
  bits: Uint8Array;
}

const WORD = 64n;
const WIDEST = 2n ** 128n;
const WIDEST_WORD = 2n ** 64n;
const highOf = (amount: bigint): bigint => (amount < WIDEST_WORD ? 0n : amount >> WORD);
const within = (amount: bigint, bound: bigint): boolean => amount >= 0n && amount < bound;

/** Has a row room for it? Anything that a market trades, and not everything that a token could be. */
export function fitsRow({
  amount,
  input,
  notional,
  gapLoss = 0n,
  lapsesAt,
  fillProbabilityBps = 0,
}: HoldRequest): boolean {
  return (
    within(amount, WIDEST) &&
    within(input.amount, WIDEST) &&
    within(notional, WIDEST_WORD) &&
    within(gapLoss, WIDEST_WORD) &&
    Number.isFinite(lapsesAt) &&
    fillProbabilityBps === (fillProbabilityBps | 0)
  );
}

export function createHolds(): Holds {
  const pages: Page[] = [];
  const ids = createTexts<string>(LONGEST.id);
  const groups = createTexts<string>(LONGEST.group);
  const takers = createTexts<string>(LONGEST.account);
  const lanes: Lane[] = [];
  const lanesOf = new Map<Way, Lane[]>();
  let rows = 0;
  /** Free rows form a list through their links. */
  let freeRow = -1;

  const pageOf = (row: number): Page => pages[row >>> PAGE_BITS] as Page;
  const bits = (row: number): number => pageOf(row).bits[row & IN_PAGE] as number;
  const mark = (row: number, as: number): void => void (pageOf(row).bits[row & IN_PAGE] = as);
  const next = (row: number): number => (pageOf(row).links[LINKS * (row & IN_PAGE) + 1] as number) - 1;
  const link = (row: number, to: number): void =>
    void (pageOf(row).links[LINKS * (row & IN_PAGE) + 1] = to + 1);
  const lane = (row: number): Lane => lanes[pageOf(row).links[LINKS * (row & IN_PAGE)] as number] as Lane;
  const chance = (row: number): number => pageOf(row).links[LINKS * (row & IN_PAGE) + 2] as number;
  const word = (row: number, at: number): bigint => pageOf(row).words[WORDS * (row & IN_PAGE) + at] as bigint;
  function wide(row: number, at: number): bigint {
    const high = word(row, at + 1);
    return high === 0n ? word(row, at) : (high << WORD) | word(row, at);
  }
  const amount = (row: number): bigint => wide(row, 0);
  const inputAmount = (row: number): bigint => wide(row, 2);
  const notional = (row: number): bigint => word(row, 4);
  const gapLoss = (row: number): bigint => word(row, 5);
  const orderId = (row: number): string => ids.get(row) as string;

  function reserve(): number {
    const row = freeRow;
    if (row !== -1) {
      freeRow = next(row);
      return row;
    }
    if ((rows & IN_PAGE) === 0) {
      pages.push({
        words: new BigUint64Array(WORDS * PAGE_ROWS),
        times: new Float64Array(TIMES * PAGE_ROWS),
        links: new Int32Array(LINKS * PAGE_ROWS),
        bits: new Uint8Array(PAGE_ROWS).fill(NOT_HERE),
      });
    }
    rows += 1;
    return rows - 1;
  }

  function handOver(row: number): void {
    mark(row, NOT_HERE);
    ids.set(row, undefined);
    groups.set(row, undefined);
    takers.set(row, undefined);
  }

  function last(first: number): number {
    let row = first;
    for (let after = next(row); after !== -1; after = next(row)) row = after;
    return row;
  }

  return {
    laneOf({ out, in: into, clock, way }, pair, side) {
      const known = lanesOf.get(way);
      const found = known?.find((each) => each.out === out && each.in === into && each.clock === clock);
      if (found !== undefined) return found;
      const made: Lane = { at: lanes.length, out, in: into, clock, pair, side, way };
      lanes.push(made);
      if (known === undefined) lanesOf.set(way, [made]);
      else known.push(made);
      return made;
    },
    add(request, { at }, as) {
      const row = reserve();
      const { words, times, links } = pageOf(row);
      const place = row & IN_PAGE;
      const w = WORDS * place;
      // A store keeps the low 64 bits.
      words[w] = request.amount;
      words[w + 1] = highOf(request.amount);
      words[w + 2] = request.input.amount;
      words[w + 3] = highOf(request.input.amount);
      words[w + 4] = request.notional;
      words[w + 5] = request.gapLoss ?? 0n;
      times[TIMES * place] = request.lapsesAt;
      times[TIMES * place + 1] = 0;
      links[LINKS * place] = at;
      links[LINKS * place + 1] = 0;
      links[LINKS * place + 2] = request.fillProbabilityBps ?? 10_000;
      ids.set(row, request.orderId);
      groups.set(row, request.group);
      takers.set(row, request.taker);
      mark(row, as);
      return row;
    },
    reserve,
    has: (row) => row < rows && bits(row) !== NOT_HERE,
    handOver,
    free(row) {
      handOver(row);
      link(row, freeRow);
      freeRow = row;
    },
    append: (first, row) => link(last(first), row),
    unlink(first, row) {
      if (first === row) return next(row);
      let before = first;
      while (next(before) !== row) before = next(before);
      link(before, next(row));
      return first;
    },
    rowsOf(first) {
      const found: number[] = [];
      for (let row = first; row !== -1; row = next(row)) found.push(row);
      return found;
    },
    sumOf(first) {
      let live = 0;
      let lead = -1;
      let most = 0n;
      let mostNotional = 0n;
      let mostLoss = 0n;
      for (let row = first; row !== -1; row = next(row)) {
        if (bits(row) !== 0) continue;
        live += 1;
        const [its, itsNotional, itsLoss] = [amount(row), notional(row), gapLoss(row)];
        if (
          lead === -1 ||
          leads(itsNotional, chance(row), orderId(row), mostNotional, chance(lead), orderId(lead))
        )
          lead = row;
        if (its > most) most = its;
        if (itsNotional > mostNotional) mostNotional = itsNotional;
        if (itsLoss > mostLoss) mostLoss = itsLoss;
      }
      if (lead === -1) return undefined;
      const { out, in: into } = lane(lead);
      return {
        live,
        amount: most,
        notional: mostNotional,
        gapLoss: mostLoss,
        quotedOut: quotedOut(amount(lead), out, chance(lead)),
        quotedIn: quotedIn(inputAmount(lead), into, chance(lead)),
      };
    },
    lane,
    orderId,
    group: (row) => groups.get(row) as string,
    taker: (row) => takers.get(row) as string,
    amount,
    lapsesAt: (row) => pageOf(row).times[TIMES * (row & IN_PAGE)] as number,
    bits,
    mark,
    forgetAt: (row) => pageOf(row).times[TIMES * (row & IN_PAGE) + 1] as number,
    setForgetAt: (row, at) => void (pageOf(row).times[TIMES * (row & IN_PAGE) + 1] = at),
    request(row) {
      const { out, in: into, clock, pair, side } = lane(row);
      return {
        orderId: orderId(row),
        chainId: out.chainId,
        token: out.token,
        amount: amount(row),
        input: { chainId: into.chainId, token: into.token, amount: inputAmount(row) },
        group: groups.get(row) as string,
        lapsesAt: pageOf(row).times[TIMES * (row & IN_PAGE)] as number,
        clockChainId: clock.chainId,
        taker: takers.get(row) as string,
        pair,
        side,
        notional: notional(row),
        gapLoss: gapLoss(row),
        fillProbabilityBps: chance(row),
      };
    },
  };
}
