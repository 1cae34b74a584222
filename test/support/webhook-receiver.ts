/** Receives webhooks on a real HTTP server that answers as a test says, and keeps what it was sent. */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from './venue.ts';

export interface Received {
  path: string;
  headers: Record<string, string>;
  body: string;
  json: Json;
}

export interface Receiver {
  port: number;
  /** Returns the URL under `path`, which tells endpoints apart. */
  url(path: string): string;
  received(path: string): Received[];
  /** Sets the answers for this path from now on; undefined: 204. */
  answer(path: string, how: ((response: ServerResponse, request: IncomingMessage) => void) | undefined): void;
  stop(): Promise<void>;
}

export async function startReceiver(): Promise<Receiver> {
  const all: Received[] = [];
  const answers = new Map<string, (response: ServerResponse, request: IncomingMessage) => void>();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = Buffer.concat(parts).toString('utf8');
      const path = request.url ?? '';
      const headers = request.headers as Record<string, string>;
      all.push({ path, headers, body, json: JSON.parse(body) as Json });
      const answer = answers.get(path);
      if (answer) answer(response, request);
      else response.writeHead(204).end();
    });
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: (path) => `http://127.0.0.1:${port}${path}`,
    received: (path) => all.filter((one) => one.path === path),
    answer: (path, how) => void (how ? answers.set(path, how) : answers.delete(path)),
    stop: () =>
      new Promise((done) => {
        server.closeAllConnections();
        server.close(() => done());
      }),
  };
}
