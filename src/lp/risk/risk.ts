/** All risk controls: what stops quoting, adjusts prices and limits live quotes. */

import type { Control, Decline } from '../../domain/decline.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Limits } from '../../inventory/limits.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { LpStore } from '../../ports/stores/lp-store.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { deviationOver } from '../../pricing/volatility.ts';
import type { Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { Loss } from '../../risk/drawdown.ts';
import { gapLoss, jumpOf } from '../../risk/gap-loss.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { createControlBoard, type TrippedControl } from './control-board.ts';
import { createCapital, DRAWDOWN } from './capital.ts';
import { createTakerStatistics, type SuspectTaker } from './taker-statistics.ts';
import type { LpConfig } from '../config/config.ts';
import { createGuard } from './guard.ts';
import { createKillSwitch, KILL, type KilledBy, type KillSwitch } from './kill-switch.ts';
import type { Market } from '../market/market.ts';
import { createNav } from './nav.ts';
import { longestTenorSeconds } from '../config/longest-tenor.ts';
import type { QuoteRoute } from '../routes/route.ts';
import { createPairMonitor } from './pair-monitor.ts';
import { createScopedPauses, type PauseScope } from './scoped-pauses.ts';

export interface RiskStatus {
  tripped: TrippedControl[];
  navUsd: number | null;
  /** Negative: a gain. */
  loss: Loss | null;
  suspects: SuspectTaker[];
}

export interface Halt {
  control: Control;
  note: string;
}

export type Risk = ReturnType<typeof createRisk>;

interface RiskDeps {
  ledger: Ledger;
  /** The market in force. */
  market(): Market;
  store: Pick<LpStore, 'putRisk' | 'putKillReasons' | 'killReasons' | 'putPauses' | 'pauses'>;
  shared: boolean;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  saved: ReadonlyMap<string, unknown>;
  /** Stored pauses of pairs and chains: notes by name. */
  pauses: Readonly<Record<string, string>>;
  assetOf(chainId: number, token: string): { asset: string; decimals: number } | undefined;
  slug(chainId: number): string;
  limitsOf(config: LpConfig): Limits;
  changed(): void;
  /** Called once whenever the kill switch is engaged in this process. */
  killed(by: KilledBy, note: string): void;
}

export function createRisk(deps: RiskDeps, initial: LpConfig) {
  const { ledger, market, clock, log } = deps;
  let config = initial;
  let configuredLimits = deps.limitsOf(initial);
  let longestSeconds = longestFirmSeconds(initial);
  const board = createControlBoard(deps);
  const kill: KillSwitch = createKillSwitch(
    {
      log,
      changed() {
        deps.changed();
        // Written now, because a crash may follow. `flush` tries again after a failure.
        void kill
          .flush(deps.store)
          .catch((error: unknown) => log.error({ error }, 'the kill switch could not be stored yet'));
      },
      killed: deps.killed,
    },
    { shared: deps.shared },
  );
  const pauses = createScopedPauses(deps, deps.pauses);
  const nav = createNav({ ledger, market, assets: initial.assets });
  const capital = createCapital({
    nav,
    kill,
    clock,
    assetOf: deps.assetOf,
    setLimits: ledger.setLimits,
    risk: () => config.risk,
    configured: () => configuredLimits,
  });
  const takers = createTakerStatistics(initial.risk);
  const monitor = createPairMonitor(initial.risk);
  const guard = createGuard({ market, monitor, takers, capital }, initial.risk);
  kill.restore(deps.saved.get(KILL));
  capital.restore(deps.saved.get(DRAWDOWN));
  const chains = initial.chains.map(({ chainId }) => chainId);

  /** Written now, because a crash may follow. `flush` tries again after a failure. */
  function savePauses(): void {
    void pauses
      .flush(deps.store)
      .catch((error: unknown) => log.error({ error }, 'a pause could not be stored yet'));
  }

  function accepted(award: OpenAward): void {
    const nowMs = clock.nowMs();
    const request = ledger.quote(award.orderId)?.request;
    takers.accepted(award, request === undefined ? 0 : edgeBps(award), nowMs);
    // After a crash we no longer have the pair of the quote.
    if (request !== undefined && request.notional > 0n)
      monitor.recordAcceptance(
        request.pair,
        { side: request.side, usd: Number(request.notional) / 1e6 },
        nowMs,
      );
  }

  /** Returns the trade's value to us at the current mid, in bps of what we pay. */
  function edgeBps({ slice: { pays, earns } }: OpenAward): number {
    const usdOf = ({ chainId, token, amount }: OpenAward['slice']['pays']): number => {
      const found = deps.assetOf(chainId, token);
      return found === undefined ? 0 : nav.worth(found.asset, amount, found.decimals);
    };
    const [paid, earned] = [usdOf(pays), usdOf(earns)];
    return paid > 0 && earned > 0 ? ((earned - paid) / paid) * 1e4 : 0;
  }

  function chainHalts(): Map<string, string> {
    const halts = new Map<string, string>();
    for (const chainId of chains) {
      const condition = market().chainCondition(chainId);
      if (condition !== undefined) halts.set(deps.slug(chainId), condition.detail);
    }
    return halts;
  }

  function updatePairs(nowMs: number): void {
    const conditions = new Map<Control, Map<string, string>>(
      PRICE_CONTROLS.map((control) => [control, new Map()]),
    );
    for (const { base, quote } of config.pairs) {
      const pairName = `${base}-${quote}`;
      const condition = market().condition(base, quote);
      if (condition !== undefined) conditions.get(condition.code)?.set(pairName, condition.detail);
      const pairPrice = market().pair(base, quote);
      if (!('declined' in pairPrice))
        monitor.observe({ pair: { base, quote } as QuoteRoute['pair'], pairName }, pairPrice, nowMs);
    }
    for (const [control, about] of conditions) board.report(control, about);
  }

  function countRefusal({ control, detail, declined }: Decline): void {
    if (control !== undefined) board.refused(control, detail ?? declined);
  }

  return {
    guard,
    kill,
    countRefusal,
    listener: {
      quoted: takers.quoted,
      declined(_rfq: unknown, _route: unknown, decline: Decline) {
        countRefusal(decline);
      },
      accepted,
      moved(money: Parameters<typeof capital.moved>[0], _id?: string, transferId?: string) {
        // What is on its way between chains stays in the net asset value.
        if (transferId === undefined) capital.moved(money);
        // New money may be quoted from now on, withdrawn money no longer.
        capital.update();
      },
    },
    stopped(route: QuoteRoute): Decline | undefined {
      const paused = pauses.refusal(route);
      if (paused !== undefined) return paused;
      const { chainCondition } = market();
      const chain = chainCondition(route.origin.id) ?? chainCondition(route.dest.id);
      if (chain !== undefined) return { declined: 'standby', control: 'sequencer', detail: chain.detail };
      return monitor.stopped(route.pairName, clock.nowMs());
    },
    gapLoss(
      { pair }: QuoteRoute,
      { sigma }: Pick<PriceInputs, 'sigma'>,
      { notional, terms }: Pick<Priced, 'notional' | 'terms'>,
    ) {
      // The same asset on two chains has no mid that could jump.
      if (pair.base === pair.quote) return 0n;
      return gapLoss(notional, terms.D, jumpOf(deviationOver(sigma, longestSeconds), config.risk.gapLoss));
    },
    limits: capital.limits,
    /**
     * Evaluates every control. Call a few times a second, before standby reasons are read. `standing`:
     * controls behind those reasons, with subject and note.
     */
    update(standing: ReadonlyMap<Control, ReadonlyMap<string, string>>) {
      const nowMs = clock.nowMs();
      updatePairs(nowMs);
      capital.update();
      for (const [control, about] of standing) board.report(control, about);
      board.report('sequencer', chainHalts());
      board.report('vol_spike', monitor.volatilePairs(nowMs));
      board.report('burst', monitor.frozenPairs(nowMs));
      board.report(
        'free_option',
        new Map(takers.suspects(nowMs).map(({ taker, step }) => [taker, SUSPICION_NOTES[step]])),
      );
      board.report('kill_switch', new Map(kill.held));
      board.report('drawdown', new Map(capital.sizesReduced ? [['capital', 'losses: sizes are cut']] : []));
    },
    halts() {
      const nowMs = clock.nowMs();
      const stops = config.pairs.flatMap(
        ({ base, quote }) => monitor.stopped(`${base}-${quote}`, nowMs) ?? [],
      );
      return [
        ...[...chainHalts()].map(([slug, detail]): Halt => ({
          control: 'sequencer',
          note: `${slug}: ${detail}`,
        })),
        ...stops.map(({ control = 'burst', detail = '' }): Halt => ({ control, note: detail })),
      ];
    },
    pauses: pauses.list,
    /** Effective from the next request on. */
    pauseScope(scope: PauseScope, note: string) {
      pauses.pause(scope, note);
      deps.changed();
      savePauses();
    },
    resumeScope(scope: PauseScope): boolean {
      const ended = pauses.resume(scope);
      deps.changed();
      savePauses();
      return ended;
    },
    resume() {
      pauses.resumeAll();
      savePauses();
      // Otherwise the same loss would engage it again.
      if (kill.held.has('drawdown')) capital.forgive();
      kill.release();
    },
    tradedElsewhere: (quoteIds: readonly `0x${string}`[]) => takers.tradedElsewhere(quoteIds, clock.nowMs()),
    configure(next: LpConfig) {
      config = next;
      configuredLimits = deps.limitsOf(next);
      longestSeconds = longestFirmSeconds(next);
      for (const part of [takers, monitor, guard]) part.configure(next.risk);
      ledger.setLimits(capital.limits());
    },
    /** A price from another source is no move of the market. */
    sourcesChanged: monitor.forgetMids,
    status: () => ({
      tripped: board.tripped(),
      ...capital.status(),
      suspects: takers.suspects(clock.nowMs()).slice(0, 50),
    }),
    /** Applies operator commands given to another replica. Rejects when the store does. */
    async followReplicas() {
      const losing = kill.held.has('drawdown');
      await kill.follow(deps.store);
      if (losing && !kill.held.has('drawdown')) capital.forgive();
      if (await pauses.follow(deps.store)) deps.changed();
    },
    async flush() {
      await kill.flush(deps.store);
      await capital.flush(deps.store);
      await pauses.flush(deps.store);
    },
  };
}

const PRICE_CONTROLS = ['stale_mid', 'deviation', 'depeg', 'confidence'] as const satisfies Control[];
const SUSPICION_NOTES = [
  'nothing',
  'pays more for the option',
  'pays more and gets it short',
  'gets no quotes',
] as const;

const longestFirmSeconds = ({ quoting }: LpConfig): number =>
  Math.max(quoting.maxValiditySeconds, longestTenorSeconds(quoting)) + quoting.clockSkewSeconds;
