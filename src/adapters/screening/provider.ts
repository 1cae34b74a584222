/** A screening service over HTTP. Answers are cached; without one the address is refused by default. */

import type { Address } from '../../domain/hex.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Screener, ScreeningCheck } from '../../ports/screening.ts';
import type { Outbound } from '../outbound/request.ts';

export interface ProviderOptions {
  name: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  denied: { path: string; when: 'nonEmpty' | { equals: string | number | boolean } };
  versionPath: string | null;
  timeoutMs: number;
  attempts: number;
  deadlineMs: number;
  cacheTtlMs: number;
  maxCached: number;
  onFailure: 'closed' | 'open';
}

interface ProviderDeps {
  outbound: Outbound;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

const MOST_BYTES = 256 * 1024;
const PAUSE_MS = 50;

export function createProvider(
  { outbound, clock, log, metrics }: ProviderDeps,
  options: ProviderOptions,
): Screener {
  outbound.check(options.url.replaceAll('{address}', 'address'));
  const { name: provider, timeoutMs, attempts, deadlineMs, cacheTtlMs, maxCached, onFailure } = options;
  const known = new Map<Address, { check: ScreeningCheck; untilMs: number }>();
  const asking = new Map<Address, Promise<ScreeningCheck>>();
  const asked = metrics.counter(
    'firmquote_venue_screening_asked_total',
    'Requests to the screening service, by outcome',
    { outcome: ['allowed', 'denied', 'failed_open', 'failed_closed'] },
  );

  async function ask(address: Address): Promise<ScreeningCheck> {
    const startedMs = clock.monotonicMs();
    for (let attempt = 1; ; attempt++) {
      const leftMs = deadlineMs - (clock.monotonicMs() - startedMs);
      if (leftMs <= 0) break;
      try {
        const check = read(
          await outbound.request({
            url: options.url.replaceAll('{address}', address),
            method: 'GET',
            headers: options.headers,
            timeoutMs: Math.min(timeoutMs, leftMs),
            maxBytes: MOST_BYTES,
          }),
        );
        asked.add({ outcome: check.decision });
        return remember(address, check);
      } catch (error) {
        log.warn({ provider, attempt, error }, 'the screening service did not answer');
      }
      if (attempt >= attempts) break;
      await new Promise<void>((done) => clock.after(PAUSE_MS, done));
    }
    asked.add({ outcome: onFailure === 'open' ? 'failed_open' : 'failed_closed' });
    const open = onFailure === 'open';
    return {
      provider,
      listVersion: null,
      decision: open ? 'allowed' : 'unknown',
      reason: open ? 'unavailable_let_through' : 'unavailable',
      atMs: clock.nowMs(),
    };
  }

  /** An unreadable answer never allows an address. */
  function read({ status, body }: { status: number; body: string }): ScreeningCheck {
    if (status !== 200) throw new Error(`status ${status}`);
    const json = JSON.parse(body) as unknown;
    const verdict = at(json, options.denied.path);
    if (verdict === undefined) throw new Error(`the answer has no "${options.denied.path}"`);
    const listed = isDenied(verdict, options.denied);
    const version = options.versionPath === null ? undefined : at(json, options.versionPath);
    return {
      provider,
      listVersion:
        typeof version === 'string' || typeof version === 'number' ? String(version).slice(0, 100) : null,
      decision: listed ? 'denied' : 'allowed',
      reason: listed ? 'listed' : 'not_listed',
      atMs: clock.nowMs(),
    };
  }

  function remember(address: Address, check: ScreeningCheck): ScreeningCheck {
    known.delete(address);
    // The oldest answers make room.
    for (const oldest of known.keys()) {
      if (known.size < maxCached) break;
      known.delete(oldest);
    }
    known.set(address, { check, untilMs: clock.monotonicMs() + cacheTtlMs });
    return check;
  }

  return {
    provider,
    async screen(address) {
      const remembered = known.get(address);
      if (remembered && clock.monotonicMs() < remembered.untilMs) return remembered.check;
      let question = asking.get(address);
      if (!question) {
        question = ask(address).finally(() => asking.delete(address));
        asking.set(address, question);
      }
      return question;
    },
  };
}

function isDenied(verdict: unknown, { path, when }: ProviderOptions['denied']): boolean {
  if (when !== 'nonEmpty') {
    if (typeof verdict !== typeof when.equals) throw new Error(`"${path}" is not a ${typeof when.equals}`);
    return verdict === when.equals;
  }
  if (!Array.isArray(verdict)) throw new Error(`"${path}" is not a list`);
  return verdict.length > 0;
}

function at(json: unknown, path: string): unknown {
  let here = json;
  for (const name of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return undefined;
    here = (here as Record<string, unknown>)[name];
  }
  return here;
}
