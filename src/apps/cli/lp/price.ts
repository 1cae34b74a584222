/** `firmquote lp price`: prices one request from a file. Signs nothing. */

import { formatTokens, formatUnits } from '../../../domain/amount.ts';
import { isDecline } from '../../../domain/decline.ts';
import { check } from '../../../pricing/check.ts';
import { type Mid, sourceTexts } from '../../../pricing/mid.ts';
import { price, type PriceDecline, type Priced } from '../../../pricing/price.ts';
import type { PriceInputs } from '../../../pricing/price-inputs.ts';
import { toNumber } from '../../../pricing/rational.ts';
import { readJson } from '../../config/load.ts';
import { loadPlugin } from '../../lp/plugin.ts';
import { readPriceInputs } from './price-inputs.ts';

export async function priceFile({
  inputs: file,
  json,
  module,
}: {
  inputs: string;
  json?: boolean;
  module?: string;
}): Promise<void> {
  const read = readPriceInputs(await readJson(file), file);
  const plugin = module === undefined ? undefined : (await loadPlugin(module)).plugin;
  if (isDecline(read)) return say(json === true ? JSON.stringify(declined(read)) : refusal(read));
  const inputs: PriceInputs = { ...read.inputs, ...(plugin && { plugin }) };
  const answer = price(inputs);
  if (isDecline(answer))
    return say(
      json === true
        ? JSON.stringify({ ...declined(answer), mid: midOf(inputs, read.mid) })
        : [refusal(answer, inputs), ...(read.mid === undefined ? [] : sourceTexts(read.mid))].join('\n  '),
    );
  const doubts = check(inputs, answer);
  if (json === true)
    return say(
      JSON.stringify({
        ...amounts(answer),
        terms: rounded(answer.terms),
        mid: midOf(inputs, read.mid),
        doubts,
      }),
    );
  say(table(inputs, answer, read.mid).join('\n'));
  say(
    doubts.length === 0
      ? 'The independent check agrees.'
      : `The independent check disagrees: ${doubts.join('; ')}`,
  );
}

const say = (text: string): void => console.log(text);
const DIGITS = 9;
const nine = (value: number): number => Number(value.toFixed(DIGITS));

function rounded(terms: Priced['terms']): object {
  return Object.fromEntries(
    Object.entries(terms).map(([name, value]) => [
      name,
      typeof value === 'number'
        ? nine(value)
        : Object.fromEntries(
            Object.entries(value as Record<string, number>).map(([term, bps]) => [term, nine(bps)]),
          ),
    ]),
  );
}

function amounts({ terms: _terms, ...rest }: Priced): object {
  return Object.fromEntries(
    Object.entries(rest).map(([name, value]) => [name, typeof value === 'bigint' ? value.toString() : value]),
  );
}

const declined = ({ declined: reason, detail, maxAmount, minAmount }: PriceDecline): object => ({
  declined: reason,
  detail: detail ?? null,
  maxAmount: maxAmount?.toString() ?? null,
  minAmount: minAmount?.toString() ?? null,
});

function midOf(inputs: PriceInputs, mid: Mid | undefined): object {
  return {
    value: toNumber(inputs.mid),
    num: inputs.mid.num.toString(),
    den: inputs.mid.den.toString(),
    confidenceBps: nine(inputs.confidenceBps),
    ...(mid && { used: mid.used, dropped: mid.dropped }),
  };
}

function refusal({ declined: reason, detail, ...limits }: PriceDecline, inputs?: PriceInputs): string {
  const advice = inputs === undefined ? '' : adviceOf(limits, inputs);
  return `No quote: ${reason}${detail === undefined ? '' : ` (${detail})`}${advice}.`;
}

/** The amounts of a decline are of the side that the request fixes. */
function adviceOf(
  { maxAmount, minAmount }: Pick<PriceDecline, 'maxAmount' | 'minAmount'>,
  inputs: PriceInputs,
): string {
  const { given, taken } = tokensOf(inputs);
  const fixed = inputs.side === 'exactInput' ? given : taken;
  if (maxAmount !== undefined) return `; at most ${formatTokens(maxAmount, fixed)}`;
  return minAmount === undefined ? '' : `; at least ${formatTokens(minAmount, fixed)}`;
}

const TERMS: readonly (readonly [keyof Priced['terms'], string])[] = [
  ['conf', 'uncertainty of the mid, winner’s curse'],
  ['adv', 'adverse selection of this taker'],
  ['inv', 'inventory skew'],
  ['impact', 'market impact of the hedge'],
  ['capital', 'cost of locked capital'],
  ['rebal', 'rebalancing between chains'],
  ['gas', 'own gas and relay fee'],
];

interface TokenUnit {
  symbol: string;
  decimals: number;
}

const SIGNAL_TERMS = [
  ['signalSkew', 'signal: bid and ask'],
  ['signalWidth', 'signal: half-spread'],
  ['signalShift', 'signal: fair value'],
] as const;

/** Returns the token that the taker gives and the one that it takes. */
function tokensOf({ market, lp, baseDecimals, quoteDecimals }: PriceInputs) {
  const [base = 'base', quote = 'quote'] = market?.pair.split('-') ?? [];
  const [ofBase, ofQuote] = [
    { symbol: base, decimals: baseDecimals },
    { symbol: quote, decimals: quoteDecimals },
  ];
  return lp === 'buy' ? { base, given: ofBase, taken: ofQuote } : { base, given: ofQuote, taken: ofBase };
}

function table(inputs: PriceInputs, priced: Priced, mid: Mid | undefined): string[] {
  const { base, given, taken } = tokensOf(inputs);
  const { terms } = priced;
  const gross = Number(formatUnits(priced.gross, taken.decimals));
  const row = (name: string, bps: number, what: string): string =>
    `${name.padEnd(12)} ${bps.toFixed(DIGITS).padStart(15)} ${((bps * gross) / 1e4).toFixed(6).padStart(18)}  ${what}`;
  const amount = (name: string, units: bigint, unit: TokenUnit, what = ''): string =>
    `${name.padEnd(12)} ${formatTokens(units, unit).padStart(34)}  ${what}`;
  return [
    `${given.symbol} to ${taken.symbol}, ${inputs.side === 'exactInput' ? 'exact input' : 'exact output'}; the LP ${inputs.lp === 'buy' ? 'buys' : 'sells'} ${base}.`,
    `mid ${toNumber(inputs.mid)}, uncertainty ${inputs.confidenceBps.toFixed(6)} bps${mid === undefined ? '' : `; used ${mid.used.join(', ')}${mid.dropped.map(({ source, why }) => `; dropped ${source} (${why})`).join('')}`}`,
    ...(mid === undefined ? [] : sourceTexts(mid).map((text) => `  ${text}`)),
    '',
    `${'term'.padEnd(12)} ${'bps'.padStart(15)} ${taken.symbol.padStart(18)}`,
    ...TERMS.map(([name, what]) => row(name, terms[name] as number, what)),
    ...Object.entries(terms.extra ?? {}).map(([name, bps]) =>
      row(name, bps, `of ${inputs.plugin?.name ?? 'a plug-in'}`),
    ),
    row('c0', terms.c0, 'their sum'),
    row('fee', terms.fee, 'platform fee'),
    row(
      'x',
      terms.x,
      `firmness premium, of an option worth ${terms.optionCost.toFixed(DIGITS)} (jumps ${terms.jumpCost.toFixed(DIGITS)}); S = ${terms.deviation.toFixed(DIGITS)}`,
    ),
    row('m', terms.m, 'markup'),
    ...SIGNAL_TERMS.flatMap(([name, what]) =>
      terms[name] === undefined ? [] : [row(name, terms[name], what)],
    ),
    ...(terms.explore === undefined ? [] : [row('explore', terms.explore, 'random exploration')]),
    row('D', terms.D, `all-in; win probability ${terms.winProbability.toFixed(DIGITS)}`),
    '',
    amount('input', priced.input, given),
    amount('gross', priced.gross, taken, 'at mid'),
    amount('spread', -priced.spreadAmount, taken, `${formatUnits(priced.spread, 4)} bps`),
    amount('fee', -priced.feeAmount, taken),
    amount('gas', -priced.gasAmount, taken),
    amount('relay fee', -priced.relayAmount, taken),
    amount('output', priced.output, taken),
  ].map((line) => line.trimEnd());
}
