/**
 * Shared by the load benches: an open loop that never waits for answers, a lean HTTP client, percentiles, and
 * tables.
 */

import { writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { connect, type Socket } from 'node:net';

export interface Reply {
  /** An HTTP status; a solver's quote counts as 200, its decline as 503. */
  status: number;
  ms: number;
  text: string;
}

export interface Caller {
  call(path: string, body: string, headers?: Record<string, string>): Promise<Reply>;
  close(): void;
}

/**
 * HTTP/1.1 over kept connections, one request at a time on each, as an integrator's pool has them: a third of
 * what a general client costs, so that on two cores the load leaves the machine to what it measures. Reads
 * bodies with a Content-Length, which is all that the venue sends.
 */
export async function createCaller(url: string, key: string, connections = 400): Promise<Caller> {
  const { hostname, port } = new URL(url);
  const idle: Connection[] = [];
  const all = new Set<Connection>();
  let closed = false;
  const line: ((connection: Connection) => void)[] = [];

  function open(): Connection {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const connection: Connection = { socket, received: '', answer: undefined };
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      // Nothing was asked: a farewell.
      if (!connection.answer) return void socket.destroy();
      connection.received += chunk;
      const head = connection.received.indexOf('\r\n\r\n');
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(connection.received.slice(0, head))?.[1] ?? 0);
      if (connection.received.length < head + 4 + length) return;
      const text = connection.received.slice(head + 4, head + 4 + length);
      const status = Number(connection.received.slice(9, 12));
      connection.received = '';
      const { answer } = connection;
      connection.answer = undefined;
      free(connection);
      answer?.({ status, text });
    });
    const gone = () => {
      if (!all.delete(connection)) return;
      connection.answer?.({ status: 0, text: '' });
      connection.answer = undefined;
      if (!closed) line.shift()?.(open());
    };
    socket.on('error', gone);
    socket.on('close', gone);
    all.add(connection);
    return connection;
  }

  function free(connection: Connection): void {
    const next = line.shift();
    if (next) next(connection);
    else idle.push(connection);
  }

  // Node accepts one connection each turn of its loop, so a crowd of new ones would wait in the kernel for
  // most of a burst.
  await Promise.all(
    Array.from({ length: connections }, () => {
      const connection = open();
      return new Promise<void>((resolve) =>
        connection.socket.once('connect', () => resolve(free(connection))),
      );
    }),
  );

  return {
    call(path, body, headers = {}) {
      const started = performance.now();
      let head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n`;
      for (const [name, value] of Object.entries(headers)) head += `${name}: ${value}\r\n`;
      return new Promise((resolve) => {
        const send = (connection: Connection) => {
          connection.answer = ({ status, text }) =>
            resolve({ status, text, ms: performance.now() - started });
          connection.socket.write(`${head}\r\n${body}`);
        };
        // The longest idle connection, because the venue closes idle ones.
        let connection = idle.shift();
        while (connection && !all.has(connection)) connection = idle.shift();
        connection ??= all.size < connections ? open() : undefined;
        if (connection) send(connection);
        else line.push(send);
      });
    },
    close() {
      closed = true;
      for (const { socket } of all) socket.destroy();
    },
  };
}

interface Connection {
  socket: Socket;
  received: string;
  answer: ((reply: Omit<Reply, 'ms'>) => void) | undefined;
}

export interface LoadFigures {
  offered: number;
  /** Answered with 200, a second, over the time that requests were offered. */
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** Answers by HTTP status; 0 counts connections that broke. */
  statuses: Record<number, number>;
  served: number;
  /** Answered otherwise than with 200. */
  refused: number;
  /** The latency of refused requests, 99th percentile. */
  refusalP99Ms: number;
}

/**
 * Requests leave on schedule whether or not the last ones are back, for so many seconds; then waits for the
 * answers.
 */
export async function openLoop({
  rate,
  seconds,
  call,
}: {
  rate: number;
  seconds: number;
  call: (n: number) => Promise<Reply>;
}): Promise<LoadFigures> {
  const total = Math.round(rate * seconds);
  const [times, refusals]: [number[], number[]] = [[], []];
  const statuses: Record<number, number> = {};
  const pending: Promise<void>[] = [];
  const started = performance.now();
  for (let n = 0; n < total;) {
    const due = Math.min(total, Math.ceil(((performance.now() - started) / 1000) * rate));
    for (; n < due; n++) {
      pending.push(
        call(n).then(({ ms, status }) => {
          statuses[status] = (statuses[status] ?? 0) + 1;
          (status === 200 ? times : refusals).push(ms);
        }),
      );
    }
    await new Promise((done) => setTimeout(done, 1));
  }
  await Promise.all(pending);
  const took = (performance.now() - started) / 1000;
  times.sort((a, b) => a - b);
  refusals.sort((a, b) => a - b);
  return {
    offered: rate,
    perSecond: Math.round((times.length / took) * 10) / 10,
    p50Ms: at(times, 0.5),
    p99Ms: at(times, 0.99),
    maxMs: at(times, 1),
    statuses,
    served: times.length,
    refused: refusals.length - (statuses[0] ?? 0),
    refusalP99Ms: at(refusals, 0.99),
  };
}

/** Returns the value at a share of the sorted values, to a tenth. */
export function at(sorted: readonly number[], share: number): number {
  return Math.round((sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0) * 10) / 10;
}

/** Prints a table whose columns are as wide as their longest cell. */
export function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const lines = [head, ...rows].map((row) => row.map(String));
  const widths = head.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((word, column) =>
          column === 0 ? word.padEnd(widths[column] ?? 0) : word.padStart(widths[column] ?? 0),
        )
        .join('   '),
    )
    .join('\n');
}

export const showStatuses = (statuses: Record<number, number>): string =>
  Object.entries(statuses)
    .map(([status, count]) => `${count}x${status}`)
    .join(' ');

/**
 * Writes, with `--profile=FILE` among the arguments, where this process's time went while it worked, for
 * Chrome's DevTools.
 */
export async function profiled<T>(work: () => Promise<T>): Promise<T> {
  const file = process.argv.find((word) => word.startsWith('--profile='))?.slice(10);
  if (file === undefined) return work();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.setSamplingInterval', { interval: 250 });
  await session.post('Profiler.start');
  const result = await work();
  const { profile } = await session.post('Profiler.stop');
  writeFileSync(file, JSON.stringify(profile));
  session.disconnect();
  return result;
}

/** Reads the positive number after `--name=` on the command line. */
export function option(name: string, otherwise: number): number {
  const given = process.argv.find((word) => word.startsWith(`--${name}=`));
  const value = given === undefined ? otherwise : Number(given.slice(name.length + 3));
  if (!Number.isFinite(value) || value <= 0) throw new Error(`--${name} is a positive number.`);
  return value;
}

/** Rounds to two decimals. */
export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}
