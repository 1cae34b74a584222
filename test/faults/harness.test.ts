/** The tools of the faults work as described, because a fault that does not occur proves nothing. */

import { type AddressInfo, createServer, connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { startTcpProxy, type TcpProxy } from './support/tcp-proxy.ts';

describe('the TCP proxy', () => {
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  let proxy: TcpProxy;
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  beforeEach(async () => {
    proxy = await startTcpProxy(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  });
  afterEach(() => proxy.stop());
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  function dial() {
    const client: Socket = connect(proxy.port, '127.0.0.1');
    const seen = { text: '', end: '' };
    client.on('data', (chunk: Buffer) => (seen.text += chunk.toString()));
    client.on('error', (error: NodeJS.ErrnoException) => (seen.end = error.code ?? 'error'));
    client.on('end', () => (seen.end ||= 'end'));
    return { say: (words: string) => client.write(words), seen };
  }

  test('pass: bytes are unchanged and counted', async () => {
    const { say, seen } = dial();
    say('hello');
    await expect.poll(() => seen.text).toBe('hello');
    expect([proxy.open(), proxy.accepted()]).toEqual([1, 1]);
    expect(proxy.url).toBe(`http://127.0.0.1:${proxy.port}`);
  });

  test('delay: bytes arrive late and in order', async () => {
    proxy.set({ kind: 'delay', ms: 60 });
    const { say, seen } = dial();
    const startedMs = performance.now();
    for (const word of ['a', 'b', 'c']) say(word);
    await expect.poll(() => seen.text).toBe('abc');
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(115);
  });

  test.each([
    { kind: 'blackhole' },
    { kind: 'half_open', stopped: 'up' },
    { kind: 'half_open', stopped: 'down' },
  ] as const)('%o: nothing comes, and all of it afterwards', async (mode) => {
    const before = dial();
    before.say('1');
    await expect.poll(() => before.seen.text).toBe('1');
    proxy.set(mode);
    const during = dial();
    before.say('2');
    during.say('x');
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([before.seen, during.seen]).toEqual([
      { text: '1', end: '' },
      { text: '', end: '' },
    ]);
    proxy.set({ kind: 'pass' });
    await expect.poll(() => before.seen.text + during.seen.text).toBe('12x');
  });

  test('truncate: the answer ends early', async () => {
    proxy.set({ kind: 'truncate', bytes: 3 });
    const { say, seen } = dial();
    say('hello');
    await expect.poll(() => seen).toEqual({ text: 'hel', end: 'end' });
  });

  test('reset: closes open and new connections; cut: only open ones', async () => {
    const before = dial();
    before.say('1');
    await expect.poll(() => before.seen.text).toBe('1');
    proxy.set({ kind: 'reset' });
    const during = dial();
    await expect.poll(() => [before.seen.end, during.seen.end]).toEqual(['ECONNRESET', 'ECONNRESET']);
    proxy.set({ kind: 'pass' });
    const [after, another] = [dial(), dial()];
    for (const each of [after, another]) each.say('2');
    await expect.poll(() => after.seen.text + another.seen.text).toBe('22');
    expect(proxy.cut()).toBe(2);
    await expect.poll(() => [after.seen.end, another.seen.end]).toEqual(['ECONNRESET', 'ECONNRESET']);
    expect(proxy.open()).toBe(0);
  });
});
