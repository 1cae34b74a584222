/**
 * The runbooks of an LP and of a venue, followed to the letter while both run: every command in order, every
 * fragment of configuration written into its file, with trades before, during and after.
 */

import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { writeSecretFile } from '../../src/adapters/keystore/file.ts';
import { encryptKey } from '../../src/adapters/keystore/keystore.ts';
import { createAdminStore } from '../../src/adapters/postgres/venue/admin-store.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import type { Address } from '../../src/domain/hex.ts';
import { createAdmin } from '../../src/venue/admin/admin.ts';
import { PROGRAM } from '../support/build.ts';
import { openShell, ROOT, type Shell } from '../support/page.ts';
import { type TestRedis, startRedis } from '../support/redis.ts';
import { createClient, type Client, patiently } from './support/client.ts';
import { steadyPort } from './support/process.ts';
import { type Config, startWorld, type World, type WorldLp } from './support/world.ts';

const PASSWORD = 'a password for tests';

let folder: string;
let w: World;
let lp: WorldLp;
let client: Client;
let shell: Shell;
let redis: TestRedis;
let admin: ReturnType<typeof createAdmin>;
let firstKey: Awaited<ReturnType<typeof solverKey>>;
let env: NodeJS.ProcessEnv = {};
let orders = 0;

/** The files that the reader edits decide what a part starts with. */
const FILES: Record<string, string> = { alpha: 'my-lp/lp.json', venue: 'venue/venue.json' };
const at = (path: string) => join(folder, path);
const absolute = (text: string) => text.replaceAll(/"(?=(?:my-lp|venue)\/)/g, `"${folder}/`);
const read = (path: string) => JSON.parse(readFileSync(at(path), 'utf8')) as Config;
const write = (path: string, config: unknown) =>
  writeFileSync(at(path), `${JSON.stringify(config, null, 2)}\n`);

function asOnDisk(part: string, config: Config): Config {
  const path = FILES[part];
  if (path === undefined) return config;
  if (!existsSync(at(path))) write(path, merged(config, part === 'alpha' ? LP_FILES : VENUE_FILES));
  return JSON.parse(absolute(readFileSync(at(path), 'utf8'))) as Config;
}

const keystore = (file: string, passwordFile: string) => ({
  env: undefined,
  development: undefined,
  keystore: file,
  passwordFile,
});
/** As `lp init` writes it. With the default times, each restart on another database would take 251 s. */
const LP_FILES = {
  admin: { tokenFile: 'my-lp/data/admin.token' },
  database: { url: null, embeddedDir: 'my-lp/data', name: 'lp' },
  keys: { operator: keystore('my-lp/secrets/operator.json', 'my-lp/secrets/operator-password') },
  venues: [{ apiKey: { env: undefined, file: 'my-lp/secrets/venue-key' } }],
  lp: { quoting: { maxValiditySeconds: 10, maxLandingMarginSeconds: 8 } },
};
const VENUE_FILES = {
  admin: { port: 0, keys: [{ id: 'ops', secret: { file: 'venue/admin' } }] },
  keys: { relayer: keystore('venue/relayer.json', 'venue/relayer-password') },
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmquote-runbooks-'));
  // The database user must reach its files.
  await chmod(folder, 0o755);
  mkdirSync(at('my-lp/secrets'), { recursive: true });
  mkdirSync(at('venue'));
  VENUE_FILES.admin.port = await steadyPort();
  [w, redis] = await Promise.all([
    startWorld({ chainIds: [31_661], validitySeconds: 10, configure: asOnDisk }),
    startRedis(),
  ]);
  lp = w.lps[0] as WorldLp;
  admin = createAdmin({
    store: createAdminStore(w.database),
    venue: w.store,
    clock: systemClock,
    random: systemRandom,
    feeCaps: async () => [],
  });
  firstKey = await solverKey();
  const cheap = { n: 1 << 10 };
  for (const [name, text] of [
    ['my-lp/secrets/operator.json', await encryptKey(lp.operator, PASSWORD, cheap)],
    ['my-lp/secrets/operator-password', PASSWORD],
    ['owner.json', await encryptKey(lp.owner, PASSWORD, cheap)],
    ['owner-password', PASSWORD],
    ['venue/relayer.json', await encryptKey(w.relayer, PASSWORD, cheap)],
    ['venue/relayer-password', PASSWORD],
    ['venue/admin', 'ab'.repeat(32)],
    ['my-lp/secrets/venue-key', firstKey.text],
  ] as const)
    await writeSecretFile(at(name), text);
  shell = openShell(folder);
  await shell.run(`firmquote() { "${process.execPath}" "${PROGRAM}" "$@"; }`);
  await w.startAll();
  client = await w.client();
}, 600_000);
afterAll(async () => {
  shell?.end();
  await w?.stop();
  await redis?.stop();
  await rm(folder, { recursive: true, force: true });
});

const solverKey = () =>
  admin.keys.issue('test', { kind: 'solver', mode: 'test', solverId: 'alpha', label: 'runbooks' });
const accept = async (): Promise<string> => {
  const id = await client.insist(await client.prepare(), `runbook-${orders++}`);
  if (id === undefined) throw new Error('The venue refused an order.');
  return id;
};
async function trade(): Promise<void> {
  expect((await client.ended(await accept())).status).toBe('settled');
}

/** Puts a fragment of the page into the file, item by item in lists. */
function merged(into: unknown, part: unknown): unknown {
  if (typeof part !== 'object' || part === null) return part;
  if (Array.isArray(part)) {
    const list = Array.isArray(into) ? [...(into as unknown[])] : [];
    for (const [index, item] of part.entries()) list[index] = merged(list[index], item);
    return list;
  }
  const object: Config = Array.isArray(into) ? {} : { ...(into as Config | undefined) };
  for (const [key, value] of Object.entries(part)) object[key] = merged(object[key], value);
  return object;
}

interface Step {
  language: string;
  text: string;
}

/** The fenced blocks of a page, also those inside numbered steps, in order. */
function stepsOf(page: string): Step[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indent = '', language = '', block = '']) => ({
      language,
      text: block.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}

type Before = Record<string, () => Promise<unknown>>;

/**
 * Types the page. `prints` has what each command must print, in order; `before`: what happens meanwhile, by a
 * word of the command.
 */
async function follow(page: string, prints: readonly [string, RegExp][], before: Before = {}): Promise<void> {
  const expected = [...prints];
  const isVenue = page.startsWith('docs/venue/');
  const [path, part] = isVenue ? ['venue/venue.json', w.venue()] : ['my-lp/lp.json', lp.part];
  for (const { language, text } of stepsOf(page)) {
    for (const [word, act] of Object.entries(before)) if (text.includes(word)) await act();
    if (language === 'json') {
      write(path, merged(read(path), JSON.parse(text)));
      continue;
    }
    if (text.startsWith('systemctl')) {
      const [, verb] = text.split(' ');
      if (verb !== 'start' && part.running()) expect(await part.stop()).toBe(0);
      if (verb !== 'stop') await part.start(isVenue ? {} : env, isVenue ? 'ready' : 'alive');
      continue;
    }
    const [word, output] = expected.shift() ?? ['nothing more', /^$/];
    expect(text).toContain(word);
    let done = await shell.run(text);
    // The reader repeats what only looks until it shows that.
    if (LOOKS.has(word))
      await patiently(
        async () => output.test(done.output) || void (done = await shell.run(text)),
        () => `${page}: ${word} says ${done.output}`,
      );
    expect([text, done.status, done.output]).toEqual([text, 0, expect.stringMatching(output)]);
  }
  expect(expected).toEqual([]);
}

const LOOKS: ReadonlySet<string> = new Set(['lp status', 'lp journal', 'lp awards', 'curl']);
const JOURNAL: [string, RegExp] = ['lp journal', /balances of the accounting ledger agree/];
const QUOTING: [string, RegExp] = ['lp status', /^Quoting\. /m];
const newDatabase = async (name: string) => {
  env = { ...env, LP_DATABASE_URL: await w.postgres.database(name) };
  await shell.run(`export LP_DATABASE_URL='${env['LP_DATABASE_URL']}'`);
};

test('docs/lp/rotate-keys.md', { timeout: 400_000 }, async () => {
  await trade();
  let open = '';
  await shell.run(`NEW_VENUE_KEY='${(await solverKey()).text}'`);
  await follow(
    'docs/lp/rotate-keys.md',
    [
      ['keystore new', /^0x[0-9a-f]{40}\n$/],
      ['operator set', /may now sign quotes and fills/],
      ['config check', /is a valid configuration of lp/],
      QUOTING,
      ['lp awards', / finalised /],
      ['operator revoke', /may no longer sign/],
      JOURNAL,
      ['umask', /^$/],
      QUOTING,
      ['rm my-lp', /^$/],
      QUOTING,
    ],
    {
      'operator set': async () => {
        const { output } = await shell.run('firmquote keystore address my-lp/secrets/operator-2.json');
        await w.devnet.chains[0]?.fund(output.trim() as Address, 0n);
      },
      'config check': async () => (open = await accept()),
      // The order of the old key ends before that key loses its rights.
      'lp awards': async () => expect((await client.ended(open)).status).toBe('settled'),
      'operator revoke': trade,
      // The venue revokes the first key when the second one is in use.
      'rm my-lp': async () => {
        await admin.keys.revoke('test', firstKey.key.id);
        await trade();
      },
    },
  );
  await trade();
});

test('docs/lp/move-database.md', { timeout: 400_000 }, async () => {
  await trade();
  await newDatabase('lp_moved');
  env = { ...env, REDIS_URL: redis.url };
  await follow(
    'docs/lp/move-database.md',
    [
      ['firmquote backup', /rows of "lp" were written to lp-move\.backup/],
      ['firmquote restore', /rows of "lp" were restored[\s\S]*signs nothing for \d+ s/],
      QUOTING,
      JOURNAL,
      QUOTING,
    ],
    { 'lp journal': trade },
  );
  await trade();
});

test('docs/lp/restore.md', { timeout: 400_000 }, async () => {
  // One process again.
  const { replicas: _, ...alone } = read('my-lp/lp.json');
  write('my-lp/lp.json', alone);
  expect(await lp.part.stop()).toBe(0);
  await lp.part.start(env);
  await w.quoting();
  await follow(
    'docs/lp/restore.md',
    [
      ['firmquote backup', /rows of "lp" were written to lp\.backup/],
      ['firmquote restore', /rows of "lp" were restored[\s\S]*signs nothing for \d+ s/],
      QUOTING,
      JOURNAL,
    ],
    {
      // Trades that the backup does not have; then its database is gone.
      'systemctl stop': async () => {
        await trade();
        await lp.part.kill();
        await newDatabase('lp_restored');
      },
    },
  );
  await trade();
});

test('docs/venue/rotate-keys.md', { timeout: 400_000 }, async () => {
  const issue = (label: string) =>
    admin.keys.issue('test', { kind: 'service', mode: 'test', workspaceId: 'w1', label });
  const { text } = await issue('old');
  const { wallet } = client;
  const { log, devnet } = w;
  const old = createClient({ wallet, venueUrl: w.venueUrl(), apiKey: text, chains: devnet.chains, log });
  const early = await old.insist(await old.prepare(), 'before');
  const ops = w.venue().opsUrl;
  await shell.run(`OPS=${ops} ADMIN=http://127.0.0.1:${VENUE_FILES.admin.port}`);
  let open = '';
  const READY: [string, RegExp] = ['curl', /"reasons":\[\]/];
  await follow(
    'docs/venue/rotate-keys.md',
    [
      ['keys issue', /fq_test_/],
      ['keys revoke', /is revoked/],
      ['--kind solver', /fq_test_/],
      ['keystore new', /^0x[0-9a-f]{40}\n$/],
      ['curl', /healthy.* 1\n[\s\S]*healthy.* 1\n/],
      ['curl', / 0\n[\s\S]* 0\n/],
      READY,
      ['openssl', /^$/],
      ['curl', /^200\n$/],
    ],
    {
      '--kind solver': async () => {
        await expect
          .poll(async () => (await old.taker.call('GET', `/api/v1/rfq/orders/${early}`)).status)
          .toBe(401);
        // The order of the revoked key is the workspace's.
        expect((await client.ended(early ?? '')).status).toBe('settled');
      },
      '"relayer": [': async () => {
        const { output } = await shell.run('firmquote keystore address venue/relayer-2.json');
        await w.devnet.chains[0]?.fund(output.trim() as Address, 0n);
        open = await accept();
      },
      firmquote_tx_open_slots: async () => {
        expect((await client.ended(open)).status).toBe('settled');
        await trade();
      },
      '/readyz': trade,
    },
  );
  await w.quoting();
  await trade();
});
