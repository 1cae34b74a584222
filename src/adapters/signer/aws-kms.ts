/** AWS KMS: a key of spec ECC_SECG_P256K1. Its client library signs requests and finds credentials. */

import type { KMSClient } from '@aws-sdk/client-kms';
import { optionalPackage } from '../system/optional-packages.ts';
import { type KeyFailure, type KeyService, KeyServiceFailure } from './key-service.ts';
import { networkDetail } from './key-service-http.ts';
import { readDer, readPublicKey } from './signature.ts';

interface AwsKmsOptions {
  /** Key id, ARN, `alias/NAME` or the ARN of an alias. */
  keyId: string;
  /** null: the environment or the shared configuration names the region, as in all AWS tools. */
  region: string | null;
  /** null: AWS's own endpoint for the region. */
  endpoint: string | null;
  /** Connections kept open. */
  maxConcurrent: number;
}

const KINDS: Readonly<Record<string, KeyFailure>> = {
  ThrottlingException: 'throttled',
  Throttling: 'throttled',
  LimitExceededException: 'throttled',
  TooManyRequestsException: 'throttled',
  RequestLimitExceeded: 'throttled',
  KMSInternalException: 'unavailable',
  DependencyTimeoutException: 'unavailable',
  KeyUnavailableException: 'unavailable',
  InternalFailure: 'unavailable',
  ServiceUnavailable: 'unavailable',
  AccessDeniedException: 'denied',
  UnrecognizedClientException: 'denied',
  InvalidClientTokenId: 'denied',
  ExpiredTokenException: 'denied',
  InvalidSignatureException: 'denied',
  IncompleteSignature: 'denied',
  MissingAuthenticationToken: 'denied',
  CredentialsProviderError: 'denied',
  TokenProviderError: 'denied',
  NotFoundException: 'no_key',
  DisabledException: 'no_key',
  KMSInvalidStateException: 'no_key',
  InvalidKeyUsageException: 'no_key',
  InvalidArnException: 'no_key',
  UnsupportedOperationException: 'no_key',
  ValidationException: 'no_key',
  SyntaxError: 'malformed',
};

/** Throws `MissingPackageError` where the client library is not installed. */
export async function createAwsKms({
  keyId,
  region,
  endpoint,
  maxConcurrent,
}: AwsKmsOptions): Promise<KeyService> {
  const { GetPublicKeyCommand, KMSClient, SignCommand } = await optionalPackage(
    '@aws-sdk/client-kms',
    () => import('@aws-sdk/client-kms'),
  );
  const agent = { keepAlive: true, maxSockets: maxConcurrent };
  const client: KMSClient = new KMSClient({
    ...(region !== null && { region }),
    ...(endpoint !== null && { endpoint }),
    // The remote signer repeats, within the time that its caller has.
    maxAttempts: 1,
    requestHandler: { httpAgent: agent, httpsAgent: agent },
  });
  return {
    name: 'aws-kms',
    async publicKey(signal) {
      const answer = await client
        .send(new GetPublicKeyCommand({ KeyId: keyId }), { abortSignal: signal })
        .catch(translate);
      if (answer.PublicKey === undefined) throw new KeyServiceFailure('malformed', 'no public key');
      return readPublicKey(answer.PublicKey);
    },
    async sign({ digest }, signal) {
      const { Signature } = await client
        .send(
          new SignCommand({
            KeyId: keyId,
            Message: digest,
            MessageType: 'DIGEST',
            SigningAlgorithm: 'ECDSA_SHA_256',
          }),
          { abortSignal: signal },
        )
        .catch(translate);
      if (Signature === undefined) throw new KeyServiceFailure('malformed', 'no signature');
      return readDer(Signature);
    },
    close: async () => client.destroy(),
  };
}

function translate(error: unknown): never {
  const { name, message, code, $metadata } = error as {
    name: string;
    message: string;
    code?: unknown;
    $metadata?: { httpStatusCode?: number };
  };
  const status = $metadata?.httpStatusCode ?? 0;
  const kind =
    KINDS[name] ??
    (status === 429
      ? 'throttled'
      : status === 401 || status === 403
        ? 'denied'
        : status > 0 && status < 500
          ? 'malformed'
          : 'unavailable');
  const detail = typeof code === 'string' ? networkDetail(error) : `${name}: ${message}`;
  throw new KeyServiceFailure(kind, detail, { cause: error });
}
