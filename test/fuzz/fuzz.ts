/**
 * Thousands of requests against a real venue, none of which may move anything: no 5xx, no hang, no change, no
 * leak, and every answer as the document says.
 */

import { Agent, request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { resolve } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { templated } from '../../src/adapters/http/openapi.ts';
import { createLog } from '../../src/adapters/pino/log.ts';
import type { KeyKind } from '../../src/ports/stores/store.ts';
import { happyRequest, stageOf } from '../support/api-examples.ts';
import { payoutVenue } from '../support/payout-desk.ts';
import { createSchemas } from '../support/openapi-schemas.ts';
import { startTestVenue, type TestVenue } from '../support/venue.ts';
import { arbitraryRequest, type FuzzRequest, type Seeds } from './arbitrary-request.ts';

export interface FuzzReport {
  seed: number;
  requests: number;
  /** Answers by status. */
  statuses: Record<string, number>;
  /** Answers by operation and status. */
  byOperation: Record<string, Record<string, number>>;
  /** What went wrong, a line each, with the request that did it. */
  faults: string[];
}

const AT_ONCE = 16;
/** Far beyond the longest that a venue works on a request; what takes longer hangs. */
const HANGS_MS = 45_000;
/** One in so many requests is raw bytes on a socket. */
const RAW_EVERY = 50;
const MOST_FAULTS = 20;

const ROOT = resolve(import.meta.dirname, '../..');
/** Signs of our insides. */
const LEAKS = [
  /\n\s+at .+:\d+:\d+/,
  /node_modules/,
  /\b(?:select|insert into|update|delete from) .{0,80}\b(?:from|where|values|set)\b/i,
  /\bpg_|SQLSTATE|ECONNREFUSED|EPIPE|TypeError|RangeError|ZodError|undefined is not/,
  /postgres(?:ql)?:\/\//i,
];

export async function fuzz({ runs, seed }: { runs: number; seed: number }): Promise<FuzzReport> {
  const lines: string[] = [];
  const v = await startTestVenue({
    chainIds: [31_499],
    log: createLog({ app: 'fuzz', level: 'debug', destination: { write: (line) => void lines.push(line) } }),
    rates: {
      quotesPerSecond: 1_000_000,
      submitsPerSecond: 1_000_000,
      readsPerSecond: 1_000_000,
      perIpPerSecond: 1_000_000,
      openQuotes: 1_000_000,
      openNotionalUsd: 1e18,
    },
    fanOut: { timeoutMs: 5_000 },
    routeVenues: async () => [payoutVenue()],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const database = new pg.Client({ connectionString: v.databaseUrl });
  try {
    await database.connect();
    return await against(v, { agent, database, lines }, { runs, seed });
  } finally {
    agent.destroy();
    await database.end();
    await v.stop();
  }
}

async function against(
  v: TestVenue,
  { agent, database, lines }: { agent: Agent; database: pg.Client; lines: readonly string[] },
  { runs, seed }: { runs: number; seed: number },
): Promise<FuzzReport> {
  const stage = await stageOf(v);
  const document = await v.http.openapi();
  const schemas = createSchemas(document);
  const happy: Record<string, { path: string; body?: unknown }> = {};
  const kinds: Record<string, KeyKind> = {};
  for (const route of v.venue.routes) {
    const id = `${route.method} ${templated(route.path)}`;
    happy[id] = await happyRequest(stage, route);
    kinds[id] = route.keyKinds[0] as KeyKind;
    // What is right about a submission has been done before: from now on it is a repetition.
    if (route.method !== 'GET')
      await v.call(route.method, route.path, { key: stage.keys[kinds[id]], body: happy[id]?.body });
  }
  const live = await v.key('service', { mode: 'live' });
  const keys = [...Object.values(stage.keys), live, stage.keys.service.slice(0, -1), 'x'.repeat(2_000)];
  const secrets = [
    ...Object.values(stage.keys),
    live,
    Buffer.alloc(32, 7).toString('hex'),
    Buffer.alloc(32, 7).toString('base64'),
    v.chain.anvil.url,
    ROOT,
  ];
  const seeds: Seeds = {
    happy,
    keys,
    rightKey: (id) => stage.keys[kinds[id] ?? 'service'],
    words: wordsOf(happy),
  };

  const before = await stateOf(v, database);
  const report: FuzzReport = { seed, requests: 0, statuses: {}, byOperation: {}, faults: [] };
  const fault = (what: string, request: FuzzRequest | Buffer) => {
    if (report.faults.length < MOST_FAULTS)
      report.faults.push(
        `${what} <- ${Buffer.isBuffer(request) ? JSON.stringify(request.toString('latin1').slice(0, 300)) : told(request)}`,
      );
  };
  const leak = (text: string) =>
    [
      ...secrets
        .filter((secret) => text.includes(secret))
        .map((secret) => `the secret ${secret.slice(0, 12)}…`),
      ...LEAKS.filter((sign) => sign.test(text)).map(String),
    ][0];
  const operations = new Map(
    v.venue.routes.map((route) => [
      `${route.method} ${templated(route.path)}`,
      new RegExp(`^${route.path.replace(/:[a-zA-Z]+/g, '[^/]+')}$`),
    ]),
  );

  function judge(
    request: FuzzRequest,
    { status, body, type }: { status: number; body: string; type: string },
  ): void {
    report.statuses[status] = (report.statuses[status] ?? 0) + 1;
    const mine = (report.byOperation[request.operation] ??= {});
    mine[status] = (mine[status] ?? 0) + 1;
    if (status >= 500 && !(status === 503 && body.includes('"unavailable"')))
      fault(`answered ${status} ${body.slice(0, 200)}`, request);
    const found = leak(body);
    // What a caller sent may be named back to it; what it never sent may not.
    if (found !== undefined && !echoed(request, body))
      fault(`leaked ${found}: ${body.slice(0, 300)}`, request);
    if (request.method === 'HEAD' || status === 204) return;
    const path = request.path.split('?')[0] ?? '';
    const operation = [...operations].find(
      ([id, pattern]) => id.startsWith(`${request.method} `) && pattern.test(path),
    )?.[0];
    const parsed = type.startsWith('application/json') ? read(body) : { value: body };
    if (!parsed) return fault(`answered ${status} with what is no JSON: ${body.slice(0, 200)}`, request);
    const wrong = schemas.answerFault(
      operation ?? request.operation,
      operation === undefined && status === 200 ? 'default' : String(status),
      parsed.value,
    );
    if (wrong !== undefined)
      fault(`answered ${status} outside its schema (${wrong}): ${body.slice(0, 300)}`, request);
  }

  const requests = fc.sample(arbitraryRequest(document, seeds), { seed, numRuns: runs });
  const raws = fc.sample(rawBytes(stage.keys.service), { seed, numRuns: Math.ceil(runs / RAW_EVERY) });
  let next = 0;
  async function worker(): Promise<void> {
    for (let index = next++; index < requests.length && report.faults.length < MOST_FAULTS; index = next++) {
      const request = requests[index] as FuzzRequest;
      report.requests += 1;
      const answer = await send(v.http.port, agent, request);
      if (typeof answer === 'string') fault(answer, request);
      else judge(request, answer);
    }
  }
  /** Half a request holds its socket until the server has had enough of it: all of them wait side by side. */
  async function rawly(raw: Buffer): Promise<void> {
    const said = await sendRaw(v.http.port, raw);
    if (said === undefined) fault('hung on raw bytes', raw);
    else if (said.startsWith('HTTP/1.1 5') || leak(said)) fault(`raw bytes: ${said.slice(0, 200)}`, raw);
  }
  await Promise.all([...raws.map(rawly), ...Array.from({ length: AT_ONCE }, worker)]);

  // Alive, and as it was.
  const quote = await v.call('POST', '/api/v1/rfq/quotes', { key: stage.keys.service, body: stage.quote });
  if (quote.status !== 200 || !(quote.json['quotes'] as unknown as unknown[])[0])
    report.faults.push(`after it all a quote is ${quote.status} ${quote.text.slice(0, 200)}`);
  const after = await stateOf(v, database);
  if (JSON.stringify(after) !== JSON.stringify(before))
    report.faults.push(`the state changed from ${JSON.stringify(before)} to ${JSON.stringify(after)}`);
  for (const line of lines) {
    const found = leakInLog(line, secrets);
    if (found !== undefined && report.faults.length < MOST_FAULTS)
      report.faults.push(`the log ${found}: ${line.slice(0, 400)}`);
  }
  if (
    ({} as Record<string, unknown>)['x'] !== undefined ||
    ({} as Record<string, unknown>)['polluted'] !== undefined
  )
    report.faults.push('Object.prototype was changed');
  return report;
}

/**
 * What a replay under another Idempotency-Key remembers is no change of anything that was decided; nor is how
 * fast solvers have answered. Tickets, webhooks, keys and members are a key's to make.
 */
const MAY_CHANGE: ReadonlySet<string> = new Set([
  'idempotency',
  'solver_answer',
  'ws_ticket',
  'webhook_endpoint',
  'webhook_delivery',
  'webhook_attempt',
  'api_key',
  'api_key_use',
  'member',
  'admin_audit',
]);

/** Rows of every table and who is on the roster. Replaying a submission writes no row either. */
async function stateOf(v: TestVenue, database: pg.Client): Promise<Record<string, unknown>> {
  const { rows: tables } = await database.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'venue' and table_type = 'BASE TABLE' order by 1`,
  );
  const counts: Record<string, unknown> = {};
  for (const { name } of tables)
    if (!MAY_CHANGE.has(name))
      counts[name] = (
        await database.query<{ n: string }>(`select count(*)::text as n from venue.${name}`)
      ).rows[0]?.n;
  return { counts, roster: [...v.venue.roster.entries()].map(({ id, status }) => `${id} ${status}`) };
}

function leakInLog(line: string, secrets: readonly string[]): string | undefined {
  const { level } = JSON.parse(line) as { level: string };
  if (level === 'error' || level === 'fatal') return `holds an ${level}`;
  return secrets.some((secret) => line.includes(secret)) ? 'holds a secret' : undefined;
}

function wordsOf(happy: Seeds['happy']): string[] {
  const words = new Set<string>();
  const collect = (value: unknown): void => {
    if (typeof value === 'string' && value.length <= 300) words.add(value);
    else if (typeof value === 'object' && value !== null)
      for (const part of Object.values(value)) collect(part);
  };
  for (const { path, body } of Object.values(happy)) {
    for (const piece of path.split(/[/?&=]/)) if (piece !== '') words.add(decodeURIComponent(piece));
    collect(body);
  }
  return [...words];
}

function rawBytes(key: string): fc.Arbitrary<Buffer> {
  const head = (rest: string) =>
    `POST /api/v1/rfq/quotes HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n${rest}`;
  return fc.oneof(
    fc.uint8Array({ minLength: 1, maxLength: 600 }).map((bytes) => Buffer.from(bytes)),
    fc
      .constantFrom(
        'GET / HTTP/1.1\r\n\r\n',
        'GET /api/v1/solvers HTTP/9.9\r\nHost: x\r\n\r\n',
        'GET  /x  HTTP/1.1\r\nHost: x\r\n\r\n',
        'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
        'CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n',
        'OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n',
        'GET /api/v1/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n',
        'GET /api/v1/ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n',
        head('Content-Type: application/json\r\nContent-Length: -1\r\n\r\n'),
        head('Content-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}'),
        head(
          'Content-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        ),
        head('Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n'),
        head(
          'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n',
        ),
        head('Content-Type: application/json\r\nContent-Length: 50\r\n\r\n{}'),
        head('X: a\r\n b\r\n\r\n'),
        head('Bad Header: x\r\n\r\n'),
      )
      .map((text) => Buffer.from(text)),
  );
}

type Answered = { status: number; body: string; type: string };

/** The answer, or what went wrong in words. */
function send(
  port: number,
  agent: Agent,
  { method, path, headers, body }: FuzzRequest,
): Promise<Answered | string> {
  return new Promise((done) => {
    const timer = setTimeout(() => {
      request.destroy();
      done('hung');
    }, HANGS_MS);
    const end = (answer: Answered | string) => {
      clearTimeout(timer);
      done(answer);
    };
    const request = httpRequest(
      {
        port,
        host: '127.0.0.1',
        agent,
        method,
        path,
        headers: { ...headers, ...(body && { 'Content-Length': body.length }) },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', () => end('the answer broke off'));
        response.on('end', () =>
          end({
            status: response.statusCode ?? 0,
            body: Buffer.concat(chunks).toString(),
            type: response.headers['content-type'] ?? '',
          }),
        );
      },
    );
    // A body that is refused before it was read may end in a closed socket.
    request.on('error', (error: NodeJS.ErrnoException) =>
      end(
        (body?.length ?? 0) > 100_000 && ['EPIPE', 'ECONNRESET'].includes(error.code ?? '')
          ? {
              status: 413,
              body: '{"error":{"code":"body_too_large","message":""}}',
              type: 'application/json',
            }
          : `no answer: ${error.code ?? error.message}`,
      ),
    );
    request.end(body);
  });
}

/** What was said until the socket closed; undefined: it never did. */
function sendRaw(port: number, bytes: Buffer): Promise<string | undefined> {
  return new Promise((done) => {
    let said = '';
    const socket = connect(port, '127.0.0.1');
    const timer = setTimeout(() => {
      socket.destroy();
      done(undefined);
    }, HANGS_MS);
    socket.on('data', (data) => (said += data.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(timer);
      done(said);
    });
    socket.end(bytes);
  });
}

function read(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Whether the sign in an answer came from the request itself. */
function echoed({ path, body }: FuzzRequest, text: string): boolean {
  const sent = `${decodeURIComponent(path.replace(/%(?![0-9a-fA-F]{2})/g, '%25'))} ${body?.toString() ?? ''}`;
  return LEAKS.every((sign) => {
    const match = sign.exec(text)?.[0];
    return match === undefined || sent.includes(match);
  });
}

const told = ({ method, path, headers, body }: FuzzRequest): string =>
  `${method} ${path.slice(0, 300)} ${JSON.stringify({ ...headers, 'X-API-Key': `${headers['X-API-Key']?.slice(0, 8) ?? ''}…` })} ${body?.toString().slice(0, 1_500) ?? ''}`;
