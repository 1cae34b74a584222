/**
 * A venue, an LP and attesters as processes whose keys are in key services: the operator's in AWS KMS, the
 * relayer's in a Web3Signer, an attester's in Google Cloud KMS. They trade across two chains, and the LP goes
 * on standby and comes back when its service throttles, and waits for one that is down.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { decodeCommitments, parseSeal } from '../../../src/protocol/seal-wire.ts';
import { startWorld, type World } from '../../faults/support/world.ts';
import { PROGRAM } from '../../support/build.ts';
import { account, ATTESTERS } from '../../support/devnet.ts';
import { AWS_ENVIRONMENT, AWS_KEY, playAwsKms } from '../../support/key-services/aws-kms.ts';
import { AUTHORITY, CLIENT } from '../../support/key-services/certificates.ts';
import { GOOGLE_KEY, googleEnvironment, playGoogleKms } from '../../support/key-services/google-kms.ts';
import type { PlayedService } from '../../support/key-services/played.ts';
import { playWeb3Signer } from '../../support/key-services/web3signer.ts';
import { until } from '../../support/venue.ts';

/** Of the accounts that the world gives to its first LP, its relayer and its first attester. */
const [OPERATOR, RELAYER, ATTESTER] = [3_200, 3_000, 11];
const LIMITS = { timeoutMs: 1_000, deadlineMs: 1_500 };

let folder: string;
let aws: PlayedService;
let google: PlayedService;
let web3signer: PlayedService;
let world: World;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-remote-'));
  [aws, google, web3signer] = await Promise.all([
    playAwsKms(OPERATOR),
    playGoogleKms(ATTESTER),
    playWeb3Signer(RELAYER),
  ]);
  aws.latencyMs = 30;
  const files = { caFile: AUTHORITY, certFile: CLIENT.cert, keyFile: CLIENT.key };
  for (const [name, text] of Object.entries(files)) await writeSecretFile(join(folder, name), text);
  const keys: Record<string, object> = {
    // One place, so that quotes have to wait for each other.
    alpha: { operator: { awsKms: { keyId: AWS_KEY, endpoint: aws.url, maxConcurrent: 1, ...LIMITS } } },
    'attester-1': {
      attester: {
        googleKms: {
          keyVersion: GOOGLE_KEY,
          endpoint: google.url,
          address: ATTESTERS[0]?.address,
          ...LIMITS,
        },
      },
    },
    venue: {
      relayer: {
        web3signer: {
          url: web3signer.url,
          address: account(RELAYER).address,
          ...Object.fromEntries(Object.keys(files).map((name) => [name, join(folder, name)])),
          ...LIMITS,
        },
      },
    },
  };
  world = await startWorld({
    chainIds: [41_401, 41_402],
    program: PROGRAM,
    configure: (part, config) =>
      part in keys ? { ...config, keys: { ...(config['keys'] as object), ...keys[part] } } : config,
  });
  await Promise.all([
    world.lps[0]?.part.start(AWS_ENVIRONMENT),
    world.attesters[0]?.start(googleEnvironment(google)),
  ]);
  await world.startAll();
}, 180_000);

afterAll(async () => {
  await world?.stop();
  await Promise.all([aws, google, web3signer].map((service) => service?.close()));
  await rm(folder, { recursive: true, force: true });
});

const lp = () => world.lps[0] as World['lps'][number];
const rosterNote = async () => {
  const answer = await fetch(`${world.venueUrl()}/api/v1/solvers`, {
    headers: { 'x-api-key': world.apiKey },
  });
  const { solvers } = (await answer.json()) as {
    solvers: { id: string; status: string; eligibilityNote: string | null }[];
  };
  const { status, eligibilityNote } = solvers.find(({ id }) => id === 'alpha') ?? {};
  return `${status}: ${eligibilityNote}`;
};

test('a trade across chains: quoted, awarded, filled and settled, with every key in a service', async () => {
  const [from, to] = world.devnet.chains;
  const client = await world.client();
  const prepared = await client.prepare({ ...(from && { from }), ...(to && { to }) });
  const order = await client.insist(prepared, 'across');
  expect(await client.ended(order ?? '')).toMatchObject({ status: 'settled' });
  // The quote's tenors and the proof of the operator; the fill and the claim; what the relayer sent.
  expect(aws.signed).toBeGreaterThan(3);
  expect(web3signer.signed).toBeGreaterThan(0);
  expect(google.signed).toBeGreaterThan(0);
  expect(lp().part.output()).not.toContain(AWS_ENVIRONMENT.AWS_SECRET_ACCESS_KEY);
}, 120_000);

test('requests at once: what waits for the service is signed as one tree, and each quote settles', async () => {
  const clients = await Promise.all(Array.from({ length: 5 }, () => world.client()));
  const steps: number[] = [];
  await Promise.all(
    clients.map(async (client, n) => {
      const prepared = await client.prepare();
      const seal = parseSeal(prepared.candidate.integrityChecksum);
      for (const { signature } of (seal && decodeCommitments(seal.commitments)) ?? [])
        steps.push((signature.length - 132) / 64);
      const order = await client.insist(prepared, `tree ${n}`);
      expect(await client.ended(order ?? '')).toMatchObject({ status: 'settled' });
    }),
  );
  expect(steps).toHaveLength(5);
  expect(Math.max(...steps)).toBeGreaterThan(0);
  const metrics = await (await fetch(`${lp().part.opsUrl}/metrics`)).text();
  expect(metrics).toMatch(/firmquote_lp_signatures_total\{of="tree"\} [1-9]/);
}, 120_000);

test('AWS throttles for a while: standby with the reason, no quote, then all is done and quoted again', async () => {
  const [from, to] = world.devnet.chains;
  const client = await world.client();
  const trade = { ...(from && { from }), ...(to && { to }) };
  // Promised before the throttling begins: the fill has to wait for a signature, and is not given up.
  const prepared = await client.prepare(trade);
  aws.fault = 'throttled';
  const order = await client.insist(prepared, 'throttled');
  expect(await client.quote(trade)).toBeUndefined();
  await until(async () => (await rosterNote()) === 'standby: signer: cannot sign at the moment');
  expect((await lp().part.ready())?.reasons.join()).toMatch(
    /signer: The key service \(aws-kms\) refuses so many requests\. Raise its quota.*ThrottlingException/,
  );
  expect(await client.quote(trade)).toBeUndefined();
  const metrics = await (await fetch(`${lp().part.opsUrl}/metrics`)).text();
  expect(metrics).toMatch(/firmquote_signer_failures_total\{service="aws-kms",kind="throttled"\} [1-9]/);
  expect(metrics).toMatch(/firmquote_signer_request_seconds_count\{service="aws-kms"\} [1-9]/);
  aws.fault = 'ok';
  await world.quoting();
  expect(await client.ended(order ?? '')).toMatchObject({ status: 'settled' });
  const again = await client.insist(await client.prepare(trade), 'again');
  expect(await client.ended(again ?? '')).toMatchObject({ status: 'settled' });
}, 180_000);

test('a service that is down at the start of the LP: it waits, and quotes when the service is back', async () => {
  const { part } = lp();
  expect(await part.stop()).toBe(0);
  aws.gone = true;
  await part.start(AWS_ENVIRONMENT);
  await part.says('the key service does not answer yet; retrying');
  expect(await part.ready()).toMatchObject({ status: 503, reasons: ['starting'] });
  aws.gone = false;
  await world.quoting();
}, 120_000);
