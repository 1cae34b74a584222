/**
 * A refusal that names a size keeps its word: that size passes a moment later, and one per cent more does
 * not. A part that the LP offers instead is checked again when the venue asks for its slice.
 */

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { createRecovery } from '../../src/adapters/secp256k1/recovery.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { parseUnits } from '../../src/domain/amount.ts';
import { commitmentDigest } from '../../src/domain/commitment.ts';
import { encodeContext } from '../../src/domain/context.ts';
import type { Decline } from '../../src/domain/decline.ts';
import { type Address, addressToBytes32 } from '../../src/domain/hex.ts';
import { orderId, type StandardOrder, orderToMessage } from '../../src/domain/order.ts';
import { orderTimes } from '../../src/domain/time.ts';
import { createLedger, type Ledger } from '../../src/inventory/ledger.ts';
import type { Limits } from '../../src/inventory/limits.ts';
import { createQuotingSnapshot, type QuotingSnapshot } from '../../src/lp/quoting/quoting-snapshot.ts';
import { NO_ADJUSTMENT } from '../../src/risk/adjustment.ts';
import { createMarket } from '../../src/lp/market/market.ts';
import { createCommitmentSigner } from '../../src/lp/commitment-signer.ts';
import type { Clock } from '../../src/ports/clock.ts';
import type { LinkPartial, Rfq, SliceRequest } from '../../src/protocol/link/link.ts';
import type { Log } from '../../src/ports/log.ts';
import { orderFromMessage } from '../../src/protocol/wire.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { lpConfig } from '../support/lp.ts';
import { request } from '../support/scripted-venue.ts';
import { silentLog } from '../support/silent.ts';

const [owner, operator, taker] = [account(61), account(62), account(63)];
const startMs = Date.now();
/** Time stands still, so that the state between two questions is the same to the last digit. */
const stillClock: Clock = { nowMs: () => startMs, monotonicMs: () => 0, after: () => () => {} };

let devnet: Devnet;
let chain: TestChain;

beforeAll(async () => {
  devnet = await startDevnet([41_600]);
  chain = devnet.chains[0] as TestChain;
});
afterAll(() => devnet?.stop());

interface State {
  usdc: string;
  weth: string;
  limits?: Limits;
  params?: object;
  mid?: string;
  quoting?: object;
  clock?: Clock;
  log?: Log;
  countRefusal?(decline: Decline): void;
}

/** A maker with these balances, as a node would wire it, over a real chain's description. */
function maker({
  usdc,
  weth,
  limits = {},
  params = {},
  mid = '2500',
  quoting = {},
  clock = stillClock,
  log = silentLog,
  countRefusal = () => {},
}: State): { quoting: QuotingSnapshot; ledger: Ledger } {
  const config = lpConfig(devnet, owner.address, {
    pairs: [{ base: 'WETH', quote: 'USDC', params }],
    quoting,
  });
  const id = chain.chain.id;
  const ledger = createLedger({
    buckets: [
      { chainId: id, token: chain.usdc.address, asset: 'USDC', decimals: 6 },
      { chainId: id, token: chain.weth.address, asset: 'WETH', decimals: 18 },
    ],
    graceSeconds: () => 2,
    limits,
  });
  ledger.apply({
    type: 'deposited',
    id: 'a',
    chainId: id,
    token: chain.usdc.address,
    amount: parseUnits(usdc, 6),
  });
  ledger.apply({
    type: 'deposited',
    id: 'b',
    chainId: id,
    token: chain.weth.address,
    amount: parseUnits(weth, 18),
  });
  const market = createMarket({ clock }, config);
  market.observe({
    source: 'constant',
    symbol: 'ETHUSD',
    bid: mid,
    ask: mid,
    exchangeTimeMs: null,
    receivedMs: startMs,
    sequence: null,
  });
  const snapshot = createQuotingSnapshot(
    {
      clock,
      ledger,
      chains: new Map(
        config.chains.map((each) => [
          each.chainId,
          {
            port: chain.port,
            config: each,
            weiPerGas: 1_000_000_000n,
            extraFees: undefined,
            native: 10n ** 18n,
          },
        ]),
      ),
      networks: new Map([[id, chain.chain]]),
      lastReadTime: () => Math.floor(startMs / 1000),
      startedWith: new Map(['USDC', 'WETH'].map((asset) => [asset, ledger.exposure(asset).owned])),
      takers: { adverse: () => 1.5 },
      winRates: { params: (route) => route.params, explore: () => 0 },
      signals: { of: () => undefined },
      bonds: { latestFillDeadline: () => undefined },
      leases: {
        covers: () => true,
        extend: () => Promise.resolve(true),
        tick: () => Promise.resolve(),
        quarantine: () => [],
        reach: () => [],
        lost: false,
      },
      guard: { admit: () => NO_ADJUSTMENT, adjustIndicative: () => NO_ADJUSTMENT },
      quoteEvents: { quoted() {}, declined() {} },
      commitments: createCommitmentSigner(operator.signer),
      random: systemRandom,
      log,
      standby: { refusal: () => undefined },
      risk: { gapLoss: () => 0n, countRefusal },
    },
    config,
    { market, plugin: undefined },
  );
  return { quoting: snapshot, ledger };
}

const ask = (sell: boolean, side: Rfq['side'], amount: bigint, rest: object = {}): Rfq =>
  request({
    from: chain.chain,
    to: chain.chain,
    give: sell ? chain.weth : chain.usdc,
    take: sell ? chain.usdc : chain.weth,
    amount,
    taker: taker.address,
    side,
    ...rest,
  });
const answers = ({ quotes }: QuotingSnapshot, rfq: Rfq) => quotes.handleQuoteRequest(rfq, Infinity);

/** What is asked for in whole tokens of the fixed side, about `usd` worth. */
const worth = (sell: boolean, side: Rfq['side'], usd: number): bigint => {
  const inWeth = sell === (side === 'exactInput');
  return inWeth ? parseUnits((usd / 2500).toFixed(9), 18) : parseUnits(usd.toFixed(6), 6);
};

describe('law: the maximum size named by a refusal passes, and one per cent more does not', () => {
  const causes: Record<string, { state: State; reasons: readonly string[]; control?: string }> = {
    inventory: { state: { usdc: '41000.123456', weth: '17.000000000000000001' }, reasons: ['no_inventory'] },
    'largest size': {
      state: { usdc: '10000000', weth: '4000', params: { maxSize: 33_333 } },
      reasons: ['size_above_max'],
    },
    'widest spread': {
      state: {
        usdc: '10000000',
        weth: '4000',
        params: { maxSize: 5_000_000, maxSpreadBps: 12, impactFactor: 20 },
      },
      reasons: ['size_above_max'],
    },
    'a cap on one side': {
      state: { usdc: '10000000', weth: '4000', limits: { perPairSide: { notional: 41_000_000_000n } } },
      reasons: ['limit'],
      control: 'limit_side',
    },
    'a cap on everything': {
      state: { usdc: '10000000', weth: '4000', limits: { total: { notional: 7_000_000_000n } } },
      reasons: ['limit'],
      control: 'limit_total',
    },
    'less inventory than the cap allows': {
      state: { usdc: '30000', weth: '12', limits: { total: { notional: 40_000_000_000n } } },
      reasons: ['no_inventory', 'limit'],
    },
    'less under the cap than inventory': {
      state: { usdc: '30000', weth: '12', limits: { total: { notional: 9_000_000_000n } } },
      reasons: ['no_inventory', 'limit'],
    },
  };

  test.each(Object.entries(causes))('%s', async (_, { state, reasons, control }) => {
    let named = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.constantFrom('exactInput' as const, 'exactOutput' as const),
        fc.integer({ min: 20, max: 95_000 }),
        fc.integer({ min: 0, max: 12_000 }),
        fc.constantFrom([5], [1, 30], []),
        async (sell, side, usd, before, pointsSeconds) => {
          const { quoting } = maker({ ...state, quoting: { pointsSeconds } });
          // Somebody else's live quote already takes part of the room.
          if (before > 0)
            await answers(
              quoting,
              ask(sell, side, worth(sell, side, before), { taker: account(64).address }),
            );
          const [answer] = await answers(quoting, ask(sell, side, worth(sell, side, usd)));
          if (answer?.type !== 'decline') return;
          // `standby` where our own limits leave no size at all.
          if (answer.maxAmount === null) {
            expect(['size_below_min', 'standby']).toContain(answer.reason);
            if (answer.reason === 'standby') expect(answer.code).toBe('settings');
            return;
          }
          const most = BigInt(answer.maxAmount);
          expect(reasons).toContain(answer.reason);
          if (control !== undefined && answer.reason === 'limit') expect(answer.code).toBe(control);
          expect(most).toBeLessThan(worth(sell, side, usd));
          // A last dollar or two may be left that is too little for any quote.
          if (most === 0n) return;
          named += 1;
          expect((await answers(quoting, ask(sell, side, most + most / 100n)))[0]).toMatchObject({
            type: 'decline',
          });
          expect((await answers(quoting, ask(sell, side, most)))[0]).toMatchObject({ type: 'quote' });
        },
      ),
      { numRuns: 60, seed: 7 },
    );
    expect(named).toBeGreaterThan(10);
  });
});

describe('several tenors', () => {
  test('law: shorter tenors pay more, share one nonce, and hold no more than the largest', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.constantFrom('exactInput' as const, 'exactOutput' as const),
        fc.integer({ min: 100, max: 50_000 }),
        fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { maxLength: 4 }),
        async (sell, side, usd, pointsSeconds) => {
          const { quoting, ledger } = maker({ usdc: '1000000', weth: '400', quoting: { pointsSeconds } });
          const bucket = () => ledger.bucket(chain.chain.id, sell ? chain.usdc.address : chain.weth.address);
          const all = await answers(quoting, ask(sell, side, worth(sell, side, usd)));
          const quotes = all.filter((answer) => answer.type === 'quote');
          expect(quotes.length).toBe(new Set([...pointsSeconds, 10]).size);
          expect(quotes.length).toBe(all.length);
          expect(quotes.map(({ more }) => more)).toEqual(quotes.map((_, at) => at < quotes.length - 1));
          for (const [at, quote] of quotes.entries()) {
            const order = orderFromMessage(quote.order);
            const domain = { chainId: chain.chain.id, escrow: chain.chain.escrow };
            const digest = commitmentDigest(domain, {
              orderId: orderId(domain, order),
              quoteId: quote.quoteId,
              lp: quote.commitment.lp,
              deadline: order.fillDeadline,
            });
            expect(createRecovery().recover(digest, quote.commitment.signature)).toBe(operator.address);
            const shorter = quotes[at - 1];
            if (shorter === undefined) continue;
            expect(quote.validUntil).toBeGreaterThan(shorter.validUntil);
            expect(quote.order.nonce).toBe(shorter.order.nonce);
            expect(BigInt(quote.order.outputs[0]?.amount ?? 0)).toBeLessThanOrEqual(
              BigInt(shorter.order.outputs[0]?.amount ?? 0),
            );
            expect(BigInt(quote.order.inputs[0]?.[1] ?? 0)).toBeGreaterThanOrEqual(
              BigInt(shorter.order.inputs[0]?.[1] ?? 0),
            );
          }
          expect(bucket()?.held).toBe(
            quotes
              .map(({ order }) => BigInt(order.outputs[0]?.amount ?? 0))
              .reduce((most, amount) => (amount > most ? amount : most), 0n),
          );
          expect(ledger.live).toBe(quotes.length);
          // Each lapses on its own deadline.
          const lapsed = quotes.map(({ commitment }) =>
            ledger.advance(chain.chain.id, commitment.deadline + 3),
          );
          expect(lapsed).toEqual(quotes.map(() => 1));
          expect(bucket()?.held).toBe(0n);
        },
      ),
      { numRuns: 60, seed: 7 },
    );
  });

  test('where only one tenor fits, the other is not quoted', async () => {
    const state = {
      usdc: '1000000',
      weth: '400',
      quoting: { pointsSeconds: [1], validitySeconds: 600, maxValiditySeconds: 600 },
    };
    const free = maker(state);
    const [short, long] = (await answers(free.quoting, ask(true, 'exactInput', 10n ** 18n))).map((answer) =>
      answer.type === 'quote' ? BigInt(answer.order.outputs[0]?.amount ?? 0) : 0n,
    ) as [bigint, bigint];
    expect(short).toBeGreaterThan(long);
    // One unit of USDC too little for the better price.
    const units = (short - 1n).toString().padStart(7, '0');
    const tight = maker({ ...state, usdc: `${units.slice(0, -6)}.${units.slice(-6)}` });
    const answered = await answers(tight.quoting, ask(true, 'exactInput', 10n ** 18n));
    expect(answered).toMatchObject([
      { type: 'quote', more: false, validUntil: tight.quoting.context.now(chain.chain.id) + 600 },
    ]);
  });

  test('the minimum validity lengthens short tenors, and a volatile market shortens long ones', async () => {
    const { quoting } = maker({ usdc: '1000000', weth: '400' });
    const now = quoting.context.now(chain.chain.id);
    const seconds = async (rest: object) =>
      (await answers(quoting, ask(true, 'exactInput', 10n ** 17n, rest))).map((answer) =>
        answer.type === 'quote' ? answer.validUntil - now : answer,
      );
    expect(await seconds({})).toEqual([5, 10]);
    expect(await seconds({ minValidUntil: now + 3 })).toEqual([5, 10]);
    expect(await seconds({ minValidUntil: now + 8 })).toEqual([8, 10]);
    expect(await seconds({ minValidUntil: now + 10 })).toEqual([10]);
    expect(await seconds({ minValidUntil: now + 60 })).toEqual([60]);
    expect(await seconds({ minValidUntil: now + 61 })).toMatchObject([
      { type: 'decline', reason: 'validity' },
    ]);
  });
});

describe('a slice of an offered part', () => {
  /** The order of a split: this LP delivers `output` for 30 % of the input, and another LP the rest. */
  function slice(rfq: Rfq, offer: LinkPartial, output: bigint): SliceRequest {
    const { chain: network, usdc } = chain;
    const times = orderTimes(offer.validUntil, rfq.skeleton);
    const outputOf = (exclusiveFor: Address, portionBps: number, amount: bigint) => ({
      oracle: addressToBytes32(rfq.skeleton.outputOracle),
      settler: addressToBytes32(network.escrow),
      chainId: BigInt(network.id),
      token: addressToBytes32(usdc.address),
      amount,
      recipient: addressToBytes32(rfq.receiver),
      callbackData: '0x' as const,
      context: encodeContext({
        exclusiveFor,
        startTime: times.fillDeadline + 1,
        portionBps,
        feeBps: rfq.platformFeeBps,
        relayFee: 0n,
      }),
    });
    const order: StandardOrder = {
      user: rfq.taker,
      nonce: BigInt(rfq.skeleton.nonce),
      originChainId: BigInt(network.id),
      expires: times.expires,
      fillDeadline: times.fillDeadline,
      inputOracle: rfq.skeleton.inputOracle,
      inputs: [[BigInt(chain.weth.address), BigInt(rfq.amount)]],
      outputs: [
        outputOf(owner.address, 3_000, output),
        outputOf(account(65).address, 7_000, parseUnits('17000', 6)),
      ],
    };
    return {
      type: 'slice',
      rfqId: rfq.rfqId,
      quoteId: `0x${'5'.repeat(64)}`,
      order: orderToMessage(order) as SliceRequest['order'],
      outputIndex: 0,
      validUntil: offer.validUntil,
      deadlineMs: 2_000,
    };
  }

  test('is signed while the price is fresh, and declined without an alarm once it has vanished', async () => {
    let nowMs = startMs;
    const fatal = vi.fn<Log['fatal']>();
    const counted: (string | undefined)[] = [];
    const { quoting } = maker({
      countRefusal: ({ control }) => void counted.push(control),
      usdc: '20000',
      weth: '4',
      clock: { ...stillClock, nowMs: () => nowMs },
      log: { ...silentLog, fatal },
    });
    // 10 WETH are 25,000 USDC, more than this LP has. The price is fresh for 2 seconds.
    const sellTenWeth = () => ask(true, 'exactInput', 10n ** 19n, { maxSplitParts: 2 });
    const [fresh, late] = [sellTenWeth(), sellTenWeth()];
    const offer = async (rfq: Rfq) => (await answers(quoting, rfq))[0] as LinkPartial;
    const requested = slice(fresh, await offer(fresh), parseUnits('7400', 6));
    expect(await quoting.slices.handleSlice(requested, Infinity)).toMatchObject({ type: 'commit' });

    nowMs = startMs + 1_500;
    const stale = slice(late, await offer(late), parseUnits('7400', 6));
    nowMs = startMs + 2_500;
    expect(await quoting.slices.handleSlice(stale, Infinity)).toMatchObject({
      type: 'decline',
      reason: 'stale_price',
      code: 'stale_mid',
    });
    expect(counted).toContain('stale_mid');
    expect(fatal).not.toHaveBeenCalled();
  });
});
