/** The periodic work of the LP: leases, learning, risk and standby. */

import type { LpParts } from './parts.ts';

const TICK_MS = 250;
/* In ticks. */
const EVERY_SECOND = 4;
const REBALANCING_EVERY = 12;
const GAS_EVERY = 20;
const TRANSFERS_EVERY = 40;
const STORE_WIN_RATES_EVERY = 120;

export interface Ticker {
  start(): void;
  stop(): void;
}

export function createTicker(parts: LpParts): Ticker {
  const { leases, lead, sharing, replica, standby, risk, winRates, accounts, sessions, signals } = parts;
  const { clock, log, store, transactors, shared } = parts.deps;
  let ticks = 0;
  let handedOver = false;
  let stopped = false;
  let cancel = () => {};

  const orLog = (work: Promise<unknown> | undefined, message: string, level: 'error' | 'warn' = 'error') =>
    work?.catch((error: unknown) => log[level]({ error }, message));

  async function tick(): Promise<void> {
    ticks += 1;
    await renewLeases();
    await orLog(replica?.tick(), 'the state of the other replicas could not be read');
    if (shared !== undefined)
      await orLog(risk.followReplicas(), 'the kill switch and pauses of other replicas could not be read');
    if (shared !== undefined) await orLog(signals.follow(store), 'the shared signals could not be read');
    if ((leases.lost || lead.over) && !handedOver) await handOver();
    parts.market().tick();
    parts.proving?.measure();
    if (ticks % EVERY_SECOND === 0) {
      winRates.countExpired();
      parts.quoting().ladders.forgetOld();
      parts.receivables.reportOverdue();
    }
    if (ticks % STORE_WIN_RATES_EVERY === 0 && !leases.lost)
      await orLog(winRates.flush(), 'win-rate curves could not be stored', 'warn');
    if (ticks % EVERY_SECOND === 1 && replica !== undefined)
      await orLog(accounts.followLeader(), 'taker costs could not be read from the leading replica', 'warn');
    void orLog(parts.bonds.refresh(), 'the bonds could not be read', 'warn');
    if (ticks % REBALANCING_EVERY === 0) parts.rebalancing.advise();
    if (ticks % GAS_EVERY === 0) {
      const gas = parts.quoting().context.refreshGas(parts.operator);
      await orLog(gas, 'gas prices could not be read', 'warn');
    }
    if (ticks % TRANSFERS_EVERY === 0)
      await orLog(refreshTransfers(), 'transfers on their way could not be read', 'warn');
    risk.update(standby.controls());
    await orLog(risk.flush(), 'risk state could not be stored');
    signals.expire();
    await orLog(signals.flush(store), 'signals could not be stored');
    if (standby.update()) {
      log.info({ ...standby.status() }, 'status');
      for (const session of sessions) session.sendStatus();
    }
  }

  /**
   * Reports transfers that left or arrived unseen by this process, so that they count as no gain and no loss.
   */
  async function refreshTransfers(): Promise<void> {
    for (const money of await parts.opened.inTransit.refresh(parts.finalBlock)) risk.listener.moved(money);
  }

  async function renewLeases(): Promise<void> {
    // Without the shared inventory nothing is signed, so the lease is not needed.
    if (sharing?.trouble()?.kind === 'shared') return;
    try {
      await leases.tick();
      standby.report('store', undefined);
    } catch (error) {
      log.error({ error }, 'the lease could not be renewed');
      standby.report('store', 'the database does not answer');
    }
  }

  /** Two processes cannot share the operator's nonces, and the one that took over has to send the fills. */
  async function handOver(): Promise<void> {
    handedOver = true;
    log.fatal(
      {},
      'another process has taken this LP over: this one sends nothing more and should be stopped',
    );
    await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
  }

  function scheduleNext(): void {
    cancel = clock.after(
      TICK_MS,
      () => void orLog(tick(), 'a tick failed')?.finally(() => stopped || scheduleNext()),
    );
  }

  return {
    start: scheduleNext,
    stop() {
      stopped = true;
      cancel();
    },
  };
}
