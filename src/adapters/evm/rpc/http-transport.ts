/**
 * JSON-RPC over HTTP on an undici pool. Calls made in one event-loop tick share one request, and connections
 * stay open. viem's transport uses `fetch`, which costs several times the CPU per call (`npm run bench --
 * rpc`).
 */

import { buildConnector, Pool } from 'undici';
import { MAX_ANSWER_BYTES, MAX_REQUEST_BYTES, nodeError, parseAnswers, type RpcAnswer } from './answers.ts';
import { loginHeader } from '../../outbound/login.ts';
import { readRetryAfter } from '../../outbound/retry-after.ts';
import { meaningOf } from './refusals.ts';

export interface HttpTransport {
  /**
   * Rejects with the node's `code`, `message` and `data`, or without a numeric `code` when there is no valid
   * answer.
   */
  request(call: RpcCall): Promise<unknown>;
  close(): void;
}

interface RpcCall {
  method: string;
  params: readonly unknown[];
}

interface PendingCall {
  method: string;
  json: string;
  id: number;
  resolve(result: unknown): void;
  reject(error: Error): void;
}

interface HttpAnswer {
  status: number;
  text: string;
  retryAfterMs: number | undefined;
}

const MAX_BATCH_CALLS = 100;
const INTERNAL_ERROR = -32_603;
/** Statuses that say something about the request whatever the body holds: too large, or not now. */
const TELLING_STATUSES = new Set([402, 413, 429, 502, 503, 504]);
/** Requests after a batch whose answer is too large. A hostile node answers each with as much. */
const MAX_HALVES = 32;
/** Code of undici's error for an answer beyond `MAX_ANSWER_BYTES`. */
export const TOO_LARGE = 'UND_ERR_RES_EXCEEDED_MAX_SIZE';

/** `address` may contain a user name and a password. */
export function createHttpTransport(address: string, { timeoutMs }: { timeoutMs: number }): HttpTransport {
  const url = new URL(address);
  const pool = new Pool(url.origin, { maxResponseSize: MAX_ANSWER_BYTES, connect: openSocket(timeoutMs) });
  const path = `${url.pathname}${url.search}`;
  const headers = { 'content-type': 'application/json', ...loginHeader(url) };
  let pending: PendingCall[] = [];
  let lastId = 0;
  /** Shrinks when the node refuses a batch for its size. */
  let maxCalls = MAX_BATCH_CALLS;

  function flush(): void {
    let batch: PendingCall[] = [];
    let bytes = 0;
    for (const call of pending) {
      const size = Buffer.byteLength(call.json) + 1;
      if (batch.length === maxCalls || bytes + size > MAX_REQUEST_BYTES) {
        void sendBatch(batch);
        [batch, bytes] = [[], 0];
      }
      batch.push(call);
      bytes += size;
    }
    pending = [];
    void sendBatch(batch);
  }

  /**
   * Sends one batch. `most`: the size of the parts that a refused batch was divided into. It is kept once one
   * is answered.
   */
  async function sendBatch(
    calls: readonly PendingCall[],
    { budget = { halves: MAX_HALVES }, most = maxCalls }: { budget?: { halves: number }; most?: number } = {},
  ): Promise<void> {
    if (calls.length === 0) return;
    const json = calls.map((call) => call.json);
    const unanswered = new Map(calls.map((call) => [call.id, call]));
    try {
      const { status, text, retryAfterMs } = await postWithRetry(
        json.length === 1 ? (json[0] as string) : `[${json.join()}]`,
      );
      const answers = answersOf(status, text, retryAfterMs);
      if (calls.length > 1 && isBatchRefused(answers)) return await sendSmaller(calls);
      for (const { id, result, error } of answers) {
        const call = unanswered.get(id as number);
        if (call !== undefined) maxCalls = Math.min(maxCalls, most);
        unanswered.delete(id as number);
        if (error == null) call?.resolve(result);
        else call?.reject(Object.assign(nodeError(error), { retryAfterMs }));
      }
      // An overloaded node may answer a whole batch with a single error that has no id.
      const batchError = answers.find(({ id, error }) => id == null && error != null)?.error;
      for (const { method, reject } of unanswered.values())
        reject(
          batchError == null
            ? new Error(`the response has no answer to ${method}`)
            : Object.assign(nodeError(batchError), { retryAfterMs }),
        );
    } catch (error) {
      const tooLarge = (error as { code?: unknown }).code === TOO_LARGE;
      if (tooLarge && calls.length > 1 && (budget.halves -= 2) >= 0) {
        // A contract that answers with megabytes must not fail the calls it shares a request with.
        const half = calls.length >> 1;
        await Promise.all(
          [calls.slice(0, half), calls.slice(half)].map((part) => sendBatch(part, { budget })),
        );
        return;
      }
      for (const { reject } of unanswered.values()) reject(error as Error);
    }
  }

  async function sendSmaller(calls: readonly PendingCall[]): Promise<void> {
    const most = Math.min(maxCalls, calls.length >> 1);
    const parts = Array.from({ length: Math.ceil(calls.length / most) }, (_, n) =>
      calls.slice(n * most, (n + 1) * most),
    );
    await Promise.all(parts.map((part) => sendBatch(part, { most })));
  }

  /**
   * Repeats a request once if it failed on a reused connection: a node may close an idle one as we use it.
   */
  async function postWithRetry(body: string): Promise<HttpAnswer> {
    try {
      return await post(body);
    } catch (error) {
      const { socket, code } = error as { socket?: { bytesRead?: number }; code?: unknown };
      if (!socket?.bytesRead || code === TOO_LARGE) throw error;
      return post(body);
    }
  }

  async function post(body: string): Promise<HttpAnswer> {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    try {
      const response = await pool.request({ method: 'POST', path, headers, body, signal: limit.signal });
      const headerOf = (name: string) => [response.headers[name]].flat()[0];
      return {
        status: response.statusCode,
        text: await response.body.text(),
        retryAfterMs: readRetryAfter(headerOf('retry-after'), { nowMs: Date.now(), date: headerOf('date') }),
      };
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    request: ({ method, params }) =>
      new Promise((resolve, reject) => {
        const id = (lastId += 1);
        const json = JSON.stringify({ jsonrpc: '2.0', id, method, params });
        if (Buffer.byteLength(json) > MAX_REQUEST_BYTES)
          return reject(new Error(`the request is larger than ${MAX_REQUEST_BYTES} bytes and was not sent`));
        if (pending.push({ method, json, id, resolve, reject }) === 1) setImmediate(flush);
      }),
    close: () => void pool.destroy(),
  };
}

/** Throws for a body that is no JSON-RPC answer, with the status as its code where that is telling. */
function answersOf(status: number, text: string, retryAfterMs: number | undefined): readonly RpcAnswer[] {
  try {
    return parseAnswers(text, `HTTP ${status}`);
  } catch (error) {
    if (!TELLING_STATUSES.has(status)) throw error;
    // As a JSON-RPC error for the whole request.
    if (status === 413) return [{ id: null, error: { code: status, message: 'the request is too large' } }];
    throw Object.assign(error as Error, { code: status, retryAfterMs });
  }
}

/**
 * Returns true when the node refused the size: by one error for the whole batch, or by the same one for each
 * call. An overloaded or broken node may answer a whole batch with one error too, but then fewer calls do not
 * help.
 */
function isBatchRefused(answers: readonly RpcAnswer[]): boolean {
  const meanings = answers.map(({ error }) =>
    error == null ? undefined : meaningOf({ method: 'batch', ...readError(error) }),
  );
  const [first] = answers;
  if (answers.length === 1 && first?.id == null && first?.error != null)
    return meanings[0] !== 'not_now' && first.error.code !== INTERNAL_ERROR;
  return meanings.every((meaning) => meaning === 'smaller_batch');
}

const readError = ({ code, message }: NonNullable<RpcAnswer['error']>) => ({
  rpcCode: typeof code === 'number' ? code : 0,
  message: typeof message === 'string' ? message : '',
});

/**
 * Connects as undici does, and adds the socket to its errors, as undici does only for a closed connection.
 */
function openSocket(timeoutMs: number): buildConnector.connector {
  const connect = buildConnector({ timeout: timeoutMs });
  return (options, callback) =>
    connect(options, (...outcome) => {
      const socket = outcome[1];
      socket?.on('error', (error) => Object.assign(error, { socket: { bytesRead: socket.bytesRead } }));
      callback(...outcome);
    });
}
