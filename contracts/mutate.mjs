// node contracts/mutate.mjs [every [pattern]]: breaks one guard or comparison of contracts/src at a time and
// expects the tests of
// the entry points to notice. Works on a copy. With a number, every so manieth mutant only; with a pattern,
// those whose name holds it. Prints each survivor and, last, one JSON object; fails when there are survivors
// not listed below.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const os = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[process.platform]
const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch]
const forge = createRequire(import.meta.url).resolve(`@foundry-rs/forge-${os}-${arch}/bin/forge`)

const fillers = ['OneForOne', 'Dex', 'ConstantProduct', 'Concentrated', 'Vault', 'Peg', 'Wrap'].map((kind) => `fillers/${kind}Filler.sol`)
const libraries = ['Bond', 'Committee', 'DayLimit', 'Fee', 'Ledger', 'Limit', 'Nonce', 'Order', 'Signature', 'Status', 'Token'].map((name) => `libraries/${name}Lib.sol`)
const files = ['Escrow.sol', 'QuoteBond.sol', 'LpAccount.sol', 'Batch.sol', 'AttestationOracle.sol', ...libraries, ...fillers]

/** Mutants that no test can tell from the original, and why. */
const equivalent = [
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

/** Every way to break one line. */
function* mutate(line) {
  const code = line.replace(/\/\/.*$/, '')
  const guard = code.match(/^(\s*(?:} else )?if \()(.*)(\) (?:revert|return|continue|\{).*)$/)
  if (guard && /revert|\{$/.test(guard[3])) yield `${guard[1]}false && (${guard[2]})${guard[3]}`
  if (guard) {
    for (const [from, to] of [[' > ', ' >= '], [' < ', ' <= '], [' >= ', ' > '], [' <= ', ' < '], [' || ', ' && '], [' && ', ' || ']]) {
      const [, open, condition, rest] = guard
      for (let at = condition.indexOf(from); at !== -1; at = condition.indexOf(from, at + from.length)) {
        yield `${open}${condition.slice(0, at)}${to}${condition.slice(at + from.length)}${rest}`
      }
    }
  }
  if (/^\s*(_require|_check|_advance|_useNonce|_debit|_credit|_authorize)\w*\(/.test(code) && code.trimEnd().endsWith(';')) {
    yield code.replace(/\S.*$/, '{}')
  }
  if (/^\s*\w+\.toAddress\(\);|^\s*\S+\.requireReceived\(/.test(code)) yield code.replace(/\S.*$/, '{}')
  // A loop that sees only its first round, and a list of which only the first entry counts.
  if (/for \(uint256 k; k < [ij]; /.test(code)) yield code.replace(/k < (.);/, "k < $1 && k < 1;")
  if (/\[i\]/.test(code) && !/^\s*for /.test(code)) yield code.replace('[i]', '[0]')
  // A statement that sets something is left out. What does not compile then is not counted.
  if (/^\s*[\w.[\]()+]+ (?:[-+|]?= )[^=].*;$/.test(code) && !/^\s*(?:return|revert|emit)/.test(code)) yield code.replace(/\S.*$/, '{}')
  if (/^\s*_lock = 1;/.test(code)) yield code.replace('1', '0')
  if (code.includes(' ? 0 : ')) yield code.replace(/[\w.]+ [<>=!]+ [\w.]+ \? 0 : /, '')
  for (const [from, to] of [[' + 1', ''], [' - fee', ''], [' += fee', ' -= 0 * fee'], ['? left :', '? 0 :'], [' locked ', ' ']]) {
    if (code.includes(from) && !guard) yield code.replace(from, to)
  }
}

const home = mkdtempSync(join(tmpdir(), 'firmquote-mutants-'))
const [every = '1', pattern = ''] = process.argv.slice(2)
const survivors = []
let candidates = 0
let mutants = 0
let invalid = 0
try {
  for (const path of [
    ...['contracts/src', 'contracts/foundry.toml', 'test/vectors'],
    ...['contracts/test/support', 'contracts/test/entry', 'contracts/test/Golden.t.sol', 'contracts/test/fillers', 'contracts/test/tokens', 'contracts/test/mocks', 'contracts/test/attacks/Attack.sol', 'contracts/test/attacks/A15LpAccount.t.sol'],
    ...['node_modules/@openzeppelin/contracts', 'node_modules/hardhat-predeploy/bin', 'node_modules/@uniswap', 'node_modules/canonical-weth', 'node_modules/@layerzerolabs'],
  ]) {
    cpSync(join(root, path), join(home, path), { recursive: true })
  }
  const run = () => {
    const { status, stdout, stderr } = spawnSync(forge, ['test', '--fail-fast'], {
      cwd: home,
      encoding: 'utf8',
      maxBuffer: 1 << 28,
      env: {
        ...process.env,
        HOME: home,
        FOUNDRY_CONFIG: join(home, 'contracts/foundry.toml'),
        FOUNDRY_SOLC: join(root, 'contracts/solcw'),
        FOUNDRY_FUZZ_RUNS: '32',
      },
    })
    return { passed: status === 0, output: `${stdout}${stderr}`, compiled: /Suite result|No tests/.test(stdout) }
  }
  const untouched = run()
  if (!untouched.passed) throw new Error(`The tests have to pass before they can be broken.\n${untouched.output.slice(-2000)}`)
  const judge = (name, line) => {
    const { passed, compiled } = run()
    mutants += 1
    if (!compiled) invalid += 1
    else if (passed && !equivalent.some((text) => name.includes(text))) {
      survivors.push(name)
      process.stdout.write(`survived: ${line}\n       as: ${name}\n`)
    }
  }
  for (const file of files) {
    const path = join(home, 'contracts/src', file)
    const original = readFileSync(path, 'utf8')
    const lines = original.split('\n')
    let within = ''
    for (const [index, line] of lines.entries()) {
      within = /^\s*(?:function|modifier) (\w+)/.exec(line)?.[1] ?? within
      for (const mutant of mutate(line)) {
        if (mutant === line) continue
        const change = mutant.trim() === '{}' ? `without ${line.trim()}` : mutant.trim()
        const name = `${file}:${index + 1} ${within}: ${change}`
        if (!name.includes(pattern) || candidates++ % Number(every) !== 0) continue
        writeFileSync(path, lines.with?.(index, mutant).join('\n') ?? '')
        judge(name, line.trim())
      }
    }
    for (const { name, from, to } of swapped.filter((each) => each.file === file)) {
      if (!name.includes(pattern) || candidates++ % Number(every) !== 0) continue
      if (!from.test(original)) throw new Error(`The lines of "${name}" are not there any more.`)
      writeFileSync(path, original.replace(from, to))
      judge(`${file} ${name}`, name)
    }
    writeFileSync(path, original)
  }
} finally {
  rmSync(home, { recursive: true, force: true })
}
process.stdout.write(`${JSON.stringify({ mutants, invalid, killed: mutants - invalid - survivors.length, survivors: survivors.length })}\n`)
process.exitCode = survivors.length === 0 ? 0 : 1
