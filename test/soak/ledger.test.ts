/**
 * Random events on the ledger, and faulty ledgers that the checks must report. `.ci/run` runs a million
 * events with another seed each time (`npm run soak:ledger`).
 */

import { describe, expect, test } from 'vitest';
import type { HoldRequest, LedgerEvent } from '../../src/inventory/event.ts';
import type { Ledger } from '../../src/inventory/ledger.ts';
import { type Sabotage, soak } from './ledger.ts';

test('random events with a taker who accepts every quote break no invariant', () => {
  const report = soak({ events: 250_000, seed: 1 });
  expect(report.events).toBeGreaterThanOrEqual(250_000);
  for (const key of ['quotes', 'refusals', 'fills', 'reorgs', 'onslaughts', 'restarts', 'crashes'] as const)
    expect(report[key], key).toBeGreaterThan(5);
}, 600_000);

test('one seed makes one run', () => {
  const { seconds: _, ...first } = soak({ events: 4_000, seed: 7 });
  expect(soak({ events: 4_000, seed: 7 })).toMatchObject(first);
});

/** The ledger with some of its doors replaced. */
const but =
  (change: (ledger: Ledger) => Partial<Ledger>): Sabotage =>
  (ledger) =>
    Object.assign(Object.create(ledger) as Ledger, change(ledger));
/** With every event, or every hold, on its way in. */
const hearing = (twist: (event: LedgerEvent) => LedgerEvent | undefined): Sabotage =>
  but(({ apply }) => ({
    apply(event) {
      const heard = twist(event);
      return heard === undefined ? { applied: true, state: null } : apply(heard);
    },
  }));
const holding = (twist: (request: HoldRequest) => HoldRequest | undefined): Sabotage =>
  but(({ hold }) => ({
    hold(request, now) {
      const held = twist(request);
      return held === undefined ? { held: true } : hold(held, now);
    },
  }));
const every = (n: number) => {
  let count = 0;
  return () => (count += 1) % n === 0;
};

describe('reports a ledger that', () => {
  const rarely = every(200);
  test.each<[string, Sabotage, RegExp]>([
    ['forgets a hold now and then', holding((request) => (rarely() ? undefined : request)), /^[0-9]:/],
    [
      'holds one unit too little',
      holding((request) => (request.amount > 1n ? { ...request, amount: request.amount - 1n } : request)),
      /^[0-9]:/,
    ],
    [
      'lets quotes of one taker share a hold without a nonce to prove it',
      holding((request) => ({ ...request, group: `${request.taker} ${request.lapsesAt % 3}` })),
      /^[0-9]:/,
    ],
    [
      'ends holds before the grace is over',
      but(({ advance }) => ({ advance: (chainId, now) => advance(chainId, now + 16) })),
      /^[0-9]+:/,
    ],
    [
      'reads our own clock, which runs ahead of the chain',
      but(({ hold }) => ({ hold: (request, now) => hold(request, now + 40) })),
      /^[0-9]+:/,
    ],
    [
      'loses a fill',
      hearing((event) => (event.type === 'filled' && event.id.endsWith('7') ? undefined : event)),
      /^[0-9]+:/,
    ],
    [
      'does not hear of reorganisations',
      hearing((event) => (event.type === 'reorged' ? undefined : event)),
      /^[0-9]+:/,
    ],
    [
      'counts a deposit as often as it hears of it',
      but(({ apply }) => {
        let count = 0;
        return {
          apply: (event) =>
            apply(event.type === 'deposited' ? { ...event, id: `${event.id} ${(count += 1)}` } : event),
        };
      }),
      /^[23]:/,
    ],
    [
      'credits a surplus',
      but(({ apply, bucket }) => ({
        apply(event) {
          const more =
            event.type === 'reconciled'
              ? event.amount - (bucket(event.chainId, event.token)?.onchain ?? 0n)
              : 0n;
          if (event.type !== 'reconciled' || more <= 0n) return apply(event);
          return apply({
            type: 'deposited',
            id: `found ${event.amount}`,
            chainId: event.chainId,
            token: event.token,
            amount: more,
          });
        },
      })),
      /^3:/,
    ],
    [
      'still promises what the owner asked back',
      hearing((event) => (event.type === 'withdrawal_requested' ? { ...event, amount: 0n } : event)),
      /^[0-9]+:/,
    ],
    [
      'forgets accepted orders in a restart',
      but(({ snapshot }) => ({
        snapshot() {
          const taken = snapshot();
          return { ...taken, promises: taken.promises.filter(({ is }) => !is.includes('accepted')) };
        },
      })),
      /^(5|10):/,
    ],
    [
      'takes a late acceptance',
      but(({ apply, quote }) => ({
        apply(event) {
          const known = event.type === 'accepted' ? quote(event.orderId) : undefined;
          return known?.state === 'expired'
            ? apply({ type: 'restored', request: known.request })
            : apply(event);
        },
      })),
      /^(7|9|1|5|10):/,
    ],
    [
      'has no caps',
      but(({ setLimits }) => {
        setLimits({});
        return {};
      }),
      /^9:/,
    ],
  ])('%s', (_name, sabotage, invariant) => {
    expect(() => soak({ events: 60_000, seed: 3, sabotage })).toThrow(invariant);
  });
});
