/**
 * A chain's node that passes everything on until the attack. Then it answers before it has read the question
 * and hangs up, or sends JSON that is costly to read.
 */

import { type AddressInfo, connect, createServer } from 'node:net';
import { hits, isAttacking } from './strikes.ts';

const REFUSAL = 'HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\n\r\n';
const DEEP = `{"jsonrpc":"2.0","id":1,"result":${'['.repeat(200_000)}${']'.repeat(200_000)}}`;
const BOMB = `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${DEEP.length}\r\n\r\n${DEEP}`;

/** Returns its address. */
export async function startRudeNode(target: string): Promise<string> {
  const { hostname, port } = new URL(target);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    const behind = connect(Number(port), hostname);
    behind.on('error', () => socket.destroy());
    behind.on('close', () => socket.destroy());
    socket.on('close', () => behind.destroy());
    behind.pipe(socket);
    let answers = 0;
    socket.on('data', (bytes) => {
      if (!isAttacking()) return void behind.write(bytes);
      hits('rude answers of a node');
      answers += 1;
      if (answers % 2 === 0) return void socket.write(BOMB);
      socket.write(REFUSAL);
      socket.resetAndDestroy();
    });
  });
  await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
