/**
 * Decides which places of a float get money from which others. Pure. Live quotes do not make a place low,
 * because they cost nobody anything and would let a stranger send the float around; but what they may need
 * does not leave a place either.
 */

import { convertDown, convertUp, max, min } from '../../../domain/amount.ts';
import type { Address } from '../../../domain/hex.ts';

/** Amounts in base units. */
export interface FloatState {
  chainId: number;
  token: Address;
  decimals: number;
  /** The place is low when it owns less than this; null: never. */
  low: bigint | null;
  /** The amount that one transfer from here carries. */
  lot: bigint;
  /** Held, less orders and transfers. */
  owned: bigint;
  /** `owned`, less what is promised. */
  free: bigint;
  /** The reason why no money can be moved from here or to here now; undefined: it can. */
  fixed?: string | undefined;
}

/** The ends of a transfer that is not over. */
export interface OpenMove {
  from: { chainId: number; token: Address };
  to: { chainId: number; token: Address };
}

export interface Refill<State extends FloatState> {
  to: State;
  from: State;
  /** Base units of `from`. */
  amount: bigint;
}

/** A place that is low and stays so. */
interface Unfilled<State extends FloatState> {
  to: State;
  why: string;
}

/**
 * Plans the refills of one asset, in the order of `states`. A refill carries a lot, or all that its source
 * has above its own `low` where that is enough for the place that is low. Each place gives or gets one
 * transfer at a time.
 */
export function planRefills<State extends FloatState>(
  states: readonly State[],
  open: readonly OpenMove[],
): (Refill<State> | Unfilled<State>)[] {
  const under: OpenMove[] = [...open];
  return states.flatMap((to): (Refill<State> | Unfilled<State>)[] => {
    if (to.low === null || to.owned >= to.low) return [];
    if (under.some((move) => isAt(move.to, to))) return [];
    if (to.fixed !== undefined) return [{ to, why: to.fixed }];
    const sources = states.filter(
      (from) =>
        from !== to &&
        !under.some((move) => isAt(move.from, from) || (isAt(move.from, to) && isAt(move.to, from))),
    );
    const [from] = sources
      .filter(({ fixed }) => fixed === undefined)
      .toSorted((a, b) =>
        convertUp(spareOf(a), a.decimals, 18) > convertUp(spareOf(b), b.decimals, 18) ? -1 : 1,
      );
    if (from === undefined)
      return [
        {
          to,
          why:
            sources.find(({ fixed }) => fixed !== undefined)?.fixed ??
            'the transfers of the other chains are not over',
        },
      ];
    const amount = min(from.lot, spareOf(from));
    const lacking = convertUp(to.low - to.owned, to.decimals, from.decimals);
    if (amount < min(from.lot, lacking) || convertDown(amount, from.decimals, to.decimals) === 0n)
      return [{ to, why: 'no other chain holds enough above its own low' }];
    under.push({ from, to });
    return [{ to, from, amount }];
  });
}

const spareOf = ({ free, low }: FloatState): bigint => max(free - (low ?? 0n), 0n);

const isAt = (end: OpenMove['from'], { chainId, token }: OpenMove['from']): boolean =>
  end.chainId === chainId && end.token === token;
