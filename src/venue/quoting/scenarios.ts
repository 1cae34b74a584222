/**
 * Sandbox scenarios: what changes for a quote request of a test key whose amount asks for an outcome. The
 * rest of the trade takes the ordinary path, so that the outcome is real: other solvers are asked, or the
 * answer waits.
 */

import type { KeyMode } from '../../ports/stores/store.ts';
import type { QuoteRequest } from '../../protocol/api/quote.ts';
import { type Scenario, SCENARIOS, scenarioOfAmount } from '../../protocol/api/scenarios.ts';
import { ApiError } from '../../protocol/errors.ts';
import type { VenueDeps } from '../deps.ts';
import { chainNow } from '../market/chain-now.ts';
import type { SandboxOptions } from '../options.ts';
import type { ParsedRequest } from './parse-request.ts';
import { unavailable } from './unavailable.ts';

export type Scenarios = ReturnType<typeof createScenarios>;

const SLOW_MS = 3_000;
/** Longer quotes are answered before they have expired. */
const MOST_WAIT_SECONDS = 60;
const RETRY_SECONDS = 1;

export function createScenarios(
  { clock, chains }: Pick<VenueDeps, 'clock' | 'chains'>,
  { scenarios, unfilled, faded }: SandboxOptions,
) {
  const wait = (ms: number) => new Promise<void>((done) => void clock.after(ms, done));

  /** Before the request is parsed. Throws 429. */
  async function begin(request: QuoteRequest, mode: KeyMode): Promise<Scenario | undefined> {
    if (!scenarios || mode !== 'test') return undefined;
    const scenario = scenarioOfAmount(BigInt(request.input.amount ?? request.output.amount ?? 0));
    if (scenario === 106)
      throw new ApiError('rate_limited', `Sandbox scenario 106: ${SCENARIOS[106]}. Another amount is not.`, {
        retryAfterSeconds: RETRY_SECONDS,
      });
    if (scenario === 107) await wait(SLOW_MS);
    return scenario;
  }

  const cannot = (scenario: Scenario, corridor: string, why: string) =>
    unavailable('no_quotes', `Sandbox scenario ${scenario}: ${why}`, corridor);

  function whyNot(scenario: Scenario | undefined, { input, output, corridor }: ParsedRequest) {
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
    if (scenario && solvers?.length === 0)
      return cannot(scenario, corridor, 'this venue has no sandbox LP for it. Ask its operator.');
    return undefined;
  }

  /** Only solvers that fail on purpose for 103 and 104. */
  function direct(scenario: Scenario | undefined, parsed: ParsedRequest): ParsedRequest {
    const only = scenario === 103 ? unfilled : scenario === 104 ? faded : undefined;
    return only ? { ...parsed, only } : parsed;
  }

  /** Resolves once quotes valid until then, in the time of this chain, have expired. */
  async function outlast(validUntil: number, chainId: number): Promise<void> {
    const endsMs = clock.monotonicMs() + MOST_WAIT_SECONDS * 1_000;
    while (chainNow(clock, chains.get(chainId)) < validUntil && clock.monotonicMs() < endsMs) await wait(200);
  }

  return { begin, whyNot, direct, outlast };
}
