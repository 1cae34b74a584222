/**
 * Transfers that are open while transfers are switched off: at start the log says which, and what they would
 * withdraw stays reserved, because a process with transfers switched on goes on with them.
 */

import { formatTokens } from '../../../domain/amount.ts';
import type { LpNode } from '../../../lp/node/interface.ts';
import type { Log } from '../../../ports/log.ts';
import type { TransferStore } from '../../../ports/stores/transfers.ts';
import { foldTransfer, placeOfTransfer, type TransferStage } from '../../../settlement/transfer.ts';
import type { Moves } from './moves.ts';

const MEANING: Record<TransferStage, string> = {
  planned: 'the money is in the ledger of the source, kept back from quotes',
  requested: 'the money is in the ledger of the source, requested for withdrawal and kept back from quotes',
  withdrawn: 'the money lies on the account of the source chain, where nothing quotes it',
  burned: 'the money is in the bridge',
  attested: 'the money is in the bridge, and can be delivered',
  minted: 'the money lies on the account of the destination chain, where nothing quotes it',
  refused:
    'the bridge refused, and the money lies on the account of the source chain, where nothing quotes it',
  deposited: 'the money is in the ledger of the destination',
  abandoned: 'the money is in the ledger of the source',
};

interface Parts {
  store: Pick<TransferStore, 'open'>;
  node: Pick<LpNode, 'reservations'>;
  moves: Moves;
  log: Log;
}

/** Call before the node starts. Throws `UpstreamError` of the store. */
export async function holdOpenTransfers({ store, node, moves, log }: Parts): Promise<void> {
  for (const { id, bridge, move, facts } of await store.open()) {
    const state = foldTransfer(move.amount, facts);
    const { stage, amount } = state;
    if (state.isReserved) node.reservations.restore(id, move.from, move.amount);
    const place = placeOfTransfer(move, state);
    const { symbol, decimals } = moves.tokenAt(place) ?? { symbol: place.token, decimals: null };
    const [from, to] = [moves.slugOf(move.from.chainId), moves.slugOf(move.to.chainId)];
    log.error(
      { transfer: id, stage, bridge },
      `transfers.mode is "off" while transfer ${id} of ${formatTokens(amount, { symbol, decimals })} from ${from} to ${to} is open (${stage}): nobody takes its next step, and ${MEANING[stage]}. Set transfers.mode to "by_hand", with keys.mover and the bridge ${bridge}, until firmquote lp rebalance status no longer lists it.`,
    );
  }
}
