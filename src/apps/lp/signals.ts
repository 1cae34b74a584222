/** Admin API of the operator's own signals: a view of a pair that prices follow until it expires. */

import * as z from 'zod';
import type { OpsRoute } from '../../adapters/http/ops.ts';
import { RequestError } from '../../domain/errors.ts';
import type { LpNode } from '../../lp/node/interface.ts';
import { SIGNAL_REFUSALS, SignalRefusedError } from '../../lp/quoting/signals.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { AuditEntry } from '../../ports/stores/audit-log.ts';
import type { LpSignal } from '../../ports/stores/lp-store.ts';
import { describeIssues } from '../config/load.ts';
import type { AdminActions, AdminEndings, SignalsView } from './admin/answers.ts';
import { getRoute as get } from './admin/route.ts';
import type { OperatorLog } from './operator-log.ts';
import { type SignalView, signalView } from './admin/signal-view.ts';

const zText = z.string().trim().min(1).max(200);
const zBps = z.number().default(0);

const zSignalRequest = z
  .strictObject({
    pair: zText,
    /** The LP buys or sells the base; absent: both. */
    side: z.enum(['buy', 'sell']).nullable().default(null),
    skewBps: zBps,
    fairValueShiftBps: zBps,
    widthBps: zBps,
    ttlSeconds: z.int().min(1).optional(),
    /** Unix seconds. */
    expiresAt: z.int().min(1).optional(),
    note: zText.nullable().default(null),
    by: zText.default('admin API'),
  })
  .refine(({ ttlSeconds, expiresAt }) => (ttlSeconds === undefined) !== (expiresAt === undefined), {
    path: ['ttlSeconds'],
    message: 'give either ttlSeconds or expiresAt (Unix seconds): a signal always ends',
  });

export function signalRoutes({
  node,
  clock,
  log,
  metrics,
}: {
  node: Pick<LpNode, 'setSignal' | 'clearSignals' | 'status' | 'limits'>;
  clock: Clock;
  log: Pick<OperatorLog, 'note'>;
  metrics: Metrics;
}): OpsRoute[] {
  const refused = metrics.counter(
    'firmquote_lp_signals_refused_total',
    'Signals of the operator that were refused, by reason',
    { reason: SIGNAL_REFUSALS },
  );
  const view = (signal: LpSignal): SignalView => signalView(signal, clock.nowMs());
  const listed = (): SignalsView => ({
    signals: node.status().signals.map(view),
    bounds: node.limits().signals,
  });

  async function clear(of: string | undefined, by: string, address: string) {
    try {
      const ended = node.clearSignals(of);
      for (const signal of ended)
        void log.note(by, 'signal_clear', {
          address,
          note: signal.note,
          changes: changesOf([signal], undefined),
        });
      const body: AdminEndings['/signals'] = { cleared: ended.map(view), ...listed() };
      return { status: 200, body };
    } catch (error) {
      if (!(error instanceof RequestError) || error.code !== 'unknown_signal') throw error;
      return { status: 404, body: { error: { code: error.code, message: error.message } } };
    }
  }

  return [
    get('/signals', listed),
    {
      method: 'POST',
      path: '/signals',
      async handle({ body, address }) {
        try {
          const wanted = readSignal(body, clock.nowMs());
          const { signal, replaced } = node.setSignal(wanted);
          // Logs after acting: a database outage must not prevent it.
          void log.note(signal.by, 'signal_set', {
            address,
            note: signal.note,
            changes: changesOf(replaced, signal),
          });
          const set: AdminActions['/signals'] = { signal: view(signal), replaced: replaced.map(view) };
          return { status: 200, body: set };
        } catch (error) {
          if (!(error instanceof SignalRefusedError)) throw error;
          refused.add({ reason: error.code as (typeof SIGNAL_REFUSALS)[number] });
          void log.note(whoIn(body), 'signal_refused', { address, note: error.message });
          return { status: 422, body: { error: { code: error.code, message: error.message } } };
        }
      },
    },
    {
      method: 'DELETE',
      path: '/signals',
      query: ['by'],
      handle: ({ query, address }) => clear(undefined, query.get('by') ?? UNNAMED, address),
    },
    {
      method: 'DELETE',
      path: '/signals/:id',
      query: ['by'],
      handle: ({ id, query, address }) => clear(id, query.get('by') ?? UNNAMED, address),
    },
  ];
}

const UNNAMED = 'admin API';

function changesOf(ended: readonly LpSignal[], set: LpSignal | undefined): AuditEntry['changes'] {
  const texts = new Map(ended.map((signal) => [pathOf(signal), { from: textOf(signal), to: '-' }]));
  if (set !== undefined)
    texts.set(pathOf(set), { from: texts.get(pathOf(set))?.from ?? '-', to: textOf(set) });
  return [...texts].map(([path, change]) => ({ path, ...change }));
}

const pathOf = ({ pair, side }: LpSignal): string => `signals.${pair}${side === null ? '' : `.${side}`}`;

const textOf = ({ id, skewBps, fairValueShiftBps, widthBps, expiresAtMs }: LpSignal): string =>
  `${id}: skew ${skewBps} bps, fair value ${fairValueShiftBps} bps, width ${widthBps} bps, until ${new Date(expiresAtMs).toISOString()}`;

/** Throws `SignalRefusedError` with all problems. */
function readSignal(body: string, nowMs: number) {
  const parsed = zSignalRequest.safeParse(jsonOf(body));
  if (!parsed.success)
    throw new SignalRefusedError(
      `This is no signal: ${describeIssues(zSignalRequest, parsed.error).join('; ')}. ` +
        'Send {"pair": "WETH-USDC", "skewBps": 2, "ttlSeconds": 600}.',
      'invalid_signal',
    );
  const { ttlSeconds, expiresAt = 0, ...signal } = parsed.data;
  return { ...signal, expiresAtMs: ttlSeconds === undefined ? expiresAt * 1000 : nowMs + ttlSeconds * 1000 };
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function whoIn(body: string): string {
  const by = (jsonOf(body) as { by?: unknown } | null | undefined)?.by;
  return typeof by === 'string' && by.trim() !== '' ? by.trim().slice(0, 200) : UNNAMED;
}
