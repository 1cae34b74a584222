/**
 * The last so many quotes with everything that made their prices, packed: numbers, amounts and ids in arrays
 * of bytes, and in one more what they refer to. An object for each would be cheap to make and dear to keep,
 * since the collector copies whatever outlives a moment; so nothing is kept as an object that a quote does
 * not share with others, and its terms are worked out again from its inputs.
 */

import { createBigintRows } from '../../domain/bigint-rows.ts';
import { isDecline } from '../../domain/decline.ts';
import { InvariantError } from '../../domain/errors.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import { createTexts, LONGEST } from '../../domain/texts.ts';
import type { Nearest } from '../../inventory/limits.ts';
import { price } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Evidence } from '../quoting/pricing-context.ts';
import type { QuoteRecord } from './quote-events.ts';
import { tagOf } from './tag.ts';

export interface KeptQuotes {
  add(record: QuoteRecord): void;
  /**
   * By order id, quote id or rfq id, newest first; copies, equal to what was added. Looks at a tag of each,
   * for it is asked whenever a quote is taken.
   */
  find(id: string): QuoteRecord[];
}

/* One row each. What is absent is NaN among the numbers, which no input of a quote can be, and undefined among the others. */

const NUMBERS = 24;
const AMOUNTS = 9;
const REFERENCES = 16;

const numberOf = (flag: boolean | undefined): number => (flag === undefined ? Number.NaN : flag ? 1 : 0);
const present = (value: number | undefined): number => value ?? Number.NaN;

export function createKeptQuotes(keep: number): KeptQuotes {
  const numbers = new Float64Array(keep * NUMBERS);
  const amounts = createBigintRows(keep * AMOUNTS);
  const references: unknown[] = Array.from({ length: keep * REFERENCES }, () => undefined);
  const orderIds = createTexts<Bytes32>(LONGEST.id);
  /** Where it is another than the order's. */
  const quoteIds = createTexts<Bytes32>(LONGEST.id);
  const rfqIds = createTexts<string>(LONGEST.rfqId);
  const takers = createTexts<Address>(LONGEST.account);
  const groups = createTexts<string>(LONGEST.group);
  /** Of order, quote and rfq id. */
  const tags = new Int32Array(keep * IDS);
  let next = 0;
  let kept = 0;

  function read(row: number): QuoteRecord {
    let n = row * NUMBERS;
    let a = row * AMOUNTS;
    let r = row * REFERENCES;
    const number = () => numbers[n++] as number;
    const maybe = () => nothingFor(number());
    const maybeAmount = () => amounts.get(a++);
    const amount = () => maybeAmount() as bigint;
    const reference = <T>() => references[r++] as T;
    const inputs: Named<QuoteRecord['inputs']> = {
      platformFeeBps: number(),
      baseDecimals: number(),
      quoteDecimals: number(),
      quoteValue: number(),
      confidenceBps: number(),
      sigma: number(),
      firmSeconds: number(),
      q: number(),
      lockSeconds: number(),
      adverseBps: maybe(),
      rebalanceBps: maybe(),
      walkedImpactBps: maybe(),
      splitHoldSeconds: maybe(),
      exploreBps: maybe(),
      noRebates: flag(maybe()),
      side: reference(),
      amount: amount(),
      relayFee: amount(),
      lp: reference(),
      mid: reference(),
      ownGas: amount(),
      freeOutput: maybeAmount(),
      hedgeBook: reference(),
      params: reference(),
      market: reference(),
      plugin: reference(),
      room: roomOf(maybe(), maybeAmount(), maybeAmount()),
      evidence: evidenceOf(maybe(), {
        mid: reference(),
        references: reference(),
        caution: reference(),
        origin: reference(),
        dest: reference(),
      }),
    };
    const known = withoutAbsent(inputs) as QuoteRecord['inputs'];
    const orderId = orderIds.get(row) as Bytes32;
    const ids = {
      orderId,
      quoteId: quoteIds.get(row) ?? orderId,
      rfqId: rfqIds.get(row),
      taker: takers.get(row),
      route: reference(),
    } as Pick<QuoteRecord, 'orderId' | 'quoteId' | 'rfqId' | 'taker' | 'route'>;
    const nearest = nearestOf(reference(), reference(), maybeAmount(), maybeAmount());
    const hold: QuoteRecord['hold'] = {
      amount: amount(),
      group: groups.get(row) as string,
      lapsesAt: number(),
    };
    const priced = reference<QuoteRecord['priced'] | undefined>() ?? pricedAgain(known);
    return {
      ...ids,
      nearest,
      hold,
      inputs: known,
      priced,
      atMs: number(),
      times: { validUntil: number(), fillDeadline: number(), expires: number() },
      slice: flag(number()) === true,
      liveQuotes: maybe(),
    };
  }

  return {
    add({
      orderId,
      quoteId,
      rfqId,
      atMs,
      taker,
      route,
      times,
      inputs,
      priced,
      hold,
      slice,
      nearest,
      liveQuotes,
    }) {
      let n = next * NUMBERS;
      let a = next * AMOUNTS;
      let r = next * REFERENCES;
      numbers[n++] = inputs.platformFeeBps;
      numbers[n++] = inputs.baseDecimals;
      numbers[n++] = inputs.quoteDecimals;
      numbers[n++] = inputs.quoteValue;
      numbers[n++] = inputs.confidenceBps;
      numbers[n++] = inputs.sigma;
      numbers[n++] = inputs.firmSeconds;
      numbers[n++] = inputs.q;
      numbers[n++] = inputs.lockSeconds;
      numbers[n++] = present(inputs.adverseBps);
      numbers[n++] = present(inputs.rebalanceBps);
      numbers[n++] = present(inputs.walkedImpactBps);
      numbers[n++] = present(inputs.splitHoldSeconds);
      numbers[n++] = present(inputs.exploreBps);
      numbers[n++] = numberOf(inputs.noRebates);
      references[r++] = inputs.side;
      amounts.set(a++, inputs.amount);
      amounts.set(a++, inputs.relayFee);
      references[r++] = inputs.lp;
      references[r++] = inputs.mid;
      amounts.set(a++, inputs.ownGas);
      amounts.set(a++, inputs.freeOutput);
      references[r++] = inputs.hedgeBook;
      references[r++] = inputs.params;
      references[r++] = inputs.market;
      references[r++] = inputs.plugin;
      amounts.set(a++, inputs.room?.input);
      amounts.set(a++, inputs.room?.output);
      numbers[n++] = inputs.room === undefined ? Number.NaN : 1;
      const evidence = inputs.evidence;
      references[r++] = evidence?.mid;
      references[r++] = evidence?.references;
      references[r++] = evidence?.caution;
      references[r++] = evidence?.origin;
      references[r++] = evidence?.dest;
      numbers[n++] = present(evidence?.atMs);
      tags[next * IDS] = tagOf(orderId);
      tags[next * IDS + 1] = quoteId === orderId ? (tags[next * IDS] as number) : tagOf(quoteId);
      tags[next * IDS + 2] = tagOf(rfqId);
      orderIds.set(next, orderId);
      quoteIds.set(next, quoteId === orderId ? undefined : quoteId);
      rfqIds.set(next, rfqId);
      takers.set(next, taker);
      groups.set(next, hold.group);
      references[r++] = route;
      references[r++] = nearest?.scope;
      references[r++] = nearest?.what;
      amounts.set(a++, nearest?.used);
      amounts.set(a++, nearest?.cap);
      amounts.set(a, hold.amount);
      numbers[n++] = hold.lapsesAt;
      // A plug-in may answer otherwise when it is asked again.
      references[r++] = inputs.plugin === undefined ? undefined : priced;
      numbers[n++] = atMs;
      numbers[n++] = times.validUntil;
      numbers[n++] = times.fillDeadline;
      numbers[n++] = times.expires;
      numbers[n++] = numberOf(slice);
      numbers[n] = present(liveQuotes);
      next = next + 1 === keep ? 0 : next + 1;
      if (kept < keep) kept += 1;
    },
    find(id) {
      const found: QuoteRecord[] = [];
      const tag = tagOf(id);
      for (let row = next - 1, left = kept; left > 0; left -= 1, row -= 1) {
        if (row < 0) row = keep - 1;
        const tagged = row * IDS;
        if (tags[tagged] !== tag && tags[tagged + 1] !== tag && tags[tagged + 2] !== tag) continue;
        if (orderIds.is(row, id) || quoteIds.is(row, id) || rfqIds.is(row, id)) found.push(read(row));
      }
      return found;
    },
  };
}

const IDS = 3;

/** Nothing that a price is made of can be forgotten: every part has to be named. */
type Named<T> = { [K in keyof T]-?: T[K] | undefined };

const roomOf = (
  there: number | undefined,
  input: bigint | undefined,
  output: bigint | undefined,
): PriceInputs['room'] =>
  there === undefined
    ? undefined
    : { ...(input !== undefined && { input }), ...(output !== undefined && { output }) };
const nearestOf = (
  scope: Nearest['scope'] | undefined,
  what: Nearest['what'],
  used: bigint | undefined,
  cap: bigint | undefined,
): Nearest | undefined =>
  scope === undefined ? undefined : { scope, what, used: used as bigint, cap: cap as bigint };
const evidenceOf = (atMs: number | undefined, seen: Omit<Evidence, 'atMs'>): Evidence | undefined =>
  atMs === undefined ? undefined : { atMs, ...seen };
const nothingFor = (value: number): number | undefined => (Number.isNaN(value) ? undefined : value);
const flag = (value: number | undefined): boolean | undefined =>
  value === undefined ? undefined : value === 1;
const withoutAbsent = (record: object): object =>
  Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));

/** The same inputs give the same price, to the unit. */
function pricedAgain(inputs: PriceInputs): QuoteRecord['priced'] {
  const priced = price(inputs);
  if (isDecline(priced))
    throw new InvariantError('A quote whose inputs give no price any more.', {
      facts: { declined: priced.declined },
    });
  return priced;
}
