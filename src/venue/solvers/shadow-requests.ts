/**
 * Shows requests to shadow solvers, which only look on, and tells them at what price a request was traded. No
 * taker waits for them.
 */

import { eligible, type Gate } from '../../auction/eligible.ts';
import { nonceGroupOf } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { LinkMessage, Rfq } from '../../protocol/link/link.ts';
import type { FanOutOptions } from '../options.ts';
import type { Roster } from './roster.ts';
import type { SolverSession } from './roster-entry.ts';

export interface ShadowRequests {
  show(rfq: Omit<Rfq, 'deadlineMs'>, gate: Gate, nonceGroup: string, until: UnixSeconds): void;
  /** Call when an order is accepted, at whichever replica. */
  accepted(record: Pick<OrderRecord, 'originChainId' | 'order'>): void;
  expire(now: UnixSeconds): void;
}

interface Shown {
  rfqId: string;
  sessions: readonly SolverSession[];
  until: UnixSeconds;
}

/** Requests whose outcome is still told; beyond it the oldest is forgotten. */
const MOST_SHOWN = 20_000;

export function createShadowRequests(
  { roster }: { roster: Pick<Roster, 'entries'> },
  { timeoutMs }: Pick<FanOutOptions, 'timeoutMs'>,
): ShadowRequests {
  /** The requests shown, by nonce group: a request and its order have nothing else in common. */
  const shown = new Map<string, Shown>();

  /** Selects the shadow sessions as the fan-out selects solvers, whatever their status. */
  function shadowSessions(gate: Gate): SolverSession[] {
    const entries = [...roster.entries()]
      .filter(({ shadows, disabled }) => shadows.length > 0 && !disabled)
      .map(({ id, corridors, shadows }) => ({ id, corridors, shadows, status: 'active' as const }));
    return eligible(entries, gate)
      .flatMap(({ shadows }) => shadows)
      .filter((session) => session.corridors.includes(gate.corridor) && session.readsInTime());
  }

  return {
    show(rfq: Omit<Rfq, 'deadlineMs'>, gate: Gate, nonceGroup: string, until: UnixSeconds): void {
      const sessions = shadowSessions(gate);
      if (sessions.length === 0) return;
      const frame = Buffer.from(JSON.stringify({ ...rfq, deadlineMs: timeoutMs }));
      for (const session of sessions) session.send(frame);
      shown.set(nonceGroup, { rfqId: rfq.rfqId, sessions, until });
      const [oldest] = shown.size > MOST_SHOWN ? shown.keys() : [];
      if (oldest !== undefined) shown.delete(oldest);
    },
    accepted({ originChainId, order }: Pick<OrderRecord, 'originChainId' | 'order'>): void {
      const group = nonceGroupOf(originChainId, order.user, order.nonce);
      const request = shown.get(group);
      if (request === undefined) return;
      shown.delete(group);
      const sum = (amounts: readonly bigint[]) => amounts.reduce((total, each) => total + each, 0n);
      const outcome: LinkMessage<'outcome'> = {
        type: 'outcome',
        rfqId: request.rfqId,
        inputAmount: sum(order.inputs.map(([, amount]) => amount)).toString(),
        outputAmount: sum(order.outputs.map(({ amount }) => amount)).toString(),
      };
      for (const session of request.sessions) session.notify(JSON.stringify(outcome));
    },
    expire(now: UnixSeconds): void {
      for (const [group, { until }] of shown) if (until < now) shown.delete(group);
    },
  };
}
