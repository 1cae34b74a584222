/**
 * A bridge venue refills itself: where its float is low, a transfer brings money from the chain that has most
 * above its own `low`, by the machinery with which LPs rebalance. Each worker takes the steps whose signer it
 * holds. The database decides what begins, so that no two workers begin the same.
 */

import { randomUUID } from 'node:crypto';
import { freeOfFloat, readFloat } from '../../../adapters/bridges/venue/float.ts';
import { type FloatState, planRefills, type Refill } from '../../../adapters/bridges/venue/refill-plan.ts';
import type { FloatAsset } from '../../../adapters/bridges/venue/venue.ts';
import { formatTokens } from '../../../domain/amount.ts';
import { tokenOf, type TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { Bridge, BridgeMove } from '../../../ports/bridge.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import type { FloatBlock, FloatStore, FloatTransferAnswer } from '../../../ports/stores/floats.ts';
import type { StoredTransfer, TransferStore } from '../../../ports/stores/transfers.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import { foldTransfer, placeOfTransfer } from '../../../settlement/transfer.ts';
import { createTransfers } from '../../../transfers/executor.ts';
import type { BridgeChain } from '../../wiring/bridges.ts';
import { isOverdue, oldestAgeSeconds, stageCounts } from '../../wiring/open-transfers.ts';
import type { BridgeTransports } from '../../config/bridges.ts';
import { whyNotMovable, whyNotSendable } from './mover.ts';

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

interface State extends FloatState, Pick<FloatReading, 'isRequested'> {
  info: TokenInfo;
  chain: ChainPort;
}

/** Holds the figures of a place at a block, with the sums of the database. */
interface FloatReading {
  held: bigint;
  asOf: FloatBlock;
  free: bigint;
  promised: bigint;
  /** A withdrawal is requested and has not lapsed. */
  isRequested: boolean;
}

const DAY_MS = 86_400_000;
/** An account that may be moved is not read again for this long. */
const MOVABLE_MS = 60_000;
const REFUSED: Record<Exclude<FloatTransferAnswer, 'added'>, string> = {
  one_is_open: 'another transfer of it is open',
  not_free: 'live quotes and open orders need what the other chain has',
  over_day: 'the transfers of 24 hours would be more than moves.mostPerDay. Raise it, or move money by hand',
};

export function createFloatMoves(
  { chains, floats, store: all, bridges, transactors, clock, log, metrics, worthUsd }: FloatMovesDeps,
  options: FloatMovesOptions,
) {
  const { id, account, operator, mover, assets, everyMs, patienceMs } = options;
  const places = assets.flatMap(({ on }) => on);
  const movable = new Map<number, number>();
  /** The reason last logged for a low place that gets nothing. */
  const told = new Map<string, string>();
  const answers = new Map<string, FloatTransferAnswer>();

  const openOnes = async () => (await all.open()).filter(({ move }) => move.account === account);
  const holds = ({ chainId }: BridgeMove['from']) => transactors.get(chainId)?.holds() === true;
  /** Returns the place where the next step is taken. */
  const nextPlaceOf = ({ move, facts }: StoredTransfer): BridgeMove['from'] => {
    const state = foldTransfer(move.amount, facts);
    const isUnderWay = state.stage === 'burned' || state.stage === 'attested';
    return isUnderWay ? move.to : placeOfTransfer(move, state);
  };
  const isOurs = (transfer: StoredTransfer): boolean => holds(nextPlaceOf(transfer));

  const transfers = createTransfers(
    {
      ...{ bridges, chains, transactors, clock, log },
      store: { ...all, add, open: async () => (await openOnes()).filter(isOurs) },
      // The store decides what is free, and counts open transfers.
      reservations: { take: () => true, restore() {}, release() {} },
      worthUsd({ chainId, token }, amount) {
        const info = tokenAt(chainId, token);
        return info && worthUsd(info, amount);
      },
    },
    { patienceMs },
  );

  function tokenAt(chainId: number, token: Address): TokenInfo | undefined {
    const chain = chains.get(chainId)?.chain;
    return chain && tokenOf(chain, token);
  }

  const times = () =>
    new Map(
      [...chains].flatMap(([chainId, chain]) => {
        const time = chain.head()?.timestamp;
        return time === undefined ? [] : [[chainId, time] as const];
      }),
    );

  async function readPlace({
    chainId,
    token,
    keep,
  }: FloatAsset['on'][number]): Promise<FloatReading | undefined> {
    const chain = chains.get(chainId);
    const head = chain?.head();
    if (!chain || !head) return undefined;
    const place = { venueId: id, account, chainId, token };
    const owed = await floats.owed(place);
    const float = await readFloat(chain, token, head, { account, operator, keep, fillWei: 0n }, owed);
    const use = await floats.use(place, float.asOf, times());
    // What the operator may spend does not bound what the mover moves.
    const free = freeOfFloat({ most: float.held, held: float.held }, use);
    const isRequested =
      float.asOf.requested > 0n &&
      (await chain.pendingWithdrawal(account, token, head.number)).lapsesAt >= head.timestamp;
    return { held: float.held, asOf: float.asOf, free, promised: use.promised, isRequested };
  }

  async function add(transfer: StoredTransfer): Promise<boolean> {
    const { from } = transfer.move;
    const on = assets.find((each) => each.on.some((at) => isAt(at, from)))?.on ?? [];
    const place = on.find((at) => isAt(at, from));
    const seen = place && (await readPlace(place));
    if (!place || !seen || seen.isRequested) return false;
    const answer = await floats.transfer(
      {
        ...{ venueId: id, account, chainId: place.chainId, token: place.token, transfer },
        ...{ held: seen.held, asOf: seen.asOf, low: place.low ?? 0n },
        day: {
          sinceMs: clock.nowMs() - DAY_MS,
          most: options.mostPerDay,
          places: on.flatMap(({ chainId, token }) => {
            const decimals = tokenAt(chainId, token)?.decimals;
            return decimals === undefined ? [] : [{ chainId, token, decimals }];
          }),
        },
      },
      times(),
    );
    answers.set(transfer.id, answer);
    return answer === 'added';
  }

  async function fixedAt(chain: ChainPort): Promise<string | undefined> {
    const sick = chain.healthIssue();
    if (sick !== undefined) return `${chain.chain.slug} is not followed reliably now: ${sick}`;
    const chainId = chain.chain.id;
    if (clock.monotonicMs() - (movable.get(chainId) ?? -Infinity) < MOVABLE_MS) return undefined;
    const why = await whyNotMovable(chain, { account, mover });
    if (why === undefined) movable.set(chainId, clock.monotonicMs());
    return why;
  }

  async function stateOf(place: FloatAsset['on'][number]): Promise<State | undefined> {
    const chain = chains.get(place.chainId);
    const info = tokenAt(place.chainId, place.token);
    const seen = await readPlace(place);
    if (!chain || !info || !seen) return undefined;
    const { free, promised, isRequested } = seen;
    return {
      ...{ ...place, info, chain, isRequested, free, owned: free + promised, decimals: info.decimals },
      fixed: await fixedAt(chain),
    };
  }

  async function refill({ to, from, amount }: Refill<State>): Promise<string | undefined> {
    if (from.isRequested)
      return `people have requested a withdrawal on ${from.chain.chain.slug}. The refill begins after it`;
    const wanted = { token: from.info, amount };
    const ids = new Set([from.chainId, to.chainId]);
    const sections = options.sections.filter((section) => ids.has(section.id));
    const why = await whyNotSendable(from.chain, { account }, wanted, { by: options.by, sections });
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
    if ('refused' in begun)
      return answer === undefined || answer === 'added' ? begun.detail : REFUSED[answer];
    log.info(
      { transfer: name, bridge: begun.bridge },
      `refill: ${formatTokens(amount, from.info)} go from ${from.chain.chain.slug} to ${to.chain.chain.slug}: ${has}`,
    );
    return undefined;
  }

  /** Logs why a low place gets nothing; undefined: it gets what it lacks. */
  function tell({ chain, info, owned, low, chainId, token }: State, why: string | undefined): void {
    const name = `${chainId} ${token}`;
    blocked.set(why === undefined ? 0 : 1, { venue: id, chain: chain.chain.slug, token: info.symbol });
    if (why !== undefined && told.get(name) !== why)
      log.warn(
        {},
        `the float of ${id} is low on ${chain.chain.slug}: ${formatTokens(owned, info)} of ${formatTokens(low ?? 0n, info)}. No refill begins: ${why}`,
      );
    if (why === undefined) told.delete(name);
    else told.set(name, why);
  }

  async function refillAsset({ on }: FloatAsset, open: readonly StoredTransfer[]): Promise<void> {
    const states = await Promise.all(on.map(stateOf));
    // A chain that cannot be read may have more than the others, or be the one that waits.
    if (!states.every((state) => state !== undefined)) return;
    const plans = planRefills(
      states,
      open.map(({ move }) => move),
    );
    for (const state of states) if (!plans.some(({ to }) => to === state)) tell(state, undefined);
    for (const plan of plans)
      if ('why' in plan) tell(plan.to, plan.why);
      else if (holds(plan.from))
        tell(
          plan.to,
          await refill(plan).catch((error: unknown) =>
            error instanceof Error ? error.message : String(error),
          ),
        );
  }

  async function turn(): Promise<void> {
    await transfers.turn();
    const open = await openOnes();
    show(open);
    if (!places.some(holds)) return forget();
    for (const asset of assets) await refillAsset(asset, open);
    show(await openOnes());
  }

  /** Another worker tells now. */
  function forget(): void {
    told.clear();
    for (const { chainId, token } of places) {
      const [chain, info] = [chains.get(chainId), tokenAt(chainId, token)];
      if (chain && info) blocked.set(0, { venue: id, chain: chain.chain.slug, token: info.symbol });
    }
  }

  const stages = metrics.gauge(
    'firmquote_bridge_transfers_open',
    'Transfers between chains of a bridge venue that are not over, by stage',
    ['venue', 'stage'],
  );
  const oldest = metrics.gauge(
    'firmquote_bridge_transfer_age_seconds',
    'Since the oldest transfer of a bridge venue that is not over began; 0 while there is none',
    ['venue'],
  );
  const overdue = overdueGauge(metrics);
  const blocked = metrics.gauge(
    'firmquote_bridge_refill_blocked',
    '1 while the float is low on the chain and no transfer to it can begin',
    ['venue', 'chain', 'token'],
  );

  function show(open: readonly StoredTransfer[]): void {
    for (const [stage, count] of stageCounts(open)) stages.set(count, { venue: id, stage });
    const nowMs = clock.nowMs();
    const waits = transfers.waits();
    oldest.set(oldestAgeSeconds(open, nowMs), { venue: id });
    overdue.set(open.filter((each) => isOurs(each) && isOverdue(each, waits, { nowMs, patienceMs })).length, {
      venue: id,
    });
  }

  return {
    /** Resolves when the transactors have started. */
    async start(): Promise<() => Promise<void>> {
      await Promise.all([...transactors.values()].map((transactor) => transactor.start()));
      let stopped = false;
      let cancel = (): void => {};
      let last: Promise<void> = Promise.resolve();
      const run = (): void => {
        last = turn()
          .catch((error: unknown) => log.warn({ error }, 'refill: a turn failed; the next one tries again'))
          .finally(() => {
            if (!stopped) cancel = clock.after(everyMs, run);
          });
      };
      run();
      return async () => {
        stopped = true;
        cancel();
        await last;
        await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
      };
    },
  };
}

/**
 * Says at start which transfers stand still because `moves` is null. What they take stays out of quotes.
 * Throws `UpstreamError` of the store.
 */
export async function tellOpenTransfers(
  { store, log, metrics }: { store: Pick<TransferStore, 'open'>; log: Log; metrics: Metrics },
  { id, account }: Pick<FloatMovesOptions, 'id' | 'account'>,
): Promise<void> {
  const open = (await store.open()).filter(({ move }) => move.account === account);
  // Nobody takes their next steps, so each of them is overdue.
  overdueGauge(metrics).set(open.length, { venue: id });
  for (const { id: transfer, bridge, move, facts } of open) {
    const { stage } = foldTransfer(move.amount, facts);
    log.error(
      { transfer, stage, bridge },
      `moves of the bridge "${id}" is null while a transfer of its float is open (${stage}): nobody takes its next step. Set moves again until the transfer is over.`,
    );
  }
}

const overdueGauge = (metrics: Metrics) =>
  metrics.gauge(
    'firmquote_bridge_transfers_overdue',
    'Transfers that have waited for longer than moves.patienceSeconds, beyond the delay of a withdrawal',
    ['venue'],
  );

const isAt = (a: BridgeMove['from'], b: BridgeMove['from']): boolean =>
  a.chainId === b.chainId && a.token === b.token;
