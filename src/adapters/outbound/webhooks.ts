/** Posts webhooks to addresses that workspaces chose: any public host, one connection per attempt. */

import type { WebhookPoster } from '../../ports/stores/webhooks.ts';
import { createOutbound } from './request.ts';
import { readRetryAfter } from './retry-after.ts';

interface PosterOptions {
  allowPrivate: boolean;
  allowHttp: boolean;
  timeoutMs: number;
}

/** Limits how much of an answer is read: only the status counts. */
const MOST_BYTES = 16 * 1024;

export function createWebhookPoster({
  timeoutMs,
  ...allowed
}: PosterOptions): WebhookPoster & { close(): void } {
  // A connection that was kept open may be gone, which would look like a failure of the receiver.
  const outbound = createOutbound({ ...allowed, section: 'webhooks', keepAlive: false });
  return {
    check: (url) => outbound.check(url),
    async post(url, headers, body) {
      const { status, header } = await outbound.request({
        url,
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'firmquote-webhooks', ...headers },
        body,
        timeoutMs,
        maxBytes: MOST_BYTES,
        longer: 'cut',
      });
      const retryAfterMs = readRetryAfter(header('retry-after'), { nowMs: Date.now(), date: header('date') });
      return { status, retryAfterMs };
    },
    close: () => outbound.close(),
  };
}
