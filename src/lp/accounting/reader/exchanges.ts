/** The orders that the LP serves, as exchanges of the books. */

import { assetId } from '../../../domain/asset.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { StandardOrder } from '../../../domain/order.ts';
import { ownSlice, type OwnSlice } from '../../routes/order.ts';
import type { Exchange } from '../ledger/facts.ts';
import { infoOf, type ReaderState } from './reading.ts';

/** Makes the exchange of an own slice, and keeps it for the facts of its order. */
export function exchangeOf(
  state: ReaderState,
  orderId: Bytes32,
  slice: OwnSlice,
  order: StandardOrder,
): Exchange {
  const { pays, earns, portion, context } = slice;
  const [paid, got] = [infoOf(state, pays), infoOf(state, earns)];
  const route = state.deps.routes().find(assetId(earns), assetId(pays));
  const exchange: Exchange = {
    orderId,
    pair: route?.pairName ?? `${got?.symbol ?? '?'}-${paid?.symbol ?? '?'}`,
    pays,
    earns,
    portion,
    platformFee: (portion * BigInt(context.feeBps)) / 10_000n,
    relayFee: context.relayFee,
  };
  state.exchanges.set(orderId, { exchange, order });
  return exchange;
}

/** `orders`: those of the reading. undefined: the LP serves no part of the order, or does not know it. */
export async function ownExchange(
  state: ReaderState,
  orderId: Bytes32,
  orders: ReadonlyMap<Bytes32, StandardOrder>,
): Promise<{ exchange: Exchange; order: StandardOrder } | undefined> {
  const known = state.exchanges.get(orderId);
  if (known !== undefined) return known;
  const order = orders.get(orderId) ?? (await state.deps.awards.award(orderId))?.order;
  const slice = order && ownSlice(order, state.options.account, state.described);
  return order && slice && { exchange: exchangeOf(state, orderId, slice, order), order };
}
