/** Every endpoint of the public API. */

import type { VenueParts } from '../wiring.ts';
import type { Route } from '../../ports/http.ts';
import type { VenueStore } from '../../ports/stores/venue-store.ts';
import { zPreflightRequest } from '../../protocol/api/preflight.ts';
import { zQuoteResponse } from '../../protocol/api/quote.ts';
import {
  zRouterPreflightRequest,
  zRouterQuoteResponse,
  zRouterSubmitRequest,
} from '../../protocol/api/router.ts';
import { zOrderSubmitRequest } from '../../protocol/api/submit.ts';
import { keyRoute } from './account.ts';
import { keysRoutes } from './keys.ts';
import { membersRoutes } from './members.ts';
import { firmnessRoute } from './firmness.ts';
import { orderRoute } from './order.ts';
import { pairsRoute } from './pairs.ts';
import { payoutRoutes } from './payouts.ts';
import { preflightRoute } from './preflight.ts';
import { quotesRoute } from './quotes.ts';
import { solversRoute } from './solvers.ts';
import { submitRoute } from './submit.ts';
import { ticketsRoute } from './tickets.ts';
import { tradeRoute } from './trade.ts';
import { tradesDailyRoute } from './trades-daily.ts';
import { tradesExportRoute } from './trades-export.ts';
import { tradesRoute } from './trades.ts';
import { webhookRoutes } from './webhooks.ts';

export function venueRoutes(store: VenueStore, parts: VenueParts): Route[] {
  const { quoter, router, submitter, preflighter, routePreflighter, routeRoster, payouts } = parts;
  const {
    networks: chains,
    markets,
    tickets,
    history,
    roster,
    workspaces,
    firmness,
    webhooks,
    workspaceKeys,
    workspaceMembers,
  } = parts;
  const solvers = { roster, workspaces, chains };
  return [
    quotesRoute({ quoter, workspaces }, 'rfq', zQuoteResponse),
    quotesRoute({ quoter: router, workspaces }, 'router', zRouterQuoteResponse),
    submitRoute({ submitter, workspaces }, 'rfq', zOrderSubmitRequest),
    submitRoute({ submitter, workspaces }, 'router', zRouterSubmitRequest),
    preflightRoute({ preflighter, workspaces }, 'rfq', zPreflightRequest),
    preflightRoute({ preflighter: routePreflighter, workspaces }, 'router', zRouterPreflightRequest),
    ...(['rfq', 'router'] as const).flatMap((namespace) => [
      orderRoute({ store, chains }, namespace),
      pairsRoute({ markets }, namespace),
    ]),
    solversRoute(solvers, '/api/v1/rfq/solvers', 'rfq'),
    solversRoute({ ...solvers, routes: routeRoster }, '/api/v1/router/solvers', 'router'),
    solversRoute({ ...solvers, routes: routeRoster }, '/api/v1/solvers', 'roster'),
    ...payoutRoutes({ payouts }),
    firmnessRoute({ firmness, roster, workspaces }),
    keyRoute({ workspaces }),
    ticketsRoute({ tickets }),
    tradesRoute({ history }),
    tradesExportRoute({ history }),
    tradesDailyRoute({ history }),
    tradeRoute({ history }),
    ...keysRoutes(workspaceKeys),
    ...membersRoutes(workspaceMembers),
    ...webhookRoutes(webhooks),
  ] as unknown as Route[];
}
