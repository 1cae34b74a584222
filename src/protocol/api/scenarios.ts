/** Outcomes that a test key can force, by the last three digits of the requested amount in base units. */

import type { CandidateTerms } from './candidate.ts';

export const SCENARIOS = {
  101: 'no quotes',
  102: 'the quote expires before it can be submitted',
  103: 'the fill never comes, and the order is refunded',
  104: 'the LP fades, and its bond pays',
  105: 'the settlement reverts',
  106: 'the request is rate limited',
  107: 'the answer is slow',
} as const;
export type Scenario = keyof typeof SCENARIOS;

/** Warnings with codes from here on name the scenario of a quote: 2000 + its digits. */
const FIRST_WARNING = 2_000;

export function scenarioOfAmount(amount: bigint): Scenario | undefined {
  const digits = Number(amount % 1_000n);
  return digits in SCENARIOS ? (digits as Scenario) : undefined;
}

export const scenarioWarning = (scenario: Scenario): CandidateTerms['warnings'][number] => ({
  code: FIRST_WARNING + scenario,
  message: `Sandbox scenario ${scenario}: ${SCENARIOS[scenario]}. The last three digits of the amount ask for it.`,
});

/** `candidate`: JSON text, as the venue sealed it. */
export function scenarioOfCandidate(candidate: string): Scenario | undefined {
  const { warnings } = JSON.parse(candidate) as Partial<Pick<CandidateTerms, 'warnings'>>;
  const found = warnings?.find(({ code }) => code - FIRST_WARNING in SCENARIOS);
  return found && ((found.code - FIRST_WARNING) as Scenario);
}
