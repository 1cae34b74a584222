/** Circle's answers as they come over the wire, and its limit on requests. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { createManualClock } from '../../../../test/support/manual-clock.ts';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import { createOutbound } from '../../outbound/request.ts';
import { createAttestationService } from './attestation-service.ts';

const { messages: real } = JSON.parse(
  readFileSync(new URL('../../../../test/vectors/cctp.json', import.meta.url), 'utf8'),
) as { messages: { name: string; message: Hex; attestation: Hex }[] };
const fast = real.find(({ name }) => name === 'Base to Avalanche, fast') as (typeof real)[number];
const TX: Hex = '0x262987d9e9cc5a0579f4995da5780e36d826053428281d4a81d3e722012c34e3';
const NONCE: Hex = '0xbe761cca8a69cb0e710f3c765ca929dacd58ab31238952b2889b406f6406866b';

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

/** Answers each request with the next of these, the last one for ever. */
async function served(
  answers: readonly { status?: number; headers?: Record<string, string>; body: unknown }[],
  spacingMs = 0,
) {
  const asked: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const {
      status = 200,
      headers = {},
      body,
    } = answers[Math.min(asked.length, answers.length - 1)] ?? { body: '' };
    asked.push(`${request.method} ${request.url}`);
    response
      .writeHead(status, { connection: 'close', ...headers })
      .end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  servers.push(server);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const clock = createManualClock();
  const service = createAttestationService(
    { outbound: createOutbound({ allowPrivate: true, keepAlive: false }), clock },
    { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, timeoutMs: 2_000, spacingMs },
  );
  return { service, asked, clock };
}

test('reads a complete answer, with the fields that came later too', async () => {
  const { message, attestation } = fast;
  const first = { attestation, message, eventNonce: NONCE, cctpVersion: 2, status: 'complete' };
  const { service, asked } = await served([
    {
      body: {
        messages: [
          first,
          {
            ...first,
            cctpVersion: '2',
            decodedMessage: { amount: '1' },
            delayReason: null,
            forwardState: null,
          },
        ],
      },
    },
  ]);
  const read = { message, attestation, status: 'complete', delay: undefined };
  expect(await service.messages(6, TX)).toEqual([read, read]);
  expect(asked).toEqual([`GET /v2/messages/6?transactionHash=${TX}`]);
});

test.each([
  ['null and a word', { message: null, attestation: 'PENDING', delayReason: 'insufficient_fee' }],
  ['empty bytes', { message: '0x', attestation: '0x', delayReason: 'insufficient_fee' }],
  ['nothing', { delayReason: 'insufficient_fee' }],
])('reads a pending answer with %s', async (_, fields) => {
  const { service } = await served([
    { body: { messages: [{ ...fields, status: 'pending_confirmations' }] } },
  ]);
  expect(await service.messages(6, TX)).toEqual([
    {
      message: undefined,
      attestation: undefined,
      status: 'pending_confirmations',
      delay: 'insufficient_fee',
    },
  ]);
});

test('knows a transaction that Circle has not seen', async () => {
  const { service } = await served([
    { status: 404, body: { code: 404, message: 'Not found' } },
    { body: { messages: [] } },
  ]);
  expect(await service.messages(6, TX)).toBeUndefined();
  expect(await service.messages(6, TX)).toEqual([]);
});

test('reads fees in fractions of a basis point, and rounds them up', async () => {
  const { service, asked } = await served([
    {
      body: [
        { finalityThreshold: 1000, minimumFee: 1.3 },
        { finalityThreshold: 2000, minimumFee: 0 },
        { finalityThreshold: 1500, minimumFee: 0.00001 },
      ],
    },
  ]);
  expect([...(await service.fees(0, 6))]).toEqual([
    [1000, 1_300n],
    [2000, 0n],
    [1500, 1n],
  ]);
  expect(asked).toEqual(['GET /v2/burn/USDC/fees/0/6']);
});

test('reads what fast transfers may carry, and rounds it down', async () => {
  const { service, asked } = await served([
    { body: { allowance: 123_999.999999, lastUpdated: '2026-01-23T10:00:00Z' } },
    { status: 404, body: '' },
  ]);
  expect(await service.fastAllowance()).toBe(123_999_000_000n);
  expect(await service.fastAllowance()).toBeUndefined();
  expect(asked[0]).toBe('GET /v2/fastBurn/USDC/allowance');
});

test('returns what Circle says to a request for another attestation', async () => {
  const { service, asked } = await served([
    { body: { message: 'Re-attestation successfully requested for nonce.', nonce: NONCE } },
    {
      status: 400,
      body: { message: 'Cannot re-attest requested message.', error: 'Message is already finalized.' },
    },
    { status: 502, body: 'bad gateway' },
  ]);
  expect(await service.attestAgain(NONCE)).toBe('Re-attestation successfully requested for nonce.');
  expect(await service.attestAgain(NONCE)).toBe(
    'Cannot re-attest requested message. Message is already finalized.',
  );
  await expect(service.attestAgain(NONCE)).rejects.toThrow(UpstreamError);
  expect(new Set(asked)).toEqual(new Set([`POST /v2/reattest/${NONCE}`]));
});

test.each([
  ['for as long as it says', { 'retry-after': '20' }, 20_000],
  ['for five minutes when it does not say', {}, 300_000],
])('sends nothing after a refusal %s', async (_, headers, pauseMs) => {
  const { service, asked, clock } = await served([
    { status: 429, headers: headers as Record<string, string>, body: '' },
    { body: { messages: [] } },
  ]);
  await expect(service.messages(6, TX)).rejects.toMatchObject({ code: 'attestation_busy', retry: 'later' });
  clock.advance(pauseMs - 1);
  await expect(service.messages(6, TX)).rejects.toMatchObject({ facts: { waitMs: 1 } });
  expect(asked.length).toBe(1);
  clock.advance(1);
  expect(await service.messages(6, TX)).toEqual([]);
});

test('spaces its requests, however many transfers ask at once', async () => {
  const { service, asked, clock } = await served([{ body: { messages: [] } }], 100);
  const all = Promise.all(Array.from({ length: 4 }, () => service.messages(6, TX)));
  expect(clock.pending()).toEqual([100, 200, 300]);
  clock.advance(300);
  await all;
  expect(asked.length).toBe(4);
});

test.each([
  ['an error of its own', 500, '{"code":1}'],
  ['a page', 200, '<html></html>'],
  ['another shape', 200, '{"data":[]}'],
  ['a fee that is none', 200, '[{"finalityThreshold":1000,"minimumFee":-1}]'],
])('refuses %s', async (_, status, body) => {
  const { service } = await served([{ status, body }]);
  await expect(service.fees(6, 26)).rejects.toMatchObject({ code: 'attestation_failed', retry: 'later' });
});
