/** `firmquote certify`: plays a venue against a solver and reports which rules of the protocol it keeps. */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readFirstMessage } from '../../adapters/ws/challenge.ts';
import { systemRandom } from '../../adapters/system/random.ts';
import { parseAssetId } from '../../domain/asset.ts';
import { ETHER } from '../../domain/chain.ts';
import { UpstreamError } from '../../domain/errors.ts';
import { ZERO_ADDRESS } from '../../domain/hex.ts';
import { readFromVenue } from '../../protocol/link/link.ts';
import { badRequest } from '../wiring/bad-request.ts';
import { openWitness } from '../verify/witness.ts';
import { certify } from './certify.ts';
import { ensureDevPackages } from '../../adapters/system/dev-packages.ts';
import { type CertifyDevnet, startCertifyDevnet } from './devnet.ts';
import { EXIT_CODE, reportLines } from './findings.ts';
import { solverFile } from './solver-file.ts';
import type { AskedPair, CertifyWorld } from './world.ts';

export interface CertifyOptions {
  listen: string;
  key?: string;
  solver: string;
  venue?: string;
  rpc: readonly string[];
  pair: readonly string[];
  dataDir: string;
  requests: number;
  deadline: number;
  heartbeat: number;
  wait: number;
  json?: boolean;
}

const CHAIN_IDS = [31_971, 31_972] as const;
/** A solver may take so long to deliver once the input is in escrow. */
const FILL_MS = 60_000;
/** An LP waits for prices and for quotes of its earlier life. */
const ACTIVE_MS = 120_000;
/** A real venue does not name its margins. */
const MARGINS = { landingMarginSeconds: 30, proofWindowSeconds: 600 };

export async function runCertify(options: CertifyOptions): Promise<void> {
  const { host, port } = listenAddress(options.listen);
  const say = (line: string) => console.error(line);
  const key = options.key ?? process.env['FIRMQUOTE_KEY'] ?? `fq_test_${systemRandom.bytes32().slice(2, 50)}`;
  const closers: (() => Promise<unknown>)[] = [];
  const onSignal = () => void Promise.all(closers.map((close) => close())).finally(() => process.exit(130));
  process.once('SIGINT', onSignal).once('SIGTERM', onSignal);
  try {
    let devnet: CertifyDevnet | undefined;
    let world: CertifyWorld;
    if (options.venue === undefined) {
      await ensureDevPackages('chains', say);
      say('starting two local chains with the contracts');
      const dir = await mkdtemp(join(tmpdir(), 'firmquote-certify-'));
      closers.push(() => rm(dir, { recursive: true, force: true }));
      devnet = await startCertifyDevnet({ ids: CHAIN_IDS, dir });
      closers.unshift(devnet.stop);
      ({ world } = devnet);
    } else world = await realWorld(options.venue, key, options, closers);
    const report = await certify(world, {
      ...{ solverId: options.solver, key, host, port },
      deadlineMs: options.deadline,
      heartbeatSeconds: options.heartbeat,
      requests: options.requests,
      startMs: options.wait * 1_000,
      activeMs: ACTIVE_MS,
      fillMs: FILL_MS,
      onStep: say,
      async onListening(url) {
        say(`the venue listens at ${url}`);
        if (devnet === undefined) return;
        await mkdir(options.dataDir, { recursive: true });
        const file = join(options.dataDir, 'solver.json');
        await writeFile(file, solverFile({ url, key, solverId: options.solver }, devnet), { mode: 0o600 });
        say(`start your solver with what ${file} says: venue, key, account, operator key, chains, assets`);
      },
    });
    console.log(options.json ? JSON.stringify(report) : reportLines(report).join('\n'));
    process.exitCode = EXIT_CODE[report.verdict];
  } finally {
    process.off('SIGINT', onSignal).off('SIGTERM', onSignal);
    for (const close of closers) await close();
  }
}

function listenAddress(text: string): { host: string; port: number } {
  const [, host, port] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  if (port === undefined || Number(port) > 65_535)
    throw badRequest('--listen needs a port, or an address and a port, such as 127.0.0.1:8790.');
  return { host: host ?? '127.0.0.1', port: Number(port) };
}

/** The chains of a real venue, as its challenge names them, read through the caller's own nodes. */
async function realWorld(
  url: string,
  key: string,
  { rpc, pair }: CertifyOptions,
  closers: (() => Promise<unknown>)[],
): Promise<CertifyWorld> {
  const first = await readFirstMessage({ url, apiKey: key });
  if (first.kind === 'refused')
    throw badRequest(
      `The venue at ${url} refused the key (${first.status}). Give the solver's key with --key.`,
    );
  if (first.kind === 'unreachable')
    throw new UpstreamError(`The venue at ${url} cannot be reached: ${first.why}.`, { code: 'venue' });
  const read = readFromVenue(first.frame);
  if (!read.ok || read.message.type !== 'challenge')
    throw new UpstreamError(`What answers at ${url} is no venue: its first message is no challenge.`, {
      code: 'venue',
    });
  const named = read.message.chains;
  const nodes = rpc.map((text) => {
    const [, id, node] = /^(\d{1,15})=(\S+)$/.exec(text) ?? [];
    if (id === undefined || node === undefined)
      throw badRequest('--rpc needs a chain id and a URL, such as --rpc 8453=https://…');
    return [Number(id), node] as const;
  });
  const chains = await Promise.all(
    nodes.map(async ([id, rpcUrl]) => {
      const its = named.find(({ chainId }) => chainId === id);
      if (its === undefined)
        throw badRequest(
          `The venue has no chain ${id}. It has ${named.map(({ chainId, slug }) => `${slug} (${chainId})`).join(', ')}.`,
        );
      const { slug, escrow, oracle } = its;
      const witness = await openWitness(id, rpcUrl, escrow);
      closers.push(async () => witness.close());
      return {
        rpcUrl,
        views: witness.views,
        chain: {
          ...{ id, slug, escrow, oracle, ...MARGINS },
          sandbox: false,
          permit2: ZERO_ADDRESS,
          depth: 1,
          blockTimeMs: 1_000,
          native: ETHER,
          tokens: [],
        },
      };
    }),
  );
  const pairs = pair.map(readPair);
  if (chains.length === 0 || pairs.length === 0)
    throw badRequest(
      'With --venue, give a node for each chain (--rpc 8453=https://…) and what to ask for ' +
        '(--pair INPUT,OUTPUT with two assets, such as eip155:8453/erc20:0x…,eip155:8453/erc20:0x…).',
    );
  return { chains, pairs };
}

function readPair(text: string): AskedPair {
  const [input = '', output = '', ...more] = text.toLowerCase().split(',');
  if (!parseAssetId(input) || !parseAssetId(output) || more.length > 0)
    throw badRequest(
      `--pair ${text}: give two assets with a comma, each eip155:<chain>/erc20:<token address>.`,
    );
  return { input, output } as AskedPair;
}
