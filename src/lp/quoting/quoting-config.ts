/**
 * What quotes and remembers nothing: made of one configuration and replaced as a whole when that changes, so
 * that every request meets one configuration from end to end. What remembers (ledger, market, leases, awards)
 * is handed in.
 */

import type { Chain } from '../../domain/chain.ts';
import { type BookDeps, type Book, createBook } from './pricing-context.ts';
import type { LpConfig } from '../config/config.ts';
import { createQuoter, type Quoter, type QuoterDeps } from './quote.ts';
import { makeRoutes, type Routes } from './route.ts';
import { createSlicer, type Slicer } from './slice.ts';

export interface Desk {
  readonly config: LpConfig;
  readonly routes: Routes;
  readonly book: Book;
  readonly quoter: Quoter;
  readonly slicer: Slicer;
}

export type DeskDeps = BookDeps &
  Omit<QuoterDeps, 'book' | 'routes' | 'bounds'> & { networks: ReadonlyMap<number, Chain> };

/**
 * In steps: a thousand pairs on many chains have very many routes, and what did not change is taken from the
 * desk `before`. Throws `RequestError` for a configuration that does not hang together.
 */
export function* makeDesk(deps: DeskDeps, config: LpConfig, before?: Desk): Generator<void, Desk> {
  const places = config.chains.flatMap((chain) => {
    const network = deps.networks.get(chain.chainId);
    return network === undefined ? [] : [{ config: chain, chain: network }];
  });
  const sameAccounts =
    before !== undefined &&
    before.config.chains.map(accountOf).join() === config.chains.map(accountOf).join();
  const routes = yield* makeRoutes(places, config.pairs, sameAccounts ? before.routes : undefined);
  const book = createBook(deps, config);
  const quoterDeps: QuoterDeps = { ...deps, book, routes, bounds: config.risk.fatFinger };
  return { config, routes, book, quoter: createQuoter(quoterDeps, config), slicer: createSlicer(quoterDeps) };
}

const accountOf = ({ chainId, account }: LpConfig['chains'][number]): string => `${chainId} ${account}`;
