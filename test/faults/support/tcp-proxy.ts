/**
 * A network that fails on command: a TCP proxy to put before PostgreSQL, Redis, a node or a venue. What it
 * does to connections can be changed while they are open.
 *
 * - `pass`            forwards both ways, without delay.
 * - `delay`           forwards both ways, `ms` later and in order: every byte, or only chunks for which `of`
 *                     is true.
 * - `blackhole` a cable pulled out: connections are accepted and stay open, nothing moves either way. With
 *   the next mode that
 *                     forwards, what was held arrives after all, as TCP would send it again.
 * - `half_open`       the same in one direction: `up` is what clients say, `down` what the server answers.
 * - `truncate` each connection gets `bytes` more of the server's answers, then it is closed in the middle of
 *   whatever that was.
 * - `reset`           open connections are reset, and so is every new one, as if no server ran.
 */

import { type AddressInfo, createServer, connect, type Socket } from 'node:net';

export type TcpMode =
  | { kind: 'pass' | 'blackhole' | 'reset' }
  | { kind: 'delay'; ms: number; of?: (chunk: Buffer) => boolean }
  | { kind: 'half_open'; stopped: 'up' | 'down' }
  | { kind: 'truncate'; bytes: number };

export interface TcpProxy {
  readonly port: number;
  /** The target's URL, through the proxy. */
  readonly url: string;
  /** From now on, for open connections and new ones. */
  set(mode: TcpMode): void;
  /** Resets open connections; later ones follow the mode. Returns how many were reset. */
  cut(): number;
  open(): number;
  /** Connections accepted since the start. */
  accepted(): number;
  stop(): Promise<void>;
}

interface Pair {
  client: Socket;
  server: Socket;
  /** Bytes of the server's answers that may still pass. */
  left: number;
}

/** Above this much waiting data in one direction, its sender must wait too. */
const HELD_BYTES = 1 << 20;

/** `target` is any URL with a host and a port. */
export async function startTcpProxy(target: string): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(target);
  if (targetPort === '') throw new Error(`${target} names no port.`);
  const pairs = new Set<Pair>();
  let accepted = 0;
  let mode: TcpMode = { kind: 'pass' };
  const waiting: (() => void)[] = [];

  const wake = () => {
    for (const go of waiting.splice(0)) go();
  };
  const stops = (way: 'up' | 'down') =>
    mode.kind === 'blackhole' || (mode.kind === 'half_open' && mode.stopped === way);

  function end(pair: Pair): void {
    pairs.delete(pair);
    // A reset tells the client without delay that no answer will come.
    for (const socket of [pair.client, pair.server]) if (!socket.destroyed) socket.resetAndDestroy();
  }

  function forward(pair: Pair, way: 'up' | 'down'): void {
    const [from, to] = way === 'up' ? [pair.client, pair.server] : [pair.server, pair.client];
    let held = 0;
    let tail: Promise<void> = Promise.resolve();
    const inTurn = (what: () => void, chunk?: Buffer) => {
      const delayMs =
        mode.kind === 'delay' && (chunk === undefined || (mode.of?.(chunk) ?? true)) ? mode.ms : 0;
      const dueMs = performance.now() + delayMs;
      tail = tail.then(async () => {
        const early = dueMs - performance.now();
        if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
        while (stops(way)) await new Promise<void>((resolve) => waiting.push(resolve));
        if (!to.destroyed) what();
      });
    };
    from.on('data', (chunk: Buffer) => {
      held += chunk.length;
      if (held > HELD_BYTES) from.pause();
      inTurn(() => {
        held -= chunk.length;
        if (held <= HELD_BYTES) from.resume();
        const passed = way === 'down' ? chunk.subarray(0, Math.min(chunk.length, pair.left)) : chunk;
        if (way === 'down') pair.left -= passed.length;
        to.write(passed);
        if (passed.length === chunk.length) return;
        to.end();
        pair.server.destroy();
      }, chunk);
    });
    from.on('end', () => inTurn(() => void to.end()));
    from.on('error', () => {});
    from.on('close', () =>
      inTurn(() => {
        to.destroySoon();
        pairs.delete(pair);
      }),
    );
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    accepted += 1;
    if (mode.kind === 'reset') {
      client.on('error', () => {});
      client.resetAndDestroy();
      return;
    }
    const pair: Pair = {
      client,
      server: connect({ host: hostname, port: Number(targetPort), allowHalfOpen: true, noDelay: true }),
      left: mode.kind === 'truncate' ? mode.bytes : Number.POSITIVE_INFINITY,
    };
    client.setNoDelay(true);
    pairs.add(pair);
    forward(pair, 'up');
    forward(pair, 'down');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);

  function cut(): number {
    const open = [...pairs];
    for (const pair of open) end(pair);
    return open.length;
  }

  return {
    port,
    url: target.endsWith('/') ? url.href : url.href.replace(/\/$/, ''),
    set(next) {
      mode = next;
      for (const pair of pairs) pair.left = next.kind === 'truncate' ? next.bytes : Number.POSITIVE_INFINITY;
      if (next.kind === 'reset') cut();
      wake();
    },
    cut,
    open: () => pairs.size,
    accepted: () => accepted,
    async stop() {
      mode = { kind: 'pass' };
      wake();
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}
