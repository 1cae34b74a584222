/** Runs a certification from the first connection to the report. */

import { createAsking } from './asking.ts';
import { checkFirmQuotes } from './checks/firm-quotes.ts';
import { checkQuotes, checkSkeletons, checkUnknownType } from './checks/quotes.ts';
import { checkReconnect, meetWithForeignOracle, untilActive } from './checks/connection.ts';
import { checkBinding, checkDelivery, checkResume, openUnseen } from './checks/orders.ts';
import { checkSplits } from './checks/splits.ts';
import { type CertifyContext, sizePair, type SizedPair } from './context.ts';
import { type CertifyReport, createRuleFindings, verdictOver } from './findings.ts';
import { becomesTrue } from './waiting.ts';
import { type RuleId, RULES } from './rules.ts';
import { createPromises } from './promises.ts';
import { startCertifyVenue } from './venue.ts';
import { type CertifyWorld, isWithin } from './world.ts';

export interface CertifySettings {
  solverId: string;
  /** The solver sends it as X-API-Key. */
  key: string;
  host: string;
  /** The port to listen on; 0: any free one. */
  port: number;
  /** Short, so that silence is noticed soon. */
  heartbeatSeconds: number;
  /** The deadline of each request. */
  deadlineMs: number;
  /** How many requests the firmness check sends. */
  requests: number;
  /** The longest wait for the solver to connect. */
  startMs: number;
  /** The longest time until the solver is active, at first and after each reconnect. */
  activeMs: number;
  fillMs: number;
  /** Called once the venue listens, with its address. */
  onListening?(url: string): void;
  onStep?(what: string): void;
}

/** Resolves with the report. The solver connects by itself. */
export async function certify(world: CertifyWorld, settings: CertifySettings): Promise<CertifyReport> {
  const { solverId, key, host, port, deadlineMs, requests, heartbeatSeconds, startMs, activeMs, fillMs } =
    settings;
  const findings = createRuleFindings<RuleId>(RULES);
  const promises = createPromises();
  const venue = await startCertifyVenue({ world, key, solverId, findings, heartbeatSeconds }, { host, port });
  try {
    settings.onListening?.(venue.url);
    const asking = createAsking({ world, venue, findings, promises, deadlineMs });
    const context: CertifyContext = {
      world,
      venue,
      findings,
      promises,
      asking,
      requests,
      heartbeatSeconds,
      activeMs,
      fillMs,
    };
    await run(context, startMs, settings.onStep ?? (() => {}));
    asking.judge();
    for (const rule of ['frames', 'frame-size', 'fields', 'rate'] as const)
      if (venue.hellos.length > 0) findings.pass(rule, 'held in every frame');
    findings.skip('levels', 'the solver sends no levels');
    const results = findings.results();
    return { solverId, verdict: verdictOver<RuleId>(RULES, results), results, answers: asking.counts };
  } finally {
    await venue.stop();
  }
}

async function run(context: CertifyContext, startMs: number, step: (what: string) => void): Promise<void> {
  const { findings } = context;
  step('waiting for the solver to connect');
  if (!(await meetWithForeignOracle(context, startMs)))
    return findings.fail('hello', `no solver connected within ${startMs / 1_000} seconds`);
  if (!(await untilActive(context))) return;
  await becomesTrue(OPERATOR_MS, () => findings.known('operator'));
  // A venue refuses such a solver.
  if (findings.failed('proof') || findings.failed('operator')) return;
  const sizes: SizedPair[] = [];
  for (const pair of context.world.pairs) {
    const found = await sizePair(context, pair);
    if (typeof found !== 'string') sizes.push(found.sized);
    else for (const rule of UNPRICED) findings.skip(rule, found);
  }
  const inside = sizes.find(({ pair }) => isWithin(pair));
  const across = sizes.find(({ pair }) => !isWithin(pair));
  const [main] = sizes;
  if (main === undefined) return;
  step('single requests');
  for (const sized of sizes) await checkQuotes(context, sized);
  await checkUnknownType(context, main);
  if (!(await untilActive(context))) return;
  step('requests that no solver may sign');
  await checkSkeletons(context, sizes);
  step('orders');
  if (inside) await checkBinding(context, inside);
  if (across) await checkDelivery(context, across);
  const open = across && (await openUnseen(context, across));
  step('silence, refusals and resync');
  await checkReconnect(context, open);
  await checkResume(context, open);
  if (!(await untilActive(context))) return;
  step('splits');
  await checkSplits(context, main);
  step(`${context.requests} requests, then more than the account can pay`);
  await checkFirmQuotes(context, main);
}

const OPERATOR_MS = 10_000;
/** The rules that stay untested when a pair has no price. */
const UNPRICED = ['binding', 'fill', 'resume', 'reserve', 'fixed-side', 'skeleton'] as const;
