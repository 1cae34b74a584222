/** Signatures of webhooks, as https://www.standardwebhooks.com specifies them: HMAC-SHA256, version `v1`. */

import { createHmac } from 'node:crypto';

const PREFIX = 'whsec_';

/** The text that the receiver keeps. */
export const webhookSecretText = (secret: Uint8Array): string =>
  PREFIX + Buffer.from(secret).toString('base64');

interface SignedMessage {
  id: string;
  /** Unix seconds of this attempt. */
  timestamp: number;
  body: string;
}

/** The three headers. `secrets` are texts of `webhookSecretText`; each of them signs. */
export function webhookHeaders(
  { id, timestamp, body }: SignedMessage,
  secrets: readonly string[],
): { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string } {
  const signatures = secrets.map((text) => {
    const key = Buffer.from(text.slice(PREFIX.length), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  };
}
