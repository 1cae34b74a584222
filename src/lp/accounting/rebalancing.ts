/**
 * Looks every few seconds at where inventory lies and advises which of it to move. Moving it is for the
 * owner, or for the mover of an `LpAccount`.
 */

import { formatUnits } from '../../domain/amount.ts';
import type { Chain } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import { toAtto } from '../../inventory/bucket.ts';
import type { Money } from '../../inventory/event.ts';
import { type Advice, createDailyFlow, createRebalancer } from '../../inventory/rebalance.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { LpAward } from '../../ports/stores/lp-store.ts';
import { rebalanceTerm } from '../../pricing/terms.ts';
import type { Bands } from './bands.ts';
import type { LpConfig } from '../config/config.ts';
import type { QuoteEvents } from '../quote-log/quote-events.ts';
import { ownSlice } from '../routes/order.ts';

export interface Rebalancing {
  /** Evaluates the bands, and logs what has changed. */
  advise(): void;
  /** Returns the advice of the last evaluation. Amounts are in 1e-18 of a whole token. */
  advice(): readonly Advice[];
}

interface RebalancingDeps {
  bands(): Bands;
  quoteEvents: Pick<QuoteEvents, 'listen'>;
  chains: ReadonlyMap<number, Chain>;
  clock: Clock;
  log: Log;
}

const NEWS_PERCENT = 20n;

/** `past`: awards of earlier processes, which give the daily outflow. */
export function createRebalancing(
  { bands, quoteEvents, chains, clock, log }: RebalancingDeps,
  { assets, rebalancing, account }: Pick<LpConfig, 'assets' | 'rebalancing'> & { account: Address },
  past: readonly LpAward[],
): Rebalancing {
  const rebalancer = createRebalancer(rebalancing);
  const drained = createDailyFlow();
  let last: readonly Advice[] = [];
  const said = new Map<string, bigint>();

  const seconds = (): number => clock.nowMs() / 1000;
  const keyOf = ({ asset, from, to }: Advice): string => `${asset}: ${from} to ${to}`;

  function placeOf({ chainId, token }: Pick<Money, 'chainId' | 'token'>) {
    const chain = chains.get(chainId);
    const found = chain?.tokens.find(({ address }) => address === token);
    return chain && found && { slug: chain.slug, asset: found.symbol, decimals: found.decimals };
  }

  function drain(pays: Money, atSeconds: number): void {
    const place = placeOf(pays);
    if (place !== undefined)
      drained.add(`${place.asset} ${place.slug}`, toAtto(pays.amount, place.decimals), atSeconds);
  }

  for (const award of [...past].reverse()) {
    const slice = award.fill === null ? undefined : ownSlice(award.order, account, chains);
    if (slice !== undefined) drain(slice.pays, award.acceptedAtMs / 1000);
  }

  quoteEvents.listen({
    filled: ({ slice }) => drain(slice.pays, seconds()),
    moved(money) {
      const place = placeOf(money);
      if (place !== undefined && money.amount < 0n) rebalancer.left(place.asset, place.slug, seconds());
    },
  });

  function tell(advice: readonly Advice[]): void {
    const now = new Map(advice.map((each) => [keyOf(each), each]));
    for (const key of [...said.keys()]) {
      if (now.has(key)) continue;
      said.delete(key);
      log.info({ move: key }, 'rebalancing: this move is no longer needed');
    }
    for (const [key, { amount, cost, charges, asset }] of now) {
      const before = said.get(key);
      const change = amount - (before ?? 0n);
      if (before !== undefined && (change < 0n ? -change : change) * 100n < before * NEWS_PERCENT) continue;
      said.set(key, amount);
      const whole = (atto: bigint) => `${formatUnits(atto, 18)} ${asset}`;
      log.warn(
        { move: key, amount: whole(amount), cost: whole(cost), chargesPerDay: whole(charges) },
        'rebalancing: this is worth moving',
      );
    }
  }

  return {
    advise() {
      const nowSeconds = seconds();
      const read = bands();
      last = Object.keys(assets).flatMap((asset) => {
        const places = read.places(asset).map(({ slug, q, costBps, available, target }) => {
          const chargeBps = rebalanceTerm({ drained: { q, costBps } });
          return {
            chain: slug,
            available,
            target,
            q,
            costBps,
            chargeBps,
            drainedPerDay: drained.perDay(`${asset} ${slug}`, nowSeconds),
          };
        });
        return places.length < 2 ? [] : rebalancer.advise(asset, places, nowSeconds);
      });
      tell(last);
    },
    advice: () => last,
  };
}
