/**
 * When not to quote: every reason the LP has to protect itself, looked at a few times a second, read by the
 * hot path as a flag.
 */

import { formatUnits, parseUnits } from '../../domain/amount.ts';
import type { Control } from '../../domain/control.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Transactor } from '../../ports/transactor.ts';
import type { Desk } from '../quoting/quoting-config.ts';
import type { ChainState } from '../quoting/pricing-context.ts';
import type { Follower } from '../chain/follow.ts';
import type { Lead } from '../replicas/leadership.ts';
import type { Leases } from '../replicas/lease.ts';
import type { Proving } from '../settlement/proving.ts';
import type { Risk } from './risk.ts';
import type { Route, Routes } from '../quoting/route.ts';
import type { Sharing } from '../replicas/sharing.ts';

export type ReasonKind =
  | 'killed'
  | 'risk'
  | 'paused'
  | 'stopping'
  | 'starting'
  | 'lost'
  | 'quarantine'
  | 'lag'
  | 'reorg'
  | 'clock'
  | 'gas'
  | 'sender'
  | 'operator'
  | 'drift'
  | 'price'
  | 'store'
  | 'shared'
  | 'proof';

export interface Reason {
  kind: ReasonKind;
  note: string;
  /** The risk control that this is the doing of. */
  control?: Control;
}

export interface Standby {
  /** Looks at everything anew; true when the answer of `status` changed. */
  look(): boolean;
  /** Why this route is not quoted at the moment. Cheap. */
  refusal(route: Route): Decline | undefined;
  status(): { status: 'active' | 'standby'; note: string | null };
  reasons(): readonly Reason[];
  /** Reasons that come from outside the looking: operator's word, life of the process, the store. */
  set(kind: ReasonKind, note: string | undefined): void;
}

export interface StandbyDeps {
  /** The one in force. */
  desk(): Pick<Desk, 'book' | 'routes' | 'config'>;
  leases: Leases;
  followers: ReadonlyMap<number, Follower>;
  transactors: ReadonlyMap<number, Transactor>;
  risk: Pick<Risk, 'kill' | 'stopped' | 'halts'>;
  clock: Clock;
  /** One of several replicas: how it stands to the others. */
  sharing?: Pick<Sharing, 'trouble'> | undefined;
  /** Whether what crosses to a chain could be proven there. */
  proving?: Pick<Proving, 'doubt'> | undefined;
  lead: Pick<Lead, 'mine' | 'taken' | 'over'>;
}

/** Which control a reason is the doing of. */
const CONTROL_OF: Partial<Record<ReasonKind, Control>> = {
  killed: 'kill_switch',
  paused: 'kill_switch',
  lag: 'chain_lag',
  price: 'stale_mid',
  drift: 'drift',
};

export function createStandby({
  desk,
  leases,
  followers,
  transactors,
  risk,
  clock,
  sharing,
  proving,
  lead,
}: StandbyDeps): Standby {
  const said = new Map<ReasonKind, string>();
  /**
   * Chains on which nothing is quoted, and chains on which we cannot send: those only matter across chains.
   */
  let stopped = new Map<number, Reason>();
  let mute = new Map<number, Reason>();
  /** Origins on which a fill could not be proven in time. */
  let unproven = new Map<number, Reason>();
  let all: Reason | undefined = { kind: 'starting', note: 'starting' };
  let reasons: Reason[] = [all];
  let last = '';
  /** Chains on which this LP sends transactions of its own; worked out once for every set of routes. */
  let crossing: { routes: Routes; chains: ReadonlySet<number> } | undefined;
  /** Since when nothing has a price; and whether anything ever had one. */
  let unpricedMs: number | undefined;
  let everPriced = false;

  function wholly(): Reason | undefined {
    for (const [by, note] of risk.kill.held)
      return { kind: by === 'operator' ? 'paused' : 'killed', note, control: 'kill_switch' };
    for (const kind of ['stopping', 'starting', 'operator', 'store'] as const) {
      const note = said.get(kind);
      if (note !== undefined) return { kind, note };
    }
    if (leases.lost || lead.over) return { kind: 'lost', note: 'another process has taken this LP over' };
    const apart = sharing?.trouble();
    if (apart !== undefined) return apart;
    const [wait] = leases.quarantine();
    return (
      wait && {
        kind: 'quarantine',
        note: `restarted after a crash: quotes signed before may be live until ${wait.until}`,
      }
    );
  }

  const chainTrouble = (chainId: number): Reason | undefined =>
    chainReason(chainId, desk().book.chains.get(chainId), clock.nowMs(), followers.get(chainId)?.time() ?? 0);

  function senderTrouble(chainId: number): Reason | undefined {
    const state = desk().book.chains.get(chainId);
    if (state === undefined) return undefined;
    const { slug } = state.port.chain;
    if (state.native !== undefined && state.native < parseUnits(state.config.minGas, 18))
      return { kind: 'gas', note: `${slug}: the operator has ${formatUnits(state.native, 18)} for gas` };
    // Whoever leads sends for all.
    if (!lead.mine())
      return lead.taken() ? undefined : { kind: 'sender', note: `${slug}: no replica leads at the moment` };
    const transactor = transactors.get(chainId);
    return transactor?.healthy() === true
      ? undefined
      : { kind: 'sender', note: `${slug}: no healthy sender` };
  }

  const refusal = (route: Route): Decline | undefined => {
    // Asked itself, not as of the last look: from the instant it is pulled nothing is signed.
    for (const [, detail] of risk.kill.held) return { declined: 'standby', control: 'kill_switch', detail };
    const apart = sharing?.trouble();
    if (apart !== undefined) return { declined: 'standby', detail: apart.note };
    const trouble =
      all ??
      stopped.get(route.origin.id) ??
      stopped.get(route.dest.id) ??
      (route.sameChain
        ? undefined
        : (mute.get(route.origin.id) ?? mute.get(route.dest.id) ?? unproven.get(route.origin.id)));
    if (trouble === undefined) return risk.stopped(route);
    const { control } = named(trouble);
    return { declined: 'standby', detail: trouble.note, ...(control !== undefined && { control }) };
  };

  return {
    look() {
      const { book, routes, config } = desk();
      if (crossing?.routes !== routes)
        crossing = {
          routes,
          chains: new Set(
            routes.all.flatMap(({ sameChain, origin, dest }) => (sameChain ? [] : [origin.id, dest.id])),
          ),
        };
      stopped = new Map();
      mute = new Map();
      unproven = new Map();
      for (const chainId of book.chains.keys()) {
        const [trouble, sender] = [chainTrouble(chainId), senderTrouble(chainId)];
        if (trouble !== undefined) stopped.set(chainId, trouble);
        if (!crossing.chains.has(chainId)) continue;
        if (sender !== undefined) mute.set(chainId, sender);
        const doubt = proving?.doubt(chainId);
        if (doubt !== undefined) unproven.set(chainId, { kind: 'proof', note: doubt });
      }
      const drifted = book.ledger
        .buckets()
        .filter(({ drift }) => drift !== null)
        .map(({ chainId, asset }): Reason => ({
          kind: 'drift',
          note: `${asset} on ${book.chains.get(chainId)?.port.chain.slug ?? chainId}: ledger and chain disagree`,
        }));
      const stale = book.market
        .stale()
        .map(({ symbol, detail }): Reason => ({ kind: 'price', note: `${symbol}: ${detail}` }));
      const halted = risk.halts().map(({ control, note }): Reason => ({ kind: 'risk', note, control }));
      all = wholly();
      const frozen = (route: Route) =>
        (book.ledger.bucket(route.dest.id, route.outputToken.address)?.drift ?? null) !== null;
      // The first route that can be quoted settles it: with a thousand pairs there is no time to look at all
      // of them.
      let open = false;
      let priced = false;
      let doubt: Reason | undefined;
      for (const route of routes.all) {
        if (refusal(route) !== undefined || frozen(route)) continue;
        open = true;
        const { base, quote } = route.pair;
        const condition = book.market.condition(base, quote);
        priced = condition?.blocks !== true && !isDecline(book.market.pair(base, quote));
        if (priced) break;
        if (condition !== undefined)
          doubt ??= {
            kind: 'price',
            note: stale[0]?.note ?? `${route.pairName}: ${condition.brief}`,
            control: condition.code,
          };
      }
      const some = [
        ...stopped.values(),
        ...drifted,
        ...halted,
        ...(doubt === undefined ? [] : [doubt]),
        ...stale.filter(({ note }) => note !== doubt?.note),
        ...mute.values(),
        ...unproven.values(),
      ];
      if (priced) unpricedMs = undefined;
      else {
        unpricedMs ??= clock.monotonicMs();
        // A price that is missing for a moment is a decline; missing for longer it is a state. Anything else
        // is one at once.
        const patience = open && everPriced ? config.risk.standbyAfterSeconds * 1000 : 0;
        if (clock.monotonicMs() - unpricedMs >= patience)
          all ??= (open ? doubt : undefined) ??
            some[0] ?? { kind: 'starting', note: 'nothing can be quoted' };
      }
      everPriced ||= unpricedMs === undefined;
      reasons = [
        ...new Map([...(all ? [all] : []), ...some].map((reason) => [reason.note, named(reason)])).values(),
      ];
      // Notes hold numbers that move; what is worth telling is a change of kind.
      const now = `${all?.kind ?? 'active'} ${reasons
        .map(({ kind, control }) => control ?? kind)
        .sort()
        .join(' ')}`;
      const changed = now !== last;
      last = now;
      return changed;
    },
    refusal,
    status: () => ({
      status: all === undefined ? 'active' : 'standby',
      note:
        reasons.length === 0
          ? null
          : reasons
              .map(({ note }) => note)
              .join('; ')
              .slice(0, 200),
    }),
    reasons: () => reasons,
    set(kind, note) {
      if (note === undefined) said.delete(kind);
      else said.set(kind, note);
      // A stop holds from this instant; that it is over is for the next look to find.
      all = wholly() ?? all;
    },
  };
}

/** Why nothing is quoted on a chain: it stands still, was reorganised, differs from our clock, or is not read. */
export function chainReason(
  chainId: number,
  state: ChainState | undefined,
  nowMs: number,
  readUpTo: UnixSeconds,
): Reason | undefined {
  const head = state?.port.head();
  if (state === undefined || head === undefined)
    return { kind: 'lag', note: `chain ${chainId} has not been seen yet` };
  const doubt = state.port.doubt();
  if (doubt !== undefined) return doubt;
  const { slug, blockTimeMs } = state.port.chain;
  // At least a few seconds, because a node may report its blocks late.
  const maxHeadAgeMs = state.config.maxHeadAgeMs ?? Math.max(LATE_BLOCKS * blockTimeMs, LEAST_HEAD_AGE_MS);
  const ageMs = Math.max(nowMs - state.port.headSeenAtMs(), nowMs - head.timestamp * 1000);
  if (ageMs > maxHeadAgeMs)
    return { kind: 'lag', note: `${slug}: newest block is ${Math.round(ageMs / 1000)} s old` };
  if ((head.timestamp - readUpTo) * 1000 > maxHeadAgeMs)
    return { kind: 'lag', note: `${slug}: its events are not read up to date` };
  return undefined;
}

function named(reason: Reason): Reason {
  const control = reason.control ?? CONTROL_OF[reason.kind];
  return control === undefined ? reason : { ...reason, control };
}

const LATE_BLOCKS = 3;
const LEAST_HEAD_AGE_MS = 5_000;
