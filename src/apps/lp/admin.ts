/** The LP's admin API, on loopback only. Every action is written to the audit log. */

import type { LpNode } from '../../lp/node/interface.ts';
import type { PauseScope } from '../../lp/risk/scoped-pauses.ts';
import type { OpsRoute } from '../../adapters/http/ops.ts';
import type { AdminActions, StatusView } from './admin/answers.ts';
import { getRoute as get } from './admin/route.ts';
import type { Brake } from './brake.ts';
import { COMMAND_KEYS, readCommand } from './command.ts';
import type { OperatorLog } from './operator-log.ts';
import type { Reloader } from './reload.ts';
import { signalView } from './admin/signal-view.ts';
import type { Clock } from '../../ports/clock.ts';
import { badRequest } from '../wiring/bad-request.ts';

const NOTE = 'paused by the operator';
const WOULD_REFUSE = 'A reload would be refused, and would change nothing.';

export function operatorRoutes({
  node,
  brake,
  clock,
  log,
  reloader,
}: {
  node: LpNode;
  brake: Brake;
  clock: Clock;
  log: OperatorLog;
  reloader: Reloader;
}): OpsRoute[] {
  const status = (): StatusView => ({
    ...node.status(),
    signals: node.status().signals.map((signal) => signalView(signal, clock.nowMs())),
    sending: brake.held() ? 'held' : 'free',
    pause: log.pause(),
  });
  /** Logs after acting: a database outage must not prevent a stop. */
  const post = (path: string, what: string, act: (note: string | null) => void): OpsRoute => ({
    method: 'POST',
    path,
    query: COMMAND_KEYS,
    async handle({ query, body, address }) {
      const { by, note, scope } = readCommand(query, body);
      if (scope !== undefined)
        throw badRequest(`POST ${path} is for the whole LP: name no pair and no chain.`);
      act(note);
      void log.note(by, what, { note, address });
      return { status: 200, body: status() };
    },
  });
  /** Acts on the whole LP, or with `pair` or `chain` only on that. */
  const scoped = (
    path: string,
    what: string,
    act: (note: string | null) => void,
    actOn: (scope: PauseScope, note: string | null) => void,
  ): OpsRoute => ({
    method: 'POST',
    path,
    query: COMMAND_KEYS,
    async handle({ query, body, address }) {
      const { by, note, scope } = readCommand(query, body);
      if (scope === undefined) act(note);
      else actOn(scope, note);
      const of = scope === undefined ? undefined : Object.entries(scope).flat().join(' ');
      void log.note(by, of === undefined ? what : `${what}_scope`, {
        note: of === undefined ? note : `${of}${note === null ? '' : `: ${note}`}`,
        address,
      });
      return { status: 200, body: status() };
    },
  });
  return [
    get('/status', status),
    get('/inventory', () => ({
      buckets: node.inventory(),
      positions: node.positions(),
      receivables: node.receivables(),
      rebalancing: node.rebalancing(),
    })),
    get('/limits', () => node.limits()),
    get('/curves', async () => ({ curves: await node.curves() })),
    get('/risk', () => node.risk()),
    get('/awards', async ({ query }) => ({ awards: await node.awards(countOf(query.get('limit'))) }), [
      'limit',
    ]),
    get('/audit', async ({ query }) => ({ entries: await log.newest(countOf(query.get('limit'))) }), [
      'limit',
    ]),
    scoped(
      '/pause',
      'pause',
      (note) => node.pause(note ?? NOTE),
      (scope, note) => node.pauseScope(scope, note ?? 'by the operator'),
    ),
    scoped(
      '/resume',
      'resume',
      () => node.resume(),
      (scope) => node.resumeScope(scope),
    ),
    post('/fills/pause', 'hold_fills', () => brake.hold()),
    post('/fills/resume', 'free_fills', () => brake.free()),
    {
      method: 'POST',
      path: '/reload/preview',
      async handle() {
        const body: AdminActions['/reload/preview'] = await reloader.preview();
        if (body.reasons.length === 0) return { status: 200, body };
        return { status: 409, body: { error: { code: 'reload_refused', message: WOULD_REFUSE }, ...body } };
      },
    },
    {
      method: 'POST',
      path: '/reload',
      query: COMMAND_KEYS,
      async handle({ query, body, address }) {
        const done: AdminActions['/reload'] = await reloader.reload(readCommand(query, body).by, address);
        if (done.applied) return { status: 200, body: done };
        return {
          status: 409,
          body: {
            error: { code: 'reload_refused', message: 'Nothing changed: the new configuration was refused.' },
            ...done,
          },
        };
      },
    },
  ];
}

function countOf(text: string | null): number {
  const limit = Number(text ?? 50);
  return Number.isInteger(limit) ? Math.min(500, Math.max(1, limit)) : 50;
}
