/** Makes the record of a trade from its exchange, valued at the prices of now. */

import { assetId } from '../../../domain/asset.ts';
import { corridorOf } from '../../../domain/corridor.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import type { StandardOrder } from '../../../domain/order.ts';
import type { TradeRecord } from '../../../ports/stores/accounting-store.ts';
import type { Exchange } from '../ledger/facts.ts';
import { usdMicrosOf } from '../pnl.ts';
import type { FoldDeps } from './folding.ts';

/** Builds the record of a trade. Without a price or a mid it has no values and is marked as late. */
export function tradeRecordOf(
  { reader: { infoOf, described }, routes, usd, mid }: FoldDeps,
  exchange: Exchange,
  order: StandardOrder,
  atMs: number,
  quoteId: Bytes32 | null,
  late: boolean,
): TradeRecord {
  const { orderId, pair, pays, earns, portion, platformFee, relayFee } = exchange;
  const route = routes().find(assetId(earns), assetId(pays));
  const [paid, got] = [infoOf(pays), infoOf(earns)];
  const [paidUsd, gotUsd] = [paid && usd(paid.symbol), got && usd(got.symbol)];
  const midNow = route === undefined ? undefined : mid(route.pairName);
  const known =
    paid !== undefined &&
    got !== undefined &&
    paidUsd !== undefined &&
    gotUsd !== undefined &&
    midNow !== undefined;
  const [origin, dest] = [described.get(earns.chainId), described.get(pays.chainId)];
  return {
    orderId,
    quoteId,
    acceptedAtMs: atMs,
    taker: order.user,
    pair,
    corridor: origin && dest ? corridorOf(origin, dest) : `${earns.chainId}-${pays.chainId}`,
    side: route?.lp ?? 'buy',
    stage: 'accepted',
    counted: false,
    mid: known ? midNow : null,
    late: late || !known,
    paidMicros: known ? usdMicrosOf(pays.amount, paid.decimals, paidUsd) : 0n,
    inputMicros: known ? usdMicrosOf(portion, got.decimals, gotUsd) : 0n,
    feesMicros: known
      ? usdMicrosOf(portion, got.decimals, gotUsd) -
        usdMicrosOf(portion - platformFee - relayFee, got.decimals, gotUsd)
      : 0n,
    earnedMicros: known ? usdMicrosOf(earns.amount, got.decimals, gotUsd) : 0n,
    paid: pays.amount,
    earned: earns.amount,
    gasMicros: 0n,
    realisedMicros: 0n,
    marks: {},
  };
}
