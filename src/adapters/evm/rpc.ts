/**
 * JSON-RPC to one chain over one or more endpoints: batched, timed, the next endpoint where one does not answer. What leaves this
 * file as an error names the method and the node's own words, never the URL, which may hold a key.
 */

import { http, webSocket } from 'viem';
import { UpstreamError } from '../../domain/errors.ts';

export interface RpcOptions {
  timeoutMs?: number;
}

export interface Rpc {
  readonly endpoints: number;
  /** Asks the endpoints in turn, the last one that answered first. Throws `RpcRefusal` when a node says no, `UpstreamError` when none answers. */
  request<T>(method: string, params: readonly unknown[]): Promise<T>;
  /** The same question to every endpoint at once. */
  requestAll<T>(method: string, params: readonly unknown[]): Promise<(T | RpcRefusal | UpstreamError)[]>;
  /** New heads as the first WebSocket endpoint pushes them; undefined when all endpoints are plain HTTP. */
  subscribeHeads(onHead: () => void): Promise<(() => Promise<void>) | undefined>;
  close(): void;
}

/** A node understood and declined. */
export class RpcRefusal extends UpstreamError {
  readonly rpcCode: number;
  readonly data: unknown;
  constructor({ method, rpcCode, message, data }: { method: string; rpcCode: number; message: string; data: unknown }) {
    super(`The node refused ${method}: ${message}`, { code: 'rpc_refused', facts: { method, rpcCode } });
    this.rpcCode = rpcCode;
    this.data = data;
  }
}

interface Transport {
  request(args: { method: string; params: readonly unknown[] }): Promise<unknown>;
  subscribe?: (args: { params: ['newHeads']; onData(data: unknown): void; onError(error: unknown): void }) => Promise<{ unsubscribe(): Promise<unknown> }>;
  close?: () => void;
}

export function createRpc(urls: readonly string[], { timeoutMs = 8_000 }: RpcOptions = {}): Rpc {
  const transports = urls.map((url) => connect(url, timeoutMs));
  let preferred = 0;

  async function ask<T>(index: number, method: string, params: readonly unknown[]): Promise<T> {
    const transport = transports[index] as Transport;
    try {
      return (await transport.request({ method, params })) as T;
    } catch (error) {
      throw translate(error, method);
    }
  }

  return {
    endpoints: transports.length,
    async request<T>(method: string, params: readonly unknown[]) {
      let last: unknown;
      for (let n = 0; n < transports.length; n += 1) {
        const index = (preferred + n) % transports.length;
        try {
          const answer = await ask<T>(index, method, params);
          preferred = index;
          return answer;
        } catch (error) {
          last = error;
          if (error instanceof RpcRefusal && !isMissingState(error)) throw error;
        }
      }
      throw last;
    },
    requestAll<T>(method: string, params: readonly unknown[]) {
      return Promise.all(transports.map((_, index) => ask<T>(index, method, params).catch((error: UpstreamError) => error)));
    },
    async subscribeHeads(onHead) {
      const transport = transports.find(({ subscribe }) => subscribe);
      if (!transport?.subscribe) return undefined;
      try {
        const subscription = await transport.subscribe({ params: ['newHeads'], onData: onHead, onError: () => {} });
        return async () => {
          await subscription.unsubscribe().catch(() => {});
        };
      } catch {
        // Polling goes on without it.
        return undefined;
      }
    },
    close() {
      for (const { close } of transports) close?.();
    },
  };
}

function connect(url: string, timeoutMs: number): Transport {
  const limits = { retryCount: 0, timeout: timeoutMs };
  if (url.startsWith('ws')) {
    const transport = webSocket(url, { ...limits, keepAlive: { interval: 10_000 }, reconnect: { attempts: 1_000_000, delay: 500 } })({ retryCount: 0 });
    return {
      request: (args) => transport.request(args as never),
      subscribe: (args) => transport.value?.subscribe(args as never) as never,
      close: () => void transport.value?.getRpcClient().then((client) => client.close(), () => {}),
    };
  }
  const transport = http(url, { ...limits, batch: { batchSize: 100, wait: 0 } })({ retryCount: 0 });
  return { request: (args) => transport.request(args as never) };
}

function translate(error: unknown, method: string): UpstreamError {
  for (let at = error as { code?: unknown; data?: unknown; message?: string; details?: string; cause?: unknown } | undefined; at; at = at.cause as never) {
    if (typeof at.code === 'number') return new RpcRefusal({ method, rpcCode: at.code, message: withoutUrls(at.details ?? at.message ?? ''), data: at.data });
  }
  return new UpstreamError(`No answer to ${method} from the chain's node. It will be asked again.`, { code: 'rpc_unavailable', facts: { method } });
}

/** A node that is behind does not have the block we name: another one may. */
const isMissingState = ({ message }: RpcRefusal): boolean => /header not found|unknown block|block not found|missing trie node|BlockOutOfRange/i.test(message);

const withoutUrls = (text: string): string => text.replace(/\b(?:https?|wss?):\/\/\S+/gi, '<rpc>').slice(0, 300);
