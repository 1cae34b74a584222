/** All risk controls: what stops quoting, adjusts prices and limits live quotes. */

import type { Control, Decline } from '../../domain/decline.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { Money } from '../../inventory/event.ts';
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
import type { QuoteEventListener } from '../quote-log/quote-events.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { type ControlBoard, createControlBoard, type TrippedControl } from './control-board.ts';
import { type Capital, createCapital, DRAWDOWN } from './capital.ts';
import { createTakerStatistics, type SuspectTaker, type TakerStatistics } from './taker-statistics.ts';
import type { LpConfig } from '../config/config.ts';
import { type ConfigurableGuard, createGuard, type Guard } from './guard.ts';
import { createKillSwitch, KILL, type KilledBy, type KillSwitch } from './kill-switch.ts';
import type { Market } from '../market/market.ts';
import { createNav, type Nav } from './nav.ts';
import { limitsOf } from '../config/limits.ts';
import { longestTenorSeconds } from '../config/longest-tenor.ts';
import type { QuoteRoute } from '../routes/route.ts';
import { createPairMonitor, type PairMonitor } from './pair-monitor.ts';
import { createScopedPauses, type PauseScope, type ScopedPause, type ScopedPauses } from './scoped-pauses.ts';

export interface RiskStatus {
  tripped: TrippedControl[];
  navUsd: number | null;
  /** Negative: a gain. */
  loss: Loss | null;
  suspects: SuspectTaker[];
}

interface Halt {
  control: Control;
  note: string;
}

export interface Risk {
  readonly guard: Guard;
  readonly kill: KillSwitch;
  readonly listener: RiskListener;
  /** Counts a request that a risk control refused; other declines count elsewhere. */
  countRefusal(decline: Decline): void;
  /** Returns why this route is not quoted: it is paused, or a sequencer or the pair stops it. */
  stopped(route: QuoteRoute): Decline | undefined;
  /** Returns what a jump of the mid would cost us on this quote, in millionths of a dollar. */
  gapLoss(
    route: QuoteRoute,
    inputs: Pick<PriceInputs, 'sigma'>,
    priced: Pick<Priced, 'notional' | 'terms'>,
  ): bigint;
  /** The limits on live quotes, as far as capital covers them. */
  limits(): Limits;
  /**
   * Evaluates every control. Call a few times a second, before standby reasons are read. `standing`: controls
   * behind those reasons, with subject and note.
   */
  update(standing: ReadonlyMap<Control, ReadonlyMap<string, string>>): void;
  /** The sequencers and pairs that stop quotes now. */
  halts(): Halt[];
  pauses(): readonly ScopedPause[];
  /** Effective from the next request on. */
  pauseScope(scope: PauseScope, note: string): void;
  /** Returns whether it was paused. */
  resumeScope(scope: PauseScope): boolean;
  /** Ends all pauses and releases the kill switch, but for a kill file that still exists. */
  resume(): void;
  tradedElsewhere(quoteIds: readonly Bytes32[]): void;
  /** Follows a reload. */
  configure(next: LpConfig): void;
  /** A price of these pairs from another source is no move of the market. */
  sourcesChanged(pairNames: readonly string[]): void;
  status(): RiskStatus;
  /** Applies operator commands given to another replica. Rejects when the store does. */
  followReplicas(): Promise<void>;
  /** Stores what changed. Rejects when the store does. */
  flush(): Promise<void>;
}

interface RiskListener extends Required<Pick<QuoteEventListener, 'quoted' | 'declined' | 'accepted'>> {
  /** Money with a transfer id is on its way between chains: it stays in the net asset value. */
  moved(money: Money, id?: string, transferId?: string): void;
}

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
  changed(): void;
  /** Called once whenever the kill switch is engaged in this process. */
  killed(by: KilledBy, note: string): void;
}

/** The controls, and what a reload replaces. */
interface RiskState {
  readonly board: ControlBoard;
  readonly kill: KillSwitch;
  readonly pauses: ScopedPauses;
  readonly nav: Nav;
  readonly capital: Capital;
  readonly takers: TakerStatistics;
  readonly monitor: PairMonitor;
  readonly guard: ConfigurableGuard;
  /** The chains at the start: a reload cannot change them. */
  readonly chains: readonly number[];
  config: LpConfig;
  configuredLimits: Limits;
  /** How long a quote may be firm at most. */
  longestSeconds: number;
}

const PRICE_CONTROLS = ['stale_mid', 'deviation', 'depeg', 'confidence'] as const satisfies Control[];
const SUSPICION_NOTES = [
  'nothing',
  'pays more for the option',
  'pays more and gets it short',
  'gets no quotes',
] as const;
const MAX_SUSPECTS_SHOWN = 50;

export function createRisk(deps: RiskDeps, initial: LpConfig): Risk {
  const { clock } = deps;
  const state = openState(deps, initial);
  const { kill, pauses, capital, takers, monitor, guard } = state;
  kill.restore(deps.saved.get(KILL));
  capital.restore(deps.saved.get(DRAWDOWN));
  return {
    guard,
    kill,
    listener: {
      quoted: takers.quoted,
      declined: (_rfq, _route, decline) => countRefusal(state, decline),
      accepted: (award) => accepted(deps, state, award),
      moved: (money, _id, transferId) => moved(state, money, transferId),
    },
    countRefusal: (decline) => countRefusal(state, decline),
    stopped: (route) => stopped(deps, state, route),
    gapLoss: (route, inputs, priced) => gapLossOf(state, route, inputs, priced),
    limits: capital.limits,
    update: (standing) => update(deps, state, standing),
    halts: () => halts(deps, state),
    pauses: pauses.list,
    pauseScope(scope, note) {
      pauses.pause(scope, note);
      deps.changed();
      savePauses(deps, state);
    },
    resumeScope(scope) {
      const ended = pauses.resume(scope);
      deps.changed();
      savePauses(deps, state);
      return ended;
    },
    resume: () => resume(deps, state),
    tradedElsewhere: (quoteIds) => takers.tradedElsewhere(quoteIds, clock.nowMs()),
    configure: (next) => configure(deps, state, next),
    sourcesChanged: monitor.forgetMids,
    status: () => ({
      tripped: state.board.tripped(),
      ...capital.status(),
      suspects: takers.suspects(clock.nowMs()).slice(0, MAX_SUSPECTS_SHOWN),
    }),
    followReplicas: () => followReplicas(deps, state),
    flush: () => flush(deps, state),
  };
}

function openState(deps: RiskDeps, config: LpConfig): RiskState {
  const { ledger, market, clock } = deps;
  const board = createControlBoard(deps);
  const kill = openKillSwitch(deps);
  const pauses = createScopedPauses(deps, deps.pauses);
  const nav = createNav({ ledger, market, assets: config.assets });
  const capital = createCapital({
    nav,
    kill,
    clock,
    assetOf: deps.assetOf,
    setLimits: ledger.setLimits,
    risk: () => state.config.risk,
    configured: () => state.configuredLimits,
  });
  const takers = createTakerStatistics(config.risk);
  const monitor = createPairMonitor(config.risk);
  const guard = createGuard({ market, monitor, takers, capital }, config.risk);
  const state: RiskState = {
    ...{ board, kill, pauses, nav, capital, takers, monitor, guard },
    chains: config.chains.map(({ chainId }) => chainId),
    config,
    configuredLimits: limitsOf(config),
    longestSeconds: longestFirmSeconds(config),
  };
  return state;
}

function openKillSwitch({ log, store, shared, changed, killed }: RiskDeps): KillSwitch {
  const kill: KillSwitch = createKillSwitch(
    {
      log,
      changed() {
        changed();
        // Written now, because a crash may follow. `flush` tries again after a failure.
        void kill
          .flush(store)
          .catch((error: unknown) => log.error({ error }, 'the kill switch could not be stored yet'));
      },
      killed,
    },
    { shared },
  );
  return kill;
}

const longestFirmSeconds = ({ quoting }: LpConfig): number =>
  Math.max(quoting.maxValiditySeconds, longestTenorSeconds(quoting)) + quoting.clockSkewSeconds;

function countRefusal({ board }: RiskState, { control, detail, declined }: Decline): void {
  if (control !== undefined) board.refused(control, detail ?? declined);
}

function accepted(deps: RiskDeps, state: RiskState, award: OpenAward): void {
  const { takers, monitor } = state;
  const nowMs = deps.clock.nowMs();
  const request = deps.ledger.quote(award.orderId)?.request;
  takers.accepted(award, request === undefined ? 0 : edgeBps(deps, state, award), nowMs);
  // After a crash we no longer have the pair of the quote.
  if (request !== undefined && request.notional > 0n)
    monitor.recordAcceptance(
      request.pair,
      { side: request.side, usd: Number(request.notional) / 1e6 },
      nowMs,
    );
}

/** Returns the trade's value to us at the current mid, in bps of what we pay. */
function edgeBps(deps: RiskDeps, { nav }: RiskState, { slice: { pays, earns } }: OpenAward): number {
  const usdOf = ({ chainId, token, amount }: OpenAward['slice']['pays']): number => {
    const found = deps.assetOf(chainId, token);
    return found === undefined ? 0 : nav.worth(found.asset, amount, found.decimals);
  };
  const [paid, earned] = [usdOf(pays), usdOf(earns)];
  return paid > 0 && earned > 0 ? ((earned - paid) / paid) * 1e4 : 0;
}

function moved({ capital }: RiskState, money: Money, transferId: string | undefined): void {
  if (transferId === undefined) capital.moved(money);
  // New money may be quoted from now on, withdrawn money no longer.
  capital.update();
}

function stopped(
  { market, clock }: RiskDeps,
  { pauses, monitor }: RiskState,
  route: QuoteRoute,
): Decline | undefined {
  const paused = pauses.refusal(route);
  if (paused !== undefined) return paused;
  const { chainCondition } = market();
  const chain = chainCondition(route.origin.id) ?? chainCondition(route.dest.id);
  if (chain !== undefined) return { declined: 'standby', control: 'sequencer', detail: chain.detail };
  return monitor.stopped(route.pairName, clock.nowMs());
}

function gapLossOf(
  { config, longestSeconds }: RiskState,
  { pair }: QuoteRoute,
  { sigma }: Pick<PriceInputs, 'sigma'>,
  { notional, terms }: Pick<Priced, 'notional' | 'terms'>,
): bigint {
  // The same asset on two chains has no mid that could jump.
  if (pair.base === pair.quote) return 0n;
  return gapLoss(notional, terms.D, jumpOf(deviationOver(sigma, longestSeconds), config.risk.gapLoss));
}

function update(
  deps: RiskDeps,
  state: RiskState,
  standing: ReadonlyMap<Control, ReadonlyMap<string, string>>,
): void {
  const { board, capital, monitor, takers } = state;
  const nowMs = deps.clock.nowMs();
  takers.forgetEnded(nowMs);
  updatePairs(deps, state, nowMs);
  capital.update();
  for (const [control, about] of standing) board.report(control, about);
  board.report('sequencer', chainHalts(deps, state));
  board.report('vol_spike', monitor.volatilePairs(nowMs));
  board.report('burst', monitor.frozenPairs(nowMs));
  board.report(
    'free_option',
    new Map(state.takers.suspects(nowMs).map(({ taker, step }) => [taker, SUSPICION_NOTES[step]])),
  );
  board.report('kill_switch', new Map(state.kill.held));
  board.report('drawdown', new Map(capital.sizesReduced ? [['capital', 'losses: sizes are cut']] : []));
}

function updatePairs({ market }: RiskDeps, { board, config, monitor }: RiskState, nowMs: number): void {
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

/** The chains whose sequencer stops quotes, with the reason. */
function chainHalts({ market, slug }: RiskDeps, { chains }: RiskState): Map<string, string> {
  const stops = new Map<string, string>();
  for (const chainId of chains) {
    const condition = market().chainCondition(chainId);
    if (condition !== undefined) stops.set(slug(chainId), condition.detail);
  }
  return stops;
}

function halts(deps: RiskDeps, state: RiskState): Halt[] {
  const nowMs = deps.clock.nowMs();
  const stops = state.config.pairs.flatMap(
    ({ base, quote }) => state.monitor.stopped(`${base}-${quote}`, nowMs) ?? [],
  );
  return [
    ...[...chainHalts(deps, state)].map(([slug, detail]): Halt => ({
      control: 'sequencer',
      note: `${slug}: ${detail}`,
    })),
    ...stops.map(({ control = 'burst', detail = '' }): Halt => ({ control, note: detail })),
  ];
}

/** Written now, because a crash may follow. `flush` tries again after a failure. */
function savePauses({ log, store }: RiskDeps, { pauses }: RiskState): void {
  void pauses.flush(store).catch((error: unknown) => log.error({ error }, 'a pause could not be stored yet'));
}

function resume(deps: RiskDeps, state: RiskState): void {
  const { kill, pauses } = state;
  pauses.resumeAll();
  savePauses(deps, state);
  // Otherwise the same loss would engage it again.
  if (kill.held.has('drawdown')) state.capital.forgive();
  kill.release();
}

function configure({ ledger }: RiskDeps, state: RiskState, next: LpConfig): void {
  state.config = next;
  state.configuredLimits = limitsOf(next);
  state.longestSeconds = longestFirmSeconds(next);
  for (const part of [state.takers, state.monitor, state.guard]) part.configure(next.risk);
  ledger.setLimits(state.capital.limits());
}

async function followReplicas(deps: RiskDeps, { kill, pauses, capital }: RiskState): Promise<void> {
  const losing = kill.held.has('drawdown');
  await kill.follow(deps.store);
  if (losing && !kill.held.has('drawdown')) capital.forgive();
  if (await pauses.follow(deps.store)) deps.changed();
}

async function flush({ store }: RiskDeps, { kill, capital, pauses }: RiskState): Promise<void> {
  await kill.flush(store);
  await capital.flush(store);
  await pauses.flush(store);
}
