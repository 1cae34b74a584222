/** Prices recent requests again under a configuration not in force, to show what a reload would change. */

import { isDecline } from '../../domain/decline.ts';
import { price, type Priced } from '../../pricing/price.ts';
import type { PriceInputs, PricingPlugin } from '../../pricing/price-inputs.ts';
import type { PricingParams } from '../../pricing/params.ts';
import type { RecentAnswers } from '../quote-log/recent-quotes.ts';
import type { DealLimits } from '../risk/fat-finger.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';
import type { QuoteRoute, Routes } from '../routes/route.ts';

/** The requests of one pair. Spreads are mean all-in bps of the quotes that both configurations price. */
export interface PairPreview {
  pair: string;
  quotes: number;
  spreadBps: number | null;
  newSpreadBps: number | null;
  /** Quotes that would have been declined, by reason. */
  declined: Readonly<Record<string, number>>;
  /** Requests that the price declined, not inventory or a risk control; `quoted` of them would be quoted. */
  refused: { requests: number; quoted: number };
  /** Accepted quotes, by what the new price would have been for their takers. */
  accepted: { quotes: number; better: number; worse: number; declined: number };
}

interface NextPricing {
  routes: Pick<Routes, 'find'>;
  fatFinger: DealLimits;
  plugin: PricingPlugin | undefined;
}

/** Prices this many requests in a row, before live requests are served in between. */
const BATCH = 100;

/**
 * Market, inventory and win-rate curve are those of each request; only what the new configuration changes
 * differs. Limits on live quotes and controls that depend on time are not played again.
 */
export async function previewQuotes(
  { quotes, accepted, declines }: RecentAnswers,
  next: NextPricing,
): Promise<PairPreview[]> {
  const pairs = new Map<string, PreviewSums>();
  const sumsOf = ({ pairName }: QuoteRoute) => {
    let sums = pairs.get(pairName);
    if (sums === undefined) pairs.set(pairName, (sums = createSums()));
    return sums;
  };
  let count = 0;
  const pause = async () => {
    count += 1;
    if (count % BATCH === 0) await yieldToEventLoop();
  };
  for (const { orderId, route, inputs, priced } of quotes) {
    sumsOf(route).quoted(priced, priceAgain(route, inputs, next), inputs.side, accepted.has(orderId));
    await pause();
  }
  for (const { route, inputs } of declines) {
    // Where the price of then is no decline, a limit declined the request, and a new price changes nothing.
    if (route === undefined || inputs === undefined || !isDecline(price(inputs))) continue;
    sumsOf(route).refused(typeof priceAgain(route, inputs, next) !== 'string');
    await pause();
  }
  return [...pairs].map(([pair, sums]) => ({ pair, ...sums.view() }));
}

/** Sums over the requests of one pair. */
interface PreviewSums {
  /** `now`: the new price, or the reason of the decline. */
  quoted(was: Priced, now: Priced | string, side: PriceInputs['side'], isAccepted: boolean): void;
  refused(isQuotedNow: boolean): void;
  view(): Omit<PairPreview, 'pair'>;
}

function createSums(): PreviewSums {
  const [before, after]: [number[], number[]] = [[], []];
  const declined = new Map<string, number>();
  const refused = { requests: 0, quoted: 0 };
  const accepted = { quotes: 0, better: 0, worse: 0, declined: 0 };
  let quotes = 0;
  return {
    quoted(was, now, side, isAccepted) {
      quotes += 1;
      if (isAccepted) accepted.quotes += 1;
      if (typeof now === 'string') {
        declined.set(now, (declined.get(now) ?? 0) + 1);
        if (isAccepted) accepted.declined += 1;
        return;
      }
      before.push(was.terms.D);
      after.push(now.terms.D);
      const gain = side === 'exactInput' ? now.output - was.output : was.input - now.input;
      if (isAccepted && gain > 0n) accepted.better += 1;
      if (isAccepted && gain < 0n) accepted.worse += 1;
    },
    refused(isQuotedNow) {
      refused.requests += 1;
      if (isQuotedNow) refused.quoted += 1;
    },
    view: () => ({
      quotes,
      spreadBps: mean(before),
      newSpreadBps: mean(after),
      declined: Object.fromEntries(declined),
      refused,
      accepted,
    }),
  };
}

/** The new price, or the reason of the decline. */
function priceAgain(
  route: QuoteRoute,
  inputs: PriceInputs,
  { routes, fatFinger, plugin }: NextPricing,
): Priced | string {
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
  return priced;
}

/** Learned and risk-adjusted parameters of the quote stay unless the configuration changes them. */
function changedParams(before: QuoteRoute, now: QuoteRoute): Partial<PricingParams> {
  return Object.fromEntries(
    Object.entries(now.params).filter(
      ([name, value]) => before.params[name as keyof PricingParams] !== value,
    ),
  );
}

const mean = (values: readonly number[]): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
