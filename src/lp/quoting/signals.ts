/**
 * The operator's own signals: they lean or widen the prices of a pair until they expire. Effective from the
 * next request on, on other replicas once they read the store, and across restarts.
 */

import { RequestError } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Random } from '../../ports/random.ts';
import type { LpSignal, LpStore } from '../../ports/stores/lp-store.ts';
import type { LpConfig } from '../config/config.ts';

type SignalBounds = LpConfig['signals'];

export interface SignalRequest extends Omit<LpSignal, 'id' | 'setAtMs'> {}

export interface Signals {
  /** The one signal for this pair and side of the LP. Makes no garbage: it is on the quote path. */
  of(pairName: string, lp: 'buy' | 'sell', nowMs: number): LpSignal | undefined;
  list(): readonly LpSignal[];
  bounds(): SignalBounds;
  /** Replaces the signals of the pair that cover the same side. Throws `SignalRefusedError`. */
  set(wanted: SignalRequest): { signal: LpSignal; replaced: readonly LpSignal[] };
  /** Ends a signal by its id, all signals of a pair, or with undefined all. Returns those that it ended. */
  clear(of: string | undefined): readonly LpSignal[];
  /** Ends what is over, also in the store, so that no later clock brings it back. */
  expire(): void;
  configure(next: SignalBounds): void;
  /** Stores what is not stored yet; after a failure the next call tries again. */
  flush(store: SignalStore): Promise<void>;
  /** With several replicas, applies the signals that another one stored. Rejects when the store does. */
  follow(store: SignalStore): Promise<void>;
}

type SignalStore = Pick<LpStore, 'putSignal' | 'dropSignals' | 'signals'>;
type Write = { put: LpSignal } | { drop: readonly string[] };
interface Sides {
  buy: LpSignal | undefined;
  sell: LpSignal | undefined;
}

export function createSignals(
  { clock, log, random }: { clock: Clock; log: Log; random: Random },
  initial: SignalBounds,
  saved: readonly LpSignal[],
): Signals {
  let bounds = initial;
  let inForce: readonly LpSignal[] = [];
  /** The signals in force by pair. Each quote reads this map, so every change makes it again. */
  let byPair: ReadonlyMap<string, Sides> = new Map();
  /** Given here and not stored yet. */
  const unwritten: Write[] = [];
  let writing: Promise<void> | undefined;
  /** Counts local changes: a store read from before the last one is outdated. */
  let changes = 0;

  function become(signals: readonly LpSignal[]): void {
    const next = new Map<string, Sides>();
    for (const signal of signals) {
      const sides = next.get(signal.pair) ?? { buy: undefined, sell: undefined };
      if (signal.side !== 'sell') sides.buy = signal;
      if (signal.side !== 'buy') sides.sell = signal;
      next.set(signal.pair, sides);
    }
    inForce = signals;
    byPair = next;
  }

  function record(write: Write): void {
    changes += 1;
    unwritten.push(write);
  }

  /** Takes in signals from the store. Signals that have expired or are beyond today's bounds end for good. */
  function adopt(signals: readonly LpSignal[]): void {
    const nowMs = clock.nowMs();
    const ended = signals.filter(
      (signal) => signal.expiresAtMs <= nowMs || excessOf(signal, bounds) !== undefined,
    );
    for (const { id, pair } of ended) log.info({ id, pair }, 'a signal is over or beyond lp.signals: ended');
    if (ended.length > 0) record({ drop: ended.map(({ id }) => id) });
    become(signals.filter((signal) => !ended.includes(signal)));
  }
  adopt(saved);

  async function write(store: SignalStore): Promise<void> {
    for (let next = unwritten[0]; next !== undefined; next = unwritten[0]) {
      if ('put' in next) await store.putSignal(next.put);
      else await store.dropSignals(next.drop);
      unwritten.shift();
    }
  }

  return {
    of(pairName, lp, nowMs) {
      if (inForce.length === 0) return undefined;
      const signal = byPair.get(pairName)?.[lp];
      return signal !== undefined && nowMs < signal.expiresAtMs ? signal : undefined;
    },
    list() {
      const nowMs = clock.nowMs();
      return inForce.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
    },
    bounds: () => bounds,
    set(wanted) {
      const nowMs = clock.nowMs();
      refuse(wanted, bounds, nowMs);
      const live = inForce.filter(({ expiresAtMs }) => nowMs < expiresAtMs);
      const replaced = live.filter((signal) => overlaps(signal, wanted));
      const others = live.filter((signal) => !replaced.includes(signal));
      if (others.length >= bounds.maxActive)
        throw new SignalRefusedError(
          bounds.maxActive === 0
            ? 'lp.signals.maxActive is 0, so this LP takes no signals: raise it and reload.'
            : `${others.length} other signals are in force, and lp.signals.maxActive allows ${bounds.maxActive}: clear one first, or raise the bound and reload.`,
          'too_many_signals',
        );
      const signal: LpSignal = { id: `s-${random.bytes32().slice(2, 10)}`, setAtMs: nowMs, ...wanted };
      record({ put: signal });
      become([...others, signal]);
      return { signal, replaced };
    },
    clear(of) {
      const ended = inForce.filter(({ id, pair }) => of === undefined || id === of || pair === of);
      if (ended.length === 0) return [];
      record({ drop: ended.map(({ id }) => id) });
      become(inForce.filter((signal) => !ended.includes(signal)));
      return ended;
    },
    expire() {
      const nowMs = clock.nowMs();
      if (inForce.some(({ expiresAtMs }) => expiresAtMs <= nowMs)) adopt(inForce);
    },
    configure(next) {
      bounds = next;
      adopt(inForce);
    },
    flush(store) {
      writing ??= write(store).finally(() => (writing = undefined));
      return writing;
    },
    async follow(store) {
      if (unwritten.length > 0) return;
      const before = changes;
      const stored = await store.signals();
      if (before !== changes || same(stored, inForce)) return;
      log.warn(
        { before: inForce.map(({ id }) => id), now: stored.map(({ id }) => id) },
        'the signals changed at another replica',
      );
      adopt(stored);
    },
  };
}

const same = (stored: readonly LpSignal[], ours: readonly LpSignal[]): boolean =>
  stored.length === ours.length && stored.every(({ id }) => ours.some((signal) => signal.id === id));

type Scope = Pick<LpSignal, 'pair' | 'side'>;

const overlaps = (one: Scope, other: Scope): boolean =>
  one.pair === other.pair && (one.side === null || other.side === null || one.side === other.side);

function refuse(wanted: SignalRequest, bounds: SignalBounds, nowMs: number): void {
  const { skewBps, fairValueShiftBps, widthBps, expiresAtMs } = wanted;
  if (![skewBps, fairValueShiftBps, widthBps, expiresAtMs].every(Number.isFinite))
    throw new SignalRefusedError('A signal has numbers of bps and a time.', 'invalid_signal');
  if (widthBps < 0)
    throw new SignalRefusedError(
      `widthBps is ${widthBps}, and the least is 0: a signal only widens. To quote tighter, lower minEdgeBps of the pair and reload.`,
      'signal_out_of_bounds',
    );
  if (skewBps === 0 && fairValueShiftBps === 0 && widthBps === 0)
    throw new SignalRefusedError(
      'All of skewBps, fairValueShiftBps and widthBps are 0, so the signal would change nothing: give at least one, or clear the signal in force.',
      'invalid_signal',
    );
  if (expiresAtMs <= nowMs)
    throw new SignalRefusedError(
      `expiresAt is ${Math.floor(expiresAtMs / 1000)}, and it is ${Math.floor(nowMs / 1000)} already: give a later time, or ttlSeconds.`,
      'signal_out_of_bounds',
    );
  const excess = excessOf(wanted, bounds);
  if (excess !== undefined) throw new SignalRefusedError(excess, 'signal_out_of_bounds');
  const seconds = Math.ceil((expiresAtMs - nowMs) / 1000);
  if (seconds > bounds.maxSeconds)
    throw new SignalRefusedError(
      `The signal would last ${seconds} s, and lp.signals.maxSeconds allows ${bounds.maxSeconds}: give an earlier end, or raise the bound and reload.`,
      'signal_out_of_bounds',
    );
}

function excessOf(
  { skewBps, fairValueShiftBps, widthBps }: Pick<LpSignal, 'skewBps' | 'fairValueShiftBps' | 'widthBps'>,
  { maxSkewBps, maxFairValueShiftBps, maxWidthBps }: SignalBounds,
): string | undefined {
  const beyond = (name: string, value: number, bound: string, most: number): string | undefined =>
    Math.abs(value) <= most
      ? undefined
      : `${name} is ${value}, and lp.signals.${bound} allows ${most}: give at most ${most}, or raise the bound and reload.`;
  return (
    beyond('skewBps', skewBps, 'maxSkewBps', maxSkewBps) ??
    beyond('fairValueShiftBps', fairValueShiftBps, 'maxFairValueShiftBps', maxFairValueShiftBps) ??
    beyond('widthBps', widthBps, 'maxWidthBps', maxWidthBps)
  );
}

type RefusalCode = (typeof SIGNAL_REFUSALS)[number];

export const SIGNAL_REFUSALS = [
  'signal_out_of_bounds',
  'too_many_signals',
  'unknown_pair',
  'invalid_signal',
] as const;

/** Nothing changed. The message names both values. */
export class SignalRefusedError extends RequestError {
  constructor(message: string, code: RefusalCode) {
    super(message, { code });
  }
}
