/** Reads JSON-RPC answers. Their size and depth are limited first, because parsing holds the event loop. */

export const MAX_REQUEST_BYTES = 1024 * 1024;
export const MAX_ANSWER_BYTES = 10 * 1024 * 1024;
/** Below this, parsing takes a few milliseconds whatever the shape. */
const CHECKED_FROM_CHARS = 64 * 1024;
const MAX_DEPTH = 64;
const MAX_VALUES = 250_000;

export interface RpcAnswer {
  id?: unknown;
  result?: unknown;
  error?: { code?: unknown; message?: unknown; data?: unknown } | null;
}

/** Throws when the text is not a JSON-RPC response, such as the error page of a proxy. */
export function parseAnswers(text: string, source: string): readonly RpcAnswer[] {
  const parsed = parseBounded(text, source);
  const answers = Array.isArray(parsed) ? parsed : [parsed];
  const isAnswer = (value: unknown): value is RpcAnswer =>
    typeof value === 'object' &&
    value !== null &&
    ('result' in value || typeof (value as RpcAnswer).error === 'object');
  if (!answers.every(isAnswer)) throw new Error(`${source}, and the body is not a JSON-RPC response`);
  return answers;
}

export function parseBounded(text: string, source: string): unknown {
  if (text.length > CHECKED_FROM_CHARS && !isBounded(text))
    throw new Error(
      `${source}, and the body has more than ${MAX_DEPTH} levels or ${MAX_VALUES} values; it was not read`,
    );
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`${source}, and the body is not JSON`);
  }
}

/** Scans once and skips strings, of which answers mostly consist. */
function isBounded(text: string): boolean {
  let [depth, values] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) {
      do {
        at = text.indexOf('"', at + 1);
        if (at < 0) return true;
      } while (isEscaped(text, at));
    } else if (char === 0x5b || char === 0x7b) {
      if (++depth > MAX_DEPTH || ++values > MAX_VALUES) return false;
    } else if (char === 0x5d || char === 0x7d) depth -= 1;
    else if (char === 0x2c && ++values > MAX_VALUES) return false;
  }
  return true;
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(at - 1 - slashes) === 0x5c) slashes++;
  return slashes % 2 === 1;
}

/** An error without a numeric code is not a JSON-RPC error, so it gets no `code`. */
export function nodeError({ code, message, data }: NonNullable<RpcAnswer['error']>): Error {
  return Object.assign(
    new Error(typeof message === 'string' ? message : 'refused'),
    typeof code === 'number' ? { code, data } : {},
  );
}
