/**
 * Why this price: made out of what the quote kept by reference, and only when somebody asks. Every term
 * stands in bps and in base units of the output, and the lines add up to what lies between the mid and the
 * quote, to the unit.
 */

import { formatUnits } from '../../domain/amount.ts';
import type { Decline } from '../../domain/decline.ts';
import { corridorOf } from '../../domain/corridor.ts';
import type { Chain, TokenInfo } from '../../domain/chain.ts';
import type { Nearest } from '../../inventory/limits.ts';
import type { Mid } from '../../pricing/mid.ts';
import type { PriceDecline, Priced } from '../../pricing/price.ts';
import type { Rfq } from '../../protocol/link/link.ts';
import type { ChainSight, Evidence } from '../quoting/pricing-context.ts';
import { createKeptQuotes } from './recent-quotes.ts';
import type { QuoteRecord } from './quote-events.ts';
import type { Route } from '../quoting/route.ts';

/** What was answered instead of a quote. */
export interface DeclineRecord {
  rfq: Asked;
  route: Route | undefined;
  decline: Decline;
  atMs: number;
}

/** What a reason is explained by: a request itself is large, and thousands are kept. */
type Asked = Pick<Rfq, 'rfqId' | 'taker' | 'side' | 'amount' | 'input' | 'output'>;

/** An amount twice: exact base units, and whole tokens for people. */
export interface Shown {
  base: string;
  units: string;
}

/** One reason for a part of the price. Positive is worse for the taker. */
export interface ExplainedTerm {
  name: string;
  label: string;
  bps: number;
  amount: Shown;
}

export interface ExplainedSource {
  source: string;
  price: number;
  ageMs: number;
  /** Why it did not count; null when it did. */
  dropped: string | null;
}

/** An oracle or a mean that was compared with the mid: beyond `allowedBps` there would have been no quote. */
export interface ExplainedReference {
  source: string;
  price: number;
  ageMs: number;
  deviationBps: number;
  allowedBps: number;
  /** Too old to count. */
  stale: boolean;
}

/** How far a quote was from something that would have refused it. */
export interface ExplainedLimit {
  name: string;
  value: string;
  limit: string;
  /** Value over limit: 1 is at the limit. */
  share: number;
}

interface Request {
  taker: string;
  pair: string | null;
  corridor: string | null;
  lp: 'buy' | 'sell' | null;
  side: 'exactInput' | 'exactOutput';
  input: { token: string; chain: string | null; amount: Shown | null };
  output: { token: string; chain: string | null; amount: Shown | null };
}

export interface ExplainedQuote {
  kind: 'quote';
  summary: string;
  quoteId: string;
  orderId: string;
  rfqId: string;
  atMs: number;
  /** A part of a split. */
  slice: boolean;
  request: Request;
  price: {
    mid: number;
    allInBps: number;
    spreadBps: number;
    gross: Shown;
    received: Shown;
    notionalUsd: string;
    winProbability: number;
    optionCostBps: number;
    jumpCostBps: number;
    deviationBps: number;
  };
  /** They sum to `difference`, exactly. */
  terms: ExplainedTerm[];
  /** gross - output. */
  difference: { bps: number; amount: Shown };
  inputs: {
    mid: {
      ageMs: number | null;
      confidenceBps: number;
      sources: ExplainedSource[];
      references: ExplainedReference[];
    };
    sigma: number;
    firmSeconds: number;
    q: number;
    adverseBps: number | null;
    rebalanceBps: number;
    lockSeconds: number;
    quoteUsd: number;
    ownGas: Shown;
    relayFee: Shown;
    chains: { chain: string; block: string | null; blockAgeMs: number | null; gasPriceWei: string | null }[];
    params: Readonly<Record<string, number | boolean>>;
  };
  limits: {
    caution: string[];
    nearestCap: ExplainedLimit | null;
    gates: ExplainedLimit[];
    liveQuotes: number | null;
  };
  hold: { chain: string; token: string; amount: Shown; group: string; lapsesAt: number };
  times: { validUntil: number; fillDeadline: number; expires: number };
}

export interface ExplainedDecline {
  kind: 'decline';
  summary: string;
  rfqId: string;
  atMs: number;
  request: Request;
  reason: string;
  control: string | null;
  detail: string | null;
  /** In the unit that the request fixed. */
  largestThatPasses: Shown | null;
  smallestThatPasses: Shown | null;
}

export type Explanation = ExplainedQuote | ExplainedDecline;

const LABELS: Readonly<Record<string, string>> = {
  conf: 'uncertain mid',
  adv: 'adverse selection',
  inv: 'inventory skew',
  impact: 'market impact',
  capital: 'locked capital',
  rebal: 'rebalancing',
  x: 'firmness premium',
  m: 'markup',
  explore: 'learning noise',
  floor: 'least spread',
  gas: 'own gas, buffered',
  relay: 'relay fee',
  fee: 'platform fee',
  rounding: 'rounding',
};

export function explainQuote(record: QuoteRecord): ExplainedQuote {
  const { route, priced, inputs, times, hold } = record;
  const { inputToken, outputToken } = route;
  const out = (amount: bigint): Shown => shown(amount, outputToken);
  const terms = linesOf(priced).map(({ name, bps, amount }) => ({
    name,
    label: LABELS[name] ?? `plug-in: ${name}`,
    bps,
    amount: out(amount),
  }));
  const between = priced.gross - priced.output;
  const mid = Number(inputs.mid.num) / Number(inputs.mid.den);
  const evidence = inputs.evidence;
  const made: Omit<ExplainedQuote, 'summary'> = {
    kind: 'quote',
    quoteId: record.quoteId,
    orderId: record.orderId,
    rfqId: record.rfqId,
    atMs: record.atMs,
    slice: record.slice,
    request: {
      taker: record.taker,
      pair: route.pairName,
      corridor: corridorOf(route.origin, route.dest),
      lp: route.lp,
      side: inputs.side,
      input: { token: inputToken.symbol, chain: route.origin.slug, amount: shown(priced.input, inputToken) },
      output: { token: outputToken.symbol, chain: route.dest.slug, amount: out(priced.output) },
    },
    price: {
      mid,
      allInBps: priced.terms.D,
      spreadBps: Number(priced.spread) / 1e4,
      gross: out(priced.gross),
      received: shown(priced.received, inputToken),
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
      lockSeconds: inputs.lockSeconds,
      quoteUsd: inputs.quoteValue,
      ownGas: out(inputs.ownGas),
      relayFee: shown(inputs.relayFee, inputToken),
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
      caution: cautionOf(record),
      nearestCap: capOf(record.nearest),
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
  return { ...made, summary: quoteSentence(made) };
}

interface Line {
  name: string;
  bps: number;
  amount: bigint;
}

/**
 * gross - output in lines. Fee, gas and relay fee are the integers that were charged; the spread is divided
 * among its terms at a billionth of a bp, and what integers make of it beyond that is the rounding.
 */
export function linesOf({ gross, spreadAmount, feeAmount, gasAmount, relayAmount, terms }: Priced): Line[] {
  const { conf, adv, inv, impact, capital, rebal, extra = {}, x, m, explore = 0, c0, fee, D } = terms;
  const floor = D - (c0 + fee + x + m + explore);
  const parts: [string, number][] = [
    ['conf', conf],
    ['adv', adv],
    ['inv', inv],
    ['impact', impact],
    ['capital', capital],
    ['rebal', rebal],
    ...Object.entries(extra),
    ['x', x],
    ['m', m],
  ];
  if (explore !== 0) parts.push(['explore', explore]);
  // Float noise of a sum is no floor.
  if (Math.abs(floor) > 1e-9) parts.push(['floor', floor]);
  const lines = parts.map(([name, bps]): Line => ({
    name,
    bps,
    amount: (gross * BigInt(Math.round(bps * 1e9))) / PER_BILLIONTH_BPS,
  }));
  const rounding = lines.reduce((left, { amount }) => left - amount, spreadAmount);
  const charged = ([name, amount]: [string, bigint]): Line => ({ name, bps: bpsOf(amount, gross), amount });
  const last: Line[] = (
    [
      ['gas', gasAmount],
      ['relay', relayAmount],
      ['fee', feeAmount],
      ['rounding', rounding],
    ] as [string, bigint][]
  ).map(charged);
  return [...lines, ...last];
}

const PER_BILLIONTH_BPS = 10_000_000_000_000n;

export function explainDecline({ rfq, route, decline, atMs }: DeclineRecord): ExplainedDecline {
  const fixed = rfq.side === 'exactInput' ? route?.inputToken : route?.outputToken;
  const amount = (value: bigint | undefined): Shown | null =>
    value === undefined ? null : shown(value, fixed);
  const asked = amount(BigInt(rfq.amount));
  const made: Omit<ExplainedDecline, 'summary'> = {
    kind: 'decline',
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
    largestThatPasses: amount(decline.maxAmount),
    smallestThatPasses: amount((decline as PriceDecline).minAmount),
  };
  return { ...made, summary: declineSentence(made) };
}

/* Inputs and what they were worth at that moment */

/** A fixed price never ages. */
const ageOf = ({ atMs }: Mid, nowMs: number): number | null =>
  atMs > nowMs + 86_400_000 ? null : nowMs - atMs;

function sourcesOf({ seen, dropped }: Mid, nowMs: number): ExplainedSource[] {
  const why = new Map(dropped.map((each) => [each.source, each.why]));
  return seen.map(({ source, bid, ask, atMs }) => ({
    source,
    price: Number(bid + ask) / 2e18,
    ageMs: nowMs - atMs,
    dropped: why.get(source) ?? null,
  }));
}

function referencesOf({ references, atMs: nowMs }: Evidence): ExplainedReference[] {
  return references.map(({ source, value, atMs, deviationBps, allowedBps, stale }) => ({
    source,
    price: value,
    ageMs: nowMs - atMs,
    deviationBps,
    allowedBps,
    stale,
  }));
}

function sightOf(
  { slug }: Chain,
  { head, headSeenAtMs, gasPrice }: ChainSight,
  nowMs: number,
): ExplainedQuote['inputs']['chains'][number] {
  return {
    chain: slug,
    block: head === undefined ? null : head.number.toString(),
    blockAgeMs: head === undefined ? null : nowMs - headSeenAtMs,
    gasPriceWei: gasPrice === undefined ? null : gasPrice.toString(),
  };
}

function cautionOf({ inputs: { evidence } }: QuoteRecord): string[] {
  if (evidence === undefined) return [];
  const { sigmaFactor, sizeFactor, omegaFactor, mostSeconds } = evidence.caution;
  return [
    ...(sigmaFactor === 1 ? [] : [`volatility × ${sigmaFactor}`]),
    ...(sizeFactor === 1 ? [] : [`largest size × ${sizeFactor}`]),
    ...(omegaFactor === 1 ? [] : [`firmness premium × ${omegaFactor}`]),
    ...(mostSeconds === undefined ? [] : [`validity cut to ${mostSeconds} s`]),
  ];
}

const share = (value: number, limit: number): number =>
  limit > 0 ? value / limit : Number.POSITIVE_INFINITY;

/** What would have refused this quote had it been larger, wider or later; the nearest first. */
function gatesOf({ inputs, priced, route }: QuoteRecord): ExplainedLimit[] {
  const { params, freeOutput, room, confidenceBps } = inputs;
  const size = Number(priced.notional) / 1e6;
  const gates: ExplainedLimit[] = [
    {
      name: 'largest size',
      value: `$${formatUnits(priced.notional, 6)}`,
      limit: `$${params.maxSize}`,
      share: share(size, params.maxSize),
    },
    {
      name: 'widest spread',
      value: `${priced.terms.D.toFixed(2)} bps`,
      limit: `${params.maxSpreadBps} bps`,
      share: share(priced.terms.D, params.maxSpreadBps),
    },
    {
      name: 'sources disagree',
      value: `${confidenceBps.toFixed(2)} bps`,
      limit: `${params.maxConfidenceBps} bps`,
      share: share(confidenceBps, params.maxConfidenceBps),
    },
  ];
  const most = (
    name: string,
    amount: bigint,
    limit: bigint | undefined,
    { symbol, decimals }: Route['outputToken'],
  ) => {
    if (limit === undefined) return;
    gates.push({
      name,
      value: `${formatUnits(amount, decimals)} ${symbol}`,
      limit: `${formatUnits(limit, decimals)} ${symbol}`,
      share: limit <= 0n ? 1 : Number((amount * 1_000_000n) / limit) / 1e6,
    });
  };
  most('free inventory', priced.output, freeOutput, route.outputToken);
  most('hard band, what goes out', priced.output, room?.output, route.outputToken);
  most('hard band, what comes in', priced.input, room?.input, route.inputToken);
  return gates.sort((a, b) => b.share - a.share);
}

function capOf(nearest: Nearest | undefined): ExplainedLimit | null {
  if (nearest === undefined) return null;
  const { scope, what, used, cap } = nearest;
  const text = (amount: bigint) => (what === 'count' ? amount.toString() : `$${formatUnits(amount, 6)}`);
  return {
    name: `${scope} ${what}`,
    value: text(used),
    limit: text(cap),
    share: Number((used * 1_000_000n) / cap) / 1e6,
  };
}

/* One sentence */

const bpsOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : (Number(part) / Number(whole)) * 1e4;
const shown = (amount: bigint, token: TokenInfo | undefined): Shown => ({
  base: amount.toString(),
  units: token === undefined ? amount.toString() : formatUnits(amount, token.decimals),
});

function quoteSentence({
  request: { input, output },
  terms,
  difference,
  price,
}: Omit<ExplainedQuote, 'summary'>): string {
  const name = ({ label, bps }: ExplainedTerm) => `${label} ${Math.abs(bps).toFixed(2)}`;
  const sorted = terms.filter(({ name: each }) => each !== 'rounding').sort((a, b) => b.bps - a.bps);
  const top = sorted
    .filter(({ bps }) => bps >= 0.005)
    .slice(0, 3)
    .map(name);
  const back = sorted.filter(({ bps }) => bps <= -0.005).map(name);
  const mostly = top.length === 0 ? '' : `, mostly ${listed(top)}`;
  const less = back.length === 0 ? '' : `; ${listed(back)} given back`;
  const where = (side: Request['input']) => `${side.amount?.units} ${side.token} on ${side.chain}`;
  return `We promised ${where(output)} for ${where(input)}: ${difference.bps.toFixed(2)} bps worse for the taker than the mid of ${Number(price.mid.toPrecision(8))}${mostly}${less}.`;
}

function declineSentence({
  request: { side, input, output },
  reason,
  detail,
  largestThatPasses,
  smallestThatPasses,
}: Omit<ExplainedDecline, 'summary'>): string {
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

/* Memory */

export interface Explainer {
  /** On the hot path: copies numbers, makes nothing. */
  quoted(record: QuoteRecord): void;
  declined(rfq: Rfq, route: Route | undefined, decline: Decline, atMs: number): void;
  /** The quote under this order id, if it is still kept. */
  quote(orderId: string): QuoteRecord | undefined;
  /** Everything kept under a quote, order or rfq id, newest first. */
  explain(id: string): Explanation[];
}

/** The last `keep` quotes and as many declines. */
export function createExplainer({ keep }: { keep: number }): Explainer {
  const quotes = createKeptQuotes(keep);
  const declines = createRing<DeclineRecord>(keep);
  return {
    quoted: quotes.add,
    declined: ({ rfqId, taker, side, amount, input, output }, route, decline, atMs) =>
      declines.add({ rfq: { rfqId, taker, side, amount, input, output }, route, decline, atMs }),
    quote: (orderId) => quotes.find(orderId)[0],
    explain: (id) => [
      ...quotes.find(id).map(explainQuote),
      ...declines.find(({ rfq }) => rfq.rfqId === id).map(explainDecline),
    ],
  };
}

function createRing<T>(keep: number) {
  const kept: T[] = [];
  let next = 0;
  return {
    add(record: T): void {
      kept[next] = record;
      next = next + 1 === keep ? 0 : next + 1;
    },
    find(wanted: (record: T) => boolean): T[] {
      const found: T[] = [];
      for (let at = next - 1, left = kept.length; left > 0; left -= 1, at -= 1) {
        if (at < 0) at = kept.length - 1;
        const record = kept[at] as T;
        if (wanted(record)) found.push(record);
      }
      return found;
    },
  };
}
