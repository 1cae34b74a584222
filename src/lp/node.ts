/**
 * The LP node: `start` opens the store and restores the ledger (node/opened-ledger.ts), wires the parts
 * around it (node/wiring.ts) and starts them (node/running-lp.ts).
 */

import { RequestError } from '../domain/errors.ts';
import type { LpConfig, LpPairConfig } from './config/config.ts';
import { type Change, changesBetween, isReloadable } from './config/reload.ts';
import type { LpNode, LpNodeDeps, ReloadedSources } from './node/interface.ts';
import { openLedger } from './node/opened-ledger.ts';
import { type ReservedBefore, type RunningLp, startLp } from './node/running-lp.ts';
import { createNodeBase, positionsOf } from './node/setup.ts';
import { statusOf } from './node/status.ts';
import { wireLp } from './node/wiring.ts';
import type { KilledBy } from './risk/kill-switch.ts';
import type { PauseScope } from './risk/scoped-pauses.ts';
import { previewQuotes } from './quoting/preview.ts';
import { type SignalRequest, SignalRefusedError } from './quoting/signals.ts';
import { limitUse } from './risk/limit-use.ts';

const PREVIEWED_MS = 3_600_000;
const NOT_UP = { refused: ['The LP is not up yet. Try again when it is.'] };

/** Throws `RequestError` when the configuration does not match the chains. */
export function createLpNode(deps: LpNodeDeps, config: LpConfig): LpNode {
  const base = createNodeBase(deps, config);
  let running: RunningLp | undefined;
  const killedBefore = new Map<KilledBy, string>();
  const reservedBefore = new Map<string, ReservedBefore>();

  function kill(by: KilledBy, note: string): void {
    if (running === undefined) killedBefore.set(by, note);
    else running.parts.risk.kill.engage(by, note);
  }

  return {
    async start() {
      const opened = await openLedger(deps, config, base.lpChains, base.account);
      running = await startLp(wireLp(deps, config, base, opened), config, killedBefore, [
        ...reservedBefore.values(),
      ]);
    },
    async stop() {
      const stopping = running;
      running = undefined;
      await stopping?.stop();
    },
    status: () => statusOf(running?.parts, base, deps),
    inventory() {
      if (running === undefined) return [];
      const { ledger, sharing } = running.parts;
      return ledger.buckets().map((bucket) => sharing?.seen(bucket) ?? bucket);
    },
    positions: () => (running === undefined ? [] : positionsOf(running.parts.quoting())),
    receivables: () => running?.parts.receivables.list() ?? [],
    rebalancing: () => running?.parts.rebalancing.advice() ?? [],
    reservations: {
      take: (id, { chainId, token }, amount) =>
        running?.parts.reconcilers.get(chainId)?.reserve(id, token, amount) ?? false,
      restore(id, { chainId, token }, amount) {
        if (running === undefined) reservedBefore.set(id, { id, chainId, token, amount });
        else running.parts.reconcilers.get(chainId)?.restore(id, token, amount);
      },
      release: (id, { chainId }, leftIn) => running?.parts.reconcilers.get(chainId)?.release(id, leftIn),
    },
    limits() {
      if (running === undefined) return { limits: [], signals: null };
      const { ledger, risk, venues, signals } = running.parts;
      return {
        limits: [...limitUse(ledger, risk.limits()), ...venues.uses()],
        signals: { ...signals.bounds(), active: signals.list().length },
      };
    },
    curves: () => running?.parts.winRates.curves() ?? [],
    awards: (limit = 50) => deps.store.listAwards(limit),
    accounts() {
      if (running === undefined)
        throw new RequestError(
          'The LP is still starting and its accounting ledger is not open yet. Try again in a few seconds.',
          { code: 'not_ready' },
        );
      return running.parts.accounts;
    },
    recorded: (after, limit) =>
      running?.parts.recordedRequests.recorded(after, limit) ?? { rfqs: [], next: null },
    newest: (before, limit) =>
      running?.parts.recordedRequests.newest(before, limit) ?? { rfqs: [], next: null },
    async shadowReport(window) {
      const { shadowLog } = up(running).parts;
      if (shadowLog === undefined)
        throw new RequestError(
          'This LP signs quotes, so it has no shadow report: firmquote lp pnl shows what it earned.',
          { code: 'not_shadow' },
        );
      return shadowLog.report(window);
    },
    pause: (note) => kill('operator', note),
    kill,
    resume() {
      for (const by of killedBefore.keys()) if (by !== 'file') killedBefore.delete(by);
      running?.parts.risk.resume();
    },
    pauseScope(scope, note) {
      partsWith(running, scope).risk.pauseScope(scope, note);
    },
    resumeScope(scope) {
      if (running?.parts.risk.resumeScope(scope) !== true)
        throw new RequestError(
          `${Object.values(scope)[0]} is not paused: firmquote lp status lists what is.`,
          { code: 'not_paused' },
        );
    },
    setSignal(wanted) {
      const { parts } = up(running);
      const pair = parts.quoting().config.pairs.find(({ base, quote }) => `${base}-${quote}` === wanted.pair);
      refusePair(wanted, pair, parts.quoting().config.pairs);
      const done = parts.signals.set(wanted);
      saveSignals(parts);
      return done;
    },
    clearSignals(of) {
      const { parts } = up(running);
      const ended = parts.signals.clear(of);
      if (ended.length === 0)
        throw new RequestError(
          `No signal ${of === undefined ? 'is in force' : `"${of}" is in force`}: firmquote lp signal list shows those that are.`,
          { code: 'unknown_signal' },
        );
      saveSignals(parts);
      return ended;
    },
    killFileGone() {
      killedBefore.delete('file');
      running?.parts.risk.kill.releaseFile();
    },
    risk: () => running?.parts.risk.status() ?? { tripped: [], navUsd: null, loss: null, suspects: [] },
    async reload(next, sources) {
      if (running === undefined) return NOT_UP;
      const changes = reloadableChanges(running.parts.quoting().config, next);
      if ('refused' in changes) return changes;
      try {
        await running.reload(next, sources ?? sourcesOf(running));
      } catch (error) {
        if (error instanceof RequestError) return { refused: [error.message] };
        throw error;
      }
      return { applied: changes };
    },
    async preview(next, sources) {
      if (running === undefined) return NOT_UP;
      const changes = reloadableChanges(running.parts.quoting().config, next);
      if ('refused' in changes) return changes;
      try {
        const { routes, plugin } = running.trial(next, sources ?? sourcesOf(running));
        const recent = running.parts.accounts.recentAnswers(deps.clock.nowMs() - PREVIEWED_MS);
        const { fatFinger } = next.risk;
        return { changes, pairs: await previewQuotes(recent, { routes, plugin, fatFinger }) };
      } catch (error) {
        if (error instanceof RequestError) return { refused: [error.message] };
        throw error;
      }
    },
  };
}

const sourcesOf = ({ parts }: RunningLp): ReloadedSources => ({
  feeds: parts.base.prices.feeds(),
  plugin: parts.quoting().plugin,
});

/** All changes, or why they cannot be applied while the LP runs. */
function reloadableChanges(
  current: LpConfig,
  next: LpConfig,
): readonly Change[] | { refused: readonly string[] } {
  const changes = changesBetween(current, next);
  const refused = changes
    .filter(({ path }) => !isReloadable(path))
    .map(({ path }) => `lp.${path.join('.')} is read only at start: restart the LP to change it.`);
  return refused.length > 0 ? { refused } : changes;
}

function up(running: RunningLp | undefined): RunningLp {
  if (running !== undefined) return running;
  throw new RequestError('The LP is still starting. Try again in a few seconds.', { code: 'not_ready' });
}

/** Writes signals without delay, because a crash may follow. A tick tries again after a failure. */
function saveSignals({ signals, deps: { store, log } }: RunningLp['parts']): void {
  void signals
    .flush(store)
    .catch((error: unknown) => log.error({ error }, 'a signal could not be stored yet'));
}

function refusePair(
  { pair: name, side, skewBps, fairValueShiftBps }: SignalRequest,
  pair: LpPairConfig | undefined,
  pairs: readonly LpPairConfig[],
): void {
  if (pair === undefined)
    throw new SignalRefusedError(
      `This LP has no pair "${name}": name one of ${[...new Set(pairs.map(({ base, quote }) => `${base}-${quote}`))].join(', ')}.`,
      'unknown_pair',
    );
  if (pair.base === pair.quote && (skewBps !== 0 || fairValueShiftBps !== 0 || side !== null))
    throw new SignalRefusedError(
      `${name} is one asset on two chains, so it has no fair value to move and one side: give only widthBps.`,
      'invalid_signal',
    );
}

/** Returns the parts of a started LP that has this pair or chain. */
function partsWith(running: RunningLp | undefined, scope: PauseScope): RunningLp['parts'] {
  const { parts } = up(running);
  const [wanted, known] =
    'pair' in scope
      ? [scope.pair, parts.quoting().routes.all.map(({ pairName }) => pairName)]
      : [scope.chain, [...parts.chains.values()].map(({ slug }) => slug)];
  if (!known.includes(wanted))
    throw new RequestError(`This LP has no "${wanted}": name one of ${[...new Set(known)].join(', ')}.`, {
      code: 'bad_request',
    });
  return parts;
}
