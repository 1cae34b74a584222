/**
 * `npm run soak -- --minutes 10 --seed 1 [--json FILE] [--quotes 20] [--orders 2] [--streams 200]
 * [--provider NAME]`: everything trades for that long while one fault after the other occurs.
 * docs/develop/soak.md explains the output.
 */

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import buildFaultProgram from '../faults/support/build.ts';
import type { Part } from '../faults/support/process.ts';
import { seeded } from '../kill/seeded.ts';
import { isProvider, PLANS, type ProviderName } from '../support/providers.ts';
import { startGround, type Ground } from './ground.ts';
import { openStreams, type Streams } from './streams.ts';
import { gather, startTraffic, type Traffic } from './traffic.ts';
import { type Trouble, troubles } from './troubles.ts';
import { brokenForGood, brokenNow, couldNotStart, endsOf, openOrders, watchLogs } from './verdict.ts';
import { type Vitals, watchVitals } from './vitals.ts';

/** Of the orders that takers try. Below this share the run proves nothing, even without an error. */
const LEAST_ACCEPTED = 0.25;
/** Of the accepted orders. Faults make single ones fail, and never most of them. */
const LEAST_SETTLED = 0.5;
const TROUBLE_EVERY_S = 20;
const LOOK_EVERY_S = 10;
/** After traffic has ended, every order gets its time to expire plus a margin. */
const DRAIN_S = 420;
/** Starting takes a minute, and much longer on a busy machine. */
const START_S = 900;

// The gates' rates. A busy machine may be given lower ones, and the summary says so.
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    json: { type: 'string' },
    quotes: { type: 'string', default: '20' },
    orders: { type: 'string', default: '2' },
    streams: { type: 'string', default: '200' },
    provider: { type: 'string' },
  },
});
const [minutes, quotesPerSecond, ordersPerSecond, clients] = [
  Number(values.minutes),
  Number(values.quotes),
  Number(values.orders),
  Number(values.streams),
];
const provider = providerNamed(values.provider);
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
if (
  !(minutes > 0 && quotesPerSecond > 0 && ordersPerSecond > 0) ||
  !Number.isSafeInteger(clients) ||
  clients < 1 ||
  !Number.isSafeInteger(seed)
) {
  console.error(
    '--minutes, --quotes and --orders (a second) are numbers above 0, --streams and --seed whole numbers, such as --minutes 10 --seed 1.',
  );
  process.exit(2);
}

const startedMs = performance.now();
const elapsed = () => (performance.now() - startedMs) / 1_000;
const say = (text: string) => console.log(`${clockOf(elapsed())}  ${text}`);
const pause = (seconds: number) => new Promise((resolve) => setTimeout(resolve, seconds * 1_000));

// What was started ends with this process, if the process exits normally.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

console.log(
  `soak: seed ${seed}, ${minutes} minutes, ${quotesPerSecond} quotes/s, ${ordersPerSecond} orders/s, ${clients} streams (again: npm run soak -- --minutes ${minutes} --seed ${seed}${provider ? ` --provider ${provider}` : ''})`,
);
const summary = await run();
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(summary, null, 2)}\n`);
console.log(JSON.stringify(summary));
process.exit(summary.ok ? 0 : 1);

async function run() {
  const problems = new Set<string>();
  const found = (all: readonly string[]) => {
    for (const problem of all) {
      if (!problems.has(problem)) say(`BROKEN  ${problem}`);
      problems.add(problem);
    }
  };
  const removeProgram = await buildFaultProgram();
  let ground: Ground | undefined;
  let figures: object = {};
  try {
    say('two chains, a database and Redis are being set up');
    ground = await startGround(undefined, provider);
    say('two venues, two LPs and three attesters start');
    await begin(ground);
    say('takers get their money');
    const people = await gather(ground);
    say('everything runs; traffic begins');
    figures = await soak(ground, people, found);
  } catch (error) {
    found([
      `the soak itself ended: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    ]);
  } finally {
    if (ground && problems.size > 0) keepLogs(ground);
    await ground
      ?.stop()
      .catch((error: unknown) => found([`the soak could not be cleaned up: ${String(error)}`]));
    removeProgram();
  }
  return {
    soak: 'whole',
    ok: problems.size === 0,
    seed,
    minutes,
    problems: [...problems],
    ...figures,
    seconds: Math.round(elapsed()),
  };
}

/** Restarts parts until all run and trade. On a busy machine parts exit while they wait for each other. */
async function begin({ world, parts }: Ground): Promise<void> {
  const starting = new Set<Part>();
  const start = () => {
    for (const part of parts) {
      if (part.running() || starting.has(part)) continue;
      starting.add(part);
      void part
        .start()
        .catch((error: unknown) => say(`restart ${part.name}: ${String(error).split('\n')[0]}`))
        .finally(() => starting.delete(part));
    }
  };
  start();
  const again = setInterval(start, 2_000);
  try {
    for (const untilS = elapsed() + START_S; ; await pause(2)) {
      const error = await Promise.race([
        Promise.all(world.venues.map(({ name }) => world.quoting(name))).then(
          () => undefined,
          (problem: unknown) => problem,
        ),
        pause(Math.max(0, untilS - elapsed())).then(() => new Error(`not everything ran after ${START_S} s`)),
      ]);
      if (error === undefined) return;
      if (elapsed() >= untilS) throw error;
    }
  } finally {
    clearInterval(again);
  }
}

async function soak(
  ground: Ground,
  people: Awaited<ReturnType<typeof gather>>,
  found: (problems: readonly string[]) => void,
) {
  const traffic = startTraffic(ground, people, seeded(seed ^ 0x7a11), { quotesPerSecond, ordersPerSecond });
  const streams = await openStreams(
    [...ground.doors.values()].map(({ url }) => `${url.replace('http', 'ws')}/api/v1/ws`),
    ground.world.apiKey,
    clients,
  );
  const vitals = watchVitals(
    ground.parts,
    ground.world.database,
    new Map(
      [...ground.doors.keys()].map((name) => [name, Number(new URL(ground.world.venueUrl(name)).port)]),
    ),
  );
  const logs = watchLogs(ground);
  const own = monitorEventLoopDelay({ resolution: 20 });
  own.enable();
  const beganS = elapsed();
  const endS = beganS + minutes * 60;
  let calmSinceS = beganS;
  let touched = new Set<string>();
  const history: { atS: number; what: string; seconds: number }[] = [];
  let current: Trouble | undefined;
  let looks = 0;
  let restarts = 0;

  /**
   * Restarts a part that ended unexpectedly, as an operator's supervisor would. An exit is an error unless
   * the part could not even start.
   */
  function supervise(): void {
    for (const part of ground.parts) {
      if (part.running() || ground.down.has(part.name)) continue;
      const said = part.said().trimEnd().split('\n');
      if (said.some(couldNotStart)) say(`restart ${part.name} could not start, and is started again`);
      else found([`${part.name} ended by itself: ${said.slice(-4).join(' | ').slice(-1_500)}`]);
      restarts += 1;
      ground.down.add(part.name);
      const over = () => ground.down.delete(part.name);
      void part.start().then(over, over);
    }
  }

  async function troubled(): Promise<void> {
    const stream = troubles(ground, seeded(seed));
    for (let turn = 1; ; turn++) {
      const dueS = beganS + turn * TROUBLE_EVERY_S;
      if (dueS + TROUBLE_EVERY_S > endS) return;
      if (dueS > elapsed()) await pause(dueS - elapsed());
      const trouble = stream.next().value;
      current = trouble;
      for (const name of trouble.victims) touched.add(name);
      const fromS = elapsed();
      say(`fault   ${trouble.what}${trouble.seconds > 0 ? `, for ${trouble.seconds} s` : ''}`);
      await trouble.begin();
      await pause(trouble.seconds);
      await trouble.end();
      for (const name of trouble.victims) touched.add(name);
      history.push({
        atS: Math.round(fromS - beganS),
        what: trouble.what,
        seconds: Math.round((elapsed() - fromS) * 10) / 10,
      });
      current = undefined;
      calmSinceS = elapsed();
    }
  }

  async function looked(): Promise<void> {
    for (let turn = 1; beganS + turn * LOOK_EVERY_S <= endS; turn++) {
      const dueS = beganS + turn * LOOK_EVERY_S - 1;
      if (dueS > elapsed()) await pause(dueS - elapsed());
      const victims = touched;
      touched = new Set(current?.victims);
      await vitals.look(victims, current === undefined && elapsed() - calmSinceS > 4);
      found(logs());
      supervise();
      if (turn % (60 / LOOK_EVERY_S) !== 0) continue;
      await minute(traffic, streams, vitals);
      // The database may be unavailable, and then the count is unknown.
      found(
        await brokenNow(ground).then(
          (problems) => ((looks += 1), problems),
          () => [],
        ),
      );
    }
  }

  const counted = { ...structuredClone(traffic.counts), atS: beganS };
  const times: number[] = [];
  async function minute(
    { counts, latencies, underWay }: Traffic,
    streamsNow: Streams,
    { line }: Vitals,
  ): Promise<void> {
    const since = elapsed() - counted.atS;
    const { connected, broken } = await streamsNow.state();
    const own = latencies();
    times.push(...own);
    const rate = (now: number, before: number) => ((now - before) / since).toFixed(1);
    say(
      `minute  quotes ${rate(counts.quotes.asked, counted.quotes.asked)}/s, priced ${rate(counts.quotes.priced, counted.quotes.priced)}/s in ${at(own, 0.5)} ms (p99 ${at(own, 0.99)} ms); orders ${rate(counts.orders.tried, counted.orders.tried)}/s, accepted ${rate(counts.orders.accepted, counted.orders.accepted)}/s, ${underWay()} under way; ${connected} of ${clients} streams, ${broken} times broken`,
    );
    say(`        ${line()}`);
    Object.assign(counted, structuredClone(counts), { atS: elapsed() });
  }

  await Promise.all([troubled(), looked()]);
  traffic.cease();
  times.push(...traffic.latencies());
  const trafficS = elapsed() - beganS;
  say('traffic has ended; every order goes to its end');
  const drainS = elapsed();
  while ((await openOrders(ground)) > 0 && elapsed() - drainS < DRAIN_S) {
    await pause(2);
    found(logs());
    supervise();
  }
  say(`${await openOrders(ground)} orders are open after ${Math.round(elapsed() - drainS)} s`);
  // Streams reconnect half a second after a break, and events are positioned at a limited rate.
  for (
    let tries = 0;
    tries < 120 && ((await streams.problems(ground.world.database)).length > 0 || traffic.underWay() > 0);
    tries++
  )
    await pause(1);
  found(await streams.problems(ground.world.database));
  await traffic.stop();
  await vitals.look(touched, true);
  found(logs());
  supervise();
  const { problems, compared } = await brokenForGood(ground);
  found(problems);
  const health = vitals.judge();
  found(health.problems);
  const { frames, broken } = await streams.state();
  await streams.stop();
  const { quotes, orders, why } = traffic.counts;
  if (orders.accepted < orders.tried * LEAST_ACCEPTED)
    found([
      `traffic: of ${orders.tried} orders ${orders.accepted} were accepted, too few to prove anything (see why); a busy machine has to be asked for less: --quotes, --orders, --streams`,
    ]);
  const ends = await endsOf(ground);
  if ((ends['settled'] ?? 0) < orders.accepted * LEAST_SETTLED)
    found([`traffic: of ${orders.accepted} accepted orders ${ends['settled'] ?? 0} were settled`]);
  const perSecond = (n: number) => Math.round((n / trafficS) * 10) / 10;
  return {
    notJudged: health.notJudged,
    asked: { quotesPerSecond, ordersPerSecond },
    rates: {
      quotesPerSecond: perSecond(quotes.asked),
      pricedPerSecond: perSecond(quotes.priced),
      ordersPerSecond: perSecond(orders.tried),
      acceptedPerSecond: perSecond(orders.accepted),
      quoteP50Ms: at(times, 0.5),
      quoteP99Ms: at(times, 0.99),
    },
    quotes,
    why,
    orders: { ...orders, ends },
    streams: { clients, frames, broken },
    ...(provider && { provider: { name: provider, refused: await refusals(ground) } }),
    faults: { count: history.length, list: history },
    restarts,
    checks: { whileRunning: looks, audited: compared },
    ...health.figures,
    driver: {
      eventLoopP99Ms: Math.round(own.percentile(99) / 1e6),
      rssMb: Math.round(process.memoryUsage.rss() / 2 ** 20),
    },
  };
}

function providerNamed(name: string | undefined): ProviderName | undefined {
  if (name === undefined || isProvider(name)) return name;
  console.error(`--provider is one of: ${Object.keys(PLANS).join(', ')}.`);
  process.exit(2);
}

/** What the provider refused on all nodes, by kind. */
async function refusals({ nodes }: Ground): Promise<Record<string, number>> {
  const sum: Record<string, number> = {};
  for (const node of nodes.flat())
    for (const [kind, n] of Object.entries((await node.refused()) ?? {})) sum[kind] = (sum[kind] ?? 0) + n;
  return sum;
}

/** For finding the cause of a failure. */
function keepLogs({ parts }: Ground): void {
  const folder = mkdtempSync(join(tmpdir(), `firmquote-soak-${seed}-`));
  for (const part of parts) writeFileSync(join(folder, `${part.name}.log`), part.output());
  say(`logs of all parts are in ${folder}`);
}

function at(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

function clockOf(seconds: number): string {
  return `${String(Math.floor(seconds / 60)).padStart(3)}:${String(Math.floor(seconds % 60)).padStart(2, '0')}`;
}
