/**
 * One suite that every signer passes: local, from a keystore, and at each key service, over real HTTP against
 * servers that speak the services' own formats and fail in their own ways.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { parseTransaction, recoverAddress, recoverTransactionAddress } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { signTransaction } from '../../../src/adapters/evm/transactor/sign.ts';
import { writeSecretFile } from '../../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../../src/adapters/keystore/keystore.ts';
import { createRedactor } from '../../../src/adapters/pino/redact.ts';
import { createRecovery } from '../../../src/adapters/secp256k1/recovery.ts';
import { createSigner } from '../../../src/adapters/secp256k1/signer.ts';
import { createAwsKms } from '../../../src/adapters/signer/aws-kms.ts';
import { createGoogleKms } from '../../../src/adapters/signer/google-kms.ts';
import type { KeyService } from '../../../src/adapters/signer/key-service.ts';
import {
  openRemoteSigner,
  type RemoteSigner,
  type RemoteSignerOptions,
} from '../../../src/adapters/signer/remote-signer.ts';
import { createWeb3Signer } from '../../../src/adapters/signer/web3signer.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { zKeySource } from '../../../src/apps/config/parts.ts';
import { openLocalSigner } from '../../../src/apps/wiring/keys.ts';
import { withSigner } from '../../../src/apps/wiring/signers.ts';
import { commitmentDigest, commitmentMessage } from '../../../src/domain/commitment.ts';
import { keccak } from '../../../src/domain/keccak.ts';
import type { Signer } from '../../../src/ports/signer.ts';
import { account } from '../../support/devnet.ts';
import { AWS_ENVIRONMENT, AWS_KEY, playAwsKms } from '../../support/key-services/aws-kms.ts';
import { AUTHORITY, CLIENT, STRANGER } from '../../support/key-services/certificates.ts';
import { GOOGLE_KEY, googleEnvironment, playGoogleKms } from '../../support/key-services/google-kms.ts';
import { KEY_NUMBER, type Fault, type PlayedService } from '../../support/key-services/played.ts';
import { playWeb3Signer } from '../../support/key-services/web3signer.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { until } from '../../support/venue.ts';

const KEY = account(KEY_NUMBER);
const MESSAGE = new TextEncoder().encode('a message');

const OPTIONS: RemoteSignerOptions = {
  address: KEY.address,
  maxConcurrent: 8,
  // Longer than a busy machine stands still. Tests of the limits have their own.
  timeoutMs: 20_000,
  deadlineMs: 25_000,
  probeEveryMs: 50,
};

interface Played {
  play(): Promise<PlayedService>;
  dial(service: PlayedService, key?: string): KeyService | Promise<KeyService>;
}

const SERVICES: Record<string, Played> = {
  'AWS KMS': {
    play: () => playAwsKms(),
    dial: ({ url }, keyId = AWS_KEY) =>
      createAwsKms({ keyId, region: null, endpoint: url, maxConcurrent: OPTIONS.maxConcurrent }),
  },
  'Google Cloud KMS': {
    play: () => playGoogleKms(),
    dial(service, keyVersion = GOOGLE_KEY) {
      Object.assign(process.env, googleEnvironment(service));
      return createGoogleKms({ keyVersion, endpoint: service.url });
    },
  },
  Web3Signer: {
    play: () => playWeb3Signer(),
    dial: ({ url }, address = KEY.address) =>
      createWeb3Signer({ url, address: address as `0x${string}`, tls: { ca: AUTHORITY, ...CLIENT } }),
  },
};

const deps = { clock: systemClock, log: silentLog, metrics: silentMetrics, recovery: createRecovery() };
const open: { close(): Promise<void> }[] = [];
let folder: string;

beforeAll(async () => {
  Object.assign(process.env, AWS_ENVIRONMENT);
  folder = await mkdtemp(join(tmpdir(), 'fq-signers-'));
  await writeSecretFile(join(folder, 'key.json'), await encryptKey(KEY, 'a password', { n: 1 << 10 }));
  await writeSecretFile(join(folder, 'password'), 'a password\n');
});
afterEach(async () => {
  for (const each of open.splice(0).toReversed()) await each.close();
});
afterAll(() => rm(folder, { recursive: true }));

async function start(
  name: string,
  options: Partial<RemoteSignerOptions> = {},
): Promise<{ signer: RemoteSigner; service: PlayedService }> {
  const { play, dial } = SERVICES[name] as Played;
  const service = await play();
  open.push(service);
  const signer = await openRemoteSigner(await dial(service), deps, { ...OPTIONS, ...options });
  open.push(signer);
  return { signer, service };
}

const SIGNERS: Record<string, () => Promise<Signer>> = {
  'in this process': async () => createSigner(KEY.privateKey),
  'from a keystore': async () => {
    return openLocalSigner(
      { keystore: join(folder, 'key.json'), passwordFile: join(folder, 'password') },
      { env: {}, redactor: createRedactor(), mounted: false },
    );
  },
  ...Object.fromEntries(Object.keys(SERVICES).map((name) => [name, async () => (await start(name)).signer])),
};

describe.each(Object.entries(SIGNERS))('%s', (_, make) => {
  test('law: signs any message, with low s, so that its address is recovered', async () => {
    const signer = await make();
    expect(signer.address).toBe(KEY.address);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (message) => {
        const signature = await signer.sign(message);
        expect(signature).toMatch(/^0x[0-9a-f]{128}1[bc]$/);
        // Recovers from low s alone.
        expect(deps.recovery.recover(keccak(message), signature)).toBe(KEY.address);
        expect((await recoverAddress({ hash: keccak(message), signature })).toLowerCase()).toBe(KEY.address);
      }),
      { numRuns: 10 },
    );
  });

  test('signs commitments and transactions', async () => {
    const signer = await make();
    const domain = { chainId: 8453, escrow: account(1).address };
    const id = `0x${'ab'.repeat(32)}` as const;
    const commitment = { orderId: id, quoteId: id, lp: account(2).address, deadline: 1_800_000_000 };
    const signature = await signer.sign(commitmentMessage(domain, commitment));
    expect(deps.recovery.recover(commitmentDigest(domain, commitment), signature)).toBe(KEY.address);
    const { raw } = await signTransaction(signer, {
      ...{ chainId: 8453, nonce: 7, to: account(3).address, data: `0x${'cd'.repeat(2_000)}` },
      ...{ gas: 100_000n, maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n },
    });
    expect(parseTransaction(raw).nonce).toBe(7);
    expect(
      (await recoverTransactionAddress({ serializedTransaction: raw as `0x02${string}` })).toLowerCase(),
    ).toBe(KEY.address);
  });

  test('signs many at once', async () => {
    const signer = await make();
    const messages = Array.from({ length: 60 }, (__, n) => Uint8Array.of(n));
    const signatures = await Promise.all(messages.map((message) => signer.sign(message)));
    for (const [n, message] of messages.entries())
      expect(deps.recovery.recover(keccak(message), signatures[n] ?? '0x')).toBe(KEY.address);
    expect(signer.issue?.()).toBeUndefined();
  });
});

describe.each(Object.keys(SERVICES))('%s', (name) => {
  test.each(['high_s', 'low_s'] as const)('a signature with %s becomes one with low s', async (fault) => {
    const { signer, service } = await start(name);
    service.fault = fault;
    for (let n = 0; n < 4; n += 1)
      expect(deps.recovery.recover(keccak(MESSAGE), await signer.sign(MESSAGE))).toBe(KEY.address);
  });

  test.each(['throttled', 'down', 'reset', 'malformed'] as const)(
    '%s twice: the third request of the same signature succeeds',
    async (fault) => {
      const { signer, service } = await start(name);
      service.next = [fault, fault];
      expect(deps.recovery.recover(keccak(MESSAGE), await signer.sign(MESSAGE))).toBe(KEY.address);
      expect(service.signed).toBe(3);
    },
  );

  test('a request without an answer is abandoned and repeated', async () => {
    const { signer, service } = await start(name, { timeoutMs: 500 });
    service.next = ['hang'];
    expect(deps.recovery.recover(keccak(MESSAGE), await signer.sign(MESSAGE))).toBe(KEY.address);
    expect(service.signed).toBeGreaterThan(1);
    await until(() => service.abandoned > 0);
  });

  test('error: what does not pass in time is told with its reason', async () => {
    const reasons: [Fault, string, RegExp][] = [
      ['throttled', 'throttled', /refuses so many requests.*quota/],
      ['down', 'unavailable', /is not working/],
      ['reset', 'unavailable', /cannot be reached/],
      ['malformed', 'malformed', /cannot be read/],
      ['hang', 'timeout', /does not answer in time/],
    ];
    const failures = reasons.map(async ([fault, kind, message]) => {
      const short = { timeoutMs: fault === 'hang' ? 500 : 20_000, deadlineMs: 2_000 };
      const { signer, service } = await start(name, short);
      service.fault = fault;
      const error: unknown = await signer.sign(MESSAGE).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: 'signer_unavailable', retry: 'later', kind });
      expect((error as Error).message).toMatch(message);
      expect(service.signed).toBeGreaterThan(1);
    });
    await Promise.all(failures);
  });

  test.each<[Fault, string, RegExp]>([
    ['denied', 'denied', /refuses our credentials/],
    ['no_key', 'no_key', /cannot sign with this key/],
    ['wrong_key', 'wrong_key', /signs with another key/],
  ])('error: %s is not repeated, and no signature is given', async (fault, kind, message) => {
    const { signer, service } = await start(name);
    service.fault = fault;
    const failed = signer.sign(MESSAGE);
    await expect(failed).rejects.toThrow(message);
    await expect(failed).rejects.toMatchObject({ kind, retry: 'later' });
    expect(service.signed).toBe(1);
  });

  test('error: a caller with less time is told in that time, and the request is abandoned', async () => {
    const { signer, service } = await start(name);
    service.latencyMs = 5_000;
    await expect(signer.sign(MESSAGE, { withinMs: 60 })).rejects.toMatchObject({ kind: 'late' });
    await until(() => service.abandoned === 1);
    await expect(signer.sign(MESSAGE, { withinMs: 0 })).rejects.toMatchObject({ kind: 'late' });
  });

  test('has few requests in progress at a time; who finds no place in time is told', async () => {
    const { signer, service } = await start(name, { maxConcurrent: 3 });
    service.latencyMs = 10;
    await Promise.all(Array.from({ length: 20 }, () => signer.sign(MESSAGE)));
    expect(service.most).toBe(3);
    service.fault = 'hang';
    const stuck = Array.from({ length: 3 }, () => signer.sign(MESSAGE, { withinMs: 1_500 }).catch(() => {}));
    await until(() => service.signed === 23);
    await expect(signer.sign(MESSAGE, { withinMs: 50 })).rejects.toMatchObject({ kind: 'busy' });
    await Promise.all(stuck);
  });

  test('three failures in a row are an issue until it signs again, which nobody has to ask', async () => {
    const { signer, service } = await start(name);
    service.fault = 'denied';
    for (let n = 0; n < 3; n += 1) {
      expect(signer.issue()).toBeUndefined();
      await expect(signer.sign(MESSAGE)).rejects.toThrow();
    }
    expect(signer.issue()).toMatch(/^The key service \(.*\) refuses our credentials/);
    const before = service.signed;
    await until(() => service.signed > before + 1);
    service.fault = 'ok';
    await until(() => signer.issue() === undefined);
    const after = service.signed;
    await signer.sign(MESSAGE);
    expect(service.signed).toBe(after + 1);
  });

  test('a service that hangs is an issue even to callers with little time', async () => {
    const { signer, service } = await start(name, { timeoutMs: 500, deadlineMs: 1_000 });
    service.fault = 'hang';
    for (let n = 0; n < 3; n += 1)
      await expect(signer.sign(MESSAGE, { withinMs: 20 })).rejects.toMatchObject({ kind: 'late' });
    await until(() => signer.issue() !== undefined);
    service.fault = 'ok';
    await until(() => signer.issue() === undefined);
  });

  test('error: the key has another address, or the service does not know it', async () => {
    const { play, dial } = SERVICES[name] as Played;
    const service = await play();
    open.push(service);
    const openAt = async (key: string | undefined, address: `0x${string}`) => {
      const dialled = await dial(service, key);
      open.push(dialled);
      return openRemoteSigner(dialled, deps, { ...OPTIONS, address });
    };
    const wrong = account(KEY_NUMBER + 5).address;
    await expect(openAt(undefined, wrong)).rejects.toThrow(
      `is that of ${KEY.address}, not of ${wrong}. Correct the key or the address.`,
    );
    const unknown =
      { 'AWS KMS': 'alias/none', 'Google Cloud KMS': GOOGLE_KEY.replace(/1$/, '2') }[name] ?? wrong;
    await expect(openAt(unknown, KEY.address)).rejects.toMatchObject({ kind: 'no_key', retry: 'never' });
  });

  test('error: nobody answers at the start, which may pass', async () => {
    const { play, dial } = SERVICES[name] as Played;
    const service = await play();
    const dialled = await dial(service);
    open.push(dialled);
    await service.close();
    await expect(openRemoteSigner(dialled, deps, OPTIONS)).rejects.toMatchObject({
      code: 'signer_unavailable',
      retry: 'later',
      kind: 'unavailable',
    });
  });
});

describe('Web3Signer over TLS', () => {
  test('the key of the client certificate never reaches a log', async () => {
    const service = await playWeb3Signer();
    open.push(service);
    const files = { ca: AUTHORITY, cert: CLIENT.cert, key: CLIENT.key };
    const [caFile, certFile, keyFile] = await Promise.all(
      Object.entries(files).map(async ([name, text]) => {
        const file = join(folder, `${name}.pem`);
        await writeSecretFile(file, text);
        return file;
      }),
    );
    const redactor = createRedactor();
    const signature = await withSigner(
      zKeySource.parse({ web3signer: { url: service.url, address: KEY.address, caFile, certFile, keyFile } }),
      { log: silentLog, secrets: { env: {}, redactor, mounted: false } },
      (signer) => signer.sign(MESSAGE),
    );
    expect(signature).toMatch(/^0x/);
    for (const line of CLIENT.key.split('\n').filter((text) => text !== '' && !text.startsWith('-----')))
      expect(redactor.text(`bad base64: ${line}`)).toBe('bad base64: [redacted]');
  });

  test.each([
    ['without a client certificate', { ca: AUTHORITY }],
    ['with one of another authority', { ca: AUTHORITY, ...STRANGER }],
    ['without the authority of the server', CLIENT],
  ])('error: %s', async (_, tls) => {
    const service = await playWeb3Signer();
    open.push(service);
    const dialled = createWeb3Signer({ url: service.url, address: KEY.address, tls });
    open.push(dialled);
    await expect(openRemoteSigner(dialled, deps, OPTIONS)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(service.signed).toBe(0);
  });
});
