/**
 * Sandbox scenarios: what changes for a quote request of a test key whose amount asks for an outcome. The
 * rest of the trade takes the ordinary path, so that the outcome is real: other solvers are asked, or the
 * answer waits.
 */

import type { KeyMode } from '../../ports/stores/store.ts';
import type { CandidateTerms } from '../../protocol/api/candidate.ts';
import type { ProductUnavailable, QuoteRequest } from '../../protocol/api/quote.ts';
import { type Scenario, SCENARIOS, scenarioOfAmount, scenarioWarning } from '../../protocol/api/scenarios.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import { chainNow } from '../market/chain-now.ts';
import type { SandboxOptions } from '../options.ts';
import type { ParsedRequest } from './parse-request.ts';
import type { Sandbox } from './quote.ts';
import { unavailable } from './unavailable.ts';

type ScenarioDeps = Pick<VenueDeps, 'clock' | 'chains'>;

const SLOW_MS = 3_000;
/** Longer quotes are answered before they have expired. */
const MOST_WAIT_SECONDS = 60;
const RETRY_SECONDS = 1;

export const createSandbox =
  (deps: ScenarioDeps, options: Pick<SandboxOptions, 'unfilled' | 'faded'>): Sandbox =>
  ({ parse, findQuotes }) => ({
    async parse(requestId, request, key, workspace) {
      const scenario = scenarioOf(request, key.mode);
      if (scenario !== undefined) await begin(deps, scenario);
      const result = await parse(requestId, request, key, workspace);
      if (scenario === undefined || !result.parsed) return result;
      const why = whyNot(options, scenario, result.parsed);
      return why ? { parsed: null, why } : { parsed: direct(options, scenario, result.parsed) };
    },
    async findQuotes(parsed) {
      const outcome = await findQuotes(parsed);
      if (scenarioOf(parsed.request, parsed.key.mode) === 102 && outcome.quotes.length > 0)
        await outlast(deps, outcome.quotes, parsed.input.chain.id);
      return outcome;
    },
  });

const scenarioOf = (request: QuoteRequest, mode: KeyMode): Scenario | undefined =>
  mode === 'test' ? scenarioOfAmount(BigInt(request.input.amount ?? request.output.amount ?? 0)) : undefined;

/** Runs the scenarios that act before the request is parsed. Throws 429. */
async function begin({ clock }: ScenarioDeps, scenario: Scenario): Promise<void> {
  if (scenario === 106)
    throw new ApiError('rate_limited', `Sandbox scenario 106: ${SCENARIOS[106]}. Another amount is not.`, {
      retryAfterSeconds: RETRY_SECONDS,
    });
  if (scenario === 107) await wait(clock, SLOW_MS);
}

/** Returns why the scenario cannot be played for this request; undefined when it can. */
function whyNot(
  { unfilled, faded }: Pick<SandboxOptions, 'unfilled' | 'faded'>,
  scenario: Scenario,
  { input, output, corridor }: ParsedRequest,
): ProductUnavailable | undefined {
  const oneChain = input.chain.id === output.chain.id;
  if (scenario === 101) return cannot(101, corridor, `${SCENARIOS[101]}.`);
  if ((scenario === 103 || scenario === 104) && oneChain)
    return cannot(
      scenario,
      corridor,
      'it needs two chains, because one chain fills and pays in one transaction.',
    );
  if (scenario === 105 && !oneChain) return cannot(105, corridor, 'it needs an order on one chain.');
  const solvers = scenario === 103 ? unfilled : scenario === 104 ? faded : undefined;
  if (solvers?.length === 0)
    return cannot(scenario, corridor, 'this venue has no sandbox LP for it. Ask its operator.');
  return undefined;
}

const cannot = (scenario: Scenario, corridor: string, why: string): ProductUnavailable =>
  unavailable('no_quotes', `Sandbox scenario ${scenario}: ${why}`, corridor);

/** Names the scenario in the quotes. For 103 and 104 only solvers that fail on purpose are asked. */
function direct(
  { unfilled, faded }: Pick<SandboxOptions, 'unfilled' | 'faded'>,
  scenario: Scenario,
  parsed: ParsedRequest,
): ParsedRequest {
  const only = scenario === 103 ? unfilled : scenario === 104 ? faded : undefined;
  return { ...parsed, ...(only && { only }), warning: scenarioWarning(scenario) };
}

/** Resolves once these quotes have expired, in the time of this chain. */
async function outlast(
  { clock, chains }: ScenarioDeps,
  quotes: readonly string[],
  chainId: number,
): Promise<void> {
  const validUntil = Math.max(
    ...quotes.map((text) => (JSON.parse(text) as Pick<CandidateTerms, 'validUntil'>).validUntil),
  );
  const endsMs = clock.monotonicMs() + MOST_WAIT_SECONDS * 1_000;
  while (chainNow(clock, chains.get(chainId)) < validUntil && clock.monotonicMs() < endsMs)
    await wait(clock, 200);
}

const wait = (clock: ScenarioDeps['clock'], ms: number): Promise<void> =>
  new Promise<void>((done) => void clock.after(ms, done));
