/** Admin API of the transfers that have begun, also while transfers are off. */

import type { OpsRoute } from '../../../adapters/http/ops.ts';
import type { StoredTransfer, TransferStore } from '../../../ports/stores/transfers.ts';
import { getRoute } from '../admin/route.ts';
import type { TransferHistory, TransferView } from './view.ts';

/** The most transfers in one answer. */
const MOST = 500;

export const historyRoute = (
  mode: TransferHistory['mode'],
  { store, shown }: { store: Pick<TransferStore, 'newest'>; shown(transfer: StoredTransfer): TransferView },
): OpsRoute =>
  getRoute(
    '/transfers',
    async ({ query }) => {
      const limit = Math.min(MOST, Math.max(1, Number(query.get('limit') ?? 50) || 50));
      return { mode, transfers: (await store.newest(limit)).map(shown) };
    },
    ['limit'],
  );
