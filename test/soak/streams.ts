/** Two hundred clients of the event stream, who come back with their cursor after every break: in the end each must have heard everything, once. */

import { WebSocket } from 'ws';
import type { Queryable } from '../../src/adapters/postgres/pool.ts';

export interface Streams {
  connected(): number;
  /** Connections that ended and were made anew. */
  broken(): number;
  frames(): number;
  /** What clients missed, heard twice or heard though it never was, a sentence each; empty when every client knows exactly what the database does. */
  problems(database: Queryable): Promise<string[]>;
  stop(): void;
}

interface Hearer {
  /** Times that each event was heard, by its number in `known`. */
  heard: Uint8Array;
  cursor: string;
  socket: WebSocket | undefined;
  ready: boolean;
  lastMs: number;
}

const LONGEST_SILENCE_MS = 75_000;
const RETRY_MS = 500;

/** `urls` of the stream at each replica; whoever lost one tries the next. */
export function openStreams(urls: readonly string[], apiKey: string, count: number): Streams {
  /** Numbers of events, so that two hundred clients do not keep two hundred copies of their names. */
  const known = new Map<string, number>();
  let [broken, frames, stopped] = [0, 0, false];
  const timers = new Set<NodeJS.Timeout>();
  const hearers = Array.from({ length: count }, (): Hearer => ({ heard: new Uint8Array(1_024), cursor: '0', socket: undefined, ready: false, lastMs: 0 }));

  function connect(hearer: Hearer, at: number): void {
    if (stopped) return;
    const socket = new WebSocket(urls[at % urls.length] as string, { headers: { 'x-api-key': apiKey }, handshakeTimeout: 10_000 });
    hearer.socket = socket;
    hearer.lastMs = performance.now();
    socket.on('open', () => subscribe(hearer));
    socket.on('ping', () => (hearer.lastMs = performance.now()));
    socket.on('message', (data: Buffer) => hear(hearer, data));
    socket.on('error', () => {});
    socket.on('close', () => {
      hearer.ready = false;
      if (stopped) return;
      broken += 1;
      later(() => connect(hearer, at + 1));
    });
  }

  const subscribe = ({ socket, cursor }: Hearer) => socket?.readyState === WebSocket.OPEN && socket.send(JSON.stringify({ op: 'subscribe', topics: ['orders'], since: cursor }));

  function hear(hearer: Hearer, data: Buffer): void {
    frames += 1;
    hearer.lastMs = performance.now();
    const frame = JSON.parse(data.toString()) as { op?: string; type?: string; orderId: string; seq: number; cursor: string };
    if (frame.op === 'subscribed') hearer.ready = true;
    // The database was away just then.
    if (frame.op === 'error') later(() => subscribe(hearer));
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

  function later(work: () => void): void {
    const timer = setTimeout(() => {
      timers.delete(timer);
      work();
    }, RETRY_MS);
    timers.add(timer);
  }

  hearers.forEach(connect);
  // A cable that was pulled says nothing, not even that it was.
  const watch = setInterval(() => {
    for (const { socket, lastMs } of hearers) if (performance.now() - lastMs > LONGEST_SILENCE_MS) socket?.terminate();
  }, 5_000);

  return {
    connected: () => hearers.filter(({ ready }) => ready).length,
    broken: () => broken,
    frames: () => frames,
    async problems(database) {
      const rows = await database.query<{ order_id: string; seq: number; type: string }>(`select '0x' || encode(order_id, 'hex') as order_id, seq, type from order_event`);
      const written = new Map(rows.map(({ order_id: id, seq, type }) => [`${id} ${seq} ${type}`, known.get(`${id} ${seq} ${type}`)]));
      const problems = [...known.keys()].filter((name) => !written.has(name)).map((name) => `streams: event ${name} was heard and is not in the database`);
      for (const [name, number] of written) {
        const missed = number === undefined ? count : hearers.filter(({ heard }) => !heard[number]).length;
        const twice = number === undefined ? 0 : hearers.filter(({ heard }) => (heard[number] ?? 0) > 1).length;
        if (missed > 0) problems.push(`streams: event ${name} was missed by ${missed} of ${count} clients`);
        if (twice > 0) problems.push(`streams: event ${name} was heard more than once by ${twice} of ${count} clients`);
      }
      return problems;
    },
    stop() {
      stopped = true;
      clearInterval(watch);
      for (const timer of timers) clearTimeout(timer);
      for (const { socket } of hearers) socket?.terminate();
    },
  };
}
