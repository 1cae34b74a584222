/** Asks an LP for quotes over the venue's end of its link, and matches each answer to its request. */

import type { WebSocket } from 'ws';
import type { Reply } from './load.ts';

const NO_ANSWER_MS = 15_000;

export interface QuoteRequest {
  id: string;
  frame: string;
}

export interface QuoteCaller {
  ask(request: QuoteRequest): Promise<Reply>;
  /** Waits for `work`. Rejects when the LP leaves its requests without any answer for 15 seconds. */
  whileAnswered<T>(work: Promise<T>): Promise<T>;
  /** Stops listening. */
  close(): void;
}

export function createQuoteCaller(socket: WebSocket): QuoteCaller {
  const open = new Map<string, { sentMs: number; answer: (reply: Reply) => void }>();
  let answeredMs = performance.now();
  let declines = 0;
  const listen = (data: Buffer) => {
    const text = data.toString('latin1');
    const at = text.indexOf('"rfqId":"');
    const id = at === -1 ? '' : text.slice(at + 9, text.indexOf('"', at + 9));
    const asked = open.get(id);
    if (asked === undefined) return;
    answeredMs = performance.now();
    const quoted = text.startsWith('{"type":"quote"');
    // A request with several firm times has several quotes; the last one ends it.
    if (quoted && text.includes('"more":true')) return;
    if (!quoted && ++declines === 1) console.error('the first decline:', text);
    open.delete(id);
    asked.answer({ status: quoted ? 200 : 503, ms: answeredMs - asked.sentMs, text });
  };
  socket.on('message', listen);
  return {
    ask: ({ id, frame }) =>
      new Promise((answer) => {
        open.set(id, { sentMs: performance.now(), answer });
        socket.send(frame);
      }),
    async whileAnswered(work) {
      let watch: NodeJS.Timeout | undefined;
      const silent = new Promise<never>((_, reject) => {
        watch = setInterval(() => {
          if (open.size === 0 || performance.now() - answeredMs < NO_ANSWER_MS) return;
          reject(new Error(`The LP did not answer for 15 seconds; ${open.size} requests are open.`));
        }, 500);
      });
      try {
        return await Promise.race([work, silent]);
      } finally {
        clearInterval(watch);
      }
    },
    close: () => void socket.off('message', listen),
  };
}
