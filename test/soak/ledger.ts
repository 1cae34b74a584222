/**
 * Runs the ledger through random events with a taker who accepts all it can. After every event the invariants
 * are checked against the world's own state, never against the ledger's word alone.
 */

import type { HoldRequest, LedgerEvent } from '../../src/inventory/event.ts';
import {
  type BucketConfig,
  createLedger,
  type Ledger,
  type LedgerOptions,
} from '../../src/inventory/ledger.ts';
import { restoreLedger } from '../support/restore-ledger.ts';
import type { Cap, Limits } from '../../src/inventory/limits.ts';
import type { LedgerSnapshot } from '../../src/inventory/snapshot.ts';
import { createWorld, keyOf, seededRandom, type Signed } from './world.ts';

const GRACE = 15;
const LONGEST = 60;
/** Longer than the longest tenor, as the escrow's withdrawal delay. */
const DELAY = 100;
const CHAINS = [1, 2] as const;
const TOKENS = [
  ['USDC', 6],
  ['WETH', 18],
  ['DAI', 18],
] as const;
const BUCKETS: BucketConfig[] = CHAINS.flatMap((chainId) =>
  TOKENS.map(([asset, decimals], at) => ({
    chainId,
    token: `0x${String(at + 1).repeat(40)}` as const,
    asset,
    decimals,
    buffer: at === 0 ? 50n : 0n,
  })),
);
const PLACES = BUCKETS.map((bucket) => ({ ...bucket, key: keyOf(bucket) }));
const CAPS = {
  perTaker: { count: 30, notional: 2_000n },
  perTakerPair: { count: 6 },
  perPairSide: { notional: 700n, gapLoss: 250n },
  perAssetSide: { gapLoss: 500n },
  total: { count: 100, notional: 6_000n, gapLoss: 1_900n },
} satisfies Limits;

export interface SoakReport {
  ok: true;
  events: number;
  seed: number;
  quotes: number;
  refusals: number;
  fills: number;
  reorgs: number;
  onslaughts: number;
  restarts: number;
  crashes: number;
  mostLive: number;
  checks: number;
  seconds: number;
}

/** What a test may break, to prove that it is reported. */
export type Sabotage = (ledger: Ledger) => Ledger;

/** Throws at the first broken invariant, with its name, the event, and the seed to repeat the run. */
export function soak({
  events: wanted,
  seed,
  sabotage = (ledger) => ledger,
}: {
  events: number;
  seed: number;
  sabotage?: Sabotage;
}): SoakReport {
  const startedMs = performance.now();
  const random = seededRandom(seed);
  const world = createWorld(BUCKETS, random);
  let segment: LedgerEvent[] = [];
  const options: LedgerOptions = {
    buckets: BUCKETS,
    graceSeconds: () => GRACE,
    limits: CAPS,
    rememberSeconds: 30,
    rememberSpentSeconds: 40,
    onEvent: (event) => segment.push(event),
  };
  const { onEvent: _, ...silent } = options;
  let ledger = sabotage(createLedger(options));
  let start: LedgerSnapshot = ledger.snapshot();
  let last: unknown;
  let serial = 0;
  /** Nothing may be signed on a chain before this time, because the ledger lost its record of live quotes. */
  let quarantine = 0;
  let forgotten = new Set<Signed>();
  const withdrawals: { id: string; bucket: BucketConfig; amount: bigint; readyAt: number }[] = [];
  const count = {
    events: 0,
    quotes: 0,
    refusals: 0,
    fills: 0,
    reorgs: 0,
    onslaughts: 0,
    restarts: 0,
    crashes: 0,
    mostLive: 0,
    checks: 0,
  };

  function demand(holds: boolean, invariant: string, facts?: unknown): asserts holds {
    if (holds) return;
    const text = (value: unknown) =>
      JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? `${each}n` : each));
    throw new Error(`${invariant} (event ${count.events}, seed ${seed}): ${text(facts)} after ${text(last)}`);
  }

  const stateOf = (each: Signed) => ledger.quote(each.request.orderId)?.state;
  const pick = <T>(list: readonly T[]): T => list[random.int(list.length)] as T;

  /* Delivers events to the ledger, and checks it after each. */

  function apply(event: LedgerEvent): void {
    last = event;
    count.events += 1;
    if (
      forgotten.size > 0 &&
      'orderId' in event &&
      event.type !== 'released' &&
      ledger.quote(event.orderId) === undefined
    ) {
      // Accepted, then lost in a crash: the order on chain shows its state.
      for (const { request } of forgotten)
        if (request.orderId === event.orderId) ledger.apply({ type: 'restored', request });
    }
    ledger.apply(event);
    look();
  }

  function advance(): void {
    for (const chainId of CHAINS) {
      last = { type: 'time', chainId, now: world.known(chainId) };
      count.events += 1;
      ledger.advance(chainId, world.known(chainId));
    }
    look();
  }

  /** 1, 2 and 8: after every event, by the world's balances and the ledger's sums. */
  function look(): void {
    count.checks += 1;
    for (const { key, chainId, token } of PLACES) {
      const balance = world.balances.get(key) ?? 0n;
      const owed = world.owed.get(key) ?? 0n;
      if (balance < owed) demand(false, '2: not every live quote can be paid', { key, balance, owed });
      const view = ledger.bucket(chainId, token);
      demand(view !== undefined, 'a bucket is gone', key);
      const { free, onchain, pendingOut, committed, held, receivable, overdue, withdrawing, shortfall } =
        view;
      demand(
        free >= 0n &&
          onchain >= 0n &&
          pendingOut >= 0n &&
          committed >= 0n &&
          held >= 0n &&
          receivable >= overdue &&
          overdue >= 0n &&
          withdrawing >= 0n,
        '1: below zero',
        view,
      );
      demand(shortfall === 0n, '1: promises exceed the money', view);
    }
    if (ledger.live > count.mostLive) count.mostLive = ledger.live;
  }

  /* What happens */

  function quote(): void {
    const out = pick(BUCKETS);
    const into = pick(BUCKETS.filter(({ asset, chainId }) => asset !== out.asset || chainId !== out.chainId));
    const nonce = ++serial;
    const amount = BigInt(1 + random.int(120));
    const taker = `t${random.int(4)}`;
    // One request, several tenors, all under one nonce.
    for (let point = random.chance(40) ? 1 + random.int(3) : 1; point > 0; point -= 1) {
      const lapsesAt = world.nowOf(into.chainId) + 1 + random.int(LONGEST);
      const side = random.chance(50) ? 'buy' : 'sell';
      const request: HoldRequest = {
        orderId: `q${++serial}`,
        chainId: out.chainId,
        token: out.token,
        amount: amount + BigInt(random.int(3)),
        input: { chainId: into.chainId, token: into.token, amount: amount / 2n + 1n },
        group: `${into.chainId}:${taker}:${nonce}`,
        lapsesAt,
        taker,
        pair: `${out.asset}-${into.asset}`,
        side,
        notional: amount + BigInt(random.int(5)),
        gapLoss: BigInt(random.int(40)),
        fillProbabilityBps: 1 + random.int(10_000),
      };
      if (world.known(into.chainId) <= quarantine) return;
      last = request;
      count.events += 1;
      const before = ledger.free(out.chainId, out.token);
      const answer = ledger.hold(request, world.known(into.chainId));
      if ('held' in answer) {
        count.quotes += 1;
        world.sign(request);
      } else {
        count.refusals += 1;
        // 8: a hold refused for lack of inventory exceeds what is free, and the reported size is what is
        // free.
        if (answer.declined === 'no_inventory')
          demand(
            answer.maxAmount !== undefined && answer.maxAmount < request.amount && answer.maxAmount >= before,
            '8: refused for want of what is there',
            answer,
          );
      }
      look();
    }
  }

  function award(each: Signed): void {
    const before = stateOf(each);
    last = { type: 'accepted', orderId: each.request.orderId };
    count.events += 1;
    const held = ledger.bucket(each.request.chainId, each.request.token);
    const answer = ledger.apply({ type: 'accepted', orderId: each.request.orderId });
    if (before !== 'expired') return look();
    // 7
    demand(
      !answer.applied && (answer.why === 'duplicate' || (answer.why === 'late' && answer.critical)),
      '7: a late acceptance was taken',
      answer,
    );
    const after = ledger.bucket(each.request.chainId, each.request.token);
    demand(
      held?.held === after?.held && held?.committed === after?.committed,
      '7: a late acceptance changed the books',
    );
    look();
  }

  /** The adversary executes everything it can, in any order, and we deliver what is due. */
  function onslaught(): void {
    count.onslaughts += 1;
    for (
      let open = world.signed().filter((each) => !each.opened && world.payable(each));
      open.length > 0;
      open = open.filter((each) => !each.opened && world.payable(each))
    ) {
      world.take(pick(open));
      count.fills += 1;
      for (const bucket of BUCKETS)
        demand(
          (world.balances.get(keyOf(bucket)) ?? 0n) >= 0n,
          '2: the adversary found an empty bucket',
          keyOf(bucket),
        );
    }
    settleDown();
    for (const each of world.signed()) if (each.opened && world.payable(each)) deliver(each);
    settleDown();
  }

  function deliver(each: Signed): void {
    // A fill is sent for orders that the ledger has as accepted, and for no other.
    demand(stateOf(each) === 'accepted', '5: an open order is not owed', {
      state: stateOf(each),
      orderId: each.request.orderId,
    });
    world.fill(each);
    count.fills += 1;
    demand(
      (world.balances.get(keyOf(each.request)) ?? 0n) >= 0n,
      '2: a delivery found an empty bucket',
      each.request,
    );
  }

  function hearAll(): void {
    for (const event of world.drain()) apply(event);
  }
  function settleDown(): void {
    hearAll();
    advance();
  }

  function owner(): void {
    const bucket = pick(BUCKETS);
    const { chainId, token } = bucket;
    const place = { chainId, token };
    if (random.chance(60)) {
      const event: LedgerEvent = {
        type: 'deposited',
        id: `d${++serial}`,
        ...place,
        amount: BigInt(random.int(200)),
      };
      world.move(bucket, event.amount);
      apply(event);
      if (random.chance(20)) apply(event);
    } else if (withdrawals.length < 4) {
      const request = {
        id: `w${++serial}`,
        bucket,
        amount: BigInt(random.int(300)),
        readyAt: world.nowOf(chainId) + DELAY,
      };
      withdrawals.push(request);
      apply({ type: 'withdrawal_requested', id: request.id, ...place, amount: request.amount });
    }
  }

  function withdraw(): void {
    const at = withdrawals.findIndex(({ bucket, readyAt }) => world.nowOf(bucket.chainId) >= readyAt);
    const request = withdrawals[at];
    if (request === undefined) return;
    withdrawals.splice(at, 1);
    const {
      bucket: { chainId, token },
      id,
    } = request;
    // The delay is longer than every quote signed before the request, and expired ones have been removed long
    // ago.
    buryDead();
    settleDown();
    const left = world.balances.get(keyOf(request.bucket)) ?? 0n;
    // The contract pays what is there. Later holds are covered, because the ledger excluded the withdrawal.
    const amount = random.chance(20) ? 0n : request.amount < left ? request.amount : left;
    world.move(request.bucket, -amount);
    apply({ type: 'withdrawal_ended', id, chainId, token, amount });
  }

  function buryDead(): void {
    for (const each of world.signed()) if (stateOf(each) === 'accepted') world.bury(each);
  }

  /** 3, 4, 6, 7, 9: everything recomputed from what was signed and its outcome. */
  function audit(): void {
    buryDead();
    settleDown();
    const groups = new Map<string, Signed[]>();
    for (const each of world.signed()) {
      const members = groups.get(each.request.group);
      if (members === undefined) groups.set(each.request.group, [each]);
      else members.push(each);
    }
    for (const each of world.signed()) {
      const state = stateOf(each);
      const known = world.known(each.origin);
      const dead =
        each.failed ||
        (forgotten.has(each) && state === undefined) ||
        groups.get(each.request.group)?.some((other) => other !== each && other.final) === true;
      if (each.block === undefined && !dead && known <= each.request.lapsesAt + GRACE)
        demand(state === 'held' || state === 'accepted', '6: released before its time', {
          state,
          request: each.request,
          known,
        });
      if (state === 'held')
        demand(known <= each.request.lapsesAt + GRACE, '7: held beyond its time', {
          request: each.request,
          known,
        });
      if (each.block === undefined)
        demand(
          state !== 'filled' && state !== 'fill_final' && state !== 'received',
          '4: a fill that vanished is still on the books',
          { state, request: each.request },
        );
      else
        demand(
          state === undefined ? each.claimed : ['filled', 'fill_final', 'received'].includes(state),
          '4: a fill is not on the books',
          { state, request: each.request },
        );
    }
    const sums = new Map(
      BUCKETS.map((bucket) => [keyOf(bucket), { held: 0n, committed: 0n, pendingOut: 0n }]),
    );
    const caps = new Map<string, { count: number; notional: bigint; gapLoss: bigint }>();
    let live = 0;
    for (const members of groups.values()) {
      const withStates = members.map((each) => [each.request, stateOf(each)] as const);
      if (withStates.some(([, state]) => state === 'fill_final' || state === 'received')) continue;
      for (const bucket of BUCKETS) {
        const most = (states: readonly string[]) =>
          withStates.reduce(
            (max, [request, state]) =>
              state !== undefined &&
              states.includes(state) &&
              keyOf(request) === keyOf(bucket) &&
              request.amount > max
                ? request.amount
                : max,
            0n,
          );
        const [filled, taken, all] = [
          most(['filled']),
          most(['filled', 'accepted']),
          most(['filled', 'accepted', 'held']),
        ];
        const sum = sums.get(keyOf(bucket)) as { held: bigint; committed: bigint; pendingOut: bigint };
        sum.pendingOut += filled;
        sum.committed += taken - filled;
        sum.held += all - taken;
      }
      const held = withStates.filter(([, state]) => state === 'held').map(([request]) => request);
      live += held.length;
      const counted = new Map<string, { notional: bigint; gapLoss: bigint }>();
      for (const request of held) {
        const asset = BUCKETS.find(
          (bucket) => keyOf(bucket) === keyOf(request.side === 'buy' ? request.input : request),
        )?.asset;
        for (const key of [
          'total',
          `perTaker ${request.taker}`,
          `perTakerPair ${request.taker} ${request.pair}`,
          `perPairSide ${request.pair} ${request.side}`,
          `perAssetSide ${asset} ${request.side}`,
        ]) {
          const own = counted.get(key) ?? { notional: 0n, gapLoss: 0n };
          counted.set(key, {
            notional: request.notional > own.notional ? request.notional : own.notional,
            gapLoss: (request.gapLoss ?? 0n) > own.gapLoss ? (request.gapLoss ?? 0n) : own.gapLoss,
          });
        }
      }
      for (const [key, { notional, gapLoss }] of counted) {
        const sum = caps.get(key) ?? { count: 0, notional: 0n, gapLoss: 0n };
        caps.set(key, {
          count: sum.count + 1,
          notional: sum.notional + notional,
          gapLoss: sum.gapLoss + gapLoss,
        });
      }
    }
    demand(ledger.live === live, '4: live quotes miscounted', { ledger: ledger.live, live });
    for (const [key, sum] of caps) {
      const cap: Cap = CAPS[key.split(' ')[0] as keyof typeof CAPS];
      demand(
        sum.count <= (cap.count ?? Infinity) &&
          (cap.notional === undefined || sum.notional <= cap.notional) &&
          (cap.gapLoss === undefined || sum.gapLoss <= cap.gapLoss),
        '9: a cap is broken',
        { key, sum },
      );
    }
    for (const bucket of BUCKETS) {
      const view = ledger.bucket(bucket.chainId, bucket.token);
      const sum = sums.get(keyOf(bucket));
      demand(
        view !== undefined &&
          sum !== undefined &&
          view.held === sum.held &&
          view.committed === sum.committed &&
          view.pendingOut === sum.pendingOut,
        '4: sums are not what the quotes come to',
        { view, sum },
      );
      // 3: the sum is conserved.
      const balance = world.atDepth(bucket);
      demand(view.onchain === balance, '3: ledger and chain differ', {
        key: keyOf(bucket),
        onchain: view.onchain,
        balance,
      });
      apply({ type: 'reconciled', chainId: bucket.chainId, token: bucket.token, amount: balance });
      demand(ledger.bucket(bucket.chainId, bucket.token)?.drift === null, '3: agreement taken for drift');
    }
    world.prune(
      (each) =>
        stateOf(each) === undefined &&
        !world.payable(each) &&
        (each.block === undefined || each.claimed) &&
        world.nowOf(each.origin) > each.request.lapsesAt + GRACE,
    );
  }

  /** 3: a surplus is not credited, and freezes its bucket until it is gone. */
  function drift(): void {
    settleDown();
    const bucket = pick(BUCKETS);
    const place = { chainId: bucket.chainId, token: bucket.token };
    const before = ledger.bucket(bucket.chainId, bucket.token);
    apply({ type: 'reconciled', ...place, amount: world.atDepth(bucket) + 7n });
    const after = ledger.bucket(bucket.chainId, bucket.token);
    demand(
      after?.drift === 7n && after.onchain === before?.onchain && after.free === before.free,
      '3: a surplus was credited',
      after,
    );
    const into = BUCKETS.find((other) => other !== bucket) as BucketConfig;
    const answer = ledger.hold(
      {
        orderId: `q${++serial}`,
        ...place,
        amount: 1n,
        input: { chainId: into.chainId, token: into.token, amount: 1n },
        group: `drift ${serial}`,
        lapsesAt: world.nowOf(into.chainId) + 5,
        taker: 't',
        pair: 'p',
        side: 'buy',
        notional: 1n,
      },
      world.known(into.chainId),
    );
    demand('declined' in answer, '3: promised from a frozen bucket', answer);
    apply({ type: 'reconciled', ...place, amount: world.atDepth(bucket) });
  }

  /** 5 and 10: a clean stop and start gives the same ledger, and so does its log, replayed twice. */
  function restart(): void {
    count.restarts += 1;
    const bytes = JSON.stringify(ledger.snapshot());
    for (let turn = 0; turn < 2; turn += 1) {
      const again = restoreLedger(silent, start);
      for (const event of segment) again.apply(event);
      demand(JSON.stringify(again.snapshot()) === bytes, '10: the log tells another story');
    }
    ledger = sabotage(restoreLedger(options, JSON.parse(bytes) as LedgerSnapshot));
    demand(JSON.stringify(ledger.snapshot()) === bytes, '5: a clean start is not where the stop was');
    start = JSON.parse(bytes) as LedgerSnapshot;
    segment = [];
    look();
  }

  /**
   * 5: memory lost. Balances come from the chain, accepted orders are owed again, and other signed quotes are
   * waited out.
   */
  function crash(): void {
    settleDown();
    for (const each of world.signed()) if (each.block !== undefined) world.finalise(each);
    for (const each of world.signed()) world.claim(each);
    buryDead();
    settleDown();
    count.crashes += 1;
    // The lease covers the longest quote from now; nothing with a later deadline was ever signed.
    quarantine = Math.max(...CHAINS.map(world.nowOf)) + LONGEST + GRACE;
    const open = world.signed().filter((each) => stateOf(each) === 'accepted' && world.payable(each));
    const requested = withdrawals.map(({ id, bucket, amount }) => ({
      type: 'withdrawal_requested' as const,
      id: `${id} again`,
      chainId: bucket.chainId,
      token: bucket.token,
      amount,
    }));
    for (const request of withdrawals) request.id += ' again';
    ledger = sabotage(createLedger(options));
    start = ledger.snapshot();
    segment = [];
    for (const bucket of BUCKETS)
      ledger.apply({
        type: 'deposited',
        id: `start ${++serial}`,
        chainId: bucket.chainId,
        token: bucket.token,
        amount: world.balances.get(keyOf(bucket)) ?? 0n,
      });
    for (const { request } of open) ledger.apply({ type: 'restored', request });
    for (const event of requested) ledger.apply(event);
    for (const chainId of CHAINS) ledger.advance(chainId, world.known(chainId));
    // A hold that was only held is forgotten, but its taker may still accept it until it has expired.
    forgotten = new Set(world.signed().filter((each) => !open.includes(each)));
    look();
  }

  for (const bucket of BUCKETS) {
    world.move(bucket, 2_000n);
    apply({
      type: 'deposited',
      id: `opening ${keyOf(bucket)}`,
      chainId: bucket.chainId,
      token: bucket.token,
      amount: 2_000n,
    });
  }

  for (let step = 1; count.events < wanted; step += 1) {
    const roll = random.int(100);
    const each = world.any();
    if (roll < 38 || each === undefined) quote();
    else if (roll < 50) award(each);
    else if (roll < 60) {
      if (!each.opened && world.payable(each)) {
        count.fills += 1;
        world.take(each);
      }
    } else if (roll < 66) {
      if (each.opened && world.payable(each) && stateOf(each) === 'accepted') deliver(each);
    } else if (roll < 70) world.finalise(each);
    else if (roll < 74) world.claim(each);
    else if (roll < 76) {
      if (each.block !== undefined && !each.final) {
        count.reorgs += 1;
        world.reorg(each);
      }
    } else if (roll < 91) {
      const event = world.hear();
      if (event !== undefined) apply(event);
    } else if (roll < 93) owner();
    else if (roll < 94) withdraw();
    else if (roll < 95) {
      if (ledger.quote(each.request.orderId) !== undefined)
        apply({ type: 'overdue', orderId: each.request.orderId });
    } else {
      world.tick(1 + random.int(2));
      advance();
    }
    if (world.rumours() > 150) hearAll();
    if (step % 3_001 === 0) onslaught();
    if (step % 5_003 === 0) audit();
    if (step % 7_001 === 0) drift();
    if (step % 30_011 === 0) restart();
    if (step % 20_011 === 0) crash();
    if (forgotten.size > 0 && Math.min(...CHAINS.map(world.known)) > quarantine) forgotten = new Set();
  }
  audit();
  restart();
  return { ok: true, seed, ...count, seconds: Math.round((performance.now() - startedMs) / 10) / 100 };
}
