/**
 * Everything on the quote path that is made from the configuration. A reload replaces it as a whole, so every
 * request sees one configuration from beginning to end. Stateful parts (ledger, market, leases) are passed
 * in.
 */

import type { Chain } from '../../domain/chain.ts';
import { createPricingContext, type PricingContextDeps } from './pricing-context.ts';
import type { LpConfig } from '../config/config.ts';
import { createQuoteHandler, type QuoteHandlerDeps } from './quote.ts';
import { createRoutes } from './route.ts';
import { createSliceHandler } from './slice.ts';

export type QuotingSnapshot = ReturnType<typeof createQuotingSnapshot>;

export type QuotingSnapshotDeps = PricingContextDeps &
  Omit<QuoteHandlerDeps, 'context' | 'routes' | 'fatFinger'> & { networks: ReadonlyMap<number, Chain> };

/** Throws `RequestError` for a configuration that contradicts itself. */
export function createQuotingSnapshot(deps: QuotingSnapshotDeps, config: LpConfig) {
  const chains = config.chains.flatMap((chain) => {
    const network = deps.networks.get(chain.chainId);
    return network === undefined ? [] : [{ config: chain, chain: network }];
  });
  const routes = createRoutes(chains, config.pairs);
  const context = createPricingContext(deps, config);
  const handlerDeps: QuoteHandlerDeps = { ...deps, context, routes, fatFinger: config.risk.fatFinger };
  return {
    config,
    routes,
    context,
    quotes: createQuoteHandler(handlerDeps, config),
    slices: createSliceHandler(handlerDeps),
  };
}
