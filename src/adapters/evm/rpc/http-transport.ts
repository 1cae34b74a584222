/**
 * JSON-RPC over HTTP: what is asked in one turn of the loop is one request, on a connection that stays open.
 * On Node's own client, since a process that answers thousands a second asks its chains from the same loop: a
 * question by `fetch` takes nine times as much of it, a millisecond when it is warm and twenty when it is not
 * (`npm run bench -- rpc`), for streams that nobody reads from.
 */

import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';

export interface HttpTransport {
  /**
   * Rejects with an error that has the node's `code`, `message` and `data` when it says no, with another one
   * when it does not answer.
   */
  request(question: Question): Promise<unknown>;
  /** Ends its connections. What is under way is rejected. */
  close(): void;
}

interface Question {
  method: string;
  params: readonly unknown[];
}

interface Failure extends Error {
  code?: string;
  /** Nothing was heard on a connection that had been used before. */
  wasIdle?: boolean;
}

interface Asked extends Question {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

const MOST_IN_ONE = 100;
/** Of an answer; a node that sends more is not heard to its end. */
const MOST_BYTES = 10 * 1024 * 1024;

/** An address may hold a name and a password. */
export function createHttpTransport(address: string, { timeoutMs }: { timeoutMs: number }): HttpTransport {
  const url = new URL(address);
  const secure = url.protocol === 'https:';
  const agent = new (secure ? HttpsAgent : HttpAgent)({ keepAlive: true });
  const auth =
    url.username === ''
      ? undefined
      : `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
  const options = { method: 'POST', agent, ...(auth !== undefined && { auth }) };
  let waiting: Asked[] = [];
  let lastId = 0;

  function ask(): void {
    const asked = waiting;
    waiting = [];
    for (let from = 0; from < asked.length; from += MOST_IN_ONE) {
      const these = asked.slice(from, from + MOST_IN_ONE);
      post(these).catch((error: Error) => {
        for (const { reject } of these) reject(error);
      });
    }
  }

  async function post(asked: readonly Asked[]): Promise<void> {
    const byId = new Map(asked.map((each) => [(lastId += 1), each]));
    const questions = [...byId].map(([id, { method, params }]) => ({ jsonrpc: '2.0', id, method, params }));
    const body = JSON.stringify(questions.length === 1 ? questions[0] : questions);
    const { status, text } = await send(body).catch((error: Failure) => {
      // A node may close a connection that nobody used in the moment in which we do. It has heard nothing
      // then.
      if (error.wasIdle) return send(body);
      throw error;
    });
    const answers = answersIn(text, status);
    for (const answer of answers) {
      const its = byId.get(answer.id as number);
      byId.delete(answer.id as number);
      if (answer.error == null) its?.resolve(answer.result);
      else its?.reject(refusal(answer.error));
    }
    // A node that has no time for any of them says so once, of none.
    const toAll = answers.find(({ id, error }) => id == null && error != null)?.error;
    for (const { reject } of byId.values())
      reject(toAll == null ? new Error('the answer leaves this question out') : refusal(toAll));
  }

  function send(body: string): Promise<{ status: number; text: string }> {
    return new Promise((resolve, reject) => {
      let [bytes, heard]: [number, boolean] = [0, false];
      const chunks: Buffer[] = [];
      const failed = (error: Failure) => {
        clearTimeout(late);
        error.wasIdle =
          request.reusedSocket && !heard && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        reject(error);
      };
      const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
      const request = (secure ? httpsRequest : httpRequest)(url, { ...options, headers }, (response) => {
        heard = true;
        response.on('error', failed);
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          chunks.push(chunk);
          if (bytes > MOST_BYTES) request.destroy(new Error(`an answer of more than ${MOST_BYTES} bytes`));
        });
        response.on('end', () => {
          clearTimeout(late);
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
        });
      });
      const late = setTimeout(
        () => request.destroy(new Error(`no answer within ${timeoutMs} ms`)),
        timeoutMs,
      );
      request.on('error', failed);
      request.end(body);
    });
  }

  return {
    request: ({ method, params }) =>
      new Promise((resolve, reject) => {
        if (waiting.push({ method, params, resolve, reject }) === 1) setImmediate(ask);
      }),
    close: () => agent.destroy(),
  };
}

interface Answer {
  id?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: unknown } | null;
}

/** Throws for what is no answer of a node: a page of a proxy, half a text. */
function answersIn(text: string, status: number): readonly Answer[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error(`HTTP ${status}, and no JSON`);
  }
  const answers = Array.isArray(parsed) ? parsed : [parsed];
  const isAnswer = (each: unknown): each is Answer =>
    typeof each === 'object' &&
    each !== null &&
    ('result' in each || typeof (each as Answer).error === 'object');
  if (!answers.every(isAnswer)) throw new Error(`HTTP ${status}, and no answer`);
  return answers;
}

function refusal({ code, message, data }: NonNullable<Answer['error']>): Error {
  // Without a number it is no word of the protocol.
  return Object.assign(
    new Error(typeof message === 'string' ? message : 'refused'),
    typeof code === 'number' ? { code, data } : {},
  );
}
