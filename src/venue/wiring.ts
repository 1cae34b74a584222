/** Wires the parts of the venue, folder by folder. Nothing starts here. */

import { nonceGroupOf } from '../domain/order.ts';
import { createSealer } from '../auction/seal.ts';
import { corridorOf } from '../domain/corridor.ts';
import type { KeyMode } from '../ports/stores/store.ts';
import type { VenueDeps } from './deps.ts';
import { createSlotLimiter } from './access/slot-limiter.ts';
import { createBulkhead } from './access/bulkhead.ts';
import { createEventTail } from './stream/event-tail.ts';
import { createOpenQuotes } from './market/open-quotes.ts';
import { createShadowRequests } from './solvers/shadow-requests.ts';
import { createUnsubmittedQuotes } from './quoting/unsubmitted.ts';
import { createFanOut } from './quoting/fan-out.ts';
import { createFeeCap } from './market/fee-cap.ts';
import { createRelayFees } from './quoting/relay-fee.ts';
import { createAccessGate } from './access/gate.ts';
import { createKeyUses } from './access/key-uses.ts';
import { createKeyring } from './access/keys.ts';
import { createLevelsBoard } from './stream/levels-board.ts';
import { createSolverLevels } from './solvers/levels.ts';
import { createLinkDoor } from './link/link.ts';
import { createLiquidity } from './market/liquidity.ts';
import { bondDemandsOf } from './market/min-bond.ts';
import { createMarkets, tradesOn } from './market/markets.ts';
import { createOrderEventDispatcher } from './stream/order-events.ts';
import {
  ADMISSION,
  BREAKER,
  FAN_OUT,
  LEVELS,
  RATES,
  ROUTER,
  SANDBOX,
  SOCKETS,
  type VenueOptions,
  WEBHOOKS,
} from './options.ts';
import { createPeers } from './replicas/peers.ts';
import { createPreflighter } from './orders/preflight.ts';
import { createPrices } from './market/prices.ts';
import { chainNow } from './market/chain-now.ts';
import { createRequestParser } from './quoting/parse-request.ts';
import { createQuoteResponder } from './quoting/response.ts';
import { createSandbox } from './quoting/scenarios.ts';
import { createRfqQuoter } from './quoting/quote.ts';
import { createRfqSource } from './quoting/rfq-source.ts';
import { createAnswerTimes } from './solvers/answer-times.ts';
import { createFirmness } from './solvers/firmness.ts';
import { createRoster } from './solvers/roster.ts';
import { createRoutePreflighter } from './router/preflight.ts';
import { createRouteRoster } from './router/route-roster.ts';
import { createRouter } from './router/router.ts';
import { createScreening } from './access/screening.ts';
import { createSealing } from './quoting/sealing.ts';
import { createTakerNonces } from './quoting/taker-nonces.ts';
import { createOrderStream } from './stream/order-topics.ts';
import { createStreamDoor } from './stream/stream.ts';
import { createSubmitter } from './orders/submit.ts';
import { createTradeHistory } from './trades/history.ts';
import { createTickets } from './access/tickets.ts';
import { createWorkspaces } from './access/workspaces.ts';
import { createWorkspaceKeys } from './admin/workspace-keys.ts';
import { createWorkspaceMembers } from './admin/workspace-members.ts';
import { createWebhooks } from './webhooks/endpoints.ts';
import { createPayouts } from './payouts/payouts.ts';
import { createRosterRecorder } from './webhooks/roster-recorder.ts';
import { createVault } from './webhooks/vault.ts';

export type VenueParts = ReturnType<typeof wireVenue>;

export function wireVenue(ports: VenueDeps, options: VenueOptions) {
  const { clock, chains, routeVenues } = ports;
  const fanOutOptions = { ...FAN_OUT, ...options.fanOut };
  const rates = { ...RATES, ...options.rates };
  const breaker = { ...BREAKER, ...options.breaker };
  const admission = { ...ADMISSION, ...options.admission };
  const levelsOptions = { ...LEVELS, ...options.levels };
  const networks = new Map([...chains].map(([id, { chain }]) => [id, chain]));
  const corridorsOf = (mode: KeyMode): string[] => {
    const traded = [...networks.values()].filter((chain) => tradesOn(chain, mode));
    return traded.flatMap((source) => traded.map((dest) => corridorOf(source, dest)));
  };

  const peers = createPeers(ports);
  const markets = createMarkets([...networks.values()], options.listedChains);
  const prices = createPrices(ports.reference);
  const feeCap = createFeeCap(ports);
  const keyring = createKeyring(ports);
  const keyUses = createKeyUses(ports);
  const workspaces = createWorkspaces({ ...ports, feeCap });
  const slots = createSlotLimiter(ports, admission);
  const chainBulkhead = createBulkhead<number>(
    admission.perChain,
    'The chain of this order answers slowly, so nothing was done. Try again shortly.',
  );
  const socketOptions = { ...SOCKETS, ...options.sockets };
  const tickets = createTickets(ports, socketOptions);
  const gate = createAccessGate({ ...ports, peers, keyring, keyUses, tickets, slots }, rates);

  const corridors = { test: corridorsOf('test'), live: corridorsOf('live') };
  const roster = createRoster({ ...ports, peers, corridors }, breaker);
  const answerTimes = createAnswerTimes(ports);
  const fanOut = createFanOut({ ...ports, roster, answerTimes }, fanOutOptions);
  const nonces = createTakerNonces(ports);
  const openQuotes = createOpenQuotes(peers);
  const bondDemands = bondDemandsOf(options.minBond ?? {}, networks.values());
  const liquidity = createLiquidity({ ...ports, openQuotes, bondDemands });
  const unsubmitted = createUnsubmittedQuotes({ ...ports, openQuotes, liquidity }, rates.leastSubmittedShare);
  const relayFees = createRelayFees({ ...ports, prices }, options.chainSettings);
  const screening = createScreening(ports);
  const sealing = createSealing(createSealer(options.sealKeys), networks);
  const parser = createRequestParser({ ...ports, markets, roster, screening }, fanOutOptions, rates);
  const responder = createQuoteResponder(ports);
  const sandbox = { ...SANDBOX, ...options.sandbox };
  const shadowRequests = createShadowRequests({ roster }, fanOutOptions);
  const reserved = [...sandbox.unfilled, ...sandbox.faded];
  const source = createRfqSource(
    {
      ...ports,
      roster,
      fanOut,
      relayFees,
      liquidity,
      openQuotes,
      unsubmitted,
      shadowRequests,
      prices,
      reserved,
    },
    fanOutOptions,
  );
  const shared = { ...ports, parser, source, sealing, responder, relayFees, prices, openQuotes, nonces };
  const forced = sandbox.scenarios ? createSandbox(ports, sandbox) : undefined;
  const quoter = createRfqQuoter({ ...shared, sandbox: forced }, fanOutOptions);
  const levels = createSolverLevels({ ...ports, roster, markets }, levelsOptions);

  const preflighter = createPreflighter({
    ...ports,
    ...{ sealing, chainBulkhead, relayFees, screening, liquidity },
  });
  const venuesById = new Map(routeVenues.map((venue) => [venue.id, venue]));
  const submitter = createSubmitter({
    ...ports,
    routeVenues: venuesById,
    ...{ sealing, chainBulkhead, liquidity, openQuotes, screening, prices },
  });

  const router = createRouter(
    { ...shared, markets },
    { router: { ...ROUTER, ...options.router }, fanOut: fanOutOptions, rates, breaker },
  );
  const routePreflighter = createRoutePreflighter({ ...ports, base: preflighter, router, sealing });
  const routeRoster = createRouteRoster({
    ...{ routeVenues, router, chains: networks, clock },
    followed: ports.chains,
  });

  const firmness = createFirmness(ports);
  const history = createTradeHistory({ ...ports, chains: networks, venues: venuesById, screening });
  const orderEvents = createOrderEventDispatcher({ ...ports, roster, openQuotes });
  // Also for an order that was submitted at another replica.
  orderEvents.onOrder(({ originChainId, order }, { event }) => {
    if (event !== 'order.created') return;
    unsubmitted.submitted(nonceGroupOf(originChainId, order.user, order.nonce));
    shadowRequests.accepted({ originChainId, order });
  });
  const vault = createVault(options.webhookKeys ?? []);
  const webhooks = createWebhooks({ ...ports, vault }, { ...WEBHOOKS, ...options.webhooks });
  const workspaceKeys = createWorkspaceKeys(ports);
  const workspaceMembers = createWorkspaceMembers(ports);
  const rosterRecorder = createRosterRecorder({ ...ports, store: ports.store.webhooks, roster });
  const tail = createEventTail(ports);
  const orders = createOrderStream({ ...ports, tail, chains: networks });
  const board = createLevelsBoard(
    { levels, roster, chains: networks, clock },
    { maxAgeMs: levelsOptions.maxAgeMs, maxSplitParts: fanOutOptions.maxSplitParts },
  );
  const socketRoutes = [
    createStreamDoor({ ...ports, slots, orders, prices: board, roster, workspaces }, socketOptions),
    createLinkDoor({ ...ports, roster, fanOut, levels, liquidity, bondDemands }, options),
  ];

  for (const part of [gate, roster]) peers.share(part.replicaShare());
  for (const share of openQuotes.replicaShares(() => chainNow(clock, undefined))) peers.share(share);

  return {
    ...{ networks, markets, feeCap, keyring, workspaces, slots, gate, roster, openQuotes },
    ...{
      unsubmitted,
      liquidity,
      relayFees,
      quoter,
      preflighter,
      submitter,
      router,
      routePreflighter,
      routeRoster,
      payouts: createPayouts({ ...ports, workspaces, networks }),
    },
    ...{ tickets, history, orderEvents, tail, board, socketRoutes, peers, firmness, answerTimes },
    ...{ webhooks, workspaceKeys, workspaceMembers, keyUses, rosterRecorder, shadowRequests },
  };
}
