/**
 * `npm run prove`: asks solc's SMTChecker for a counterexample to each assertion of contracts/proofs, then
 * breaks the libraries as contracts/proofs/mutants.mjs says, and expects one.
 *
 * The solc of npm has no solver inside: it hands each question to `smtSolver`, and Debian's z3 answers. The
 * engine BMC tries a function with all values of its arguments and of storage, so where there is no loop its
 * answer holds for all of them. The engine CHC also finds invariants of loops. What z3 cannot decide is a
 * failure here: it belongs to the invariants of forge. Effort is limited by z3's own count of steps, not by
 * time, so a busy machine gives the same answers.
 */

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { MUTANTS } from '../contracts/proofs/mutants.mjs';
import { fail, ROOT } from './processes.mjs';
import { hasSolver } from './programs.mjs';
import { solve } from './smt.mjs';

const solc = createRequire(import.meta.url)('solc');
const FOLDER = 'contracts/proofs';
const BMC = { engine: 'bmc', bmcLoopIterations: 5 };

/** Proofs that differ from the others: what they hold for, or how they are made. */
const SPECIAL = {
  CommitteeProof: { modelChecker: BMC, bound: 'for three signatures of at most four members' },
  CommitteeStepProof: { modelChecker: { engine: 'chc' } },
};

/** What solc says of an assertion, by the number of its message. */
const PROVED = new Set(['2961', '9576']);
const REFUTED = new Set(['4661', '6328']);
/** The engine is deprecated; errors are no values for it; z3 gave up. */
const IGNORED = new Set(['3993', '8364', '1823', '1218', '7812']);

const read = (path) => readFileSync(join(ROOT, path), 'utf8');

/** Each function of the contracts with assertions: its name, and where it stands in its file. */
function proofsOf(file) {
  const text = read(file);
  const heads = [...text.matchAll(/^(?:contract (\w+)|    function (\w+))/gm)];
  let contract;
  return heads.flatMap((head, at) => {
    contract = head[1] ?? contract;
    if (head[1]) return [];
    const end = heads[at + 1]?.index ?? text.length;
    const assertions = text.slice(head.index, end).split('assert(').length - 1;
    return [{ name: `${contract}.${head[2]}`, contract, file, start: head.index, end, assertions }];
  });
}

/** Returns what solc says of the assertions of one contract: the number of each message, and where. */
function check(file, contract, change = undefined) {
  const contents = (path) => ({ contents: path === change?.file ? change.text : read(path) });
  const input = {
    language: 'Solidity',
    sources: { [file]: { content: read(file) } },
    settings: {
      evmVersion: 'cancun',
      modelChecker: {
        targets: ['assert'],
        contracts: { [file]: [contract] },
        solvers: ['smtlib2'],
        timeout: 0,
        showProvedSafe: true,
        showUnproved: true,
        showUnsupported: true,
        ...(SPECIAL[contract]?.modelChecker ?? BMC),
      },
      outputSelection: { '*': { '*': [] } },
    },
  };
  const { errors } = JSON.parse(solc.compile(JSON.stringify(input), { import: contents, smtSolver }));
  for (const { severity, errorCode, formattedMessage } of errors)
    if (severity === 'error' || ![PROVED, REFUTED, IGNORED].some((codes) => codes.has(errorCode)))
      throw new Error(formattedMessage);
  return errors
    .filter(({ sourceLocation }) => sourceLocation?.file === file)
    .map(({ errorCode, message, sourceLocation }) => ({ errorCode, message, at: sourceLocation.start }));
}

const smtSolver = (query) => ({ contents: solve(query) });

/** Says of one function whether all of its assertions hold, or one has a counterexample. */
function verdict({ start, end, assertions }, said) {
  const here = said.filter(({ at }) => at >= start && at < end);
  const refuted = here.find(
    ({ errorCode, message }) => REFUTED.has(errorCode) && message.includes('violation happens here'),
  );
  if (refuted) return { is: 'refuted', message: refuted.message };
  const proved = new Set(here.filter(({ errorCode }) => PROVED.has(errorCode)).map(({ at }) => at));
  return { is: assertions > 0 && proved.size === assertions ? 'proved' : 'undecided' };
}

function mutated({ file, from, to }) {
  const text = read(file);
  if (text.split(from).length !== 2) return undefined;
  return { file, text: text.replace(from, () => to) };
}

function prove() {
  const proofs = readdirSync(join(ROOT, FOLDER))
    .filter((name) => name.endsWith('.sol'))
    .flatMap((name) => proofsOf(`${FOLDER}/${name}`));
  const failures = [];
  const report = (ok, line) => {
    console.log(`${ok ? '' : 'FAILED '}${line}`);
    if (!ok) failures.push(line);
  };
  const answers = new Map();
  for (const { file, contract } of proofs)
    if (!answers.has(contract)) answers.set(contract, check(file, contract));
  for (const proof of proofs) {
    const { is, message = '' } = verdict(proof, answers.get(proof.contract));
    const bound = SPECIAL[proof.contract]?.bound;
    report(is === 'proved', `${is}: ${proof.name}${bound ? `, ${bound}` : ''} ${message}`.trim());
    if (!MUTANTS.some((each) => each.proof === proof.name)) report(false, `no mutant: ${proof.name}`);
  }
  for (const mutant of MUTANTS) {
    const proof = proofs.find(({ name }) => name === mutant.proof);
    const change = mutated(mutant);
    const name = `${mutant.proof} with ${mutant.to} for ${mutant.from}`;
    if (!proof || !change) {
      report(false, `${proof ? 'the pattern is not there once' : 'no such proof'}: ${name}`);
      continue;
    }
    const { is } = verdict(proof, check(proof.file, proof.contract, change));
    report(is === 'refuted', `${is}: ${name}`);
  }
  console.log(`${proofs.length} proofs, ${MUTANTS.length} mutants, ${failures.length} failures`);
  return failures.length === 0 ? 0 : 1;
}

if (!hasSolver())
  fail('z3 is missing, and nothing is proved without it. To install: sudo apt-get install -y z3');
process.exitCode = prove();
