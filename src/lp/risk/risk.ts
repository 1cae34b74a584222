/**
 * Risk as one thing: what stops us, what makes us careful, what we may have out, and how an operator sees all
 * of it.
 */

import type { Control } from '../../domain/control.ts';
import type { Decline } from '../../domain/decline.ts';
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
import { createBoard, type Tripped } from './control-board.ts';
import { createCapital, DRAWDOWN } from './capital.ts';
import { createConductBook } from './taker-statistics.ts';
import type { LpConfig } from '../config/config.ts';
import { createGuard, type Guard } from './guard.ts';
import { createKillSwitch, KILL, type KilledBy, type KillSwitch } from './kill-switch.ts';
import type { Market } from '../market/market.ts';
import type { MomentListener } from '../quote-log/quote-events.ts';
import { createNav } from './nav.ts';
import { longestPoint } from '../quoting/tenors.ts';
import type { Route } from '../quoting/route.ts';
import { createWatch } from './pair-monitor.ts';

export interface RiskStatus {
  tripped: Tripped[];
  navUsd: number | null;
  /** Negative: a gain. */
  loss: Loss | null;
  suspects: { taker: string; step: number; quotes: number; liveSeconds: number; accepts: number }[];
}

/** A reason not to quote something, for the roster. */
export interface Halt {
  control: Control;
  note: string;
}

export interface Risk {
  guard: Guard;
  kill: KillSwitch;
  /** Hears of quotes, refusals, fills and the owner's money. */
  listener: MomentListener;
  /** The pair, or a chain of the route, is stopped. Cheap. */
  stopped(route: Route): Decline | undefined;
  /** What a jump would cost on this quote: for the hold. */
  gapLoss(
    route: Route,
    inputs: Pick<PriceInputs, 'sigma'>,
    priced: Pick<Priced, 'notional' | 'terms'>,
  ): bigint;
  /** Caps in force: the configured ones and those of our capital. */
  limits(): Limits;
  /** Looks at everything, in steps; a few times a second, before the reasons are read. */
  look(standing: ReadonlyMap<Control, ReadonlyMap<string, string>>): Generator<void>;
  /** What is stopped now, for the roster. */
  halts(): Halt[];
  /** The operator's word after a kill. */
  resume(): void;
  /** These can no longer execute: the taker took another quote of the same request. */
  tradedElsewhere(quoteIds: readonly `0x${string}`[]): void;
  configure(next: LpConfig): void;
  status(): RiskStatus;
  /** Of several replicas: does what the operator told any of them. Throws what the store throws. */
  heed(): Promise<void>;
  flush(): Promise<void>;
}

export interface RiskDeps {
  ledger: Ledger;
  market: Market;
  store: Pick<LpStore, 'putRisk' | 'sayKill' | 'killSaid'>;
  /** One of several replicas. */
  shared: boolean;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** What the last process left. */
  saved: ReadonlyMap<string, unknown>;
  assetOf(chainId: number, token: string): { asset: string; decimals: number } | undefined;
  slug(chainId: number): string;
  /** Caps as configured. */
  limitsOf(config: LpConfig): Limits;
  /** May we sign? The answer may have changed. */
  changed(): void;
  /** The kill switch was pulled. */
  pulled(by: KilledBy, note: string): void;
}

export function createRisk(deps: RiskDeps, first: LpConfig): Risk {
  const { ledger, market, clock, log } = deps;
  let config = first;
  let configured = deps.limitsOf(first);
  const rule = () => config.risk;
  const board = createBoard(deps);
  const kill: KillSwitch = createKillSwitch(
    {
      log,
      changed() {
        deps.changed();
        // At once, because the next thing may be a crash; what fails is tried again at every look.
        void kill
          .flush(deps.store)
          .catch((error: unknown) => log.error({ error }, 'the kill switch could not be written down yet'));
      },
      pulled: deps.pulled,
    },
    { shared: deps.shared },
  );
  const nav = createNav({ ledger, market, assets: first.assets });
  const capital = createCapital({
    nav,
    kill,
    clock,
    assetOf: deps.assetOf,
    setLimits: ledger.setLimits,
    risk: rule,
    configured: () => configured,
  });
  const conduct = createConductBook(rule);
  const watch = createWatch(rule);
  const guard = createGuard({ market, watch, conduct, cut: () => capital.cut }, first.risk);
  kill.restore(deps.saved.get(KILL));
  capital.restore(deps.saved.get(DRAWDOWN));
  const chains = first.chains.map(({ chainId }) => chainId);
  let longest = longestOf(first);
  let turn = 0;

  /** Once an order: an award may be followed by the chain saying the same. */
  function taken(award: OpenAward): void {
    const nowMs = clock.nowMs();
    const request = ledger.quote(award.orderId)?.request;
    conduct.accepted(award, request === undefined ? 0 : markBps(award), nowMs);
    // A promise that was forgotten in a crash does not say which pair it was of.
    if (request !== undefined && request.notional > 0n)
      watch.recordFill(request.pair, { side: request.side, usd: Number(request.notional) / 1e6 }, nowMs);
  }

  /** What the trade is worth to us at the market of this moment, of what we give. */
  function markBps({ slice: { pays, earns } }: OpenAward): number {
    const worth = ({
      chainId,
      token,
      amount,
    }: {
      chainId: number;
      token: string;
      amount: bigint;
    }): number => {
      const found = deps.assetOf(chainId, token);
      return found === undefined ? 0 : nav.worth(found.asset, amount, found.decimals);
    };
    const [given, got] = [worth(pays), worth(earns)];
    return given > 0 && got > 0 ? ((got - given) / given) * 1e4 : 0;
  }

  const chainHalts = (): Map<string, string> =>
    new Map(
      chains.flatMap((chainId): [string, string][] => {
        const condition = market.chainCondition(chainId);
        return condition === undefined ? [] : [[deps.slug(chainId), condition.detail]];
      }),
    );

  /** Conditions of prices by control and pair, as of the last look at each pair. */
  const conditions = new Map<Control, Map<string, string>>([
    ['stale_mid', new Map()],
    ['deviation', new Map()],
    ['depeg', new Map()],
    ['confidence', new Map()],
  ]);
  function note(base: string, quote: string): void {
    const condition = market.condition(base, quote);
    for (const [control, pairs] of conditions) {
      if (condition?.code === control) pairs.set(`${base}-${quote}`, condition.detail);
      else pairs.delete(`${base}-${quote}`);
    }
  }

  return {
    guard,
    kill,
    listener: {
      quoted: conduct.quoted,
      declined(_rfq, _route, { control, detail, declined }) {
        if (control !== undefined) board.refused(control, detail ?? declined);
      },
      accepted: taken,
      moved(money) {
        capital.moved(money);
        // New money may be promised from now on; what is gone no longer.
        capital.look();
      },
    },
    stopped(route) {
      const chain = market.chainCondition(route.origin.id) ?? market.chainCondition(route.dest.id);
      if (chain !== undefined) return { declined: 'standby', control: 'sequencer', detail: chain.detail };
      return watch.stopped(route.pairName, clock.nowMs());
    },
    gapLoss({ pair }, { sigma }, { notional, terms }) {
      // The same asset on two chains has no mid that could jump.
      if (pair.base === pair.quote) return 0n;
      return gapLoss(notional, terms.D, jumpOf(deviationOver(sigma, longest), config.risk.gapLoss));
    },
    limits: capital.limits,
    *look(standing) {
      const nowMs = clock.nowMs();
      // Hundreds of pairs take turns: a quote of a pair looks at it anyway, and this loop must not keep
      // quotes waiting.
      for (let left = Math.min(LOOKED_AT_ONCE, config.pairs.length); left > 0; left--) {
        // Between two steps they may be others.
        const { pairs } = config;
        turn = (turn + 1) % pairs.length;
        const { base, quote } = pairs[turn] as (typeof pairs)[number];
        note(base, quote);
        const priced = market.pair(base, quote);
        if (!('declined' in priced))
          watch.mood({ pair: { base, quote } as Route['pair'], pairName: `${base}-${quote}` }, priced, nowMs);
        if (left % LOOKED_AT_A_STEP === 0) yield;
      }
      capital.look();
      for (const [control, about] of [...conditions, ...standing]) board.holds(control, about);
      board.holds('sequencer', chainHalts());
      board.holds('vol_spike', watch.wild(nowMs));
      board.holds('burst', watch.frozen(nowMs));
      board.holds(
        'free_option',
        new Map(conduct.suspects(nowMs).map(({ taker, step }) => [taker, SUSPICION[step]])),
      );
      board.holds('kill_switch', new Map(kill.held));
      board.holds('drawdown', capital.cut ? new Map([['capital', 'losses: sizes are cut']]) : NONE);
    },
    halts() {
      const nowMs = clock.nowMs();
      const stops = config.pairs.flatMap(({ base, quote }) => watch.stopped(`${base}-${quote}`, nowMs) ?? []);
      return [
        ...[...chainHalts()].map(([slug, detail]): Halt => ({
          control: 'sequencer',
          note: `${slug}: ${detail}`,
        })),
        ...stops.map(({ control = 'burst', detail = '' }): Halt => ({ control, note: detail })),
      ];
    },
    resume() {
      // Otherwise the loss that stopped us would stop us again at the next look.
      if (kill.held.has('drawdown')) capital.forgive();
      kill.release();
    },
    tradedElsewhere: (quoteIds) => conduct.elsewhere(quoteIds, clock.nowMs()),
    configure(next) {
      config = next;
      configured = deps.limitsOf(next);
      longest = longestOf(next);
      // A pair that is no more has no condition.
      for (const pairs of conditions.values()) pairs.clear();
      guard.configure(next.risk);
      ledger.setLimits(capital.limits());
    },
    status: () => ({
      tripped: board.tripped(),
      ...capital.status(),
      suspects: conduct.suspects(clock.nowMs()).slice(0, 50),
    }),
    async heed() {
      const losing = kill.held.has('drawdown');
      await kill.follow(deps.store);
      if (losing && !kill.held.has('drawdown')) capital.forgive();
    },
    async flush() {
      await kill.flush(deps.store);
      await capital.flush(deps.store);
    },
  };
}

const NONE: ReadonlyMap<string, string> = new Map();
const SUSPICION = [
  'nothing',
  'pays more for the option',
  'pays more and gets it short',
  'gets no quotes',
] as const;
const LOOKED_AT_ONCE = 250;
const LOOKED_AT_A_STEP = 25;

/** T_max: the longest that a quote may be firm. */
const longestOf = ({ quoting }: LpConfig): number =>
  Math.max(quoting.maxValiditySeconds, longestPoint(quoting)) + quoting.clockSkewSeconds;
