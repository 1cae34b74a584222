/** Writes a transfer down in the books: its stage, the amounts it moved, and its cost in USD when booked. */

import type { Chain } from '../../../domain/chain.ts';
import type { BookedTransfer } from '../../../ports/stores/accounting-store.ts';
import type { StoredTransfer } from '../../../ports/stores/transfers.ts';
import type { Rational } from '../../../pricing/rational.ts';
import { usdMicrosOf } from '../pnl.ts';

export interface TransferTokens {
  amount: bigint;
  decimals: number;
  /** USD of a whole token; undefined: unknown, and the figure stays 0. */
  price: Rational | undefined;
}

const worth = ({ amount, decimals, price }: TransferTokens): bigint =>
  price === undefined ? 0n : usdMicrosOf(amount, decimals, price);

export function begunTransfer(
  { id, bridge, move }: StoredTransfer,
  asset: string,
  chains: ReadonlyMap<number, Pick<Chain, 'slug'>>,
): BookedTransfer {
  const slugOf = (chainId: number): string => chains.get(chainId)?.slug ?? String(chainId);
  return {
    ...{ id, asset, bridge, stage: 'begun' },
    ...{ fromChain: slugOf(move.from.chainId), toChain: slugOf(move.to.chainId) },
    ...{ departed: 0n, ended: 0n, departedAtMs: null, endedAtMs: null },
    ...{ movedMicros: 0n, feeMicros: 0n, gasMicros: 0n },
  };
}

export function departedTransfer(of: BookedTransfer, left: TransferTokens, atMs: number): BookedTransfer {
  // The other chain may have been read first.
  const stage = of.stage === 'begun' ? 'departed' : of.stage;
  return { ...of, stage, departed: left.amount, departedAtMs: atMs, movedMicros: worth(left) };
}

/** `ended`: base units of where it ended. */
export function endedTransfer(
  of: BookedTransfer,
  { atMs, ...end }: { stage: 'arrived' | 'returned'; ended: bigint; feeMicros: bigint; atMs: number },
): BookedTransfer {
  return { ...of, ...end, endedAtMs: Math.max(atMs, of.departedAtMs ?? atMs) };
}

export const withTransferGas = (
  of: BookedTransfer,
  wei: bigint,
  price: Rational | undefined,
): BookedTransfer => ({ ...of, gasMicros: of.gasMicros + worth({ amount: wei, decimals: 18, price }) });
