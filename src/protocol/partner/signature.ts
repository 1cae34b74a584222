/**
 * Signatures of the route partner protocol: Ed25519 in the asymmetric scheme of
 * https://www.standardwebhooks.com (version `v1a`), over requests, answers and events.
 */

import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { RequestError } from '../../domain/errors.ts';

const VERSION = 'v1a';

interface PartnerMessage {
  /** A request or event has a new id. An answer has the id of its request. */
  id: string;
  /** Unix seconds of sending. */
  timestamp: number;
  body: string;
}

interface PartnerHeaders {
  'webhook-id': string;
  'webhook-timestamp': string;
  'webhook-signature': string;
}

type PartnerSignatureFault = 'headers' | 'time' | 'signature';

/** `text`: the PEM file of `openssl genpkey -algorithm ed25519`. */
export function partnerSigningKey(text: string): KeyObject {
  const key = readKey(() => createPrivateKey(text));
  if (key.asymmetricKeyType !== 'ed25519') throw new PartnerKeyError();
  return key;
}

/** `text`: the line between BEGIN and END of `openssl pkey -pubout`. */
export function partnerPublicKey(text: string): KeyObject {
  const key = readKey(() =>
    createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' }),
  );
  if (key.asymmetricKeyType !== 'ed25519') throw new PartnerKeyError();
  return key;
}

/** The public key in the form that `partnerPublicKey` reads. */
export const publicKeyText = (key: KeyObject): string =>
  createPublicKey(key).export({ format: 'der', type: 'spki' }).toString('base64');

/** Each key signs, so that a receiver may know either while one is replaced. */
export function partnerHeaders(message: PartnerMessage, keys: readonly KeyObject[]): PartnerHeaders {
  return {
    'webhook-id': message.id,
    'webhook-timestamp': String(message.timestamp),
    'webhook-signature': keys
      .map((key) => `${VERSION},${sign(null, signedBytes(message), key).toString('base64')}`)
      .join(' '),
  };
}

/** undefined when the message is by one of these keys and of our time. Keys overlap while one is replaced. */
export function partnerSignatureFault(
  { id, timestamp, signature }: Readonly<Record<'id' | 'timestamp' | 'signature', string | undefined>>,
  body: string,
  { keys, now, toleranceSeconds }: { keys: readonly KeyObject[]; now: number; toleranceSeconds: number },
): PartnerSignatureFault | undefined {
  if (!id || id.length > 100 || !signature || !/^[0-9]{1,12}$/.test(timestamp ?? '')) return 'headers';
  const at = Number(timestamp);
  if (Math.abs(now - at) > toleranceSeconds) return 'time';
  const bytes = signedBytes({ id, timestamp: at, body });
  const holds = signature.split(' ').some((each) => {
    const [version, text = ''] = each.split(',');
    return version === VERSION && keys.some((key) => verify(null, bytes, key, Buffer.from(text, 'base64')));
  });
  return holds ? undefined : 'signature';
}

const signedBytes = ({ id, timestamp, body }: PartnerMessage): Buffer =>
  Buffer.from(`${id}.${timestamp}.${body}`);

function readKey(read: () => KeyObject): KeyObject {
  try {
    return read();
  } catch {
    throw new PartnerKeyError();
  }
}

export class PartnerKeyError extends RequestError {
  constructor() {
    super(
      'This is no Ed25519 key. Make one with: openssl genpkey -algorithm ed25519 -out partner.pem, and take the public key from: openssl pkey -in partner.pem -pubout',
      { code: 'secret' },
    );
  }
}
