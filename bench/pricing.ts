/**
 * Measures what one price costs, on one core and without its signature: all terms and exact amounts, for
 * either side; then the whole of a promise but signing it: book, price, independent check, hold, and the
 * record that explains it. Flat or not as pairs and live quotes grow. Beside it, in the same run: the bare
 * integer arithmetic under a price, which no pricer can go below, and the signature over it, next to which it
 * should not count.
 */

import { cpus } from 'node:os';
import { ecdsa, noble } from '../src/adapters/secp256k1/ecdsa.ts';
import { createRecovery } from '../src/adapters/secp256k1/recovery.ts';
import { ETHER, type Chain, type TokenInfo } from '../src/domain/chain.ts';
import { isDecline } from '../src/domain/decline.ts';
import { type Address, type Bytes32, bytesToHex, type Hex, hexToBytes } from '../src/domain/hex.ts';
import { createLedger } from '../src/inventory/ledger.ts';
import type { HoldRequest } from '../src/inventory/event.ts';
import type { ChainState } from '../src/lp/routes/chain-state.ts';
import { createPricingContext } from '../src/lp/quoting/pricing-context.ts';
import { createSignals } from '../src/lp/quoting/signals.ts';
import { createWinRates } from '../src/lp/quoting/win-rates.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import { zLpConfig } from '../src/lp/config/config.ts';
import { createRecentQuotes } from '../src/lp/quote-log/recent-quotes.ts';
import { createMarket } from '../src/lp/market/market.ts';
import { createQuoteEvents } from '../src/lp/quote-log/quote-events.ts';
import { createRoutes, type QuoteRoute } from '../src/lp/routes/route.ts';
import type { ChainPort } from '../src/ports/chain.ts';
import type { Clock } from '../src/ports/clock.ts';
import { baseUnitRate, exactIn } from '../src/pricing/amounts.ts';
import { check } from '../src/pricing/check.ts';
import { DEFAULT_PARAMS } from '../src/pricing/params.ts';
import { price, type Priced } from '../src/pricing/price.ts';
import type { PriceInputs } from '../src/pricing/price-inputs.ts';
import { silentLog, silentMetrics } from '../test/support/silent.ts';

const COUNT = Number(process.argv.find((word) => word.startsWith('--count='))?.slice(8) ?? 40_000);
const WARM_UP = 10_000;
/**
 * Pairs configured, quotes live, and pairs that are asked for: what nobody asked for lately lies in slow
 * memory.
 */
const SCALES = [
  [1, 0, 1],
  [1, 100_000, 1],
  [1_000, 0, 1],
  [1_000, 100_000, 1],
  [1_000, 100_000, 1_000],
] as const;

interface Figures {
  /** The rate of one core that does nothing else: from the CPU time, garbage collection included. */
  perSecond: number;
  cpuMicros: number;
  /**
   * The time of single calls by the wall clock, which costs about 0.1 µs itself; on a busy machine the tail
   * is the machine's.
   */
  p50Micros: number;
  p99Micros: number;
}

const BLOCK = 500;

function measure(
  step: (n: number) => unknown,
  after: (n: number) => void = () => {},
  count = COUNT,
): Figures {
  for (let n = 0; n < WARM_UP; n++) {
    step(n);
    after(n);
  }
  const micros = new Float64Array(count);
  let cpu = 0;
  for (let from = 0; from < count; from += BLOCK) {
    const to = Math.min(count, from + BLOCK);
    const before = process.cpuUsage();
    for (let n = from; n < to; n++) {
      const started = performance.now();
      step(WARM_UP + n);
      micros[n] = (performance.now() - started) * 1_000;
    }
    const { user, system } = process.cpuUsage(before);
    cpu += user + system;
    for (let n = from; n < to; n++) after(WARM_UP + n);
  }
  micros.sort();
  const at = (share: number) => round(micros[Math.floor(count * share)] ?? Number.NaN);
  return {
    perSecond: Math.round((count / cpu) * 1e6),
    cpuMicros: round(cpu / count),
    p50Micros: at(0.5),
    p99Micros: at(0.99),
  };
}

const example: PriceInputs = {
  side: 'exactInput',
  amount: 10n ** 19n,
  platformFeeBps: 2,
  relayFee: 0n,
  lp: 'buy',
  baseDecimals: 18,
  quoteDecimals: 6,
  mid: { num: 2500n, den: 1n },
  quoteValue: 1,
  confidenceBps: 1.18608,
  sigma: 0.9,
  firmSeconds: 61,
  q: -0.25,
  ownGas: 300_000n,
  lockSeconds: 900,
  adverseBps: 1.5,
  rebalanceBps: 0.4,
  freeOutput: 10n ** 15n,
  params: DEFAULT_PARAMS,
};
/** No two alike, so that nothing is answered from a branch predictor. */
const varied = (n: number): PriceInputs => ({
  ...example,
  amount: 10n ** 18n + BigInt((n * 7_919) % 20_000) * 10n ** 15n,
  q: ((n % 101) - 50) / 50,
  firmSeconds: 5 + (n % 60),
});
const variedOut = (n: number): PriceInputs => ({
  ...varied(n),
  side: 'exactOutput',
  amount: 2_500_000_000n + BigInt((n * 7_919) % 20_000) * 1_000_000n,
});
const prepared = Array.from({ length: 4_096 }, (_, n) => varied(n));
const preparedOut = Array.from({ length: 4_096 }, (_, n) => variedOut(n));
const of = (list: readonly PriceInputs[], n: number): PriceInputs => list[n % list.length] as PriceInputs;

const rate = baseUnitRate(example.mid, 'buy', 18, 6);
const digest = bytesToHex(new Uint8Array(32).fill(7));
const KEY: Hex = `0x${'11'.repeat(32)}`;

const report: [string, Figures][] = [];
const shown = (name: string, figures: Figures): Figures => {
  report.push([name, figures]);
  return figures;
};

const arithmetic = shown(
  'bare integer arithmetic',
  measure((n) => exactIn(of(prepared, n).amount, { rate, spread: 82_978n, feeBps: 2n, gas: 360_000n })),
);
const exactInput = shown(
  'price, exact input',
  measure((n) => priced(of(prepared, n))),
);
const exactOutput = shown(
  'price, exact output',
  measure((n) => priced(of(preparedOut, n))),
);
const doubted = shown(
  'price and independent check',
  measure((n) => {
    const inputs = of(prepared, n);
    if (check(inputs, priced(inputs)).length > 0) throw new Error('The independent check disagrees.');
  }),
);
const promises = SCALES.map(([pairs, live, asked]) => ({
  pairs,
  live,
  asked,
  ...shown(`promise: ${pairs} pairs, ${asked} asked, ${live} live`, promise(pairs, live, asked)),
}));
/** The addon where this platform has it, and the fallback. */
const libraries = [...new Set([ecdsa, noble])].map((library) => {
  const { recover } = createRecovery(library);
  const key = hexToBytes(KEY);
  const digestBytes = hexToBytes(digest);
  const { signature: rs, recovery: id } = library.sign(digestBytes, key);
  const signature: Hex = `${bytesToHex(rs)}0${id}`;
  const count = Math.min(COUNT, library === noble ? 1_000 : 10_000);
  return {
    library: library.name,
    sign: shown(
      `one signature (${library.name})`,
      measure(() => library.sign(digestBytes, key), undefined, count),
    ),
    recover: shown(
      `one recovery (${library.name})`,
      measure(() => recover(digest, signature), undefined, count),
    ),
  };
});
const { library, sign: signature } = libraries[0] as (typeof libraries)[number];

console.log('\n                                           per second   CPU µs   p50 µs   p99 µs');
for (const [name, { perSecond, cpuMicros, p50Micros, p99Micros }] of report) {
  console.log(
    [
      name.padEnd(41),
      String(perSecond).padStart(11),
      ...[cpuMicros, p50Micros, p99Micros].map((micros) => micros.toFixed(2).padStart(8)),
    ].join(' '),
  );
}
const [small, large, cold] = [promises[0], promises[3], promises[4]] as [Figures, Figures, Figures];
console.log(
  JSON.stringify({
    bench: 'pricing',
    ...large,
    exactInput,
    exactOutput,
    priceAndCheck: doubted,
    promises,
    /**
     * The growth from one pair and no live quotes to a thousand and 100,000; and with all thousand asked by
     * turns.
     */
    growth: round(large.p50Micros / small.p50Micros),
    growthCold: round(cold.p50Micros / small.p50Micros),
    ceiling: { what: 'integer arithmetic of one exact input', ...arithmetic },
    baseline: { what: `one secp256k1 signature (${library})`, ...signature },
    libraries,
    /** The cost of the signature as a multiple of everything before it. */
    ratio: round(signature.p50Micros / large.p50Micros),
    machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
  }),
);

function priced(inputs: PriceInputs): Priced {
  const answer = price(inputs);
  if (isDecline(answer)) throw new Error(`Declined: ${answer.declined} ${answer.detail ?? ''}`);
  return answer;
}

/**
 * Everything of a cross-chain promise but its order's hash and its signature, over the real book, ledger and
 * records, at a thousand requests a second.
 */
function promise(pairs: number, live: number, asked: number): Figures {
  let nowMs = 1_800_000_000_000;
  const clock: Clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} };
  const now = () => nowMs / 1000;
  const word = (n: number, tag: number): Address =>
    `0x${(BigInt(tag) * 10n ** 30n + BigInt(n)).toString(16).padStart(40, '0')}`;
  const token = (symbol: string, decimals: number, address: Address): TokenInfo => ({
    address,
    symbol,
    name: symbol,
    decimals,
    eip3009: null,
    priceSymbol: null,
  });
  const symbols = Array.from({ length: pairs }, (_, n) => `T${n}`);
  const chains = [1, 2].map((id): Chain => ({
    id,
    slug: `c${id}`,
    sandbox: true,
    escrow: word(id, 7),
    oracle: word(id, 8),
    permit2: word(id, 9),
    depth: 1,
    blockTimeMs: 1_000,
    native: ETHER,
    landingMarginSeconds: 30,
    proofWindowSeconds: 600,
    tokens: [
      token('USDC', 6, word(0, id)),
      ...symbols.map((symbol, n) => token(symbol, 18, word(n + 1, id))),
    ],
  }));
  const config = zLpConfig.parse({
    solver: { id: 'bench', name: 'Bench' },
    chains: chains.map(({ id }) => ({ chainId: id, account: word(1, 6) })),
    prices: {
      USD: { fixed: '1' },
      ETH: { fixed: '2500' },
      ...Object.fromEntries(
        symbols.map((symbol) => [symbol, { sources: ['a', 'b', 'c'].map((feed) => ({ feed, symbol })) }]),
      ),
    },
    assets: {
      USDC: { price: 'USD', transportBps: 2 },
      ...Object.fromEntries(symbols.map((symbol) => [symbol, { price: symbol, transportBps: 4 }])),
    },
    pairs: symbols.map((base) => ({ base, quote: 'USDC', params: { maxSize: 1e6, halfBand: 1e9 } })),
  });
  const market = createMarket({ clock }, config);
  const trade = () => {
    for (const symbol of symbols)
      for (const [at, source] of ['a', 'b', 'c'].entries())
        market.observe({
          source,
          symbol,
          bid: `2499.${at}`,
          ask: `2500.${at}`,
          exchangeTimeMs: nowMs,
          receivedMs: nowMs,
          sequence: null,
        });
  };
  trade();
  const ledger = createLedger({
    buckets: chains.flatMap(({ id, tokens }) =>
      tokens.map(({ address, symbol, decimals }) => ({
        chainId: id,
        token: address,
        asset: symbol,
        decimals,
      })),
    ),
    graceSeconds: () => 15,
    limits: { total: { count: 10_000_000 }, perPair: { count: 10_000_000 }, perTaker: { count: 10_000_000 } },
  });
  for (const { id, tokens } of chains)
    for (const { address, decimals } of tokens)
      ledger.apply({
        type: 'deposited',
        id: `${id}:${address}`,
        chainId: id,
        token: address,
        amount: 10n ** BigInt(decimals + 12),
      });
  const states = new Map(
    chains.map((chain, at): [number, ChainState] => {
      // Of a chain's port a price reads only the newest known head.
      let head = { number: 1n, hash: digest, timestamp: now() };
      const newest = () =>
        head.timestamp === now()
          ? head
          : (head = { number: head.number + 1n, hash: digest, timestamp: now() });
      const port = { chain, head: newest, headSeenAtMs: () => nowMs } as unknown as ChainPort;
      const place = config.chains[at];
      if (place === undefined) throw new Error('No such chain.');
      return [
        chain.id,
        {
          port,
          config: place,
          weiPerGas: 10n ** 8n,
          extraFees: { fill: 10n ** 12n, prove: 10n ** 12n, claim: 10n ** 12n },
          native: 10n ** 18n,
        },
      ];
    }),
  );
  const winRates = createWinRates(
    { clock, log: silentLog, metrics: silentMetrics, store: { putCurves: () => Promise.resolve(true) } },
    config.pricing.calibration,
    null,
  );
  const recentQuotes = createRecentQuotes(config.explain);
  const quoteEvents = createQuoteEvents({ log: silentLog });
  quoteEvents.listen({ quoted: recentQuotes.quoted });
  quoteEvents.listen(winRates);
  const startedWith = new Map(['USDC', ...symbols].map((asset) => [asset, ledger.exposure(asset).owned]));
  const context = createPricingContext(
    {
      clock,
      market,
      ledger,
      chains: states,
      lastReadTime: now,
      startedWith,
      takers: { adverse: () => 1.5 },
      winRates,
      signals: createSignals({ clock, log: silentLog, random: systemRandom }, config.signals, []),
      plugin: undefined,
    },
    config,
  );
  const places = config.chains.map((place, at) => ({ config: place, chain: chains[at] as Chain }));
  // Both directions by turns, so that no position builds up.
  const routes = createRoutes(places, config.pairs).all.filter(({ sameChain }) => !sameChain);
  const ways = routes.length / pairs;
  const route = (n: number) => routes[(n * 31) % (asked * ways)] as QuoteRoute;

  // Written as ids are on the way of a real quote: once, in one piece.
  const bytes = Buffer.alloc(32);
  const order = (n: number): Bytes32 => (bytes.writeUInt32BE(n, 28), bytesToHex(bytes));
  const taker = (n: number) => word(n % 997, 5);
  function quote(n: number, seconds = 10): void {
    const way = route(n);
    const amount =
      way.lp === 'buy'
        ? 10n ** 18n + BigInt(n % 1_000) * 10n ** 15n
        : 2_500_000_000n + BigInt(n % 1_000) * 1_000_000n;
    const id = order(n);
    const by = taker(n);
    const rfqId = String(n);
    const inputs = context.inputs(way, {
      side: 'exactInput',
      amount,
      platformFeeBps: 2,
      relayFee: 0n,
      validUntil: now() + 10,
      taker: by,
      rfqId,
    });
    if (isDecline(inputs)) throw new Error(`Declined: ${inputs.detail ?? inputs.declined}`);
    const answer = priced(inputs);
    if (check(inputs, answer).length > 0) throw new Error('The independent check disagrees.');
    const hold: HoldRequest = {
      orderId: id,
      chainId: way.dest.id,
      token: way.outputToken.address,
      amount: answer.output,
      input: { chainId: way.origin.id, token: way.inputToken.address, amount: answer.received },
      group: `${way.origin.id}:${n}`,
      lapsesAt: now() + seconds + 30,
      taker: by,
      pair: way.pairName,
      side: way.lp,
      notional: answer.notional,
      gapLoss: 0n,
      fillProbabilityBps: Math.ceil(answer.terms.winProbability * 10_000),
    };
    const held = ledger.hold(hold, now());
    if (isDecline(held)) throw new Error(`Refused: ${held.detail ?? held.declined}`);
    quoteEvents.quoted({
      orderId: id,
      quoteId: id,
      rfqId,
      atMs: nowMs,
      taker: by,
      route: way,
      times: { validUntil: now() + seconds, fillDeadline: now() + seconds + 30, expires: now() + 640 },
      inputs,
      priced: answer,
      hold,
      slice: false,
    });
  }
  for (let n = 0; n < live; n++) quote(100_000_000 + n, 100_000);
  // Untimed: each is ended again, so that as many live at the end as at the start, and time goes by, so that
  // what is over is forgotten.
  const figures = measure(quote, (n) => {
    ledger.apply({ type: 'released', orderId: order(n) });
    if (n % 1_000 !== 999) return;
    nowMs += 1_000;
    trade();
    for (const { id } of chains) ledger.advance(id, now());
    winRates.countExpired();
  });
  if (ledger.live !== live) throw new Error(`${ledger.live} quotes are live where ${live} should be.`);
  return figures;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
