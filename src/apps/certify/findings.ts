/** Collects what was seen of each rule, and makes the report of it. */

import type { CertifiedRule, RuleId } from './rules.ts';

export type RuleVerdict = 'pass' | 'fail' | 'untested';

export interface RuleResult<R extends string = RuleId> {
  rule: R;
  verdict: RuleVerdict;
  /** The first thing that went wrong, or what was seen, or why nothing could be seen. */
  seen: string;
  /** Times that the rule was broken. */
  broken: number;
  page: string;
  sentence: string;
}

export interface CertifyReport {
  solverId: string;
  verdict: RuleVerdict;
  results: RuleResult[];
  /** Requests sent, and how the solver answered them. */
  answers: { asked: number; quotes: number; partials: number; declines: number; none: number; late: number };
}

export interface RuleFindings<R extends string = RuleId> {
  pass(rule: R, seen: string): void;
  /** A rule that failed once stays failed. */
  fail(rule: R, seen: string): void;
  /** Notes why a rule could not be checked; a later pass or failure replaces it. */
  skip(rule: R, why: string): void;
  failed(rule: R): boolean;
  /** Returns true once anything was seen of the rule. */
  known(rule: R): boolean;
  results(): RuleResult<R>[];
}

type Rules<R extends string> = Readonly<Record<R, CertifiedRule>>;

export function createRuleFindings<R extends string>(rules: Rules<R>): RuleFindings<R> {
  const all = new Map<R, Pick<RuleResult, 'verdict' | 'seen' | 'broken'>>();
  const failed = (rule: R) => all.get(rule)?.verdict === 'fail';
  return {
    failed,
    known: (rule) => all.has(rule),
    pass(rule, seen) {
      if (!failed(rule)) all.set(rule, { verdict: 'pass', seen, broken: 0 });
    },
    fail(rule, seen) {
      const before = all.get(rule);
      if (before?.verdict === 'fail') before.broken += 1;
      else all.set(rule, { verdict: 'fail', seen, broken: 1 });
    },
    skip(rule, why) {
      if (!all.has(rule)) all.set(rule, { verdict: 'untested', seen: why, broken: 0 });
    },
    results: () =>
      (Object.keys(rules) as R[]).map((rule) => {
        const { page, sentence } = rules[rule];
        const found = all.get(rule) ?? { verdict: 'untested', seen: 'the run ended before', broken: 0 };
        return { rule, ...found, page, sentence };
      }),
  };
}

/** Sums up the rules. `untested`: nothing failed, but a rule that binds everybody could not be checked. */
export function verdictOver<R extends string>(
  rules: Rules<R>,
  results: readonly RuleResult<R>[],
): RuleVerdict {
  if (results.some(({ verdict }) => verdict === 'fail')) return 'fail';
  const isOpen = ({ rule, verdict }: RuleResult<R>) => verdict === 'untested' && !rules[rule].optional;
  return results.some(isOpen) ? 'untested' : 'pass';
}

const WORD: Record<RuleVerdict, string> = { pass: 'pass', fail: 'FAIL', untested: ' -- ' };

/** A line for each rule and the sentence that it stands on, then the sums. */
export function ruleLines(results: readonly RuleResult<string>[]): string[] {
  const width = Math.max(...results.map(({ rule }) => rule.length));
  return results.flatMap(({ rule, verdict: one, seen, broken, page, sentence }) => [
    `${WORD[one]}  ${rule.padEnd(width)}  ${seen}${broken > 1 ? ` (${broken} times)` : ''}`,
    `${' '.repeat(width + 8)}“${sentence}” ${page}`,
  ]);
}

export function sumLine(who: string, results: readonly RuleResult<string>[]): string {
  const count = (wanted: RuleVerdict) => results.filter((result) => result.verdict === wanted).length;
  return `${who}: ${count('pass')} rules passed, ${count('fail')} failed, ${count('untested')} not tested.`;
}

export function reportLines({ solverId, verdict, results, answers }: CertifyReport): string[] {
  return [
    ...ruleLines(results),
    '',
    `${answers.asked} requests: ${answers.quotes} quotes, ${answers.partials} partials, ${answers.declines} ` +
      `declines, ${answers.none} without an answer, ${answers.late} answers too late`,
    `${sumLine(solverId, results)} ${CONCLUSION[verdict]}`,
  ];
}

const CONCLUSION: Record<RuleVerdict, string> = {
  pass: 'The solver keeps the protocol.',
  fail: 'The solver breaks the protocol.',
  untested: 'Nothing failed, but some rules could not be tested.',
};

export const EXIT_CODE: Record<RuleVerdict, number> = { pass: 0, fail: 1, untested: 2 };
