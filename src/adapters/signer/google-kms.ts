/**
 * Google Cloud KMS: a key version of algorithm EC_SIGN_SECP256K1_SHA256, by REST. Only the credentials come
 * from a library: Google's own client of KMS brings gRPC and four times as many packages for these two calls.
 * The API's checksums (CRC32C) are left out, because every signature is checked by recovery.
 */

import type { GoogleAuth } from 'google-auth-library';
import { optionalPackage } from '../system/optional-packages.ts';
import { type KeyService, KeyServiceFailure } from './key-service.ts';
import { createServiceHttp, failureOf, networkDetail } from './key-service-http.ts';
import { readDer, readPublicKey } from './signature.ts';

interface GoogleKmsOptions {
  /** `projects/P/locations/L/keyRings/R/cryptoKeys/K/cryptoKeyVersions/N`. */
  keyVersion: string;
  endpoint: string;
}

const SCOPE = 'https://www.googleapis.com/auth/cloudkms';

/** Credentials are Google's application default. Throws `MissingPackageError` without the library. */
export async function createGoogleKms({ keyVersion, endpoint }: GoogleKmsOptions): Promise<KeyService> {
  const { GoogleAuth } = await optionalPackage('google-auth-library', () => import('google-auth-library'));
  // Without a project the library looks for one, and runs the command `gcloud` for that.
  const projectId = keyVersion.split('/')[1] ?? '';
  const auth: GoogleAuth = new GoogleAuth({ scopes: [SCOPE], projectId });
  const http = createServiceHttp();
  const base = `${endpoint.replace(/\/+$/, '')}/v1/${keyVersion}`;

  async function call(
    method: 'GET' | 'POST',
    path: string,
    signal: AbortSignal,
    body?: object,
  ): Promise<unknown> {
    const headers = await auth.getRequestHeaders(base).catch(translate);
    const text = await http.request({
      method,
      url: `${base}${path}`,
      headers: Object.fromEntries(headers),
      signal,
      ...(body !== undefined && { body }),
    });
    try {
      return JSON.parse(text) as unknown;
    } catch (cause) {
      throw new KeyServiceFailure('malformed', 'the answer is not JSON', { cause });
    }
  }

  return {
    name: 'google-kms',
    async publicKey(signal) {
      const { pem } = (await call('GET', '/publicKey', signal)) as { pem?: unknown };
      if (typeof pem !== 'string') throw new KeyServiceFailure('malformed', 'no public key');
      return readPublicKey(pem);
    },
    async sign({ digest }, signal) {
      // The field is named after the usual hash of the algorithm. KMS signs the 32 bytes that it holds.
      const body = { digest: { sha256: Buffer.from(digest).toString('base64') } };
      const { signature } = (await call('POST', ':asymmetricSign', signal, body)) as { signature?: unknown };
      if (typeof signature !== 'string') throw new KeyServiceFailure('malformed', 'no signature');
      return readDer(Buffer.from(signature, 'base64'));
    },
    close: () => http.close(),
  };
}

/** Explains why there is no access token. */
function translate(error: unknown): never {
  const { status, code, message } = error as { status?: unknown; code?: unknown; message?: unknown };
  if (typeof status === 'number')
    throw new KeyServiceFailure(
      failureOf(status) === 'no_key' ? 'denied' : failureOf(status),
      `no access token: status ${status}`,
      { cause: error },
    );
  if (typeof code === 'string')
    throw new KeyServiceFailure('unavailable', `no access token: ${networkDetail(error)}`, { cause: error });
  throw new KeyServiceFailure('denied', `no access token: ${String(message)}`, { cause: error });
}
