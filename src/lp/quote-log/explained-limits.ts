/** Explains how near a quote came to each limit, and which limits a risk control tightened. */

import { formatUnits } from '../../domain/amount.ts';
import type { FullestCap } from '../../inventory/limits.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { QuoteRecord } from './quote-events.ts';

export interface ExplainedLimit {
  name: string;
  value: string;
  limit: string;
  share: number;
}

/** What risk controls changed in the price's inputs. */
export function adjustmentNotes({ inputs: { evidence } }: QuoteRecord): string[] {
  if (evidence === undefined) return [];
  const { sigmaFactor, sizeFactor, omegaFactor, maxSeconds } = evidence.adjustment;
  return [
    ...(sigmaFactor === 1 ? [] : [`volatility × ${readable(sigmaFactor)}`]),
    ...(sizeFactor === 1 ? [] : [`largest size × ${readable(sizeFactor)}`]),
    ...(omegaFactor === 1 ? [] : [`firmness premium × ${readable(omegaFactor)}`]),
    ...(maxSeconds === undefined ? [] : [`validity cut to ${readable(maxSeconds)} s`]),
  ];
}

/** Shows four digits at most: factors and seconds are measured, and more digits tell a reader nothing. */
const readable = (value: number): string => String(Number(value.toPrecision(4)));

const share = (value: number, limit: number): number =>
  limit > 0 ? value / limit : Number.POSITIVE_INFINITY;

/** The limits that the price was checked against, the nearest first. */
export function gatesOf({ inputs, priced, route }: QuoteRecord): ExplainedLimit[] {
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
    { symbol, decimals }: QuoteRoute['outputToken'],
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

/** The cap on live quotes that was nearest. */
export function capOf(fullest: FullestCap | undefined): ExplainedLimit | null {
  if (fullest === undefined) return null;
  const { scope, what, used, cap } = fullest;
  const text = (amount: bigint) => (what === 'count' ? amount.toString() : `$${formatUnits(amount, 6)}`);
  return {
    name: `${scope} ${what}`,
    value: text(used),
    limit: text(cap),
    share: cap === 0n ? 1 : Number((used * 1_000_000n) / cap) / 1e6,
  };
}
