/**
 * What a process really keeps in memory: it is told through Node's inspector to collect its garbage, and then
 * says what is left.
 */

import { on, once } from 'node:events';
import { WebSocket } from 'ws';
import type { Part } from '../../faults/support/process.ts';

const DOOR = /Debugger listening on (ws:\/\/\S+)/;
const OPEN_MS = 10_000;
/** The second collection frees what the finalisers of the first let go. */
const COLLECTIONS = 2;

export interface Kept {
  /** Objects and the buffers outside of the heap that they own. */
  heapMb: number;
  rssMb: number;
}

/** Processes that are started after this open their inspector at a free port when they are asked to. */
export function allowInspection(): void {
  process.env['NODE_OPTIONS'] = '--inspect-port=0';
}

export async function keptBy(part: Part): Promise<Kept> {
  const socket = await openInspector(part);
  try {
    for (let n = 0; n < COLLECTIONS; n += 1) await call(socket, 'HeapProfiler.collectGarbage');
    const { result } = (await call(socket, 'Runtime.evaluate', {
      expression: 'JSON.stringify(process.memoryUsage())',
    })) as { result: { value: string } };
    const { heapUsed, external, rss } = JSON.parse(result.value) as NodeJS.MemoryUsage;
    return { heapMb: megabytes(heapUsed + external), rssMb: megabytes(rss) };
  } finally {
    socket.close();
  }
}

/** SIGUSR1 opens the inspector of a running Node process; it stays open. */
async function openInspector(part: Part): Promise<WebSocket> {
  process.kill(part.pid(), 'SIGUSR1');
  const until = performance.now() + OPEN_MS;
  for (;;) {
    const url = DOOR.exec(part.said())?.[1];
    if (url !== undefined) {
      const socket = new WebSocket(url);
      await once(socket, 'open');
      return socket;
    }
    if (performance.now() > until) throw new Error(`${part.name} does not open its inspector.`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** One call at a time. */
async function call(socket: WebSocket, method: string, params: object = {}): Promise<unknown> {
  const id = Math.floor(performance.now() * 1_000);
  socket.send(JSON.stringify({ id, method, params }));
  for await (const [data] of on(socket, 'message')) {
    const answer = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (answer.id === id) return answer.result;
  }
  return undefined;
}

const megabytes = (bytes: number): number => Math.round(bytes / 2 ** 20);
