// node scripts/contracts.mjs build | check | test | snapshot [--check] | coverage [-- forge's own options]
//
// build     compile; write each contract's ABI as TypeScript, its creation code into contracts/artifacts
// check     fail when those files are not what build would write, when two compilations differ, or the escrow
//           grows too large
// test      forge's tests; FOUNDRY_PROFILE=nightly runs them longer
// snapshot  measure gas into contracts/snapshots; --check fails when the committed numbers moved
// coverage  lines and branches that the tests reach
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const require = createRequire(import.meta.url);
const solc = require('solc');
const codeFolder = 'contracts/artifacts';
const abiFolder = 'src/settlement/abi';
/** Of contracts that only local chains have: those of the demo, and those of tests alone. */
const abiFolders = { devnet: 'src/adapters/evm/deploy/abi', test: 'test/support/abi' };
const MOST_ESCROW_BYTES = 22_500;
const permit2 = '0x000000000022D473030F116dDEE9F6B43aC78BA3';

/**
 * The ABI's file, the contract, its export's first word, and where it is used unless on public chains.
 * Without a file: its functions are called at another contract.
 */
const modules = [
  { file: 'escrow', contract: 'Escrow', name: 'escrow' },
  { contract: 'EscrowExtension' },
  { file: 'batch', contract: 'Batch', name: 'batch' },
  { file: 'quote-bond', contract: 'QuoteBond', name: 'quoteBond' },
  { file: 'lp-account', contract: 'LpAccount', name: 'lpAccount' },
  { file: 'attestation-oracle', contract: 'AttestationOracle', name: 'attestationOracle' },
  { file: 'constant-product-filler', contract: 'ConstantProductFiller', name: 'constantProductFiller' },
  { file: 'concentrated-filler', contract: 'ConcentratedFiller', name: 'concentratedFiller' },
  { file: 'vault-filler', contract: 'VaultFiller', name: 'vaultFiller' },
  { file: 'peg-filler', contract: 'PegFiller', name: 'pegFiller' },
  { file: 'wrap-filler', contract: 'WrapFiller', name: 'wrapFiller' },
  { file: 'dev-usd', contract: 'DevUsd', name: 'devUsd', where: 'devnet' },
  { file: 'dev-gas-usd', contract: 'DevGasUsd', name: 'devGasUsd', where: 'devnet' },
  { file: 'dev-token', contract: 'DevToken', name: 'devToken', where: 'devnet' },
  { file: 'dev-stubborn-token', contract: 'DevStubbornToken', name: 'devStubbornToken', where: 'test' },
  { file: 'dev-wallet', contract: 'DevWallet', name: 'devWallet', where: 'devnet' },
  { file: 'dev-aggregator', contract: 'DevAggregator', name: 'devAggregator', where: 'devnet' },
  { file: 'dev-pool-trader', contract: 'DevPoolTrader', name: 'devPoolTrader', where: 'devnet' },
  { file: 'dev-cctp-transmitter', contract: 'DevCctpTransmitter', name: 'devCctpTransmitter', where: 'test' },
  { file: 'dev-cctp-messenger', contract: 'DevCctpMessenger', name: 'devCctpMessenger', where: 'test' },
  { file: 'dev-bridge-account', contract: 'DevBridgeAccount', name: 'devBridgeAccount', where: 'test' },
  { file: 'dev-lz-endpoint', contract: 'DevLzEndpoint', name: 'devLzEndpoint', where: 'test' },
  { file: 'dev-oft', contract: 'DevOft', name: 'devOft', where: 'test' },
  { file: 'dev-oft-adapter', contract: 'DevOftAdapter', name: 'devOftAdapter', where: 'test' },
  { file: 'dev-vault', contract: 'DevVault', name: 'devVault', where: 'devnet' },
  { file: 'dev-psm', contract: 'DevPsm', name: 'devPsm', where: 'devnet' },
  { file: 'dev-gas-oracle', contract: 'DevGasOracle', name: 'devGasOracle', where: 'test' },
];

/** What `firmquote deploy` and `firmquote lp account deploy` put on a chain. */
const deployed = [
  'Escrow',
  'EscrowExtension',
  'AttestationOracle',
  'QuoteBond',
  'Batch',
  'ConstantProductFiller',
  'ConcentratedFiller',
  'VaultFiller',
  'PegFiller',
  'WrapFiller',
  'LpAccount',
];

/** npm installs forge as a binary for this platform; the launcher around it is not needed. */
function forgeBinary() {
  const os = { linux: 'linux', darwin: 'darwin', win32: 'win32' }[process.platform];
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  try {
    return require.resolve(
      `@foundry-rs/forge-${os}-${arch}/bin/forge${process.platform === 'win32' ? '.exe' : ''}`,
    );
  } catch {
    throw new Error(`No forge for ${process.platform}-${process.arch}: run npm ci first.`);
  }
}

/** Runs forge at the repository's root with a home of its own, so that nothing outside is read or written. */
function forge(args, { quiet = false } = {}) {
  const home = mkdtempSync(join(tmpdir(), 'firmquote-forge-'));
  try {
    const { status, error, stdout, stderr } = spawnSync(forgeBinary(), args, {
      cwd: root,
      env: {
        ...process.env,
        HOME: home,
        XDG_CONFIG_HOME: home,
        FOUNDRY_CONFIG: join(root, 'contracts/foundry.toml'),
      },
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    });
    if (error) throw error;
    if (status !== 0 && quiet) process.stderr.write(`${stdout}${stderr}`);
    return status ?? 1;
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

function compile() {
  if (forge(['build', 'contracts/src'], { quiet: true }) !== 0)
    throw new Error('The contracts do not compile.');
}

const artifact = (contract, file = contract) =>
  JSON.parse(readFileSync(join(root, `contracts/out/${file}.sol/${contract}.json`), 'utf8'));

/** Drops what only compilers read, one entry per line. */
function abiText(abi) {
  const text = (entry) => JSON.stringify(entry, (key, value) => (key === 'internalType' ? undefined : value));
  return `[\n${abi.map((entry) => `  ${text(entry)},`).join('\n')}\n]`;
}

const moduleText = (contract, name, abi) =>
  `/** The ABI of ${contract}. Generated by scripts/contracts.mjs build. Do not edit. */\n\n` +
  `export const ${name}Abi = ${abiText(abi)} as const\n`;

/**
 * Creation code is data: a program reads it where it deploys or compares a contract, and nowhere else. In
 * base64, which is a third shorter than hex.
 */
const codeText = (code) =>
  `${JSON.stringify({ creationCode: Buffer.from(code.slice(2), 'hex').toString('base64') }, null, 1)}\n`;

/** The input of solc for one contract, and nothing else: what block explorers are given. */
function standardInput({ sources, settings: { compilationTarget, ...settings } }) {
  const [[file, contract]] = Object.entries(compilationTarget);
  const outputSelection = {
    '*': { '': ['ast'] },
    [file]: { [contract]: ['evm.bytecode', 'evm.deployedBytecode'] },
  };
  const content = (path) => readFileSync(join(root, path), 'utf8');
  return {
    language: 'Solidity',
    sources: Object.fromEntries(Object.keys(sources).map((path) => [path, { content: content(path) }])),
    settings: { ...settings, outputSelection },
  };
}

/** Of forge's, those that the contract's sources need: what other contracts import is not its business. */
const remappingsOf = ({ sources, settings }) =>
  settings.remappings.filter((remapping) =>
    Object.keys(sources).some((path) => path.startsWith(remapping.split('=')[1])),
  );

/**
 * Compiles a contract a second time, without forge and without the files that it does not need, and fails
 * unless the code is the same. Returns what tells the code on a chain apart.
 */
function buildOf(contract) {
  const { bytecode, deployedBytecode, metadata } = artifact(contract);
  const { sources } = metadata;
  const settings = { ...metadata.settings, remappings: remappingsOf(metadata) };
  const [[file]] = Object.entries(settings.compilationTarget);
  const { sources: files, contracts } = JSON.parse(
    solc.compile(JSON.stringify(standardInput({ sources, settings }))),
  );
  const { evm } = contracts[file][contract];
  if (
    `0x${evm.bytecode.object}` !== bytecode.object ||
    `0x${evm.deployedBytecode.object}` !== deployedBytecode.object
  )
    throw new Error(
      `${contract} has other code when solc compiles it alone than when forge compiles everything: the build is not reproducible.`,
    );
  const names = new Map();
  const collect = (node) => {
    if (node?.nodeType === 'VariableDeclaration') names.set(String(node.id), node.name);
    if (typeof node === 'object' && node !== null) Object.values(node).forEach(collect);
  };
  Object.values(files).forEach(({ ast }) => collect(ast));
  // The creation code holds the runtime code whole, with zeros in the place of immutables.
  const start = bytecode.object.indexOf(deployedBytecode.object.slice(2));
  if (start < 0) throw new Error(`The creation code of ${contract} does not hold its runtime code.`);
  return {
    file,
    settings: Object.fromEntries(Object.entries(settings).filter(([key]) => key !== 'compilationTarget')),
    runtime: { start: start / 2 - 1, length: evm.deployedBytecode.object.length / 2 },
    immutables: Object.fromEntries(
      Object.entries(evm.deployedBytecode.immutableReferences)
        .map(([id, places]) => [names.get(id), places.map((place) => place.start)])
        .sort(([a], [b]) => (a < b ? -1 : 1)),
    ),
    sources: Object.fromEntries(Object.entries(sources).map(([path, { keccak256 }]) => [path, keccak256])),
  };
}

/** Path to text of every generated file. */
function generate() {
  const files = new Map();
  for (const { file, contract, name, where } of modules) {
    const { abi, bytecode } = artifact(contract);
    if (file) files.set(`${abiFolders[where] ?? abiFolder}/${file}.ts`, moduleText(contract, name, abi));
    files.set(join(codeFolder, where ?? '', `${contract}.json`), codeText(bytecode.object));
  }
  const { compiler } = artifact('Escrow').metadata;
  const builds = Object.fromEntries(deployed.map((contract) => [contract, buildOf(contract)]));
  files.set(
    `${abiFolder}/build.ts`,
    `// Generated by scripts/contracts.mjs build. Do not edit.
export const compilerVersion = '${compiler.version}'

/**
 * How each deployed contract is compiled. \`runtime\`: where its runtime code lies in the creation code, in
 * bytes. \`immutables\`: where their words lie in the runtime code. \`sources\`: keccak-256 of each file.
 */
export const builds = ${JSON.stringify(builds, null, 1)} as const
`,
  );
  // Permit2 itself comes from npm as it was deployed everywhere; its ABI is the part that we and our takers
  // call.
  const creation = readFileSync(
    join(dirname(require.resolve('hardhat-predeploy/package.json')), `bin/${permit2}.bytecode`),
  );
  const full = JSON.parse(
    readFileSync(
      join(dirname(require.resolve('hardhat-predeploy/package.json')), `bin/${permit2}.abi`),
      'utf8',
    ),
  );
  const ours = new Set(artifact('IPermit2').abi.map((entry) => entry.name));
  const abi = full.filter((entry) => ours.has(entry.name) || entry.type === 'error');
  files.set(
    `${abiFolder}/permit2.ts`,
    `${moduleText('Permit2', 'permit2', abi)}
export const permit2Address = '${permit2}' as const

/** Sent to the CREATE2 deployer before the creation code, it makes Permit2 appear at its address. */
export const permit2Salt = '0x0000000000000000000000000000000000000000d3af2663da51c10215000000' as const
`,
  );
  files.set(
    `${abiFolder}/token-errors.ts`,
    moduleText(
      'the errors that tokens share: OpenZeppelin, EIP-6093 and EIP-3009',
      'tokenErrors',
      artifact('DevUsd').abi.filter(({ type }) => type === 'error'),
    ),
  );
  files.set(`${codeFolder}/Permit2.json`, codeText(`0x${creation.toString('hex')}`));
  // viem does not export it.
  const viem = dirname(dirname(require.resolve('viem')));
  const { multicall3Bytecode } = require(join(viem, '_cjs/constants/contracts.js'));
  files.set(`${codeFolder}/devnet/Multicall3.json`, codeText(multicall3Bytecode));
  return files;
}

function build() {
  compile();
  for (const [path, text] of generate()) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
}

function check() {
  compile();
  const read = (path) => {
    try {
      return readFileSync(join(root, path), 'utf8');
    } catch {
      return undefined;
    }
  };
  // EIP-170 allows 24,576 bytes: what is left is for the next change.
  const bytes = (artifact('Escrow').deployedBytecode.object.length - 2) / 2;
  if (bytes > MOST_ESCROW_BYTES) {
    process.stderr.write(
      `The escrow's code has ${bytes} bytes; at most ${MOST_ESCROW_BYTES} are allowed here.\n`,
    );
    return 1;
  }
  const stale = [...generate()].filter(([path, text]) => read(path) !== text).map(([path]) => path);
  if (stale.length === 0) return 0;
  process.stderr.write(
    `Stale, run node scripts/contracts.mjs build:\n${stale.map((path) => `  ${path}\n`).join('')}`,
  );
  return 1;
}

const [command, ...rest] = process.argv.slice(2);
const options = rest.filter((option) => option !== '--');
const commands = {
  build: () => build(),
  check,
  test: () => forge(['test', ...options]),
  snapshot: () => {
    const checking = options.includes('--check');
    process.env.FORGE_SNAPSHOT_CHECK = String(checking);
    process.env.FORGE_SNAPSHOT_EMIT = String(!checking);
    return forge(['test', '--match-path', 'contracts/test/Gas*.t.sol']);
  },
  // Coverage compiles without the optimiser, so gas says nothing there.
  coverage: () =>
    forge([
      'coverage',
      '--ir-minimum',
      ...[
        '--report',
        'summary',
        '--no-match-path',
        'contracts/test/Gas*.t.sol',
        '--no-match-coverage',
        'contracts/test',
      ],
      ...options,
    ]),
};
if (!Object.hasOwn(commands, command ?? '')) {
  process.stderr.write(`usage: node scripts/contracts.mjs ${Object.keys(commands).join(' | ')}\n`);
  process.exitCode = 2;
} else {
  process.exitCode = commands[command]() ?? 0;
}
