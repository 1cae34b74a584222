/** docs/examples/partner.mjs as a process of its own, and the venue's adapter that asks it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createOutbound } from '../../src/adapters/outbound/request.ts';
import { createPartnerClient, type PartnerClient } from '../../src/adapters/partners/client.ts';
import {
  createPartnerVenue,
  type PartnerVenue,
  type PartnerVenueOptions,
} from '../../src/adapters/partners/venue.ts';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { assetId } from '../../src/domain/asset.ts';
import { partnerPublicKey, partnerSigningKey, publicKeyText } from '../../src/protocol/partner/signature.ts';
import { setOperatorCall } from '../../src/settlement/call.ts';
import type { TestAccount, TestChain } from './devnet.ts';
import { silentLog, silentMetrics } from './silent.ts';
import { until } from './venue.ts';

const ROOT = resolve(import.meta.dirname, '../..');
export const PARTNER_EXAMPLE = join(ROOT, 'docs/examples/partner.mjs');

export const newPem = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();

export interface PartnerSpec {
  chains: readonly [TestChain, TestChain];
  account: TestAccount;
  operator: TestAccount;
  /** Options to add to its configuration, or to replace there. */
  config?: object;
  venue?: Partial<PartnerVenueOptions>;
}

export interface TestPartner {
  client: PartnerClient;
  venue: PartnerVenue;
  url: string;
  /** The venue's public key in PEM; `publicKey` is the partner's, as a venue's configuration has it. */
  venueKey: string;
  publicKey: string;
  said(): string;
  /** Writes its configuration anew; it counts from the next request on. */
  configure(change: object): Promise<void>;
  /** Kills it with SIGKILL, then starts a new process with the same files. */
  restart(): Promise<void>;
  kill(): void;
  stop(): Promise<void>;
}

/** Carries USDC both ways between the two chains. The account must have money in the ledgers already. */
export async function startTestPartner({
  chains,
  account,
  operator,
  config: change = {},
  venue: options = {},
}: PartnerSpec): Promise<TestPartner> {
  const folder = await mkdtemp(join(tmpdir(), 'fq-partner-'));
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const [ours, theirs] = [newPem(), newPem()];
  const port = await freePort();
  for (const chain of chains) {
    await chain.fund(operator.address, 0n);
    await chain.send(account.address, chain.chain.escrow, setOperatorCall(operator.address, true));
  }
  const usdc = ({ chain, usdc: { address } }: TestChain) => assetId({ chainId: chain.id, token: address });
  const [first, second] = chains;
  const pair = (input: TestChain, output: TestChain) => ({
    input: usdc(input),
    output: usdc(output),
    minAmountIn: '1000',
    maxAmountIn: '60000000000',
  });
  let config: object = {
    partner: 'test-partner',
    kind: 'bridge',
    listen: { host: '127.0.0.1', port },
    venueKeys: [publicKeyText(partnerSigningKey(ours))],
    privateKey: theirs,
    account: account.address,
    operatorKey: operator.privateKey,
    feeBps: 10,
    validSeconds: 40,
    journal: join(folder, 'journal.ndjson'),
    callback: null,
    chains: Object.fromEntries(
      chains.map(({ chain, anvil }) => [
        chain.id,
        { rpc: anvil.url, escrow: chain.escrow, oracle: chain.oracle, depth: 0 },
      ]),
    ),
    assets: Object.fromEntries(chains.map((chain) => [usdc(chain), { decimals: 6, usdE8: 100_000_000 }])),
    pairs: [pair(first, second), pair(second, first)],
    hours: null,
    payouts: [{ asset: usdc(second), currency: 'EUR', perToken: 0.9, fee: 1 }],
    ...change,
  };
  const file = join(folder, 'partner.json');
  await writeFile(file, JSON.stringify(config));
  let said = '';
  let child: ChildProcess | undefined;
  const run = async () => {
    said = '';
    child = spawn(process.execPath, [PARTNER_EXAMPLE, file], { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (data: Buffer) => (said += data.toString()));
    await until(() => {
      if (child?.exitCode !== null) throw new Error(said);
      return said.includes('listening');
    });
  };
  await run();
  const outbound = createOutbound({ allowHosts: ['127.0.0.1'], allowPrivate: true });
  const url = `http://127.0.0.1:${port}`;
  const client = createPartnerClient(
    {
      id: 'test-partner',
      url,
      keys: [partnerSigningKey(ours)],
      partnerKeys: [partnerPublicKey(publicKeyText(partnerSigningKey(theirs)))],
    },
    { outbound, clock: systemClock, random: systemRandom, metrics: silentMetrics },
  );
  const venue = createPartnerVenue(
    {
      client,
      chains: new Map(chains.map(({ port: chain }) => [chain.chain.id, chain])),
      clock: systemClock,
      log: silentLog,
    },
    {
      id: 'test-partner',
      name: 'Test partner',
      kind: 'bridge',
      publicKeys: [publicKeyText(partnerSigningKey(theirs))],
      limits: { timeoutMs: 5_000, maxInFlight: 8 },
      termsMs: 60_000,
      orderTimeoutMs: 10_000,
      fillMs: 20_000,
      cancelSeconds: 0,
      ...options,
    },
  );
  await venue.start();
  return {
    client,
    venue,
    url,
    venueKey: ours,
    publicKey: publicKeyText(partnerSigningKey(theirs)),
    said: () => said,
    async configure(more) {
      config = { ...config, ...more };
      await writeFile(file, JSON.stringify(config));
    },
    async restart() {
      child?.kill('SIGKILL');
      const isRunning = child?.exitCode === null && child.signalCode === null;
      await new Promise((ended) => (isRunning ? child?.once('exit', ended) : ended(0)));
      await run();
    },
    kill: () => void child?.kill('SIGKILL'),
    async stop() {
      venue.stop();
      child?.kill('SIGKILL');
      outbound.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
