/** A hostile venue, to the LPs: the handshake, then tiny frames and requests of invented takers. */

import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Chain, TokenInfo } from '../../../src/domain/chain.ts';
import { LINK_PATH, LINK_PROTOCOL_VERSION } from '../../../src/protocol/link/link.ts';
import { random32, request } from '../../support/scripted-venue.ts';
import { hits, isAttacking, PER_ROUND, ROUND_MS } from './strikes.ts';

/** A socket that is not drained takes nothing more. */
const MOST_BUFFERED_BYTES = 256 * 1024;

const lpSockets = new Set<WebSocket>();

/** Returns its address. It behaves until `floodLps`. */
export async function startVenue(chains: readonly Chain[]): Promise<string> {
  const server = new WebSocketServer({
    port: 0,
    host: '127.0.0.1',
    path: LINK_PATH,
    perMessageDeflate: false,
  });
  await new Promise<void>((done) => server.once('listening', done));
  server.on('connection', (socket) => {
    lpSockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => lpSockets.delete(socket));
    const send = (message: object) => socket.send(JSON.stringify(message));
    send({
      type: 'challenge',
      nonce: random32(),
      venueId: 'hostile',
      protocolVersion: LINK_PROTOCOL_VERSION,
      chains: chains.map(({ id, slug, escrow, oracle }) => ({ chainId: id, slug, escrow, oracle })),
    });
    socket.on('message', (data: Buffer) => {
      const { type } = JSON.parse(data.toString()) as { type: string };
      if (type === 'hello') send({ type: 'welcome', sessionId: 'h', heartbeatSeconds: 5 });
      if (type === 'ping') send({ type: 'pong' });
      if (type === 'resync') send({ type: 'resync', awards: [] });
    });
  });
  return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export function floodLps(chains: readonly Chain[]): void {
  const round = setInterval(() => {
    if (!isAttacking()) return clearInterval(round);
    for (const socket of lpSockets) {
      if (socket.bufferedAmount > MOST_BUFFERED_BYTES) continue;
      for (let n = 0; n < PER_ROUND; n += 1) socket.send('{"type":"ping"}');
      socket.send(JSON.stringify(inventedRequest(chains)));
      hits('frames to LPs', PER_ROUND);
      hits('requests of takers that the venue invented');
    }
  }, ROUND_MS);
}

function inventedRequest(chains: readonly Chain[]): object {
  const [chain] = chains as [Chain];
  const token = (symbol: string) => chain.tokens.find((each) => each.symbol === symbol) as TokenInfo;
  return request({
    from: chain,
    to: chain,
    give: token('USDC'),
    take: token('WETH'),
    amount: 20_000_000_000n,
    taker: `0x${random32().slice(2, 42)}`,
  });
}
