/**
 * Costs of our transactions for a cross-chain trade: fill, proof, claim, and a rollup's fees. Refreshed in
 * the background, priced in the output token on the quote path.
 */

import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Address } from '../../domain/hex.ts';
import type { Rational } from '../../pricing/rational.ts';
import { exchangedUp } from '../../pricing/usd.ts';
import { type ChainState, type ExtraFees, gasPriceOf } from '../routes/chain-state.ts';
import type { LpConfig } from '../config/config.ts';
import type { Market } from '../market/market.ts';
import type { QuoteRoute } from '../routes/route.ts';

export interface GasCosts {
  /** Base units of the output token, rounded up; 0n where relayer or taker pays. On the quote path. */
  own(route: QuoteRoute): bigint | Decline;
  /** Reads the fees of all chains. Rejects with an error of a chain after all were tried. */
  refresh(operator: Address): Promise<void>;
}

const UNKNOWN: Decline = { declined: 'standby', detail: 'gas price unknown' };

export function createGas(
  { chains, market }: { chains: ReadonlyMap<number, ChainState>; market: Market },
  { assets, quoting }: Pick<LpConfig, 'assets' | 'quoting'>,
): GasCosts {
  const fill = BigInt(quoting.gasUnits.fill);
  const proveAndClaim = BigInt(quoting.gasUnits.prove + quoting.gasUnits.claim);

  function own(route: QuoteRoute): bigint | Decline {
    if (route.sameChain) return 0n;
    const [there, back] = [chains.get(route.dest.id), chains.get(route.origin.id)];
    if (
      there?.weiPerGas === undefined ||
      there.extraFees === undefined ||
      back?.weiPerGas === undefined ||
      back.extraFees === undefined
    )
      return UNKNOWN;
    const output = market.mid(assets[route.outputToken.symbol]?.price ?? route.outputToken.symbol);
    if (isDecline(output)) return output;
    const filled = inTokens(
      there,
      there.weiPerGas * fill + there.extraFees.fill,
      route.outputToken.decimals,
      output.price,
    );
    if (typeof filled !== 'bigint') return filled;
    const claimed = inTokens(
      back,
      back.weiPerGas * proveAndClaim + back.extraFees.prove + back.extraFees.claim,
      route.outputToken.decimals,
      output.price,
    );
    return typeof claimed === 'bigint' ? filled + claimed : claimed;
  }

  function inTokens(state: ChainState, wei: bigint, decimals: number, price: Rational): bigint | Decline {
    const native = market.mid(gasPriceOf(state));
    if (isDecline(native)) return native;
    return exchangedUp(wei, { decimals: 18, price: native.price }, { decimals, price });
  }

  async function extraFees({ port }: ChainState): Promise<ExtraFees> {
    const feeOf = await port.rollupFees();
    const { txBytes, gasUnits } = quoting;
    const of = (kind: keyof ExtraFees) =>
      feeOf({ unsignedBytes: txBytes[kind], gas: BigInt(gasUnits[kind]) });
    return { fill: of('fill'), prove: of('prove'), claim: of('claim') };
  }

  return {
    own,
    async refresh(operator) {
      const read = await Promise.allSettled(
        [...chains.values()].map(async (state) => {
          const [fees, native, extra] = await Promise.all([
            state.port.fees(),
            state.port.nativeBalance(operator),
            extraFees(state),
          ]);
          state.weiPerGas = 2n * fees.baseFee + fees.priorityFee;
          state.extraFees = extra;
          state.native = native;
        }),
      );
      for (const each of read) if (each.status === 'rejected') throw each.reason;
    },
  };
}
