/** What the attackers share: whether they strike, how often each kind has struck, and how they connect. */

import { type OutgoingHttpHeaders, request as httpRequest } from 'node:http';
import { connect, type Socket } from 'node:net';
import { WebSocket } from 'ws';

/** Takers and solvers come from an address of their own: a venue limits each address. */
export const FROM = '127.0.0.2';
export const ROUND_MS = 20;
/** 5,000 a second and socket: what one peer sends without effort. */
export const PER_ROUND = 100;
export const RETURN_MS = 500;

const struck: Record<string, number> = {};
const open = new Set<{ destroy(): void }>();
let attacking = false;

export const counts = () => struck;
export const hits = (kind: string, n = 1) => (struck[kind] = (struck[kind] ?? 0) + n);
export const isAttacking = () => attacking;
export const begin = () => void (attacking = true);

export function cease(): void {
  attacking = false;
  for (const socket of open) socket.destroy();
}

/** Strikes again and again, with so many strikes at a time. */
export function keepAt(strike: () => Promise<unknown>, atOnce = 1): void {
  for (let n = 0; n < atOnce; n += 1)
    void (async () => {
      while (attacking) await strike().catch(() => pause(RETURN_MS));
    })();
}

/** Strikes at this interval until `over` resolves, or until the attackers leave. */
export async function each(ms: number, over: Promise<unknown>, strike: () => void): Promise<void> {
  const round = setInterval(() => attacking && strike(), ms);
  await over;
  clearInterval(round);
}

/** A WebSocket to a venue; the attackers' leaving ends it. */
export function dial(url: string, key: string): WebSocket {
  const socket = new WebSocket(url.replace('http', 'ws'), {
    headers: { 'X-API-Key': key },
    localAddress: FROM,
    handshakeTimeout: 5_000,
  });
  const end = { destroy: () => socket.terminate() };
  open.add(end);
  socket.on('error', () => {});
  socket.on('close', () => open.delete(end));
  return socket;
}

export const closed = (socket: WebSocket | Socket) =>
  new Promise<void>((resolve) => void (socket as Socket).once('close', () => resolve()));

/** A TCP connection to the host and port of this URL; the attackers' leaving ends it. */
export function plug(url: string): Socket {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress: FROM });
  open.add(socket);
  socket.on('error', () => {});
  socket.on('close', () => open.delete(socket));
  return socket;
}

export function ask(
  url: string,
  {
    method = 'GET',
    headers = {},
    body = '',
  }: { method?: string; headers?: OutgoingHttpHeaders; body?: string },
): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, { method, headers, localAddress: FROM }, (response) => {
      response.resume();
      response.on('end', resolve);
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end(body);
  });
}

export const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
