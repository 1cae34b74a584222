/**
 * Screening and travel rule through the venue's own door: who gets no quote, what is kept of it, and that
 * telling others never holds up a trade.
 */

import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createOutbound } from '../../src/adapters/outbound/request.ts';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { createDenyList, type DenyList } from '../../src/adapters/screening/deny-list.ts';
import { createProvider } from '../../src/adapters/screening/provider.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createFileTransmitter } from '../../src/adapters/travel-rule/file.ts';
import { createHttpTransmitter } from '../../src/adapters/travel-rule/http.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { Bytes32 } from '../../src/domain/hex.ts';
import type { Transmitter } from '../../src/ports/stores/travel-rule.ts';
import { COURIER, createCourier } from '../../src/venue/orders/travel-rule.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { signPlan } from '../support/taker.ts';
import { type Answer, type Json, startTestVenue, type TestVenue, until } from '../support/venue.ts';

let v: TestVenue;
let folder: string;
let denyList: DenyList;
let key: string;
const metrics = createMetrics();
let usdc: string;
let weth: string;

/** The screening service: down, or answering. */
let service: 'up' | 'down' = 'up';
const onServiceList = new Set<string>();
let told: { body: string; key: string | undefined }[] = [];
let travelStatus = 200;
const screeningServer = createServer((request, response) => {
  if (service === 'down') return void response.destroy();
  response.end(
    JSON.stringify({ identifications: onServiceList.has((request.url ?? '').slice(1)) ? [1] : [] }),
  );
});
const travelServer = createServer((request: IncomingMessage, response: ServerResponse) => {
  let body = '';
  request.on('data', (part: Buffer) => (body += part.toString()));
  request.on('end', () => {
    told.push({ body, key: request.headers['idempotency-key'] as string | undefined });
    response.writeHead(travelStatus).end('{"reference":"their-1"}');
  });
});
const listen = (server: typeof screeningServer) =>
  new Promise<string>((done) =>
    server.listen(0, '127.0.0.1', () => done(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)),
  );
const outbound = createOutbound({ allowHosts: ['127.0.0.1'], allowPrivate: true });
const stops: (() => unknown)[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-records-'));
  await writeFile(join(folder, 'deny.txt'), `# version: first\n`);
  denyList = createDenyList(
    { clock: systemClock, log: silentLog, metrics: silentMetrics },
    { path: join(folder, 'deny.txt'), pollEveryMs: 10 },
  );
  await denyList.start();
  const acme = createProvider(
    { outbound, clock: systemClock, log: silentLog, metrics: silentMetrics },
    {
      name: 'acme',
      url: `${await listen(screeningServer)}/{address}`,
      headers: {},
      denied: { path: 'identifications', when: 'nonEmpty' },
      versionPath: null,
      timeoutMs: 5_000,
      attempts: 2,
      deadlineMs: 10_000,
      cacheTtlMs: 3_600_000,
      maxCached: 1_000,
      onFailure: 'closed',
    },
  );
  v = await startTestVenue({ screeners: [denyList, acme], metrics });
  key = await v.key('service');
  usdc = assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address });
  weth = assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address });
  await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_500n }));
});
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
  service = 'up';
  travelStatus = 200;
  told = [];
});
afterAll(async () => {
  await v.stop();
  denyList.stop();
  outbound.close();
  for (const server of [screeningServer, travelServer]) {
    server.closeAllConnections();
    server.close();
  }
  await rm(folder, { recursive: true });
});

/** Quote requests that the venue answered with a 5xx status, by its metrics. */
async function quotesFailed(): Promise<number> {
  const [, count] = /^firmquote_venue_failed_total\{rate="quote"\} (\d+)$/m.exec(await metrics.text()) ?? [];
  return Number(count);
}

let people = 6_000;
async function fundedTaker(): Promise<TestAccount> {
  const taker = account(people++);
  await v.chain.fund(taker.address, 100_000n);
  return taker;
}
const ask = (taker: string, body: object = {}, by = key): Promise<Answer> =>
  v.call('POST', '/api/v1/rfq/quotes', {
    key: by,
    body: { taker, input: { asset: usdc, amount: '1000000000' }, output: { asset: weth }, ...body },
  });
const preflight = (candidate: Json, by = key) =>
  v.call('POST', '/api/v1/rfq/orders/preflight', { key: by, body: { quoteResponse: candidate } });

async function deny(...addresses: string[]): Promise<void> {
  await writeFile(join(folder, 'deny.txt'), ['# version: later', ...addresses].join('\n'));
  expect(await denyList.reload()).toBe(true);
}

async function submitted(
  taker: TestAccount,
  { by = key, ...body }: { by?: string; receiver?: string; input?: object } = {},
): Promise<{ id: Bytes32; candidate: Json; body: object }> {
  const quoted = await ask(taker.address, body, by);
  const candidate = quoted.json['quotes']?.[0] as Json;
  const signed = await signPlan(taker, candidate, (await preflight(candidate, by)).json);
  const answer = await v.call('POST', '/api/v1/rfq/orders', { key: by, body: signed });
  expect(answer.status, answer.text).toBe(200);
  return { id: answer.json['id'] as unknown as Bytes32, candidate, body: signed };
}

describe('screening', () => {
  test('a denied taker or receiver gets no quote and no details', async () => {
    const [taker, other] = [account(people++), account(people++)];
    await deny(other.address);
    const refused = await ask(other.address);
    expect(refused.status).toBe(422);
    expect(refused.json).toEqual({
      detail: [{ loc: ['body', 'taker'], msg: expect.any(String), type: 'address_denied' }],
    });
    expect((await ask(taker.address, { receiver: other.address })).json).toMatchObject({
      detail: [{ loc: ['body', 'receiver'], type: 'address_denied' }],
    });
    expect((await ask(other.address, { receiver: other.address })).json['detail']).toHaveLength(1);
    for (const word of ['later', 'sha256', 'deny-list', other.address])
      expect(refused.text).not.toContain(word);
    expect((await ask(taker.address)).json['quotes']).toHaveLength(1);
  });

  test('a taker listed between quote and submission is refused; accepted orders continue', async () => {
    const taker = await fundedTaker();
    await deny();
    const before = await submitted(taker);
    const candidate = (await ask(taker.address)).json['quotes']?.[0] as Json;
    const signed = await signPlan(taker, candidate, (await preflight(candidate)).json);
    await deny(taker.address);
    const answer = await v.call('POST', '/api/v1/rfq/orders', { key, body: signed });
    expect([answer.status, answer.json['detail']?.[0]?.['type']]).toEqual([422, 'address_denied']);
    expect((await preflight(candidate)).json).toMatchObject({
      detail: [{ loc: ['body', 'quoteResponse', 'order'], type: 'address_denied' }],
    });
    const again = await v.call('POST', '/api/v1/rfq/orders', { key, body: before.body });
    expect([again.status, again.json['id']]).toEqual([200, before.id]);
  });

  test('a receiver listed in between is refused as the receiver', async () => {
    const [taker, receiver] = [await fundedTaker(), account(people++)];
    await deny();
    const candidate = (await ask(taker.address, { receiver: receiver.address })).json['quotes']?.[0] as Json;
    const signed = await signPlan(taker, candidate, (await preflight(candidate)).json);
    await deny(receiver.address);
    expect((await v.call('POST', '/api/v1/rfq/orders', { key, body: signed })).json).toMatchObject({
      detail: [
        { loc: ['body', 'quoteResponse', 'preview', 'outputs', 0, 'receiver'], type: 'address_denied' },
      ],
    });
  });

  test('the stored snapshot keeps the answer of its time', async () => {
    const [taker, receiver] = [await fundedTaker(), account(people++)];
    await deny(account(people++).address);
    const version = denyList.version();
    const { id } = await submitted(taker, { receiver: receiver.address });
    await deny(taker.address, receiver.address);
    const kept = (await v.store.order(id))?.screening;
    expect(kept?.decision).toBe('allowed');
    expect([kept?.taker.address, kept?.receiver.address]).toEqual([taker.address, receiver.address]);
    expect(kept?.receiver.checks).toEqual([
      {
        provider: 'deny-list',
        listVersion: version,
        decision: 'allowed',
        reason: 'not_listed',
        atMs: expect.any(Number),
      },
      {
        provider: 'acme',
        listVersion: null,
        decision: 'allowed',
        reason: 'not_listed',
        atMs: expect.any(Number),
      },
    ]);
    expect(denyList.version()).not.toBe(version);
  });

  test('the service denies too; while it is down new addresses are refused and cached ones continue', async () => {
    await deny();
    const [listed, known, stranger] = [account(people++), account(people++), account(people++)];
    onServiceList.add(listed.address);
    expect((await ask(listed.address)).json).toMatchObject({
      detail: [{ loc: ['body', 'taker'], type: 'address_denied' }],
    });
    expect((await ask(known.address)).status).toBe(200);
    service = 'down';
    expect((await ask(known.address)).status).toBe(200);
    const failures = await quotesFailed();
    const unanswered = await ask(stranger.address);
    expect([unanswered.status, unanswered.json['error']?.['code']]).toEqual([503, 'unavailable']);
    expect(unanswered.headers.get('retry-after')).not.toBeNull();
    expect((await ask(listed.address)).status).toBe(422);
    // The objective of availability counts what the venue could not answer, and not what it refused.
    await expect.poll(quotesFailed).toBe(failures + 1);
  });
});

describe('travel rule', () => {
  let service: string;
  let watched: string;
  let url: string;
  beforeAll(async () => {
    url = await listen(travelServer);
    await deny();
    await v.workspace('watched', { name: 'Watched Ltd', travelRuleThresholdUsd: 1_000 });
    watched = await v.key('service', { workspaceId: 'watched' });
    service = await v.key('service', { workspaceId: 'w1' });
  });

  function courier(transmitter: Transmitter, change: object = {}): { stop(): Promise<void> } {
    const made = createCourier(
      { store: v.store, transmitter, clock: systemClock, log: silentLog, metrics: silentMetrics },
      { ...COURIER, firstRetryMs: 20, pollEveryMs: 10, ...change },
    );
    made.start();
    stops.push(() => made.stop());
    return made;
  }
  const http = () =>
    createHttpTransmitter({ outbound }, { url, headers: { authorization: 'secret' }, timeoutMs: 5_000 });
  const state = async (id: Bytes32) => (await v.store.travelRule(id))?.state;

  test('one record from the threshold on; none below it or without a threshold', async () => {
    const taker = await fundedTaker();
    const above = await submitted(taker, { by: watched });
    const below = await submitted(taker, { by: watched, input: { asset: usdc, amount: '999000000' } });
    const elsewhere = await submitted(taker, { by: service });
    expect(await v.store.travelRule(above.id)).toEqual({
      orderId: above.id,
      attempt: 1,
      state: 'due',
      dueAtMs: expect.any(Number),
      startedAtMs: null,
      endedAtMs: null,
      transmitter: null,
      reference: null,
      detail: null,
      messageSha256: null,
    });
    expect((await v.store.order(above.id))?.travelRule).toEqual({ thresholdUsd: 1_000, amountUsd: 1_000 });
    for (const { id } of [below, elsewhere])
      expect([await v.store.travelRule(id), (await v.store.order(id))?.travelRule]).toEqual([
        undefined,
        null,
      ]);

    courier(http());
    await until(async () => (await state(above.id)) === 'transmitted');
    expect(await v.store.travelRuleHistory(above.id)).toMatchObject([
      {
        attempt: 1,
        transmitter: 'http',
        reference: 'their-1',
        messageSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
    expect(told.map((one) => one.key)).toEqual([`travel-rule-${above.id}`]);
    expect(JSON.parse(told[0]?.body ?? '')).toMatchObject({
      version: 1,
      orderId: above.id,
      originator: { workspaceId: 'watched', workspaceName: 'Watched Ltd', account: taker.address },
      beneficiary: { account: taker.address },
      sent: { asset: usdc, amount: '1000000000' },
      received: { asset: weth, amount: above.candidate['preview']?.['outputs']?.[0]?.['amount'] },
      amountUsd: 1_000,
      counterparties: ['lp-1'],
    });
  });

  test('a failing service is retried with the same key, one record per attempt', async () => {
    travelStatus = 500;
    const { id } = await submitted(await fundedTaker(), { by: watched });
    courier(http());
    await until(async () => ((await v.store.travelRule(id))?.attempt ?? 0) >= 3);
    // Settlement asks nobody: the order is where any other would be.
    expect((await v.call('GET', `/api/v1/rfq/orders/${id}`, { key: watched })).json).toMatchObject({
      status: 'pending',
      stage: 'awaiting_escrow',
    });
    travelStatus = 200;
    await until(async () => (await state(id)) === 'transmitted');
    const history = await v.store.travelRuleHistory(id);
    expect(history.map(({ attempt }) => attempt)).toEqual(history.map((_, index) => index + 1));
    expect(history.map((one) => one.state)).toEqual([...history.slice(1).map(() => 'failed'), 'transmitted']);
    expect(history[0]?.detail).toBe('The travel-rule service answered with status 500.');
    expect(new Set(told.map((one) => one.key)).size).toBe(1);
    expect(new Set(told.map((one) => one.body)).size).toBe(1);
    expect(told).toHaveLength(history.length);
  });

  test('after the last attempt the report is marked as given up', async () => {
    travelStatus = 403;
    const { id } = await submitted(await fundedTaker(), { by: watched });
    courier(http(), { maxAttempts: 2 });
    await until(async () => (await state(id)) === 'abandoned');
    expect((await v.store.travelRuleHistory(id)).map((one) => one.state)).toEqual(['failed', 'abandoned']);
    for (const stop of stops.splice(0)) await stop();
    // A person looks, puts it right, and has it sent again.
    expect((await v.store.travelRulesIn(['abandoned'], 10)).map(({ orderId }) => orderId)).toEqual([id]);
    travelStatus = 200;
    expect([
      await v.store.retryTravelRule(id, Date.now()),
      await v.store.retryTravelRule(id, Date.now()),
    ]).toEqual([true, false]);
    courier(http());
    await until(async () => (await state(id)) === 'transmitted');
    expect((await v.store.travelRuleHistory(id)).map((one) => one.state)).toEqual([
      'failed',
      'abandoned',
      'transmitted',
    ]);
  });

  test('two workers send each record once; a worker that dies while sending leaves it unknown and due again', async () => {
    const taker = await fundedTaker();
    const ids: Bytes32[] = [];
    for (let n = 0; n < 5; n++) ids.push((await submitted(taker, { by: watched })).id);
    courier(http());
    courier(http());
    for (const id of ids) await until(async () => (await state(id)) === 'transmitted');
    expect(told.map((one) => one.key).toSorted()).toEqual(ids.map((id) => `travel-rule-${id}`).toSorted());
    for (const stop of stops.splice(0)) await stop();

    const { id } = await submitted(taker, { by: watched });
    // Taken with a lease that is over already, by somebody who never comes back.
    const [taken] = await v.store.takeTravelRule(Date.now(), -1, 1);
    expect(taken?.orderId).toBe(id);
    courier(http());
    await until(async () => (await state(id)) === 'transmitted');
    expect((await v.store.travelRuleHistory(id)).map((one) => one.state)).toEqual(['unknown', 'transmitted']);
    // And should it come back after all, its word does not count.
    expect(
      await v.store.endTravelRule(
        { ...(taken as NonNullable<typeof taken>), state: 'failed', endedAtMs: 1 },
        { dueAtMs: 1 },
      ),
    ).toBe(false);
  });

  test('the file provider: one JSON line each, readable by its owner only', async () => {
    const { id } = await submitted(await fundedTaker(), { by: watched });
    const path = join(folder, 'travel.jsonl');
    courier(createFileTransmitter({ path }));
    await until(async () => (await state(id)) === 'transmitted');
    const lines = (await readFile(path, 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { idempotencyKey: string; message: { orderId: string } });
    expect(lines).toMatchObject([{ idempotencyKey: `travel-rule-${id}`, message: { orderId: id } }]);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });
});
