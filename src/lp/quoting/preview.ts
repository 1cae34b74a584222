/** Prices recent quotes again under a configuration not in force, to show what a reload would change. */

import { isDecline } from '../../domain/decline.ts';
import { price } from '../../pricing/price.ts';
import type { PriceInputs, PricingPlugin } from '../../pricing/price-inputs.ts';
import type { PricingParams } from '../../pricing/params.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import type { DealLimits } from '../risk/fat-finger.ts';
import type { Route, Routes } from './route.ts';

/** The quotes of one pair. Spreads are mean all-in bps of the quotes that both configurations price. */
export interface PairPreview {
  pair: string;
  quotes: number;
  spreadBps: number | null;
  newSpreadBps: number | null;
  /** Quotes that would have been declined, by reason. */
  declined: Readonly<Record<string, number>>;
}

/**
 * Market, inventory and win-rate curve are those of each quote; only what the new configuration changes
 * differs. Limits on live quotes and controls that depend on time are not played again.
 */
export function previewQuotes(
  records: readonly QuoteRecord[],
  next: { routes: Pick<Routes, 'find'>; fatFinger: DealLimits; plugin: PricingPlugin | undefined },
): PairPreview[] {
  const pairs = new Map<
    string,
    { quotes: number; before: number[]; after: number[]; declined: Map<string, number> }
  >();
  for (const record of records) {
    const { pairName } = record.route;
    let pair = pairs.get(pairName);
    if (pair === undefined)
      pairs.set(pairName, (pair = { quotes: 0, before: [], after: [], declined: new Map() }));
    pair.quotes++;
    const answer = priceAgain(record, next);
    if (typeof answer === 'string') pair.declined.set(answer, (pair.declined.get(answer) ?? 0) + 1);
    else {
      pair.before.push(record.priced.terms.D);
      pair.after.push(answer);
    }
  }
  return [...pairs].map(([pair, { quotes, before, after, declined }]) => ({
    pair,
    quotes,
    spreadBps: mean(before),
    newSpreadBps: mean(after),
    declined: Object.fromEntries(declined),
  }));
}

/** The new all-in spread in bps, or the reason of the decline. */
function priceAgain(
  { route, inputs }: QuoteRecord,
  { routes, fatFinger, plugin }: Parameters<typeof previewQuotes>[1],
): number | string {
  const now = routes.find(route.input, route.output);
  if (now === undefined) return 'pair';
  const again: PriceInputs = {
    ...inputs,
    params: { ...inputs.params, ...changedParams(route, now) },
    ...(now.lockSeconds !== route.lockSeconds &&
      now.lockSeconds !== undefined && { lockSeconds: now.lockSeconds }),
  };
  if (plugin === undefined) delete again.plugin;
  else again.plugin = plugin;
  const priced = price(again);
  if (isDecline(priced)) return priced.declined;
  const spreadBps = Number(priced.spread) / 1e4;
  if (spreadBps < fatFinger.leastBps || spreadBps > fatFinger.mostBps) return 'fat_finger';
  return priced.terms.D;
}

/** Learned and risk-adjusted parameters of the quote stay unless the configuration changes them. */
function changedParams(before: Route, now: Route): Partial<PricingParams> {
  return Object.fromEntries(
    Object.entries(now.params).filter(
      ([name, value]) => before.params[name as keyof PricingParams] !== value,
    ),
  );
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
