/** Outgoing connections over a real server. */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createOutbound } from './request.ts';

test('an idle connection is closed by us when the server says that it closes it soon', async () => {
  const server = createServer((_, response) => {
    response.setHeader('Keep-Alive', 'timeout=2');
    response.end('answer');
  });
  // The server itself keeps connections: whoever closes this one, it is the client.
  server.keepAliveTimeout = 600_000;
  let [opened, closed] = [0, 0];
  server.on('connection', (socket) => {
    opened += 1;
    socket.on('close', () => (closed += 1));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const outbound = createOutbound({ allowPrivate: true });
  const ask = async () =>
    (
      await outbound.request({
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
        method: 'GET',
        timeoutMs: 30_000,
        maxBytes: 1_000,
      })
    ).body;
  try {
    expect(await ask()).toBe('answer');
    await expect.poll(() => closed).toBe(1);
    expect(await ask()).toBe('answer');
    expect(opened).toBe(2);
  } finally {
    outbound.close();
    server.closeAllConnections();
    server.close();
  }
});
