/** A taker that subscribes at full speed costs the venue one replay and a few frames. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { startTestVenue, type Json, type TestVenue, until } from '../support/venue.ts';

const PRICES = 'prices:chain1-chain1:USDC-WETH';
let v: TestVenue;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_455], sockets: { maxFramesPerSecond: 200 } });
  await v.workspace('w2');
});
afterAll(() => v.stop());

async function connect(workspaceId = 'w1') {
  const key = await v.key('service', { workspaceId });
  const socket = new WebSocket(`${(v.urls[0] as string).replace('http', 'ws')}/api/v1/ws`, {
    headers: { 'X-API-Key': key },
  });
  const frames: Json[] = [];
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Json));
  const closed = new Promise<number>((resolve) => socket.on('close', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  return {
    frames,
    closed,
    stop: () => socket.terminate(),
    say: (frame: object) => socket.send(JSON.stringify(frame)),
    of: (op: string) => frames.filter((frame) => (frame['op'] as unknown) === op),
  };
}

test('of many replays of all orders on one connection one runs at a time', async () => {
  const taker = await connect();
  const read = v.store.eventsAfter;
  let [running, most] = [0, 0];
  v.store.eventsAfter = async (...asked) => {
    const isReplay = asked[2] !== undefined;
    if (isReplay) most = Math.max(most, ++running);
    // Slow enough for the next subscription to overtake it.
    if (isReplay) await new Promise((resolve) => setTimeout(resolve, 50));
    if (isReplay) running--;
    return read(...asked);
  };
  for (let id = 0; id < 100; id++) taker.say({ op: 'subscribe', topics: ['orders'], since: '0', id });
  await until(() => taker.of('subscribed').length === 100);
  await until(() => most > 0 && running === 0);
  expect(most).toBe(1);
  v.store.eventsAfter = read;
  taker.stop();
});

test('a price topic joined and left without pause is computed no more often than it is published', async () => {
  const taker = await connect();
  for (let round = 0; round < 80; round++) {
    taker.say({ op: 'subscribe', topics: [PRICES] });
    taker.say({ op: 'unsubscribe', topics: [PRICES] });
  }
  taker.say({ op: 'subscribe', topics: [PRICES], id: 'last' });
  await until(() => taker.of('subscribed').some((frame) => (frame['id'] as unknown) === 'last'));
  const prices = () => taker.frames.filter((frame) => (frame['type'] as unknown) === 'prices.indicative');
  await until(() => prices().length > 0);
  expect(prices().length).toBeLessThan(40);
  taker.stop();
});

test('a key that subscribes without end is told so, and another key is not', async () => {
  const [taker, other] = [await connect(), await connect('w2')];
  const topics = Array.from({ length: 100 }, () => 'solvers');
  for (let sent = 0; taker.of('error').length === 0; sent++) {
    taker.say({ op: 'subscribe', topics });
    await until(() => taker.of('subscribed').length + taker.of('error').length > sent);
  }
  expect(taker.of('error')[0]?.['error']).toMatchObject({ code: 'rate_limited' });
  other.say({ op: 'subscribe', topics });
  await until(() => other.of('subscribed').length === 1);
  taker.stop();
  other.stop();
});

test('a connection with hundreds of frames waiting for the database is closed', async () => {
  const taker = await connect();
  const read = v.store.placeEvents;
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  v.store.placeEvents = () => answered.then(read);
  let code: number | undefined;
  void taker.closed.then((how) => (code = how));
  // Within the rate of frames.
  await until(async () => {
    for (let id = 0; id < 90; id++) taker.say({ op: 'subscribe', topics: ['orders'], since: '0', id });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    return code;
  });
  expect(code).toBe(1008);
  answer();
  v.store.placeEvents = read;
});
