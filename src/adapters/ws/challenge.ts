/**
 * Reads a venue's first message, which names its contracts. Reads it once for a person, so it never
 * reconnects.
 */

import { LINK_MAX_PAYLOAD_BYTES } from '../../protocol/link/link.ts';
import { linkAddress } from './link-client.ts';
import { openSocket } from './open-socket.ts';

type FirstMessage =
  | { kind: 'message'; frame: string }
  | { kind: 'refused'; status: number }
  | { kind: 'unreachable'; why: string };

export function readFirstMessage({
  url,
  apiKey,
  withinMs = 5_000,
}: {
  url: string;
  apiKey: string;
  withinMs?: number;
}): Promise<FirstMessage> {
  return new Promise((resolve) => {
    const socket = openSocket(
      linkAddress(url),
      { headers: { 'X-API-Key': apiKey }, maxPayload: LINK_MAX_PAYLOAD_BYTES, handshakeTimeout: withinMs },
      {
        nowMs: () => performance.now(),
        onFlood: () => end({ kind: 'unreachable', why: 'it sends too many pings' }),
      },
    );
    const timer = setTimeout(() => end({ kind: 'unreachable', why: 'it says nothing' }), withinMs);
    function end(result: FirstMessage): void {
      clearTimeout(timer);
      resolve(result);
      socket.terminate();
    }
    socket.on('message', (data: Buffer) => end({ kind: 'message', frame: data.toString() }));
    socket.on('unexpected-response', (_, response) =>
      end({ kind: 'refused', status: response.statusCode ?? 0 }),
    );
    socket.on('error', (error) => end({ kind: 'unreachable', why: error.message }));
    socket.on('close', () => end({ kind: 'unreachable', why: 'it hung up' }));
  });
}
