/** The prices topics: solvers' ladders as one two-sided view per market, at most five times a second. */

import { type AssetId, assetId } from '../../domain/asset.ts';
import type { Chain, TokenInfo } from '../../domain/chain.ts';
import { parseCorridor } from '../../domain/corridor.ts';
import { toIso } from '../../domain/time.ts';
import { type Ladder, outputAt, planSplit } from '../../auction/split.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyMode, Workspace } from '../../ports/stores/store.ts';
import { PRICES_EVERY_MS, type PriceEventFrame } from '../../protocol/api/events.ts';
import { type SolverLevels, marketKey, type Offered } from '../solvers/levels.ts';
import { tradesOn } from '../market/markets.ts';
import { priceText } from '../market/prices.ts';
import type { Roster } from '../solvers/roster.ts';
import type { StreamClient } from './order-topics.ts';

type Level = PriceEventFrame['data']['bids'][number];

interface PriceSide {
  chain: Chain;
  token: TokenInfo;
  asset: AssetId;
}

export interface PriceMarket {
  topic: string;
  input: PriceSide;
  output: PriceSide;
}

export interface LevelsBoard {
  /** Returns the market of a topic; undefined when this key cannot see it. */
  market(topic: string, corridor: string, pair: string, mode: KeyMode): PriceMarket | undefined;
  join(client: StreamClient, market: PriceMarket, workspace: Pick<Workspace, 'eligibleSolvers'>): void;
  leave(client: StreamClient, topic: string): void;
  start(): void;
  stop(): void;
}

interface View {
  market: PriceMarket;
  eligible: ReadonlySet<string> | undefined;
  clients: Set<StreamClient>;
  /** The last one; undefined before the first tick. */
  frame: Buffer | undefined;
  dirty: boolean;
  sentMs: number;
  /** The time at which the first of its ladders expires, in milliseconds. */
  staleMs: number;
}

const TICK_MS = PRICES_EVERY_MS / 4;
const STEPS = 8;

export function createLevelsBoard(
  {
    levels,
    roster,
    chains,
    clock,
  }: { levels: SolverLevels; roster: Roster; chains: ReadonlyMap<number, Chain>; clock: Clock },
  { maxAgeMs, maxSplitParts }: { maxAgeMs: number; maxSplitParts: number },
): LevelsBoard {
  const views = new Map<string, View>();
  const byMarket = new Map<string, Set<View>>();
  let cancel = () => {};

  levels.onChange((market) => {
    for (const view of byMarket.get(market) ?? []) view.dirty = true;
  });
  roster.onChange(() => {
    for (const view of views.values()) view.dirty = true;
  });

  function tick() {
    const now = clock.monotonicMs();
    for (const view of views.values()) {
      if ((view.dirty || clock.nowMs() > view.staleMs) && now - view.sentMs >= PRICES_EVERY_MS)
        publish(view, now);
    }
    cancel = clock.after(TICK_MS, tick);
  }

  function publish(view: View, now: number) {
    view.sentMs = now;
    view.dirty = false;
    view.frame = Buffer.from(frameOf(view));
    for (const client of view.clients) client.send(view.frame);
  }

  function frameOf(view: View): string {
    const { market, eligible } = view;
    const { input, output } = market;
    const usable = (from: PriceSide, to: PriceSide) =>
      levels.of(from.asset, to.asset).filter(({ solverId }) => !eligible || eligible.has(solverId));
    const [forward, back] = [usable(input, output), usable(output, input)];
    const parts = input.chain.id === output.chain.id ? maxSplitParts : 1;
    const oldest = Math.min(...[...forward, ...back].map(({ atMs }) => atMs));
    const nowMs = clock.nowMs();
    view.staleMs = oldest + maxAgeMs;
    const frame: PriceEventFrame = {
      topic: market.topic,
      type: 'prices.indicative',
      occurredAt: toIso(nowMs),
      data: {
        firm: false,
        input: shown(input),
        output: shown(output),
        bids: together(forward, parts).map(([give, get]) => ({
          give: give.toString(),
          get: get.toString(),
          price: priceText([get, output.token.decimals], [give, input.token.decimals], 12),
        })),
        asks: together(back, parts).map(([give, get]): Level => ({
          give: give.toString(),
          get: get.toString(),
          price: priceText([give, output.token.decimals], [get, input.token.decimals], 12),
        })),
        solvers: new Set([...forward, ...back].map(({ solverId }) => solverId)).size,
        asOf: Number.isFinite(oldest) ? toIso(oldest) : null,
        ageMs: Number.isFinite(oldest) ? Math.max(0, nowMs - oldest) : null,
      },
    };
    return JSON.stringify(frame);
  }

  return {
    market(topic: string, corridor: string, pair: string, mode: KeyMode) {
      const found = parseCorridor(
        corridor,
        [...chains.values()].filter((chain) => tradesOn(chain, mode)),
      );
      if (!found) return undefined;
      // Symbols may contain hyphens, so every split is tried.
      for (let at = pair.indexOf('-'); at !== -1; at = pair.indexOf('-', at + 1)) {
        const [input, output] = [
          sideOf(found.source, pair.slice(0, at)),
          sideOf(found.dest, pair.slice(at + 1)),
        ];
        if (input && output && input.asset !== output.asset) return { topic, input, output };
      }
      return undefined;
    },
    join(client: StreamClient, market: PriceMarket, { eligibleSolvers }: Pick<Workspace, 'eligibleSolvers'>) {
      const id = viewId(market.topic, eligibleSolvers);
      let view = views.get(id);
      if (!view) {
        view = {
          market,
          eligible: eligibleSolvers ? new Set(eligibleSolvers) : undefined,
          clients: new Set(),
          frame: undefined,
          dirty: true,
          sentMs: Number.NEGATIVE_INFINITY,
          staleMs: Number.POSITIVE_INFINITY,
        };
        views.set(id, view);
        for (const key of keysOf(market)) byMarket.set(key, (byMarket.get(key) ?? new Set()).add(view));
      }
      view.clients.add(client);
      // A new or changed view is sent with the next tick, however often clients come and go.
      const now = clock.monotonicMs();
      if (!view.dirty && now - view.sentMs >= PRICES_EVERY_MS) {
        view.sentMs = now;
        view.frame = Buffer.from(frameOf(view));
      }
      if (view.frame && now - view.sentMs < PRICES_EVERY_MS) client.send(view.frame);
    },
    leave(client: StreamClient, topic: string) {
      for (const [id, view] of views) {
        if (view.market.topic !== topic || !view.clients.delete(client) || view.clients.size > 0) continue;
        views.delete(id);
        for (const key of keysOf(view.market)) {
          const set = byMarket.get(key);
          set?.delete(view);
          if (set?.size === 0) byMarket.delete(key);
        }
      }
    },
    start: tick,
    stop: () => cancel(),
  };
}

const viewId = (topic: string, eligible: readonly string[] | null): string =>
  `${topic} ${eligible ? [...eligible].sort().join(' ') : '*'}`;
const keysOf = ({ input, output }: PriceMarket): string[] => [
  marketKey(input.asset, output.asset),
  marketKey(output.asset, input.asset),
];
const shown = ({ asset, token }: PriceSide) => ({ asset, symbol: token.symbol, decimals: token.decimals });

function sideOf(chain: Chain, symbol: string): PriceSide | undefined {
  const token = chain.tokens.find((each) => each.symbol === symbol);
  return token && { chain, token, asset: assetId({ chainId: chain.id, token: token.address }) };
}

/** The best output at rising sizes, of one solver or of a split. Exported for its test. */
export function together(offered: readonly Offered[], maxParts: number): [bigint, bigint][] {
  const ladders = new Map(offered.map(({ solverId, ladder }): [string, Ladder] => [solverId, ladder]));
  const sizes = new Set(offered.flatMap(({ ladder }) => ladder.map(([size]) => size)));
  if (maxParts > 1) {
    const ends = offered.map(({ ladder }) => ladder.at(-1)?.[0] ?? 0n).sort((a, b) => (a > b ? -1 : 1));
    for (let parts = 2; parts <= Math.min(maxParts, ends.length); parts++)
      sizes.add(ends.slice(0, parts).reduce((sum, end) => sum + end, 0n));
  }
  const steps: [bigint, bigint][] = [];
  for (const size of thinned([...sizes].sort((a, b) => (a < b ? -1 : 1)))) {
    let best = 0n;
    for (const ladder of ladders.values()) {
      const end = ladder.at(-1)?.[0] ?? 0n;
      const alone = size <= end ? outputAt(ladder, size) : undefined;
      if (alone !== undefined && alone > best) best = alone;
    }
    const plan =
      maxParts > 1 && ladders.size > 1
        ? planSplit(ladders, { side: 'exactInput', amount: size, maxParts })
        : undefined;
    if (plan && plan.outputAmount > best) best = plan.outputAmount;
    if (best > (steps.at(-1)?.[1] ?? 0n)) steps.push([size, best]);
  }
  return steps;
}

function thinned(sizes: bigint[]): bigint[] {
  if (sizes.length <= STEPS) return sizes;
  return Array.from(
    { length: STEPS },
    (_, index) => sizes[Math.round((index * (sizes.length - 1)) / (STEPS - 1))] as bigint,
  );
}
