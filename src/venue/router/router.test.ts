/**
 * Gathering by itself: never worse than the best of its sources asked alone, never later than its deadline,
 * and broken sources cost only themselves.
 */

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { netOf, rank } from '../../auction/rank.ts';
import { ETHER, type Chain, type TokenInfo } from '../../domain/chain.ts';
import type { Closed, Decline } from '../../domain/decline.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RouteQuote, RouteVenue } from '../../ports/route-venue.ts';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import { createBreaker } from '../solvers/breaker.ts';
import type { RelayFees } from '../quoting/relay-fee.ts';
import { BREAKER, CHAIN_DEFAULTS } from '../options.ts';
import { createTakerNonces } from '../quoting/taker-nonces.ts';
import { createGatherer } from './gather.ts';
import { routeFees } from './route-fees.ts';
import type { PairRequest } from '../quoting/solver-request.ts';
import type { RouteSource } from './source.ts';
import { createStandbyVenues } from './standby-venues.ts';
import { createRouteRoster } from './route-roster.ts';
import { whyNot } from './router.ts';
import { createVenueSource } from './venue-source.ts';

const token = (n: number, priceSymbol: string | null = null): TokenInfo => ({
  address: `0x${n.toString(16).padStart(40, '1')}`,
  symbol: `T${n}`,
  name: `T${n}`,
  decimals: 18,
  eip3009: null,
  priceSymbol,
});
const chain: Chain = {
  id: 1,
  slug: 'one',
  sandbox: true,
  escrow: `0x${'e'.repeat(40)}`,
  oracle: `0x${'0'.repeat(39)}1`,
  permit2: `0x${'0'.repeat(39)}2`,
  depth: 1,
  blockTimeMs: 1_000,
  native: ETHER,
  tokens: [token(1), token(2), token(3), token(4)],
  landingMarginSeconds: 10,
  proofWindowSeconds: 60,
};
const NOW = 1_800_000_000;
const market = (n: number) => ({
  asset: { chainId: 1, token: (chain.tokens[n] as TokenInfo).address },
  chain,
  token: chain.tokens[n] as TokenInfo,
});
const taker: Address = `0x${'a'.repeat(40)}`;

function intentOf(side: PairRequest['side'], amount: bigint): PairRequest {
  return {
    requestId: 'r',
    request: { splitFill: 'allow', settlement: 'wallet', maxCandidates: 5 },
    workspace: {
      id: 'w',
      name: 'w',
      platformFeeBps: 3,
      eligibleSolvers: null,
      limits: { openQuotes: null, openNotionalUsd: null },
      travelRuleThresholdUsd: null,
    },
    input: market(0),
    output: market(1),
    corridor: 'one-one',
    side,
    amount,
    taker,
    receiver: taker,
    minValidUntil: null,
    now: NOW,
    latestValidUntil: NOW + 600,
  };
}

/** A clock whose timers run when told; reading it costs nothing. */
function handClock(): Clock & { pass(ms: number): void } {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  return {
    nowMs: () => NOW * 1_000 + now,
    monotonicMs: () => now,
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => void (timers = timers.filter((one) => one !== timer));
    },
    pass(ms) {
      now += ms;
      const due = timers.filter(({ at }) => at <= now).sort((x, y) => x.at - y.at);
      timers = timers.filter(({ at }) => at > now);
      for (const { run } of due) run();
    },
  };
}

let counter = 0n;
const random = { bytes32: () => `0x${(counter += 1n).toString(16).padStart(64, '0')}` as const };
const relayFees = {
  terms: () => ({ executionMode: 'apiSubmit', relayFee: 5n, takerGasWei: 0n }),
  takerGas: () => 0n,
  weiPerGas: () => 1n,
  settings: () => CHAIN_DEFAULTS,
  start: async () => {},
  stop: () => {},
} satisfies RelayFees;
const head = { number: 5n, hash: '0x01', timestamp: NOW } as const;
const chains = new Map([[1, { chain, head: () => head } as unknown as ChainPort]]);

/** Converts at a fixed rate after fees, in either direction; what it answers can be anything. */
function venueOf(
  id: string,
  rate: (from: Address, to: Address) => bigint | undefined,
  change: (quote: RouteQuote) => RouteQuote | Decline | Closed | Promise<RouteQuote> = (quote) => quote,
): RouteVenue {
  return {
    id,
    name: id,
    kind: 'bridge',
    limits: { timeoutMs: 1_000, maxInFlight: 100, maxSlackBps: 50 },
    serves: ({ input, output }) => rate(input.token, output.token) !== undefined,
    async quote(ask) {
      const price = rate(ask.inputToken.address, ask.outputToken.address);
      if (price === undefined) return { declined: 'pair' };
      const output =
        ask.side === 'exactInput' ? (ask.fees.handedOver(ask.amount, 0n) * price) / 1_000n : ask.amount;
      const input =
        ask.side === 'exactInput'
          ? ask.amount
          : ask.fees.inputFor((ask.amount * 1_000n + price - 1n) / price, 0n);
      if (output === 0n) return { declined: 'size_below_min' };
      return change({
        inputAmount: input,
        outputAmount: output,
        minimumOutput: output,
        validUntil: NOW + 30,
        eta: 2,
        via: [],
        fees: [null],
        execution: { kind: 'through', filler: `0x${'b'.repeat(40)}`, data: '0x', gas: 1n },
      });
    },
  };
}

const sourceOf = (venue: RouteVenue, clock: Clock, breaker = createBreaker(BREAKER)): RouteSource =>
  createVenueSource(venue, {
    chains,
    relayFees,
    prices: { estimateUsd: () => null },
    breaker,
    standbyVenues: createStandbyVenues(clock),
    clock,
    random,
    log: silentLog,
    metrics: silentMetrics,
  });
const gathererOf = (sources: readonly RouteSource[], clock: Clock, maxMiddles = 2) =>
  createGatherer(
    { sources, relayFees, nonces: createTakerNonces({ random }), clock, random, log: silentLog },
    { timeoutMs: 700, middles: [], maxMiddles },
  );

describe('collecting candidates', () => {
  test('law: the best candidate is never worse than the best of any source alone', async () => {
    // For every ordered pair of the four tokens, what each of up to five venues gives for a thousand; 0: it
    // does not serve the pair.
    const rates = fc.array(
      fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 5_000 })), {
        minLength: 16,
        maxLength: 16,
      }),
      { minLength: 1, maxLength: 5 },
    );
    const index = (address: Address) => chain.tokens.findIndex((one) => one.address === address);
    await fc.assert(
      fc.asyncProperty(
        rates,
        fc.constantFrom('exactInput' as const, 'exactOutput' as const),
        fc.bigInt({ min: 1_000n, max: 10n ** 24n }),
        async (tables, side, amount) => {
          const clock = handClock();
          const venues = tables.map((table, n) =>
            venueOf(`v${n}`, (from, to) =>
              table[index(from) * 4 + index(to)] === 0
                ? undefined
                : BigInt(table[index(from) * 4 + index(to)] as number),
            ),
          );
          const sources = venues.map((venue) => sourceOf(venue, clock));
          const intent = intentOf(side, amount);
          const [best] = rank(side, (await gathererOf(sources, clock).gather(intent, 1n)).candidates);
          for (const source of sources) {
            const [alone] = rank(side, (await gathererOf([source], clock, 0).gather(intent, 1n)).candidates);
            if (!alone) continue;
            expect(best).toBeDefined();
            if (best)
              expect(
                side === 'exactInput'
                  ? netOf(side, best) >= netOf(side, alone)
                  : netOf(side, best) <= netOf(side, alone),
              ).toBe(true);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  test('two legs beat one when the indirect route is better, and the amounts add up', async () => {
    const clock = handClock();
    const [a, b, c] = [market(0).token.address, market(1).token.address, market(2).token.address];
    const one = sourceOf(
      venueOf('one', (from, to) =>
        from === a && to === b ? 1_000n : from === a && to === c ? 2_000n : undefined,
      ),
      clock,
    );
    const two = sourceOf(
      venueOf('two', (from, to) => (from === c && to === b ? 700n : undefined)),
      clock,
    );
    const { candidates } = await gathererOf([one, two], clock).gather(intentOf('exactInput', 10n ** 18n), 1n);
    const [best, direct] = rank('exactInput', candidates);
    expect(best).toMatchObject({
      model: 'sequential',
      first: { source: 'one' },
      legs: [
        { venue: 'one', dependsOn: [] },
        { venue: 'two', dependsOn: [0], output: { minimum: null } },
      ],
    });
    expect(direct?.model).toBe('atomic');
    expect(best?.legs[1]?.input.amount).toBe(best?.first.minimumOutput);
    // The first leg's order is to the taker's own wallet and of this answer's nonce.
    expect(best?.first.order).toMatchObject({
      nonce: 1n,
      user: taker,
      outputs: [{ recipient: `0x${'0'.repeat(24)}${taker.slice(2)}` }],
    });
  });

  test('waits for a silent source until the deadline, and returns the others', async () => {
    const clock = handClock();
    const slow = sourceOf(
      venueOf(
        'slow',
        () => 9_000n,
        () => new Promise(() => {}),
      ),
      clock,
    );
    const quick = sourceOf(
      venueOf('quick', () => 1_000n),
      clock,
    );
    const gathering = gathererOf([slow, quick], clock, 0).gather(intentOf('exactInput', 10_000n), 1n);
    let done = false;
    void gathering.then(() => (done = true));
    await new Promise((next) => setImmediate(next));
    expect(done).toBe(false);
    clock.pass(700);
    const { candidates } = await gathering;
    expect(candidates.map(({ first }) => first.source)).toEqual(['quick']);
  });

  test('returns early once every source has answered', async () => {
    const clock = handClock();
    const { candidates } = await gathererOf(
      [
        sourceOf(
          venueOf('quick', () => 1_000n),
          clock,
        ),
      ],
      clock,
    ).gather(intentOf('exactInput', 10_000n), 1n);
    expect(candidates).toHaveLength(1);
    expect(clock.monotonicMs()).toBe(0);
  });

  test.each<[string, (quote: RouteQuote) => RouteQuote]>([
    [
      'gives more than it enforces, beyond its slack',
      (quote) => ({ ...quote, minimumOutput: quote.outputAmount / 2n }),
    ],
    ['takes more than was asked', (quote) => ({ ...quote, inputAmount: quote.inputAmount + 1n })],
    ['delivers nothing', (quote) => ({ ...quote, outputAmount: 0n, minimumOutput: 0n })],
    ['enforces more than it gives', (quote) => ({ ...quote, minimumOutput: quote.outputAmount + 1n })],
    ['is valid for ever', (quote) => ({ ...quote, validUntil: NOW + 100_000 })],
    ['is over already', (quote) => ({ ...quote, validUntil: NOW })],
    [
      "fills from the taker's account",
      (quote) => ({ ...quote, execution: { kind: 'through', filler: taker, data: '0x', gas: 1n } }),
    ],
    [
      'would open and fill an order of one chain',
      (quote) => ({ ...quote, execution: { kind: 'solver', account: `0x${'b'.repeat(40)}` } }),
    ],
    [
      'fills through the escrow itself',
      (quote) => ({ ...quote, execution: { kind: 'through', filler: chain.escrow, data: '0x', gas: 1n } }),
    ],
    [
      'uses all the gas there is',
      (quote) => ({
        ...quote,
        execution: { kind: 'through', filler: `0x${'c'.repeat(40)}`, data: '0x', gas: 10n ** 9n },
      }),
    ],
    [
      'passes through its own output',
      (quote) => ({ ...quote, via: [{ token: market(1).token.address, amount: 1n }], fees: [null, null] }),
    ],
    ['has a fee for a leg that it does not have', (quote) => ({ ...quote, fees: [null, null] })],
    [
      'charges more than it is given',
      (quote) => ({ ...quote, fees: [{ in: 'input', amount: quote.inputAmount + 1n }] }),
    ],
    ['pays for the trade', (quote) => ({ ...quote, fees: [{ in: 'output', amount: -1n }] })],
  ])('an answer that %s does not compete', async (_, spoil) => {
    const clock = handClock();
    const { candidates, whys } = await gathererOf(
      [
        sourceOf(
          venueOf('bad', () => 9_000n, spoil),
          clock,
        ),
        sourceOf(
          venueOf('good', () => 1_000n),
          clock,
        ),
      ],
      clock,
      0,
    ).gather(intentOf('exactInput', 10_000n), 1n);
    expect(candidates.map(({ first }) => first.source)).toEqual(['good']);
    expect(whys).toMatchObject([{ code: 'no_quotes' }]);
  });

  test('skips a venue that keeps failing, and asks again after its rest', async () => {
    const clock = handClock();
    let asked = 0;
    let broken = true;
    const failing = venueOf(
      'failing',
      () => 9_000n,
      async (quote) => {
        asked++;
        if (broken) throw new Error('down');
        return quote;
      },
    );
    const gatherer = gathererOf(
      [
        sourceOf(failing, clock),
        sourceOf(
          venueOf('good', () => 1_000n),
          clock,
        ),
      ],
      clock,
      0,
    );
    for (let n = 0; n < 20; n++)
      expect((await gatherer.gather(intentOf('exactInput', 10_000n), 1n)).candidates).toHaveLength(1);
    expect(asked).toBe(BREAKER.limit);
    broken = false;
    clock.pass(BREAKER.firstCoolDownMs + 1);
    expect((await gatherer.gather(intentOf('exactInput', 10_000n), 1n)).candidates).toHaveLength(2);
  });

  test('an invalid answer, or a venue that throws, costs only its own candidates', async () => {
    const clock = handClock();
    const nonsense = [undefined, null, 7, {}, { inputAmount: '1' }].map((answer, n) =>
      sourceOf({ ...venueOf(`nonsense-${n}`, () => 1n), quote: async () => answer as never }, clock),
    );
    const mad = sourceOf(
      {
        ...venueOf('mad', () => 1n),
        serves: () => {
          throw new Error('mad');
        },
      },
      clock,
    );
    const sync = sourceOf(
      {
        ...venueOf('sync', () => 1n),
        quote: () => {
          throw new Error('at once');
        },
      },
      clock,
    );
    const { candidates } = await gathererOf(
      [
        ...nonsense,
        mad,
        sync,
        sourceOf(
          venueOf('good', () => 1_000n),
          clock,
        ),
      ],
      clock,
    ).gather(intentOf('exactInput', 10_000n), 1n);
    expect(candidates.map(({ first }) => first.source)).toEqual(['good']);
  });

  test('silence counts only against a venue that had enough time', async () => {
    const clock = handClock();
    let asked = 0;
    const mute = sourceOf(
      venueOf(
        'mute',
        () => 9_000n,
        () => (asked++, new Promise<RouteQuote>(() => {})),
      ),
      clock,
    );
    const waitFor = async (withinMs: number) => {
      const found = mute.find(intentOf('exactInput', 10_000n), 1n, withinMs, new AbortController().signal);
      await new Promise((next) => setImmediate(next));
      clock.pass(withinMs);
      return found;
    };
    for (let n = 0; n < 20; n++) await waitFor(5);
    expect(asked).toBe(20);
    for (let n = 0; n < 20; n++) await waitFor(300);
    // A fault weighs less as time passes.
    expect(asked - 20).toBeLessThanOrEqual(BREAKER.limit + 2);
  });

  test('a closed rail says until when, and is not at fault', async () => {
    const clock = handClock();
    const opensAt = NOW + 3_600;
    let asked = 0;
    const closed = (opens: number | null): Closed => (asked++, { declined: 'closed', opensAt: opens });
    const bank = (opens: number | null) =>
      sourceOf(
        {
          ...venueOf(
            'bank',
            () => 1_000n,
            () => closed(opens),
          ),
          name: 'A bank',
        },
        clock,
      );
    const why = async (source: RouteSource) =>
      (await source.find(intentOf('exactInput', 10_000n), 1n, 500, new AbortController().signal)).why
        ?.message;
    expect(await why(bank(opensAt))).toContain(new Date(opensAt * 1_000).toISOString());
    expect(await why(bank(null))).toContain('A bank is closed');
    expect(await why(bank(-1))).toContain('answered wrongly');
    const often = bank(opensAt);
    asked = 0;
    for (let n = 0; n < 50; n++) await why(often);
    expect(asked).toBe(50);
  });

  test('a closed rail is named beside what other sources say, also when it is one leg of a route', async () => {
    const clock = handClock();
    const opensAt = NOW + 3_600;
    const until = new Date(opensAt * 1_000).toISOString();
    const bank = (pair: (from: Address, to: Address) => boolean) => ({
      ...venueOf(
        'bank',
        (from, to) => (pair(from, to) ? 1_000n : undefined),
        (): Closed => ({ declined: 'closed', opensAt }),
      ),
      name: 'A bank',
    });
    const [first, last, middle] = [0, 1, 2].map((n) => (chain.tokens[n] as TokenInfo).address);
    const pool = venueOf(
      'pool',
      (from, to) => (from === first && to === last ? 1_000n : undefined),
      () => ({ declined: 'size_above_max', maxAmount: 5n }),
    );
    const said = async (...venues: RouteVenue[]) => {
      const { candidates, ...reasons } = await gathererOf(
        venues.map((venue) => sourceOf(venue, clock)),
        clock,
      ).gather(intentOf('exactInput', 10_000n), 1n);
      expect(candidates).toEqual([]);
      return whyNot(reasons, 'one-one');
    };
    const alone = await said(bank((from, to) => from === first && to === last));
    expect(alone).toEqual({
      code: 'no_quotes',
      message: `A bank is closed until ${until}. Ask again then.`,
      corridor: 'one-one',
    });
    const beside = await said(
      pool,
      bank((from, to) => from === first && to === last),
    );
    expect(beside.code).toBe('amount_too_large');
    expect(beside.message).toContain(`A bank is closed until ${until}`);
    const leg = await said(
      venueOf('bridge', (from, to) => (from === middle && to === last ? 1_000n : undefined)),
      bank((from, to) => from === first && to === middle),
    );
    expect(leg.message).toContain(`A bank is closed until ${until}`);
  });

  test('the roster says that a venue rests, why, and until when', () => {
    const standings: Record<string, ReturnType<NonNullable<RouteVenue['standing']>>> = {
      open: undefined,
      closed: { declined: 'closed', opensAt: NOW },
      resting: { declined: 'standby', detail: 'its float is empty' },
    };
    const roster = createRouteRoster({
      routeVenues: Object.entries(standings).map(([id, standing]) => ({
        ...venueOf(id, () => 1n),
        standing: () => standing,
      })),
      router: {
        breakerOf: () => undefined,
        standbyReasonOf: () => undefined,
        lastQuoteAtMs: () => undefined,
      },
      chains: new Map([[1, chain]]),
      followed: new Map([[1, { head: () => head, healthIssue: () => undefined }]]),
      clock: handClock(),
    });
    expect(roster('test').map(({ id, status, eligibilityNote }) => [id, status, eligibilityNote])).toEqual([
      ['open', 'active', 'open (bridge), asked by the router only.'],
      [
        'closed',
        'standby',
        `closed (bridge), asked by the router only. closed is closed until ${new Date(NOW * 1_000).toISOString()}. Ask again then.`,
      ],
      ['resting', 'standby', 'resting (bridge), asked by the router only. It rests: its float is empty.'],
    ]);
  });

  test('the roster says of any venue that its chain is not followed, or that it rests wherever it is asked', () => {
    const standbyVenues = createStandbyVenues(handClock());
    const of = (seen: typeof head | undefined, note?: string) =>
      createRouteRoster({
        routeVenues: [venueOf('pools', () => 1n)],
        router: {
          breakerOf: () => undefined,
          standbyReasonOf: standbyVenues.of,
          lastQuoteAtMs: () => undefined,
        },
        chains: new Map([[1, chain]]),
        followed: new Map([
          [
            1,
            {
              head: () => seen,
              healthIssue: () => (note === undefined ? undefined : { kind: 'clock', note }),
            },
          ],
        ]),
        clock: handClock(),
      })('test').map(({ status, eligibilityNote }) => [status, eligibilityNote?.split('only.')[1]]);
    expect(of(undefined)).toEqual([['standby', ` It rests: ${chain.slug} is not followed now.`]]);
    expect(of(head, 'its clock differs')).toEqual([
      ['standby', ` It rests: ${chain.slug}: its clock differs.`],
    ]);
    standbyVenues.note('pools', 'here-there', 'its operator cannot pay for gas');
    expect(of(head)).toEqual([['standby', ' It rests: its operator cannot pay for gas.']]);
    standbyVenues.note('pools', 'there-here', null);
    expect(of(head)).toEqual([['active', '']]);
  });

  test('sends a venue at most its number of concurrent requests', async () => {
    const clock = handClock();
    let waiting = 0;
    const slow = {
      ...venueOf(
        'slow',
        () => 1_000n,
        () => (waiting++, new Promise<RouteQuote>(() => {})),
      ),
      limits: { timeoutMs: 500, maxInFlight: 3, maxSlackBps: 0 },
    };
    const gatherer = gathererOf([sourceOf(slow, clock)], clock, 0);
    const all = Promise.all(
      Array.from({ length: 10 }, () => gatherer.gather(intentOf('exactInput', 10_000n), 1n)),
    );
    await new Promise((next) => setImmediate(next));
    expect(waiting).toBe(3);
    clock.pass(500);
    expect((await all).every(({ candidates }) => candidates.length === 0)).toBe(true);
  });
});

test('law: fees forwards and backwards agree with the escrow, and backwards gives the minimum', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 100 }),
      fc.bigInt({ min: 0n, max: 10n ** 12n }),
      fc.bigInt({ min: 1n, max: 10n ** 30n }),
      (feeBps, relay, handed) => {
        const fees = routeFees(feeBps, () => relay);
        const input = fees.inputFor(handed, 0n);
        expect(fees.handedOver(input, 0n)).toBeGreaterThanOrEqual(handed);
        expect(fees.handedOver(input - 1n, 0n)).toBeLessThan(handed);
      },
    ),
  );
});
