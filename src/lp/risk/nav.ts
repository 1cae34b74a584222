/**
 * What we own at the market: every asset over all chains, what is owed to us included, in the reference
 * currency.
 */

import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Mid } from '../../pricing/mid.ts';

export interface Nav {
  usd: number;
  /**
   * Every asset that we own has had a price. Where one is missing now the last stands in: no news is no loss.
   */
  complete: boolean;
}

export interface NavDeps {
  ledger: Pick<Ledger, 'exposure'>;
  market: { mid(symbol: string): Mid | Decline };
  assets: Readonly<Record<string, { price: string }>>;
}

/** A reader that remembers the last mids. Floats: this is a measure, never an amount. */
export function createNav({ ledger, market, assets }: NavDeps): {
  now(): Nav;
  worth(asset: string, units: bigint, decimals: number): number;
} {
  const last = new Map<string, number>();

  function mid(asset: string): number | undefined {
    const seen = market.mid(assets[asset]?.price ?? asset);
    if (!isDecline(seen)) last.set(asset, seen.value);
    return last.get(asset);
  }

  return {
    now() {
      let [usd, complete] = [0, true];
      for (const asset of Object.keys(assets)) {
        const { owned } = ledger.exposure(asset);
        const value = mid(asset);
        usd += wholeOf(owned, 18) * (value ?? 0);
        complete &&= value !== undefined || owned === 0n;
      }
      return { usd, complete };
    },
    worth: (asset, units, decimals) => wholeOf(units, decimals) * (mid(asset) ?? 0),
  };
}

/** Nine digits are plenty for a measure. */
function wholeOf(units: bigint, decimals: number): number {
  const scale = 10n ** BigInt(Math.max(0, decimals - 9));
  return Number(units / scale) / 10 ** Math.min(9, decimals);
}
