/**
 * Traces as a collector receives them from real processes: one of a quote request with the answers of venue
 * and LP, one of its order with the steps of worker and LP; and a collector that takes nothing stops nothing.
 */

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../../faults/support/world.ts';
import { PROGRAM } from '../../support/build.ts';
import type { TestChain } from '../../support/devnet.ts';

interface Span {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: number } }[];
  status: { code?: number };
}
interface Batch {
  resourceSpans: {
    resource: { attributes: Span['attributes'] };
    scopeSpans: { spans: Omit<Span, 'service'>[] }[];
  }[];
}

let world: World;
let taking = true;
let refused = 0;
const spans: Span[] = [];
/** Takes OTLP over HTTP as a collector does. */
const collector = createServer(async (request, response) => {
  const body = await text(request);
  if (!taking || request.url !== '/v1/traces') {
    refused += 1;
    return void response.writeHead(request.url === '/v1/traces' ? 503 : 404).end();
  }
  for (const { resource, scopeSpans } of (JSON.parse(body) as Batch).resourceSpans) {
    const service = attribute(resource, 'service.name') as string;
    for (const { spans: some } of scopeSpans) spans.push(...some.map((span) => ({ ...span, service })));
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
});

const attribute = ({ attributes }: Pick<Span, 'attributes'>, name: string) => {
  const value = attributes.find(({ key }) => key === name)?.value;
  return value?.stringValue ?? value?.intValue;
};
const traceOf = (root: Span | undefined) => spans.filter(({ traceId }) => traceId === root?.traceId);
const told = (trace: readonly Span[]) => trace.map(({ service, name }) => `${service}: ${name}`);
const nanos = ({ startTimeUnixNano, endTimeUnixNano }: Span) =>
  [BigInt(startTimeUnixNano), BigInt(endTimeUnixNano)] as const;

beforeAll(async () => {
  await new Promise<void>((done) => collector.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(collector.address() as AddressInfo).port}/v1/traces`;
  world = await startWorld({
    chainIds: [41_541, 41_542],
    program: PROGRAM,
    configure: (_, config) =>
      config['app'] === 'venue' || config['app'] === 'lp' ? { ...config, tracing: { url } } : config,
  });
  await world.startAll();
}, 180_000);
afterAll(async () => {
  await world?.stop();
  collector.closeAllConnections();
  collector.close();
});

let trades = 0;
async function trade(): Promise<string> {
  const [from, to] = world.devnet.chains as [TestChain, TestChain];
  const client = await world.client();
  const orderId = await client.insist(await client.prepare({ from, to }), `across ${++trades}`);
  expect(await client.ended(orderId ?? '')).toMatchObject({ status: 'settled' });
  return orderId as string;
}

test('a request and its order, from the ask to the settlement', { timeout: 180_000 }, async () => {
  const orderId = await trade();
  const root = () =>
    spans.find((span) => span.name === 'order' && attribute(span, 'firmquote.order_id') === orderId);
  const orderTrace = () => told(traceOf(root()));
  const steps = ['opened', 'filled', 'attested', 'finalised'];
  await expect
    .poll(orderTrace, { timeout: 30_000, interval: 200 })
    .toEqual(
      expect.arrayContaining([
        'firmquote-lp: LP sends fill',
        'firmquote-lp: LP sends proof',
        ...steps.map((step) => `firmquote-venue: order ${step}`),
      ]),
    );
  const order = root() as Span;
  for (const span of traceOf(order)) if (span !== order) expect(span.parentSpanId).toBe(order.spanId);
  const [start, end] = nanos(order);
  for (const span of traceOf(order).filter(({ service }) => service === 'firmquote-venue')) {
    const [from, to] = nanos(span);
    expect(from >= start && to >= from && to <= end, span.name).toBe(true);
  }

  const answer = spans.find(
    (span) =>
      span.name === 'LP answers' &&
      attribute(span, 'firmquote.quote_id') === attribute(order, 'firmquote.quote_id'),
  );
  const request = traceOf(answer);
  expect(told(request).sort()).toEqual([
    'firmquote-lp: LP answers',
    'firmquote-venue: ask solver',
    'firmquote-venue: quote request',
  ]);
  const asked = request.find(({ name }) => name === 'quote request');
  for (const span of request) if (span !== asked) expect(span.parentSpanId).toBe(asked?.spanId);
  expect(attribute(asked as Span, 'firmquote.result')).toBe('quoted');
});

test(
  'a collector that takes nothing stops no trade, and is named in the log',
  { timeout: 180_000 },
  async () => {
    taking = false;
    await trade();
    await expect.poll(() => refused, { timeout: 30_000 }).toBeGreaterThan(0);
    await world.venue().says('the trace collector takes no spans');
    taking = true;
    const before = spans.length;
    await trade();
    await expect.poll(() => spans.length, { timeout: 30_000 }).toBeGreaterThan(before);
    await world.venue().says('the trace collector takes spans again');
  },
);
