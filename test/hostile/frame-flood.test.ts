/** A venue that floods an LP with tiny frames fills nothing, and takers of another venue are quoted. */

import type { AddressInfo } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type WebSocket, WebSocketServer } from 'ws';
import { MAX_WAITING_FRAMES } from '../../src/adapters/ws/link-client.ts';
import { LINK_PROTOCOL_VERSION, type FromVenue } from '../../src/protocol/link/link.ts';
import { random32 } from '../support/scripted-venue.ts';
import { startTwoVenues, type TwoVenues } from '../support/two-venues.ts';

/** Of each connection: 18 MB, more than the kernel buffers. */
const FRAMES = 2_000_000;
/** Frames that arrive with the one that pauses the socket: one read of 64 KiB. */
const ONE_READ = 8_000;
const FLOODS = 3;

const frame = Buffer.from('\x81\x07{"a":1}', 'latin1');
const chunk = Buffer.alloc(frame.length * 7_000, frame);

let server: WebSocketServer;
let v: TwoVenues;
/** Challenges that the LP answered. */
let hellos = 0;
let floods = 0;
let begin: () => void = () => {};
const begun = new Promise<void>((done) => (begin = done));
let pings = 0;
let challenge: FromVenue;
/** What the venue does once it is welcome. */
let behave: ((say: (message: FromVenue) => void) => void) | undefined;

/** Writes as fast as the LP reads, then hangs up. */
function flood(client: WebSocket): void {
  const wire = (client as unknown as { _socket: Socket })._socket;
  let left = FRAMES;
  const write = (): void => {
    while (left > 0 && !wire.destroyed) {
      left -= 7_000;
      if (!wire.write(chunk)) return void wire.once('drain', write);
    }
    client.terminate();
  };
  write();
}

beforeAll(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise<void>((done) => server.once('listening', done));
  v = await startTwoVenues(31_461, async ({ chain: { id: chainId, slug, escrow, oracle } }) => {
    server.on('connection', (client) => {
      const say = (message: FromVenue) => client.send(JSON.stringify(message));
      client.on('error', () => {});
      client.on('message', (data: Buffer) => {
        if (data.toString().includes('"ping"')) pings += 1;
        if (!data.toString().includes('"hello"')) return;
        hellos += 1;
        if (behave !== undefined) return behave(say);
        if (floods === FLOODS) return say({ type: 'welcome', sessionId: 's', heartbeatSeconds: 5 });
        void begun.then(() => {
          floods += 1;
          flood(client);
        });
      });
      challenge = {
        type: 'challenge',
        nonce: random32(),
        venueId: 'flooding',
        protocolVersion: LINK_PROTOCOL_VERSION,
        chains: [{ chainId, slug, escrow, oracle }],
      };
      say(challenge);
    });
    return `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
}, 120_000);

afterAll(async () => {
  await v?.stop();
  for (const client of server.clients) client.terminate();
  server.close();
});

test('answers the next challenge and the other venue, and keeps few frames', async () => {
  await expect.poll(() => v.answerTo(9_199), { timeout: 15_000 }).toBe('quote');
  begin();
  let most = 0;
  const answers: string[] = [];
  for (let n = 0; n < 30 || hellos <= FLOODS; n += 1) {
    answers.push(await v.answerTo(9_200 + n));
    most = Math.max(most, await v.metric('firmquote_lp_link_frames{venue="other",kind="waiting"}'));
  }
  expect(hellos).toBe(FLOODS + 1);
  // A price may be stale once in a while on a busy machine. Later ones meet the honest venue's own share.
  const first = answers.slice(0, 30);
  expect(first.filter((answer) => answer === 'quote').length, `${first}`).toBeGreaterThan(24);
  expect(most).toBeLessThan(MAX_WAITING_FRAMES + ONE_READ);
  expect(await v.metric('firmquote_lp_link_floods_total{venue="other"}')).toBe(FLOODS);
  expect(await v.metric('firmquote_lp_link_frames{venue="other",kind="waiting"}')).toBe(0);
  expect(await v.metric('firmquote_lp_link_frames{venue="other",kind="pauses"}')).toBeGreaterThan(0);
}, 60_000);

const nextConnection = async (): Promise<void> => {
  const before = hellos;
  for (const client of server.clients) client.terminate();
  await expect.poll(() => hellos, { timeout: 15_000 }).toBeGreaterThan(before);
};

test('signs one challenge of each connection', async () => {
  let connections = 0;
  behave = (say) => {
    connections += 1;
    for (let n = 0; n < 200; n += 1) say(challenge);
  };
  const before = hellos;
  await nextConnection();
  await expect.poll(() => connections, { timeout: 15_000 }).toBeGreaterThan(1);
  expect(hellos - before).toBe(connections);
}, 40_000);

test('a heartbeat longer than any timer does not become a busy loop', async () => {
  behave = (say) => say({ type: 'welcome', sessionId: 's', heartbeatSeconds: 3_000_000 });
  pings = 0;
  await nextConnection();
  for (let n = 0; n < 50; n += 1) await v.answerTo(9_240 + n);
  expect(pings).toBe(0);
}, 40_000);
