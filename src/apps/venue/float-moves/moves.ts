/**
 * A bridge venue refills itself: where its float is low, a transfer brings money from the chain that has most
 * above its own `low`, by the machinery with which LPs rebalance. Each worker takes the steps whose signer it
 * holds. The database decides what begins, so that no two workers begin the same.
 */

import { randomUUID } from 'node:crypto';
import { planRefills, type Refill } from '../../../adapters/bridges/venue/refill-plan.ts';
import type { FloatAsset } from '../../../adapters/bridges/venue/venue.ts';
import { formatTokens } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { Bridge, BridgeMove } from '../../../ports/bridge.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Gauge, Metrics } from '../../../ports/metrics.ts';
import type { FloatStore, FloatTransferAnswer } from '../../../ports/stores/floats.ts';
import type { StoredTransfer, TransferStore } from '../../../ports/stores/transfers.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import { foldTransfer, placeOfTransfer } from '../../../settlement/transfer.ts';
import { createTransfers, type Transfers } from '../../../transfers/executor.ts';
import type { BridgeTransports } from '../../config/bridges.ts';
import type { BridgeChain } from '../../wiring/bridges.ts';
import { type OpenTransferGauges, showOpenTransfers } from '../../wiring/open-transfers.ts';
import { createTransferTurns } from '../../wiring/transfer-turns.ts';
import { whyNotSendable } from './mover.ts';
import {
  chainTimes,
  type PlaceReader,
  type PlaceState,
  placeState,
  readPlace,
  tokenAt,
} from './place-states.ts';
import { floatOverdueGauge } from './switched-off.ts';

interface FloatMovesDeps {
  chains: ReadonlyMap<number, ChainPort>;
  floats: FloatStore;
  store: TransferStore;
  bridges: readonly Bridge[];
  /** Transactors with the mover's key, by chain id. */
  transactors: ReadonlyMap<number, Transactor>;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** Values an amount in USD; undefined: unknown. */
  worthUsd(token: TokenInfo, amount: bigint): number | undefined;
}

interface FloatMovesOptions {
  /** The id of the route venue. */
  id: string;
  account: Address;
  operator: Address;
  mover: Address;
  assets: readonly FloatAsset[];
  /** The bridges as they are configured. */
  by: BridgeTransports;
  sections: readonly BridgeChain[];
  /** The most of each asset per day, in 1e-18 of a whole token. */
  mostPerDay: bigint;
  everyMs: number;
  patienceMs: number;
}

interface FloatMoves {
  /** Resolves when the transactors have started, with a function that stops the refills. */
  start(): Promise<() => Promise<void>>;
}

/** What decides whether a transfer may begin. */
interface Admission extends PlaceReader {
  readonly deps: FloatMovesDeps;
  readonly options: FloatMovesOptions;
  /** The database's answers to transfers that are just being begun, by id. */
  readonly answers: Map<string, FloatTransferAnswer>;
}

interface Mover extends Admission {
  readonly transfers: Transfers;
  /** The reason last logged for a low place that gets nothing. */
  readonly told: Map<string, string>;
  readonly gauges: OpenTransferGauges & { blocked: Gauge };
}

const DAY_MS = 86_400_000;
const REFUSED: Record<Exclude<FloatTransferAnswer, 'added'>, string> = {
  one_is_open: 'another transfer of it is open',
  not_free: 'live quotes and open orders need what the other chain has',
  over_day: 'the transfers of 24 hours would be more than moves.mostPerDay. Raise it, or move money by hand',
};

export function createFloatMoves(deps: FloatMovesDeps, options: FloatMovesOptions): FloatMoves {
  const admission: Admission = { deps, options, movableAtMs: new Map(), answers: new Map() };
  const mover: Mover = {
    ...admission,
    transfers: createTransfers(
      {
        ...deps,
        store: {
          ...deps.store,
          add: (transfer) => addTransfer(admission, transfer),
          open: async () => (await openTransfers(admission)).filter((each) => isOurs(admission, each)),
        },
        // The store decides what is free, and counts open transfers.
        reservations: { take: () => true, restore() {}, release() {} },
        worthUsd(place, amount) {
          const info = tokenAt(admission, place);
          return info && deps.worthUsd(info, amount);
        },
      },
      { patienceMs: options.patienceMs },
    ),
    told: new Map(),
    gauges: gaugesOf(deps.metrics),
  };
  const turns = createTransferTurns(deps, {
    everyMs: options.everyMs,
    failed: 'refill: a turn failed; the next one tries again',
  });
  return { start: () => turns.start(() => turn(mover)) };
}

const gaugesOf = (metrics: Metrics): Mover['gauges'] => ({
  stages: metrics.gauge(
    'firmquote_bridge_transfers_open',
    'Transfers between chains of a bridge venue that are not over, by stage',
    ['venue', 'stage'],
  ),
  oldest: metrics.gauge(
    'firmquote_bridge_transfer_age_seconds',
    'Since the oldest transfer of a bridge venue that is not over began; 0 while there is none',
    ['venue'],
  ),
  overdue: floatOverdueGauge(metrics),
  blocked: metrics.gauge(
    'firmquote_bridge_refill_blocked',
    '1 while the float is low on the chain and no transfer to it can begin',
    ['venue', 'chain', 'token'],
  ),
});

async function turn(mover: Mover): Promise<void> {
  const { assets } = mover.options;
  await mover.transfers.turn();
  const open = await openTransfers(mover);
  show(mover, open);
  if (!assets.some(({ on }) => on.some((place) => holds(mover, place)))) return forget(mover);
  for (const asset of assets) await refillAsset(mover, asset, open);
  show(mover, await openTransfers(mover));
}

async function openTransfers({ deps, options }: Admission): Promise<StoredTransfer[]> {
  return (await deps.store.open()).filter(({ move }) => move.account === options.account);
}

function show(mover: Mover, open: readonly StoredTransfer[]): void {
  const { deps, options, gauges, transfers } = mover;
  showOpenTransfers(
    gauges,
    open,
    { waits: transfers.waits(), nowMs: deps.clock.nowMs(), patienceMs: options.patienceMs },
    { labels: { venue: options.id }, isOurs: (transfer) => isOurs(mover, transfer) },
  );
}

const holds = ({ deps }: Admission, { chainId }: BridgeMove['from']): boolean =>
  deps.transactors.get(chainId)?.holds() === true;

/** Whether this worker takes the next step. */
function isOurs(admission: Admission, { move, facts }: StoredTransfer): boolean {
  const state = foldTransfer(move.amount, facts);
  const isUnderWay = state.stage === 'burned' || state.stage === 'attested';
  return holds(admission, isUnderWay ? move.to : placeOfTransfer(move, state));
}

/** Another worker tells now. */
function forget(mover: Mover): void {
  const { deps, options, told, gauges } = mover;
  told.clear();
  for (const place of options.assets.flatMap(({ on }) => on)) {
    const [chain, info] = [deps.chains.get(place.chainId), tokenAt(mover, place)];
    if (chain && info)
      gauges.blocked.set(0, { venue: options.id, chain: chain.chain.slug, token: info.symbol });
  }
}

async function refillAsset(mover: Mover, { on }: FloatAsset, open: readonly StoredTransfer[]): Promise<void> {
  const states = await Promise.all(on.map((place) => placeState(mover, place)));
  // A chain that cannot be read may have more than the others, or be the one that waits.
  if (!states.every((state) => state !== undefined)) return;
  const plans = planRefills(
    states,
    open.map(({ move }) => move),
  );
  for (const state of states) if (!plans.some(({ to }) => to === state)) tell(mover, state, undefined);
  for (const plan of plans)
    if ('why' in plan) tell(mover, plan.to, plan.why);
    else if (holds(mover, plan.from))
      tell(
        mover,
        plan.to,
        await refill(mover, plan).catch((error: unknown) =>
          error instanceof Error ? error.message : String(error),
        ),
      );
}

/** Logs why a low place gets nothing; undefined: it gets what it lacks. */
function tell(
  { options: { id }, deps: { log }, told, gauges }: Mover,
  { chain, info, owned, low, chainId, token }: PlaceState,
  why: string | undefined,
): void {
  const name = `${chainId} ${token}`;
  const { slug } = chain.chain;
  gauges.blocked.set(why === undefined ? 0 : 1, { venue: id, chain: slug, token: info.symbol });
  if (why !== undefined && told.get(name) !== why)
    log.warn(
      {},
      `the float of ${id} is low on ${slug}: ${formatTokens(owned, info)} of ${formatTokens(low ?? 0n, info)}. No refill begins: ${why}`,
    );
  if (why === undefined) told.delete(name);
  else told.set(name, why);
}

/** Begins a transfer, or returns why it cannot begin. */
async function refill(
  { options, deps, transfers, answers }: Mover,
  { to, from, amount }: Refill<PlaceState>,
): Promise<string | undefined> {
  const { account, by } = options;
  if (from.isRequested)
    return `people have requested a withdrawal on ${from.chain.chain.slug}. The refill begins after it`;
  const wanted = { token: from.info, amount };
  const ids = new Set([from.chainId, to.chainId]);
  const sections = options.sections.filter((section) => ids.has(section.id));
  const why = await whyNotSendable(from.chain, { account }, wanted, { by, sections });
  if (why !== undefined) return why;
  const move: BridgeMove = {
    ...{ account, amount },
    from: { chainId: from.chainId, token: from.token },
    to: { chainId: to.chainId, token: to.token },
  };
  const has = `${to.chain.chain.slug} holds ${formatTokens(to.owned, to.info)} of ${formatTokens(to.low ?? 0n, to.info)}`;
  const name = randomUUID();
  const begun = await transfers.begin(name, move, `automatic: ${has}`);
  const answer = answers.get(name);
  answers.delete(name);
  if ('refused' in begun) return answer === undefined || answer === 'added' ? begun.detail : REFUSED[answer];
  deps.log.info(
    { transfer: name, bridge: begun.bridge },
    `refill: ${formatTokens(amount, from.info)} go from ${from.chain.chain.slug} to ${to.chain.chain.slug}: ${has}`,
  );
  return undefined;
}

/** Adds a transfer if what it takes is free at the newest block, and within the limit of a day. */
async function addTransfer(admission: Admission, transfer: StoredTransfer): Promise<boolean> {
  const { deps, options, answers } = admission;
  const { from } = transfer.move;
  const on = options.assets.find((each) => each.on.some((at) => isAt(at, from)))?.on ?? [];
  const place = on.find((at) => isAt(at, from));
  const seen = place && (await readPlace(admission, place));
  if (!place || !seen || seen.isRequested) return false;
  const answer = await deps.floats.transfer(
    {
      ...{ venueId: options.id, account: options.account, chainId: place.chainId, token: place.token },
      ...{ transfer, held: seen.held, asOf: seen.asOf, low: place.low ?? 0n },
      day: {
        sinceMs: deps.clock.nowMs() - DAY_MS,
        most: options.mostPerDay,
        places: on.flatMap(({ chainId, token }) => {
          const decimals = tokenAt(admission, { chainId, token })?.decimals;
          return decimals === undefined ? [] : [{ chainId, token, decimals }];
        }),
      },
    },
    chainTimes(deps.chains),
  );
  answers.set(transfer.id, answer);
  return answer === 'added';
}

const isAt = (a: BridgeMove['from'], b: BridgeMove['from']): boolean =>
  a.chainId === b.chainId && a.token === b.token;
