/**
 * The clients of the event stream, in their own process. They reconnect with their cursor after every break,
 * and count what they receive.
 */

import { WebSocket } from 'ws';
import { answerAside } from './aside.ts';

interface Hearer {
  /** How often each event was received, by its index in `known`. */
  heard: Uint8Array;
  cursor: string;
  socket: WebSocket | undefined;
  ready: boolean;
  lastMs: number;
  retryMs: number;
}

const LONGEST_SILENCE_MS = 75_000;
/** The wait after a first break and the longest wait; each further break doubles it. */
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 8_000;
/** Clients that leave the venue's queue and rejoin it would only load a busy venue. */
const HANDSHAKE_MS = 30_000;

let clients: ReturnType<typeof listen> | undefined;

answerAside({
  open: (urls: readonly string[], apiKey: string, count: number) =>
    void (clients = listen(urls, apiKey, count)),
  state: () => clients?.state(),
  problems: (written: readonly string[]) => clients?.problems(written),
});

/** `urls` of the stream at each replica; a client that lost one tries the next. */
function listen(urls: readonly string[], apiKey: string, count: number) {
  /** Numbers, so that two hundred clients do not keep two hundred copies of the event ids. */
  const known = new Map<string, number>();
  let [broken, frames] = [0, 0];
  const hearers = Array.from({ length: count }, (): Hearer => ({
    heard: new Uint8Array(1_024),
    cursor: '0',
    socket: undefined,
    ready: false,
    lastMs: 0,
    retryMs: RETRY_MS / 2,
  }));

  function connect(hearer: Hearer, at: number): void {
    const socket = new WebSocket(urls[at % urls.length] as string, {
      headers: { 'x-api-key': apiKey },
      handshakeTimeout: HANDSHAKE_MS,
    });
    hearer.socket = socket;
    hearer.lastMs = performance.now();
    socket.on('open', () => subscribe(hearer));
    socket.on('ping', () => (hearer.lastMs = performance.now()));
    socket.on('message', (data: Buffer) => hear(hearer, data));
    socket.on('error', () => {});
    socket.on('close', () => {
      hearer.ready = false;
      broken += 1;
      hearer.retryMs = Math.min(hearer.retryMs * 2, LONGEST_RETRY_MS);
      later(() => connect(hearer, at + 1), hearer.retryMs * (0.5 + Math.random() / 2));
    });
  }

  const subscribe = ({ socket, cursor }: Hearer) =>
    socket?.readyState === WebSocket.OPEN &&
    socket.send(JSON.stringify({ op: 'subscribe', topics: ['orders'], since: cursor }));

  function hear(hearer: Hearer, data: Buffer): void {
    frames += 1;
    hearer.lastMs = performance.now();
    const frame = JSON.parse(data.toString()) as {
      op?: string;
      type?: string;
      orderId: string;
      seq: number;
      cursor: string;
    };
    if (frame.op === 'subscribed') [hearer.ready, hearer.retryMs] = [true, RETRY_MS / 2];
    // The database was unavailable just then.
    if (frame.op === 'error') later(() => subscribe(hearer), RETRY_MS);
    if (frame.op !== undefined) return;
    const name = `${frame.orderId} ${frame.seq} ${frame.type}`;
    const number = known.get(name) ?? known.set(name, known.size).size - 1;
    if (number >= hearer.heard.length) {
      const longer = new Uint8Array(hearer.heard.length * 2);
      longer.set(hearer.heard);
      hearer.heard = longer;
    }
    hearer.heard[number] = (hearer.heard[number] ?? 0) + 1;
    hearer.cursor = frame.cursor;
  }

  const later = (work: () => void, ms: number) => void setTimeout(work, ms);

  hearers.forEach(connect);
  // A cut connection does not report that it was cut.
  setInterval(() => {
    for (const { socket, lastMs } of hearers)
      if (performance.now() - lastMs > LONGEST_SILENCE_MS) socket?.terminate();
  }, 5_000);

  return {
    state: () => ({ connected: hearers.filter(({ ready }) => ready).length, broken, frames }),
    /** `written`: the events in the database. */
    problems(written: readonly string[]): string[] {
      const all = new Set(written);
      const problems = [...known.keys()]
        .filter((name) => !all.has(name))
        .map((name) => `streams: event ${name} was heard and is not in the database`);
      for (const name of all) {
        const number = known.get(name);
        const missed = number === undefined ? count : hearers.filter(({ heard }) => !heard[number]).length;
        const twice =
          number === undefined ? 0 : hearers.filter(({ heard }) => (heard[number] ?? 0) > 1).length;
        if (missed > 0) problems.push(`streams: event ${name} was missed by ${missed} of ${count} clients`);
        if (twice > 0)
          problems.push(`streams: event ${name} was heard more than once by ${twice} of ${count} clients`);
      }
      return problems;
    },
  };
}
