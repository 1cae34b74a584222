/**
 * Everything a price needs, in memory and kept fresh beside the hot path: the market, the chains' clocks and
 * gas, our inventory.
 */

import type { Decline } from '../../domain/decline.ts';
import { isDecline } from '../../domain/decline.ts';
import type { Address } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Mid } from '../../pricing/mid.ts';
import type { PriceInputs, PricingPlugin } from '../../pricing/price-inputs.ts';
import { type Rational, ten, toNumber } from '../../pricing/rational.ts';
import { type Bands, createBands } from '../accounting/bands.ts';
import type { LpChainConfig, LpConfig } from '../config/config.ts';
import { createGas, type DataFees } from '../settlement/gas.ts';
import type { Calibrator } from './win-rates.ts';
import { CALM, type Caution } from '../risk/guard.ts';
import type { Market } from '../market/market.ts';
import type { CheckedReference } from '../market/symbol-price.ts';
import type { Route } from './route.ts';

/** What a request fixes, whether it came as an rfq or as a slice of one. */
export interface Ask {
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  platformFeeBps: number;
  relayFee: bigint;
  validUntil: UnixSeconds;
  taker: Address;
  rfqId: string;
}

/** A chain as it looked when a price was made. */
export interface ChainSight {
  head: Block | undefined;
  headSeenAtMs: number;
  gasPrice: bigint | undefined;
}

/** Where the inputs of one price came from, by reference: nothing here changes afterwards. */
export interface Evidence {
  atMs: number;
  mid: Mid;
  /** What checked the mid. */
  references: readonly CheckedReference[];
  caution: Caution;
  origin: ChainSight;
  dest: ChainSight;
}

export type BookInputs = PriceInputs & { evidence: Evidence };

export interface ChainState {
  readonly port: ChainPort;
  /** Replaced when the configuration is. */
  config: LpChainConfig;
  /** Wei for one unit of gas, soon mined; undefined until read. */
  gasPrice: bigint | undefined;
  /** Beside gas, what publishing our transactions costs; undefined until read. */
  dataFees: DataFees | undefined;
  /** Of the operator; undefined until read. */
  native: bigint | undefined;
}

export interface Book {
  readonly market: Market;
  readonly ledger: Ledger;
  readonly bands: Bands;
  readonly chains: ReadonlyMap<number, ChainState>;
  /**
   * The latest it can be on a chain: never behind its newest block, never behind our own clock. New promises
   * count from here.
   */
  now(chainId: number): UnixSeconds;
  /**
   * The earliest it can be: time of the newest block whose events are in the ledger. Holds end by this clock
   * alone.
   */
  settled(chainId: number): UnixSeconds;
  /** USD for one whole token of an asset, from its own price alone; undefined while there is none. */
  usd(asset: string): Rational | undefined;
  /** All that pricing wants to know about this request, or why there can be no price. */
  inputs(route: Route, ask: Ask, caution?: Caution): BookInputs | Decline;
  /** Reads gas prices, data fees and the operator's native balance anew. */
  refreshGas(operator: `0x${string}`): Promise<void>;
}

export interface BookDeps {
  clock: Clock;
  market: Market;
  ledger: Ledger;
  chains: ReadonlyMap<number, ChainState>;
  settled(chainId: number): UnixSeconds;
  /**
   * What we owned of an asset when the process started, in 1e-18 of a whole token: the target where none is
   * configured.
   */
  startedWith: ReadonlyMap<string, bigint>;
  /** What this taker's trades cost us after acceptance, in bps. */
  adverse(taker: Address): number;
  /** What was learned of win rates, and the noise it is learned with. */
  curves: Pick<Calibrator, 'params' | 'explore'>;
  /** Of the market maker's own, asked for every price. */
  plugin?: PricingPlugin;
}

type Options = Pick<LpConfig, 'assets' | 'pairs' | 'quoting'>;

export function createBook(
  { clock, market, ledger, chains, settled, startedWith, adverse, curves, plugin }: BookDeps,
  { assets, pairs, quoting }: Options,
): Book {
  const bands = createBands(
    {
      ledger,
      networks: new Map([...chains].map(([chainId, { port }]) => [chainId, port.chain])),
      startedWith,
    },
    { assets, pairs },
  );
  const gas = createGas({ chains, market }, { assets, quoting });

  const now = (chainId: number): UnixSeconds =>
    Math.max(chains.get(chainId)?.port.head()?.timestamp ?? 0, Math.floor(clock.nowMs() / 1000));

  /** The same object for as long as a chain looks the same: thousands of quotes hold on to it. */
  function sight(chainId: number): ChainSight {
    const state = chains.get(chainId);
    const [head, headSeenAtMs, gasPrice] = [
      state?.port.head(),
      state?.port.headSeenAtMs() ?? 0,
      state?.gasPrice,
    ];
    const last = sights.get(chainId);
    if (
      last !== undefined &&
      last.head === head &&
      last.headSeenAtMs === headSeenAtMs &&
      last.gasPrice === gasPrice
    )
      return last;
    const seen = { head, headSeenAtMs, gasPrice };
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
    settled,
    usd(asset) {
      const mid = market.mid(assets[asset]?.price ?? asset);
      return isDecline(mid) ? undefined : mid.price;
    },
    inputs(route, ask, caution = CALM) {
      const { pair } = route;
      const priced = market.pair(pair.base, pair.quote);
      if (isDecline(priced)) return priced;
      const ownGas = gas.own(route);
      if (typeof ownGas !== 'bigint') return ownGas;
      const nowMs = clock.nowMs();
      const { mid, quoteValue, sigma } = priced;
      const since = Math.min(mid.atMs, nowMs) / 1000;
      const baseUsd = mid.value * quoteValue;
      const { q, halfBand, room, rebalanceBps } = bands.look(route, baseUsd);
      const params = curves.params(route, sizeOf(route, ask, baseUsd, quoteValue));
      const made: BookInputs = {
        side: ask.side,
        amount: ask.amount,
        platformFeeBps: ask.platformFeeBps,
        relayFee: ask.relayFee,
        lp: route.lp,
        baseDecimals: route.baseDecimals,
        quoteDecimals: route.quoteDecimals,
        mid: mid.price,
        quoteValue,
        confidenceBps: mid.confidenceBps,
        sigma: sigma * caution.sigmaFactor,
        firmSeconds: ask.validUntil - since + quoting.clockSkewSeconds,
        q,
        ownGas,
        lockSeconds: route.sameChain ? 0 : (route.lockSeconds ?? quoting.lockSeconds),
        rebalanceBps,
        room,
        adverseBps: pair.base === pair.quote ? 0 : adverse(ask.taker),
        noRebates: priced.depegged,
        freeOutput: ledger.free(route.dest.id, route.outputToken.address),
        params:
          caution.sizeFactor === 1 && caution.omegaFactor === 1 && halfBand === params.halfBand
            ? params
            : {
                ...params,
                halfBand,
                maxSize: params.maxSize * caution.sizeFactor,
                omega: params.omega * caution.omegaFactor,
              },
        exploreBps: plugin?.pricer === undefined ? curves.explore(ask.rfqId) : 0,
        market: route.market,
        evidence: {
          atMs: nowMs,
          mid,
          references: priced.references,
          caution,
          origin: sight(route.origin.id),
          dest: sight(route.dest.id),
        },
      };
      if (plugin !== undefined) made.plugin = plugin;
      return made;
    },
    refreshGas: gas.refresh,
  };
}

/** About what is asked for, in the reference currency. */
function sizeOf(
  { lp, baseDecimals, quoteDecimals }: Route,
  { side, amount }: Ask,
  baseUsd: number,
  quoteUsd: number,
): number {
  const inBase = (lp === 'buy') === (side === 'exactInput');
  return (
    toNumber({ num: amount, den: ten(inBase ? baseDecimals : quoteDecimals) }) * (inBase ? baseUsd : quoteUsd)
  );
}
