/**
 * The invariants of the ledger. A small world plays the chain (balances, clocks, nonces, deadlines) and tells
 * the ledger late, twice and out of order; its taker accepts everything.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HoldRequest, LedgerEvent } from '../../../src/inventory/event.ts';
import { covers, type Lease, renew, resume } from '../../../src/inventory/lease.ts';
import { createLedger, type Ledger, type LedgerOptions } from '../../../src/inventory/ledger.ts';
import { replay, restoreLedger } from '../../support/restore-ledger.ts';
import type { Limits } from '../../../src/inventory/limits.ts';

const RUNS = Number(process.env['FUZZ_RUNS'] ?? 150);
const GRACE = 15;
const LONGEST = 60;
const DELAY = 90;
const TOKENS = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const;
const BUCKETS = [1, 2].flatMap((chainId) =>
  TOKENS.map((token, at) => ({
    chainId,
    token,
    asset: at === 0 ? 'USDC' : 'WETH',
    decimals: at === 0 ? 6 : 18,
  })),
);
const LIMITS: Limits = {
  perTaker: { count: 6, notional: 900n },
  perTakerPair: { count: 4 },
  perPairSide: { notional: 1_500n },
  total: { count: 12, notional: 2_000n },
};
const optionsWith = (limits: Limits, onEvent?: (event: LedgerEvent) => void): LedgerOptions => ({
  buckets: BUCKETS,
  graceSeconds: () => GRACE,
  limits,
  rememberSeconds: 30,
  rememberSpentSeconds: 30,
  ...(onEvent && { onEvent }),
});

interface Signed {
  request: HoldRequest;
  executions: number;
  /** The block it was executed in, or null. */
  block: string | null;
  final: boolean;
  claimed: boolean;
  failed: boolean;
}

/**
 * One chain clock for all, real balances, and everything that was ever signed. Amounts are in units of
 * `unit`.
 */
function createWorld(limits: Limits, unit = 1n) {
  const log: LedgerEvent[] = [];
  const ledger = createLedger(optionsWith(limits, (event) => log.push(event)));
  const balances = new Map<string, bigint>();
  const signed = new Map<string, Signed>();
  const withdrawals: {
    id: string;
    chainId: number;
    token: (typeof TOKENS)[number];
    amount: bigint;
    readyAt: number;
    over: boolean;
  }[] = [];
  const usedNonces = new Set<string>();
  /** What the ledger has not heard yet. */
  let rumours: { at: number; event: LedgerEvent }[] = [];
  let now = 1_000;
  let serial = 0;

  const key = ({ chainId, token }: { chainId: number; token: string }) => `${chainId} ${token}`;
  const balance = (where: { chainId: number; token: string }) => balances.get(key(where)) ?? 0n;
  const move = (where: { chainId: number; token: string }, amount: bigint) =>
    balances.set(key(where), balance(where) + amount);
  const all = () => [...signed.values()];
  const executable = (each: Signed) =>
    each.block === null && !usedNonces.has(each.request.group) && now <= each.request.lapsesAt;

  const tell = (event: LedgerEvent) => rumours.push({ at: now, event });
  /** The ledger's clock may run ahead of what it has heard by the grace, and no more. */
  const known = () => Math.min(now, ...rumours.map(({ at }) => at + GRACE));

  function execute(each: Signed): void {
    each.block = `b${++serial}`;
    each.executions += 1;
    usedNonces.add(each.request.group);
    move(each.request, -each.request.amount);
    tell({ type: 'filled', orderId: each.request.orderId, id: each.block });
  }

  function bury(each: Signed): void {
    each.failed = true;
    ledger.apply({ type: 'failed', orderId: each.request.orderId });
  }

  return {
    ledger,
    log,
    signed,
    all,
    executable,
    execute,
    balance,
    get now() {
      return now;
    },
    tick(seconds: number) {
      now += seconds;
      ledger.advance(1, known());
    },
    /** Seconds on the ledger's clock. */
    known,
    deposit(at: number, units: bigint) {
      const where = BUCKETS[at % BUCKETS.length] ?? expect.fail();
      const amount = units * unit;
      move(where, amount);
      ledger.apply({
        type: 'deposited',
        id: `d${++serial}`,
        chainId: where.chainId,
        token: where.token,
        amount,
      });
    },
    requestWithdrawal(at: number, units: bigint) {
      const where = BUCKETS[at % BUCKETS.length] ?? expect.fail();
      const amount = units * unit;
      const request = {
        id: `w${++serial}`,
        chainId: where.chainId,
        token: where.token,
        amount,
        readyAt: now + DELAY,
        over: false,
      };
      withdrawals.push(request);
      ledger.apply({
        type: 'withdrawal_requested',
        id: request.id,
        chainId: where.chainId,
        token: where.token,
        amount,
      });
    },
    withdraw(at: number) {
      const request = withdrawals[at % (withdrawals.length || 1)];
      if (request === undefined || request.over || now < request.readyAt) return;
      request.over = true;
      // The delay outlives every promise signed before the request, and the LP has long noticed which of them
      // died.
      for (const each of all()) if (each.block === null && now > each.request.lapsesAt + GRACE) bury(each);
      const left = balance(request);
      const amount = request.amount < left ? request.amount : left;
      move(request, -amount);
      ledger.apply({
        type: 'withdrawal_ended',
        id: request.id,
        chainId: request.chainId,
        token: request.token,
        amount,
      });
    },
    quote(at: number, units: bigint, nonce: number, seconds: number) {
      const amount = units * unit;
      const where = BUCKETS[at % BUCKETS.length] ?? expect.fail();
      const other = BUCKETS[(at + 1) % BUCKETS.length] ?? expect.fail();
      const request: HoldRequest = {
        orderId: `q${++serial}`,
        chainId: where.chainId,
        token: where.token,
        amount,
        input: { chainId: other.chainId, token: other.token, amount: (units / 2n + 1n) * unit },
        group: nonce % 3 === 0 ? `alone ${serial}` : `nonce ${nonce}`,
        clockChainId: 1,
        lapsesAt: now + 1 + (seconds % LONGEST),
        taker: `t${nonce % 3}`,
        pair: 'WETH/USDC',
        side: at % 2 === 0 ? 'buy' : 'sell',
        notional: units,
        gapLoss: units / 3n,
        fillProbabilityBps: (nonce * 997) % 10_000,
      };
      const answer = ledger.hold(request, known());
      if ('held' in answer)
        signed.set(request.orderId, {
          request,
          executions: 0,
          block: null,
          final: false,
          claimed: false,
          failed: false,
        });
      return { request, answer };
    },
    accept(each: Signed) {
      return ledger.apply({ type: 'accepted', orderId: each.request.orderId });
    },
    /** The newest execution that is not final is reorganised away; its nonce is unused again. */
    reorg() {
      const last = all().findLast(({ block, final }) => block !== null && !final);
      if (last === undefined || last.block === null) return;
      tell({ type: 'reorged', orderId: last.request.orderId, id: last.block });
      last.block = null;
      usedNonces.delete(last.request.group);
      move(last.request, last.request.amount);
    },
    finalise(at: number) {
      const waiting = all().filter(({ block, claimed }) => block !== null && !claimed);
      const each = waiting[at % (waiting.length || 1)];
      if (each === undefined || each.block === null) return;
      each.final = true;
      tell({ type: 'fill_final', orderId: each.request.orderId, id: each.block });
      if (at % 2 === 0) return;
      each.claimed = true;
      const received = each.request.input.amount - (at % 5 === 1 ? unit : 0n);
      move(each.request.input, received);
      tell({ type: 'finalised', orderId: each.request.orderId, id: each.block, received });
    },
    fail(at: number) {
      // Only what the chain proves dead: never executed, and too late for it.
      const dead = all().filter(({ request, block }) => block === null && now > request.lapsesAt + GRACE);
      const each = dead[at % (dead.length || 1)];
      if (each) bury(each);
    },
    /** Applies the events in an adversarial order, some of them twice. */
    deliver(seed: number, orderly = false) {
      const heard = rumours.map(({ event }) => event);
      rumours = [];
      const events = [...heard, ...heard.filter((_, at) => (at + seed) % 3 === 0)];
      for (let turn = events.length; turn > 0; turn--) {
        const event = events.splice(orderly ? 0 : (seed * 7 + turn * 13) % turn, 1)[0];
        if (event) ledger.apply(event);
      }
      ledger.advance(1, known());
    },
  };
}
type World = ReturnType<typeof createWorld>;

type Op = { op: number; at: number; amount: number; nonce: number; seconds: number };
const anOp: fc.Arbitrary<Op> = fc.record({
  op: fc.nat(99),
  at: fc.nat(20),
  amount: fc.integer({ min: 1, max: 400 }),
  nonce: fc.nat(12),
  seconds: fc.nat(70),
});
const someOps = fc.array(anOp, { minLength: 20, maxLength: 120 });

function play(world: World, { op, at, amount, nonce, seconds }: Op, orderly = false): void {
  const pick = (list: Signed[]) => list[at % (list.length || 1)];
  if (op < 40) world.quote(at, BigInt(amount), nonce, seconds);
  else if (op < 50) {
    const each = pick(world.all());
    if (each) world.accept(each);
  } else if (op < 60) {
    const each = pick(world.all().filter(world.executable));
    if (each) world.execute(each);
  } else if (op < 65) world.reorg();
  else if (op < 73) world.finalise(at);
  else if (op < 76) world.fail(at);
  else if (op < 84) world.tick(1 + (seconds % 25));
  else if (op < 88) world.deposit(at, BigInt(amount));
  else if (op < 90) world.requestWithdrawal(at, BigInt(amount));
  else if (op < 92) world.withdraw(at);
  else world.deliver(nonce, orderly);
}

function everyStep(
  limits: Limits,
  check: (world: World, op: Op) => void,
  ops: fc.Arbitrary<Op[]> = someOps,
): void {
  fc.assert(
    fc.property(ops, (list) => {
      const world = createWorld(limits);
      for (const [at] of BUCKETS.entries()) world.deposit(at, 500n);
      for (const op of list) {
        play(world, op);
        check(world, op);
      }
    }),
    { numRuns: RUNS },
  );
}

/**
 * The most that could still leave each bucket if everything that can execute does: one member of every nonce.
 */
function worstCase(world: World): Map<string, bigint> {
  const byGroup = new Map<string, bigint>();
  for (const each of world.all().filter(world.executable)) {
    const { chainId, token, group, amount } = each.request;
    const key = `${chainId} ${token}|${group}`;
    const most = byGroup.get(key) ?? 0n;
    byGroup.set(key, amount > most ? amount : most);
  }
  const sums = new Map<string, bigint>();
  for (const [key, amount] of byGroup) {
    const bucket = key.split('|')[0] as string;
    sums.set(bucket, (sums.get(bucket) ?? 0n) + amount);
  }
  return sums;
}

const total = (ledger: Ledger, token: string) =>
  ledger
    .buckets()
    .filter((bucket) => bucket.token === token)
    .reduce((sum, { onchain, pendingOut, receivable }) => sum + onchain - pendingOut + receivable, 0n);

/** A stop within a quarantine writes no clean state: the snapshot lacks the quotes of the crashed process. */
const stopped = (lease: Lease, quarantined: boolean): Lease => ({ ...lease, clean: !quarantined });

describe('invariants', () => {
  test('1. free and every other amount are never negative, and every hold is covered', () => {
    everyStep({}, ({ ledger }) => {
      for (const bucket of ledger.buckets()) {
        for (const part of [
          'free',
          'onchain',
          'pendingOut',
          'committed',
          'held',
          'receivable',
          'withdrawing',
        ] as const)
          expect(bucket[part], part).toBeGreaterThanOrEqual(0n);
        expect(bucket.shortfall).toBe(0n);
      }
    });
  });

  test("2. all live quotes accepted together are payable, by the chain's balances", () => {
    everyStep({}, (world) => {
      for (const [bucket, owed] of worstCase(world)) {
        const [chainId, token] = bucket.split(' ') as [string, string];
        expect(world.balance({ chainId: Number(chainId), token })).toBeGreaterThanOrEqual(owed);
      }
    });
  });

  test('2b. a taker who executes everything in any order never meets an empty bucket', () => {
    fc.assert(
      fc.property(someOps, fc.nat(), (ops, seed) => {
        const world = createWorld({});
        for (const [at] of BUCKETS.entries()) world.deposit(at, 500n);
        for (const op of ops) play(world, op);
        for (let turn = seed; ; turn = turn * 31 + 7) {
          const open = world.all().filter(world.executable);
          const each = open[turn % (open.length || 1)];
          if (each === undefined) break;
          world.execute(each);
          expect(world.balance(each.request)).toBeGreaterThanOrEqual(0n);
          turn %= 1_000_003;
        }
        world.deliver(seed % 50);
        for (const { shortfall } of world.ledger.buckets()) expect(shortfall).toBe(0n);
      }),
      { numRuns: RUNS },
    );
  });

  test('3. sums change only by fills, claims and transfers, by exactly their amounts', () => {
    fc.assert(
      fc.property(someOps, (ops) => {
        const world = createWorld({});
        for (const [at] of BUCKETS.entries()) world.deposit(at, 500n);
        for (const op of ops) play(world, op, true);
        // The log once more, watched step by step.
        const ledger = createLedger(optionsWith({}));
        for (const event of world.log) {
          const before = TOKENS.map((token) => total(ledger, token));
          const state = 'orderId' in event ? ledger.quote(event.orderId)?.state : undefined;
          const request = 'orderId' in event ? ledger.quote(event.orderId)?.request : undefined;
          ledger.apply(event);
          const after = 'orderId' in event ? ledger.quote(event.orderId)?.state : undefined;
          const change = (token: string) =>
            total(ledger, token) - (before[TOKENS.indexOf(token as (typeof TOKENS)[number])] ?? 0n);
          if (event.type === 'deposited') expect(change(event.token)).toBe(event.amount);
          else if (event.type === 'withdrawal_ended') expect(change(event.token)).toBe(-event.amount);
          else if (state === after || request === undefined)
            for (const token of TOKENS) expect(change(token)).toBe(0n);
          else {
            // Filled or not, claimed or not: four amounts say what a quote is worth to the sums.
            const out = (at: string | undefined) =>
              at === 'filled' || at === 'fill_final' || at === 'received' ? -request.amount : 0n;
            const into = (at: string | undefined, claim: bigint) =>
              at === 'filled' || at === 'fill_final' ? request.input.amount : at === 'received' ? claim : 0n;
            const claim =
              event.type === 'finalised'
                ? event.received
                : ((
                    world.log.find(
                      (each) =>
                        each.type === 'finalised' && 'orderId' in event && each.orderId === event.orderId,
                    ) as { received?: bigint } | undefined
                  )?.received ?? 0n);
            for (const token of TOKENS) {
              const expected =
                (request.token === token ? out(after) - out(state) : 0n) +
                (request.input.token === token ? into(after, claim) - into(state, claim) : 0n);
              expect(change(token)).toBe(expected);
            }
          }
        }
        // And in the end the ledger knows what the chain holds.
        world.deliver(0, true);
        for (const bucket of BUCKETS) {
          const known = world.ledger.bucket(bucket.chainId, bucket.token) ?? expect.fail();
          expect(known.onchain - known.pendingOut).toBe(world.balance(bucket));
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('4. facts in any order, any number of times, hold once and release once', () => {
    const facts = fc.subarray<(orderId: string) => LedgerEvent>([
      (orderId) => ({ type: 'accepted', orderId }),
      (orderId) => ({ type: 'filled', orderId, id: `x ${orderId}` }),
      (orderId) => ({ type: 'reorged', orderId, id: `x ${orderId}` }),
      (orderId) => ({ type: 'filled', orderId, id: `y ${orderId}` }),
      (orderId) => ({ type: 'fill_final', orderId, id: `y ${orderId}` }),
      (orderId) => ({ type: 'finalised', orderId, id: `z ${orderId}`, received: 5n }),
      (orderId) => ({ type: 'failed', orderId }),
      (orderId) => ({ type: 'overdue', orderId }),
      (orderId) => ({ type: 'released', orderId }),
    ]);
    const quotes = fc.array(fc.record({ amount: fc.bigInt(1n, 90n), group: fc.nat(2), facts }), {
      minLength: 1,
      maxLength: 5,
    });
    const arrivals = quotes.chain((list) => {
      const events = list.flatMap(({ facts: known }, at) => known.map((fact) => fact(`q${at}`)));
      return fc.record({
        list: fc.constant(list),
        orders: fc.array(
          fc
            .shuffledSubarray([...events, ...events], { minLength: 0, maxLength: events.length * 2 })
            .map((some) => [...some, ...events.filter((each) => !some.includes(each))]),
          { minLength: 2, maxLength: 3 },
        ),
      });
    });
    fc.assert(
      fc.property(arrivals, ({ list, orders }) => {
        const ends = orders.map((events) => {
          const ledger = createLedger(optionsWith({}));
          for (const [at, bucket] of BUCKETS.entries())
            ledger.apply({
              type: 'deposited',
              id: `d${at}`,
              chainId: bucket.chainId,
              token: bucket.token,
              amount: 500n,
            });
          for (const [at, { amount, group }] of list.entries())
            ledger.hold(
              {
                orderId: `q${at}`,
                chainId: 1,
                token: TOKENS[0],
                amount,
                input: { chainId: 1, token: TOKENS[1], amount },
                group: `g${group}`,
                lapsesAt: 1_060,
                taker: 't',
                pair: 'p',
                side: 'buy',
                notional: amount,
              },
              1_000,
            );
          for (const event of events) ledger.apply(event);
          return JSON.stringify({
            state: ledger.snapshot(),
            sums: ledger.buckets().map((bucket) => Object.values(bucket).map(String)),
            exposure: ['USDC', 'WETH'].map((asset) => Object.values(ledger.exposure(asset)).map(String)),
          });
        });
        for (const end of ends) expect(end).toBe(ends[0]);
      }),
      { numRuns: RUNS },
    );
  });

  test('5. after a crash nothing is signed until every quote that may have been signed has expired', () => {
    const rule = { longestQuoteSeconds: LONGEST, aheadSeconds: 30, graceSeconds: GRACE };
    const step = fc.record({
      seconds: fc.nat(40),
      validity: fc.integer({ min: 1, max: LONGEST }),
      event: fc.constantFrom('sign', 'sign', 'sign', 'lost write', 'crash', 'stop'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        let disk: Lease | null = null;
        let durable: Lease | null = null;
        let now = 1_000;
        /** Deadlines of signatures that no running process remembers. */
        let forgotten: number[] = [];
        let remembered: number[] = [];
        let waiting: number | null = null;
        for (const { seconds, validity, event } of steps) {
          now += seconds;
          if (waiting !== null && now > waiting) waiting = null;
          if (event === 'crash') {
            // After a clean stop the snapshot is good until something is signed, that is until the lease is
            // renewed.
            if (!disk?.clean) {
              forgotten.push(...remembered);
              remembered = [];
            }
            const resumption = resume(disk, now, rule);
            waiting = resumption.kind === 'wait' ? resumption.until : null;
            durable = disk;
          } else if (event === 'stop') {
            if (durable !== null) disk = stopped(durable, waiting !== null);
            const resumption = resume(disk, now, rule);
            expect(resumption.kind).toBe(waiting === null ? 'resume' : 'wait');
            durable = disk;
          } else if (waiting === null) {
            const next = renew(durable, now, rule);
            if (next !== null && event !== 'lost write') {
              disk = next;
              durable = next;
            }
            const deadline = now + validity;
            if (covers(durable, deadline)) {
              for (const old of forgotten) expect(now).toBeGreaterThan(old + GRACE);
              remembered.push(deadline);
            } else if (event === 'sign') expect.fail('a renewed lease covers the longest quote');
          }
        }
      }),
      { numRuns: RUNS * 4 },
    );
  });

  test('5b. a clean stop and start at any point restores the same ledger', () => {
    fc.assert(
      fc.property(someOps, someOps, (before, after) => {
        const world = createWorld(LIMITS);
        for (const [at] of BUCKETS.entries()) world.deposit(at, 500n);
        for (const op of before) play(world, op);
        const text = JSON.stringify(world.ledger.snapshot());
        const again = restoreLedger(optionsWith(LIMITS), JSON.parse(text));
        expect(JSON.stringify(again.snapshot())).toBe(text);
        expect(again.buckets()).toEqual(world.ledger.buckets());
        expect(again.live).toBe(world.ledger.live);
        // It also goes on like the one that never stopped.
        const mark = world.log.length;
        for (const op of after) play(world, op);
        for (const event of world.log.slice(mark)) {
          if (event.type === 'held') expect(again.hold(event.request, 0)).toEqual({ held: true });
          else again.apply(event);
        }
        expect(JSON.stringify(again.snapshot())).toBe(JSON.stringify(world.ledger.snapshot()));
      }),
      { numRuns: RUNS },
    );
  });

  test('5c. accepted orders found at the venue and on chain are restored, to the unit', () => {
    fc.assert(
      fc.property(someOps, (ops) => {
        const world = createWorld({});
        for (const [at] of BUCKETS.entries()) world.deposit(at, 500n);
        for (const op of ops) play(world, op);
        const crashed = createLedger(optionsWith({}));
        const bound = new Set(
          world
            .all()
            .map(({ request }) => request.orderId)
            .filter((orderId) =>
              ['accepted', 'filled', 'fill_final', 'received'].includes(
                world.ledger.quote(orderId)?.state ?? '',
              ),
            ),
        );
        for (const { request } of world.all())
          if (bound.has(request.orderId)) crashed.apply({ type: 'restored', request });
        for (const event of world.log)
          if ('id' in event && 'orderId' in event && bound.has(event.orderId)) crashed.apply(event);
        for (const bucket of BUCKETS) {
          const { committed, pendingOut, receivable } =
            world.ledger.bucket(bucket.chainId, bucket.token) ?? expect.fail();
          expect(crashed.bucket(bucket.chainId, bucket.token)).toMatchObject({
            committed,
            pendingOut,
            receivable,
          });
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('6. no hold ends before its deadline and the grace, unless the chain proves it dead', () => {
    everyStep({}, (world) => {
      for (const { request, block, failed } of world.all()) {
        if (
          block !== null ||
          failed ||
          world.all().some(({ request: other, final }) => final && other.group === request.group) ||
          world.known() > request.lapsesAt + GRACE
        )
          continue;
        expect(['held', 'accepted', 'filled', 'fill_final', 'received']).toContain(
          world.ledger.quote(request.orderId)?.state,
        );
      }
    });
  });

  test('7. an ended hold reserves nothing, and its late accept is refused as critical', () => {
    everyStep({}, (world) => {
      let live = 0;
      for (const { request } of world.all()) {
        const state = world.ledger.quote(request.orderId)?.state;
        if (state === 'held') live += 1;
        if (state !== 'expired') continue;
        const before = world.ledger.buckets();
        const answer = world.ledger.apply({ type: 'accepted', orderId: request.orderId });
        expect(answer).toMatchObject(
          answer.applied ? {} : answer.why === 'late' ? { critical: true } : { why: 'duplicate' },
        );
        expect(answer.applied).toBe(false);
        expect(world.ledger.buckets()).toEqual(before);
      }
      expect(world.ledger.live).toBeLessThanOrEqual(live);
    });
  });

  test('8. of many quotes for the last units, exactly as many succeed as there are units', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 50n), fc.array(fc.bigInt(1n, 10n), { maxLength: 40 }), (balance, wants) => {
        const ledger = createLedger(optionsWith({}));
        ledger.apply({ type: 'deposited', id: 'd', chainId: 1, token: TOKENS[0], amount: balance });
        let left = balance;
        for (const [at, amount] of wants.entries()) {
          const answer = ledger.hold(
            {
              orderId: `q${at}`,
              chainId: 1,
              token: TOKENS[0],
              amount,
              input: { chainId: 1, token: TOKENS[1], amount: 1n },
              group: `g${at}`,
              lapsesAt: 1_060,
              taker: 't',
              pair: 'p',
              side: 'buy',
              notional: 1n,
            },
            1_000,
          );
          if (amount <= left) {
            expect(answer).toEqual({ held: true });
            left -= amount;
          } else expect(answer).toEqual({ declined: 'no_inventory', maxAmount: left });
        }
        expect(ledger.free(1, TOKENS[0])).toBe(left);
      }),
      { numRuns: RUNS },
    );
  });

  test('9. the caps of taker, pair, side and book hold after every step', () => {
    everyStep(LIMITS, (world) => {
      const groups = new Map<string, Map<string, bigint>>();
      for (const { request } of world.all()) {
        if (world.ledger.quote(request.orderId)?.state !== 'held') continue;
        // A nonce that the chain used at depth has nothing live any more.
        if (
          world
            .all()
            .some(
              ({ request: other }) =>
                other.group === request.group &&
                ['fill_final', 'received'].includes(world.ledger.quote(other.orderId)?.state ?? ''),
            )
        )
          continue;
        for (const key of [
          'total',
          `perTaker ${request.taker}`,
          `perTakerPair ${request.taker} ${request.pair}`,
          `perPair ${request.pair}`,
          `perPairSide ${request.pair} ${request.side}`,
        ]) {
          const sums = groups.get(key) ?? new Map<string, bigint>();
          const most = sums.get(request.group) ?? 0n;
          sums.set(request.group, request.notional > most ? request.notional : most);
          groups.set(key, sums);
        }
      }
      const within = (key: string, count: number, notional: bigint) => {
        const sums = groups.get(key);
        expect(sums?.size ?? 0).toBeLessThanOrEqual(count);
        expect([...(sums?.values() ?? [])].reduce((sum, each) => sum + each, 0n)).toBeLessThanOrEqual(
          notional,
        );
      };
      within('total', 12, 2_000n);
      for (const taker of ['t0', 't1', 't2']) {
        within(`perTaker ${taker}`, 6, 900n);
        within(`perTakerPair ${taker} WETH/USDC`, 4, 10_000n);
      }
      for (const side of ['buy', 'sell']) within(`perPairSide WETH/USDC ${side}`, 100, 1_500n);
      // Each with what counts against it, to the unit, and nothing else: whoever came back meanwhile counts
      // once.
      const shown: [string, number, bigint][] = [];
      world.ledger.visitCounters((scope, { count, notional }, ...of) => {
        if (scope !== 'perAssetSide') shown.push([[scope, ...of].join(' ').trim(), count, notional]);
      });
      const wanted = [...groups].map(([key, sums]): [string, number, bigint] => [
        key,
        sums.size,
        [...sums.values()].reduce((sum, each) => sum + each, 0n),
      ]);
      expect(new Set(shown.map(String))).toEqual(new Set(wanted.map(String)));
      expect(shown.length).toBe(wanted.length);
    });
  });

  test('10. replaying the event log twice gives the same bytes as the ledger that wrote it', () => {
    fc.assert(
      fc.property(someOps, (ops) => {
        const world = createWorld(LIMITS);
        for (const [at] of BUCKETS.entries()) world.deposit(at, 500n);
        for (const op of ops) play(world, op);
        const bytes = JSON.stringify(world.ledger.snapshot());
        expect(JSON.stringify(replay(optionsWith(LIMITS), world.log).snapshot())).toBe(bytes);
        expect(JSON.stringify(replay(optionsWith({}), world.log).snapshot())).toBe(bytes);
        expect(replay(optionsWith({}), world.log).buckets()).toEqual(world.ledger.buckets());
      }),
      { numRuns: RUNS },
    );
  });

  test('11. open holds are those accepted and those filled and not final, after every step', () => {
    everyStep(LIMITS, (world) => {
      const binds = (state = '') => state === 'accepted' || state === 'filled';
      const wanted = world.all().filter(({ request }) => binds(world.ledger.quote(request.orderId)?.state));
      expect(
        world.ledger
          .openPromises()
          .map(({ orderId }) => orderId)
          .sort(),
      ).toEqual(wanted.map(({ request }) => request.orderId).sort());
    });
  });

  test('12. amounts of any width count alike', () => {
    // Four digits to spare: no exposure is rounded.
    const fine = 10_000n;
    const units = [fine, fine << 70n, fine << 130n] as const;
    const limits: Limits = { ...LIMITS, perPair: { gapLoss: 500n } };
    const shown = ({ ledger, all }: World, unit: bigint) => ({
      live: ledger.live,
      buckets: ledger
        .buckets()
        .map((bucket) =>
          Object.fromEntries(
            Object.entries(bucket).map(([name, value]) => [
              name,
              typeof value === 'bigint' ? value / unit : value,
            ]),
          ),
        ),
      exposures: ['USDC', 'WETH'].map((asset) =>
        Object.entries(ledger.exposure(asset)).map(([name, value]) => [
          name,
          (value as bigint) / (unit / fine),
        ]),
      ),
      quotes: all().map(({ request: { orderId, group } }) => [
        orderId,
        ledger.quote(orderId)?.state,
        ledger.ordersOfNonce(group),
        ledger.fullestCap(orderId),
      ]),
      binding: ledger
        .openPromises()
        .map(({ orderId }) => orderId)
        .sort(),
    });
    fc.assert(
      fc.property(someOps, (ops) => {
        const worlds = units.map((unit) => createWorld(limits, unit));
        for (const world of worlds) for (const [at] of BUCKETS.entries()) world.deposit(at, 500n);
        for (const op of ops) {
          for (const world of worlds) play(world, op);
          const [one, two, many] = worlds.map((world, at) => shown(world, units[at] as bigint));
          expect(two).toEqual(one);
          expect(many).toEqual(one);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test('a hold keeps its request unchanged, accepted or not', () => {
    // As many of each width, and those at the edges of a word.
    const widths = (...bits: bigint[]) =>
      fc.oneof(
        ...bits.flatMap((bit) => [
          fc.bigInt({ min: 1n, max: 2n ** bit }),
          fc.bigInt({ min: 2n ** bit - 2n, max: 2n ** bit + 2n }),
        ]),
      );
    const [amount, loss] = [widths(20n, 64n, 128n, 140n), widths(20n, 64n)];
    fc.assert(
      fc.property(
        fc.record({
          amount,
          back: amount,
          notional: loss,
          gapLoss: loss,
          chance: fc.integer({ min: 1, max: 10_000 }),
          side: fc.constantFrom('buy' as const, 'sell' as const),
        }),
        (a) => {
          const { ledger } = createWorld({});
          ledger.apply({ type: 'deposited', id: 'd', chainId: 2, token: TOKENS[0], amount: 2n ** 141n });
          const request: HoldRequest = {
            orderId: 'q',
            chainId: 2,
            token: TOKENS[0],
            amount: a.amount,
            input: { chainId: 1, token: TOKENS[1], amount: a.back },
            group: 'n',
            lapsesAt: 2_000,
            clockChainId: 2,
            taker: 't',
            pair: 'WETH/USDC',
            side: a.side,
            notional: a.notional,
            gapLoss: a.gapLoss,
            fillProbabilityBps: a.chance,
          };
          expect(ledger.hold(request, 1_000)).toEqual({ held: true });
          expect(ledger.quote('q')).toEqual({ request, state: 'held' });
          ledger.apply({ type: 'accepted', orderId: 'q' });
          expect(ledger.quote('q')).toEqual({ request, state: 'accepted' });
          expect(ledger.openPromises()).toEqual([request]);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
