/**
 * Measures how many firm quotes one LP makes whose key is in a key service that takes 30 ms for a signature
 * and makes eight at a time: one signature over the tree of all quotes that wait, next to one signature for
 * each quote, in the same run. The latter is measured at the same rate, and at three quarters of what the
 * service can sign. The gate: at least 500 quotes/s. The service is the played AWS KMS of the tests, over
 * HTTP, in the process that makes the load.
 *
 * npm run bench -- remote-signer [--seconds=10] [--rate=600]
 */

import { cpus } from 'node:os';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { AWS_ENVIRONMENT, playAwsKms } from '../test/support/key-services/aws-kms.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { request } from '../test/support/scripted-venue.ts';
import { option, rounded, table } from './load.ts';
import { type LpProcess, onePairConfig, percentile, startLpProcess, verifyQuote } from './lp-process.ts';

const GATE_PER_SECOND = 500;
const LATENCY_MS = 30;
const PLACES = 8;
const SECONDS = option('seconds', 10);
/** Requests per second, sent whether or not the LP keeps up. */
const RATE = option('rate', 600);
/** Signatures per second. */
const CEILING = Math.round((PLACES * 1_000) / LATENCY_MS);
const EACH_RATE = Math.round(CEILING * 0.75);
/** The deadline that a venue's fan-out gives. */
const DEADLINE_MS = 1_000;
const OPERATOR = 42;
const owner = account(41);

interface Figures {
  quotesPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  declines: number;
  signaturesPerSecond: number;
  stepsMean: number;
}

Object.assign(process.env, AWS_ENVIRONMENT);
const [devnet, postgres, kms] = await Promise.all([
  startDevnet([41_101], { blockTimeSeconds: 1 }),
  startTestPostgres({}),
  playAwsKms(OPERATOR),
]);
const chain = devnet.chains[0] as TestChain;
const databaseUrl = await postgres.server.database('bench');
kms.latencyMs = LATENCY_MS;
let asked = 0;

try {
  await chain.fund(owner.address, 10_000_000_000n);
  for (const { address, decimals } of [chain.usdc, chain.weth])
    await chain.deposit(owner.address, address, 1_000_000_000n * 10n ** BigInt(decimals));
  await chain.setOperator(owner.address, account(OPERATOR).address);
  await chain.anvil.mine(3);
  const rows = {
    trees: await measure('trees', RATE),
    each: await measure('each', RATE),
    eachInTime: await measure('each_in_time', EACH_RATE),
  };
  report(rows);
} finally {
  await Promise.all([devnet.stop(), postgres.stop(), kms.close()]);
}

async function measure(name: 'trees' | 'each' | 'each_in_time', rate: number): Promise<Figures> {
  const { feed, config } = onePairConfig(chain.chain.id, owner.address);
  const lp = await startLpProcess({
    feed,
    config: { ...config, risk: { freeOption: { liveSeconds: 1e6 } } },
    chain: chain.chain,
    rpcUrl: chain.anvil.url,
    databaseUrl,
    schema: `lp_${name}`,
    operatorKey: account(OPERATOR).privateKey,
    signer: { awsKms: kms.url, maxConcurrent: PLACES, trees: name === 'trees' },
  });
  await drive(lp, 2, rate);
  const figures = await drive(lp, SECONDS, rate);
  await lp.stop();
  return figures;
}

/** Sends `rate` requests a second and counts the quotes that come within their deadline. */
async function drive({ socket }: LpProcess, seconds: number, rate: number): Promise<Figures> {
  const sentMs = new Map<string, number>();
  const latenciesMs: number[] = [];
  const quotes: string[] = [];
  let declines = 0;
  const listen = (data: Buffer) => {
    const text = data.toString('latin1');
    const id = /"rfqId":"([^"]*)"/.exec(text)?.[1] ?? '';
    const startedMs = sentMs.get(id);
    if (startedMs === undefined) return;
    if (text.startsWith('{"type":"quote"')) {
      quotes.push(text);
      if (text.includes('"more":true')) return;
      const tookMs = performance.now() - startedMs;
      if (tookMs <= DEADLINE_MS) latenciesMs.push(tookMs);
    } else declines += 1;
    sentMs.delete(id);
  };
  socket.on('message', listen);
  const signedBefore = kms.signed;
  const startedMs = performance.now();
  for (let sent = 0; performance.now() - startedMs < seconds * 1_000;) {
    const due = ((performance.now() - startedMs) / 1_000) * rate;
    for (; sent < due; sent += 1) {
      const { id, frame } = nextRequest();
      sentMs.set(id, performance.now());
      socket.send(frame);
    }
    await new Promise((done) => setTimeout(done, 5));
  }
  const tookSeconds = (performance.now() - startedMs) / 1_000;
  const signatures = kms.signed - signedBefore;
  await new Promise((done) => setTimeout(done, DEADLINE_MS));
  socket.off('message', listen);
  const steps = quotes.map((text) => verifyQuote(text, chain.chain, account(OPERATOR).address));
  const sorted = latenciesMs.sort((a, b) => a - b);
  return {
    quotesPerSecond: Math.round(sorted.length / tookSeconds),
    p50Ms: rounded(percentile(sorted, 0.5)),
    p99Ms: rounded(percentile(sorted, 0.99)),
    declines,
    signaturesPerSecond: Math.round(signatures / tookSeconds),
    stepsMean: rounded(steps.reduce((sum, count) => sum + count, 0) / Math.max(1, steps.length)),
  };
}

function nextRequest(): { id: string; frame: string } {
  asked += 1;
  const amount = 25n * 10n ** BigInt(chain.usdc.decimals);
  const made = request({
    from: chain.chain,
    to: chain.chain,
    give: chain.usdc,
    take: chain.weth,
    amount,
    taker: `0x${(0xfa000000 + (asked % 60_000)).toString(16).padStart(40, '0')}`,
    relayFee: (amount / 300n).toString(),
    deadlineMs: DEADLINE_MS,
  });
  return { id: made.rfqId, frame: JSON.stringify(made) };
}

function report({ trees, each, eachInTime }: Record<'trees' | 'each' | 'eachInTime', Figures>): void {
  const cells = (f: Figures) => [
    f.quotesPerSecond,
    f.p50Ms,
    f.p99Ms,
    f.declines,
    f.signaturesPerSecond,
    f.stepsMean,
  ];
  console.log(
    table(
      [
        'one signature for',
        'quotes/s in time',
        'p50 ms',
        'p99 ms',
        'declines',
        'asked to sign/s',
        'steps of a proof',
      ],
      [
        [`a tree of quotes, ${RATE} requests/s`, ...cells(trees)],
        [`each quote, ${RATE} requests/s`, ...cells(each)],
        [`each quote, ${EACH_RATE} requests/s`, ...cells(eachInTime)],
      ],
    ),
  );
  const met = trees.quotesPerSecond >= GATE_PER_SECOND;
  console.log(
    `gate, ${LATENCY_MS} ms for a signature, ${PLACES} at a time: ${trees.quotesPerSecond} quotes/s (>= ${GATE_PER_SECOND}): ${met ? 'met' : 'MISSED'}; the service signs at most ${CEILING} times a second`,
  );
  console.log(
    JSON.stringify({
      bench: 'remote-signer',
      ...trees,
      baseline: { signer: 'one signature for each quote', ...each, atLowerRate: eachInTime },
      met,
      machine: { cpu: cpus()[0]?.model.trim(), cores: cpus().length, node: process.version },
    }),
  );
}
