/** Prints order and roster events from the venue's WebSocket. */

import { WebSocket } from 'ws';
import { formatUnits } from '../../../domain/amount.ts';
import { zOrderEvent, zSolverEvent } from '../../../protocol/api/events.ts';
import type { Manifest } from '../manifest.ts';

export function followEvents(manifest: Manifest, show: (line: string) => void): { stop(): void } {
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  function connect(): void {
    socket = new WebSocket(manifest.venue.wsUrl, { headers: { 'x-api-key': manifest.venue.keys.service } });
    socket.on('open', () => socket?.send(JSON.stringify({ op: 'subscribe', topics: ['orders', 'solvers'] })));
    socket.on('message', (data) => {
      const line = sentence(manifest, String(data));
      if (line !== undefined) show(line);
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      if (!stopped) timer = setTimeout(connect, 500);
    });
  }

  connect();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
      socket?.terminate();
    },
  };
}

function sentence(manifest: Manifest, text: string): string | undefined {
  const json = JSON.parse(text) as unknown;
  const order = zOrderEvent.safeParse(json);
  if (order.success) {
    const { type, orderId, data } = order.data;
    const id = `${orderId.slice(0, 10)}…`;
    if (type === 'order.settled')
      return `settled  ${id}  ${Object.entries(data.settledAmounts ?? {})
        .map(
          ([asset, { amount, decimals, symbol }]) =>
            `${formatUnits(BigInt(amount), decimals ?? 0)} ${symbol ?? ''} on ${slugOf(manifest, asset)}`,
        )
        .join(', ')}`;
    if (type === 'order.failed')
      return `failed   ${id}  ${data.failure?.code ?? ''}${data.failure?.refundTxHash ? ', refunded' : ''}`;
    return undefined;
  }
  const solver = zSolverEvent.safeParse(json);
  return solver.success
    ? `roster   ${solver.data.data.id} is ${solver.data.data.status}${solver.data.data.eligibilityNote ? `: ${solver.data.data.eligibilityNote}` : ''}`
    : undefined;
}

const slugOf = (manifest: Manifest, asset: string): string =>
  manifest.chains.find(({ id }) => asset.startsWith(`eip155:${id}/`))?.slug ?? asset;
