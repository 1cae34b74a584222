/**
 * docs/venue/workspaces.md, every command of the page in its order, by hand and over HTTP; then what
 * administrators may not do, and the record of what they did.
 */

import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writeSecretFile } from '../../src/adapters/keystore/file.ts';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { connectDatabase, type Database } from '../../src/adapters/postgres/pool.ts';
import { commandHere, type Ended, type Running, startFirmquote } from '../support/command.ts';
import { type Devnet, startDevnet } from '../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { silentLog } from '../support/silent.ts';
import type { Json } from '../support/venue.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);
const ADMIN_KEY = 'ab'.repeat(32);

let folder: string;
let devnet: Devnet;
let postgres: TestPostgres;
let db: Database;
let config: string;
let venue: Running;
let adminUrl: string;
let venueUrl: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-workspaces-'));
  // The database user of a root run has to get in.
  await chmod(folder, 0o755);
  [devnet, postgres] = await Promise.all([startDevnet([31_431]), startTestPostgres()]);
  const url = await postgres.server.database('venue');
  db = connectDatabase({ url, schema: 'venue', log: silentLog });
  const [httpPort, adminPort] = [await freePort(), await freePort()];
  [venueUrl, adminUrl] = [`http://127.0.0.1:${httpPort}`, `http://127.0.0.1:${adminPort}`];
  await writeSecretFile(join(folder, 'secrets', 'admin'), ADMIN_KEY);
  config = join(folder, 'venue.json');
  const [one] = devnet.chains;
  const { id, slug, escrow, oracle, permit2, tokens } = one?.chain ?? ({} as never);
  const secret = { env: 'SECRET' };
  await writeFile(
    config,
    JSON.stringify({
      app: 'venue',
      venueId: 'test',
      http: { port: httpPort },
      ops: { port: 0 },
      admin: {
        port: adminPort,
        keys: [{ id: 'ops', secret: { file: join(folder, 'secrets', 'admin') } }],
        requestsPerSecond: 500,
      },
      database: { url },
      keys: { relayer: { env: 'RELAYER', development: true }, seals: [{ id: 'k1', secret }] },
      chains: [{ id, slug, sandbox: true, escrow, oracle, permit2, tokens, rpcUrls: [one?.anvil.url] }],
      workspaces: [{ id: 'main', name: 'Main workspace' }],
    }),
  );
  venue = startFirmquote(['venue', '--role', 'api', '-c', config], {
    SECRET: 'cd'.repeat(32),
    RELAYER: `0x${'11'.repeat(32)}`,
  });
  await venue.says('admin API is open');
}, 120_000);

afterAll(async () => {
  await venue?.stop();
  await db?.close();
  await Promise.all([devnet?.stop(), postgres?.stop()]);
  await rm(folder, { recursive: true, force: true });
});

/** One line as a shell would cut it. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
const firmquote = (line: string): Promise<Ended> =>
  commandHere(
    ...wordsOf(line.replace(/^firmquote /, '')).map((word) => (word === 'venue.json' ? config : word)),
  );

async function api(
  method: string,
  path: string,
  body?: unknown,
  key: string | null = ADMIN_KEY,
): Promise<{ status: number; headers: Headers; json: Json; text: string }> {
  const response = await fetch(adminUrl + path, {
    method,
    headers: {
      ...(key === null ? {} : { 'X-API-Key': key }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: JSON.parse(text) as Json, text };
}
const refusal = ({ status, json }: { status: number; json: Json }): unknown[] => [
  status,
  json['detail']?.[0]?.['msg'] ?? json['error']?.['message'],
];

/** What each command of the page prints. */
const PRINTS: readonly [string, RegExp][] = [
  [
    'solver add alpha',
    /alpha +Alpha Trading +lp +all +enabled +never[\s\S]*keys issue --kind solver --solver alpha/,
  ],
  ['workspace add acme', /acme +Acme Treasury +5 +alpha +default +default +none/],
  ['member add acme --id jane', /jane +Jane Doe +jane@acme\.example +owner +verified/],
  ['keys issue --kind service', /^fq_test_[A-Za-z0-9_-]{43}\n$/],
  ['keys issue --kind workspace', /^fq_test_[A-Za-z0-9_-]{43}\n$/],
  ['keys issue --kind solver', /^fq_test_[A-Za-z0-9_-]{43}\n$/],
  [
    'keys list',
    /fq_test_.{8}… +service +acme +- +jane .* live +order desk\n.*workspace +acme +owner +jane .* live\n$/,
  ],
  ['workspace set acme', /acme +Acme Treasury +3 +alpha +500 +default +1000/],
  ['member add acme --id joe', /joe +Joe Bloggs .* admin +none/],
  ['member set acme joe', /joe +Joe Bloggs .* viewer +pending/],
  ['workspace show acme', /acme [\s\S]*jane [\s\S]*joe [\s\S]*2 live keys/],
  ['workspace list', /acme [\s\S]*main +Main workspace +0 +all/],
  ['member remove acme joe', /joe is no longer a member of acme; their keys are revoked everywhere/],
  ['member list acme --removed', /joe .* viewer +pending +\S+Z +\S+Z\n$/],
  ['solver set alpha', /alpha .* disabled/],
  ['solver list', /alpha .* disabled/],
  [
    'workspace audit acme',
    /cli:\S+ +member\.remove +acme +joe +removedAt: null -> "[\s\S]*workspace\.set +acme +acme +limits: .*, platformFeeBps: 5 -> 3, travelRule[\s\S]*workspace\.add +acme +acme +eligibleSolvers=\["alpha"\], limits=.*, name="Acme Treasury", platformFeeBps=5\n/,
  ],
  ['curl -s -H', /^\{"id":"acme","name":"Acme Treasury","platformFeeBps":3,/],
  ['curl -s -X PATCH', /"platformFeeBps":4,/],
  [
    'curl -s -H',
    /"who":"admin:ops","what":"workspace\.set".*"before":\{.*"platformFeeBps":3,.*"after":\{.*"platformFeeBps":4,/,
  ],
];

test('every command of the page works in order', async () => {
  const page = await readFile(join(ROOT, 'docs', 'venue', 'workspaces.md'), 'utf8');
  const lines = [...page.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
    block.trim().split('\n'),
  );
  expect(lines).toEqual(PRINTS.map(([command]) => expect.stringContaining(command)));
  for (const [index, line] of lines.entries()) {
    const prints = PRINTS[index]?.[1] ?? /^$/;
    if (line.startsWith('curl')) {
      const { stdout } = await run('bash', ['-c', line.replace('http://127.0.0.1:9101', adminUrl)], {
        cwd: folder,
      });
      expect(stdout, line).toMatch(prints);
      continue;
    }
    const { status, stdout, stderr } = await firmquote(line);
    expect([line, status, status === 0 ? '' : stderr]).toEqual([line, 0, '']);
    expect(stdout, line).toMatch(prints);
  }
});

describe('refusals', () => {
  test('the last owner cannot leave or be demoted, and two owners cannot leave concurrently', async () => {
    const person = (n: number, role: string) => ({
      userId: `p${n}`,
      firstName: 'P',
      lastName: `N${n}`,
      email: `p${n}@pair.example`,
      role,
    });
    await api('POST', '/admin/v1/workspaces', { id: 'pair', name: 'Pair' });
    for (const n of [1, 2])
      expect((await api('POST', '/admin/v1/workspaces/pair/members', person(n, 'owner'))).status).toBe(200);
    const both = await Promise.all(
      [1, 2].map((n) => api('DELETE', `/admin/v1/workspaces/pair/members/p${n}`)),
    );
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    const [left] = (
      (await api('GET', '/admin/v1/workspaces/pair/members')).json['members'] as unknown as Json[]
    ).map(({ userId }) => userId as unknown as string);
    for (const answer of [
      await api('DELETE', `/admin/v1/workspaces/pair/members/${left}`),
      await api('PATCH', `/admin/v1/workspaces/pair/members/${left}`, { role: 'admin' }),
    ])
      expect(refusal(answer)).toEqual([
        409,
        'This is the last owner of the workspace. Make another member an owner first.',
      ]);
    expect((await firmquote(`firmquote member remove pair ${left} -c venue.json`)).stderr).toContain(
      'This is the last owner',
    );
  });

  test('keys: no more rights than the member, none after the member leaves, fewer after a demotion', async () => {
    await api('POST', '/admin/v1/workspaces', { id: 'keys', name: 'Keys' });
    for (const [userId, role] of [
      ['boss', 'owner'],
      ['mem', 'member'],
      ['adm', 'admin'],
    ])
      await api('POST', '/admin/v1/workspaces/keys/members', {
        userId,
        firstName: 'A',
        lastName: 'B',
        email: `${userId}@keys.example`,
        role,
      });
    const issue = (more: object) =>
      api('POST', '/admin/v1/keys', { kind: 'workspace', workspaceId: 'keys', ...more });
    expect(refusal(await issue({ memberId: 'mem', role: 'admin' }))).toEqual([
      422,
      'This member is member: a key of theirs cannot be admin.',
    ]);
    expect((await issue({ memberId: 'mem', role: 'viewer' })).json['key']).toMatchObject({
      role: 'viewer',
      memberId: 'mem',
      mode: 'test',
    });
    expect((await issue({})).json['key']).toMatchObject({ role: 'viewer', memberId: null });
    const admin = await issue({ memberId: 'adm' });
    expect(admin.headers.get('cache-control')).toBe('no-store');
    expect(admin.json['key']).toMatchObject({ role: 'admin' });
    await api('PATCH', '/admin/v1/workspaces/keys/members/adm', { role: 'member' });
    const keys = (await api('GET', '/admin/v1/keys?workspace=keys&live=true')).json[
      'keys'
    ] as unknown as Json[];
    expect(keys.find(({ id }) => (id as unknown) === admin.json['key']?.['id'])).toMatchObject({
      role: 'member',
    });
    await api('DELETE', '/admin/v1/workspaces/keys/members/adm');
    expect(refusal(await issue({ memberId: 'adm' }))).toEqual([404, 'There is no member "adm".']);
    expect(refusal(await api('DELETE', `/admin/v1/keys/${admin.json['key']?.['id']}`))).toEqual([
      404,
      expect.stringMatching(/^There is no live key "key_/),
    ]);
    expect(refusal(await issue({ workspaceId: 'nobody' }))).toEqual([404, 'There is no workspace "nobody".']);
    for (const [bad, field] of [
      [{ kind: 'service', role: 'admin' }, 'role'],
      [{ kind: 'solver', workspaceId: 'keys' }, 'solverId'],
      [{ solverId: 'alpha' }, 'solverId'],
      [{ kind: 'solver', solverId: 'alpha', memberId: 'boss', workspaceId: undefined }, 'memberId'],
    ] as const) {
      const answer = await issue(bad);
      expect([answer.status, answer.json['detail']?.[0]?.['loc']]).toEqual([422, ['body', field]]);
    }
    // The venue itself takes the key at once, and no more once it is revoked.
    const service = await api('POST', '/admin/v1/keys', { kind: 'service', workspaceId: 'keys' });
    const pairs = async () =>
      (
        await fetch(`${venueUrl}/api/v1/rfq/pairs`, {
          headers: { 'X-API-Key': service.json['text'] as unknown as string },
        })
      ).status;
    expect(await pairs()).toBe(200);
    await api('DELETE', `/admin/v1/keys/${service.json['key']?.['id']}`);
    while ((await pairs()) !== 401) await new Promise((done) => setTimeout(done, 5));
  });

  test.each([
    ['POST', '/workspaces', { id: 'acme2', name: 'A', platformFeeBps: 101 }, 422, 'at most 100 basis points'],
    [
      'POST',
      '/workspaces',
      { id: 'acme2', name: 'A', eligibleSolvers: ['ghost'] },
      422,
      'No solver "ghost" is onboarded',
    ],
    ['POST', '/workspaces', { id: 'a b', name: 'A' }, 422, 'must be 1 to 64 letters'],
    ['POST', '/workspaces', { id: 'acme2', name: 'A\u202e' }, 422, 'without control characters'],
    ['POST', '/workspaces', { id: 'acme2', name: 'A', surprise: 1 }, 422, 'Extra inputs are not permitted'],
    ['POST', '/workspaces', { id: 'acme', name: 'A' }, 409, 'There is a workspace "acme" already.'],
    ['PATCH', '/workspaces/nobody', { name: 'A' }, 404, 'There is no workspace "nobody".'],
    ['PATCH', '/workspaces/acme', { limits: { openQuotes: 0 } }, 422, 'at least 1'],
    [
      'POST',
      '/workspaces/acme/members',
      { userId: 'joe', firstName: 'J', lastName: 'B', email: 'new@acme.example', role: 'viewer' },
      409,
      'is or was a member',
    ],
    [
      'POST',
      '/workspaces/acme/members',
      { firstName: 'J', lastName: 'B', email: 'JANE@acme.example', role: 'viewer' },
      409,
      'has this address',
    ],
    [
      'POST',
      '/workspaces/acme/members',
      { firstName: 'J', lastName: 'B', email: 'no address', role: 'viewer' },
      422,
      'must be an email address, such as jane@example.com',
    ],
    ['PATCH', '/workspaces/acme/members/joe', { role: 'owner' }, 404, 'There is no member "joe".'],
    ['POST', '/solvers', { id: 'alpha', name: 'A' }, 409, 'There is a solver "alpha" already.'],
    ['PATCH', '/solvers/ghost', { disabled: true }, 404, 'There is no solver "ghost".'],
    ['GET', '/audit?limit=abc', undefined, 422, 'whole number'],
  ])('%s %s %j is %i', async (method, path, body, status, message) => {
    const before = (await api('GET', '/admin/v1/audit?limit=1')).text;
    expect(refusal(await api(method, `/admin/v1${path}`, body))).toEqual([
      status,
      expect.stringContaining(message),
    ]);
    expect((await api('GET', '/admin/v1/audit?limit=1')).text).toBe(before);
  });
});

describe('the admin API', () => {
  test('accepts an admin key only, and no API key', async () => {
    const issued = await api('POST', '/admin/v1/keys', {
      kind: 'workspace',
      workspaceId: 'main',
      role: 'owner',
    });
    const answers = [];
    for (const key of [
      null,
      '',
      ADMIN_KEY.slice(0, -1),
      `${ADMIN_KEY}0`,
      issued.json['text'] as unknown as string,
    ])
      answers.push(await api('GET', '/admin/v1/workspaces', undefined, key));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`))).toEqual(
      new Set([
        '401 {"error":{"code":"unauthorized","message":"This needs a valid admin key in the X-API-Key header."}}',
      ]),
    );
    // And the public port knows neither the key nor the paths.
    expect(
      (await fetch(`${venueUrl}/api/v1/rfq/pairs`, { headers: { 'X-API-Key': ADMIN_KEY } })).status,
    ).toBe(401);
    expect(
      (await fetch(`${venueUrl}/admin/v1/workspaces`, { headers: { 'X-API-Key': ADMIN_KEY } })).status,
    ).toBe(404);
  });

  test('describes itself, and every described route accepts its key', async () => {
    const document = (await (await fetch(`${adminUrl}/openapi.json`)).json()) as {
      info: { title: string; description: string };
      paths: Record<string, Record<string, unknown>>;
    };
    expect(document.info.title).toBe('firmquote venue administration');
    const tooLarge = await fetch(`${adminUrl}/admin/v1/workspaces`, {
      method: 'POST',
      headers: { 'X-API-Key': ADMIN_KEY, 'Content-Type': 'application/json' },
      body: `"${'x'.repeat(64 * 1024)}"`,
    });
    expect([tooLarge.status, await tooLarge.json()]).toMatchObject([
      413,
      { error: { message: 'The body exceeds 64 KB.' } },
    ]);
    expect(document.info.description).toContain('| 413 | body_too_large | The body exceeds 64 KB. |');
    expect(
      Object.entries(document.paths)
        .flatMap(([path, methods]) => Object.keys(methods).map((method) => `${method} ${path}`))
        .sort(),
    ).toEqual([
      'delete /admin/v1/keys/{key}',
      'delete /admin/v1/workspaces/{workspace}/members/{member}',
      'get /admin/v1/audit',
      'get /admin/v1/chains',
      'get /admin/v1/keys',
      'get /admin/v1/limits',
      'get /admin/v1/orders',
      'get /admin/v1/queues',
      'get /admin/v1/roster',
      'get /admin/v1/solvers',
      'get /admin/v1/workspaces',
      'get /admin/v1/workspaces/{workspace}',
      'get /admin/v1/workspaces/{workspace}/members',
      'patch /admin/v1/solvers/{solver}',
      'patch /admin/v1/workspaces/{workspace}',
      'patch /admin/v1/workspaces/{workspace}/members/{member}',
      'post /admin/v1/keys',
      'post /admin/v1/solvers',
      'post /admin/v1/workspaces',
      'post /admin/v1/workspaces/{workspace}/members',
    ]);
    for (const [path, methods] of Object.entries(document.paths)) {
      for (const method of Object.keys(methods))
        expect([
          path,
          method,
          (
            await api(
              method.toUpperCase(),
              path.replace(/\{\w+\}/g, 'x'),
              method === 'post' || method === 'patch' ? {} : undefined,
              'wrong',
            )
          ).status,
        ]).toEqual([path, method, 401]);
    }
  });

  test('the audit log keeps every row unchanged', async () => {
    for (const statement of [
      "update admin_audit set who = 'nobody'",
      'delete from admin_audit',
      'truncate admin_audit',
    ])
      await expect(db.query(statement)).rejects.toThrow();
    const { changes } = (await api('GET', '/admin/v1/audit?limit=1000')).json as unknown as {
      changes: { what: string; before: object | null; after: object | null }[];
    };
    expect(new Set(changes.map(({ what }) => what))).toEqual(
      new Set([
        'workspace.add',
        'workspace.set',
        'member.add',
        'member.set',
        'member.remove',
        'key.issue',
        'key.lower',
        'key.revoke',
        'solver.add',
        'solver.set',
      ]),
    );
    const { keys } = (await api('GET', '/admin/v1/keys')).json as unknown as { keys: object[] };
    const hashes = (await db.query<{ sha256: string }>('select sha256 from api_key')).map(
      ({ sha256 }) => sha256,
    );
    expect(keys).toHaveLength(hashes.length);
    for (const hash of hashes) expect(JSON.stringify([changes, keys]).includes(hash)).toBe(false);
    expect(venue.output()).not.toContain(ADMIN_KEY);
  });
});

test('the configuration seeds a database once; later changes by an administrator survive a restart', async () => {
  expect(
    (await firmquote('firmquote workspace set main --name "Another name" --fee-bps 7 -c venue.json')).status,
  ).toBe(0);
  expect((await firmquote('firmquote workspace show main --json -c venue.json')).stdout).toContain(
    '"name":"Another name","platformFeeBps":7',
  );
});
