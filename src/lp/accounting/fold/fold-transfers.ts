/** Folds the facts of transfers between chains: what left, what arrived or came back, and what it cost. */

import type { Money } from '../../../inventory/event.ts';
import type { BookedTransfer } from '../../../ports/stores/accounting-store.ts';
import type { StoredTransfer } from '../../../ports/stores/transfers.ts';
import type { ReadFact } from '../reader/reading.ts';
import { idOf } from '../ledger/facts.ts';
import { convertDown } from '../../../domain/amount.ts';
import { toAtto } from '../../../inventory/bucket.ts';
import { applyTrade, valueOf } from '../pnl.ts';
import { begunTransfer, departedTransfer, endedTransfer, type TransferTokens } from '../transfers/booked.ts';
import { type Folding, ownerMoves, shiftPosition } from './folding.ts';

/** Replaces what the books write down of a transfer, and its share of the sums. */
export function putTransfer(
  { deps, held: { sums }, pass, moved }: Folding,
  of: StoredTransfer,
  change: (booked: BookedTransfer) => BookedTransfer,
): void {
  const asset = deps.reader.infoOf(of.move.from)?.symbol ?? of.move.from.token;
  const was =
    moved.get(of.id) ?? pass.transfers.get(of.id) ?? begunTransfer(of, asset, deps.reader.described);
  const now = change(was);
  sums.bridgeFees += now.feeMicros - was.feeMicros;
  sums.transferGas += now.gasMicros - was.gasMicros;
  moved.set(of.id, now);
}

export function foldDeparture(
  folding: Folding,
  { transfer, money, place }: Extract<ReadFact, { kind: 'departed' }>,
): void {
  const posted = folding.held.journal.departed(transfer.id, money, place);
  folding.batch.entries.push(...posted);
  if (posted.length > 0)
    putTransfer(folding, transfer, (booked) =>
      departedTransfer(booked, tokensOf(folding, money), place.atMs),
    );
}

export function foldEndOfTransfer(
  folding: Folding,
  { kind, transfer, left, money, place, logIndex }: Extract<ReadFact, { kind: 'arrived' | 'returned' }>,
): void {
  const { deps, held, batch } = folding;
  const { journal } = held;
  // It left before the books were opened: for them it comes from the owner.
  if (!hasLeft(folding, transfer, left)) {
    batch.entries.push(...journal.owner(money, place, logIndex));
    return void ownerMoves(folding, money);
  }
  const [from, to] = [tokensOf(folding, left), tokensOf(folding, money)];
  const expected = convertDown(left.amount, from.decimals, to.decimals);
  const posted =
    kind === 'arrived'
      ? journal.arrived(
          {
            transferId: transfer.id,
            asset: deps.reader.infoOf(left)?.symbol ?? left.token,
            left,
            got: money,
            expected,
          },
          place,
        )
      : journal.returned(transfer.id, left, money.amount, place);
  batch.entries.push(...posted);
  if (posted.length === 0) return;
  // In 1e-18, because the two chains may count in different units.
  const fee = toAtto(left.amount, from.decimals) - toAtto(money.amount, to.decimals);
  const [size, price] = [fee < 0n ? -fee : fee, deps.usd(deps.reader.infoOf(money)?.symbol ?? '')];
  const micros = price === undefined ? 0n : valueOf(size, price);
  shiftPosition(folding, money, (position) => applyTrade(position, -fee, micros));
  const feeMicros = fee < 0n ? -micros : micros;
  putTransfer(folding, transfer, (booked) =>
    endedTransfer(booked, { stage: kind, ended: money.amount, feeMicros, atMs: place.atMs }),
  );
}

/** Returns whether the departure is in the books, or will be when its chain is read. */
function hasLeft(
  { held: { cursors, opened }, pass, moved }: Folding,
  { id }: StoredTransfer,
  left: Money & { block: bigint },
): boolean {
  const cursor = cursors.get(left.chainId);
  const unread =
    opened.has(idOf.opening(left.chainId, left.token)) && (cursor?.block ?? left.block) < left.block;
  return unread || pass.known.has(idOf.departed(id)) || moved.get(id)?.departedAtMs != null;
}

function tokensOf({ deps }: Folding, money: Money): TransferTokens {
  const info = deps.reader.infoOf(money);
  return { amount: money.amount, decimals: info?.decimals ?? 0, price: info && deps.usd(info.symbol) };
}
