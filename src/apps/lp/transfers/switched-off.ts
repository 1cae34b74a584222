/**
 * Transfers while they are switched off: they can be read. At start the log says which are open, and what
 * they would withdraw stays reserved, because a process with transfers switched on goes on with them.
 */

import { formatTokens } from '../../../domain/amount.ts';
import type { LpNode } from '../../../lp/node/interface.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { TransferStore } from '../../../ports/stores/transfers.ts';
import { foldTransfer, placeOfTransfer } from '../../../settlement/transfer.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import type { OpsRoute } from '../../../adapters/http/ops.ts';
import type { Moves } from './moves.ts';
import { historyRoute } from './history-route.ts';
import { transferView, WHERE } from './view.ts';

interface Parts {
  store: Pick<TransferStore, 'open' | 'newest'>;
  node: Pick<LpNode, 'reservations'>;
  moves: Moves;
  log: Log;
  metrics: Metrics;
}

/** Transfers can be read, and none begins. */
export function switchedOff(parts: Parts) {
  const refuse = async (): Promise<never> => {
    throw badRequest(
      'Transfers are off. Set transfers.mode to "by_hand" or "automatic", as docs/lp/rebalancing.md says.',
    );
  };
  const routes: OpsRoute[] = [
    historyRoute('off', {
      store: parts.store,
      shown: (transfer) => transferView(transfer, { moves: parts.moves, waits: undefined }),
    }),
    { method: 'GET', path: '/transfers/plan', handle: refuse },
    { method: 'POST', path: '/transfers', handle: refuse },
  ];
  return { routes, restore: () => holdOpenTransfers(parts), start: async () => {} };
}

/** Throws `UpstreamError` of the store. */
async function holdOpenTransfers({ store, node, moves, log, metrics }: Parts): Promise<void> {
  const open = await store.open();
  // Nobody takes their next steps, so each of them is overdue.
  overdueGauge(metrics).set(open.length);
  for (const { id, bridge, move, facts } of open) {
    const state = foldTransfer(move.amount, facts);
    const { stage, amount } = state;
    if (state.isReserved) node.reservations.restore(id, move.from, move.amount);
    const place = placeOfTransfer(move, state);
    const { symbol, decimals } = moves.tokenAt(place) ?? { symbol: place.token, decimals: null };
    const [from, to] = [moves.slugOf(move.from.chainId), moves.slugOf(move.to.chainId)];
    log.error(
      { transfer: id, stage, bridge },
      `transfers.mode is "off" while transfer ${id} of ${formatTokens(amount, { symbol, decimals })} from ${from} to ${to} is open (${stage}): nobody takes its next step, and ${WHERE[stage]}. Set transfers.mode to "by_hand", with keys.mover and the bridge ${bridge}, until firmquote lp rebalance status no longer lists it.`,
    );
  }
}

/**
 * Makes the gauge of overdue transfers, also for a process with transfers switched off: its open transfers
 * wait too.
 */
export const overdueGauge = (metrics: Metrics) =>
  metrics.gauge(
    'firmquote_lp_transfers_overdue',
    'Transfers that have waited for longer than transfers.patienceSeconds, beyond the delay of a withdrawal',
  );
