/** What money, awards and pairs are worth now, by the prices of the quotes. */

import { assetId } from '../../domain/asset.ts';
import { isDecline } from '../../domain/decline.ts';
import type { Money } from '../../inventory/event.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Rational } from '../../pricing/rational.ts';
import { usdDown } from '../../pricing/usd.ts';
import type { Market } from '../market/market.ts';
import type { QuotingSnapshot } from '../quoting/quoting-snapshot.ts';
import { type ChainState, gasPriceOf } from '../routes/chain-state.ts';
import type { OpenAward } from '../settlement/awards.ts';

/** Each is undefined without a price. */
export interface Values {
  /** One whole token. */
  usd(asset: string): Rational | undefined;
  worthUsd(money: Money): number | undefined;
  /**
   * Values the award as its quote was worth when it was signed: a price that has gone since must not delay
   * the fill.
   */
  awardUsd(award: OpenAward): number | undefined;
  /** One whole coin of a chain's native currency. */
  nativeUsd(chainId: number): Rational | undefined;
  midOf(pairName: string): number | undefined;
}

interface ValuesDeps {
  ledger: Pick<Ledger, 'bucket' | 'quote'>;
  market(): Market;
  states: ReadonlyMap<number, ChainState>;
  quoting(): QuotingSnapshot;
}

export function createValues({ ledger, market, states, quoting }: ValuesDeps): Values {
  const usd = (asset: string) => quoting().context.usd(asset);
  function worthUsd({ chainId, token, amount }: Money): number | undefined {
    const bucket = ledger.bucket(chainId, token);
    const price = bucket && usd(bucket.asset);
    return price && Number(usdDown(amount, { decimals: bucket.decimals, price }));
  }
  return {
    usd,
    worthUsd,
    awardUsd({ orderId, slice }) {
      const notional = ledger.quote(orderId)?.request.notional ?? 0n;
      return notional > 0n ? Number(notional) / 1e6 : worthUsd(slice.pays);
    },
    nativeUsd(chainId) {
      const state = states.get(chainId);
      const mid = state && market().mid(gasPriceOf(state));
      return mid === undefined || isDecline(mid) ? undefined : mid.price;
    },
    midOf(pairName) {
      const pair = quoting().routes.all.find((each) => each.pairName === pairName)?.pair;
      const price = pair && market().pair(pair.base, pair.quote);
      return price === undefined || isDecline(price) ? undefined : price.mid.value;
    },
  };
}

/** "none": the configuration no longer has the pair. */
export const awardPairOf = (
  { routes }: Pick<QuotingSnapshot, 'routes'>,
  { slice: { earns, pays } }: Pick<OpenAward, 'slice'>,
): string => routes.find(assetId(earns), assetId(pays))?.pairName ?? 'none';
