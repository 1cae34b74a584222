/** The profit of a window, from what is stored and, when it lasts until now, from the books in memory. */

import type {
  PositionRow,
  ProfitKey,
  ProfitWindow,
  TransferCosts,
} from '../../../ports/stores/accounting-store.ts';
import type { ProfitSums } from '../fold/books.ts';
import { type PositionView, positionViewOf } from '../pnl.ts';
import { showTrade, type ShownProfitRow } from '../trade-view.ts';
import type { Bookkeeper } from './bookkeeper.ts';
import { storedSums } from './books-pass.ts';

export interface Totals extends ProfitSums {
  realised: bigint;
  unrealised: bigint;
  /** spread + realised + unrealised - gas - lost - bridgeFees - transferGas. */
  total: bigint;
}

/** Every figure is what was booked in the window; `unrealised` is its change over the window. */
export interface Profit extends ProfitWindow {
  by: ProfitKey;
  rows: ShownProfitRow[];
  /** Sums all trades of the window, whatever the limit of `rows`. */
  totals: Totals;
  transfers: TransferCosts;
  positions: PositionInWindow[];
  /** Unix ms. A window that starts earlier counts from here, except that of all time; null: no such limit. */
  timedFromMs: number | null;
}

/** The quantity, price and value held now are null when the window ended in the past. */
interface PositionInWindow {
  asset: string;
  quantity: bigint | null;
  /** USD for one whole token; null when there is no price. */
  price: number | null;
  valueMicros: bigint | null;
  costMicros: bigint | null;
  realisedMicros: bigint;
  unrealisedMicros: bigint;
  ownerMicros: bigint;
}

/** Rejects when the store does. */
export async function profitOf(
  keeper: Bookkeeper,
  { by, limit, ...window }: ProfitWindow & { by: ProfitKey; limit: number },
): Promise<Profit> {
  const { deps, reader } = keeper;
  const stored = await deps.store.profit(by, window, limit);
  const { rows, assets, transfers, timedFromMs } = stored;
  const held = window.untilMs === null ? keeper.books?.positions : undefined;
  const positions = [...new Set([...(held?.keys() ?? []), ...assets.map(({ asset }) => asset)])].map(
    (asset): PositionInWindow => {
      const booked = assets.find((each) => each.asset === asset);
      const row = held?.get(asset);
      const view = row && positionViewOf(row, deps.usd(asset));
      return {
        asset,
        quantity: view?.quantity ?? null,
        price: view?.price ?? null,
        valueMicros: view?.valueMicros ?? null,
        costMicros: view?.costMicros ?? null,
        realisedMicros: booked?.realised ?? 0n,
        unrealisedMicros: (booked?.unrealised ?? 0n) + sinceValued(row, view, window.sinceMs),
        ownerMicros: booked?.owner ?? 0n,
      };
    },
  );
  const shown = rows.map(({ trade, ...row }): ShownProfitRow => ({
    ...row,
    ...(trade && { trade: showTrade(trade, reader.infoOf) }),
  }));
  const totals = totalsOf(storedSums(stored), positions);
  return { ...window, by, rows: shown, totals, transfers, positions, timedFromMs };
}

/** Returns the change of the position's value since the position was last written, in millionths of USD. */
function sinceValued(row: PositionRow | undefined, view: PositionView | undefined, sinceMs: number): bigint {
  if (row === undefined || (view?.unrealisedMicros ?? null) === null || row.unpriced !== 0n) return 0n;
  if (row.unrealisedMicros === null && sinceMs > 0) return 0n;
  return (view?.unrealisedMicros ?? 0n) - (row.unrealisedMicros ?? 0n);
}

export function totalsOf(
  sums: ProfitSums,
  positions: readonly Pick<PositionView, 'realisedMicros' | 'unrealisedMicros'>[],
): Totals {
  const realised = positions.reduce((sum, each) => sum + each.realisedMicros, 0n);
  const unrealised = positions.reduce((sum, each) => sum + (each.unrealisedMicros ?? 0n), 0n);
  return {
    ...sums,
    realised,
    unrealised,
    total: sums.spread + realised + unrealised - sums.gas - sums.lost - sums.bridgeFees - sums.transferGas,
  };
}

/** Positions at the prices of now; none while the books are not loaded. */
export const bookedPositions = ({ books, deps }: Bookkeeper): PositionView[] =>
  [...(books?.positions.values() ?? [])].map((row) => positionViewOf(row, deps.usd(row.asset)));
