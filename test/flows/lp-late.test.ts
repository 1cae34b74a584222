/**
 * More requests than an LP can answer in time: the late ones are declined in words, before anything is
 * priced, held or signed for them.
 */

import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { WebSocketServer } from 'ws';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createLinkClient } from '../../src/adapters/ws/link-client.ts';
import type { QuotingSnapshot } from '../../src/lp/quoting/quoting-snapshot.ts';
import { createLpMetrics } from '../../src/lp/metrics.ts';
import type { VenueSessionDeps } from '../../src/lp/quoting/session/session-state.ts';
import { createVenueSession } from '../../src/lp/quoting/session/venue-session.ts';
import type { Link } from '../../src/ports/link.ts';
import type { FromSolver, Rfq } from '../../src/protocol/link/link.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';

const REQUESTS = 100;
const DEADLINE_MS = 50;
const address = `0x${'ab'.repeat(20)}`;

const rfq = (n: number) =>
  ({
    type: 'rfq',
    rfqId: `r${n}`,
    deadlineMs: DEADLINE_MS,
    input: `eip155:8453/erc20:${address}`,
    output: `eip155:8453/erc20:0x${'cd'.repeat(20)}`,
    side: 'exactInput',
    amount: '1000',
    taker: address,
    receiver: address,
    minValidUntil: null,
    platformFeeBps: 2,
    relayFee: '0',
    executionMode: 'apiSubmit',
    maxSplitParts: 1,
    skeleton: {
      nonce: '7',
      originChainId: 8453,
      inputOracle: address,
      outputOracle: address,
      settler: address,
      landingMarginSeconds: 30,
      proofWindowSeconds: 60,
    },
  }) as unknown as Rfq;

/** A link to a venue that asks everything at once; resolves with all the answers. */
async function asked(answer: (rfq: Rfq) => Promise<FromSolver[]>): Promise<FromSolver[]> {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await new Promise<void>((done) => server.once('listening', done));
  const said: FromSolver[] = [];
  const all = new Promise<void>((done) =>
    server.on('connection', (socket) => {
      socket.on('message', (data: Buffer) => {
        said.push(JSON.parse(data.toString()) as FromSolver);
        if (said.length === REQUESTS) done();
      });
      const wire = (socket as unknown as { _socket: { cork(): void; uncork(): void } })._socket;
      wire.cork();
      for (let n = 0; n < REQUESTS; n++) socket.send(JSON.stringify(rfq(n)));
      wire.uncork();
    }),
  );
  const link = createLinkClient(
    { clock: systemClock, log: silentLog },
    { name: 'v', url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`, apiKey: 'fq_test_k' },
  );
  const session = sessionOver(link, answer);
  session.start();
  await all;
  await session.stop();
  server.close();
  return said;
}

function sessionOver(link: Link, answer: (rfq: Rfq) => Promise<FromSolver[]>) {
  const deps = {
    link,
    clock: systemClock,
    log: silentLog,
    metrics: createLpMetrics(silentMetrics, { pairs: [], venues: [] }),
    quoting: () =>
      ({
        quotes: { handleQuoteRequest: answer },
        routes: { find: () => undefined },
        config: { quoting: { maxInFlight: 256 } },
      }) as unknown as QuotingSnapshot,
    chains: new Map(),
  } as unknown as VenueSessionDeps;
  return createVenueSession(deps, { solver: { id: 'a', kind: 'lp', name: 'a' } });
}

const declined = (rfqId: string): FromSolver => ({ type: 'decline', rfqId, reason: 'pair', maxAmount: null });
const reasonOf = (message: FromSolver) =>
  message.type === 'decline' ? (message.code ?? message.reason) : message.type;

test('a request that waited too long is not priced', async () => {
  let worked = 0;
  const said = await asked(async ({ rfqId }) => {
    worked += 1;
    const until = performance.now() + 5;
    while (performance.now() < until);
    return [declined(rfqId)];
  });
  expect(said.map((message) => ('rfqId' in message ? message.rfqId : '')).sort()).toEqual(
    Array.from({ length: REQUESTS }, (_, n) => `r${n}`).sort(),
  );
  // Half a second of work within fifty milliseconds: whatever the machine, most of it has to be declined.
  expect(worked).toBeLessThan(REQUESTS);
  // One that was worked on while the machine had no time for it is declined as well: the next test.
  const answered = said.filter((message) => reasonOf(message) === 'pair').length;
  expect(answered).toBeLessThanOrEqual(worked);
  expect(said.filter((message) => reasonOf(message) === 'late')).toHaveLength(REQUESTS - answered);
});

test('an answer that took too long is declined instead of sent', async () => {
  const said = await asked(
    ({ rfqId }) => new Promise((done) => setTimeout(() => done([declined(rfqId)]), DEADLINE_MS * 2)),
  );
  expect(new Set(said.map(reasonOf))).toEqual(new Set(['late']));
});

test('the time that a request waited for its turn counts', async () => {
  const said: FromSolver[] = [];
  let receive: (text: string, waitedMs: number) => void = () => {};
  const session = sessionOver(
    {
      name: 'v',
      start: (listener) => void (receive = listener.frame),
      send: (text) => said.push(JSON.parse(text) as FromSolver) > 0,
      reconnect() {},
      load: () => ({ waiting: 0, dropped: 0, pauses: 0 }),
      stop: async () => {},
    },
    ({ rfqId }) => new Promise((done) => setTimeout(() => done([declined(rfqId)]), DEADLINE_MS / 2)),
  );
  session.start();
  receive(JSON.stringify(rfq(1)), DEADLINE_MS * 0.7);
  await expect.poll(() => said.map(reasonOf)).toEqual(['late']);
});

test('requests far beyond maxInFlight are declined while the others are worked on', async () => {
  const said: FromSolver[] = [];
  let receive: (text: string, waitedMs: number) => void = () => {};
  const session = sessionOver(
    {
      name: 'v',
      start: (listener) => void (receive = listener.frame),
      send: (text) => said.push(JSON.parse(text) as FromSolver) > 0,
      reconnect() {},
      load: () => ({ waiting: 0, dropped: 0, pauses: 0 }),
      stop: async () => {},
    },
    () => new Promise(() => {}),
  );
  session.start();
  for (let n = 0; n < 2 * 256 + 3; n += 1) receive(JSON.stringify(rfq(n)), 0);
  expect(said.map(reasonOf)).toEqual(['busy', 'busy', 'busy']);
});
