/**
 * Standby reasons, evaluated a few times a second. The quote path reads the result, and what must stop it at
 * once directly: kill switch, shared inventory, stopped pairs.
 */

import { formatTokens, parseUnits } from '../../domain/amount.ts';
import { type Control, type Decline, isDecline } from '../../domain/decline.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { BucketView, Ledger } from '../../inventory/ledger.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Signer } from '../../ports/signer.ts';
import type { Transactor } from '../../ports/transactor.ts';
import type { Market } from '../market/market.ts';
import type { Bonds } from '../chain/bonds.ts';
import { type ChainState, gasPriceOf } from '../routes/chain-state.ts';
import type { LpConfig } from '../config/config.ts';
import type { Follower } from '../chain/follow.ts';
import type { Lead } from '../replicas/leadership.ts';
import type { Leases } from '../replicas/lease.ts';
import type { Proving } from '../settlement/proving.ts';
import type { Risk } from './risk.ts';
import { pauseNote } from './scoped-pauses.ts';
import type { Route, Routes } from '../routes/route.ts';
import type { Sharing } from '../replicas/sharing.ts';

export const STANDBY_KINDS = [
  'killed',
  'risk',
  'paused',
  'stopping',
  'starting',
  'lost',
  'quarantine',
  'lag',
  'reorg',
  'clock',
  'gas',
  'sender',
  'signer',
  'operator',
  'drift',
  'price',
  'store',
  'shared',
  'proof',
  'inventory',
  'bond',
  'paused_part',
] as const;
type StandbyKind = (typeof STANDBY_KINDS)[number];

/** `note` is for the operator. Takers and venues see only `PUBLIC_NOTES`. */
export interface StandbyReason {
  kind: StandbyKind;
  note: string;
  control?: Control;
}

/** What the roster may show: no balance, limit, source or remark of ours. */
const PUBLIC_NOTES: Readonly<Record<StandbyKind, string>> = {
  killed: 'stopped until its operator resumes it',
  risk: 'a risk control is active',
  paused: 'by its operator',
  stopping: 'shuts down',
  starting: 'not ready yet',
  lost: 'replaced by another process',
  quarantine: 'waits for quotes of before a restart to expire',
  lag: 'a chain is late',
  reorg: 'a chain was reorganised',
  clock: 'clocks differ',
  gas: 'cannot send transactions on a chain',
  sender: 'cannot send transactions on a chain',
  signer: 'cannot sign at the moment',
  operator: 'its signer is not allowed on a chain',
  drift: 'checks its balances',
  price: 'no reliable price',
  store: 'storage is not available',
  shared: 'storage is not available',
  proof: 'cannot prove fills on a chain',
  inventory: 'no inventory',
  bond: 'its bond is less than a venue demands',
  paused_part: 'some pairs or chains are paused',
};

/** Whether any request for this pair could be answered now, and if not, why. */
export interface PairStatus {
  pair: string;
  quoting: boolean;
  reason: string | null;
}

type ReportedKind = 'stopping' | 'starting' | 'operator' | 'store';

/** What a pair needs before it can be quoted. A reload replaces it as a whole. */
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
  /** What the books have not compared with the chains since the start. */
  booksBehind(): string | undefined;
}

const CONTROL_OF: Partial<Record<StandbyKind, Control>> = {
  killed: 'kill_switch',
  paused: 'kill_switch',
  lag: 'chain_lag',
  price: 'stale_mid',
  drift: 'drift',
};

/** Three missing blocks, at least this long, because a node may report late. */
const LATE_BLOCKS = 3;
const MIN_MAX_HEAD_AGE_MS = 5_000;
const MAX_NOTE_LENGTH = 200;

export function createStandby({
  quoting,
  leases,
  followers,
  transactors,
  risk,
  clock,
  sharing,
  proving,
  signer,
  bonds,
  lead,
  booksBehind,
}: StandbyDeps) {
  /** Notes by kind, and within a kind by what they are about. */
  const reported = new Map<ReportedKind, Map<string, string>>();
  let stoppedChains = new Map<number, StandbyReason>();
  /** Chains on which we cannot send transactions: this stops cross-chain routes only. */
  let chainsWithoutSender = new Map<number, StandbyReason>();
  /** Origins on which a fill could not be proven in time: the same. */
  let unprovenOrigins = new Map<number, StandbyReason>();
  let global: StandbyReason | undefined = { kind: 'starting', note: 'starting' };
  let reasons: StandbyReason[] = [global];
  let lastKinds = '';
  let crossChain: { routes: Routes; chains: ReadonlySet<number> } | undefined;
  let unpricedSinceMs: number | undefined;
  let everPriced = false;
  let pairs: PairStatus[] = [];

  /** What nobody planned comes first: it must not hide behind a pause. */
  const killReasons = (): StandbyReason[] =>
    [...risk.kill.held]
      .map(([by, note]): StandbyReason => ({
        kind: by === 'operator' ? 'paused' : 'killed',
        note,
        control: 'kill_switch',
      }))
      .sort((a, b) => Number(b.kind === 'killed') - Number(a.kind === 'killed'));

  function globalReason(): StandbyReason | undefined {
    const [stopped] = killReasons();
    if (stopped !== undefined) return stopped;
    for (const kind of ['stopping', 'starting', 'operator', 'store'] as const)
      for (const note of reported.get(kind)?.values() ?? []) return { kind, note };
    if (leases.lost || lead.over) return { kind: 'lost', note: 'another process has taken this LP over' };
    const unable = signer?.issue?.();
    if (unable !== undefined) return { kind: 'signer', note: unable };
    const sharingTrouble = sharing?.trouble();
    if (sharingTrouble !== undefined) return sharingTrouble;
    const [wait] = leases.quarantine();
    if (wait === undefined) {
      const behind = booksBehind();
      return behind === undefined ? undefined : { kind: 'starting', note: behind };
    }
    return {
      kind: 'quarantine',
      note: `restarted after a crash: quotes signed before may be live until ${wait.until}`,
    };
  }

  function senderReason(chainId: number): StandbyReason | undefined {
    const state = quoting().context.chains.get(chainId);
    if (state === undefined || signer === undefined) return undefined;
    const { slug } = state.port.chain;
    const least = leastGas(state, quoting().config.quoting.gasUnits);
    if (state.native !== undefined && least !== undefined && state.native < least)
      return {
        kind: 'gas',
        note: `${slug}: the operator has ${gasText(state, state.native)} for gas, and needs ${gasText(state, least)}`,
      };
    // Only the leading replica sends.
    if (!lead.mine())
      return lead.taken() ? undefined : { kind: 'sender', note: `${slug}: no replica leads at the moment` };
    // A key service that does not sign is a reason of its own, for the whole LP.
    return transactors.get(chainId)?.healthy() === true || signer.issue?.() !== undefined
      ? undefined
      : { kind: 'sender', note: `${slug}: no healthy sender` };
  }

  /** Why this route is not quoted now. Cheap: called for every quote. */
  function refusal(route: Route): Decline | undefined {
    // Read directly: signing stops the instant the switch is engaged.
    for (const [, detail] of risk.kill.held) return { declined: 'standby', control: 'kill_switch', detail };
    const sharingTrouble = sharing?.trouble();
    if (sharingTrouble !== undefined) return { declined: 'standby', detail: sharingTrouble.note };
    const reason =
      global ??
      stoppedChains.get(route.origin.id) ??
      stoppedChains.get(route.dest.id) ??
      (route.sameChain
        ? undefined
        : (chainsWithoutSender.get(route.origin.id) ??
          chainsWithoutSender.get(route.dest.id) ??
          unprovenOrigins.get(route.origin.id)));
    if (reason === undefined) {
      const short = bonds.shortOn(route);
      return short === undefined ? risk.stopped(route) : { declined: 'standby', detail: short };
    }
    const { control } = withControl(reason);
    return { declined: 'standby', detail: reason.note, ...(control !== undefined && { control }) };
  }

  function updateChains(): void {
    const { context, routes } = quoting();
    if (crossChain?.routes !== routes) {
      const crossing = routes.all.filter(({ sameChain }) => !sameChain);
      crossChain = { routes, chains: new Set(crossing.flatMap(({ origin, dest }) => [origin.id, dest.id])) };
    }
    stoppedChains = new Map();
    chainsWithoutSender = new Map();
    unprovenOrigins = new Map();
    for (const chainId of context.chains.keys()) {
      const readUpTo = followers.get(chainId)?.time() ?? 0;
      const stopped = chainReason(chainId, context.chains.get(chainId), clock.nowMs(), readUpTo);
      if (stopped !== undefined) stoppedChains.set(chainId, stopped);
      if (!crossChain.chains.has(chainId)) continue;
      const sender = senderReason(chainId);
      if (sender !== undefined) chainsWithoutSender.set(chainId, sender);
      const unproven = proving?.healthIssue(chainId);
      if (unproven !== undefined) unprovenOrigins.set(chainId, { kind: 'proof', note: unproven });
    }
  }

  /** Looks at each pair until one of its routes can be quoted. */
  function updatePairs(): { open: boolean; priceReason: StandbyReason | undefined } {
    const found = new Map<string, PairStatus>();
    let open = false;
    let priceReason: StandbyReason | undefined;
    for (const route of quoting().routes.all) {
      const { pairName: pair } = route;
      if (found.get(pair)?.quoting === true) continue;
      const closed = closedReason(route);
      const unpriced = closed === undefined ? (priceReasonOf(route) ?? gasReasonOf(route)) : undefined;
      open ||= closed === undefined;
      priceReason ??= unpriced;
      const reason = closed ?? unpriced?.note;
      // The first reason that a pair has stays: later routes usually repeat it.
      if (reason === undefined || !found.has(pair))
        found.set(pair, { pair, quoting: reason === undefined, reason: reason ?? null });
    }
    pairs = [...found.values()];
    return { open, priceReason };
  }

  /** Why this route cannot be quoted at any price. */
  function closedReason(route: Route): string | undefined {
    const refused = refusal(route);
    if (refused !== undefined) return refused.detail ?? refused.control ?? refused.declined;
    const { dest, outputToken } = route;
    const bucket = quoting().context.ledger.bucket(dest.id, outputToken.address);
    if (bucket !== undefined && bucket.drift !== null) return driftText(dest.slug, bucket, bucket.drift);
    if (!hasInventory(route))
      return `${outputToken.symbol} on ${dest.slug}: nothing to pay out beyond the buffer`;
    const limit = bucket?.operatorLimit ?? null;
    if (limit === null || limit.left > 0n) return undefined;
    return limit.most === 0n
      ? `${outputToken.symbol} on ${dest.slug}: the account lets this operator spend none (firmquote lp operator set --limit)`
      : `${outputToken.symbol} on ${dest.slug}: the operator has spent its limit of ${formatTokens(limit.most, outputToken)} in this window`;
  }

  /** What is promised already does not count: it may come back within seconds. */
  function hasInventory({ dest, outputToken }: Route): boolean {
    const bucket = quoting().context.ledger.bucket(dest.id, outputToken.address);
    return bucket === undefined || bucket.onchain > bucket.buffer + bucket.withdrawing;
  }

  function priceReasonOf({ pair: { base, quote }, pairName }: Route): StandbyReason | undefined {
    const { market } = quoting().context;
    const condition = market.condition(base, quote);
    if (condition?.blocks !== true && !isDecline(market.pair(base, quote))) return undefined;
    return {
      kind: 'price',
      note: `${pairName}: ${condition?.detail ?? 'no price yet'}`,
      ...(condition !== undefined && { control: condition.code }),
    };
  }

  /** Our gas across chains is part of the price, so the native currency needs one too. */
  function gasReasonOf({ origin, dest, sameChain, pairName }: Route): StandbyReason | undefined {
    if (sameChain) return undefined;
    const { chains, market } = quoting().context;
    for (const { id, slug } of [dest, origin]) {
      const state = chains.get(id);
      if (state === undefined) continue;
      const gasPrice = gasPriceOf(state);
      const native = market.mid(gasPrice);
      if (isDecline(native))
        return {
          kind: 'price',
          note: `${pairName}: gas on ${slug} has no price: ${native.detail ?? `${gasPrice}: no price yet`}`,
          ...(native.control !== undefined && { control: native.control }),
        };
      if (state.weiPerGas === undefined)
        return { kind: 'price', note: `${pairName}: the price of gas on ${slug} is not known yet` };
    }
    return undefined;
  }

  const staleReasons = (): StandbyReason[] =>
    quoting()
      .context.market.stale()
      .map(({ symbol, detail }) => ({ kind: 'price', note: `${symbol}: ${detail}` }));

  function driftReasons(): StandbyReason[] {
    const { ledger, chains } = quoting().context;
    return ledger.buckets().flatMap((bucket): StandbyReason[] => {
      const slug = chains.get(bucket.chainId)?.port.chain.slug ?? String(bucket.chainId);
      return bucket.drift === null ? [] : [{ kind: 'drift', note: driftText(slug, bucket, bucket.drift) }];
    });
  }

  const statusWith = (notes: readonly string[]) => ({
    status: global === undefined ? ('active' as const) : ('standby' as const),
    note: notes.length === 0 ? null : [...new Set(notes)].join('; ').slice(0, MAX_NOTE_LENGTH),
  });

  return {
    /** Evaluates every reason; true when the kinds of reasons have changed. */
    update() {
      updateChains();
      global = globalReason();
      const { open, priceReason } = updatePairs();
      const priced = pairs.some(({ quoting: now }) => now);
      const stale = staleReasons();
      const partial = [
        ...killReasons().slice(1),
        ...stoppedChains.values(),
        ...driftReasons(),
        ...risk.pauses().map((pause): StandbyReason => ({ kind: 'paused_part', note: pauseNote(pause) })),
        ...risk.halts().map(({ control, note }): StandbyReason => ({ kind: 'risk', note, control })),
        // The symbol says it all for its pairs.
        ...(priceReason === undefined || stale.length > 0 ? [] : [priceReason]),
        ...stale,
        ...chainsWithoutSender.values(),
        ...unprovenOrigins.values(),
        ...bonds.notes().map((note): StandbyReason => ({ kind: 'bond', note })),
      ];
      if (priced) unpricedSinceMs = undefined;
      else {
        unpricedSinceMs ??= clock.monotonicMs();
        // A price that is missing for a short time is a decline; after that it is a status.
        const patienceMs = open && everPriced ? quoting().config.risk.standbyAfterSeconds * 1000 : 0;
        if (clock.monotonicMs() - unpricedSinceMs >= patienceMs)
          global ??= (open ? (stale[0] ?? priceReason) : undefined) ??
            partial[0] ?? {
              kind: 'inventory',
              note: "no pair has anything to pay out: the buffers or the operator's limits leave nothing",
            };
      }
      everPriced ||= priced;
      const all = [...(global === undefined ? [] : [global]), ...partial];
      reasons = [...new Map(all.map((reason) => [reason.note, withControl(reason)])).values()];
      // Notes contain changing numbers: only a change of kinds is reported.
      const kinds = reasons.map(({ kind, control }) => control ?? kind).sort();
      const now = `${global?.kind ?? 'active'} ${kinds.join(' ')}`;
      const changed = now !== lastKinds;
      lastKinds = now;
      return changed;
    },
    refusal,
    status: () => statusWith(reasons.map(({ note }) => note)),
    /** For venues and takers. */
    publicStatus: () => statusWith(reasons.map(({ kind }) => `${kind}: ${PUBLIC_NOTES[kind]}`)),
    reasons: () => reasons,
    pairs: (): readonly PairStatus[] => pairs,
    /**
     * Reports a reason (effective immediately), or with undefined its end (from the next `update`). `about`:
     * what has the reason, such as a chain, when several can have it.
     */
    report(kind: ReportedKind, note: string | undefined, about = '') {
      const notes = reported.get(kind) ?? new Map<string, string>();
      if (note === undefined) notes.delete(about);
      else notes.set(about, note);
      reported.set(kind, notes);
      global = globalReason() ?? global;
    },
    controls: () =>
      new Map(
        (['chain_lag', 'drift'] as const).map((control) => [
          control,
          new Map(
            reasons
              .filter((reason) => reason.control === control)
              .map(({ note }) => [note.split(':')[0] ?? note, note]),
          ),
        ]),
      ),
  };
}

export function chainReason(
  chainId: number,
  state: ChainState | undefined,
  nowMs: number,
  readUpTo: UnixSeconds,
): StandbyReason | undefined {
  const head = state?.port.head();
  if (state === undefined || head === undefined)
    return { kind: 'lag', note: `chain ${chainId} has not been seen yet` };
  const healthIssue = state.port.healthIssue();
  if (healthIssue !== undefined) return healthIssue;
  const { slug, blockTimeMs } = state.port.chain;
  const maxHeadAgeMs = state.config.maxHeadAgeMs ?? Math.max(LATE_BLOCKS * blockTimeMs, MIN_MAX_HEAD_AGE_MS);
  const ageMs = Math.max(nowMs - state.port.headSeenAtMs(), nowMs - head.timestamp * 1000);
  if (ageMs > maxHeadAgeMs)
    return { kind: 'lag', note: `${slug}: newest block is ${Math.round(ageMs / 1000)} s old` };
  if ((head.timestamp - readUpTo) * 1000 > maxHeadAgeMs)
    return { kind: 'lag', note: `${slug}: its events are not read up to date` };
  return undefined;
}

/** Trades that the operator's balance must pay for, unless the configuration names an amount. */
const TRADES_IN_RESERVE = 5n;

/** Wei; undefined until the price of gas is known. */
function leastGas(
  { config, weiPerGas, extraFees }: ChainState,
  { fill, prove, claim }: LpConfig['quoting']['gasUnits'],
): bigint | undefined {
  if (config.minGas !== null) return parseUnits(config.minGas, 18);
  if (weiPerGas === undefined || extraFees === undefined) return undefined;
  const trade = weiPerGas * BigInt(fill + prove + claim) + extraFees.fill + extraFees.prove + extraFees.claim;
  return TRADES_IN_RESERVE * trade;
}

const gasText = ({ port }: ChainState, wei: bigint): string =>
  formatTokens(wei, { decimals: 18, symbol: port.chain.native.symbol });

/** `drift`: what the chain has more than the ledger. */
const driftText = (slug: string, { asset, decimals }: BucketView, drift: bigint): string =>
  `${asset} on ${slug}: ledger and chain disagree, the chain has ${formatTokens(drift < 0n ? -drift : drift, { decimals, symbol: asset })} ${drift < 0n ? 'less' : 'more'}`;

function withControl(reason: StandbyReason): StandbyReason {
  const control = reason.control ?? CONTROL_OF[reason.kind];
  return control === undefined ? reason : { ...reason, control };
}
