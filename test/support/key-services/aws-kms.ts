/** AWS KMS as it is on the wire: JSON 1.1, `GetPublicKey` and `Sign`, signed requests, its own errors. */

import {
  KEY_NUMBER,
  type Fault,
  playedKey,
  playService,
  type PlayedRequest,
  type PlayedService,
  type WireAnswer,
} from './played.ts';

export const AWS_KEY = 'arn:aws:kms:eu-central-1:111122223333:key/1234abcd-12ab-34cd-56ef-1234567890ab';
/** The variables that the client library reads from the environment. */
export const AWS_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'AKIAIOSFODNN7EXAMPLE',
  AWS_SECRET_ACCESS_KEY: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  AWS_REGION: 'eu-central-1',
};

const JSON_1_1 = {
  'content-type': 'application/x-amz-json-1.1',
  'x-amzn-requestid': 'c7b1e5a4-0000-4000-8000-0f1e2d3c4b5a',
};
const json = (body: object, status = 200): WireAnswer => ({
  status,
  body: JSON.stringify(body),
  headers: JSON_1_1,
});
const error = (status: number, type: string, message: string) => json({ __type: type, message }, status);

const FAILURES: Partial<Record<Fault, WireAnswer>> = {
  throttled: error(
    400,
    'ThrottlingException',
    'You have exceeded the rate at which you may call KMS. Reduce the frequency of your calls.',
  ),
  down: error(500, 'KMSInternalException', 'AWS KMS has an internal error.'),
  denied: json(
    {
      __type: 'AccessDeniedException',
      Message: `User: arn:aws:iam::111122223333:user/lp is not authorized to perform: kms:Sign on resource: ${AWS_KEY}`,
    },
    400,
  ),
  no_key: error(400, 'DisabledException', `${AWS_KEY} is disabled.`),
};

export function playAwsKms(account = KEY_NUMBER): Promise<PlayedService> {
  const key = playedKey(account);
  return playService({
    isSign: ({ headers }) => headers['x-amz-target'] === 'TrentService.Sign',
    other(request) {
      const refused = refusal(request, ['KeyId']);
      if (refused !== undefined) return refused;
      if (request.headers['x-amz-target'] !== 'TrentService.GetPublicKey')
        return error(400, 'UnknownOperationException', '');
      return json({
        CustomerMasterKeySpec: 'ECC_SECG_P256K1',
        KeyId: AWS_KEY,
        KeySpec: 'ECC_SECG_P256K1',
        KeyUsage: 'SIGN_VERIFY',
        PublicKey: key.spki.toString('base64'),
        SigningAlgorithms: ['ECDSA_SHA_256'],
      });
    },
    sign(request, fault) {
      const refused =
        refusal(request, ['KeyId', 'Message', 'MessageType', 'SigningAlgorithm']) ?? FAILURES[fault];
      if (refused !== undefined) return refused;
      const { Message, MessageType, SigningAlgorithm } = JSON.parse(request.body) as Record<string, string>;
      const digest = Buffer.from(Message ?? '', 'base64');
      if (MessageType !== 'DIGEST' || SigningAlgorithm !== 'ECDSA_SHA_256' || digest.length !== 32)
        return error(400, 'ValidationException', 'Digest is invalid length for algorithm ECDSA_SHA_256.');
      const der = Buffer.from(key.sign(digest, fault).toBytes('der'));
      const Signature = (fault === 'malformed' ? der.subarray(0, -3) : der).toString('base64');
      return json({ KeyId: AWS_KEY, Signature, SigningAlgorithm });
    },
  });
}

/**
 * Refuses a request without its signature, for another key, or with fields that the service does not know.
 */
function refusal(
  { method, path, headers, body }: PlayedRequest,
  fields: readonly string[],
): WireAnswer | undefined {
  const signed =
    /^AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE\/\d{8}\/eu-central-1\/kms\/aws4_request, /;
  if (method !== 'POST' || path !== '/' || !signed.test(String(headers['authorization'])))
    return error(400, 'MissingAuthenticationTokenException', 'Missing Authentication Token');
  const request = JSON.parse(body) as Record<string, string>;
  if (Object.keys(request).some((field) => !fields.includes(field)))
    return error(400, 'ValidationException', 'unknown field');
  return request['KeyId'] === AWS_KEY
    ? undefined
    : error(400, 'NotFoundException', `Key '${request['KeyId']}' does not exist`);
}
