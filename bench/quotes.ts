/**
 * Measures how many firm quotes one LP process makes: a request arrives on its WebSocket, is validated,
 * priced, reserved and signed, and the quote leaves. Next to it, in the same run, the same server signs with
 * viem's signTypedData; the gate (reliability.md, section 5) compares the two with 10 requests in flight and
 * 10,000 live quotes. Then requests are offered at a rate that rises until quotes fall behind; rows at 50,
 * 80, 150 and 300 % of the capacity follow.
 *
 * npm run bench -- quotes [--seconds=3] [--live=10000] [--rates=2000,6000] [--profile=FILE]
 *
 * CPU per quote is the LP process's, with compiling, garbage collection and following the chain. Other
 * programs on the machine make every figure worse; the ratio suffers least.
 */

import { cpus } from 'node:os';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { type Knee, type RateFigures, showOffered, showSummary, summaryOf, toTheKnee } from './knee.ts';
import { type LoadFigures, openLoop, option, rounded, table } from './load.ts';
import {
  createRequests,
  type LpProcess,
  onePairConfig,
  percentile,
  startLpProcess,
  verifyQuote,
} from './lp-process.ts';
import { createQuoteCaller, type QuoteRequest } from './quote-caller.ts';

const GATE = { ratio: 4, p99Ms: 10, p999Ms: 50 };
const IN_FLIGHT = [1, 10, 50] as const;
/** The two servers take turns, so that a slow minute of the machine slows both. */
const ROUNDS = 3;
const SECONDS = option('seconds', 3);
const LIVE = option('live', 10_000);
const GATE_ROW = `10 in flight, about ${LIVE} live quotes`;
const WARM_UP_SECONDS = 2;
/** A quote stays live after its validity: landing margin, grace, and the blocks until the LP sees its end. */
const MARGIN_SECONDS = 1;
const GRACE_SECONDS = 1;
const LIVE_BEYOND_VALIDITY_SECONDS = MARGIN_SECONDS + GRACE_SECONDS + 2;
/** The default of a venue's `fanOut.timeoutMs`. */
const DEADLINE_MS = 300;
/** The first rate on the way to the knee, as a share of what 10 in flight get. */
const FIRST_SHARE = 0.6;
const owner = account(41);
const operator = account(42);

interface Figures {
  quotesPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  p999Ms: number;
  cpuMicrosPerQuote: number;
  /** Live quotes at the start or the end of a round, whichever is lower; the mean of all rounds. */
  live: number;
  loopP99Ms: number;
  rssMb: number;
  declines: number;
}

/** Figures that one or more rounds of one row measured. */
interface Measured {
  latenciesMs: number[];
  seconds: number;
  cpuMicros: number;
  /** The lower of start and end. */
  live: number;
  declines: number;
}

type OfferedFigures = LoadFigures & RateFigures & { live: number };

const [devnet, postgres] = await Promise.all([
  startDevnet([41_100], { blockTimeSeconds: 1 }),
  startTestPostgres({}),
]);
const chain = devnet.chains[0] as TestChain;
const databaseUrl = await postgres.server.database('bench');
const nextRequest = createRequests(chain, { takers: 60_000, landingMarginSeconds: MARGIN_SECONDS });
/** Quotes to verify after the row. */
const samples: string[] = [];

try {
  await chain.fund(owner.address, 10_000_000_000n);
  for (const { address, decimals } of [chain.usdc, chain.weth])
    await chain.deposit(owner.address, address, 1_000_000_000n * 10n ** BigInt(decimals));
  await chain.setOperator(owner.address, operator.address);
  await chain.anvil.mine(3);
  const lps = { firmquote: await startLp('native'), viem: await startLp('viem') };
  for (const lp of Object.values(lps)) await drive(lp, 10, WARM_UP_SECONDS);

  const rows = new Map<string, { firmquote: Figures; viem: Figures }>();
  const none = { firmquote: 0, viem: 0 };
  for (const inFlight of IN_FLIGHT) rows.set(`${inFlight} in flight`, await inTurns(lps, inFlight, 1, none));
  const settle = { firmquote: await keepLive(lps.firmquote), viem: await keepLive(lps.viem) };
  rows.set(GATE_ROW, await lps.firmquote.profiled(() => inTurns(lps, 10, ROUNDS, settle)));
  await lps.viem.stop();
  const closedLoop = rows.get(GATE_ROW)?.firmquote.quotesPerSecond ?? Number.NaN;
  const first = Math.round((FIRST_SHARE * closedLoop) / 100) * 100;
  const knee = await toTheKnee(first, (rate) => offer(lps.firmquote, rate));
  await lps.firmquote.stop();
  report(rows, knee);
} finally {
  await Promise.all([devnet.stop(), postgres.stop()]);
}

async function startLp(signer: 'native' | 'viem'): Promise<LpProcess> {
  const { feed, config } = onePairConfig(chain.chain.id, owner.address);
  return startLpProcess({
    feed,
    // The bench takes no quote, which an LP would count as holding free options and charge for.
    config: {
      ...config,
      chains: config.chains.map((of) => ({ ...of, graceSeconds: GRACE_SECONDS })),
      risk: { freeOption: { liveSeconds: 1e6 } },
    },
    chain: chain.chain,
    rpcUrl: chain.anvil.url,
    databaseUrl,
    schema: `lp_${signer}`,
    operatorKey: operator.privateKey,
    signer,
  });
}

async function inTurns(
  lps: { firmquote: LpProcess; viem: LpProcess },
  inFlight: number,
  rounds: number,
  /** Seconds of load before each round, not measured: quotes ended while it was the other LP's turn. */
  settle: Record<'firmquote' | 'viem', number>,
): Promise<{ firmquote: Figures; viem: Figures }> {
  const measured: Record<'firmquote' | 'viem', Measured[]> = { firmquote: [], viem: [] };
  await Promise.all(Object.values(lps).map((lp) => lp.usage()));
  for (let round = 0; round < rounds; round += 1)
    for (const name of ['firmquote', 'viem'] as const) {
      if (settle[name] > 0) await drive(lps[name], inFlight, settle[name]);
      measured[name].push(await drive(lps[name], inFlight, SECONDS));
    }
  return {
    firmquote: await figuresOf(lps.firmquote, measured.firmquote),
    viem: await figuresOf(lps.viem, measured.viem),
  };
}

async function figuresOf(lp: LpProcess, rounds: readonly Measured[]): Promise<Figures> {
  const sorted = rounds.flatMap(({ latenciesMs }) => latenciesMs).sort((a, b) => a - b);
  const sum = (of: (round: Measured) => number) => rounds.reduce((total, round) => total + of(round), 0);
  const { loopP99Ms, rssBytes } = await lp.usage();
  return {
    quotesPerSecond: Math.round(sorted.length / sum((round) => round.seconds)),
    p50Ms: rounded(percentile(sorted, 0.5)),
    p99Ms: rounded(percentile(sorted, 0.99)),
    p999Ms: rounded(percentile(sorted, 0.999)),
    cpuMicrosPerQuote: Math.round(sum((round) => round.cpuMicros) / sorted.length),
    live: Math.round(sum((round) => round.live) / rounds.length),
    loopP99Ms: rounded(loopP99Ms),
    rssMb: Math.round(rssBytes / 2 ** 20),
    declines: sum((round) => round.declines),
  };
}

/** Sets the validity at which about LIVE quotes are live at this LP's rate; returns the seconds it takes. */
async function keepLive(lp: LpProcess): Promise<number> {
  const { latenciesMs, seconds: took } = await drive(lp, 10, WARM_UP_SECONDS);
  const liveSeconds = (LIVE * took) / latenciesMs.length;
  const validitySeconds = Math.max(1, Math.round(liveSeconds - LIVE_BEYOND_VALIDITY_SECONDS));
  await lp.requote({ validitySeconds });
  return validitySeconds + LIVE_BEYOND_VALIDITY_SECONDS;
}

/** Keeps so many requests open at one LP for so many seconds. */
async function drive(lp: LpProcess, inFlight: number, forSeconds: number): Promise<Measured> {
  const caller = createQuoteCaller(lp.socket);
  const latenciesMs: number[] = [];
  let [answers, declines] = [0, 0];
  let over = false;
  const worker = async () => {
    while (!over) {
      const { status, ms, text } = await caller.ask(nextRequest());
      if (status !== 200) declines += 1;
      else if (!over) latenciesMs.push(ms);
      verifySome(answers++, status, text);
    }
  };
  const before = await lp.usage();
  const startedMs = performance.now();
  const drained = Promise.all(Array.from({ length: inFlight }, worker));
  await caller.whileAnswered(new Promise((done) => setTimeout(done, forSeconds * 1_000)));
  over = true;
  const took = (performance.now() - startedMs) / 1_000;
  const after = await lp.usage();
  await caller.whileAnswered(drained);
  caller.close();
  verifySamples();
  return {
    latenciesMs,
    seconds: took,
    cpuMicros: after.cpuMicros - before.cpuMicros,
    live: Math.min(before.liveQuotes, after.liveQuotes),
    declines,
  };
}

/** Offers so many requests a second to one LP, which may decline what is late, as a venue's requests say. */
async function offer(lp: LpProcess, rate: number): Promise<OfferedFigures> {
  // Made beforehand: at three times what an LP serves, making them would take what a core has.
  const requests = Array.from({ length: Math.round(rate * SECONDS) }, () => nextRequest(DEADLINE_MS));
  const caller = createQuoteCaller(lp.socket);
  const before = await lp.usage();
  const figures = await caller.whileAnswered(
    openLoop({
      rate,
      seconds: SECONDS,
      call: async (n) => {
        const reply = await caller.ask(requests[n] as QuoteRequest);
        verifySome(n, reply.status, reply.text);
        return reply;
      },
    }),
  );
  const after = await lp.usage();
  caller.close();
  verifySamples();
  return {
    ...figures,
    cpuMicros: after.cpuMicros - before.cpuMicros,
    live: Math.min(before.liveQuotes, after.liveQuotes),
  };
}

/** Keeps one quote of a thousand, to be verified when nothing is measured. */
function verifySome(n: number, status: number, text: string): void {
  if (n % 997 === 0 && status === 200) samples.push(text);
}

function verifySamples(): void {
  for (const text of samples.splice(0)) verifyQuote(text, chain.chain, operator.address);
}

function report(
  rows: ReadonlyMap<string, { firmquote: Figures; viem: Figures }>,
  knee: Knee<OfferedFigures>,
): void {
  const cells = (f: Figures) => [
    f.quotesPerSecond,
    f.p50Ms,
    f.p99Ms,
    f.p999Ms,
    f.cpuMicrosPerQuote,
    f.live,
    f.loopP99Ms,
    f.rssMb,
    f.declines,
  ];
  console.log(
    table(
      [
        '',
        'quotes/s',
        'p50 ms',
        'p99 ms',
        'p99.9 ms',
        'CPU us/quote',
        'live',
        'loop p99 ms',
        'RSS MB',
        'declines',
      ],
      [...rows].flatMap(([name, { firmquote, viem }]) => [
        [name, ...cells(firmquote)],
        ['  the same server, signing with viem', ...cells(viem)],
      ]),
    ),
  );
  console.log(
    table(
      [
        'requests offered, of capacity',
        'quotes/s',
        'p50 ms',
        'p99 ms',
        'declines',
        'p99 ms of declines',
        'CPU us/quote',
        'live',
      ],
      knee.rows.map((row) => [
        showOffered(row),
        row.perSecond,
        row.p50Ms,
        row.p99Ms,
        row.refused,
        row.refusalP99Ms,
        Math.round(row.cpuMicros / Math.max(1, row.served)),
        row.live,
      ]),
    ),
  );
  console.log(showSummary(knee, { refuses: true }));
  const [gateRow] = [...rows.values()].slice(-1) as [{ firmquote: Figures; viem: Figures }];
  const { firmquote, viem } = gateRow;
  const ratio = rounded(firmquote.quotesPerSecond / viem.quotesPerSecond);
  const met = ratio >= GATE.ratio && firmquote.p99Ms < GATE.p99Ms && firmquote.p999Ms < GATE.p999Ms;
  console.log(
    `gate, 10 in flight with about ${LIVE} live quotes: ratio ${ratio} (>= ${GATE.ratio}), p99 ${firmquote.p99Ms} ms (< ${GATE.p99Ms}), p99.9 ${firmquote.p999Ms} ms (< ${GATE.p999Ms}): ${met ? 'met' : 'MISSED'}`,
  );
  console.log(
    JSON.stringify({
      bench: 'quotes',
      ...summaryOf(knee),
      inFlight: 10,
      ...firmquote,
      baseline: { signer: 'viem signTypedData', ...viem },
      ratio,
      met,
      inFlightRows: Object.fromEntries(rows),
      rows: knee.rows,
      machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
    }),
  );
}
