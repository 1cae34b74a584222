/**
 * Answers the questions of solc's SMTChecker with z3. The SMTChecker counts in integers and turns them into
 * bit vectors and back for each conversion and bit operation, on which z3 gives up. So they are put in words
 * that z3 decides, of which each is true of the original.
 */

import { spawnSync } from 'node:child_process';

/** Settings of z3 that are tried in turn: each decides what another cannot. */
const INTEGERS = [['smt.arith.solver=2'], []];
const CLAUSES = [['fp.spacer.q3.use_qgen=true', 'fp.spacer.mbqi=false']];
/** Steps of z3 for one setting: about five seconds. Most questions take less than a tenth of a second. */
const STEPS = 'rlimit=10000000';

/** Returns z3's answer to a question of solc, or `unknown`. */
export function solve(original) {
  const query = withModulo(original);
  if (query.includes('(set-logic HORN)')) return decided(query, CLAUSES);
  if (!query.includes('int2bv')) return decided(query, INTEGERS);
  const answer = decided(withoutBits(query), INTEGERS);
  return answer.startsWith('sat') ? withValues(original, answer) : answer;
}

function decided(query, settings) {
  for (const setting of settings) {
    const answer = z3(query, setting);
    if (/^(un)?sat\b/.test(answer)) return answer;
  }
  return 'unknown\n';
}

function z3(query, setting) {
  const { stdout, error } = spawnSync('z3', ['-smt2', '-in', STEPS, ...setting], {
    input: query,
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  if (error) throw error;
  return stdout;
}

/** The last n bits of an integer are its remainder by 2^n. */
const withModulo = (query) =>
  query.replace(
    /\(bv2nat \(ite \(>= (\S+) 0\) \(\(_ int2bv (\d+)\) \1\) \(bvneg \(\(_ int2bv \2\) \(- \1\)\)\)\)\)/g,
    (_, value, bits) => `(mod ${value} ${2n ** BigInt(bits)})`,
  );

/**
 * Writes conversions to 256 bits and back as functions. Of these z3 knows only what is true of each term of
 * the query: that one undoes the other, and what they make of numbers.
 */
function withoutBits(query) {
  const terms = query
    .replace(
      /\(ite \(>= (\S+) 0\) \(\(_ int2bv 256\) \1\) \(bvneg \(\(_ int2bv 256\) \(- \1\)\)\)\)/g,
      '(to-bits $1)',
    )
    .replaceAll('(bv2nat ', '(to-int ');
  const limit = 2n ** 256n;
  const numbers = new Set(['0', ...(terms.match(/(?<=[ (])\d+(?=[ )])/g) ?? [])].map(BigInt));
  const facts = [...numbers]
    .filter((number) => number < limit)
    .map((number) => {
      const bits = `#x${number.toString(16).padStart(64, '0')}`;
      return `(and (= (to-bits ${number}) ${bits}) (= (to-int ${bits}) ${number}))`;
    });
  for (const term of termsOf(terms, '(to-int ')) {
    const bits = term.slice('(to-int '.length, -1);
    facts.push(`(and (= (to-bits ${term}) ${bits}) (<= 0 ${term}) (< ${term} ${limit}))`);
  }
  for (const term of termsOf(terms, '(to-bits ')) {
    const value = term.slice('(to-bits '.length, -1);
    facts.push(`(=> (and (<= 0 ${value}) (< ${value} ${limit})) (= (to-int ${term}) ${value}))`);
  }
  const counted = query.match(/(?<=\(declare-\w+ )\|EVALEXPR_\d+\|(?= (?:\(\) )?Int\))/g) ?? [];
  return terms
    .replace(
      /\(set-logic \S+\)\n/,
      '$&(declare-fun to-bits (Int) (_ BitVec 256))\n(declare-fun to-int ((_ BitVec 256)) Int)\n',
    )
    .replace('(check-sat)', () => `${facts.map((fact) => `(assert ${fact})`).join('\n')}\n(check-sat)`)
    .replace(/\(get-value .*/, () => `(get-value (${counted.map((name) => `(to-bits ${name})`).join(' ')}))`);
}

/** All terms that begin with `head`, each once. */
function termsOf(text, head) {
  const found = new Set();
  for (let start = text.indexOf(head); start >= 0; start = text.indexOf(head, start + 1)) {
    let end = start;
    let depth = 0;
    do {
      if (text[end] === '(') depth += 1;
      if (text[end] === ')') depth -= 1;
      end += 1;
    } while (depth > 0);
    found.add(text.slice(start, end));
  }
  return found;
}

/**
 * Asks the question as solc wrote it, for the values that z3 found: without bits it never misses a
 * counterexample, but may find what is none.
 */
function withValues(original, answer) {
  const values = [...answer.matchAll(/\(\(to-bits (\|EVALEXPR_\d+\|)\) #x([0-9a-f]+)\)/g)];
  const given = values.map(([, name, hex]) => `(assert (= ${name} ${BigInt(`0x${hex}`)}))\n`).join('');
  return decided(
    original.replace('(check-sat)', () => `${given}(check-sat)`),
    INTEGERS,
  );
}
