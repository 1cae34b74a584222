/**
 * `npm run soak -- --hostile [--minutes 10] [--seed S] [--json FILE]`: honest takers trade while one hostile
 * peer of each kind attacks, and for some minutes after these have left. docs/develop/soak.md explains the
 * criteria.
 */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { systemRandom } from '../../../src/adapters/system/random.ts';
import { mintKey } from '../../../src/venue/access/keys.ts';
import buildFaultProgram from '../../faults/support/build.ts';
import { type Part, steadyPort } from '../../faults/support/process.ts';
import type { Config } from '../../faults/support/world.ts';
import { seeded } from '../../kill/seeded.ts';
import { account } from '../../support/devnet.ts';
import { type Ground, startGround } from '../ground.ts';
import { allowInspection, type Kept, keptBy } from './heap.ts';
import { deceive, type Hostiles, openHostiles, type Targets } from './hostiles.ts';
import { gather, startTraffic, type Traffic } from '../traffic.ts';
import { waitedOf } from '../vitals.ts';
import { brokenForGood, couldNotStart, openOrders, watchLogs } from '../verdict.ts';

const CALM_MS = 120_000;
/** After the attackers have left, and before everything is compared with the start. */
const RECOVERY_MS = 120_000;
/** At the end of the calm, of the attack and of the recovery. */
const WINDOW_MS = 60_000;
const LOOK_MS = 5_000;
const DRAIN_MS = 420_000;
const MOST_P99_MS = 1_000;
/** Within 20 % of the start. */
const BACK = 1.2;
/** A process that idles at 2 % of a core may idle at 4 %. */
const CPU_SLACK = 0.03;
/**
 * What an LP remembers of quotes and takers is full before the attack, so that memory afterwards shows what
 * has no bound.
 */
const KEPT = 500;
const FLOODER = { id: 'flooder', account: 3_901, operator: 3_902 };
const REPEATER = { id: 'repeater', account: 3_903, operator: 3_904 };
const ANNOUNCER = { id: 'announcer' };
/** It has one endpoint for each chain, and that one lies. */
const LONE = 'attester-3';
const ADMIN_KEY = { env: 'SEAL' };

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    seed: { type: 'string' },
    json: { type: 'string' },
    quotes: { type: 'string', default: '20' },
    orders: { type: 'string', default: '1' },
  },
});
const [minutes, quotesPerSecond, ordersPerSecond] = [
  Number(values.minutes),
  Number(values.quotes),
  Number(values.orders),
];
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
if (!(minutes > 0 && quotesPerSecond > 0 && ordersPerSecond > 0) || !Number.isSafeInteger(seed)) {
  console.error('--minutes, --quotes and --orders (a second) are numbers above 0, --seed is a whole number.');
  process.exit(2);
}

interface Use extends Kept {
  /** Share of one core. */
  cpu: number;
  /** Share of the time in which it could have run and had no processor. */
  waited: number;
}

interface Window {
  what: string;
  quotesPerSecond: number;
  pricedShare: number;
  p99Ms: number;
  /** Memory is measured after the window, when the garbage is collected. */
  parts: Record<string, Use>;
}

const startedMs = performance.now();
const say = (text: string) =>
  console.log(`${Math.round((performance.now() - startedMs) / 1_000)} s  ${text}`);
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));

console.log(
  `soak with hostile peers: seed ${seed}, ${minutes} minutes (again: npm run soak -- --hostile --minutes ${minutes} --seed ${seed})`,
);
const summary = await run();
if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(summary, null, 2)}\n`);
console.log(JSON.stringify(summary));
process.exit(summary.ok ? 0 : 1);

async function run() {
  const problems = new Set<string>();
  const found = (what: string) => {
    if (!problems.has(what)) say(`BROKEN  ${what}`);
    problems.add(what);
  };
  const removeProgram = await buildFaultProgram();
  allowInspection();
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-hostile-'));
  const doors = { north: await steadyPort(), south: await steadyPort() };
  let ground: Ground | undefined;
  let hostiles: Hostiles | undefined;
  let windows: Window[] = [];
  let attacks: Record<string, number> = {};
  try {
    say('two chains, a database, Redis, two venues, two LPs and three attesters start');
    const venue = { name: 'hostile', url: '' };
    hostiles = openHostiles();
    ground = await startGround({
      venue,
      node: hostiles.node,
      configure: (part, config) => exposed(part, config, { folder, doors }),
    });
    venue.url = await hostiles.venue(ground.world.devnet.chains.map(({ chain }) => chain));
    await ground.world.startAll();
    const people = await gather(ground);
    const targets = await admitAttackers(ground, Object.values(doors));
    const traffic = startTraffic(ground, people, seeded(seed), { quotesPerSecond, ordersPerSecond });
    const stopLooking = lookForEnds(ground, found);
    windows = [await observed('calm', ground, traffic, CALM_MS)];
    say('the attackers come');
    const lift = deceive(ground);
    await hostiles.attack(targets);
    windows.push(await observed('under attack', ground, traffic, minutes * 60_000));
    attacks = await hostiles.counts();
    await hostiles.leave();
    await lift();
    say(`the attackers leave: ${JSON.stringify(attacks)}`);
    await pause(RECOVERY_MS);
    windows.push(await observed('afterwards', ground, traffic, WINDOW_MS));
    traffic.cease();
    const drainUntil = performance.now() + DRAIN_MS;
    while ((await openOrders(ground)) > 0 && performance.now() < drainUntil) await pause(2_000);
    await traffic.stop();
    stopLooking();
    for (const problem of (await brokenForGood(ground)).problems) found(problem);
    for (const problem of [...judged(windows), ...(await unready(ground))]) found(problem);
  } catch (error) {
    found(
      `the soak itself ended: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  } finally {
    await hostiles?.stop();
    await ground
      ?.stop()
      .catch((error: unknown) => found(`the soak could not be cleaned up: ${String(error)}`));
    removeProgram();
    rmSync(folder, { recursive: true, force: true });
  }
  return {
    soak: 'hostile',
    ok: problems.size === 0,
    seed,
    minutes,
    problems: [...problems],
    windows,
    attacks,
  };
}

/**
 * Ordinary limits instead of those of fault tests, admin doors that take keys, and one part with a single
 * endpoint.
 */
function exposed(
  part: string,
  config: Config,
  { folder, doors }: { folder: string; doors: Record<string, number> },
): Config {
  if (config['app'] === 'venue')
    return { ...config, rates: {}, admin: { port: doors[part], keys: [{ id: 'ops', secret: ADMIN_KEY }] } };
  if (config['app'] === 'lp') {
    const lp = config['lp'] as { risk?: object };
    return {
      ...config,
      admin: { ...(config['admin'] as object), tokenFile: join(folder, `${part}.token`) },
      lp: { ...lp, explain: { keep: KEPT }, risk: { ...lp.risk, takers: KEPT } },
    };
  }
  if (part !== LONE) return config;
  const chains = config['chains'] as { rpcUrls: string[] }[];
  return {
    ...config,
    chains: chains.map((chain) => ({ ...chain, rpcUrls: chain.rpcUrls.slice(0, 1), quorum: undefined })),
  };
}

/** Keys of a workspace and of three solvers. Two of the solvers have an account and an operator. */
async function admitAttackers({ world }: Ground, adminPorts: readonly number[]): Promise<Targets> {
  const { store, devnet } = world;
  await store.putWorkspace({
    id: 'attackers',
    name: 'Attackers',
    platformFeeBps: 2,
    eligibleSolvers: null,
    limits: { openQuotes: null, openNotionalUsd: null },
    travelRuleThresholdUsd: null,
  });
  const mint = async (kind: 'service' | 'solver', solverId: string | null) => {
    const { text, record } = mintKey(
      { random: systemRandom, clock: systemClock },
      {
        kind,
        mode: 'test',
        workspaceId: solverId === null ? 'attackers' : null,
        role: null,
        memberId: null,
        solverId,
        label: 'hostile soak',
      },
    );
    await store.addKey(record);
    return text;
  };
  for (const each of [FLOODER, REPEATER]) {
    const [owner, operator] = [account(each.account), account(each.operator)];
    for (const chain of devnet.chains) {
      await chain.fund(owner.address, 0n);
      await chain.setOperator(owner.address, operator.address);
    }
  }
  for (const { id } of [FLOODER, REPEATER, ANNOUNCER])
    await store.putSolver({ id, name: id, kind: 'lp', corridors: null, disabled: false });
  return {
    chains: devnet.chains.map(({ chain }) => chain),
    venueUrls: world.venues.map(({ name }) => world.venueUrl(name)),
    adminUrls: [
      ...adminPorts.map((port) => `http://127.0.0.1:${port}`),
      ...world.lps.map(({ adminUrl }) => adminUrl),
    ],
    attesterUrls: world.attesterUrls,
    takerKey: await mint('service', null),
    flooder: { ...FLOODER, apiKey: await mint('solver', FLOODER.id) },
    repeater: { ...REPEATER, apiKey: await mint('solver', REPEATER.id) },
    announcer: { ...ANNOUNCER, apiKey: await mint('solver', ANNOUNCER.id) },
  };
}

/** No part may end, log something fatal or reject unhandled. */
function lookForEnds(ground: Ground, found: (what: string) => void): () => void {
  const logs = watchLogs(ground);
  const timer = setInterval(() => {
    for (const problem of logs()) found(problem);
    for (const part of ground.parts) {
      if (part.running()) continue;
      const said = part.said().trimEnd().split('\n');
      found(`${part.name} ended by itself: ${said.slice(-4).join(' | ').slice(-1_500)}`);
      if (said.some(couldNotStart)) say(`${part.name} could not start`);
    }
  }, LOOK_MS);
  return () => clearInterval(timer);
}

/** Waits so long; measures the last minute of it. */
async function observed(what: string, { parts }: Ground, traffic: Traffic, ms: number): Promise<Window> {
  await pause(Math.max(0, ms - WINDOW_MS));
  traffic.latencies();
  const before = { ...traffic.counts.quotes };
  const cpuBefore = new Map(parts.map((part) => [part.name, cpuSeconds(part)]));
  const waitedBefore = new Map(parts.map((part) => [part.name, waitedSeconds(part)]));
  const fromMs = performance.now();
  await pause(Math.min(ms, WINDOW_MS));
  const seconds = (performance.now() - fromMs) / 1_000;
  const { quotes } = traffic.counts;
  const times = traffic.latencies().sort((a, b) => a - b);
  const asked = quotes.asked - before.asked;
  const used = parts.map((part) => ({
    part,
    cpu: rounded((cpuSeconds(part) - (cpuBefore.get(part.name) ?? 0)) / seconds),
    waited: rounded((waitedSeconds(part) - (waitedBefore.get(part.name) ?? 0)) / seconds),
  }));
  const window: Window = {
    what,
    quotesPerSecond: rounded(asked / seconds),
    pricedShare: rounded((quotes.priced - before.priced) / Math.max(1, asked)),
    p99Ms: Math.round(times[Math.floor(times.length * 0.99)] ?? Number.POSITIVE_INFINITY),
    parts: {},
  };
  for (const { part, ...use } of used) window.parts[part.name] = { ...use, ...(await keptBy(part)) };
  say(`${what}: ${JSON.stringify(window)}`);
  return window;
}

/** Every part serves again. */
async function unready({ parts }: Ground): Promise<string[]> {
  const answers = await Promise.all(
    parts.map(async (part) => ({ name: part.name, answer: await part.ready() })),
  );
  return answers
    .filter(({ answer }) => answer?.status !== 200)
    .map(({ name, answer }) => `${name} is not ready afterwards: ${answer?.reasons.join(', ') ?? 'silent'}`);
}

function judged([calm, attacked, after]: readonly Window[]): string[] {
  if (!calm || !attacked || !after) return ['the soak did not reach its end'];
  const problems: string[] = [];
  if (attacked.p99Ms >= MOST_P99_MS)
    problems.push(`honest takers waited: p99 ${attacked.p99Ms} ms under attack (< ${MOST_P99_MS})`);
  for (const { what, pricedShare } of [attacked, after])
    if (pricedShare * BACK < calm.pricedShare)
      problems.push(
        `honest takers lost quotes ${what}: ${pricedShare} priced, ${calm.pricedShare} in the calm`,
      );
  for (const [name, now] of Object.entries(after.parts)) {
    const start = calm.parts[name] as Use;
    if (now.rssMb > start.rssMb * BACK)
      problems.push(`${name} kept memory: ${now.rssMb} MB after the attack, ${start.rssMb} MB before`);
    if (now.cpu > start.cpu * BACK + CPU_SLACK)
      problems.push(`${name} keeps working: ${now.cpu} of a core after the attack, ${start.cpu} before`);
  }
  return problems;
}

/** User and system time; the clock tick is 1/100 s on Linux. */
function cpuSeconds(part: Part): number {
  if (!part.running()) return 0;
  const words = readFileSync(`/proc/${part.pid()}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(words[11]) + Number(words[12])) / 100;
}

function waitedSeconds(part: Part): number {
  return part.running() ? waitedOf(part.pid()) / 1e9 : 0;
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
