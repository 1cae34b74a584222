/** Net asset value: every asset over all chains at the current mid, receivables included, in USD. */

import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Mid } from '../../pricing/mid.ts';
import { wholeTokens } from '../../pricing/usd.ts';

export interface Nav {
  now(): NetAssetValue;
  /** Returns the value of base units of an asset in USD; 0 while the asset has had no price. */
  worth(asset: string, units: bigint, decimals: number): number;
}

interface NetAssetValue {
  usd: number;
  /**
   * Every asset that we own has had a price. The last mid stands in while one is missing: that is no loss.
   */
  complete: boolean;
}

interface NavDeps {
  ledger: Pick<Ledger, 'exposure'>;
  market(): { mid(symbol: string): Mid | Decline };
  assets: Readonly<Record<string, { price: string }>>;
}

/** Uses floats, because NAV is a measure and never an amount to pay. */
export function createNav({ ledger, market, assets }: NavDeps): Nav {
  const last = new Map<string, number>();

  function mid(asset: string): number | undefined {
    const seen = market().mid(assets[asset]?.price ?? asset);
    if (!isDecline(seen)) last.set(asset, seen.value);
    return last.get(asset);
  }

  return {
    now() {
      let [usd, complete] = [0, true];
      for (const asset of Object.keys(assets)) {
        const { owned } = ledger.exposure(asset);
        const value = mid(asset);
        usd += wholeTokens(owned, 18) * (value ?? 0);
        complete &&= value !== undefined || owned === 0n;
      }
      return { usd, complete };
    },
    worth: (asset, units, decimals) => wholeTokens(units, decimals) * (mid(asset) ?? 0),
  };
}
