/** Transfers of a float whose mover is switched off: they stand still, and the log says so at start. */

import type { Address } from '../../../domain/hex.ts';
import type { Log } from '../../../ports/log.ts';
import type { Gauge, Metrics } from '../../../ports/metrics.ts';
import type { TransferStore } from '../../../ports/stores/transfers.ts';
import { foldTransfer } from '../../../settlement/transfer.ts';

/** What open transfers take stays out of quotes. Throws `UpstreamError` of the store. */
export async function tellOpenTransfers(
  { store, log, metrics }: { store: Pick<TransferStore, 'open'>; log: Log; metrics: Metrics },
  { id, account }: { id: string; account: Address },
): Promise<void> {
  const open = (await store.open()).filter(({ move }) => move.account === account);
  // Nobody takes their next steps, so each of them is overdue.
  floatOverdueGauge(metrics).set(open.length, { venue: id });
  for (const { id: transfer, bridge, move, facts } of open) {
    const { stage } = foldTransfer(move.amount, facts);
    log.error(
      { transfer, stage, bridge },
      `moves of the bridge "${id}" is null while a transfer of its float is open (${stage}): nobody takes its next step. Set moves again until the transfer is over.`,
    );
  }
}

export const floatOverdueGauge = (metrics: Metrics): Gauge =>
  metrics.gauge(
    'firmquote_bridge_transfers_overdue',
    'Transfers that have waited for longer than moves.patienceSeconds, beyond the delay of a withdrawal',
    ['venue'],
  );
