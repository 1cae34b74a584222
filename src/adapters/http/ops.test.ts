import { request } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { RequestError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import { healthRoutes, type OpsRoute, type OpsServer, startOps } from './ops.ts';

const lines: object[] = [];
const log: Log = {
  debug() {},
  info() {},
  warn() {},
  error: (facts) => void lines.push(facts),
  fatal() {},
  child: () => log,
};
let server: OpsServer | undefined;
afterEach(() => server?.close());

async function serve(routes: readonly OpsRoute[], localOnly = false): Promise<string> {
  server = await startOps({ host: '127.0.0.1', port: 0, routes, log, localOnly });
  return server.url;
}

describe('ops', () => {
  test('paths below a prefix are the same paths, and a route knows its caller', async () => {
    const handle: OpsRoute['handle'] = async ({ id, address }) => ({ status: 200, body: { id, address } });
    server = await startOps({
      ...{ host: '127.0.0.1', port: 0, log, prefix: '/v1' },
      routes: [{ method: 'DELETE', path: '/things/:id', handle }],
    });
    for (const path of ['/things/a%20b', '/v1/things/a%20b']) {
      const answer = await fetch(`${server.url}${path}`, { method: 'DELETE' });
      expect(await answer.json()).toEqual({ id: 'a b', address: '127.0.0.1' });
    }
    expect((await fetch(`${server.url}/v1/v1/things/a`, { method: 'DELETE' })).status).toBe(404);
    expect((await fetch(`${server.url}/v1/things/a`)).status).toBe(405);
  });

  test('alive, ready with reasons, metrics', async () => {
    let reasons = ['chain base: no head for 20 s'];
    const url = await serve(
      healthRoutes({
        ready: async () => reasons,
        metrics: { contentType: 'text/plain; version=0.0.4', text: async () => 'x 1\n' },
      }),
    );
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const waiting = await fetch(`${url}/readyz`);
    expect([waiting.status, await waiting.json()]).toEqual([503, { ready: false, reasons }]);
    reasons = [];
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    const metrics = await fetch(`${url}/metrics`);
    expect([metrics.headers.get('content-type'), await metrics.text()]).toEqual([
      'text/plain; version=0.0.4',
      'x 1\n',
    ]);
    for (const method of ['GET', 'HEAD'])
      expect((await fetch(`${url}/metrics`, { method })).headers.get('content-length')).toBe('4');
  });

  test('a key that a route does not read, or reads once, is refused before anything is done', async () => {
    let done = 0;
    const handle: OpsRoute['handle'] = async ({ query }) => ({
      status: 200,
      body: { done: (done += 1), by: query.get('by') },
    });
    const url = await serve([
      { method: 'POST', path: '/stop', handle },
      { method: 'GET', path: '/rows', query: ['by', 'limit'], handle },
      { method: 'GET', path: '/open', query: 'any', handle },
    ]);
    const asked = async (path: string, method = 'GET') => {
      const answer = await fetch(`${url}${path}`, { method });
      return [answer.status, await answer.text()] as const;
    };
    expect(await asked('/rows?since=1h')).toEqual([
      400,
      expect.stringContaining('does not read \\"since\\" in its query: it takes by, limit'),
    ]);
    expect(await asked('/rows?by=a&by=b')).toEqual([400, expect.stringContaining('given twice')]);
    expect(await asked('/stop?pair=WETH-USDC', 'POST')).toEqual([
      400,
      expect.stringContaining('it takes none'),
    ]);
    expect(done).toBe(0);
    expect((await asked('/rows?by=a'))[0]).toBe(200);
    expect((await asked('/open?format=text'))[0]).toBe(200);
    expect((await asked('/stop', 'POST'))[0]).toBe(200);
  });

  test('error: unknown path, wrong method, handler that throws', async () => {
    const url = await serve([
      {
        method: 'POST',
        path: '/pause',
        query: ['note'],
        handle: async ({ query }) => ({ status: 200, body: { note: query.get('note'), big: 1n } }),
      },
      {
        method: 'GET',
        path: '/bad',
        handle: () => Promise.reject(new RequestError('No such thing.', { code: 'bad_request' })),
      },
      { method: 'GET', path: '/bug', handle: () => Promise.reject(new Error('secret detail')) },
    ]);
    expect(await (await fetch(`${url}/pause?note=x`, { method: 'POST' })).json()).toEqual({
      note: 'x',
      big: '1',
    });
    expect((await fetch(`${url}/none`)).status).toBe(404);
    expect((await fetch(`${url}/pause`)).status).toBe(405);
    expect((await fetch(`${url}/bad`)).status).toBe(400);
    const bug = await fetch(`${url}/bug`);
    expect(bug.status).toBe(503);
    expect(await bug.text()).not.toContain('secret detail');
    expect(lines.length).toBe(1);
  });

  test('a path parameter matches any one segment', async () => {
    const url = await serve([
      { method: 'GET', path: '/explain/:id', handle: async ({ id }) => ({ status: 200, body: { id } }) },
    ]);
    expect(await (await fetch(`${url}/explain/0xab%2Fc`)).json()).toEqual({ id: '0xab/c' });
    for (const path of ['/explain', '/explain/', '/explain/a/b', '/explainx/a', '/explain/%zz'])
      expect((await fetch(`${url}${path}`)).status).toBe(404);
  });

  test('the local admin server refuses web pages and foreign host names', async () => {
    const url = await serve(
      [{ method: 'POST', path: '/pause', handle: async () => ({ status: 200, body: {} }) }],
      true,
    );
    expect((await fetch(`${url}/pause`, { method: 'POST' })).status).toBe(200);
    expect(
      (await fetch(`${url}/pause`, { method: 'POST', headers: { origin: 'https://evil.example' } })).status,
    ).toBe(403);
    // fetch will not let us lie about the host; a rebound name would.
    const status = await new Promise((resolve) =>
      request(`${url}/pause`, { method: 'POST', headers: { host: 'rebound.example' } }, (response) =>
        resolve(response.statusCode),
      ).end(),
    );
    expect(status).toBe(403);
  });

  test('error: port in use', async () => {
    const url = await serve([]);
    await expect(
      startOps({ host: '127.0.0.1', port: Number(new URL(url).port), routes: [], log }),
    ).rejects.toThrow(/cannot be opened \(EADDRINUSE\)/);
  });
});
