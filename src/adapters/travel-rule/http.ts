/** Posts travel-rule messages to a service. A 2xx status confirms receipt. */

import { UpstreamError } from '../../domain/errors.ts';
import type { Transmitter } from '../../ports/stores/travel-rule.ts';
import type { Outbound } from '../outbound/request.ts';

interface HttpTransmitterOptions {
  url: string;
  headers: Readonly<Record<string, string>>;
  timeoutMs: number;
}

const MOST_BYTES = 64 * 1024;

export function createHttpTransmitter(
  { outbound }: { outbound: Outbound },
  { url, headers, timeoutMs }: HttpTransmitterOptions,
): Transmitter {
  outbound.check(url);
  return {
    name: 'http',
    async transmit(message, idempotencyKey) {
      const { status, body } = await outbound.request({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'idempotency-key': idempotencyKey, ...headers },
        body: message,
        timeoutMs,
        maxBytes: MOST_BYTES,
      });
      if (status < 200 || status > 299)
        throw new UpstreamError(`The travel-rule service answered with status ${status}.`, {
          code: 'travel_rule_refused',
          facts: { status },
        });
      return { reference: referenceOf(body) };
    },
  };
}

/** Reads the reference; any body but `{"reference": "..."}` counts as confirmed without one. */
function referenceOf(body: string): string | null {
  try {
    const { reference } = JSON.parse(body) as { reference?: unknown };
    return typeof reference === 'string' ? reference.slice(0, 200) : null;
  } catch {
    return null;
  }
}
