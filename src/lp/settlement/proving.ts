/**
 * Tracks whether fills can be proven: attester presence and recent proof times. Unprovable corridors are
 * neither quoted nor filled.
 */

import type { Attestation } from '../../domain/attestation.ts';
import { type Chain, secondsToFinalUp } from '../../domain/chain.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import type { Attestations, AttesterPresence, FillList, OracleRef } from '../../ports/attestations.ts';
import type { Clock } from '../../ports/clock.ts';

export interface Proving extends Attestations {
  /** Seconds before `expires` that a fill needs, and a quote within the proof window. */
  neededSeconds(originChainId: number, destChainId: number): number;
  /** Returns why nothing claimable on this chain is quoted; undefined when proofs work. Cheap. */
  healthIssue(originChainId: number): string | undefined;
  /** Asks whether enough attesters answer, unless a recent answer is available. */
  sure(originChainId: number): Promise<boolean>;
  /** Call a few times a second. */
  measure(): void;
}

interface ProvingDeps {
  proofs: Attestations;
  /** Absent: attesters cannot be asked, and only the duration of proofs is known. */
  attesterPresence?: AttesterPresence | undefined;
  chains: ReadonlyMap<number, Chain>;
  clock: Clock;
}

/** The proofs from one chain to another. */
interface Corridor {
  /** When each proof that is awaited was asked for first and last, by its payload. */
  waiting: Map<string, { sinceMs: number; askedMs: number }>;
  took: { seconds: number; atMs: number }[];
  needed: number;
}

interface ProvingState {
  readonly claimSeconds: number;
  /** By the ids of origin and destination. */
  readonly corridors: Map<string, Corridor>;
  /** The probes in progress, by origin. */
  readonly probing: Map<number, Promise<void>>;
  /** The monotonic time at which all origins were last probed, in milliseconds. */
  probedMs: number | undefined;
}

const PROBE_MS = 2_000;
/** A proof that was not requested for this long is dropped. */
const GIVEN_UP_MS = 60_000;
/** The needed time is computed from at most this many proofs, the most recent ones. */
const REMEMBERED = 200;
/** An older proof no longer counts. */
const FORGET_MS = 600_000;
/**
 * A slow proof counts for this many times as long as it took, and at least for `SLOW_AT_LEAST_MS`. While
 * nothing is quoted, no faster proof can outweigh it, and a short outage must not stop quoting for long.
 */
const SLOW_COUNTS_TIMES = 4;
const SLOW_AT_LEAST_MS = 60_000;

const secondsNeeded = (claimSeconds: number, slowestProofSeconds: number): number =>
  Math.max(claimSeconds, Math.ceil(slowestProofSeconds) + Math.ceil(claimSeconds / 2));

/** `claimSeconds`: the minimum. Half of it is for the claim, however long the signatures take. */
export function createProving(
  deps: ProvingDeps,
  { claimSeconds }: Pick<ProvingState, 'claimSeconds'>,
): Proving {
  const state: ProvingState = { claimSeconds, corridors: new Map(), probing: new Map(), probedMs: undefined };
  return {
    signatures: (attestation, oracle, orderId) => signatures(deps, state, attestation, oracle, orderId),
    listSignatures: (list, oracle) => listSignatures(deps, state, list, oracle),
    neededSeconds: (originChainId, destChainId) => neededSeconds(deps, state, originChainId, destChainId),
    healthIssue: (originChainId) => healthIssue(deps, state, originChainId),
    sure: (originChainId) => sure(deps, state, originChainId),
    measure: () => measureAll(deps, state),
  };
}

async function signatures(
  { proofs, clock }: ProvingDeps,
  state: ProvingState,
  attestation: Attestation,
  oracle: OracleRef,
  orderId: Bytes32 | undefined,
): Promise<readonly Hex[] | undefined> {
  const corridor = corridorOf(state, oracle.chainId, Number(attestation.remoteChainId));
  const key = attestation.payloadHash;
  const askedMs = clock.monotonicMs();
  const sinceMs = corridor.waiting.get(key)?.sinceMs ?? askedMs;
  corridor.waiting.set(key, { sinceMs, askedMs });
  const found = await proofs.signatures(attestation, oracle, orderId);
  if (found !== undefined && corridor.waiting.delete(key))
    corridor.took.push({ seconds: (clock.monotonicMs() - sinceMs) / 1000, atMs: clock.monotonicMs() });
  measure(clock, state, corridor);
  return found;
}

async function listSignatures(
  { proofs, clock }: ProvingDeps,
  state: ProvingState,
  list: FillList,
  oracle: OracleRef,
): Promise<readonly Hex[] | undefined> {
  if (proofs.listSignatures === undefined) return undefined;
  const askedMs = clock.monotonicMs();
  const corridor = corridorOf(state, oracle.chainId, Number(list.remoteChainId));
  const since = list.fills.map(({ payloadHash }) => corridor.waiting.get(payloadHash)?.sinceMs ?? askedMs);
  for (const [index, { payloadHash }] of list.fills.entries())
    corridor.waiting.set(payloadHash, { sinceMs: since[index] ?? askedMs, askedMs });
  const found = await proofs.listSignatures(list, oracle);
  if (found !== undefined) {
    const atMs = clock.monotonicMs();
    for (const { payloadHash } of list.fills) corridor.waiting.delete(payloadHash);
    corridor.took.push({ seconds: (atMs - Math.min(...since)) / 1000, atMs });
  }
  measure(clock, state, corridor);
  return found;
}

const keyOf = (originChainId: number, destChainId: number): string => `${originChainId}:${destChainId}`;

function corridorOf(
  { corridors, claimSeconds }: ProvingState,
  originChainId: number,
  destChainId: number,
): Corridor {
  const key = keyOf(originChainId, destChainId);
  const corridor = corridors.get(key) ?? { waiting: new Map(), took: [], needed: claimSeconds };
  corridors.set(key, corridor);
  return corridor;
}

function measure(clock: Clock, { claimSeconds }: ProvingState, corridor: Corridor): void {
  const { waiting } = corridor;
  const nowMs = clock.monotonicMs();
  corridor.took = corridor.took
    .filter(({ seconds, atMs }) => nowMs - atMs < countsForMs(claimSeconds, seconds))
    .slice(-REMEMBERED);
  for (const [key, { askedMs }] of waiting) if (nowMs - askedMs > GIVEN_UP_MS) waiting.delete(key);
  const seconds = [
    ...corridor.took.map((each) => each.seconds),
    ...[...waiting.values()].map(({ sinceMs }) => (nowMs - sinceMs) / 1000),
  ].sort((a, b) => a - b);
  const late = seconds[Math.ceil(seconds.length * 0.99) - 1] ?? 0;
  corridor.needed = secondsNeeded(claimSeconds, late);
}

/** Returns how long a proof of this duration counts, in milliseconds. */
function countsForMs(claimSeconds: number, seconds: number): number {
  if (secondsNeeded(claimSeconds, seconds) === claimSeconds) return FORGET_MS;
  return Math.min(FORGET_MS, Math.max(SLOW_AT_LEAST_MS, seconds * 1000 * SLOW_COUNTS_TIMES));
}

function neededSeconds(
  { chains }: ProvingDeps,
  { corridors, claimSeconds }: ProvingState,
  originChainId: number,
  destChainId: number,
): number {
  return Math.max(
    corridors.get(keyOf(originChainId, destChainId))?.needed ?? claimSeconds,
    leastSeconds(chains.get(destChainId), claimSeconds),
  );
}

/** Attesters wait until a fill is as final as the largest order's. */
const leastSeconds = (dest: Chain | undefined, claimSeconds: number): number =>
  dest === undefined
    ? claimSeconds
    : claimSeconds +
      secondsToFinalUp(dest, undefined) -
      secondsToFinalUp({ ...dest, finality: [] }, undefined);

function healthIssue(deps: ProvingDeps, state: ProvingState, originChainId: number): string | undefined {
  const origin = deps.chains.get(originChainId);
  if (origin === undefined) return undefined;
  const presence = deps.attesterPresence?.presence(oracleOf(origin));
  if (presence !== undefined && presence.present < presence.needed)
    return `${origin.slug}: ${presence.present} of ${presence.needed} attesters answer`;
  const needed = tooLong(deps, state, origin);
  return needed === undefined
    ? undefined
    : `${origin.slug}: proofs take too long (${needed} s with the claim, of ${origin.proofWindowSeconds})`;
}

const oracleOf = ({ id, oracle }: Chain): OracleRef => ({ chainId: id, oracle });

/** Seconds of the fastest corridor to this origin, when even that exceeds its proof window. */
function tooLong(deps: ProvingDeps, state: ProvingState, origin: Chain): number | undefined {
  const each = [...deps.chains.keys()]
    .filter((id) => id !== origin.id)
    .map((id) => neededSeconds(deps, state, origin.id, id));
  const least = Math.min(...each);
  return each.length > 0 && least > state.claimSeconds && least > origin.proofWindowSeconds
    ? least
    : undefined;
}

async function sure(deps: ProvingDeps, state: ProvingState, originChainId: number): Promise<boolean> {
  const { attesterPresence } = deps;
  const origin = deps.chains.get(originChainId);
  if (origin === undefined || attesterPresence === undefined) return true;
  const enough = (withinMs: number) => {
    const presence = attesterPresence.presence(oracleOf(origin), withinMs);
    return presence === undefined || presence.present >= presence.needed;
  };
  if (enough(PROBE_MS)) return true;
  await probe(attesterPresence, state, origin);
  // The slowest attester may need this long.
  return enough(2 * PROBE_MS);
}

/** Asks the attesters of an origin, once for all who ask meanwhile. */
function probe(attesterPresence: AttesterPresence, { probing }: ProvingState, origin: Chain): Promise<void> {
  const asked =
    probing.get(origin.id) ??
    attesterPresence.probe(oracleOf(origin)).finally(() => probing.delete(origin.id));
  probing.set(origin.id, asked);
  return asked;
}

function measureAll({ attesterPresence, chains, clock }: ProvingDeps, state: ProvingState): void {
  for (const corridor of state.corridors.values()) measure(clock, state, corridor);
  const nowMs = clock.monotonicMs();
  const { probedMs } = state;
  if (attesterPresence === undefined || (probedMs !== undefined && nowMs - probedMs < PROBE_MS)) return;
  state.probedMs = nowMs;
  for (const origin of chains.values()) void probe(attesterPresence, state, origin);
}
