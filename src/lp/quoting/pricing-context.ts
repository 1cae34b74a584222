/**
 * Everything a price needs, in memory: the market, chain clocks and gas, our inventory, learned win rates.
 */

import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Address } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PricingParams } from '../../pricing/params.ts';
import type { PriceInputs, PricingPlugin } from '../../pricing/price-inputs.ts';
import type { Rational } from '../../pricing/rational.ts';
import { wholeTokens } from '../../pricing/usd.ts';
import { type Bands, createBands } from '../accounting/bands.ts';
import type { TakerCosts } from '../accounting/taker-costs.ts';
import type { ChainSight, ChainState } from '../routes/chain-state.ts';
import type { LpConfig } from '../config/config.ts';
import type { Market } from '../market/market.ts';
import { NO_ADJUSTMENT, type RiskAdjustment } from '../../risk/adjustment.ts';
import { createGas, type GasCosts } from '../settlement/gas.ts';
import type { PricingEvidence } from '../quote-log/pricing-evidence.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { Signals } from './signals.ts';
import type { WinRates } from './win-rates.ts';

interface RequestTerms {
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  platformFeeBps: number;
  relayFee: bigint;
  validUntil: UnixSeconds;
  taker: Address;
  rfqId: string;
}

export type QuoteInputs = PriceInputs & { evidence: PricingEvidence };

export interface PricingContext {
  readonly market: Market;
  readonly ledger: Ledger;
  readonly bands: Bands;
  readonly chains: ReadonlyMap<number, ChainState>;
  /**
   * The latest it can be on a chain: the later of its newest block and our own clock. The validity of new
   * quotes counts from here, and so do the margins of fills.
   */
  now(chainId: number): UnixSeconds;
  /**
   * The earliest it can be: time of the last block whose events are in the ledger. Holds expire by this clock
   * alone.
   */
  lastReadTime(chainId: number): UnixSeconds;
  /** USD for one whole token of an asset, from its own price alone; undefined while there is none. */
  usd(asset: string): Rational | undefined;
  /** Returns all that the price of a request depends on, or why there is none. On the quote path. */
  inputs(route: QuoteRoute, terms: RequestTerms, adjustment?: RiskAdjustment): QuoteInputs | Decline;
  /** Reads the fees of all chains. Rejects with an error of a chain after all were tried. */
  refreshGas(operator: Address): Promise<void>;
}

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

/** What the inputs of a price are collected from. */
interface InputSources extends PricingContextDeps {
  quoting: LpConfig['quoting'];
  bands: Bands;
  gas: GasCosts;
  /** The last sight of each chain. */
  sights: Map<number, ChainSight>;
}

export function createPricingContext(
  deps: PricingContextDeps,
  { assets, pairs, quoting }: Options,
): PricingContext {
  const { market, ledger, chains, clock } = deps;
  const bands = createBands(
    {
      ledger,
      networks: new Map([...chains].map(([chainId, { port }]) => [chainId, port.chain])),
      startedWith: deps.startedWith,
    },
    { assets, pairs },
  );
  const gas = createGas({ chains, market }, { assets, quoting });
  const sources: InputSources = { ...deps, quoting, bands, gas, sights: new Map() };
  return {
    market,
    ledger,
    bands,
    chains,
    now: (chainId) =>
      Math.max(chains.get(chainId)?.port.head()?.timestamp ?? 0, Math.floor(clock.nowMs() / 1000)),
    lastReadTime: deps.lastReadTime,
    usd(asset) {
      const mid = market.mid(assets[asset]?.price ?? asset);
      return isDecline(mid) ? undefined : mid.price;
    },
    inputs: (route, terms, adjustment = NO_ADJUSTMENT) => inputsOf(sources, route, terms, adjustment),
    refreshGas: gas.refresh,
  };
}

function inputsOf(
  sources: InputSources,
  route: QuoteRoute,
  terms: RequestTerms,
  adjustment: RiskAdjustment,
): QuoteInputs | Decline {
  const { market, winRates, quoting, plugin } = sources;
  const { pair } = route;
  // The guard has read it too, but extending the lease may have taken time since.
  const priced = market.pair(pair.base, pair.quote);
  if (isDecline(priced)) return priced;
  const ownGas = sources.gas.own(route);
  if (typeof ownGas !== 'bigint') return ownGas;
  const nowMs = sources.clock.nowMs();
  const { mid, quoteValue, sigma } = priced;
  const since = Math.min(mid.atMs, nowMs) / 1000;
  const baseUsd = mid.value * quoteValue;
  const { q, halfBand, room, rebalanceBps } = sources.bands.termsOf(route, baseUsd);
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
    adverseBps: pair.base === pair.quote ? 0 : sources.takers.adverse(terms.taker),
    noRebates: priced.depegged,
    freeOutput: sources.ledger.free(route.dest.id, route.outputToken.address),
    params: adjusted(params, halfBand, adjustment),
    exploreBps: plugin?.pricer === undefined ? winRates.explore(terms.rfqId) : 0,
    market: route.market,
    evidence: {
      atMs: nowMs,
      mid,
      references: priced.references,
      adjustment,
      origin: sight(sources, route.origin.id),
      dest: sight(sources, route.dest.id),
    },
  };
  if (plugin !== undefined) made.plugin = plugin;
  const signal = sources.signals.of(route.pairName, route.lp, nowMs);
  if (signal !== undefined) made.signal = signal;
  return made;
}

/** Returns the same object where nothing changes, because thousands of quotes refer to it. */
const adjusted = (
  params: PricingParams,
  halfBand: number,
  { sizeFactor, omegaFactor }: RiskAdjustment,
): PricingParams =>
  sizeFactor === 1 && omegaFactor === 1 && halfBand === params.halfBand
    ? params
    : { ...params, halfBand, maxSize: params.maxSize * sizeFactor, omega: params.omega * omegaFactor };

/** Returns the same object while the chain has not changed, because thousands of quotes refer to it. */
function sight({ chains, sights }: InputSources, chainId: number): ChainSight {
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

/** The fixed side in USD, before there is a price. `price` measures the quote's size by the mid. */
function requestedUsd(
  { lp, baseDecimals, quoteDecimals }: QuoteRoute,
  { side, amount }: RequestTerms,
  baseUsd: number,
  quoteUsd: number,
): number {
  const inBase = (lp === 'buy') === (side === 'exactInput');
  return wholeTokens(amount, inBase ? baseDecimals : quoteDecimals) * (inBase ? baseUsd : quoteUsd);
}
