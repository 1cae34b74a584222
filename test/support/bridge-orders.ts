/** Quotes and orders of a bridge venue between two test chains, as the venue's API and worker make them. */

import { expect } from 'vitest';
import type { Database } from '../../src/adapters/postgres/pool.ts';
import { createVenueStore } from '../../src/adapters/postgres/venue/venue-store.ts';
import { isDecline } from '../../src/domain/decline.ts';
import { orderId as orderIdOf, type StandardOrder } from '../../src/domain/order.ts';
import type { RouteAsk, RouteQuote } from '../../src/ports/route-venue.ts';
import { routeFees } from '../../src/venue/router/route-fees.ts';
import { routeOrder } from '../../src/venue/router/route-order.ts';
import type { TestBridge } from './bridge.ts';
import type { TestAccount, TestChain } from './devnet.ts';
import { storedOrder } from './stored-order.ts';
import { random32 } from './trade.ts';
import { until } from './venue.ts';

interface Ends {
  from: TestChain;
  to: TestChain;
  taker: TestAccount;
  db: Database;
}

type Venue = Pick<TestBridge, 'venue'>;

export function bridgeOrders(ends: () => Ends) {
  /** Waits until every venue would pin the newest block of each chain. */
  async function pinned(): Promise<RouteAsk['at']> {
    const { from, to } = ends();
    const heads = await Promise.all(
      [from, to].map(async ({ anvil, port }) => {
        const newest = BigInt(await anvil.rpc<string>('eth_blockNumber'));
        return until(() => {
          const head = port.head();
          return head && head.number >= newest ? head : undefined;
        });
      }),
    );
    return { origin: heads[0] as RouteAsk['at']['origin'], dest: heads[1] as RouteAsk['at']['dest'] };
  }

  async function ask(amount: bigint, change: Partial<RouteAsk> = {}): Promise<RouteAsk> {
    const { from, to, taker } = ends();
    const at = change.at ?? (await pinned());
    return {
      ...{ origin: from.chain, dest: to.chain, inputToken: from.usdc, outputToken: to.usdc },
      ...{ side: 'exactOutput', amount, taker: taker.address, receiver: taker.address, at },
      validity: { from: at.origin.timestamp + 1, to: at.origin.timestamp + 600 },
      fees: routeFees(5, () => 1_000n),
      signal: new AbortController().signal,
      ...change,
    };
  }

  async function quoted({ venue }: Venue, request: RouteAsk): Promise<RouteQuote> {
    const answer = await venue.quote(request);
    return isDecline(answer) ? expect.fail(`declined: ${answer.declined}`) : answer;
  }

  return {
    pinned,
    ask,
    quoted,
    /** An order that the venue has accepted, as its worker would be told once it is final. */
    async accepted(bridge: Venue, amount: bigint) {
      const { from, to, db } = ends();
      const request = await ask(amount);
      const quote = await quoted(bridge, request);
      const nonce = BigInt(random32());
      expect(await bridge.venue.promise?.({ ask: request, quote, nonce })).toBe(true);
      const order: StandardOrder = routeOrder({
        ...{ ...request, settlement: 'wallet', nonce, platformFeeBps: 5, relayFee: 1_000n, quote },
        landingMarginSeconds: from.chain.landingMarginSeconds,
      });
      const orderId = orderIdOf({ chainId: from.chain.id, escrow: from.chain.escrow }, order);
      const record = storedOrder(from.chain.id, {
        ...{ orderId, order, namespace: 'router', destChainIds: [to.chain.id] },
        ...{
          solverIds: [bridge.venue.id],
          route: { venueId: bridge.venue.id, kind: 'bridge', through: null },
        },
      });
      expect(await createVenueStore(db).accept(record, '{}', null)).toMatchObject({ kind: 'accepted' });
      return { orderId, order, outputs: [0] };
    },
  };
}
