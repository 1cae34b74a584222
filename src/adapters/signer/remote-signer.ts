/**
 * A signer whose key is in a key service: few requests at a time, each with a time limit, repeated while it
 * can help, and every signature checked by recovery before anybody uses it.
 */

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { RequestError } from '../../domain/errors.ts';
import { type Address, bytesToHex, type Hex } from '../../domain/hex.ts';
import { keccakBytes } from '../../domain/keccak.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Counter, Histogram, Metrics } from '../../ports/metrics.ts';
import type { Recovery, Signer } from '../../ports/signer.ts';
import { jittered, pauseMs } from '../backoff.ts';
import { publicKeyAddress } from '../secp256k1/signer.ts';
import { createSemaphore, type Semaphore } from '../semaphore.ts';
import {
  KEY_FAILURES,
  type KeyService,
  KeyServiceFailure,
  sentenceOf,
  SignerUnavailableError,
} from './key-service.ts';

interface RemoteSignerDeps {
  clock: Clock;
  log: Log;
  metrics: Metrics;
  recovery: Recovery;
  /** 0 to 1; spreads the requests of several processes. */
  jitter?: () => number;
}

export interface RemoteSignerOptions {
  /** Opening fails when the service's key has another address. null: any key will do. */
  address: Address | null;
  /** Requests in flight; more wait. */
  maxConcurrent: number;
  /** The timeout of one request. */
  timeoutMs: number;
  /** Limits one signature with its retries. The caller of `sign` may set a shorter limit. */
  deadlineMs: number;
  /** While the service fails, the signer asks it for a test signature at this interval. */
  probeEveryMs?: number;
}

export interface RemoteSigner extends Signer {
  issue(): string | undefined;
  places: number;
  close(): Promise<void>;
}

/** After this many failures in a row, `issue` reports the service as failing, and probes start. */
const MANY_FAILURES = 3;
/** The timeout of the first request, which also looks for credentials. */
const OPEN_MS = 10_000;
const BACKOFF = { firstMs: 25, longestMs: 1_000 };
/** Is neither a transaction nor typed data, so no chain and no contract takes its signature. */
const PROBE = new TextEncoder().encode('firmquote: does this key service sign?');
const SECONDS = [0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.5, 1, 2, 5];
const { ORDER } = secp256k1.Point.Fn;

interface KeyDeps {
  service: KeyService;
  clock: Clock;
  log: Log;
  recovery: Recovery;
  jitter: () => number;
  requests: Semaphore;
  seconds: Histogram;
  failures: Counter;
  options: RemoteSignerOptions & { probeEveryMs: number };
}

interface KeyState {
  /** The address of the service's key. */
  readonly address: Address;
  failedInRow: number;
  /** Why the service counts as failing; undefined while it signs. */
  issue: string | undefined;
  probing: boolean;
  closed: boolean;
}

/**
 * Asks the service for its public key. Throws `SignerUnavailableError`, with `retry` `never` where the
 * configuration or the rights have to be changed, and `RequestError` for a key of another address.
 */
export async function openRemoteSigner(
  service: KeyService,
  { clock, log, metrics, recovery, jitter = Math.random }: RemoteSignerDeps,
  { probeEveryMs = 2_000, ...options }: RemoteSignerOptions,
): Promise<RemoteSigner> {
  const { name } = service;
  const deps: KeyDeps = {
    ...{ service, clock, log, recovery, jitter },
    requests: createSemaphore(options.maxConcurrent, clock),
    seconds: metrics.histogram(
      'firmquote_signer_request_seconds',
      'Time of one answered request to a key service',
      SECONDS,
      ['service'],
    ),
    failures: metrics.counter(
      'firmquote_signer_failures_total',
      'Requests to a key service that failed, and signatures that were given up, by kind',
      { service: [name], kind: KEY_FAILURES },
    ),
    options: { ...options, probeEveryMs },
  };
  const address = await readAddress(deps);
  const state: KeyState = { address, failedInRow: 0, issue: undefined, probing: false, closed: false };
  return {
    address,
    places: options.maxConcurrent,
    sign: (message, { withinMs } = {}) => sign(deps, state, message, withinMs),
    issue: () => state.issue,
    async close() {
      state.closed = true;
      await service.close();
    },
  };
}

async function readAddress(deps: KeyDeps): Promise<Address> {
  const { service } = deps;
  const { name } = service;
  const wanted = deps.options.address;
  const address = await request(deps, (signal) => service.publicKey(signal), OPEN_MS, OPEN_MS).then(
    publicKeyAddress,
    (failure: KeyServiceFailure) => {
      const isOurs = failure.kind === 'denied' || failure.kind === 'no_key';
      throw new SignerUnavailableError(name, failure, isOurs ? { retry: 'never' } : {});
    },
  );
  if (wanted !== null && address !== wanted)
    throw new RequestError(
      `The key that the configuration names at the key service (${name}) is that of ${address}, not of ${wanted}. Correct the key or the address.`,
      { code: 'signer_address' },
    );
  return address;
}

/** Makes one request, and abandons it after `withinMs` or `mostMs`, whichever is shorter. */
async function request<T>(
  { clock, service, seconds }: KeyDeps,
  ask: (signal: AbortSignal) => Promise<T>,
  withinMs: number,
  mostMs: number,
): Promise<T> {
  const abort = new AbortController();
  const startedMs = clock.monotonicMs();
  const limitMs = Math.min(mostMs, withinMs);
  let cancel = () => {};
  const over = new Promise<never>((_, reject) => {
    cancel = clock.after(limitMs, () => {
      const kind = withinMs < mostMs ? 'late' : 'timeout';
      reject(new KeyServiceFailure(kind, `no answer in ${Math.round(limitMs)} ms`));
      abort.abort();
    });
  });
  try {
    const answer = await Promise.race([ask(abort.signal), over]);
    seconds.observe((clock.monotonicMs() - startedMs) / 1000, { service: service.name });
    return answer;
  } catch (error) {
    throw error instanceof KeyServiceFailure
      ? error
      : new KeyServiceFailure('unavailable', String(error), { cause: error });
  } finally {
    cancel();
  }
}

async function sign(deps: KeyDeps, state: KeyState, message: Uint8Array, withinMs?: number): Promise<Hex> {
  const { deadlineMs } = deps.options;
  try {
    const signature = await signOnce(deps, state, message, Math.min(withinMs ?? deadlineMs, deadlineMs));
    succeeded(deps, state);
    return signature;
  } catch (failure) {
    failed(deps, state, failure as KeyServiceFailure, false);
    throw new SignerUnavailableError(deps.service.name, failure as KeyServiceFailure);
  }
}

function signOnce(deps: KeyDeps, state: KeyState, message: Uint8Array, withinMs: number): Promise<Hex> {
  const digest = keccakBytes(message);
  return persist(
    deps,
    async (signal) => checked(deps, state, digest, await deps.service.sign({ message, digest }, signal)),
    withinMs,
  );
}

/** Repeats a request after failures that may pass, with growing pauses, for `withinMs` at most. */
async function persist<T>(
  deps: KeyDeps,
  ask: (signal: AbortSignal) => Promise<T>,
  withinMs: number,
): Promise<T> {
  const { clock, requests, jitter } = deps;
  const { maxConcurrent, timeoutMs } = deps.options;
  const untilMs = clock.monotonicMs() + withinMs;
  const leftMs = () => untilMs - clock.monotonicMs();
  let before: KeyServiceFailure | undefined;
  for (let failures = 0; ; failures += 1) {
    const pause = pauseMs(failures, BACKOFF);
    if (!(await requests.acquire(leftMs())))
      throw counted(deps, before ?? new KeyServiceFailure('busy', `${maxConcurrent} at a time`));
    try {
      if (leftMs() <= 0) throw new KeyServiceFailure('late', 'no time was left');
      return await request(deps, ask, leftMs(), timeoutMs);
    } catch (error) {
      const failure = counted(deps, error as KeyServiceFailure);
      // Where the time ended with a repetition, the reason is why there was one.
      if (!failure.passes) throw failure.kind === 'late' ? (before ?? failure) : failure;
      if (leftMs() <= pause) throw failure;
      before = failure;
    } finally {
      requests.release();
    }
    await new Promise<void>((resolve) => clock.after(jittered(pause, jitter()), resolve));
  }
}

function counted({ failures, service }: KeyDeps, failure: KeyServiceFailure): KeyServiceFailure {
  failures.add({ service: service.name, kind: failure.kind });
  return failure;
}

/** Returns 65 bytes with low s and the recovery id of our address. */
function checked({ recovery }: KeyDeps, { address }: KeyState, digest: Uint8Array, rs: Uint8Array): Hex {
  const s = BigInt(bytesToHex(rs.subarray(32)));
  const low = s > ORDER / 2n ? ORDER - s : s;
  const compact = `${bytesToHex(rs.subarray(0, 32))}${low.toString(16).padStart(64, '0')}`;
  const hash = bytesToHex(digest);
  for (const v of ['1b', '1c'])
    if (recovery.recover(hash, `${compact}${v}` as Hex) === address) return `${compact}${v}` as Hex;
  throw new KeyServiceFailure('wrong_key', `not a signature of ${address}`);
}

function succeeded({ log, service }: KeyDeps, state: KeyState): void {
  state.failedInRow = 0;
  if (state.issue !== undefined) log.info({ service: service.name }, 'the key service signs again');
  state.issue = undefined;
}

function failed(deps: KeyDeps, state: KeyState, failure: KeyServiceFailure, isProbe: boolean): void {
  // Our own load says nothing about the service.
  if (failure.kind === 'busy') return;
  state.failedInRow += 1;
  if (state.failedInRow < MANY_FAILURES) return;
  // A caller with little time left cannot tell whether the service still answers; a probe can.
  if (isProbe || failure.kind !== 'late') {
    const { name } = deps.service;
    if (state.issue === undefined)
      deps.log.error(
        { service: name, kind: failure.kind, detail: failure.detail },
        'the key service does not sign',
      );
    state.issue = sentenceOf(name, failure);
  }
  if (!state.probing) void probe(deps, state);
}

/** Asks for test signatures until one is given. */
async function probe(deps: KeyDeps, state: KeyState): Promise<void> {
  const { deadlineMs, probeEveryMs } = deps.options;
  state.probing = true;
  while (!state.closed && state.failedInRow >= MANY_FAILURES) {
    await signOnce(deps, state, PROBE, deadlineMs).then(
      () => succeeded(deps, state),
      (failure: KeyServiceFailure) => failed(deps, state, failure, true),
    );
    if (state.failedInRow >= MANY_FAILURES)
      await new Promise<void>((resolve) => deps.clock.after(probeEveryMs, resolve));
  }
  state.probing = false;
}
