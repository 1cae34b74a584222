import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { HoldRequest, LedgerEvent } from './event.ts';
import { createLedger, type LedgerOptions } from './ledger.ts';
import { replay, restoreLedger } from '../../test/support/restore-ledger.ts';

const USDC = `0x${'a'.repeat(40)}` as const;
const WETH = `0x${'b'.repeat(40)}` as const;

const options: LedgerOptions = {
  buckets: [
    { chainId: 1, token: USDC, asset: 'USDC', decimals: 6, buffer: 100n },
    { chainId: 1, token: WETH, asset: 'WETH', decimals: 18 },
    { chainId: 2, token: USDC, asset: 'USDC', decimals: 6 },
  ],
  graceSeconds: () => 15,
  limits: {},
};

const request = (orderId: string, amount: bigint, change: Partial<HoldRequest> = {}): HoldRequest => ({
  orderId,
  chainId: 1,
  token: USDC,
  amount,
  input: { chainId: 1, token: WETH, amount: 7n },
  group: `nonce of ${orderId}`,
  lapsesAt: 1_060,
  taker: 'alice',
  pair: 'WETH/USDC',
  side: 'buy',
  notional: amount,
  ...change,
});

function funded(change: Partial<LedgerOptions> = {}) {
  const ledger = createLedger({ ...options, ...change });
  ledger.apply({ type: 'deposited', id: 'd1', chainId: 1, token: USDC, amount: 1_100n });
  return ledger;
}
const view = (ledger: ReturnType<typeof createLedger>, token: typeof USDC | typeof WETH = USDC) => {
  const { onchain, pendingOut, committed, held, receivable, free } = ledger.bucket(1, token) ?? expect.fail();
  return { onchain, pendingOut, committed, held, receivable, free };
};

test('names the fullest cap and its use', () => {
  const ledger = funded({ limits: { perTaker: { count: 10, notional: 1_000n }, total: { count: 4 } } });
  ledger.hold(request('a', 100n), 1_000);
  expect(ledger.fullestCap('a')).toEqual({ scope: 'total', what: 'count', used: 1n, cap: 4n });
  ledger.hold(request('b', 400n, { group: 'nonce of a' }), 1_000);
  // One nonce counts once, with its largest.
  expect(ledger.fullestCap('b')).toEqual({ scope: 'perTaker', what: 'notional', used: 400n, cap: 1_000n });
  expect(ledger.fullestCap('nobody')).toBeUndefined();
  const free = funded();
  free.hold(request('c', 100n), 1_000);
  expect(free.fullestCap('c')).toBeUndefined();
});

test('law: each cap counts a live nonce group once, with its largest hold', () => {
  const arbStep = fc.record({
    group: fc.integer({ min: 0, max: 3 }),
    taker: fc.integer({ min: 0, max: 2 }),
    pair: fc.integer({ min: 0, max: 2 }),
    side: fc.constantFrom('buy' as const, 'sell' as const),
    amount: fc.bigInt(1n, 9n),
    ends: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(arbStep, { maxLength: 60 }), (steps) => {
      const ledger = funded();
      let live: HoldRequest[] = [];
      for (const [at, { group, taker, pair, side, amount, ends }] of steps.entries()) {
        if (ends % 3 === 0 && live.length > 0) {
          const { orderId } = live[ends % live.length] as HoldRequest;
          ledger.apply({ type: 'released', orderId });
          live = live.filter((each) => each.orderId !== orderId);
        } else {
          const asked = request(`q${at}`, amount, {
            group: `nonce ${group}`,
            taker: `taker ${taker}`,
            pair: `P${pair}`,
            side,
          });
          if ('held' in ledger.hold(asked, 1_000)) live.push(asked);
        }
        const expected = new Map<string, { count: number; notional: bigint }>();
        const largest = new Map<string, bigint>();
        for (const { group: nonce, taker: by, pair: of, side: on, notional } of live) {
          for (const name of [
            'total',
            `perTaker ${by}`,
            `perTakerPair ${by} ${of}`,
            `perPair ${of}`,
            `perPairSide ${of} ${on}`,
          ]) {
            const before = largest.get(`${nonce} ${name}`) ?? 0n;
            const more = notional > before ? notional - before : 0n;
            const known = expected.get(name) ?? { count: 0, notional: 0n };
            expected.set(name, {
              count: known.count + (before === 0n ? 1 : 0),
              notional: known.notional + more,
            });
            largest.set(`${nonce} ${name}`, before + more);
          }
        }
        const shown: typeof expected = new Map();
        ledger.visitCounters((scope, { count, notional }, ...of) => {
          if (scope !== 'perAssetSide') shown.set([scope, ...of].join(' ').trim(), { count, notional });
        });
        expect(shown).toEqual(expected);
      }
    }),
  );
});

test('a hold that becomes live again counts with the newer holds of its taker', () => {
  const ledger = funded({ limits: { perTaker: { count: 2 } } });
  const ofAlice = () => {
    const found: object[] = [];
    ledger.visitCounters((scope, { count, notional }, of) => {
      if (scope === 'perTaker') found.push({ of, count, notional });
    });
    return found;
  };
  ledger.hold(request('a', 100n, { group: 'one nonce' }), 1_000);
  ledger.hold(request('b', 150n, { group: 'one nonce' }), 1_000);
  ledger.apply({ type: 'fill_final', orderId: 'a', id: 'block1:tx' });
  expect(ofAlice()).toEqual([]);
  ledger.hold(request('c', 200n), 1_000);
  // Deeper than anybody thought: the nonce is free again.
  ledger.apply({ type: 'reorged', orderId: 'a', id: 'block1:tx' });
  expect(ofAlice()).toEqual([{ of: 'alice', count: 2, notional: 350n }]);
  expect(ledger.hold(request('d', 100n), 1_000)).toMatchObject({ declined: 'limit', control: 'limit_taker' });
  ledger.apply({ type: 'released', orderId: 'c' });
  expect(ofAlice()).toEqual([{ of: 'alice', count: 1, notional: 150n }]);
  expect(ledger.hold(request('d', 100n), 1_000)).toEqual({ held: true });
});

describe('life of a hold', () => {
  test('held, accepted, filled, final fill, received', () => {
    const ledger = funded();
    expect(ledger.hold(request('q', 400n), 1_000)).toEqual({ held: true });
    expect(view(ledger)).toEqual({
      onchain: 1_100n,
      pendingOut: 0n,
      committed: 0n,
      held: 400n,
      receivable: 0n,
      free: 600n,
    });
    expect(ledger.live).toBe(1);
    ledger.apply({ type: 'accepted', orderId: 'q' });
    expect(view(ledger)).toEqual({
      onchain: 1_100n,
      pendingOut: 0n,
      committed: 400n,
      held: 0n,
      receivable: 0n,
      free: 600n,
    });
    expect(ledger.live).toBe(0);
    ledger.apply({ type: 'filled', orderId: 'q', id: 'block1:tx' });
    expect(view(ledger)).toEqual({
      onchain: 1_100n,
      pendingOut: 400n,
      committed: 0n,
      held: 0n,
      receivable: 0n,
      free: 600n,
    });
    expect(view(ledger, WETH).receivable).toBe(7n);
    ledger.apply({ type: 'fill_final', orderId: 'q', id: 'block1:tx' });
    expect(view(ledger)).toEqual({
      onchain: 700n,
      pendingOut: 0n,
      committed: 0n,
      held: 0n,
      receivable: 0n,
      free: 600n,
    });
    ledger.apply({ type: 'finalised', orderId: 'q', id: 'block1:tx', received: 6n });
    expect(view(ledger, WETH)).toEqual({
      onchain: 6n,
      pendingOut: 0n,
      committed: 0n,
      held: 0n,
      receivable: 0n,
      free: 6n,
    });
    expect(ledger.quote('q')?.state).toBe('received');
    // Forgotten later, the money stays where it went.
    ledger.advance(1, 2_000);
    ledger.advance(1, 3_000);
    expect(ledger.quote('q')).toBeUndefined();
    expect(view(ledger).onchain).toBe(700n);
    expect(view(ledger, WETH).onchain).toBe(6n);
  });

  test('a reorganised fill is accepted again, also when the reorg event arrives first', () => {
    const ledger = funded();
    ledger.hold(request('q', 400n), 1_000);
    ledger.apply({ type: 'accepted', orderId: 'q' });
    ledger.apply({ type: 'reorged', orderId: 'q', id: 'gone' });
    ledger.apply({ type: 'filled', orderId: 'q', id: 'gone' });
    expect(ledger.quote('q')?.state).toBe('accepted');
    ledger.apply({ type: 'filled', orderId: 'q', id: 'again' });
    expect(ledger.quote('q')?.state).toBe('filled');
  });

  test('lists fills that are not final, and remembers reorganised facts', () => {
    const ledger = funded();
    for (const orderId of ['q', 'r']) ledger.hold(request(orderId, 100n), 1_000);
    ledger.apply({ type: 'filled', orderId: 'q', id: 'gone' });
    ledger.apply({ type: 'filled', orderId: 'r', id: 'deep' });
    ledger.apply({ type: 'fill_final', orderId: 'r', id: 'deep' });
    expect(ledger.unfinalFills(1)).toEqual([{ orderId: 'q', id: 'gone' }]);
    expect(ledger.unfinalFills(2)).toEqual([]);
    ledger.apply({ type: 'reorged', orderId: 'q', id: 'gone' });
    expect([
      ledger.isReorganised('q', 'gone'),
      ledger.isReorganised('q', 'gone#2'),
      ledger.isReorganised('nobody', 'gone'),
    ]).toEqual([true, false, false]);
    expect(ledger.unfinalFills(1)).toEqual([]);
    // The same block, back again: said under another name, it stands.
    ledger.apply({ type: 'filled', orderId: 'q', id: 'gone#2' });
    expect(ledger.unfinalFills(1)).toEqual([{ orderId: 'q', id: 'gone#2' }]);
  });

  test('expires only after the last second and the grace by chain time', () => {
    const ledger = funded();
    ledger.hold(request('q', 400n), 1_000);
    expect(ledger.advance(1, 1_075)).toBe(0);
    expect(ledger.free(1, USDC)).toBe(600n);
    expect(ledger.advance(1, 1_076)).toBe(1);
    expect(ledger.free(1, USDC)).toBe(1_000n);
    expect(ledger.quote('q')?.state).toBe('expired');
    expect(ledger.apply({ type: 'accepted', orderId: 'q' })).toEqual({
      applied: false,
      why: 'late',
      critical: true,
    });
    expect(view(ledger).committed).toBe(0n);
  });

  test('a fill after the hold expired still counts', () => {
    const ledger = funded();
    ledger.hold(request('q', 400n), 1_000);
    ledger.advance(1, 1_076);
    ledger.apply({ type: 'filled', orderId: 'q', id: 'late' });
    expect(view(ledger)).toMatchObject({ pendingOut: 400n, free: 600n });
  });

  test('a fill after expiry that is reorganised away stays accepted until it is proven dead', () => {
    const ledger = funded();
    ledger.hold(request('q', 400n), 1_000);
    ledger.advance(1, 1_076);
    ledger.apply({ type: 'filled', orderId: 'q', id: 'late' });
    ledger.apply({ type: 'reorged', orderId: 'q', id: 'late' });
    expect(view(ledger)).toMatchObject({ committed: 400n, free: 600n });
    ledger.apply({ type: 'failed', orderId: 'q' });
    expect(ledger.free(1, USDC)).toBe(1_000n);
  });

  test('when a received order is forgotten, the other holds of its nonce stay dead', () => {
    const ledger = funded();
    const shared = { group: '1:alice:77' };
    ledger.hold(request('short', 300n, shared), 1_000);
    ledger.hold(request('long', 900n, { ...shared, lapsesAt: 5_000 }), 1_000);
    for (const type of ['filled', 'fill_final'] as const) ledger.apply({ type, orderId: 'short', id: 'x' });
    ledger.apply({ type: 'finalised', orderId: 'short', id: 'x', received: 7n });
    ledger.advance(1, 2_000);
    expect(ledger.quote('short')).toBeUndefined();
    expect(ledger.quote('long')?.state).toBe('released');
    expect(view(ledger)).toMatchObject({ onchain: 800n, held: 0n, free: 700n });
  });

  test('accepted, then failed: the output is free again', () => {
    const ledger = funded();
    ledger.hold(request('q', 400n), 1_000);
    ledger.apply({ type: 'accepted', orderId: 'q' });
    ledger.apply({ type: 'failed', orderId: 'q' });
    expect(ledger.free(1, USDC)).toBe(1_000n);
  });

  test('restored after a crash: accepted whatever is free', () => {
    const ledger = createLedger(options);
    ledger.apply({ type: 'restored', request: request('q', 400n) });
    expect(ledger.bucket(1, USDC)).toMatchObject({ committed: 400n, free: 0n, shortfall: 400n });
    ledger.apply({ type: 'deposited', id: 'opening', chainId: 1, token: USDC, amount: 1_100n });
    expect(ledger.bucket(1, USDC)).toMatchObject({ committed: 400n, free: 600n, shortfall: 0n });
  });
});

describe('hold', () => {
  test('no_inventory names the largest output that would pass', () => {
    const ledger = funded();
    ledger.hold(request('q', 400n), 1_000);
    expect(ledger.hold(request('r', 601n), 1_000)).toEqual({ declined: 'no_inventory', maxAmount: 600n });
    expect(ledger.hold(request('r', 600n), 1_000)).toEqual({ held: true });
    expect(ledger.hold(request('s', 1n), 1_000)).toEqual({ declined: 'no_inventory', maxAmount: 0n });
  });

  test('a nonce group holds its largest quote and ends when the nonce is used', () => {
    const ledger = funded();
    const shared = { group: '1:alice:77' };
    ledger.hold(request('a', 900n, shared), 1_000);
    expect(ledger.hold(request('b', 1_000n, shared), 1_000)).toEqual({ held: true });
    expect(ledger.hold(request('c', 1_001n, shared), 1_000)).toEqual({
      declined: 'no_inventory',
      maxAmount: 1_000n,
    });
    expect(view(ledger)).toMatchObject({ held: 1_000n, free: 0n });
    ledger.apply({ type: 'accepted', orderId: 'a' });
    expect(view(ledger)).toMatchObject({ held: 100n, committed: 900n, free: 0n });
    ledger.apply({ type: 'filled', orderId: 'a', id: 'x' });
    expect(view(ledger)).toMatchObject({ held: 100n, pendingOut: 900n, free: 0n });
    ledger.apply({ type: 'fill_final', orderId: 'a', id: 'x' });
    expect(view(ledger)).toEqual({
      onchain: 200n,
      pendingOut: 0n,
      committed: 0n,
      held: 0n,
      receivable: 0n,
      free: 100n,
    });
    expect(ledger.hold(request('d', 1n, shared), 1_000)).toMatchObject({ declined: 'validity' });
  });

  test('a repeated request is held once; a different one under its order id is declined', () => {
    const ledger = funded();
    ledger.hold(request('q', 400n), 1_000);
    expect(ledger.hold(request('q', 400n), 1_001)).toEqual({ held: true });
    expect(view(ledger).held).toBe(400n);
    expect(ledger.hold(request('q', 401n), 1_001)).toMatchObject({ declined: 'internal' });
  });

  test.each([
    ['perTaker count', { perTaker: { count: 1 } }, 0n],
    ['perTakerPair count', { perTakerPair: { count: 1 } }, 0n],
    ['total notional', { total: { notional: 450n } }, 50n],
    ['perPairSide notional', { perPairSide: { notional: 450n } }, 50n],
    ['the tightest speaks', { perPair: { notional: 500n }, total: { notional: 450n } }, 50n],
  ])('limit: %s', (_name, limits, maxAmount) => {
    const ledger = funded({ limits });
    ledger.hold(request('q', 400n), 1_000);
    expect(ledger.hold(request('r', 100n), 1_000)).toMatchObject({ declined: 'limit', maxAmount });
    if (maxAmount > 0n) expect(ledger.hold(request('r', maxAmount), 1_000)).toEqual({ held: true });
  });

  describe('loss by a jump', () => {
    const cap = (limits: LedgerOptions['limits']) => funded({ limits });
    const risky = (id: string, gapLoss: bigint, change: Partial<HoldRequest> = {}) =>
      request(id, 100n, { gapLoss, ...change });

    test.each([
      ['pair and side', { perPairSide: { gapLoss: 50n } }, 'perPairSide'],
      ['asset and side, over all pairs', { perAssetSide: { gapLoss: 50n } }, 'perAssetSide'],
      ['the whole book', { total: { gapLoss: 50n } }, 'total'],
    ])('is counted per %s', (_name, limits, scope) => {
      const ledger = cap(limits);
      expect(ledger.hold(risky('a', 40n), 1_000)).toEqual({ held: true });
      expect(ledger.hold(risky('b', 20n), 1_000)).toEqual({
        declined: 'limit',
        control: 'gap_loss',
        detail: `${scope}: loss by a jump`,
        maxAmount: 50n,
      });
      expect(ledger.hold(risky('b', 10n, { amount: 50n }), 1_000)).toEqual({ held: true });
      // Full to the brim: what costs nothing still passes.
      expect(ledger.hold(risky('c', 0n), 1_000)).toEqual({ held: true });
      expect(ledger.hold(risky('d', 1n), 1_000)).toMatchObject({ declined: 'limit', maxAmount: 0n });
      ledger.advance(1, 1_076);
      expect(ledger.hold(risky('e', 50n, { lapsesAt: 2_000 }), 1_076)).toEqual({ held: true });
    });

    test('each side and each asset has its own budget', () => {
      const ledger = cap({ perAssetSide: { gapLoss: 50n } });
      for (const [chainId, token] of [
        [1, WETH],
        [2, USDC],
      ] as const)
        ledger.apply({ type: 'deposited', id: `${chainId}`, chainId, token, amount: 1_000n });
      expect(ledger.hold(risky('buy', 50n), 1_000)).toEqual({ held: true });
      expect(ledger.hold(risky('buy by another pair', 1n, { pair: 'WETH/DAI' }), 1_000)).toMatchObject({
        control: 'gap_loss',
      });
      const back = { token: WETH, input: { chainId: 1, token: USDC, amount: 7n } };
      expect(ledger.hold(risky('sell', 50n, { side: 'sell', ...back }), 1_000)).toEqual({ held: true });
      expect(
        ledger.hold(
          risky('buy another asset', 50n, {
            pair: 'USDC/USDC',
            input: { chainId: 2, token: USDC, amount: 7n },
          }),
          1_000,
        ),
      ).toEqual({ held: true });
    });

    test('a nonce group counts once, with its largest loss', () => {
      const ledger = cap({ perPairSide: { gapLoss: 50n } });
      const shared = { group: '1:alice:77' };
      ledger.hold(risky('a', 30n, shared), 1_000);
      expect(ledger.hold(risky('b', 50n, shared), 1_000)).toEqual({ held: true });
      expect(ledger.hold(risky('c', 51n, shared), 1_000)).toMatchObject({ control: 'gap_loss' });
      expect(ledger.hold(risky('d', 1n), 1_000)).toMatchObject({ control: 'gap_loss' });
      ledger.apply({ type: 'released', orderId: 'b' });
      expect(ledger.hold(risky('d', 20n), 1_000)).toEqual({ held: true });
    });
  });

  test.each([
    ['limit_total', { total: { count: 1 } }],
    ['limit_taker', { perTaker: { notional: 400n } }],
    ['limit_taker_pair', { perTakerPair: { count: 1 } }],
    ['limit_pair', { perPair: { count: 1 } }],
    ['limit_side', { perPairSide: { notional: 450n } }],
    ['limit_side', { perAssetSide: { count: 1 } }],
  ])('a refusal names the control: %s', (control, limits) => {
    const ledger = funded({ limits });
    ledger.hold(request('q', 400n), 1_000);
    expect(ledger.hold(request('r', 100n), 1_000)).toMatchObject({ declined: 'limit', control });
  });

  test('a nonce group counts once', () => {
    const ledger = funded({ limits: { perTaker: { count: 1, notional: 500n } } });
    const shared = { group: '1:alice:77' };
    ledger.hold(request('a', 400n, shared), 1_000);
    expect(ledger.hold(request('b', 500n, shared), 1_000)).toEqual({ held: true });
    expect(ledger.hold(request('c', 1n), 1_000)).toMatchObject({ declined: 'limit' });
    expect(ledger.hold(request('d', 1n, { taker: 'bob' }), 1_000)).toEqual({ held: true });
  });

  test('declines a past deadline, an unknown bucket and a frozen bucket', () => {
    const ledger = funded();
    expect(ledger.hold(request('q', 1n, { lapsesAt: 1_000 }), 1_000)).toMatchObject({ declined: 'validity' });
    expect(ledger.hold(request('q', 1n, { chainId: 9 }), 1_000)).toMatchObject({ declined: 'pair' });
    ledger.apply({ type: 'reconciled', chainId: 1, token: USDC, amount: 1_101n });
    expect(ledger.bucket(1, USDC)?.drift).toBe(1n);
    expect(ledger.hold(request('q', 1n), 1_000)).toMatchObject({ declined: 'standby' });
    ledger.apply({ type: 'reconciled', chainId: 1, token: USDC, amount: 1_100n });
    expect(ledger.hold(request('q', 1n), 1_000)).toEqual({ held: true });
  });
});

test('many holds that expire in one second end in steps; a snapshot ends the rest', () => {
  const log: LedgerEvent[] = [];
  const ledger = createLedger({ ...options, onEvent: (event) => log.push(event) });
  ledger.apply({ type: 'deposited', id: 'd', chainId: 1, token: USDC, amount: 10_000n });
  for (let at = 0; at < 3_500; at++) ledger.hold(request(`q${at}`, 1n), 1_000);
  expect([1, 2].map(() => ledger.advance(1, 1_076))).toEqual([50, 50]);
  expect(ledger.hasBacklog(1)).toBe(true);
  ledger.hold(request('next', 1n, { lapsesAt: 2_000 }), 1_076);
  // A quote that comes meanwhile waits for a few of them only.
  expect(ledger.live).toBe(3_500 - 100 - 8 + 1);
  const bytes = JSON.stringify(ledger.snapshot());
  expect(ledger.live).toBe(1);
  expect(JSON.stringify(replay(options, log).snapshot())).toBe(bytes);
});

describe('owner', () => {
  test('a requested withdrawal is not free, and signed quotes stay payable', () => {
    const ledger = funded();
    ledger.hold(request('q', 400n), 1_000);
    const money = { id: 'w', chainId: 1, token: USDC };
    ledger.apply({ type: 'withdrawal_requested', ...money, amount: 900n });
    expect(ledger.bucket(1, USDC)).toMatchObject({ withdrawing: 900n, free: 0n, shortfall: 0n });
    expect(ledger.hold(request('r', 1n), 1_000)).toEqual({ declined: 'no_inventory', maxAmount: 0n });
    ledger.apply({ type: 'withdrawal_ended', ...money, amount: 700n });
    expect(ledger.bucket(1, USDC)).toMatchObject({ onchain: 400n, withdrawing: 0n, shortfall: 0n });
  });

  test('a deposit counts once', () => {
    const ledger = funded();
    expect(
      ledger.apply({ type: 'deposited', id: 'd1', chainId: 1, token: USDC, amount: 1_100n }),
    ).toMatchObject({ applied: false, why: 'duplicate' });
    expect(view(ledger).onchain).toBe(1_100n);
  });
});

test('exposure: all chains, receivables, accepted orders, and live quotes by chance of acceptance', () => {
  const ledger = funded();
  ledger.apply({ type: 'deposited', id: 'd2', chainId: 2, token: USDC, amount: 1_000_000n });
  expect(ledger.exposure('USDC').owned).toBe(1_001_100n * 10n ** 12n);
  ledger.hold(request('q', 400n, { fillProbabilityBps: 2_500 }), 1_000);
  expect(ledger.exposure('USDC')).toEqual({
    owned: 1_001_100n * 10n ** 12n,
    committed: 0n,
    quoted: -100n * 10n ** 12n,
    total: 1_001_000n * 10n ** 12n,
  });
  expect(ledger.exposure('WETH').quoted).toBe(1n);
  ledger.apply({ type: 'accepted', orderId: 'q' });
  expect(ledger.exposure('WETH')).toEqual({ owned: 0n, committed: 7n, quoted: 0n, total: 7n });
  ledger.apply({ type: 'filled', orderId: 'q', id: 'x' });
  expect(ledger.exposure('WETH')).toEqual({ owned: 7n, committed: 0n, quoted: 0n, total: 7n });
  expect(ledger.exposure('USDC').total).toBe(1_000_700n * 10n ** 12n);
});

test('exposure: a nonce group weighs once, by its largest and then its likeliest hold', () => {
  const ledger = funded();
  const point = (orderId: string, chance: number, change: Partial<HoldRequest> = {}) =>
    request(orderId, 400n, { group: '1:alice:77', notional: 400n, fillProbabilityBps: chance, ...change });
  for (const [orderId, chance] of [
    ['a', 2_000],
    ['b', 5_000],
    ['c', 1_000],
  ] as const)
    ledger.hold(point(orderId, chance), 1_000);
  expect(ledger.bucket(1, USDC)?.held).toBe(400n);
  expect(ledger.exposure('USDC').quoted).toBe(-200n * 10n ** 12n);
  ledger.hold(point('larger', 1_000, { amount: 500n, notional: 500n }), 1_000);
  expect(ledger.bucket(1, USDC)?.held).toBe(500n);
  expect(ledger.exposure('USDC').quoted).toBe(-50n * 10n ** 12n);
  // Taken: what was taken counts in full, the others not at all.
  ledger.apply({ type: 'accepted', orderId: 'a' });
  expect(ledger.exposure('USDC')).toMatchObject({ committed: -400n * 10n ** 12n, quoted: 0n });
});

test('exposure: buying and selling one asset cancel across chains', () => {
  const ledger = funded();
  ledger.apply({ type: 'deposited', id: 'w', chainId: 1, token: WETH, amount: 1_000n });
  ledger.hold(request('we buy', 400n), 1_000);
  expect(ledger.exposure('WETH').quoted).toBe(7n);
  ledger.hold(
    request('we sell', 7n, { token: WETH, input: { chainId: 2, token: USDC, amount: 400n }, side: 'sell' }),
    1_000,
  );
  expect([ledger.exposure('WETH').quoted, ledger.exposure('USDC').quoted]).toEqual([0n, 0n]);
});

test('an overdue receivable does not count until it arrives', () => {
  const ledger = funded();
  ledger.hold(request('q', 400n), 1_000);
  for (const type of ['accepted', 'overdue'] as const) ledger.apply({ type, orderId: 'q' });
  expect(ledger.exposure('WETH').total).toBe(7n);
  ledger.apply({ type: 'filled', orderId: 'q', id: 'x' });
  expect(ledger.bucket(1, WETH)).toMatchObject({ receivable: 7n, overdue: 7n, free: 0n });
  expect(ledger.exposure('WETH').total).toBe(0n);
  expect(ledger.apply({ type: 'overdue', orderId: 'q' })).toMatchObject({ why: 'duplicate' });
  const again = restoreLedger(options, JSON.parse(JSON.stringify(ledger.snapshot())));
  expect(again.bucket(1, WETH)).toMatchObject({ overdue: 7n });
  for (const type of ['fill_final', 'finalised'] as const)
    ledger.apply({ type, orderId: 'q', id: 'x', received: 7n });
  expect(ledger.bucket(1, WETH)).toMatchObject({ onchain: 7n, receivable: 0n, overdue: 0n, free: 7n });
  expect(ledger.exposure('WETH').total).toBe(7n);
});

test('a snapshot in chunks restores the same ledger and fails if the ledger changes meanwhile', () => {
  const ledger = createLedger(options);
  ledger.apply({ type: 'deposited', id: 'd', chainId: 1, token: USDC, amount: 10_000n });
  for (let at = 0; at < 501; at++) ledger.hold(request(`q${at}`, 1n), 1_000);
  ledger.apply({ type: 'accepted', orderId: 'q7' });
  const { books, chunks } = ledger.snapshotChunks();
  const written = chunks.map((write) => write());
  // A transaction that starts again writes every chunk again.
  expect(chunks.map((write) => write())).toEqual(written);
  expect(written.map(({ length }) => length)).toEqual([200, 200, 101]);
  const again = createLedger(options);
  again.loadBooks(books);
  for (const chunk of written.reverse()) again.loadHolds(chunk);
  expect(again.snapshot()).toEqual(ledger.snapshot());
  expect([again.live, view(again)]).toEqual([500, view(ledger)]);

  for (const change of [
    () => void ledger.hold(request('late', 1n), 1_000),
    () => void ledger.apply({ type: 'released', orderId: 'q8' }),
    () => void ledger.apply({ type: 'deposited', id: 'more', chainId: 1, token: USDC, amount: 1n }),
    () => void ledger.advance(1, 1_076),
  ]) {
    const [write] = ledger.snapshotChunks().chunks;
    write?.();
    change();
    expect(() => write?.()).toThrow('changed while its snapshot was written');
  }
  expect(() => ledger.loadBooks(books)).toThrow('empty');
});

test('holds that expired before a chunked snapshot end when the clock next advances', () => {
  const ledger = funded();
  for (let at = 0; at < 75; at++) ledger.hold(request(`q${at}`, 1n), 1_000);
  ledger.advance(1, 1_076);
  const { books, chunks } = ledger.snapshotChunks();
  const again = restoreLedger(options, { ...books, promises: chunks.flatMap((write) => write()) });
  expect([again.live, again.hasBacklog(1)]).toEqual([25, true]);
  while (again.hasBacklog(1)) again.advance(1, 1_076);
  expect(again.live).toBe(0);
});

test('a nonce lists its orders that have not ended, oldest first', () => {
  const ledger = funded();
  for (const orderId of ['a', 'b', 'c', 'd']) ledger.hold(request(orderId, 100n, { group: 'nonce' }), 1_000);
  ledger.apply({ type: 'released', orderId: 'b' });
  expect(ledger.ordersOfNonce('nonce')).toEqual(['a', 'c', 'd']);
  ledger.apply({ type: 'accepted', orderId: 'c' });
  ledger.apply({ type: 'released', orderId: 'd' });
  expect(ledger.ordersOfNonce('nonce')).toEqual(['a', 'c']);
  expect(ledger.ordersOfNonce('another')).toEqual([]);
});

test('what was scheduled for a forgotten hold does not happen to a new hold of the same order', () => {
  const ledger = funded();
  ledger.hold(request('q', 100n), 1_000);
  for (const type of ['fill_final', 'finalised'] as const)
    ledger.apply({ type, orderId: 'q', id: 'x', received: 7n });
  // Scheduled to be forgotten at 1,976, then reorganised away and failed: forgotten at 1,136.
  ledger.apply({ type: 'reorged', orderId: 'q', id: 'x' });
  ledger.apply({ type: 'failed', orderId: 'q' });
  ledger.advance(1, 1_136);
  expect(ledger.quote('q')).toBeUndefined();
  ledger.hold(request('q', 100n, { lapsesAt: 3_000 }), 1_136);
  ledger.advance(1, 1_976);
  expect([ledger.live, ledger.quote('q')?.state]).toEqual([1, 'held']);
});

test('snapshot and restore: the same bytes, the same behaviour', () => {
  const ledger = funded();
  ledger.hold(request('q', 400n), 1_000);
  ledger.hold(request('r', 100n), 1_000);
  ledger.apply({ type: 'accepted', orderId: 'r' });
  const text = JSON.stringify(ledger.snapshot());
  const again = restoreLedger(options, JSON.parse(text));
  expect(JSON.stringify(again.snapshot())).toBe(text);
  expect(view(again)).toEqual(view(ledger));
  expect(again.live).toBe(1);
  expect(again.advance(1, 1_076)).toBe(1);
  expect(view(again)).toMatchObject({ held: 0n, committed: 100n, free: 900n });
});
