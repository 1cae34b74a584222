/** Completes trade history in the background: gas of transactions, counts of ended orders. */

import { divUp } from '../../domain/amount.ts';
import type { DueGas, TradeUpkeep } from '../../ports/stores/trades.ts';
import { TOPICS } from '../../settlement/log.ts';
import type { VenueDeps } from '../deps.ts';
import type { Prices } from '../market/prices.ts';

type UpkeepDeps = Pick<VenueDeps, 'chains' | 'clock' | 'log' | 'metrics'> & {
  trades: TradeUpkeep;
  prices: Prices;
};

export interface Upkeep {
  start(): void;
  /** Waits for the work in progress. */
  stop(): Promise<void>;
}

const EVERY_MS = 1_000;
const AT_ONCE = 64;
/** The gas of an order is read again after this time while a node does not have a receipt yet. */
const AGAIN_MS = 15_000;
const WEI = 10n ** 18n;

export function createUpkeep(
  { trades, chains, prices, clock, log, metrics }: UpkeepDeps,
  { everyMs = EVERY_MS }: { everyMs?: number } = {},
): Upkeep {
  const captured = metrics.counter('firmquote_venue_gas_captured_total', 'Captured gas of transactions', {
    result: ['captured', 'postponed'],
  });
  let stopped = true;
  let cancel = () => {};
  let working: Promise<void> = Promise.resolve();
  let adopted = false;

  async function work() {
    if (!adopted) {
      const rows = await trades.adopt();
      adopted = true;
      if (rows > 0) log.info({ rows }, 'missing rows of trade history were added');
    }
    for (
      let due = await trades.dueGas(AT_ONCE);
      due.length > 0;
      due = due.length === AT_ONCE && !stopped ? await trades.dueGas(AT_ONCE) : []
    )
      await Promise.all(due.map(capture));
    await trades.fold();
    await trades.givePositions();
  }

  async function capture(due: DueGas) {
    const port = chains.get(due.chainId);
    const receipt = await port?.receipt(due.txHash, port.chain.escrow).catch(() => undefined);
    if (!receipt) {
      captured.add({ result: 'postponed' });
      return trades.postponeGas(due, clock.nowMs() + AGAIN_MS);
    }
    captured.add({ result: 'captured' });
    // Orders of one bundled transaction share its cost.
    const orders = BigInt(
      Math.max(1, receipt.logs?.filter(({ topics }) => topics[0] === TOPICS.Finalised).length ?? 0),
    );
    await trades.recordGas(due, {
      gasUsed: receipt.gasUsed,
      feeWei: divUp(receipt.gasUsed * receipt.effectiveGasPrice + receipt.rollupFee, orders),
      // Priced now, seconds after the transaction became final.
      nativeUsd: port ? prices.nativeUsd(port.chain.native, WEI) : null,
      atMs: clock.nowMs(),
    });
  }

  function next() {
    cancel = clock.after(everyMs, () => {
      working = work()
        .catch((error: unknown) =>
          log.warn({ error }, 'trade history is incomplete; the next run tries again'),
        )
        .finally(() => {
          if (!stopped) next();
        });
    });
  }

  return {
    start() {
      stopped = false;
      next();
    },
    async stop() {
      stopped = true;
      cancel();
      await working;
    },
  };
}
