/**
 * Standby reasons, evaluated a few times a second. The quote path reads the result, and what must stop it at
 * once directly: kill switch, shared inventory, stopped pairs.
 */

import { formatTokens } from '../../domain/amount.ts';
import type { Control, Decline } from '../../domain/decline.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import { toIso } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Signer } from '../../ports/signer.ts';
import type { Transactor } from '../../ports/transactor.ts';
import type { Market } from '../market/market.ts';
import type { Bonds } from '../chain/bonds.ts';
import type { ChainState } from '../routes/chain-state.ts';
import type { LpConfig } from '../config/config.ts';
import type { Follower } from '../chain/follow.ts';
import type { Lead } from '../replicas/leadership.ts';
import type { Leases } from '../replicas/lease.ts';
import type { Proving } from '../settlement/proving.ts';
import { chainReason, gasText, leastGas } from './chain-reason.ts';
import { staleReasons, whyUnpriced } from './price-reason.ts';
import type { Risk } from './risk.ts';
import { pauseNote } from './scoped-pauses.ts';
import {
  driftText,
  type PairStatus,
  PUBLIC_NOTES,
  type StandbyReason,
  withControl,
} from './standby-reason.ts';
import type { QuoteRoute, Routes } from '../routes/route.ts';
import type { Sharing } from '../replicas/sharing.ts';

type ReportedKind = 'stopping' | 'starting' | 'operator' | 'store';

/** The configuration, routes and state that a pair needs to be quoted. A reload replaces them as a whole. */
interface Quoted {
  config: Pick<LpConfig, 'quoting' | 'risk'>;
  routes: Routes;
  context: { market: Market; ledger: Ledger; chains: ReadonlyMap<number, ChainState> };
}

interface StandbyDeps {
  quoting(): Quoted;
  leases: Leases;
  followers: ReadonlyMap<number, Follower>;
  transactors: ReadonlyMap<number, Transactor>;
  risk: Pick<Risk, 'kill' | 'stopped' | 'halts' | 'pauses'>;
  clock: Clock;
  sharing?: Pick<Sharing, 'trouble'> | undefined;
  proving?: Pick<Proving, 'healthIssue'> | undefined;
  /** Absent in shadow mode, which sends nothing. */
  signer: Pick<Signer, 'issue'> | undefined;
  bonds: Pick<Bonds, 'shortOn' | 'notes'>;
  lead: Pick<Lead, 'mine' | 'taken' | 'over'>;
  /**
   * Names what the books have not compared with the chains since the start; undefined when nothing is left.
   */
  booksBehind(): string | undefined;
}

interface StandbyStatus {
  status: 'active' | 'standby';
  note: string | null;
}

export interface Standby {
  /** Evaluates every reason; true when the kinds of reasons have changed. */
  update(): boolean;
  /** Returns why this route is not quoted now. Cheap: called for every quote. */
  refusal(route: QuoteRoute): Decline | undefined;
  /** Returns the status with the notes for the operator. */
  status(): StandbyStatus;
  /** Returns the status for venues and takers. */
  publicStatus(): StandbyStatus;
  reasons(): readonly StandbyReason[];
  pairs(): readonly PairStatus[];
  /**
   * Reports a reason (effective immediately), or with undefined its end (from the next `update`). `about`:
   * what has the reason, such as a chain, when several can have it.
   */
  report(kind: ReportedKind, note: string | undefined, about?: string): void;
  /** The controls behind the reasons, each with its subjects and their notes. */
  controls(): ReadonlyMap<Control, ReadonlyMap<string, string>>;
}

interface State {
  /** Notes by kind, and within a kind by what they are about. */
  readonly reported: Map<ReportedKind, Map<string, string>>;
  stoppedChains: Map<number, StandbyReason>;
  /** Chains on which we cannot send transactions: this stops cross-chain routes only. */
  chainsWithoutSender: Map<number, StandbyReason>;
  /** Origins on which a fill could not be proven in time: this stops cross-chain routes only. */
  unprovenOrigins: Map<number, StandbyReason>;
  /** The reason that stops every route. */
  global: StandbyReason | undefined;
  reasons: readonly StandbyReason[];
  /** The kinds of reasons at the last `update`. */
  lastKinds: string;
  /** The chains of cross-chain routes, kept until a reload replaces the routes. */
  crossChain: { routes: Routes; chains: ReadonlySet<number> } | undefined;
  /** The monotonic time since which no pair can be quoted, in milliseconds. */
  unpricedSinceMs: number | undefined;
  everPriced: boolean;
  pairs: readonly PairStatus[];
}

const MAX_NOTE_LENGTH = 200;

export function createStandby(deps: StandbyDeps): Standby {
  const starting: StandbyReason = { kind: 'starting', note: 'starting' };
  const state: State = {
    reported: new Map(),
    stoppedChains: new Map(),
    chainsWithoutSender: new Map(),
    unprovenOrigins: new Map(),
    global: starting,
    reasons: [starting],
    lastKinds: '',
    crossChain: undefined,
    unpricedSinceMs: undefined,
    everPriced: false,
    pairs: [],
  };
  const notesOf = (kind: (reason: StandbyReason) => string) => statusWith(state, state.reasons.map(kind));
  return {
    update: () => update(deps, state),
    refusal: (route) => refusal(deps, state, route),
    status: () => notesOf(({ note }) => note),
    publicStatus: () => notesOf(({ kind }) => `${kind}: ${PUBLIC_NOTES[kind]}`),
    reasons: () => state.reasons,
    pairs: () => state.pairs,
    report: (kind, note, about = '') => report(deps, state, kind, note, about),
    controls: () => controlsOf(state.reasons),
  };
}

/** Lists unplanned reasons first, because a pause must not hide them. */
const killReasons = ({ risk }: StandbyDeps): StandbyReason[] =>
  [...risk.kill.held]
    .map(([by, note]): StandbyReason => ({
      kind: by === 'operator' ? 'paused' : 'killed',
      note,
      control: 'kill_switch',
    }))
    .sort((a, b) => Number(b.kind === 'killed') - Number(a.kind === 'killed'));

function globalReason(deps: StandbyDeps, state: State): StandbyReason | undefined {
  const [stopped] = killReasons(deps);
  if (stopped !== undefined) return stopped;
  for (const kind of ['stopping', 'starting', 'operator', 'store'] as const)
    for (const note of state.reported.get(kind)?.values() ?? []) return { kind, note };
  if (deps.leases.lost || deps.lead.over)
    return { kind: 'lost', note: 'another process has taken this LP over' };
  const unable = deps.signer?.issue?.();
  if (unable !== undefined) return { kind: 'signer', note: unable };
  const sharingTrouble = deps.sharing?.trouble();
  if (sharingTrouble !== undefined) return sharingTrouble;
  const [wait] = deps.leases.quarantine();
  if (wait === undefined) {
    const behind = deps.booksBehind();
    return behind === undefined ? undefined : { kind: 'starting', note: behind };
  }
  return {
    kind: 'quarantine',
    note: `restarted after a crash: quotes signed before may be live until ${toIso(wait.until * 1_000)}`,
  };
}

function senderReason(deps: StandbyDeps, chainId: number): StandbyReason | undefined {
  const chain = deps.quoting().context.chains.get(chainId);
  if (chain === undefined || deps.signer === undefined) return undefined;
  const { slug } = chain.port.chain;
  const least = leastGas(chain, deps.quoting().config.quoting.gasUnits);
  if (chain.native !== undefined && least !== undefined && chain.native < least)
    return {
      kind: 'gas',
      note: `${slug}: the operator has ${gasText(chain, chain.native)} for gas, and needs ${gasText(chain, least)}`,
    };
  // Only the leading replica sends.
  if (!deps.lead.mine())
    return deps.lead.taken()
      ? undefined
      : { kind: 'sender', note: `${slug}: no replica leads at the moment` };
  // A key service that does not sign is a reason of its own, for the whole LP.
  return deps.transactors.get(chainId)?.healthy() === true || deps.signer.issue?.() !== undefined
    ? undefined
    : { kind: 'sender', note: `${slug}: no healthy sender` };
}

function refusal(deps: StandbyDeps, state: State, route: QuoteRoute): Decline | undefined {
  // Read directly: signing stops the instant the switch is engaged.
  for (const [, detail] of deps.risk.kill.held)
    return { declined: 'standby', control: 'kill_switch', detail };
  const sharingTrouble = deps.sharing?.trouble();
  if (sharingTrouble !== undefined) return { declined: 'standby', detail: sharingTrouble.note };
  const reason =
    state.global ??
    state.stoppedChains.get(route.origin.id) ??
    state.stoppedChains.get(route.dest.id) ??
    (route.sameChain
      ? undefined
      : (state.chainsWithoutSender.get(route.origin.id) ??
        state.chainsWithoutSender.get(route.dest.id) ??
        state.unprovenOrigins.get(route.origin.id)));
  if (reason === undefined) {
    const short = deps.bonds.shortOn(route);
    return short === undefined ? deps.risk.stopped(route) : { declined: 'standby', detail: short };
  }
  const { control } = withControl(reason);
  return { declined: 'standby', detail: reason.note, ...(control !== undefined && { control }) };
}

function updateChains(deps: StandbyDeps, state: State): void {
  const { context, routes } = deps.quoting();
  if (state.crossChain?.routes !== routes) {
    const crossing = routes.all.filter(({ sameChain }) => !sameChain);
    state.crossChain = {
      routes,
      chains: new Set(crossing.flatMap(({ origin, dest }) => [origin.id, dest.id])),
    };
  }
  state.stoppedChains = new Map();
  state.chainsWithoutSender = new Map();
  state.unprovenOrigins = new Map();
  for (const chainId of context.chains.keys()) {
    const readUpTo = deps.followers.get(chainId)?.time() ?? 0;
    const stopped = chainReason(chainId, context.chains.get(chainId), deps.clock.nowMs(), readUpTo);
    if (stopped !== undefined) state.stoppedChains.set(chainId, stopped);
    if (!state.crossChain.chains.has(chainId)) continue;
    const sender = senderReason(deps, chainId);
    if (sender !== undefined) state.chainsWithoutSender.set(chainId, sender);
    const unproven = deps.proving?.healthIssue(chainId);
    if (unproven !== undefined) state.unprovenOrigins.set(chainId, { kind: 'proof', note: unproven });
  }
}

/** Looks at each pair until one of its routes can be quoted. */
function updatePairs(
  deps: StandbyDeps,
  state: State,
): { open: boolean; priceReason: StandbyReason | undefined } {
  const found = new Map<string, PairStatus>();
  let open = false;
  let priceReason: StandbyReason | undefined;
  const { routes, context } = deps.quoting();
  for (const route of routes.all) {
    const { pairName: pair } = route;
    if (found.get(pair)?.quoting === true) continue;
    const closed = closedReason(deps, state, route);
    const unpriced = closed === undefined ? whyUnpriced(context, route) : undefined;
    open ||= closed === undefined;
    priceReason ??= unpriced;
    const reason = closed ?? unpriced?.note;
    // The first reason that a pair has stays: later routes usually repeat it.
    if (reason === undefined || !found.has(pair))
      found.set(pair, { pair, quoting: reason === undefined, reason: reason ?? null });
  }
  state.pairs = [...found.values()];
  return { open, priceReason };
}

/** Returns why this route cannot be quoted at any price. */
function closedReason(deps: StandbyDeps, state: State, route: QuoteRoute): string | undefined {
  const refused = refusal(deps, state, route);
  if (refused !== undefined) return refused.detail ?? refused.control ?? refused.declined;
  const { dest, outputToken } = route;
  const bucket = deps.quoting().context.ledger.bucket(dest.id, outputToken.address);
  if (bucket !== undefined && bucket.drift !== null) return driftText(dest.slug, bucket, bucket.drift);
  if (!hasInventory(deps, route))
    return `${outputToken.symbol} on ${dest.slug}: nothing to pay out beyond the buffer`;
  const limit = bucket?.operatorLimit ?? null;
  if (limit === null || limit.left > 0n) return undefined;
  return limit.most === 0n
    ? `${outputToken.symbol} on ${dest.slug}: the account lets this operator spend none (firmquote lp operator set --limit)`
    : `${outputToken.symbol} on ${dest.slug}: the operator has spent its limit of ${formatTokens(limit.most, outputToken)} in this window`;
}

/** Ignores what is promised already, because it may come back within seconds. */
function hasInventory(deps: StandbyDeps, { dest, outputToken }: QuoteRoute): boolean {
  const bucket = deps.quoting().context.ledger.bucket(dest.id, outputToken.address);
  return bucket === undefined || bucket.onchain > bucket.buffer + bucket.withdrawing;
}

function driftReasons(deps: StandbyDeps): StandbyReason[] {
  const { ledger, chains } = deps.quoting().context;
  return ledger.buckets().flatMap((bucket): StandbyReason[] => {
    const slug = chains.get(bucket.chainId)?.port.chain.slug ?? String(bucket.chainId);
    return bucket.drift === null ? [] : [{ kind: 'drift', note: driftText(slug, bucket, bucket.drift) }];
  });
}

const statusWith = (state: State, notes: readonly string[]): StandbyStatus => ({
  status: state.global === undefined ? 'active' : 'standby',
  note: notes.length === 0 ? null : [...new Set(notes)].join('; ').slice(0, MAX_NOTE_LENGTH),
});

function update(deps: StandbyDeps, state: State): boolean {
  updateChains(deps, state);
  state.global = globalReason(deps, state);
  const { open, priceReason } = updatePairs(deps, state);
  const priced = state.pairs.some(({ quoting: now }) => now);
  const stale = staleReasons(deps.quoting().context.market);
  const partial = [
    ...killReasons(deps).slice(1),
    ...state.stoppedChains.values(),
    ...driftReasons(deps),
    ...deps.risk.pauses().map((pause): StandbyReason => ({ kind: 'paused_part', note: pauseNote(pause) })),
    ...deps.risk.halts().map(({ control, note }): StandbyReason => ({ kind: 'risk', note, control })),
    // The symbol says it all for its pairs.
    ...(priceReason === undefined || stale.length > 0 ? [] : [priceReason]),
    ...stale,
    ...state.chainsWithoutSender.values(),
    ...state.unprovenOrigins.values(),
    ...deps.bonds.notes().map((note): StandbyReason => ({ kind: 'bond', note })),
  ];
  if (priced) state.unpricedSinceMs = undefined;
  else {
    state.unpricedSinceMs ??= deps.clock.monotonicMs();
    // A price that is missing for a short time is a decline; after that it is a status.
    const patienceMs = open && state.everPriced ? deps.quoting().config.risk.standbyAfterSeconds * 1000 : 0;
    if (deps.clock.monotonicMs() - state.unpricedSinceMs >= patienceMs)
      state.global ??= (open ? (stale[0] ?? priceReason) : undefined) ??
        partial[0] ?? {
          kind: 'inventory',
          note: "no pair has anything to pay out: the buffers or the operator's limits leave nothing",
        };
  }
  state.everPriced ||= priced;
  const all = [...(state.global === undefined ? [] : [state.global]), ...partial];
  state.reasons = [...new Map(all.map((reason) => [reason.note, withControl(reason)])).values()];
  // Notes contain changing numbers: only a change of kinds is reported.
  const kinds = state.reasons.map(({ kind, control }) => control ?? kind).sort();
  const now = `${state.global?.kind ?? 'active'} ${kinds.join(' ')}`;
  const changed = now !== state.lastKinds;
  state.lastKinds = now;
  return changed;
}

function report(
  deps: StandbyDeps,
  state: State,
  kind: ReportedKind,
  note: string | undefined,
  about: string,
): void {
  const notes = state.reported.get(kind) ?? new Map<string, string>();
  if (note === undefined) notes.delete(about);
  else notes.set(about, note);
  state.reported.set(kind, notes);
  state.global = globalReason(deps, state) ?? state.global;
}

const controlsOf = (reasons: readonly StandbyReason[]): ReadonlyMap<Control, ReadonlyMap<string, string>> =>
  new Map(
    (['chain_lag', 'drift'] as const).map((control) => [
      control,
      new Map(
        reasons
          .filter((reason) => reason.control === control)
          .map(({ note }) => [note.split(':')[0] ?? note, note]),
      ),
    ]),
  );
