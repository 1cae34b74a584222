/** Google Cloud KMS by REST as it is on the wire, with the metadata server that gives access tokens. */

import {
  KEY_NUMBER,
  type Fault,
  playedKey,
  playService,
  type PlayedService,
  type WireAnswer,
} from './played.ts';

export const GOOGLE_KEY =
  'projects/lp-project/locations/europe-west3/keyRings/lp/cryptoKeys/operator/cryptoKeyVersions/1';

const TOKEN = 'ya29.c.played-token';
const json = (body: object, status = 200): WireAnswer => ({
  status,
  body: JSON.stringify(body, null, 2),
  headers: { 'content-type': 'application/json; charset=UTF-8' },
});
const error = (code: number, status: string, message: string) =>
  json({ error: { code, message, status } }, code);

const FAILURES: Partial<Record<Fault, WireAnswer>> = {
  throttled: error(
    429,
    'RESOURCE_EXHAUSTED',
    "Quota exceeded for quota metric 'HSM asymmetric cryptographic requests' and limit 'HSM asymmetric cryptographic requests per minute per region'.",
  ),
  down: error(503, 'UNAVAILABLE', 'The service is currently unavailable.'),
  denied: error(
    403,
    'PERMISSION_DENIED',
    `Permission 'cloudkms.cryptoKeyVersions.useToSign' denied on resource '${GOOGLE_KEY}' (or it may not exist).`,
  ),
  no_key: error(400, 'FAILED_PRECONDITION', `${GOOGLE_KEY} is not enabled, current state is: DISABLED.`),
};

const pemOf = (spki: Buffer) =>
  `-----BEGIN PUBLIC KEY-----\n${spki.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END PUBLIC KEY-----\n`;

export function playGoogleKms(account = KEY_NUMBER): Promise<PlayedService> {
  const key = playedKey(account);
  return playService({
    isSign: ({ path }) => path === `/v1/${GOOGLE_KEY}:asymmetricSign`,
    other({ path, headers }) {
      if (path.startsWith('/computeMetadata/v1/')) return metadata(path, headers['metadata-flavor']);
      if (headers['authorization'] !== `Bearer ${TOKEN}`)
        return error(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
      if (path !== `/v1/${GOOGLE_KEY}/publicKey`)
        return error(404, 'NOT_FOUND', `${path.slice(4)} not found.`);
      return json({
        pem: pemOf(key.spki),
        algorithm: 'EC_SIGN_SECP256K1_SHA256',
        pemCrc32c: '1452104437',
        name: GOOGLE_KEY,
        protectionLevel: 'HSM',
      });
    },
    sign({ method, headers, body }, fault) {
      if (headers['authorization'] !== `Bearer ${TOKEN}`)
        return error(401, 'UNAUTHENTICATED', 'Request had invalid authentication credentials.');
      const failure = FAILURES[fault];
      if (failure !== undefined) return failure;
      const { digest = {} } = JSON.parse(body) as { digest?: { sha256?: string } };
      const bytes = Buffer.from(digest.sha256 ?? '', 'base64');
      if (method !== 'POST' || bytes.length !== 32)
        return error(400, 'INVALID_ARGUMENT', 'The digest length must be 32 bytes.');
      const der = Buffer.from(key.sign(bytes, fault).toBytes('der'));
      return json({
        signature: (fault === 'malformed' ? der.subarray(4) : der).toString('base64'),
        signatureCrc32c: '3063283091',
        name: GOOGLE_KEY,
        protectionLevel: 'HSM',
      });
    },
  });
}

function metadata(path: string, flavor: unknown): WireAnswer {
  const headers = { 'metadata-flavor': 'Google', 'content-type': 'application/json' };
  if (flavor !== 'Google')
    return { status: 403, body: 'Missing required header "Metadata-Flavor": "Google"' };
  if (path.includes('/service-accounts/default/token'))
    return {
      status: 200,
      headers,
      body: JSON.stringify({ access_token: TOKEN, expires_in: 3_599, token_type: 'Bearer' }),
    };
  return { status: 404, headers, body: 'Not Found' };
}

/** Points Google's library to the metadata server of a played service, as on a machine of Google's. */
export const googleEnvironment = ({ url }: PlayedService) => ({
  GCE_METADATA_HOST: new URL(url).host,
  METADATA_SERVER_DETECTION: 'assume-present',
});
