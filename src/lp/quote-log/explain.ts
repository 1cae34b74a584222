/** Explains a price term by term, in bps and in output base units. Terms sum exactly to mid less quote. */

import { formatUnits } from '../../domain/amount.ts';
import type { Decline } from '../../domain/decline.ts';
import { corridorOf } from '../../domain/corridor.ts';
import type { Chain, TokenInfo } from '../../domain/chain.ts';
import type { Mid } from '../../pricing/mid.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { ChainSight } from '../routes/chain-state.ts';
import { adjustmentNotes, capOf, gatesOf } from './explained-limits.ts';
import { bpsOf, labelOf, linesOf } from './price-lines.ts';
import type { PricingEvidence } from './pricing-evidence.ts';
import type { QuoteRecord } from './quote-events.ts';
import type { QuoteRoute } from '../routes/route.ts';

export interface DeclineRecord {
  rfq: DeclinedRfq;
  route: QuoteRoute | undefined;
  decline: Decline;
  atMs: number;
  /** The inputs of the price, when the request came so far. */
  inputs?: PriceInputs | undefined;
}

type DeclinedRfq = Pick<Rfq, 'rfqId' | 'taker' | 'side' | 'amount' | 'input' | 'output'>;

interface ExplainedAmount {
  base: string;
  units: string;
}

/** One reason for a part of the price. Positive is worse for the taker. */
interface ExplainedTerm {
  name: string;
  label: string;
  bps: number;
  amount: ExplainedAmount;
}

export type ExplainedQuote = ReturnType<typeof explainQuote>;
export type ExplainedDecline = ReturnType<typeof explainDecline>;
export type Explanation = ExplainedQuote | ExplainedDecline;

export function explainQuote(record: QuoteRecord) {
  const made = quoteParts(record);
  return { ...made, summary: quoteSentence(made) };
}

function quoteParts(record: QuoteRecord) {
  const { quoteId, orderId, rfqId, atMs, slice, taker, route, priced, inputs, times, hold } = record;
  const { inputToken, outputToken } = route;
  const out = (amount: bigint): ExplainedAmount => amountOf(amount, outputToken);
  const terms = linesOf(priced).map(({ name, bps, amount }) => ({
    name,
    label: labelOf(name),
    bps,
    amount: out(amount),
  }));
  const between = priced.gross - priced.output;
  const mid = Number(inputs.mid.num) / Number(inputs.mid.den);
  const evidence = inputs.evidence;
  return {
    kind: 'quote' as const,
    quoteId,
    orderId,
    rfqId,
    atMs,
    slice,
    request: {
      taker,
      pair: route.pairName,
      corridor: corridorOf(route.origin, route.dest),
      lp: route.lp,
      side: inputs.side,
      input: {
        token: inputToken.symbol,
        chain: route.origin.slug,
        amount: amountOf(priced.input, inputToken),
      },
      output: { token: outputToken.symbol, chain: route.dest.slug, amount: out(priced.output) },
    },
    price: {
      mid,
      allInBps: priced.terms.D,
      spreadBps: Number(priced.spread) / 1e4,
      gross: out(priced.gross),
      received: amountOf(priced.received, inputToken),
      notionalUsd: formatUnits(priced.notional, 6),
      winProbability: priced.terms.winProbability,
      optionCostBps: priced.terms.optionCost,
      jumpCostBps: priced.terms.jumpCost,
      deviationBps: priced.terms.deviation,
    },
    terms,
    difference: { bps: bpsOf(between, priced.gross), amount: out(between) },
    inputs: {
      mid: {
        ageMs: evidence === undefined ? null : ageOf(evidence.mid, evidence.atMs),
        confidenceBps: inputs.confidenceBps,
        sources: evidence === undefined ? [] : sourcesOf(evidence.mid, evidence.atMs),
        references: evidence === undefined ? [] : referencesOf(evidence),
      },
      sigma: inputs.sigma,
      firmSeconds: inputs.firmSeconds,
      q: inputs.q,
      adverseBps: inputs.adverseBps ?? null,
      rebalanceBps: inputs.rebalanceBps ?? 0,
      signal: signalOf(inputs),
      lockSeconds: inputs.lockSeconds,
      quoteUsd: inputs.quoteValue,
      ownGas: out(inputs.ownGas),
      relayFee: amountOf(inputs.relayFee, inputToken),
      chains:
        evidence === undefined
          ? []
          : [
              sightOf(route.origin, evidence.origin, evidence.atMs),
              ...(route.sameChain ? [] : [sightOf(route.dest, evidence.dest, evidence.atMs)]),
            ],
      params: { ...inputs.params },
    },
    limits: {
      caution: adjustmentNotes(record),
      nearestCap: capOf(record.fullestCap),
      gates: gatesOf(record),
      liveQuotes: record.liveQuotes ?? null,
    },
    hold: {
      chain: route.dest.slug,
      token: outputToken.symbol,
      amount: out(hold.amount),
      group: hold.group,
      lapsesAt: hold.lapsesAt,
    },
    times: { validUntil: times.validUntil, fillDeadline: times.fillDeadline, expires: times.expires },
  };
}

export function explainDecline(record: DeclineRecord) {
  const made = declineParts(record);
  return { ...made, summary: declineSentence(made) };
}

function declineParts({ rfq, route, decline, atMs }: DeclineRecord) {
  const fixed = rfq.side === 'exactInput' ? route?.inputToken : route?.outputToken;
  const amount = (value: bigint | undefined): ExplainedAmount | null =>
    value === undefined ? null : amountOf(value, fixed);
  const asked = amount(BigInt(rfq.amount));
  return {
    kind: 'decline' as const,
    rfqId: rfq.rfqId,
    atMs,
    request: {
      taker: rfq.taker,
      pair: route?.pairName ?? null,
      corridor: route === undefined ? null : corridorOf(route.origin, route.dest),
      lp: route?.lp ?? null,
      side: rfq.side,
      input: {
        token: route?.inputToken.symbol ?? rfq.input,
        chain: route?.origin.slug ?? null,
        amount: rfq.side === 'exactInput' ? asked : null,
      },
      output: {
        token: route?.outputToken.symbol ?? rfq.output,
        chain: route?.dest.slug ?? null,
        amount: rfq.side === 'exactOutput' ? asked : null,
      },
    },
    reason: decline.declined,
    control: decline.control ?? null,
    detail: decline.detail ?? null,
    // Both are amounts of the side that the request fixed.
    largestThatPasses: amount(decline.maxAmount),
    smallestThatPasses: amount(decline.minAmount),
  };
}

/** Returns the age of a price; null for a fixed price, which never ages. */
const ageOf = ({ atMs }: Mid, nowMs: number): number | null =>
  atMs > nowMs + 86_400_000 ? null : nowMs - atMs;

function sourcesOf({ seen, dropped }: Mid, nowMs: number) {
  const why = new Map(dropped.map((each) => [each.source, each.why]));
  return seen.map(({ source, bid, ask, atMs }) => ({
    source,
    price: Number(bid + ask) / 2e18,
    ageMs: nowMs - atMs,
    dropped: why.get(source) ?? null,
  }));
}

function referencesOf({ references, atMs: nowMs }: PricingEvidence) {
  return references.map(({ source, value, atMs, deviationBps, allowedBps, stale }) => ({
    source,
    price: value,
    ageMs: nowMs - atMs,
    deviationBps,
    allowedBps,
    stale,
  }));
}

function signalOf({ signal }: QuoteRecord['inputs']) {
  if (signal === undefined) return null;
  const { id, skewBps, fairValueShiftBps, widthBps } = signal;
  return { id, skewBps, fairValueShiftBps, widthBps };
}

function sightOf({ slug }: Chain, { head, headSeenAtMs, weiPerGas }: ChainSight, nowMs: number) {
  return {
    chain: slug,
    block: head === undefined ? null : head.number.toString(),
    blockAgeMs: head === undefined ? null : nowMs - headSeenAtMs,
    gasPriceWei: weiPerGas === undefined ? null : weiPerGas.toString(),
  };
}

const amountOf = (amount: bigint, token: TokenInfo | undefined): ExplainedAmount => ({
  base: amount.toString(),
  units: token === undefined ? amount.toString() : formatUnits(amount, token.decimals),
});

function quoteSentence({
  request: { input, output },
  terms,
  difference,
  price,
}: ReturnType<typeof quoteParts>): string {
  const name = ({ label, bps }: ExplainedTerm) => `${label} ${Math.abs(bps).toFixed(2)}`;
  const sorted = terms.filter(({ name: each }) => each !== 'rounding').sort((a, b) => b.bps - a.bps);
  const top = sorted
    .filter(({ bps }) => bps >= 0.005)
    .slice(0, 3)
    .map(name);
  const back = sorted.filter(({ bps }) => bps <= -0.005).map(name);
  const mostly = top.length === 0 ? '' : `, mostly ${listed(top)}`;
  const less = back.length === 0 ? '' : `; ${listed(back)} given back`;
  const where = (side: typeof input | typeof output) =>
    `${side.amount?.units} ${side.token} on ${side.chain}`;
  const mid = Number(price.mid.toPrecision(8));
  const worse = `${difference.bps.toFixed(2)} bps worse for the taker than the mid of ${mid}`;
  return `We promised ${where(output)} for ${where(input)}: ${worse}${mostly}${less}.`;
}

function declineSentence({
  request: { side, input, output },
  reason,
  detail,
  largestThatPasses,
  smallestThatPasses,
}: ReturnType<typeof declineParts>): string {
  const fixed = side === 'exactInput' ? input : output;
  const asked =
    side === 'exactInput'
      ? `${input.amount?.units} ${input.token} to ${output.token}`
      : `${input.token} to ${output.amount?.units} ${output.token}`;
  const most =
    largestThatPasses === null
      ? ''
      : largestThatPasses.base === '0'
        ? ' No size would have passed.'
        : ` The largest that would have passed is ${largestThatPasses.units} ${fixed.token}.`;
  const least =
    smallestThatPasses === null
      ? ''
      : ` The smallest that would have passed is ${smallestThatPasses.units} ${fixed.token}.`;
  return `We declined ${asked}: ${reason}${detail === null ? '' : ` (${detail})`}.${most}${least}`;
}

const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
