/** Estimates what it costs to bring money back to where it was paid out, and how long that takes. */

import type { Chain, NativeCurrency, TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { Bridge, BridgeRoute } from '../../../ports/bridge.ts';
import type { Clock } from '../../../ports/clock.ts';
import { convertDown } from '../../../domain/amount.ts';
import { ppbOfBpsUp, refillShareUp } from './price.ts';

interface RefillCost {
  /** Parts per billion of the amount. */
  share: bigint;
  seconds: number;
}

/** A direction from where orders pay in to where they are paid out. */
export interface RefillRoute {
  from: { chain: Chain; token: TokenInfo };
  to: { chain: Chain; token: TokenInfo };
  /** Base units of `from`: what one transfer carries. */
  lot: bigint;
}

/** undefined while it is not known. */
export type RefillCosts = (route: RefillRoute) => Promise<RefillCost | undefined>;

/** The refill costs that the venue's operator expects, for venues whose refills people make. */
export const fixedRefill =
  ({ costBps, seconds }: { costBps: number; seconds: number }): RefillCosts =>
  async () => ({ share: ppbOfBpsUp(costBps), seconds });

const FRESH_MS = 30_000;
const LONGEST_MS = 600_000;

interface Estimates {
  /** The cheapest of those that serve a route counts. */
  bridges: readonly Bridge[];
  account: Address;
  /** Converts wei to base units of the token, rounded up; undefined without fresh prices. */
  tokenForNativeUp(token: TokenInfo, native: NativeCurrency, wei: bigint): bigint | undefined;
  clock: Clock;
}

/**
 * The refill costs that bridges estimate for one lot. An estimate is renewed in the background, and counts
 * for ten minutes while the bridges give no other.
 */
export function bridgeRefill({ bridges, account, tokenForNativeUp, clock }: Estimates): RefillCosts {
  const known = new Map<string, { cost: RefillCost; atMs: number }>();
  const asking = new Map<string, Promise<RefillCost | undefined>>();

  async function estimateOf(bridge: Bridge, { from, to, lot }: RefillRoute): Promise<RefillCost | undefined> {
    const route: BridgeRoute = {
      from: { chainId: from.chain.id, token: from.token.address },
      to: { chainId: to.chain.id, token: to.token.address },
    };
    if (!bridge.serves(route)) return undefined;
    const answer = await bridge.estimate({ ...route, account, amount: lot });
    if ('refused' in answer) return undefined;
    const fee = tokenForNativeUp(from.token, from.chain.native, answer.nativeFee);
    if (fee === undefined) return undefined;
    const received = convertDown(answer.leastReceived, to.token.decimals, from.token.decimals);
    return { share: refillShareUp(lot, received, fee), seconds: answer.seconds };
  }

  async function estimate(route: RefillRoute): Promise<RefillCost | undefined> {
    const costs = await Promise.all(
      bridges.map((bridge) => estimateOf(bridge, route).catch(() => undefined)),
    );
    return costs
      .filter((cost) => cost !== undefined)
      .reduce<RefillCost | undefined>(
        (best, cost) => (best && best.share <= cost.share ? best : cost),
        undefined,
      );
  }

  function renew(name: string, route: RefillRoute): Promise<RefillCost | undefined> {
    const before = asking.get(name);
    if (before) return before;
    const renewing = estimate(route)
      .then((cost) => {
        if (cost) known.set(name, { cost, atMs: clock.monotonicMs() });
        return cost;
      })
      .finally(() => asking.delete(name));
    asking.set(name, renewing);
    return renewing;
  }

  return async (route) => {
    const { from, to } = route;
    const name = `${from.chain.id} ${from.token.address} ${to.chain.id} ${to.token.address}`;
    const last = known.get(name);
    const ageMs = last === undefined ? Infinity : clock.monotonicMs() - last.atMs;
    if (last === undefined || ageMs > LONGEST_MS) return renew(name, route);
    if (ageMs > FRESH_MS) void renew(name, route);
    return last.cost;
  };
}
