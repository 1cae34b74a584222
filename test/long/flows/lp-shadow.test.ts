/**
 * An LP in shadow mode beside an LP that trades, at a real venue with a real taker: it prices every request,
 * signs nothing, and reports what it would have won. It has no key, no money and no bond. Types the commands
 * of docs/lp/shadow.md.
 */

import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ShadowRow } from '../../../src/lp/shadow/report.ts';
import { openBrowser } from '../../support/browser.ts';
import { PROGRAM } from '../../support/build.ts';
import { account } from '../../support/devnet.ts';
import { type Client, patiently } from '../../faults/support/client.ts';
import { createPart, type Part, steadyPort } from '../../faults/support/process.ts';
import { commandsOf } from '../../lp-day/support/pages.ts';
import { type Config, startWorld, type World } from '../../faults/support/world.ts';

const run = promisify(execFile);
/** Nobody: it has neither tokens nor a deposit. */
const nobody = account(3_900);

let world: World;
let shadow: Part;
let adminUrl: string;
let consoleUrl: string;
let folder: string;
let file: string;
let client: Client;
/** Of the shadow LP, at its next start. */
let minSpreadBps = 1;
const trades: string[] = [];

const withSpread = (config: Config, bps: number): Config => ({
  ...(config['lp'] as Config),
  pairs: [{ base: 'WETH', quote: 'USDC', params: { minSpreadBps: bps } }],
});

beforeAll(async () => {
  let ofAlpha: Config = {};
  world = await startWorld({
    chainIds: [31_691],
    guests: ['watcher'],
    program: PROGRAM,
    configure: (part, config) => {
      if (part === 'alpha') ofAlpha = config;
      return part === 'alpha' ? { ...config, lp: withSpread(config, 30) } : config;
    },
  });
  const [ops, admin, pages] = [await steadyPort(), await steadyPort(), await steadyPort()];
  consoleUrl = `http://127.0.0.1:${pages}`;
  adminUrl = `http://127.0.0.1:${admin}`;
  const url = await world.postgres.database('lp_watcher');
  folder = await mkdtemp(join(tmpdir(), 'fq-shadow-'));
  file = join(folder, 'lp.json');
  shadow = createPart({
    name: 'watcher',
    opsPort: ops,
    words: ['lp', '--shadow'],
    program: PROGRAM,
    env: { VENUE_KEY: world.solverKey('watcher') },
    async config() {
      const { keys: _, ...config } = ofAlpha;
      const lp = withSpread(config, minSpreadBps);
      await writeFile(
        file,
        JSON.stringify({
          ...config,
          ops: { port: ops },
          admin: {
            ...{ port: admin, tokenFile: null },
            console: { port: pages, tokenFile: join(folder, 'console.token') },
          },
          database: { url, maxConnections: 4 },
          shadow: { inventory: { chain1: { USDC: '50000', WETH: '20' } } },
          lp: {
            ...lp,
            solver: { id: 'watcher', name: 'Watcher' },
            chains: world.devnet.chains.map(({ chain }) => ({
              chainId: chain.id,
              account: nobody.address,
              maxHeadAgeMs: 60_000,
            })),
          },
        }),
      );
      return file;
    },
  });
  await world.startAll();
  await shadow.start({}, 'ready');
  client = await world.client();
  await patiently(async () => (await solver('watcher'))?.status === 'standby' || undefined);
}, 300_000);

afterAll(async () => {
  await shadow?.kill();
  await world?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function solver(id: string) {
  const answer = await fetch(`${world.venueUrl()}/api/v1/solvers`, {
    headers: { 'x-api-key': world.apiKey },
  });
  const { solvers } = (await answer.json()) as {
    solvers: { id: string; status: string; eligibilityNote: string | null; lastQuoteAt?: string }[];
  };
  return solvers.find((each) => each.id === id);
}

async function report(): Promise<ShadowRow> {
  const answer = await fetch(`${adminUrl}/v1/shadow`);
  return ((await answer.json()) as { total: ShadowRow }).total;
}

/** A trade with whoever quotes it, to its end. */
async function trade(): Promise<void> {
  const prepared = await client.prepare({ usdc: 1_000n });
  expect(prepared.candidate.solverId).toBe('alpha');
  const orderId = await client.insist(prepared, `key-${trades.length}`);
  if (orderId === undefined) throw new Error('the order was refused');
  trades.push(orderId);
  expect((await client.ended(orderId)).status).toBe('settled');
}

const isCounted = (wanted: Partial<Record<'accepted', number>>) => async () => {
  const row = await report();
  return row.accepted === wanted.accepted ? row : undefined;
};

test('the roster shows it as standby with the reason, and the LP that trades as active', async () => {
  expect(await solver('watcher')).toMatchObject({
    status: 'standby',
    eligibilityNote: 'shadow: prices requests and signs nothing',
  });
  expect((await solver('alpha'))?.status).toBe('active');
});

test('it prices what another LP trades, and would have won at a better price', async () => {
  const before = await report();
  expect(before.requests).toBe(0);
  await trade();
  const row = await patiently(isCounted({ accepted: 1 }));
  expect(row.requests).toBeGreaterThanOrEqual(1);
  expect(row.all.quotes).toBe(row.requests);
  expect(row.declinesBy).toEqual({});
  expect(row.better.quotes).toBe(1);
  expect(BigInt(row.better.volumeMicros)).toBeGreaterThan(990_000_000n);
  expect(BigInt(row.better.earnedMicros)).toBeGreaterThan(0n);
  expect(row.spreadBps).toBeLessThan(30);
});

test('a request beyond its assumed inventory is declined with the reason', async () => {
  // Alpha has far more.
  expect(await client.quote({ usdc: 90_000n })).toMatchObject({ solverId: 'alpha' });
  const row = await patiently(async () => {
    const now = await report();
    return now.declines > 0 ? now : undefined;
  });
  expect(Object.keys(row.declinesBy)).toEqual(['no_inventory']);
});

test('marks follow the mid after each shadow quote', async () => {
  const row = await patiently(async () => {
    const now = await report();
    return now.all.marked[10] === now.all.quotes ? now : undefined;
  });
  // The price is fixed.
  expect(BigInt(row.all.markMicros[10])).toBe(0n);
});

test('it signed nothing and sent nothing, and no venue counts anything against it', async () => {
  const [chain] = world.devnet.chains;
  if (chain === undefined) throw new Error('no chain');
  expect(await chain.port.transactionCount(nobody.address, 'pending')).toBe(0);
  for (const { address } of [chain.usdc, chain.weth])
    expect(await chain.port.ledgerBalance(nobody.address, address)).toBe(0n);
  const orders = await world.database.query("select 1 from trade_order where 'watcher' = any(solver_ids)");
  expect(orders).toEqual([]);
  expect((await solver('watcher'))?.lastQuoteAt).toBeUndefined();
  const metrics = await (await fetch(`${shadow.opsUrl}/metrics`)).text();
  expect(metrics).toMatch(/^firmquote_lp_shadow 1$/m);
  // It keeps no books, so none of them can lag.
  expect(metrics).not.toMatch(/^firmquote_lp_journal_lag_blocks\{/m);
  expect(metrics).toMatch(/^firmquote_lp_answers_total\{kind="decline"\} [1-9]/m);
  expect(metrics).toMatch(/^firmquote_lp_answers_total\{kind="quote"\} 0$/m);
  const ofVenue = await (await fetch(`${world.venue().opsUrl}/metrics`)).text();
  const faults = ofVenue.split('\n').filter((line) => /_answers_total\{.*"watcher"/.test(line));
  expect(faults.length).toBeGreaterThan(5);
  expect(faults.filter((line) => !line.endsWith(' 0'))).toEqual([]);
});

test('the report survives a restart, and a quote worse than the accepted one wins nothing', async () => {
  const before = await report();
  minSpreadBps = 90;
  expect(await shadow.stop()).toBe(0);
  await shadow.start({}, 'ready');
  expect(await report()).toEqual(before);
  await patiently(async () => (await solver('watcher'))?.status === 'standby' || undefined);
  await trade();
  const after = await patiently(isCounted({ accepted: before.accepted + 1 }));
  expect(after.all.quotes).toBeGreaterThan(before.all.quotes);
  expect(after.better).toEqual(before.better);
});

test('a crash of the shadow LP delays nothing: it signed no quote that could still be live', async () => {
  const before = await report();
  await shadow.kill();
  await shadow.start({}, 'ready');
  expect((await report()).requests).toBe(before.requests);
});

/** A command of the page, typed with the file of this test. */
async function type(command: string): Promise<string> {
  const words = command.split(' ').map((word) => (word === 'lp.json' ? file : word));
  const typed = run(process.execPath, [PROGRAM, ...words.slice(1)], {
    env: { ...process.env, VENUE_KEY: world.solverKey('watcher') },
  });
  // The doctor exits with 1 because of the one row that fails here.
  const { stdout } = await typed.catch((error: { stdout: string }) => {
    if (words[1] === 'doctor') return error;
    throw error;
  });
  return stdout;
}

test('the commands of docs/lp/shadow.md', async () => {
  const [doctor = '', start, report7d = '', csv = '', ...more] = await commandsOf('docs/lp/shadow.md');
  expect(more).toEqual([]);
  // As `shadow` runs it.
  expect(start).toBe('firmquote lp --shadow --config lp.json');

  const found = await type(doctor);
  expect(found).toContain('shadow mode opens no key and signs nothing');
  // The database of a test is fast, and not safe against a crash of its server.
  expect(found.match(/^failure .*$/gm)).toEqual([expect.stringContaining('durability')]);
  expect(found).toContain('50000 USDC: 0 USDC deposited, the rest assumed');

  const page = await type(report7d);
  expect(page).toContain('nothing was signed');
  expect(page).toContain('By the win-rate curve of the configuration, an assumption');
  expect((await type(csv)).split('\n')[1]).toMatch(/^WETH-USDC,\d+,\d+,/);
  expect(await type('firmquote lp status --config lp.json')).toMatch(
    /^Shadow: nothing is signed\. Pricing\./,
  );
});

test('an LP that trades has no shadow report', async () => {
  const answer = await fetch(`${world.lps[0]?.adminUrl}/v1/shadow`);
  expect([answer.ok, await answer.json()]).toMatchObject([false, { error: { code: 'not_shadow' } }]);
});

test('every page of the console says that nothing is signed', async () => {
  const browser = await openBrowser();
  try {
    const page = await browser.newPage();
    await page.goto(`${consoleUrl}/console/`);
    await page.getByLabel(/Token/).fill((await readFile(join(folder, 'console.token'), 'utf8')).trim());
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('status').getByText('Shadow: nothing is signed').waitFor();
  } finally {
    await browser.close();
  }
});
