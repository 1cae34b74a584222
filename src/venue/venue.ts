/**
 * Wires the venue's api from its ports: returns routes and WebSocket routes for a server to open.
 *
 * In this order: reference data and access, solvers, quoting, router, orders and trades, replicas, streams.
 * Each folder's first file says how it works: quoting/quote, orders/submit, orders/advance/advancer,
 * solvers/roster, market/markets, access/gate, stream/order-events, replicas/peers, router/router,
 * trades/history.
 */

import { createSealer } from '../auction/seal.ts';
import { corridorOf } from '../domain/corridor.ts';
import type { Bus } from '../ports/bus.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { AccessGate, Route, SocketRoute } from '../ports/http.ts';
import type { Log } from '../ports/log.ts';
import type { Metrics } from '../ports/metrics.ts';
import type { Queue } from '../ports/queue.ts';
import type { Screener } from '../ports/screening.ts';
import type { Random } from '../ports/random.ts';
import type { Reference } from '../ports/reference.ts';
import type { RouteVenue } from '../ports/route-venue.ts';
import type { Recovery } from '../ports/signer.ts';
import type { KeyMode } from '../ports/stores/store.ts';
import type { VenueStore } from '../ports/stores/venue-store.ts';
import { createSlotLimiter } from './access/admission.ts';
import { createBulkhead } from './access/bulkhead.ts';
import { createEventTail } from './stream/event-tail.ts';
import { zPreflightRequest } from '../protocol/api/preflight.ts';
import { zQuoteResponse } from '../protocol/api/quote.ts';
import {
  zRouterPreflightRequest,
  zRouterQuoteResponse,
  zRouterSubmitRequest,
} from '../protocol/api/router.ts';
import { zOrderSubmitRequest } from '../protocol/api/submit.ts';
import { createPromisedOutputs, nonceGroupOf } from './quoting/exposure.ts';
import { createFanOut } from './quoting/fan-out.ts';
import { createFeeCap } from './quoting/fee-cap.ts';
import { createRelayFees, type Relayer } from './quoting/relay-fee.ts';
import { createAccessGate } from './access/gate.ts';
import { createKeyring } from './access/keys.ts';
import { createLevelsBoard } from './market/levels-board.ts';
import { createSolverLevels } from './market/levels.ts';
import { createLinkDoor } from './solvers/link.ts';
import { createLiquidity } from './market/liquidity.ts';
import { createMarkets, tradesOn } from './market/markets.ts';
import { createOrderEventDispatcher } from './stream/order-events.ts';
import { createOpenQuotes } from './quoting/open-quotes.ts';
import { ADMISSION, BREAKER, FAN_OUT, LEVELS, RATES, ROUTER, SOCKETS, type VenueOptions } from './options.ts';
import { createPeers } from './replicas/peers.ts';
import { createPreflighter } from './orders/preflight.ts';
import { createPrices } from './market/prices.ts';
import { chainNow } from './market/chain-now.ts';
import { unready } from './ready.ts';
import { createRequestParser } from './quoting/parse-request.ts';
import { createQuoteResponder } from './quoting/response.ts';
import { createRfqQuoter } from './quoting/quote.ts';
import { createRfqSource } from './quoting/rfq-source.ts';
import { createRoster, type Roster } from './solvers/roster.ts';
import { createRoutePreflighter } from './router/preflight.ts';
import { createRouteRoster } from './router/route-roster.ts';
import { createRouter } from './router/router.ts';
import { orderRoute } from './routes/order.ts';
import { pairsRoute } from './routes/pairs.ts';
import { preflightRoute } from './routes/preflight.ts';
import { quotesRoute } from './routes/quotes.ts';
import { solversRoute } from './routes/solvers.ts';
import { submitRoute } from './routes/submit.ts';
import { tradeRoute } from './routes/trade.ts';
import { tradesExportRoute } from './routes/trades-export.ts';
import { tradesRoute } from './routes/trades.ts';
import { createScreening } from './orders/screening.ts';
import { createSealing } from './quoting/sealing.ts';
import { createNonceGroups } from './quoting/nonce-groups.ts';
import { createOrderStream } from './stream/order-topics.ts';
import { createStreamDoor } from './stream/stream.ts';
import { createSubmitter } from './orders/submit.ts';
import { createTradeHistory } from './trades/history.ts';
import { createWorkspaces } from './access/workspaces.ts';

export interface VenueDeps {
  store: VenueStore;
  bus: Bus;
  queue: Queue;
  /** Chains with an escrow of this venue, by id. */
  chains: ReadonlyMap<number, ChainPort>;
  /** DEX pools, bridges, issuers, fiat rails. */
  routeVenues: readonly RouteVenue[];
  /**
   * Transaction senders by chain id, such as a `Transactor`; a chain without one trades by walletBroadcast.
   */
  relayers: ReadonlyMap<number, Relayer>;
  reference: Reference;
  /** Every taker and receiver is checked by all of them; without any, addresses are not screened. */
  screeners: readonly Screener[];
  recovery: Recovery;
  /** How long the longest waiting statement has waited for a database connection. */
  databaseWaitMs(): number;
  clock: Clock;
  random: Random;
  log: Log;
  metrics: Metrics;
}

export interface Venue {
  readonly routes: readonly Route[];
  readonly socketRoutes: readonly SocketRoute[];
  readonly gate: AccessGate;
  readonly roster: Roster;
  /** Why this process should get no traffic; empty when it is ready. */
  ready(): Promise<string[]>;
  /** Resolves when all changes so far have been published to the other replicas. */
  flushed(): Promise<void>;
  start(): Promise<void>;
  /** Ends solver sessions and stops following chains; the server closes the rest. */
  stop(): Promise<void>;
}

const NAMESPACES = ['rfq', 'router'] as const;
const SWEEP_MS = 1_000;

export function createVenue(deps: VenueDeps, options: VenueOptions): Venue {
  const {
    store,
    bus,
    queue,
    chains,
    routeVenues,
    relayers,
    reference,
    screeners,
    recovery,
    databaseWaitMs,
    clock,
    random,
    log,
    metrics,
  } = deps;
  const fanOutOptions = { ...FAN_OUT, ...options.fanOut };
  const rates = { ...RATES, ...options.rates };
  const breaker = { ...BREAKER, ...options.breaker };
  const described = new Map([...chains].map(([id, { chain }]) => [id, chain]));
  const list = [...described.values()];
  const corridorsOf = (mode: KeyMode): string[] => {
    const chains = list.filter((chain) => tradesOn(chain, mode));
    return chains.flatMap((source) => chains.map((dest) => corridorOf(source, dest)));
  };

  const markets = createMarkets(list, options.listedChains);
  const prices = createPrices(reference);
  const keyring = createKeyring({ store, bus, clock, log });
  const feeCap = createFeeCap({ chains, log });
  const workspaces = createWorkspaces({ store, bus, clock, feeCap });
  const admissionOptions = { ...ADMISSION, ...options.admission };
  const slots = createSlotLimiter({ clock, metrics, databaseWaitMs }, admissionOptions);
  const chainBulkhead = createBulkhead<number>(
    admissionOptions.perChain,
    'The chain of this order answers slowly and enough is waiting for it already, so nothing was done. Try again in a moment.',
  );
  const gate = createAccessGate({ keyring, slots, clock, metrics }, rates);
  const exposure = createPromisedOutputs();
  const nonceGroups = createNonceGroups();
  const openQuotes = createOpenQuotes();
  const liquidity = createLiquidity({ chains, exposure, log });
  const gas = createRelayFees({ chains, relayers, prices, log }, options.chainSettings);
  const screening = createScreening({ screeners, metrics });
  const roster = createRoster(
    { store, bus, clock, log, metrics, corridors: { test: corridorsOf('test'), live: corridorsOf('live') } },
    breaker,
  );
  const fanOut = createFanOut({ clock, metrics, roster }, fanOutOptions);
  const sealing = createSealing(createSealer(options.sealKeys), described);
  const parser = createRequestParser({ chains, markets, roster, screening, clock }, fanOutOptions, rates);
  const responder = createQuoteResponder({ clock, random, metrics });
  const source = createRfqSource(
    { roster, fanOut, gas, liquidity, exposure, nonceGroups, recovery, clock, random, metrics },
    fanOutOptions,
  );
  const quoter = createRfqQuoter(
    { parser, source, sealing, responder, gas, prices, openQuotes, random },
    fanOutOptions,
  );
  const preflighter = createPreflighter({ chains, sealing, chainBulkhead, gas, screening, clock, random });
  const router = createRouter(
    {
      source,
      chains,
      routeVenues,
      markets,
      parser,
      responder,
      sealing,
      gas,
      prices,
      openQuotes,
      clock,
      random,
      log,
      metrics,
    },
    { router: { ...ROUTER, ...options.router }, fanOut: fanOutOptions, rates, breaker },
  );
  const routePreflighter = createRoutePreflighter({ base: preflighter, router, store, sealing, clock });
  const routeRoster = createRouteRoster({ routeVenues, router, chains: described, clock });
  const history = createTradeHistory({
    store,
    chains: described,
    screening,
    nativeSymbol: (chainId) => gas.settings(chainId).nativeSymbol,
    clock,
  });
  const submitter = createSubmitter({
    chains,
    store,
    queue,
    routeVenues: new Map(routeVenues.map((venue) => [venue.id, venue])),
    sealing,
    recovery,
    chainBulkhead,
    liquidity,
    openQuotes,
    screening,
    prices,
    clock,
    log,
    metrics,
  });
  const orderEvents = createOrderEventDispatcher({ bus, store, roster, nonceGroups, log });
  // Wherever it was submitted, its request's quotes no longer count.
  orderEvents.onOrder(({ keyId, originChainId, order }, { event }) => {
    if (event === 'order.created')
      openQuotes.close(keyId, nonceGroupOf(originChainId, order.user, order.nonce));
  });
  const peers = createPeers({ bus, clock, random, log, metrics });
  for (const part of [
    gate.replicaShare(peers.publishSoon),
    openQuotes.replicaShare(() => chainNow(clock, undefined), peers.publishSoon),
    exposure.replicaShare(peers.publishSoon),
    roster.replicaShare(peers.publishSoon),
  ])
    peers.share(part);
  const levelsOptions = { ...LEVELS, ...options.levels };
  const levels = createSolverLevels({ roster, markets, clock, metrics }, levelsOptions);
  const tail = createEventTail({ store, bus, clock, log });
  const board = createLevelsBoard(
    { levels, roster, chains: described, clock },
    { maxAgeMs: levelsOptions.maxAgeMs, maxSplitParts: fanOutOptions.maxSplitParts },
  );

  const routes = [
    quotesRoute({ quoter, workspaces }, 'rfq', zQuoteResponse),
    quotesRoute({ quoter: router, workspaces }, 'router', zRouterQuoteResponse),
    submitRoute({ submitter, workspaces }, 'rfq', zOrderSubmitRequest),
    submitRoute({ submitter, workspaces }, 'router', zRouterSubmitRequest),
    preflightRoute({ preflighter, workspaces }, 'rfq', zPreflightRequest),
    preflightRoute({ preflighter: routePreflighter, workspaces }, 'router', zRouterPreflightRequest),
    ...NAMESPACES.flatMap((namespace) => [
      orderRoute({ store, chains: described }, namespace),
      pairsRoute({ markets }, namespace),
    ]),
    solversRoute({ roster, workspaces, chains: described }, '/api/v1/rfq/solvers', 'rfq'),
    solversRoute(
      { roster, workspaces, chains: described, routes: routeRoster },
      '/api/v1/router/solvers',
      'router',
    ),
    solversRoute({ roster, workspaces, chains: described, routes: routeRoster }, '/api/v1/solvers', 'roster'),
    tradesRoute({ history }),
    tradesExportRoute({ history }),
    tradeRoute({ history }),
  ] as unknown as Route[];
  const socketRoutes = [
    createStreamDoor(
      {
        slots,
        store,
        orders: createOrderStream({ store, tail, chains: described, clock }),
        prices: board,
        roster,
        workspaces,
        clock,
        log,
        metrics,
      },
      { ...SOCKETS, ...options.sockets },
    ),
    createLinkDoor(
      { chains, store, queue, roster, fanOut, levels, liquidity, recovery, clock, random, log, metrics },
      options,
    ),
  ];

  let cancelSweep = () => {};
  function sweep(): void {
    // Promises expire by the slowest chain's time.
    const now = Math.min(
      ...[...chains.values()].map((port) => port.head()?.timestamp ?? chainNow(clock, port)),
    );
    if (Number.isFinite(now)) exposure.expire(now);
    nonceGroups.expire(chainNow(clock, undefined));
    cancelSweep = clock.after(SWEEP_MS, sweep);
  }

  return {
    routes,
    socketRoutes,
    gate,
    roster,
    flushed: peers.flushed,
    ready: () => unready({ store, chains, clock }),
    async start() {
      await Promise.all([
        keyring.start(),
        workspaces.start(),
        roster.start(),
        orderEvents.start(),
        tail.start(),
        gas.start(),
      ]);
      await peers.start();
      slots.start();
      liquidity.start();
      feeCap.start();
      board.start();
      sweep();
    },
    async stop() {
      cancelSweep();
      slots.stop();
      liquidity.stop();
      feeCap.stop();
      gas.stop();
      board.stop();
      await Promise.all([
        keyring.stop(),
        workspaces.stop(),
        roster.stop(),
        orderEvents.stop(),
        tail.stop(),
        peers.stop(),
      ]);
    },
  };
}
