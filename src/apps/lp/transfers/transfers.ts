/**
 * Rebalancing executed by the LP process: what is advised becomes a transfer over a bridge, by policy or by
 * the operator's hand, and every open transfer takes a step in each turn.
 */

import { randomUUID } from 'node:crypto';
import type { EvmChain } from '../../../adapters/evm/chain/chain.ts';
import type { OpsRoute } from '../../../adapters/http/ops.ts';
import { systemClock } from '../../../adapters/system/clock.ts';
import { RequestError } from '../../../domain/errors.ts';
import type { LpNode } from '../../../lp/node/interface.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { StoredTransfer, TransferStore } from '../../../ports/stores/transfers.ts';
import type { TxStore } from '../../../ports/stores/tx-store.ts';
import { createTransfers } from '../../../transfers/executor.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { openBridges } from '../../wiring/bridges.ts';
import type { SecretContext } from '../../wiring/keys.ts';
import { createTransactors } from '../../wiring/networks.ts';
import type { Life } from '../../wiring/process.ts';
import { type OpenTransferGauges, showOpenTransfers } from '../../wiring/open-transfers.ts';
import { openSigner } from '../../wiring/signers.ts';
import { createTransferTurns } from '../../wiring/transfer-turns.ts';
import { getRoute } from '../admin/route.ts';
import type { Brake } from '../brake.ts';
import type { LpAppConfig } from '../config.ts';
import type { OperatorLog } from '../operator-log.ts';
import { createMoves, writtenAmount } from './moves.ts';
import { AUTOMATIC, createPlans } from './plans.ts';
import { overdueGauge, switchedOff } from './switched-off.ts';
import { historyRoute } from './history-route.ts';
import { transferView } from './view.ts';

interface Ground {
  chains: readonly EvmChain[];
  store: TransferStore;
  transactions: TxStore;
  node: LpNode;
  brake: Brake;
  audit: Pick<OperatorLog, 'note'>;
  life: Life;
  log: Log;
  metrics: Metrics;
  secrets: SecretContext;
}

interface ExecutedRebalancing {
  routes: readonly OpsRoute[];
  /** Call before the node starts: what open transfers need must not be quoted. */
  restore(): Promise<void>;
  /** Call when the node has started. */
  start(): Promise<void>;
}

/**
 * Opens the transfers; while they are off, open ones stand still. Throws `RequestError` where keys and
 * accounts do not fit.
 */
export async function openTransfers(
  config: LpAppConfig,
  { chains, store, transactions, node, brake, audit, life, log, metrics, secrets }: Ground,
): Promise<ExecutedRebalancing> {
  const { mode, mostUsd, mostUsdPerDay, everyMs, patienceSeconds } = config.transfers;
  const { mover } = config.keys;
  const moves = createMoves({ chains, node }, config.lp);
  if (mode === 'off' || mover === null) return switchedOff({ store, node, moves, log, metrics });
  const signer = await openSigner(mover, { life, log, metrics, secrets });
  const senders = createTransactors(config.networks, chains, {
    ...{ signers: [signer], store: transactions, log, metrics },
    laneOf: () => 'mover',
  });
  const transactors = new Map([...senders].map(([chainId, sender]) => [chainId, brake.on(sender)]));
  const { bridges, close } = openBridges(config.bridges, {
    ...{ sections: config.networks, chains, clock: systemClock },
  });
  life.onStop('bridges', async () => close());
  const ports = new Map(chains.map((chain) => [chain.chain.id, chain]));

  const transfers = createTransfers(
    {
      ...{ store, bridges, chains: ports, transactors, clock: systemClock, log },
      worthUsd: moves.worthUsd,
      reservations: node.reservations,
    },
    { patienceMs: patienceSeconds * 1_000 },
  );

  const plans = createPlans(
    { node, store, moves, clock: systemClock, plan: transfers.plan },
    { mode, mostUsd, mostUsdPerDay },
  );

  const turns = createTransferTurns(
    { transactors, clock: systemClock, log },
    { everyMs, failed: 'transfers: a turn failed; the next one tries again' },
  );

  async function turn(): Promise<void> {
    await transfers.turn();
    show(await store.open());
    if (mode !== 'automatic' || node.status().status !== 'active') return;
    for (const { move, view } of await plans()) {
      const { begins, reason } = view;
      if (begins !== 'by_itself') continue;
      const begun = await transfers.begin(randomUUID(), move, `${AUTOMATIC}: ${reason}`);
      if (!('refused' in begun)) void audit.note('policy', 'transfer', { note: `${begun.id}: ${reason}` });
    }
  }

  const gauges = openTransferGauges(metrics);
  const show = (open: readonly StoredTransfer[]): void =>
    showOpenTransfers(gauges, open, {
      waits: transfers.waits(),
      nowMs: systemClock.nowMs(),
      patienceMs: patienceSeconds * 1_000,
    });

  const shown = (transfer: StoredTransfer) =>
    transferView(transfer, { moves, waits: transfers.waits().get(transfer.id) });

  const routes: OpsRoute[] = [
    historyRoute(mode, { store, shown }),
    getRoute('/transfers/plan', async () => ({ plans: (await turns.alone(plans)).map(({ view }) => view) })),
    {
      method: 'POST',
      path: '/transfers',
      async handle({ body, address }) {
        const { amount, note, by, ...route } = wantedOf(body);
        const move = moves.moveOf(route, (decimals) => writtenAmount(amount, route, decimals));
        const begun = await turns.alone(() => transfers.begin(randomUUID(), move, `by hand: ${note}`));
        if ('refused' in begun)
          throw new RequestError(`The transfer was not begun: ${begun.detail}`, { code: begun.refused });
        void audit.note(by, 'transfer', { note: `${begun.id}: ${note}`, address });
        return { status: 200, body: shown(begun) };
      },
    },
  ];

  return {
    routes,
    restore: async () => void (await transfers.restore()),
    async start() {
      life.onStop('transfers', await turns.start(turn));
    },
  };
}

const openTransferGauges = (metrics: Metrics): OpenTransferGauges => ({
  stages: metrics.gauge(
    'firmquote_lp_transfers_open',
    'Transfers between chains that are not over, by stage',
    ['stage'],
  ),
  oldest: metrics.gauge(
    'firmquote_lp_transfer_age_seconds',
    'Since the oldest transfer that is not over began; 0 while there is none',
  ),
  overdue: overdueGauge(metrics),
});

function wantedOf(body: string) {
  let said: Record<string, unknown> = {};
  try {
    said = JSON.parse(body) as Record<string, unknown>;
  } catch {}
  const { asset, from, to, amount, note, by = 'admin API' } = said;
  if (
    typeof asset !== 'string' ||
    typeof from !== 'string' ||
    typeof to !== 'string' ||
    typeof note !== 'string' ||
    note.trim() === '' ||
    typeof by !== 'string' ||
    !/^(0|[1-9]\d{0,20})(?:\.\d{1,78})?$/.test(String(amount))
  )
    throw badRequest(
      'Send {"asset": "USDC", "from": "base", "to": "arc", "amount": "1000" (whole tokens), "note": "why", "by": "who"}.',
    );
  return { asset, from, to, amount: String(amount), note: note.trim().slice(0, 200), by: by.slice(0, 100) };
}
