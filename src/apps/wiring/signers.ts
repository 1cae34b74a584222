/** Opens the signer of a configured key: in this process, or at a key service. */

import { createAwsKms } from '../../adapters/signer/aws-kms.ts';
import { createGoogleKms } from '../../adapters/signer/google-kms.ts';
import type { KeyService } from '../../adapters/signer/key-service.ts';
import { openRemoteSigner } from '../../adapters/signer/remote-signer.ts';
import { createWeb3Signer } from '../../adapters/signer/web3signer.ts';
import { readSecretFile } from '../../adapters/keystore/file.ts';
import { keystoreAddress } from '../../adapters/keystore/keystore.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { createRecovery } from '../../adapters/secp256k1/recovery.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { readTextFile } from '../../adapters/system/text-file.ts';
import type { Address } from '../../domain/hex.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Signer } from '../../ports/signer.ts';
import type { KeySource, RemoteKeySource } from '../config/parts.ts';
import { openLocalSigner, type SecretContext } from './keys.ts';
import type { Life } from './process.ts';
import { untilUp } from './until-up.ts';

interface SignerTools {
  log: Log;
  metrics: Metrics;
  secrets: SecretContext;
}

interface OpenedSigner extends Signer {
  close(): Promise<void>;
}

/**
 * Opens a process's signer: waits while the key service is down, and closes the signer when the process
 * stops.
 */
export async function openSigner(
  source: KeySource,
  { life, ...tools }: SignerTools & { life: Life },
): Promise<Signer> {
  const signer = await untilUp(() => openOnce(source, tools), {
    ...{ life, log: tools.log, what: 'the key service' },
  });
  life.onStop('signer', () => signer.close());
  return signer;
}

/** Returns a key's address, without asking the key service where the configuration names the address. */
export async function addressOfKey(
  source: KeySource,
  { log, secrets }: Pick<SignerTools, 'log' | 'secrets'>,
): Promise<Address> {
  const known =
    'keystore' in source
      ? keystoreAddress(await readSecretFile(source.keystore, secrets))
      : 'env' in source
        ? undefined
        : remoteOf(source).address;
  if (known !== undefined && known !== null) return known;
  return withSigner(source, { log, secrets }, async ({ address }) => address);
}

/** Runs a command with a signer: one attempt to reach a key service, and no connection left at the end. */
export async function withSigner<T>(
  source: KeySource,
  tools: Pick<SignerTools, 'log' | 'secrets'>,
  work: (signer: Signer) => Promise<T>,
): Promise<T> {
  const signer = await openOnce(source, { ...tools, metrics: createMetrics() });
  try {
    return await work(signer);
  } finally {
    await signer.close();
  }
}

async function openOnce(source: KeySource, { log, metrics, secrets }: SignerTools): Promise<OpenedSigner> {
  if ('keystore' in source || 'env' in source)
    return { ...(await openLocalSigner(source, secrets)), close: async () => {} };
  const service = await serviceOf(source, secrets);
  try {
    return await openRemoteSigner(
      service,
      { clock: systemClock, log, metrics, recovery: createRecovery() },
      remoteOf(source),
    );
  } catch (error) {
    await service.close();
    throw error;
  }
}

async function serviceOf(source: RemoteKeySource, secrets: SecretContext): Promise<KeyService> {
  if ('awsKms' in source) return createAwsKms(source.awsKms);
  if ('googleKms' in source) return createGoogleKms(source.googleKms);
  const { url, address, caFile, certFile, keyFile } = source.web3signer;
  const key = keyFile === null ? null : await readSecretFile(keyFile, secrets);
  if (key !== null) secrets.redactor.hide(key);
  const tls = {
    ...(caFile !== null && { ca: await readTextFile(caFile) }),
    ...(certFile !== null && { cert: await readTextFile(certFile) }),
    ...(key !== null && { key }),
  };
  return createWeb3Signer({ url, address, tls });
}

const remoteOf = (source: RemoteKeySource) =>
  'awsKms' in source ? source.awsKms : 'googleKms' in source ? source.googleKms : source.web3signer;
