/**
 * Everything on the quote path that is made from the configuration, with the market and the plug-in that
 * price it. A reload replaces it as a whole, so every request sees one configuration from beginning to end.
 * Stateful parts (ledger, leases) are passed in.
 */

import type { Chain } from '../../domain/chain.ts';
import type { PricingPlugin } from '../../pricing/price-inputs.ts';
import { createPricingContext, type PricingContext, type PricingContextDeps } from './pricing-context.ts';
import type { LpConfig } from '../config/config.ts';
import { createLadders, type Ladders } from './ladder.ts';
import { createQuoteHandler, type QuoteHandler, type QuoteHandlerDeps } from './quote.ts';
import { createRoutes, type Routes } from '../routes/route.ts';
import { createSliceHandler, type SliceHandler } from './slice.ts';

export interface QuotingSnapshot {
  readonly config: LpConfig;
  readonly plugin: PricingPlugin | undefined;
  readonly routes: Routes;
  readonly context: PricingContext;
  readonly ladders: Ladders;
  readonly quotes: QuoteHandler;
  readonly slices: SliceHandler;
}

/** The sources of prices besides the configuration. */
type PricingSources = Pick<PricingContextDeps, 'market' | 'plugin'>;

export type QuotingSnapshotDeps = Omit<PricingContextDeps, keyof PricingSources> &
  Omit<QuoteHandlerDeps, 'context' | 'routes' | 'fatFinger' | 'ladders'> & {
    networks: ReadonlyMap<number, Chain>;
  };

/** Throws `RequestError` for a configuration that contradicts itself. */
export function createQuotingSnapshot(
  deps: QuotingSnapshotDeps,
  config: LpConfig,
  sources: PricingSources,
): QuotingSnapshot {
  const chains = config.chains.flatMap((chain) => {
    const network = deps.networks.get(chain.chainId);
    return network === undefined ? [] : [{ config: chain, chain: network }];
  });
  const routes = createRoutes(chains, config.pairs);
  const context = createPricingContext({ ...deps, ...sources }, config);
  // A ladder offered before a reload is not firm, and its price may come from a source that is gone.
  const ladders = createLadders(deps);
  const handlerDeps: QuoteHandlerDeps = {
    ...{ ...deps, context, routes, ladders, fatFinger: config.risk.fatFinger },
  };
  return {
    config,
    plugin: sources.plugin,
    routes,
    context,
    ladders,
    quotes: createQuoteHandler(handlerDeps, config),
    slices: createSliceHandler(handlerDeps),
  };
}
