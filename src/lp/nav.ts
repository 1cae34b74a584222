/** What we own at the market: every asset over all chains, what is owed to us included, in the reference currency. */

import { isDecline } from '../domain/decline.ts';
import type { Ledger } from '../inventory/ledger.ts';
import type { Mid } from '../pricing/mid.ts';
import type { Decline } from '../domain/decline.ts';

export interface Nav {
  usd: number;
  /** Every asset that we own has a price now; otherwise the last known one stands in, or nothing. */
  complete: boolean;
}

export interface NavDeps {
  ledger: Pick<Ledger, 'exposure'>;
  market: { mid(symbol: string): Mid | Decline };
  assets: Readonly<Record<string, { price: string }>>;
}

/** A reader that remembers the last mids. Floats: this is a measure, never an amount. */
export function createNav({ ledger, market, assets }: NavDeps): { now(): Nav; worth(asset: string, units: bigint, decimals: number): number } {
  const last = new Map<string, number>();

  function mid(asset: string): { value: number; fresh: boolean } {
    const seen = market.mid(assets[asset]?.price ?? asset);
    if (isDecline(seen)) return { value: last.get(asset) ?? 0, fresh: false };
    last.set(asset, seen.value);
    return { value: seen.value, fresh: true };
  }

  return {
    now() {
      let [usd, complete] = [0, true];
      for (const asset of Object.keys(assets)) {
        const { owned } = ledger.exposure(asset);
        const { value, fresh } = mid(asset);
        usd += wholeOf(owned, 18) * value;
        complete &&= fresh || owned === 0n;
      }
      return { usd, complete };
    },
    worth: (asset, units, decimals) => wholeOf(units, decimals) * mid(asset).value,
  };
}

/** Nine digits are plenty for a measure. */
function wholeOf(units: bigint, decimals: number): number {
  const scale = 10n ** BigInt(Math.max(0, decimals - 9));
  return Number(units / scale) / 10 ** Math.min(9, decimals);
}
