/** `firmquote lp explain`. */

import type { ExplainedDecline, ExplainedQuote } from '../../../lp/quote-log/explain.ts';
import type { ExplainedLimit } from '../../../lp/quote-log/explained-limits.ts';
import { type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';
import { printLines, table } from '../../terminal/table.ts';
import { bpsText } from './signal.ts';

export async function explain(id: string, options: AdminClientOptions): Promise<void> {
  const client = await openAdminClient(options);
  const { explanations } = await client.get('/explain/:id', { id });
  if (options.json) return console.log(JSON.stringify({ explanations }));
  explanations.forEach((each, at) => {
    if (at > 0) console.log('');
    printLines(each.kind === 'quote' ? quoteLines(each) : declineLines(each));
  });
}

export function quoteLines({
  summary,
  quoteId,
  orderId,
  rfqId,
  atMs,
  slice,
  request,
  price,
  terms,
  difference,
  inputs,
  limits,
  hold,
  times,
}: ExplainedQuote): string[] {
  const symbol = request.output.token;
  const right = ['bps', symbol];
  const bps = (value: number) => value.toFixed(4);
  const rows = terms.map((term) => [term.label, bps(term.bps), term.amount.units]);
  const age = (ms: number | null) => (ms === null ? '-' : `${(ms / 1000).toFixed(1)} s`);
  return [
    summary,
    '',
    ...pairs([
      ['quote', quoteId],
      ['order', orderId],
      ['request', `${rfqId}${slice ? ' (a part of a split)' : ''}`],
      ['when', new Date(atMs).toISOString()],
      ['taker', request.taker],
      [
        'market',
        `${request.pair}, ${request.corridor}: we ${request.lp} the base; the taker fixed the ${request.side === 'exactInput' ? 'input' : 'output'}`,
      ],
      [
        'firm',
        `until ${time(times.validUntil)}; fill deadline ${time(times.fillDeadline)}, refundable after ${time(times.expires)}`,
      ],
      ['held', `${hold.amount.units} ${hold.token} on ${hold.chain}`],
    ]),
    '',
    ...table(
      ['term', 'bps', symbol],
      [
        ['value of the input at mid', '', price.gross.units],
        ...rows,
        ['total', bps(difference.bps), difference.amount.units],
        ['output', '', request.output.amount?.units ?? ''],
      ],
      { right },
    ),
    '',
    ...pairs([
      [
        'all-in spread',
        `${bps(price.allInBps)} bps, of which LP spread ${bps(price.spreadBps)}; win probability ${(price.winProbability * 100).toFixed(1)} %`,
      ],
      [
        'option',
        `worth ${bps(price.optionCostBps)} bps (${bps(price.jumpCostBps)} by jumps) over ${inputs.firmSeconds.toFixed(1)} s, one deviation is ${bps(price.deviationBps)} bps`,
      ],
      ['volatility', `${(inputs.sigma * 100).toFixed(1)} % a year`],
      ...(inputs.signal == null
        ? []
        : [['signal', `${inputs.signal.id}: ${bpsText(inputs.signal)}`] as const]),
      ['position', `${(Math.round(inputs.q * 1e4) / 1e4 || 0).toFixed(4)} of the half-band`],
      [
        'mid',
        `${Number(price.mid.toPrecision(10))}, ${age(inputs.mid.ageMs)} old, uncertainty ${inputs.mid.confidenceBps.toFixed(4)} bps`,
      ],
    ]),
    ...section(
      ['source', 'price', 'age', ''],
      inputs.mid.sources.map(({ source, price: at, ageMs, dropped }) => [
        source,
        String(Number(at.toPrecision(10))),
        age(ageMs),
        dropped === null ? 'used' : `dropped: ${dropped}`,
      ]),
    ),
    ...section(
      ['reference', 'price', 'age', 'off', 'allowed'],
      inputs.mid.references.map(({ source, price: at, ageMs, deviationBps, allowedBps, stale }) => [
        source,
        String(Number(at.toPrecision(10))),
        age(ageMs),
        stale ? 'too old' : bps(deviationBps),
        bps(allowedBps),
      ]),
    ),
    ...section(
      ['chain', 'block', 'age', 'gas price'],
      inputs.chains.map(({ chain, block, blockAgeMs, gasPriceWei }) => [
        chain,
        block ?? '-',
        age(blockAgeMs),
        gasPriceWei === null ? '-' : `${(Number(gasPriceWei) / 1e9).toFixed(4)} gwei`,
      ]),
    ),
    '',
    ...table(
      ['nearest limits', 'was', 'limit', 'used'],
      [...(limits.nearestCap === null ? [] : [limits.nearestCap]), ...limits.gates].map(limitRow),
      { right: ['was', 'limit', 'used'] },
    ),
    ...(limits.caution.length === 0 ? [] : ['', `Risk adjustments in force: ${limits.caution.join(', ')}.`]),
  ];
}

function declineLines({
  summary,
  rfqId,
  atMs,
  request,
  reason,
  control,
  detail,
}: ExplainedDecline): string[] {
  return [
    summary,
    '',
    ...pairs([
      ['request', rfqId],
      ['when', new Date(atMs).toISOString()],
      ['taker', request.taker],
      ['market', `${request.pair ?? 'unknown pair'}, ${request.corridor ?? 'unknown corridor'}`],
      [
        'reason',
        `${reason}${control === null ? '' : `, by ${control}`}${detail === null ? '' : `: ${detail}`}`,
      ],
    ]),
  ];
}

const section = (headings: readonly string[], rows: readonly (readonly string[])[]): string[] =>
  rows.length === 0 ? [] : ['', ...table(headings, rows, { right: headings.slice(1).filter(Boolean) })];

const limitRow = ({ name, value, limit, share }: ExplainedLimit): string[] => [
  name,
  value,
  limit,
  Number.isFinite(share) ? `${(share * 100).toFixed(1)} %` : '-',
];
const time = (seconds: number): string => new Date(seconds * 1000).toISOString().replace('.000', '');
const pairs = (rows: readonly (readonly [string, string])[]): string[] =>
  rows.map(([name, value]) => `${name.padEnd(13)}  ${value}`);
