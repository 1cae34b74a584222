// node contracts/mutate.mjs [every [pattern…]]: breaks one guard, comparison, calculation or statement of
// contracts/src at a time and expects the tests of the entry points to notice. Works on two copies, a mutant in
// each. With a number, every so manieth mutant only; with 0, prints their names and runs none; with patterns,
// those whose name holds one. Prints each survivor and, last, a count for each file; fails when there are
// survivors not listed below, and before it begins when a pattern below matches nothing.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const os = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[process.platform]
const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch]
const forge = createRequire(import.meta.url).resolve(`@foundry-rs/forge-${os}-${arch}/bin/forge`)

const fillers = ['OneForOne', 'Dex', 'ConstantProduct', 'Concentrated', 'Vault', 'Peg', 'Wrap'].map((kind) => `fillers/${kind}Filler.sol`)
const libraries = ['Bond', 'Committee', 'DayLimit', 'Fee', 'Ledger', 'Limit', 'Nonce', 'Order', 'Signature', 'Status', 'Token'].map((name) => `libraries/${name}Lib.sol`)
const files = ['QuoteBond.sol', ...libraries, 'EscrowExtension.sol', 'LpAccount.sol', 'EscrowBase.sol', 'Escrow.sol', 'Batch.sol', 'AttestationOracle.sol', ...fillers]

/** Mutants that no test can tell from the original, and why. */
const equivalent = [
  // Relay fees are on the first input alone, and no other fee is above its slice.
  'checkSettle: for (uint256 j; j < order.inputs.length && j < 1; ++j) {',
  '_open: for (uint256 j; j < order.inputs.length && j < 1; ++j) {',
  '_open: _divide(order.inputs[0], j == 0, terms, false);',
  // The set-up ends when it ended.
  'finishSetup: if (block.timestamp <= setupEndsAt) setupEndsAt = block.timestamp;',
  // What is equal differs by nothing.
  '_checkTimes: revert IEscrow.ProofWindowTooShort(order.expires <= fillDeadline ?',
  'sendByOft: uint256 fee = leastReceived <= amount ?',
  // Of two that are equal, either is the lesser.
  '_takeOut: amount = most <= balance ? most : balance;',
  // When the two come to the largest number, that number is what both give.
  '_sum: return b >= type(uint256).max - a ?',
  // What is equal is set to itself.
  '_pay: if (bond.leaving >= bond.amount) bond.leaving = bond.amount;',
  'cost: if (full <= total) total = full;',
  // Of what is equal, nothing is left either way.
  'counted: uint256 left = most >= sum ? most - sum : 0;',
  'left: return most(limit) <= spent(limit) ? 0 : most(limit) - spent(limit);',
  // They differ from the year 2106 on, when no deadline of an order fits its 32 bits any more.
  'current: return limit / WINDOW * WINDOW + uint256(timestamp) * SINCE;',
  // One output has none to be compared with.
  '_checkOrder: if (n >= 1) {',
  // Without it the domain separator is computed each time, which costs gas and gives the same.
  'without _deploymentChainId = block.chainid;',
  // No chain refuses code of 16,001 bytes at most, and out of gas there leaves too little for the rest.
  '_made: if (false && (members == address(0))) revert TooManySigners(n);',
  // After the filler has returned, settleThrough calls nobody any more.
  'settleThrough: _lock = 0;',
  'settleThrough: without _lock = 1;',
  // They differ for one amount of gas only, and then the transfer still gets what it is promised.
  'push: if (gasleft() * 63 / 64 <= PUSH_GAS + 3_000)',
  // Two bytes are missing then, and the check behind it sees that too.
  'if (false && (payload.length < 2)) revert IEscrow.InvalidPayload();',
]

/** Lines whose order matters, changed places. */
const swapped = [
  {
    file: 'Escrow.sol',
    name: 'the callback comes before what arrived is measured',
    from: /( *token\.requireReceived\(recipient, before, amount\);\n)\s*\n( *if \(data\.length != 0\) IOutputCallback.*\n)/,
    to: '$2$1',
  },
]

/** The line before, within and behind the parentheses that open at its end. */
function parenthesised(code, start) {
  let depth = 1
  for (let at = start; at < code.length; at++) {
    if (code[at] === '(') depth++
    if (code[at] === ')' && --depth === 0) return [code.slice(0, start), code.slice(start, at), code.slice(at)]
  }
  return undefined
}

/** Where the condition begins that ends at `end`: behind the bracket, the comma or the word before it. */
function beginOfCondition(code, end) {
  let depth = 0
  for (let at = end - 1; at > 0; at--) {
    if (code[at] === ')') depth++
    if (code[at] === '(' && depth-- === 0) return at + 1
    if (depth === 0 && /(?:, |[^=!<>]= |return )$/.test(code.slice(0, at))) return at
  }
  return undefined
}

const compared = [[' > ', ' >= '], [' < ', ' <= '], [' >= ', ' > '], [' <= ', ' < '], [' || ', ' && '], [' && ', ' || ']]
const computed = [
  ...[[' * ', ' / '], [' / ', ' * '], [' % ', ' / '], [' - ', ' + '], [' + ', ' - '], [' += ', ' -= '], [' -= ', ' += ']],
  ...[[' << ', ' >> '], [' >> ', ' << '], [' & ', ' | '], [' | ', ' & ']],
  ...[[' + 1', ''], [' - 1', ''], [' - fee', ''], ['return true', 'return false'], ['return false', 'return true']],
]

/** Every way to put `to` in the place of one `from`. */
function* replaced(code, pairs) {
  for (const [from, to] of pairs) {
    for (let at = code.indexOf(from); at !== -1; at = code.indexOf(from, at + from.length)) {
      yield `${code.slice(0, at)}${to}${code.slice(at + from.length)}`
    }
  }
}

/** Every way to break one line. */
function* mutate(line) {
  const code = line.replace(/\/\/.*$/, '').trimEnd()
  if (/^\s*(?:\*|\/\*|import |pragma |using |")/.test(code)) return
  const loop = /^\s*for \(|^\s*while \(/.test(code)
  const guard = /^\s*(?:\}? ?else )?if \(/.exec(code)
  const parts = guard && parenthesised(code, guard[0].length)
  if (parts) yield `${parts[0]}false && (${parts[1]})${parts[2]}`
  // What would always fail or always return shows anyhow.
  if (parts && !/^\) (?:\{|revert|return)/.test(parts[2])) yield `${parts[0]}true || (${parts[1]})${parts[2]}`
  if (!loop) {
    yield* replaced(code, compared)
    yield* replaced(code, computed)
    if (!guard) yield* replaced(code, [[' == ', ' != '], [' != ', ' == ']])
  }
  // Either side of a choice, whatever its condition says.
  for (let at = code.indexOf(' ? '); at !== -1; at = code.indexOf(' ? ', at + 3)) {
    const begin = beginOfCondition(code, at)
    if (begin === undefined) continue
    for (const word of ['false &&', 'true ||']) {
      yield `${code.slice(0, begin)}(${word} (${code.slice(begin, at)}))${code.slice(at)}`
    }
  }
  // A loop that sees only its first round, and a list of which only the first entry counts.
  if (loop) yield code.replace(/(\w+) (<=?) ([\w.]+)(; | && )/, (_, k, than, end, rest) => `${k} ${than} ${end} && ${k} < 1${rest}`)
  for (const entry of ['[i]', '[j]', '[k]']) {
    if (code.includes(entry) && !loop) yield code.replace(entry, '[0]')
  }
  // A word that is not cut to its part.
  yield* replaced(code, [8, 16, 32, 64, 96, 128].map((bits) => [`uint${bits}(`, 'uint256(']))
  if (/ constant \w+ = [\d_ *]+(?: days)?;/.test(code)) yield code.replace(/ = (.*);/, ' = 2 * ($1);')
  // A statement is left out. What does not compile then is not counted.
  const [, indent, word] = /^(\s*(?:\}? ?else )?)(\w*)/.exec(code)
  if (/;$/.test(code) && !['return', 'revert', 'emit', 'if', 'for'].includes(word)) {
    const statement = code.slice(indent.length)
    const target = /^(?:[\w.[\]()+]+|\([\w.[\]]+(?:, ?[\w.[\]]*)*\)) (?:[-+|]?= )[^=]/
    const call = /^[\w.[\]]+(?:\([\w.[\]]*\)[\w.]*)?\(.*\);$|^delete /
    if (target.test(statement) || call.test(statement)) yield `${indent}{}`
  }
  if (/^\s*_lock = 1;/.test(code)) yield code.replace('1', '0')
  if (!/\bmodifier\b/.test(code)) yield code.replace(/(^\s*| )locked(?:ForFill)?(?= |$)/, '$1')
}

/** Every mutant: what it is called, the line it breaks, and the whole text of its file. */
function* mutantsOf(file) {
  const original = readFileSync(join(root, 'contracts/src', file), 'utf8')
  const lines = original.split('\n')
  let within = ''
  for (const [index, line] of lines.entries()) {
    within = /^\s*(?:function|modifier) (\w+)|^\s*(constructor)\(/.exec(line)?.slice(1).find(Boolean) ?? within
    for (const mutant of new Set(mutate(line))) {
      if (mutant.trim() === line.replace(/\/\/.*$/, '').trim()) continue
      const change = ['', '{}'].includes(mutant.trim()) ? `without ${line.trim()}` : mutant.trim()
      yield { file, name: `${file}:${index + 1} ${within}: ${change}`, line: line.trim(), text: [...lines.slice(0, index), mutant, ...lines.slice(index + 1)].join('\n') }
    }
  }
  for (const { name, from, to } of swapped.filter((each) => each.file === file)) {
    if (!from.test(original)) throw new Error(`The lines of "${name}" are not there any more.`)
    yield { file, name: `${file} ${name}`, line: name, text: original.replace(from, to) }
  }
}

const all = files.flatMap((file) => [...mutantsOf(file)])
// A pattern that matches nothing excuses nothing: what it was about has moved, or is another mutant now.
const stale = [
  ...equivalent.filter((text) => !all.some(({ name }) => name.includes(text))),
  ...swapped.filter(({ file }) => !files.includes(file)).map(({ name }) => name),
]
if (stale.length > 0) throw new Error(`No mutant is called so any more:\n${stale.join('\n')}`)

const [every = '1', ...patterns] = process.argv.slice(2)
const wanted = all.filter(({ name }) => patterns.length === 0 || patterns.some((pattern) => name.includes(pattern)))
if (every === '0') {
  await new Promise((done) => process.stdout.write(wanted.map(({ name }) => `${name}\n`).join(''), done))
  process.exit()
}

const home = mkdtempSync(join(tmpdir(), 'firmquote-mutants-'))
const copies = ['one', 'two'].map((name) => join(home, name))
const queue = wanted.filter((_, index) => index % Number(every) === 0)
const tallies = {}
// Told to end, it tells what it knows so far.
process.once('SIGTERM', () => queue.splice(0))

/** Runs the tests of a copy. */
const run = async (copy) => {
  const child = spawn(forge, ['test', '--fail-fast'], {
    cwd: copy,
    env: {
      ...process.env,
      HOME: copy,
      FOUNDRY_CONFIG: join(copy, 'contracts/foundry.toml'),
      FOUNDRY_SOLC: join(root, 'contracts/solcw'),
      FOUNDRY_FUZZ_RUNS: '32',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { passed: status === 0, output: `${stdout}${stderr}`, compiled: /Suite result|No tests/.test(stdout) }
}

async function judge(copy, mutant) {
  const tally = (tallies[mutant.file] ??= { mutants: 0, invalid: 0, killed: 0, equivalent: 0, survivors: 0, seconds: 0 })
  const path = join(copy, 'contracts/src', mutant.file)
  const [original, since] = [readFileSync(path, 'utf8'), Date.now()]
  writeFileSync(path, mutant.text)
  const { passed, compiled } = await run(copy)
  writeFileSync(path, original)
  tally.mutants += 1
  tally.seconds += (Date.now() - since) / 1000
  if (!compiled) tally.invalid += 1
  else if (!passed) tally.killed += 1
  else if (equivalent.some((each) => mutant.name.includes(each))) tally.equivalent += 1
  else {
    tally.survivors += 1
    process.stdout.write(`survived: ${mutant.line}\n       as: ${mutant.name}\n`)
  }
}

try {
  for (const path of [
    ...['contracts/src', 'contracts/foundry.toml', 'test/vectors'],
    ...['contracts/test/support', 'contracts/test/entry', 'contracts/test/Golden.t.sol', 'contracts/test/fillers', 'contracts/test/tokens', 'contracts/test/mocks', 'contracts/test/attacks/Attack.sol', 'contracts/test/attacks/A15LpAccount.t.sol'],
    ...['node_modules/@openzeppelin/contracts', 'node_modules/hardhat-predeploy/bin', 'node_modules/@uniswap', 'node_modules/canonical-weth', 'node_modules/@layerzerolabs'],
  ]) {
    cpSync(join(root, path), join(copies[0], path), { recursive: true })
  }
  // A mutant may leave a variable unused, and has to run all the same.
  const settings = join(copies[0], 'contracts/foundry.toml')
  writeFileSync(settings, readFileSync(settings, 'utf8').replace('deny = "warnings"', 'deny = "never"'))
  const untouched = await run(copies[0])
  if (!untouched.passed) throw new Error(`The tests have to pass before they can be broken.\n${untouched.output.slice(-2000)}`)
  // With what is compiled: a mutant then compiles only what it changes.
  for (const copy of copies.slice(1)) cpSync(copies[0], copy, { recursive: true })
  await Promise.all(
    copies.map(async (copy) => {
      for (let mutant = queue.shift(); mutant; mutant = queue.shift()) await judge(copy, mutant)
    }),
  )
} finally {
  rmSync(home, { recursive: true, force: true })
}
for (const tally of Object.values(tallies)) tally.seconds = Math.round(tally.seconds)
process.stdout.write(`${JSON.stringify(tallies, null, 1)}\n`)
process.exitCode = Object.values(tallies).some(({ survivors }) => survivors > 0) ? 1 : 0
