/**
 * JSON-RPC over one WebSocket, opened again whenever it is lost. viem's transport gives up after one failed
 * attempt, prints the URL with its key, and reads frames of up to 100 MiB. The pause before the next attempt
 * does not grow, because calls wait for the connection, each with a time limit.
 */

import { WebSocket } from 'ws';
import { openSocket } from '../../ws/open-socket.ts';
import { countPerSecond } from '../../../risk/rate.ts';
import { MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, nodeError, parseBounded, type RpcAnswer } from './answers.ts';

interface WsTransport {
  request(call: { method: string; params: readonly unknown[] }): Promise<unknown>;
  /** Rejects when the node has no subscriptions. Lasts over lost connections. */
  subscribe(onHead: () => void): Promise<() => void>;
  close(): void;
}

interface PendingCall {
  method: string;
  json: string;
  sent: boolean;
  limit: NodeJS.Timeout;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const AGAIN_MS = 500;
const PING_MS = 10_000;
/** Frames that answer no call of ours: new heads, late answers and noise. More end the connection. */
const MAX_UNASKED_PER_SECOND = 500;
const HEADS = { method: 'eth_subscribe', params: ['newHeads'] };

export function createWsTransport(url: string, { timeoutMs }: { timeoutMs: number }): WsTransport {
  const pending = new Map<number, PendingCall>();
  let socket: WebSocket | undefined;
  let again: NodeJS.Timeout | undefined;
  let closed = false;
  let lastId = 0;
  let onHead: (() => void) | undefined;

  function dial(): void {
    clearTimeout(again);
    const current = openSocket(
      url,
      { maxPayload: MAX_ANSWER_BYTES, handshakeTimeout: timeoutMs },
      { nowMs: () => performance.now(), onFlood: (it) => it.terminate() },
    );
    socket = current;
    let alive = true;
    const unasked = countPerSecond(() => performance.now());
    const pings = setInterval(() => {
      if (!alive) return current.terminate();
      alive = false;
      if (current.readyState === WebSocket.OPEN) current.ping();
    }, PING_MS);
    current.on('open', () => {
      if (onHead) void request(HEADS).catch(() => {});
      for (const call of pending.values()) if (!call.sent) send(current, call);
    });
    current.on('pong', () => (alive = true));
    current.on('message', (data, binary) => {
      // Frames of the same packet still arrive after the connection was ended.
      if (current.readyState !== WebSocket.OPEN) return;
      alive = true;
      try {
        if (binary) throw new Error('binary frame');
        receive(parseBounded(data.toString(), 'a frame arrived'), unasked);
      } catch {
        current.terminate();
      }
    });
    current.on('close', () => {
      clearInterval(pings);
      for (const id of pending.keys()) settle(id)?.reject(new Error('the connection broke'));
      if (!closed) again = setTimeout(dial, AGAIN_MS);
    });
  }

  function receive(frame: unknown, unasked: () => number): void {
    for (const answer of (Array.isArray(frame) ? frame : [frame]) as (RpcAnswer & { method?: unknown })[]) {
      const call = answer.method === 'eth_subscription' ? undefined : settle(answer.id as number);
      if (!call && unasked() > MAX_UNASKED_PER_SECOND) throw new Error('too many frames');
      if (answer.method === 'eth_subscription') {
        onHead?.();
        continue;
      }
      if (answer.error != null) call?.reject(nodeError(answer.error));
      else if ('result' in answer) call?.resolve(answer.result);
      else call?.reject(new Error(`the response has no answer to ${call.method}`));
    }
  }

  function settle(id: number): PendingCall | undefined {
    const call = pending.get(id);
    clearTimeout(call?.limit);
    pending.delete(id);
    return call;
  }

  function send(to: WebSocket, call: PendingCall): void {
    call.sent = true;
    to.send(call.json);
  }

  function request({ method, params }: { method: string; params: readonly unknown[] }): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const id = (lastId += 1);
      const json = JSON.stringify({ jsonrpc: '2.0', id, method, params });
      if (closed) return reject(new Error('closed'));
      if (Buffer.byteLength(json) > MAX_REQUEST_BYTES)
        return reject(new Error(`the request is larger than ${MAX_REQUEST_BYTES} bytes and was not sent`));
      if (!socket) dial();
      const limit = setTimeout(
        () => settle(id)?.reject(new Error(`no answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      const call = { method, json, sent: false, limit, resolve, reject };
      pending.set(id, call);
      if (socket?.readyState === WebSocket.OPEN) send(socket, call);
    });
  }

  return {
    request,
    async subscribe(listener) {
      await request(HEADS);
      onHead = listener;
      return () => (onHead = undefined);
    },
    close() {
      closed = true;
      clearTimeout(again);
      socket?.terminate();
    },
  };
}
