/** Gauges of the market in force: sources, references, prices of pairs, and sequencers. */

import { isDecline } from '../../domain/decline.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Sequencer } from '../../ports/feed.ts';
import type { Gauge, Metrics } from '../../ports/metrics.ts';
import type { Market } from './market.ts';
import type { PairPrice } from './pair-view.ts';
import type { SourceView } from './source-view.ts';
import { ALWAYS, type CheckedReference } from './symbol-price.ts';

interface PriceGaugeDeps {
  /** The market in force. */
  market(): Market;
  sequencers: ReadonlyMap<number, Sequencer>;
  slug(chainId: number): string;
  clock: Clock;
  metrics: Metrics;
}

const CODES = ['stale_mid', 'deviation', 'depeg', 'confidence'] as const;

export function registerPriceGauges(deps: PriceGaugeDeps): void {
  registerSources(deps);
  registerReferences(deps);
  registerPairs(deps);
  registerSequencers(deps);
}

function registerSources({ market, clock, metrics }: PriceGaugeDeps): void {
  const sources = (name: string, help: string, show: (view: SourceView) => number | undefined) =>
    metrics.gauge(name, help, ['price', 'source'], (gauge) => {
      for (const view of market().sources()) {
        const value = show(view);
        if (value !== undefined)
          gauge.set(value, { price: view.price, source: `${view.feed}|${view.symbol}` });
      }
    });
  sources('firmquote_lp_source_age_seconds', 'Since the price that a source named last', ({ atMs }) =>
    atMs === undefined ? undefined : Math.max(0, clock.nowMs() - atMs) / 1_000,
  );
  sources('firmquote_lp_source_price', 'What a source said last', ({ value }) => value);
  sources('firmquote_lp_source_used', '1 while a source is part of a mid, or checks one', ({ use }) =>
    use === 'used' || use === 'checks' ? 1 : 0,
  );
  sources(
    'firmquote_lp_source_refused',
    'Messages of a source that were refused since its last accepted price',
    ({ refused }) => refused?.count ?? 0,
  );
  metrics.gauge(
    'firmquote_lp_price_sources_missing',
    'Sources, guards and references of a price that are not usable now',
    ['price'],
    (gauge) => setMissing(gauge, market().sources()),
  );
}

function setMissing(gauge: Gauge, views: readonly SourceView[]): void {
  const missing = new Map<string, number>();
  for (const { price, trouble } of views)
    missing.set(price, (missing.get(price) ?? 0) + (trouble === undefined ? 0 : 1));
  for (const [price, count] of missing) gauge.set(count, { price });
}

/** Sets to NaN what has no value now: a gauge would keep its last one. */
function registerReferences({ market, metrics }: PriceGaugeDeps): void {
  const references = (name: string, help: string, of: (checked: CheckedReference) => number) =>
    metrics.gauge(name, help, ['price', 'reference'], (gauge) => {
      for (const { price, source, checked } of market().references())
        gauge.set(checked === undefined ? Number.NaN : of(checked), { price, reference: source });
    });
  references(
    'firmquote_lp_reference_deviation_bps',
    'Distance of a reference from the mid',
    ({ deviationBps }) => deviationBps,
  );
  references(
    'firmquote_lp_reference_allowed_bps',
    'Beyond this distance nothing is quoted',
    ({ allowedBps }) => allowedBps,
  );
}

function registerPairs({ market, clock, metrics }: PriceGaugeDeps): void {
  const prices = (name: string, help: string, of: (price: PairPrice) => number) =>
    metrics.gauge(name, help, ['pair'], (gauge) => {
      for (const { base, quote, price } of market().pairs())
        gauge.set(isDecline(price) ? Number.NaN : of(price), { pair: `${base}-${quote}` });
    });
  prices('firmquote_lp_mid', 'Quote tokens for one base token', ({ mid }) => mid.value);
  prices('firmquote_lp_mid_age_seconds', 'Since the oldest source that a mid is made of', ({ mid }) =>
    mid.atMs === ALWAYS ? 0 : Math.max(0, clock.nowMs() - mid.atMs) / 1_000,
  );
  prices(
    'firmquote_lp_mid_confidence_bps',
    'How far the sources of a mid lie apart',
    ({ mid }) => mid.confidenceBps,
  );
  prices(
    'firmquote_lp_volatility_annual',
    'Annualised volatility that prices (1 is 100 %)',
    ({ sigma }) => sigma,
  );
  metrics.gauge(
    'firmquote_lp_price_condition',
    '1 while this is wrong with the price of a pair',
    ['pair', 'code'],
    (gauge) => {
      for (const { base, quote } of market().pairs()) {
        const condition = market().condition(base, quote);
        for (const code of CODES)
          gauge.set(condition?.code === code ? 1 : 0, { pair: `${base}-${quote}`, code });
      }
    },
  );
}

function registerSequencers({ sequencers, slug, metrics }: PriceGaugeDeps): void {
  metrics.gauge(
    'firmquote_lp_sequencer_up',
    '1 while the sequencer of a rollup is up and its grace is over',
    ['chain'],
    (gauge) => {
      for (const [chainId, sequencer] of sequencers)
        gauge.set(sequencer.state().up ? 1 : 0, { chain: slug(chainId) });
    },
  );
}
