/** Applies what the chain follower sees of our orders to awards, accounting, replicas and venues. */

import { formatTokens } from '../../domain/amount.ts';
import { tokenOrAddress } from '../../domain/chain.ts';
import type { FollowListener } from '../chain/apply-event.ts';
import type { Spending } from '../chain/spending.ts';
import { ownSlice } from '../routes/order.ts';
import type { LpParts } from './parts.ts';

export function createChainListener(
  parts: LpParts,
  chainId: number,
  spending: Pick<Spending, 'changed'>,
): FollowListener {
  const { awards, quoteEvents, sharing, sessions, standby, chains } = parts;
  const { account, lpMetrics } = parts.base;
  const { inTransit } = parts.opened;
  const { log } = parts.deps;
  return {
    opened: awards.opened,
    stranger(orderId, order) {
      log.debug({ orderId }, 'an open order names this LP without a quote that this process signed');
      if (ownSlice(order, account, chains) !== undefined) sharing?.stranger(orderId, order);
    },
    filled(orderId, seen) {
      const { timestamp, txHash, blockNumber } = seen;
      awards.update(orderId, { fill: { timestamp, txHash, blockNumber }, stage: 'filled', note: 'filled' });
      const award = awards.get(orderId);
      if (award?.slice.originChainId !== chainId) lpMetrics.fills.add({ outcome: 'filled' });
      if (award !== undefined) quoteEvents.filled(award, seen);
      for (const session of sessions) session.sendFill(orderId, 'filled', txHash);
    },
    unfilled(orderId, was) {
      awards.update(orderId, { fill: null, stage: 'committed', note: 'the fill was reorganised away' });
      const award = awards.get(orderId);
      if (award !== undefined) quoteEvents.unfilled(award, was);
      lpMetrics.fills.add({ outcome: 'reorged' });
    },
    finalised(orderId, seen) {
      const award = awards.get(orderId);
      const kind = award?.slice.destChainId === chainId ? 'same_chain' : 'cross_chain';
      const pair = award === undefined ? 'none' : parts.pairOf(award);
      lpMetrics.awards.add({ outcome: 'settled', kind, pair });
      if (award !== undefined) lpMetrics.tradedUsd.add({ pair }, parts.worthUsd(award.slice.pays) ?? 0);
      awards.update(orderId, { stage: 'finalised', note: null });
      if (award !== undefined) quoteEvents.finalised(award, seen);
    },
    refunded(orderId) {
      const award = awards.get(orderId);
      awards.update(orderId, { stage: 'failed', note: 'refunded to the taker' });
      if (award !== undefined) quoteEvents.failed(award, 'refunded to the taker');
    },
    moved(money, id, step) {
      if (step !== undefined) inTransit.moved(step, money, parts.finalBlock);
      quoteEvents.moved(money, id, step?.transfer.id);
    },
    operator(allowed) {
      spending.changed();
      if (!allowed)
        log.fatal({ chainId }, 'the account revoked our operator key on the chain: nothing more is signed');
      const note = `the operator key was revoked on ${chains.get(chainId)?.slug ?? chainId}`;
      standby.report('operator', allowed ? undefined : note, String(chainId));
    },
    bondPaid(token, { orderId, quoteId, reason, promised, paid, forfeited }) {
      const chain = chains.get(chainId);
      lpMetrics.bondClaims.add({ reason });
      const unit = chain && tokenOrAddress(chain, token);
      log.fatal(
        {
          ...{ orderId, quoteId, reason, chain: chain?.slug },
          ...(unit && { promised: formatTokens(promised, unit), lost: formatTokens(paid + forfeited, unit) }),
        },
        'our bond has paid a taker: a quote that was signed in our name could not be executed',
      );
    },
    ...(sharing && { spent: (orderId) => sharing.spent(chainId, orderId), used: sharing.used }),
    followed() {
      sharing?.followed(chainId);
      void parts.advance();
    },
  };
}
