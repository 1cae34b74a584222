/**
 * The LP's pages, typed to the letter in a folder where their files are: only what stands for something else
 * is replaced.
 */

import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { connectDatabase } from '../../src/adapters/postgres/pool.ts';
import { LP_SCHEMA } from '../../src/apps/lp/schema.ts';
import { PROGRAM } from '../support/build.ts';
import { openShell, ROOT, type Shell } from '../support/page.ts';
import { silentLog } from '../support/silent.ts';
import { SHOWN, type Shown } from './docs-table.ts';
import type { Day } from './support/day.ts';
import type { ConfigFile } from './support/operator.ts';
import { jsonOf } from './support/pages.ts';
import { trade } from './support/trades.ts';

const TOP_UP = 10n ** 17n;

export async function typed(day: Day): Promise<void> {
  const { operator, folder, here } = day;
  const order = await trade(day, { usdc: 500n });
  const shell = openShell(folder);
  try {
    for (const [to, name] of [
      ['my-lp/data', 'data'],
      ['my-lp/lp.json', 'lp.json'],
    ] as const)
      await symlink(join(folder, to), join(folder, name));
    for (const name of ['docs', 'config']) await symlink(join(ROOT, name), join(folder, name));
    // As docs/lp/replay.md makes it.
    await shell.run(`sed 's/"minSpreadBps": [0-9.]*/"minSpreadBps": 12/' lp.json > lp-new.json`);
    const variables = {
      ...operator.env,
      RPC: here.anvil.url,
      ESCROW: here.chain.escrow,
      ACCOUNT: day.owner.address,
      TOKEN: here.usdc.address,
      BLOCK: String(Number(await here.anvil.rpc<string>('eth_blockNumber'))),
    };
    await shell.run(
      [
        ...Object.entries(variables).map(([name, value]) => `export ${name}='${value ?? ''}'`),
        `firmquote() { "${process.execPath}" "${PROGRAM}" "$@"; }`,
      ].join('\n'),
    );
    const admin = await adminPort(day);
    const meant = (command: string) =>
      [
        ['--owner owner.json', '--owner owner.json --owner-password-env OWNER_PASSWORD'],
        ['--chain base', '--chain chain1'],
        ['localhost:9201', `localhost:${admin}`],
        ['QUOTE_ID|ORDER_ID|RFQ_ID', order],
        ['24h|7d|all|DATE --until 1h|DATE', 'all'],
        ['pair|corridor|taker|trade|transfer', 'trade'],
        ['table|csv|json', 'csv'],
        ['--counterparty 0x…', `--counterparty ${day.takers[0]?.wallet.address ?? ''}`],
        ['npm run -s sim --', 'firmquote sim'],
        // Fewer of the same, because each minute and seed takes time of a core.
        ['--minutes 240', '--minutes 10'],
        ['--minutes 60 --seeds 20', '--minutes 10 --seeds 2'],
        ['--seeds 20', '--minutes 10 --seeds 2'],
        ['--token native', `--token native --operator ${day.keys.at(-1) ?? ''}`],
      ].reduce((text, [shown = '', real = '']) => text.replace(shown, real), command);
    for (const [page, commands] of Object.entries(SHOWN)) {
      if (page === 'docs/lp/reconcile.md') await topUp(day);
      for (const shown of commands) if ('prints' in shown) await typeOne(day, shell, page, shown, meant);
    }
  } finally {
    shell.end();
  }
  await operator.sees(/^Quoting\. /);
}

async function typeOne(
  day: Day,
  shell: Shell,
  page: string,
  { command, prints, status = 0, afterwards }: Extract<Shown, { prints: RegExp }>,
  meant: (command: string) => string,
): Promise<void> {
  if (command.startsWith('select ')) {
    expect(await rowsOf(day, command), command).toMatch(prints);
    return;
  }
  const done = await shell.run(meant(command));
  expect([page, command, done.status, done.output]).toEqual([
    page,
    command,
    status,
    expect.stringMatching(prints),
  ]);
  if (afterwards !== undefined) expect(await shell.run(afterwards), afterwards).toMatchObject({ status: 0 });
}

/** What psql prints, without a frame. */
async function rowsOf({ databases }: Day, query: string): Promise<string> {
  const db = connectDatabase({
    url: databases.at(-1) ?? '',
    schema: LP_SCHEMA,
    maxConnections: 1,
    log: silentLog,
  });
  try {
    const rows = await db.query<Record<string, unknown>>(query);
    return rows.map((row) => Object.values(row).join(' | ')).join('\n');
  } finally {
    await db.close();
  }
}

const configOf = async ({ operator }: Day): Promise<ConfigFile> => {
  let found: ConfigFile;
  await operator.edit((config) => (found = structuredClone(config)));
  return found;
};

const adminPort = async (day: Day): Promise<number> => (await configOf(day)).admin.port as number;

/** Somebody sends the operator 0.1 ether, and its books notice. */
async function topUp(day: Day): Promise<void> {
  const { here, operator, owner } = day;
  await here.anvil.rpc('eth_sendTransaction', [
    { from: owner.address, to: day.keys.at(-1), value: `0x${TOP_UP.toString(16)}` },
  ]);
  day.toppedUp += TOP_UP;
  const noticed = async () => (await operator.lp('journal')).stdout.includes('1 of 8 differ');
  await expect.poll(noticed, { timeout: 120_000, interval: 500 }).toBe(true);
}

/** Sections that a page shows as JSON are taken by the program. */
export async function sections(day: Day): Promise<void> {
  const { operator, folder, here, owner, world } = day;
  const file = join(folder, 'page.json');
  const checked = async (change: (config: ConfigFile) => void) => {
    const config = await configOf(day);
    change(config);
    await writeFile(file, JSON.stringify(config));
    const { status, stdout, stderr } = await operator.type('config', 'check', file);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain('is a valid configuration of lp.');
  };
  for (const [at, text] of (await jsonOf('docs/lp/feeds.md')).entries())
    await checked((config) => (config.feeds[`page-${at}`] = JSON.parse(text)));
  for (const text of await jsonOf('docs/lp/replicas.md'))
    await checked((config) => Object.assign(config, JSON.parse(`{${text}}`)));

  const [answers = ''] = await jsonOf('docs/lp/real-venue.md');
  operator.env['BASE_RPC_URL'] = here.anvil.url;
  await writeFile(
    join(folder, 'answers-of-the-page.json'),
    [
      ['wss://venue.example', world.venueUrl().replace('http', 'ws')],
      [`0x${'7'.repeat(40)}`, owner.address],
      ['"base"', '"chain1"'],
      ['0x833589fcd6edb6e08f4c7c32d4f71b54bda02913', here.usdc.address],
      ['0x4200000000000000000000000000000000000006', here.weth.address],
    ].reduce((text, [shown = '', real = '']) => text.replace(shown, real), answers),
  );
  const done = await operator.type(
    ...['lp', 'init', '--answers', join(folder, 'answers-of-the-page.json'), '--yes'],
    ...['--dir', join(folder, 'page-lp')],
  );
  expect(done, done.stderr).toMatchObject({ status: 0, stdout: expect.stringContaining('Written: ') });
}
