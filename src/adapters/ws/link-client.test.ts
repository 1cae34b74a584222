/**
 * Tests the LP's end of a link under a burst: it hears everything in order, and keeps nobody else waiting.
 */

import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { silentLog } from '../../../test/support/silent.ts';
import { systemClock } from '../system/clock.ts';
import { createLinkClient } from './link-client.ts';

const FRAMES = 200;

test('handles a burst in order without blocking the event loop, and answers all of it', async () => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise<void>((done) => server.once('listening', done));
  const answers: string[] = [];
  const answered = new Promise<void>((done) =>
    server.on('connection', (socket, request) => {
      expect(request.headers['x-api-key']).toBe('fq_test_k');
      socket.on('message', (data: Buffer) => {
        answers.push(data.toString());
        if (answers.length === FRAMES) done();
      });
      // In one packet, as a busy venue's arrive.
      const wire = (socket as unknown as { _socket: { cork(): void; uncork(): void } })._socket;
      wire.cork();
      for (let n = 0; n < FRAMES; n++) socket.send(String(n));
      wire.uncork();
    }),
  );
  const link = createLinkClient(
    { clock: systemClock, log: silentLog },
    {
      name: 'v',
      url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
      apiKey: 'fq_test_k',
      turnMs: 1,
    },
  );
  const heard: string[] = [];
  let ticks = 0;
  const ticking = setInterval(() => (ticks += 1), 1);
  let ticksMeanwhile = 0;
  link.start({
    opened: () => {},
    frame(text) {
      if (heard.length === 0) ticks = 0;
      heard.push(text);
      const until = performance.now() + 0.5;
      while (performance.now() < until);
      link.send(`heard ${text}`);
      ticksMeanwhile = ticks;
    },
    closed: () => {},
  });
  await answered;
  clearInterval(ticking);
  await link.stop();
  server.close();
  expect(heard).toEqual(Array.from({ length: FRAMES }, (_, n) => String(n)));
  expect(answers).toEqual(heard.map((text) => `heard ${text}`));
  // 100 ms of work in one piece would leave a timer of 1 ms no turn at all.
  expect(ticksMeanwhile).toBeGreaterThan(10);
});
