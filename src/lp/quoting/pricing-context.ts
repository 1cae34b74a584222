/**
 * Everything a price needs, in memory: the market, chain clocks and gas, our inventory, learned win rates.
 */

import { isDecline } from '../../domain/decline.ts';
import type { Address } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PricingPlugin } from '../../pricing/price-inputs.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import { ten, toNumber } from '../../pricing/rational.ts';
import { createBands } from '../accounting/bands.ts';
import type { TakerCosts } from '../accounting/taker-costs.ts';
import type { ChainSight, ChainState } from '../routes/chain-state.ts';
import type { LpConfig } from '../config/config.ts';
import type { Market } from '../market/market.ts';
import { NO_ADJUSTMENT, type RiskAdjustment } from '../../risk/adjustment.ts';
import { createGas } from '../settlement/gas.ts';
import type { PricingEvidence } from '../quote-log/pricing-evidence.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { Signals } from './signals.ts';
import type { WinRates } from './win-rates.ts';

export interface RequestTerms {
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  platformFeeBps: number;
  relayFee: bigint;
  validUntil: UnixSeconds;
  taker: Address;
  rfqId: string;
}

export type QuoteInputs = PriceInputs & { evidence: PricingEvidence };

export type PricingContext = ReturnType<typeof createPricingContext>;

export interface PricingContextDeps {
  clock: Clock;
  market: Market;
  ledger: Ledger;
  chains: ReadonlyMap<number, ChainState>;
  lastReadTime(chainId: number): UnixSeconds;
  /**
   * The amount of each asset that we owned when the process started, in 1e-18 of a whole token. It is the
   * target where none is configured.
   */
  startedWith: ReadonlyMap<string, bigint>;
  takers: Pick<TakerCosts, 'adverse'>;
  winRates: Pick<WinRates, 'params' | 'explore'>;
  signals: Pick<Signals, 'of'>;
  plugin: PricingPlugin | undefined;
}

type Options = Pick<LpConfig, 'assets' | 'pairs' | 'quoting'>;

export function createPricingContext(
  {
    clock,
    market,
    ledger,
    chains,
    lastReadTime,
    startedWith,
    takers,
    winRates,
    signals,
    plugin,
  }: PricingContextDeps,
  { assets, pairs, quoting }: Options,
) {
  const bands = createBands(
    {
      ledger,
      networks: new Map([...chains].map(([chainId, { port }]) => [chainId, port.chain])),
      startedWith,
    },
    { assets, pairs },
  );
  const gas = createGas({ chains, market }, { assets, quoting });

  /**
   * The latest it can be on a chain: the later of its newest block and our own clock. The validity of new
   * quotes counts from here, and so do the margins of fills.
   */
  const now = (chainId: number): UnixSeconds =>
    Math.max(chains.get(chainId)?.port.head()?.timestamp ?? 0, Math.floor(clock.nowMs() / 1000));

  /** Returns the same object while the chain has not changed, because thousands of quotes refer to it. */
  function sight(chainId: number): ChainSight {
    const state = chains.get(chainId);
    const [head, headSeenAtMs, weiPerGas] = [
      state?.port.head(),
      state?.port.headSeenAtMs() ?? 0,
      state?.weiPerGas,
    ];
    const last = sights.get(chainId);
    if (
      last !== undefined &&
      last.head === head &&
      last.headSeenAtMs === headSeenAtMs &&
      last.weiPerGas === weiPerGas
    )
      return last;
    const seen = { head, headSeenAtMs, weiPerGas };
    sights.set(chainId, seen);
    return seen;
  }
  const sights = new Map<number, ChainSight>();

  return {
    market,
    ledger,
    bands,
    chains,
    now,
    /**
     * The earliest it can be: time of the last block whose events are in the ledger. Holds expire by this
     * clock alone.
     */
    lastReadTime,
    /** USD for one whole token of an asset, from its own price alone; undefined while there is none. */
    usd(asset: string) {
      const mid = market.mid(assets[asset]?.price ?? asset);
      return isDecline(mid) ? undefined : mid.price;
    },
    inputs(route: QuoteRoute, terms: RequestTerms, adjustment: RiskAdjustment = NO_ADJUSTMENT) {
      const { pair } = route;
      // The guard has read it too, but extending the lease may have taken time since.
      const priced = market.pair(pair.base, pair.quote);
      if (isDecline(priced)) return priced;
      const ownGas = gas.own(route);
      if (typeof ownGas !== 'bigint') return ownGas;
      const nowMs = clock.nowMs();
      const { mid, quoteValue, sigma } = priced;
      const since = Math.min(mid.atMs, nowMs) / 1000;
      const baseUsd = mid.value * quoteValue;
      const { q, halfBand, room, rebalanceBps } = bands.termsOf(route, baseUsd);
      const params = winRates.params(route, requestedUsd(route, terms, baseUsd, quoteValue));
      const made: QuoteInputs = {
        side: terms.side,
        amount: terms.amount,
        platformFeeBps: terms.platformFeeBps,
        relayFee: terms.relayFee,
        lp: route.lp,
        baseDecimals: route.baseDecimals,
        quoteDecimals: route.quoteDecimals,
        mid: mid.price,
        quoteValue,
        confidenceBps: mid.confidenceBps,
        sigma: sigma * adjustment.sigmaFactor,
        firmSeconds: terms.validUntil - since + quoting.clockSkewSeconds,
        q,
        ownGas,
        lockSeconds: route.sameChain ? 0 : (route.lockSeconds ?? quoting.lockSeconds),
        rebalanceBps,
        room,
        adverseBps: pair.base === pair.quote ? 0 : takers.adverse(terms.taker),
        noRebates: priced.depegged,
        freeOutput: ledger.free(route.dest.id, route.outputToken.address),
        params:
          adjustment.sizeFactor === 1 && adjustment.omegaFactor === 1 && halfBand === params.halfBand
            ? params
            : {
                ...params,
                halfBand,
                maxSize: params.maxSize * adjustment.sizeFactor,
                omega: params.omega * adjustment.omegaFactor,
              },
        exploreBps: plugin?.pricer === undefined ? winRates.explore(terms.rfqId) : 0,
        market: route.market,
        evidence: {
          atMs: nowMs,
          mid,
          references: priced.references,
          adjustment,
          origin: sight(route.origin.id),
          dest: sight(route.dest.id),
        },
      };
      if (plugin !== undefined) made.plugin = plugin;
      const signal = signals.of(route.pairName, route.lp, nowMs);
      if (signal !== undefined) made.signal = signal;
      return made;
    },
    refreshGas: gas.refresh,
  };
}

/** The fixed side in USD, before there is a price. `price` measures the quote's size by the mid. */
function requestedUsd(
  { lp, baseDecimals, quoteDecimals }: QuoteRoute,
  { side, amount }: RequestTerms,
  baseUsd: number,
  quoteUsd: number,
): number {
  const inBase = (lp === 'buy') === (side === 'exactInput');
  return (
    toNumber({ num: amount, den: ten(inBase ? baseDecimals : quoteDecimals) }) * (inBase ? baseUsd : quoteUsd)
  );
}
