/** Everything a price needs, in memory and kept fresh beside the hot path: the market, the chains' clocks and gas, our inventory. */

import type { Decline } from '../domain/decline.ts';
import { isDecline } from '../domain/decline.ts';
import { mulDivUp, parseUnits } from '../domain/amount.ts';
import type { UnixSeconds } from '../domain/time.ts';
import type { Ledger } from '../inventory/ledger.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { PriceInputs } from '../pricing/price.ts';
import { type Rational, ten } from '../pricing/rational.ts';
import { rebalanceTerm } from '../pricing/terms.ts';
import type { LpChainConfig, LpConfig } from './config.ts';
import { CALM, type Caution } from './guard.ts';
import type { Market } from './market.ts';
import type { Route } from './route.ts';

/** What a request fixes, whether it came as an rfq or as a slice of one. */
export interface Ask {
  side: 'exactInput' | 'exactOutput';
  amount: bigint;
  platformFeeBps: number;
  relayFee: bigint;
  validUntil: UnixSeconds;
}

export interface ChainState {
  readonly port: ChainPort;
  /** Replaced when the configuration is. */
  config: LpChainConfig;
  /** Wei for one unit of gas, soon mined; undefined until read. */
  gasPrice: bigint | undefined;
  /** Of the operator; undefined until read. */
  native: bigint | undefined;
}

export interface Book {
  readonly market: Market;
  readonly ledger: Ledger;
  readonly chains: ReadonlyMap<number, ChainState>;
  /** The latest it can be on a chain: never behind its newest block, never behind our own clock. New promises count from here. */
  now(chainId: number): UnixSeconds;
  /** The earliest it can be: time of the newest block whose events are in the ledger. Holds end by this clock alone. */
  settled(chainId: number): UnixSeconds;
  /** USD for one whole token of an asset, from its own price alone; undefined while there is none. */
  usd(asset: string): Rational | undefined;
  /** All that pricing wants to know about this request, or why there can be no price. */
  inputs(route: Route, ask: Ask, caution?: Caution): PriceInputs | Decline;
  /** Reads gas prices and the operator's native balance anew. */
  refreshGas(operator: `0x${string}`): Promise<void>;
}

export interface BookDeps {
  clock: Clock;
  market: Market;
  ledger: Ledger;
  chains: ReadonlyMap<number, ChainState>;
  settled(chainId: number): UnixSeconds;
  /** What we owned of an asset when the process started, in 1e-18 of a whole token: the target where none is configured. */
  startedWith: ReadonlyMap<string, bigint>;
}

type Options = Pick<LpConfig, 'assets' | 'quoting'>;

export function createBook({ clock, market, ledger, chains, settled, startedWith }: BookDeps, { assets, quoting }: Options): Book {
  const targets = new Map<string, bigint>(Object.entries(assets).map(([asset, { target }]) => [asset, target === null ? (startedWith.get(asset) ?? 0n) : parseUnits(target, 18)]));

  const now = (chainId: number): UnixSeconds => Math.max(chains.get(chainId)?.port.head()?.timestamp ?? 0, Math.floor(clock.nowMs() / 1000));

  /** Our gas for fill, proof and claim, in base units of the output token; 0n where the relayer or the taker pays. */
  function ownGas(route: Route): bigint | Decline {
    if (route.sameChain) return 0n;
    const { fill, prove, claim } = quoting.gasUnits;
    const legs = [legCost(route.dest.id, fill, route), legCost(route.origin.id, prove + claim, route)];
    const [there, back] = legs;
    if (there === undefined || back === undefined) return { declined: 'standby', detail: 'gas price unknown' };
    if (typeof there !== 'bigint') return there;
    return typeof back === 'bigint' ? there + back : back;
  }

  function legCost(chainId: number, units: number, route: Route): bigint | Decline | undefined {
    const state = chains.get(chainId);
    if (state?.gasPrice === undefined) return undefined;
    const native = market.mid(state.config.gasPrice);
    if (isDecline(native)) return native;
    const output = market.mid(assets[route.outputToken.symbol]?.price ?? route.outputToken.symbol);
    if (isDecline(output)) return output;
    const wei = state.gasPrice * BigInt(units);
    return mulDivUp(wei * ten(route.outputToken.decimals), native.price.num * output.price.den, ten(18) * native.price.den * output.price.num);
  }

  /** (V - V*) / B, from the asset summed over all chains, owed to us, and promised. */
  function position(asset: string, usd: number, halfBand: number): number {
    const off = ledger.exposure(asset).total - (targets.get(asset) ?? 0n);
    return ((Number(off / 1_000_000_000n) / 1e9) * usd) / halfBand;
  }

  /** A chain's share of the asset against an equal split of what we own. */
  function band(chainId: number, route: Route, which: 'input' | 'output') {
    const token = which === 'input' ? route.inputToken : route.outputToken;
    const costBps = assets[token.symbol]?.transportBps ?? 0;
    const bucket = costBps === 0 ? undefined : ledger.bucket(chainId, token.address);
    if (bucket === undefined) return undefined;
    const places = [...chains.values()].filter(({ port }) => port.chain.tokens.some(({ symbol }) => symbol === token.symbol)).length;
    const fair = ledger.exposure(token.symbol).owned / BigInt(places) / ten(18 - Math.min(18, token.decimals));
    return fair <= 0n ? undefined : { q: Number(((bucket.onchain - fair) * 10_000n) / fair) / 10_000, costBps };
  }

  function rebalance(route: Route): number {
    if (route.sameChain) return 0;
    const [drained, filled] = [band(route.dest.id, route, 'output'), band(route.origin.id, route, 'input')];
    return rebalanceTerm({ ...(drained && { drained }), ...(filled && { filled }) });
  }

  return {
    market,
    ledger,
    chains,
    now,
    settled,
    usd(asset) {
      const mid = market.mid(assets[asset]?.price ?? asset);
      return isDecline(mid) ? undefined : mid.price;
    },
    inputs(route, ask, caution = CALM) {
      const { pair, params } = route;
      const priced = market.pair(pair.base, pair.quote);
      if (isDecline(priced)) return priced;
      const gas = ownGas(route);
      if (typeof gas !== 'bigint') return gas;
      const nowMs = clock.nowMs();
      const { mid, quoteValue, sigma } = priced;
      const since = Math.min(mid.atMs, nowMs) / 1000;
      return {
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
        // The same asset on two chains has a location but no price to be wrong about.
        q: pair.base === pair.quote ? 0 : position(pair.base, mid.value * quoteValue, params.halfBand),
        ownGas: gas,
        lockSeconds: route.sameChain ? 0 : quoting.lockSeconds,
        rebalanceBps: rebalance(route),
        freeOutput: ledger.free(route.dest.id, route.outputToken.address),
        params: caution.sizeFactor === 1 && caution.omegaFactor === 1 ? params : { ...params, maxSize: params.maxSize * caution.sizeFactor, omega: params.omega * caution.omegaFactor },
      };
    },
    async refreshGas(operator) {
      await Promise.all(
        [...chains.values()].map(async (state) => {
          const [fees, native] = await Promise.all([state.port.fees(), state.port.nativeBalance(operator)]);
          state.gasPrice = 2n * fees.baseFee + fees.priorityFee;
          state.native = native;
        }),
      );
    },
  };
}
