/**
 * How many firm quotes one LP process gives: request in over its real WebSocket, validated, priced, doubted,
 * reserved, signed, and out again. The venue side only asks and listens; it verifies a sample afterwards.
 * Beside it stand the same server with viem's signTypedData in the place of our signer, and two ceilings: the
 * bare signature, and the link alone answering with a text of a quote's length. Then the same LP with many
 * pairs and many live quotes: the cost must not grow.
 *
 * npm run bench -- quotes [--seconds=2] [--live=100000] [--pairs=1000] [--rate=1000] [--looks=7]
 *
 * The path is one request's, on one core: from its frame to its answer at the socket, collections that fall
 * into it included; what the LP notes of it after its answers have left (`src/lp/quote-log/afterwards.ts`) is
 * not in it, and is in the CPU per quote. CPU per quote is of the LP's whole process: compiling, collecting,
 * following the chain and the kernel's part included. It suffers least when other programs share the machine,
 * but it suffers: caches are shared, and what the process does beside quoting falls on fewer quotes. Compare
 * it with the bare signature of the same run, and measure on a quiet machine.
 */

import { fork, type ChildProcess } from 'node:child_process';
import { cpus } from 'node:os';
import { extname, resolve } from 'node:path';
import { WebSocketServer, type WebSocket } from 'ws';
import type { AddressInfo } from 'node:net';
import { encodeFunctionData, erc20Abi } from 'viem';
import { ecdsa } from '../src/adapters/secp256k1/ecdsa.ts';
import { createRecovery } from '../src/adapters/secp256k1/recovery.ts';
import { LP_NODE_OPTIONS } from '../src/apps/lp/node-options.ts';
import type { TokenInfo } from '../src/domain/chain.ts';
import { commitmentDigest } from '../src/domain/commitment.ts';
import { orderId } from '../src/domain/order.ts';
import { LINK_PATH, LINK_PROTOCOL_VERSION, readFromSolver } from '../src/protocol/link/link.ts';
import { orderFromMessage } from '../src/protocol/wire.ts';
import { depositCall } from '../src/settlement/call.ts';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { random32, request } from '../test/support/scripted-venue.ts';
import { LONG_MS, type Turn } from './loop-watch.ts';
import { isScanned, type Stillness, stalledMs, watchMachine, withoutStalls } from './machine-watch.ts';
import type {
  BenchCollections,
  BenchDone,
  BenchLook,
  BenchLp,
  BenchUsage,
  BenchWord,
  LongTurn,
} from './quotes-lp.ts';

const IN_FLIGHT = [1, 10, 50] as const;
const SECONDS = option('seconds', 2);
const LIVE = option('live', 100_000);
const PAIRS = option('pairs', 1_000);
const WARM_UP_SECONDS = 2;
/**
 * Requests a second where the LP is not asked for all that it can do; until old memory was collected, for
 * that long at most.
 */
const RATE = option('rate', 1_000);
const LONGEST_RATE_SECONDS = 40;
/** How often an operator asks each thing, at that rate. */
const LOOKS = option('looks', 7);
/**
 * A turn of the loop of more than this, without waiting for a core and without that core's standing still, is
 * told of by itself.
 */
const LONGEST_TURN_MS = 10;
/**
 * A machine that is busy with other things ends the filling before so many quotes are live; the figures say
 * how many were.
 */
const LONGEST_FILL_SECONDS = 20;
const owner = account(41);
const operator = account(42);

interface Figures {
  quotesPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMicrosPerQuote: number;
  /**
   * Of one request, from its frame to its answer at the socket, one core; the kernel's part and other threads
   * are not in it.
   */
  pathP50Micros: number | null;
  pathMeanMicros: number | null;
  /** The longest, with whatever stopped the loop meanwhile. */
  pathMaxMicros: number | null;
  /** CPU of the whole process over wall time; above 1 when collector threads help. */
  cpuShare: number;
  /**
   * The longest turn of the event loop, and the longest without waiting for a core and without that core's
   * standing still.
   */
  loopLateMaxMs: number;
  loopOwnMaxMs: number;
  /** For how long a core stood still at most. null: it cannot be known here. */
  machineStallMs: number | null;
  gcMicrosPerQuote: number;
  gcLongestMs: number;
  /** At the end. */
  live: number;
  rssMb: number;
  declines: number;
}

/** A market of the bench: what one request of it gives and takes. */
interface Pair {
  base: TokenInfo;
  quote: TokenInfo;
}

// With n tokens there are n(n - 1) / 2 pairs; USDC and WETH are there already.
const moreTokens = Math.max(0, Math.ceil((1 + Math.sqrt(1 + 8 * PAIRS)) / 2) - 2);
const machine = watchMachine();
const [devnet, postgres] = await Promise.all([
  startDevnet([41100], { blockTimeSeconds: 1, moreTokens }),
  startTestPostgres({}),
]);
const chain = devnet.chains[0] as TestChain;
await chain.fund(owner.address, 100_000_000_000n);
await depositAll();
const tokens = [chain.weth, ...chain.chain.tokens.filter(({ symbol }) => symbol !== 'WETH')];
const allPairs: Pair[] = tokens
  .flatMap((base, at) => tokens.slice(at + 1).map((quote) => ({ base, quote })))
  .slice(0, PAIRS);
const onePair = [{ base: chain.weth, quote: chain.usdc }];
const databaseUrl = await postgres.server.database('bench');
const tooLong: string[] = [];
/**
 * Turns that the system's going through memory fell into: how many, and the longest without waiting for a
 * core and without that core's standing still.
 */
const scanned = { turns: 0, ownMaxMs: 0 };
let asked = 0;
let sampleQuote = '';

try {
  const [ours, two, signatureMicros] = await withLp({ signer: 'native', pairs: onePair }, async (lp) => {
    const figures = await byInFlight(lp);
    await lp.requote({ pointsSeconds: [5] });
    return [figures, await lp.drive(10, SECONDS), lp.signatureMicros()] as const;
  });
  const stock = await withLp({ signer: 'viem', pairs: onePair }, byInFlight);
  const echo = await withLp({ signer: 'echo', pairs: onePair }, (lp) =>
    lp.drive(10, WARM_UP_SECONDS).then(() => lp.drive(10, SECONDS)),
  );
  const [many, filling, manyLive, steady, looks] = await withLp(
    { signer: 'native', pairs: allPairs },
    async (lp) => {
      await lp.drive(10, WARM_UP_SECONDS);
      const before = await lp.drive(10, SECONDS);
      await lp.requote({
        validitySeconds: 240,
        pointsSeconds: [241, 242, 243, 244],
        maxValiditySeconds: 600,
      });
      const filled = await lp.fill(LIVE);
      await lp.requote({});
      await lp.drive(10, 1);
      return [
        before,
        filled,
        await lp.drive(10, SECONDS),
        await lp.driveAt(RATE),
        await lp.looks(LOOKS, RATE),
      ] as const;
    },
  );
  show('firmquote, one quote a request', ours);
  show('the same server, signing with viem', stock);
  show(
    '10 in flight',
    new Map([
      ['2 firm times a request', two],
      [`${allPairs.length} pairs`, many],
      [`… while ${LIVE} come`, filling],
      [`${allPairs.length} pairs, many live`, manyLive],
      [`… at ${RATE} a second`, steady.figures],
      ['… and an operator asks', looks.figures],
      ['the link alone', echo],
    ]),
  );
  console.log(
    `What an operator asked it meanwhile, each ${LOOKS} times, and its longest own turn, quotes and whatever else fell into it included, p50 (longest) ms: ${Object.entries(
      looks.times,
    )
      .map(([name, { p50Ms, maxMs }]) => `${name} ${p50Ms.toFixed(1)} (${maxMs.toFixed(1)})`)
      .join(', ')}`,
  );
  console.log(
    `"own" is without the time in which others had all cores or its core stood still; "machine" is the longest that a core did, by sleepers on each that come before everything else. While it was asked ${RATE} times a second, old memory was collected ${steady.collections} ${steady.collections === 1 ? 'time' : 'times'} in ${steady.seconds.toFixed(0)} seconds.`,
  );
  console.log(
    `Turns of more than ${LONGEST_TURN_MS} ms of its own: ${tooLong.length === 0 ? 'none' : `\n  ${tooLong.join('\n  ')}`}`,
  );
  if (scanned.turns > 0)
    console.log(
      `Not counted there: ${scanned.turns} turns of more than ${LONG_MS} ms in which the system went through all memory (Linux: kdamond, kswapd and the like), the longest own ${scanned.ownMaxMs.toFixed(1)} ms.`,
    );
  console.log(
    `a bare signature: ${round(signatureMicros)} µs CPU (${ecdsa.name}). Other programs on this machine make every figure worse, CPU per quote least.`,
  );
  const [at10, base] = [ours.get(10) as Figures, stock.get(10) as Figures];
  console.log(
    JSON.stringify({
      bench: 'quotes',
      inFlight: 10,
      ...at10,
      baseline: { signer: 'viem signTypedData', ...base },
      ratio: round(at10.quotesPerSecond / base.quotesPerSecond),
      cpuRatio: round(base.cpuMicrosPerQuote / at10.cpuMicrosPerQuote),
      ceilings: {
        signing: ecdsa.name,
        bareSignatureMicros: round(signatureMicros),
        linkAloneMicros: echo.cpuMicrosPerQuote,
      },
      twoFirmTimes: two,
      pairs: { count: allPairs.length, ...many },
      pairsAndFilling: { count: allPairs.length, ...filling },
      pairsAndLive: { count: allPairs.length, ...manyLive },
      pairsAndLiveSteady: {
        count: allPairs.length,
        rate: RATE,
        seconds: round(steady.seconds),
        collectionsOfOldMemory: steady.collections,
        ...steady.figures,
      },
      pairsAndLiveAsked: { count: allPairs.length, rate: RATE, ...looks.figures },
      looks: Object.fromEntries(
        Object.entries(looks.times).map(([name, { p50Ms, maxMs }]) => [
          name,
          { p50Ms: round(p50Ms), maxMs: round(maxMs) },
        ]),
      ),
      byInFlight: Object.fromEntries(ours),
      baselineByInFlight: Object.fromEntries(stock),
      turnsTooLong: tooLong,
      turnsScanned: { turns: scanned.turns, ownMaxMs: round(scanned.ownMaxMs) },
      machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
    }),
  );
} finally {
  machine.stop();
  await Promise.all([devnet.stop(), postgres.stop()]);
}

interface Lp {
  drive(inFlight: number, seconds: number): Promise<Figures>;
  /** So many a second, whatever is answered, until old memory was collected. */
  driveAt(rate: number): Promise<{ figures: Figures; collections: number; seconds: number }>;
  /** Asks until so many quotes are live, or it has taken too long. */
  fill(live: number): Promise<Figures>;
  requote(quoting: object): Promise<void>;
  /** The same while an operator asks for everything that there is, so often each. */
  looks(
    often: number,
    rate: number,
  ): Promise<{ figures: Figures; times: Record<string, { p50Ms: number; maxMs: number }> }>;
  signatureMicros(): number;
}

async function byInFlight(lp: Lp): Promise<Map<number, Figures>> {
  const figures = new Map<number, Figures>();
  await lp.drive(10, WARM_UP_SECONDS);
  for (const inFlight of IN_FLIGHT) figures.set(inFlight, await lp.drive(inFlight, SECONDS));
  return figures;
}

/** The same for all pairs: `base` at a price of its own, so that every pair is a cross rate. */
function configOf(pairs: readonly Pair[]): { feed: Record<string, string>; config: BenchLp['config'] } {
  const symbols = [...new Set(pairs.flatMap(({ base, quote }) => [base.symbol, quote.symbol]))];
  const priced = symbols.filter((symbol) => symbol !== 'USDC');
  return {
    feed: Object.fromEntries(priced.map((symbol) => [`${symbol}USD`, String(usd(symbol))])),
    config: {
      solver: { id: 'bench', name: 'Bench' },
      chains: [{ chainId: chain.chain.id, account: owner.address, gasPrice: 'WETH' }],
      prices: {
        USDC: { fixed: '1' },
        ...Object.fromEntries(
          priced.map((symbol) => [symbol, { sources: [{ feed: 'constant', symbol: `${symbol}USD` }] }]),
        ),
      },
      assets: Object.fromEntries(symbols.map((symbol) => [symbol, { price: symbol }])),
      pairs: pairs.map(({ base, quote }) => ({ base: base.symbol, quote: quote.symbol })),
      quoting: { pointsSeconds: [] },
      // Nobody takes here, and to fill a book quotes are asked for at long firm times: an LP would find that
      // suspicious, and charge for it.
      risk: { freeOption: { liveSeconds: 1e6 } },
    },
  };
}

async function withLp<R>(
  { signer, pairs }: { signer: BenchLp['signer']; pairs: readonly Pair[] },
  work: (lp: Lp) => Promise<R>,
): Promise<R> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    path: LINK_PATH,
    perMessageDeflate: false,
  });
  await new Promise<void>((done) => server.once('listening', done));
  const active = connected(server);
  const options: BenchLp = {
    ...configOf(pairs),
    chain: chain.chain,
    rpcUrl: chain.anvil.url,
    databaseUrl,
    schema: `lp_${signer}_${pairs.length}`,
    venueUrl: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    operatorKey: operator.privateKey,
    signer,
    echo: sampleQuote,
  };
  const child = fork(resolve(import.meta.dirname, `quotes-lp-process${extname(import.meta.filename)}`), [], {
    execArgv: [...process.execArgv, ...LP_NODE_OPTIONS],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = new Promise<void>((done) => child.once('exit', () => done()));
  const tell = (word: BenchWord | BenchLp) => child.send(word);
  tell(options);
  try {
    const socket = await Promise.race([
      active,
      ended.then((): never => {
        throw new Error('The LP process ended before it was ready.');
      }),
    ]);
    const next = requests(pairs);
    const drive = (how: Drive) => driveLp({ socket, child, next, ours: signer === 'native' }, how);
    let last = await usage(child);
    return await work({
      drive: (inFlight, seconds) =>
        drive({ inFlight, until: () => new Promise((done) => setTimeout(done, seconds * 1000)) }).then(
          ({ figures }) => figures,
        ),
      async driveAt(rate) {
        const collected = () => answerTo<BenchCollections>(child, 'collections');
        const [before, startedMs] = [await collected(), performance.now()];
        let [collections, seconds] = [0, 0];
        const until = async () => {
          const lastedMs = () => performance.now() - startedMs;
          while (
            lastedMs() < SECONDS * 1000 ||
            (collections === 0 && lastedMs() < LONGEST_RATE_SECONDS * 1000)
          ) {
            await new Promise((done) => setTimeout(done, 500));
            collections = (await collected()) - before;
          }
          seconds = lastedMs() / 1_000;
        };
        const { figures } = await drive({ rate, until });
        return { figures, collections, seconds };
      },
      async fill(live) {
        const endsMs = performance.now() + LONGEST_FILL_SECONDS * 1000;
        const until = async () => {
          while ((await answerTo<number>(child, 'live')) < live && performance.now() < endsMs)
            await new Promise((done) => setTimeout(done, 50));
        };
        return (await drive({ inFlight: 50, until })).figures;
      },
      async requote(quoting) {
        await answerTo<BenchDone>(child, { quoting });
        last = await usage(child);
      },
      async looks(often, rate) {
        let answers: BenchLook[] = [];
        const until = async () => void (answers = await answerTo<BenchLook[]>(child, { looks: often }));
        const { figures, turns, still } = await drive({ rate, until });
        return { figures, times: timesOf(answers, turns, still) };
      },
      signatureMicros: () => last.signatureMicros,
    });
  } finally {
    if (child.connected) tell('stop');
    await Promise.race([ended, new Promise((done) => setTimeout(done, 8_000))]);
    child.kill('SIGKILL');
    await new Promise((done) => server.close(done));
  }
}

/** The handshake, then the first `active`. */
function connected(server: WebSocketServer): Promise<WebSocket> {
  return new Promise((done) => {
    server.on('connection', (socket) => {
      const { id, slug, escrow, oracle } = chain.chain;
      socket.send(
        JSON.stringify({
          type: 'challenge',
          nonce: random32(),
          venueId: 'bench',
          protocolVersion: LINK_PROTOCOL_VERSION,
          chains: [{ chainId: id, slug, escrow, oracle }],
        }),
      );
      const listen = (data: Buffer) => {
        const read = readFromSolver(data.toString());
        if (!read.ok) throw new Error(read.detail);
        if (read.message.type === 'hello')
          socket.send(JSON.stringify({ type: 'welcome', sessionId: 'b', heartbeatSeconds: 30 }));
        if (read.message.type === 'resync') socket.send(JSON.stringify({ type: 'resync', awards: [] }));
        if (read.message.type !== 'status' || read.message.status !== 'active') return;
        socket.off('message', listen);
        done(socket);
      };
      socket.on('message', listen);
    });
  });
}

/**
 * Requests ready to be sent, about 25 USD each: all pairs by turns and both sides of each, so that a position
 * never builds up; a nonce each, and many takers.
 */
function requests(pairs: readonly Pair[]): () => { id: string; frame: string } {
  const templates = pairs.flatMap(({ base, quote }) => {
    const units = ({ symbol, decimals }: TokenInfo) => (25n * 10n ** BigInt(decimals)) / BigInt(usd(symbol));
    return [[base, quote] as const, [quote, base] as const].map(([give, take]) => {
      const rfq = request({
        from: chain.chain,
        to: chain.chain,
        give,
        take,
        amount: units(give),
        taker: owner.address,
        relayFee: (units(give) / 300n).toString(),
        deadlineMs: 60_000,
      });
      return JSON.stringify({
        ...rfq,
        rfqId: '@',
        taker: '@',
        receiver: '@',
        skeleton: { ...rfq.skeleton, nonce: '@' },
      }).split('@');
    });
  });
  return () => {
    asked += 1;
    const parts = templates[asked % templates.length] as string[];
    const taker = `0x${(0xfa000000 + (asked % 60_000)).toString(16).padStart(40, '0')}`;
    // As long as a venue's. V8 keeps each text of up to ten characters that it parses in a table of its own,
    // which others would not fill.
    const id = `00000000-0000-4000-8000-${String(asked).padStart(12, '0')}`;
    const values = [id, taker, taker, `${asked}${process.hrtime.bigint()}`];
    return { id, frame: parts.map((part, at) => part + (values[at] ?? '')).join('') };
  };
}

/** So many at once, or so many a second, until something. */
interface Drive {
  inFlight?: number;
  rate?: number;
  until: () => Promise<void>;
}

interface Driven {
  socket: WebSocket;
  child: ChildProcess;
  next: () => { id: string; frame: string };
  /** Its long turns are told of; those of a peer are its own business. */
  ours: boolean;
}

async function driveLp(
  { socket, child, next, ours }: Driven,
  { inFlight = 0, rate = 0, until }: Drive,
): Promise<{ figures: Figures; turns: Turn[]; still: Stillness }> {
  const sent = new Map<string, number>();
  const latencies: number[] = [];
  const sample: string[] = [];
  let quotes = 0;
  let declines = 0;
  let over = false;
  let watch: NodeJS.Timeout | undefined;
  const stuck = new Promise<never>((_, reject) => {
    let [heard, since] = [0, performance.now()];
    watch = setInterval(() => {
      if (quotes + declines !== heard) [heard, since] = [quotes + declines, performance.now()];
      else if (performance.now() - since > 15_000)
        reject(
          new Error(
            `The LP has not answered for 15 seconds: ${sent.size} requests are open, ${quotes} quotes and ${declines} declines came before.`,
          ),
        );
    }, 500);
  });
  const ask = () => {
    const { id, frame } = next();
    sent.set(id, performance.now());
    socket.send(frame);
  };
  let finish = (): void => {};
  const drained = new Promise<void>((done) => {
    finish = () => {
      socket.off('message', listen);
      done();
    };
    const listen = (data: Buffer) => {
      const text = data.toString('latin1');
      const at = text.indexOf('"rfqId":"');
      if (at === -1) return;
      const id = text.slice(at + 9, text.indexOf('"', at + 9));
      const startedMs = sent.get(id);
      if (startedMs === undefined) return;
      if (text.startsWith('{"type":"quote"')) {
        if (!over) quotes += 1;
        if (quotes % 997 === 1) sample.push(text);
        if (text.includes('"more":true')) return;
        if (!over) latencies.push(performance.now() - startedMs);
      } else if (++declines === 1) console.error('the first decline:', text);
      sent.delete(id);
      if (!over && rate === 0) ask();
      else if (over && sent.size === 0) finish();
    };
    socket.on('message', listen);
  });
  await machine.seen();
  const before = await usage(child);
  const startedMs = performance.now();
  for (let i = 0; i < inFlight; i += 1) ask();
  let due = 0;
  const steady = setInterval(() => {
    for (const by = ((performance.now() - startedMs) / 1000) * rate; due < by; due += 1) ask();
  }, 1);
  await Promise.race([until(), stuck]);
  over = true;
  clearInterval(steady);
  if (sent.size === 0) finish();
  const elapsed = (performance.now() - startedMs) / 1000;
  const after = await usage(child);
  await Promise.race([drained, stuck]);
  clearInterval(watch);
  const known = await machine.seen();
  const still = known ?? { stalls: [], scans: [] };
  if (ours)
    tellOfLong(
      after.loop.long,
      still,
      `${rate > 0 ? `${rate} a second` : `${inFlight} in flight`}, ${after.live} live`,
    );
  const long = after.loop.long.filter((turn) => !isScanned(turn, still.scans));
  for (const text of sample) if (!text.includes('"echo"')) verify(text);
  sampleQuote ||= (sample[0] ?? '')
    .replace(/"rfqId":"[^"]*"/, '"rfqId":"@ID"')
    .replace(/"quoteId":"[^"]*"/, '"quoteId":"echo"');
  const cpuMicros = after.userMicros + after.systemMicros - before.userMicros - before.systemMicros;
  latencies.sort((a, b) => a - b);
  const at = (share: number) =>
    round(latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))] ?? Number.NaN);
  const figures: Figures = {
    quotesPerSecond: Math.round(quotes / elapsed),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    cpuMicrosPerQuote: Math.round(cpuMicros / quotes),
    pathP50Micros: after.path ? round(after.path.p50Micros) : null,
    pathMeanMicros: after.path ? round(after.path.meanMicros) : null,
    pathMaxMicros: after.path ? round(after.path.maxMicros) : null,
    cpuShare: round(cpuMicros / 1e6 / elapsed),
    loopLateMaxMs: round(after.loop.lateMaxMs),
    loopOwnMaxMs: round(longestOwn(after.loop.ownMaxMs, long, still)),
    machineStallMs: known === undefined ? null : round(Math.max(0, ...known.stalls.map(({ ms }) => ms))),
    gcMicrosPerQuote: round(((after.gcMs - before.gcMs) * 1000) / quotes),
    gcLongestMs: round(after.gcLongestMs),
    live: after.live,
    rssMb: Math.round(after.rssBytes / 2 ** 20),
    declines,
  };
  return { figures, turns: long, still };
}

function tellOfLong(turns: readonly LongTurn[], still: Stillness, when: string): void {
  for (const turn of turns) {
    const ms = withoutStalls(turn, still.stalls);
    if (isScanned(turn, still.scans)) {
      scanned.turns += 1;
      scanned.ownMaxMs = Math.max(scanned.ownMaxMs, ms);
    } else if (ms > LONGEST_TURN_MS) tooLong.push(`${when}: ${accountOf(turn, still)}`);
  }
}

/** What is known of one long turn, for whoever looks for its cause. */
function accountOf(turn: LongTurn, { stalls }: Stillness): string {
  const ms = (value: number) => value.toFixed(1);
  return `${ms(withoutStalls(turn, stalls))} ms of its own; late ${ms(turn.lateMs)}, on a core ${ms(turn.ranMs)}, waiting for one ${ms(turn.waitedMs)}, core ${turn.core} stood still ${ms(stalledMs(turn, stalls, 'there'))}, another ${ms(stalledMs(turn, stalls, 'elsewhere'))}, in collections ${ms(turn.collectionsMs)}`;
}

/** Of turns that are known one by one where they were long, `ownMs` the longest of them all. */
function longestOwn(ownMs: number, long: readonly Turn[], { stalls }: Stillness): number {
  return Math.max(Math.min(ownMs, LONG_MS), ...long.map((turn) => withoutStalls(turn, stalls)));
}

function timesOf(
  looks: readonly BenchLook[],
  turns: readonly Turn[],
  still: Stillness,
): Record<string, { p50Ms: number; maxMs: number }> {
  const longest = new Map<string, number[]>();
  for (const { name, fromMs, toMs, ownMs } of looks) {
    const during = turns.filter(({ endMs, lateMs }) => endMs > fromMs && endMs - lateMs < toMs);
    longest.set(name, [...(longest.get(name) ?? []), longestOwn(ownMs, during, still)]);
  }
  return Object.fromEntries(
    [...longest].map(([name, all]) => {
      const sorted = all.sort((a, b) => a - b);
      return [name, { p50Ms: sorted[sorted.length >> 1] as number, maxMs: sorted.at(-1) as number }];
    }),
  );
}

/** A quote counts only if anybody could check it. */
function verify(text: string): void {
  const read = readFromSolver(text);
  if (!read.ok || read.message.type !== 'quote')
    throw new Error(`Not a quote: ${read.ok ? read.message.type : read.detail}`);
  const { order, quoteId, commitment } = read.message;
  const domain = { chainId: chain.chain.id, escrow: chain.chain.escrow };
  const digest = commitmentDigest(domain, {
    orderId: orderId(domain, orderFromMessage(order)),
    quoteId,
    lp: commitment.lp,
    deadline: commitment.deadline,
  });
  if (createRecovery().recover(digest, commitment.signature) !== operator.address)
    throw new Error('A quote was not signed by the operator.');
}

/** Half of everything the owner was given, into the escrow, in a handful of blocks. */
async function depositAll(): Promise<void> {
  const send = (to: string, data: string) =>
    chain.anvil.rpc('eth_sendTransaction', [{ from: owner.address, to, data, gas: '0x30d40' }]);
  for (const { address, decimals } of chain.chain.tokens) {
    await send(
      address,
      encodeFunctionData({
        abi: erc20Abi,
        functionName: 'approve',
        args: [chain.chain.escrow, 2n ** 256n - 1n],
      }),
    );
    await send(chain.chain.escrow, depositCall(address, 50_000_000_000n * 10n ** BigInt(decimals)));
  }
  // Waits for its own receipt, and every block before it has the rest.
  await chain.setOperator(owner.address, operator.address);
  await chain.anvil.mine(2);
}

function usage(child: ChildProcess): Promise<BenchUsage> {
  return answerTo(child, 'usage');
}

function answerTo<T>(child: ChildProcess, word: BenchWord): Promise<T> {
  return new Promise((done) => {
    child.once('message', (message) => done(message as T));
    child.send(word);
  });
}

function show(name: string, figures: ReadonlyMap<number | string, Figures>): void {
  console.log(`\n${name}`);
  console.log(
    `${''.padEnd(26)}quotes/s   p50 ms   p99 ms   path µs p50 / mean   CPU µs/quote   CPU   loop max ms late / own / machine   GC µs   live   RSS MB   declines`,
  );
  for (const [label, f] of figures) {
    const words = [
      f.quotesPerSecond,
      f.p50Ms.toFixed(2),
      f.p99Ms.toFixed(2),
      f.pathP50Micros === null ? '' : `${f.pathP50Micros.toFixed(0)} / ${f.pathMeanMicros?.toFixed(0)}`,
      f.cpuMicrosPerQuote,
      f.cpuShare.toFixed(2),
      `${f.loopLateMaxMs.toFixed(1)} / ${f.loopOwnMaxMs.toFixed(1)} / ${f.machineStallMs?.toFixed(1) ?? '?'}`,
      f.gcMicrosPerQuote.toFixed(1),
      f.live,
      f.rssMb,
      f.declines,
    ];
    const widths = [8, 9, 9, 21, 15, 6, 35, 8, 7, 9, 11];
    console.log(
      (typeof label === 'number' ? `${label} in flight` : label).padEnd(26) +
        words.map((word, at) => String(word).padStart(widths[at] ?? 8)).join(''),
    );
  }
}

/** USD for one: whole, so that every amount divides. */
function usd(symbol: string): number {
  if (symbol === 'USDC') return 1;
  return symbol === 'WETH' ? 2_500 : 2 + Number(symbol.slice(1));
}

function option(name: string, otherwise: number): number {
  const given = process.argv.find((word) => word.startsWith(`--${name}=`));
  const value = given === undefined ? otherwise : Number(given.slice(name.length + 3));
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} is a positive number.`);
  return value;
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
