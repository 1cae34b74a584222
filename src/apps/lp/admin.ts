/** The LP's admin API, on loopback only. Every action is written to the audit log. */

import type { LpNode } from '../../lp/node/interface.ts';
import type { OpsRoute } from '../../adapters/http/ops.ts';
import { getRoute as get } from './books.ts';
import type { Brake } from './brake.ts';
import type { OperatorLog } from './operator-log.ts';
import type { Reloader } from './reload.ts';
import { badRequest } from '../bad-request.ts';

const NOTE = 'paused by the operator';
const WOULD_REFUSE = 'A reload would be refused, and would change nothing.';
const UNNAMED = 'admin API';

export function operatorRoutes({
  node,
  brake,
  log,
  reloader,
}: {
  node: LpNode;
  brake: Brake;
  log: OperatorLog;
  reloader: Reloader;
}): OpsRoute[] {
  const status = () => ({ ...node.status(), sending: brake.held() ? 'held' : 'free', pause: log.pause() });
  /** Logs after acting: a database outage must not prevent a stop. */
  const post = (path: string, what: string, act: (note: string | null) => void): OpsRoute => ({
    method: 'POST',
    path,
    async handle({ query, body }) {
      const { by, note } = readNote(query, body);
      act(note);
      void log.note(by, what, { note });
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
    get('/awards', async ({ query }) => ({ awards: await node.awards(countOf(query.get('limit'))) })),
    get('/audit', async ({ query }) => ({ entries: await log.newest(countOf(query.get('limit'))) })),
    post('/pause', 'pause', (note) => node.pause(note ?? NOTE)),
    post('/resume', 'resume', () => node.resume()),
    post('/fills/pause', 'hold_fills', () => brake.hold()),
    post('/fills/resume', 'free_fills', () => brake.free()),
    {
      method: 'POST',
      path: '/reload/preview',
      async handle() {
        const body = await reloader.preview();
        if (body.reasons.length === 0) return { status: 200, body };
        return { status: 409, body: { error: { code: 'reload_refused', message: WOULD_REFUSE }, ...body } };
      },
    },
    {
      method: 'POST',
      path: '/reload',
      async handle({ query, body }) {
        const done = await reloader.reload(readNote(query, body).by);
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

function readNote(query: URLSearchParams, body: string): { by: string; note: string | null } {
  let said: { by?: unknown; note?: unknown } = {};
  if (body.trim() !== '') {
    try {
      const json: unknown = JSON.parse(body);
      if (typeof json === 'object' && json !== null) said = json;
    } catch {
      throw badRequest('The body is not JSON. Send {"note": "…", "by": "…"} or no body.');
    }
  }
  const textOf = (value: unknown): string | undefined =>
    typeof value === 'string' && value.trim() !== '' ? value.trim().slice(0, 200) : undefined;
  return { by: textOf(said.by) ?? UNNAMED, note: textOf(said.note) ?? textOf(query.get('note')) ?? null };
}

function countOf(text: string | null): number {
  const limit = Number(text ?? 50);
  return Number.isInteger(limit) ? Math.min(500, Math.max(1, limit)) : 50;
}
