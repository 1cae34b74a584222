/**
 * Another user of the machine places links and files where a process keeps its data: nothing is written,
 * owned or read through them, and the refusal names the path. Gives files away, so it runs as root.
 */

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { replaceSecretFile, writeSecretFile } from '../../src/adapters/keystore/file.ts';
import { backUp, restoreBackup } from '../../src/adapters/postgres/backup.ts';
import { startEmbeddedPostgres } from '../../src/adapters/postgres/embedded/embedded.ts';
import { VENUE_MIGRATIONS } from '../../src/adapters/postgres/migrations/venue.ts';
import type { Database } from '../../src/adapters/postgres/pool.ts';
import { createFileTransmitter } from '../../src/adapters/travel-rule/file.ts';
import { withToolDatabase } from '../../src/apps/wiring/database.ts';
import { lockDirectory } from '../../src/apps/wiring/directory-lock.ts';
import { openSecret } from '../../src/apps/wiring/keys.ts';
import { createKillFile } from '../../src/apps/lp/kill-file.ts';
import { makeAdminToken } from '../../src/apps/lp/token.ts';
import { createRedactor } from '../../src/adapters/pino/redact.ts';
import { copyCluster } from '../support/cluster.ts';
import { firmquote } from '../support/command.ts';
import { startTestPostgres, type TestPostgres } from '../support/postgres.ts';
import { silentLog } from '../support/silent.ts';

const STRANGER = 65_534;
const SECRET = 's'.repeat(64);

/** Others may write here, as in /tmp or a shared volume. */
let shared: string;
/** Of ours, where the stranger wants us to write or to take secrets from. */
let target: string;
let postgres: TestPostgres;
let db: Database;

beforeAll(async () => {
  postgres = await startTestPostgres();
  db = await postgres.database('venue', VENUE_MIGRATIONS);
});
afterAll(() => postgres.stop());
beforeEach(() => {
  shared = mkdtempSync(join(tmpdir(), 'firmquote-shared-'));
  chmodSync(shared, 0o1777);
  target = mkdtempSync(join(tmpdir(), 'firmquote-target-'));
  chmodSync(target, 0o755);
});
afterEach(() => {
  for (const folder of [shared, target]) rmSync(folder, { recursive: true, force: true });
});

/** The stranger owns it from now on. */
function giveAway(path: string): string {
  if (process.geteuid?.() !== 0)
    throw new Error('Only root can give a file to another user: run this as root.');
  lchownSync(path, STRANGER, STRANGER);
  return path;
}
function strangersLink(name: string, to: string): string {
  symlinkSync(to, join(shared, name));
  return giveAway(join(shared, name));
}
/** Names, owners, modes and contents of everything in the target. */
const inTarget = () => execFileSync('find', [target, '-printf', '%P %U %m %s\n']).toString();
const refused = (path: string) => new RegExp(`${path} belongs to another user \\(uid ${STRANGER}\\)`);
const context = { env: {}, redactor: createRedactor(), mounted: false };
const embedded = (dataDir: string) =>
  startEmbeddedPostgres({ dataDir, log: silentLog, settings: { fsync: 'off' } });

describe('a link that another user placed instead of', () => {
  test('the data directory: nothing is made behind it', async () => {
    const link = strangersLink('data', target);
    const before = inTarget();
    await expect(lockDirectory(join(link, 'firmquote_lp'))).rejects.toThrow(refused(link));
    await expect(embedded(link)).rejects.toThrow(refused(link));
    const { status, stderr } = await firmquote(['demo', '--once', '--data-dir', link]);
    expect([status, stderr]).toEqual([1, expect.stringMatching(refused(link))]);
    expect(inTarget()).toBe(before);
  });

  test.each(['lock', 'pg', 'LOCATION'])('%s in the data directory', async (name) => {
    const link = strangersLink(name, target);
    const before = inTarget();
    const section = { url: null, embeddedDir: join(shared, '..'), name: shared.split('/').at(-1) as string };
    const work = () =>
      withToolDatabase(
        { ...section, maxConnections: 2 },
        { schema: 'x', log: silentLog, secrets: context },
        async () => {},
      );
    // Another process runs the database, so its place is read from LOCATION.
    if (name === 'LOCATION') writeFileSync(join(shared, 'lock'), `${process.pid} ${startOfUs()}`);
    await expect(work()).rejects.toThrow(refused(link));
    expect(inTarget()).toBe(before);
  });

  test('files that a new cluster needs: they replace the links and leave the targets alone', async () => {
    writeFileSync(join(target, 'file'), 'ours');
    const links = [
      strangersLink('postgres.password', join(target, 'file')),
      strangersLink('.initdb-password', join(target, 'file')),
      strangersLink('pg.new', target),
    ];
    const before = inTarget();
    const server = await embedded(shared);
    await server.stop();
    expect(inTarget()).toBe(before);
    expect(readFileSync(join(target, 'file'), 'utf8')).toBe('ours');
    for (const link of links) expect(existsSync(link) && lstatSync(link).isSymbolicLink()).toBe(false);
  });

  test('a key, a password or another secret', async () => {
    writeFileSync(join(target, 'secret'), SECRET, { mode: 0o600 });
    const link = strangersLink('secret', join(target, 'secret'));
    await expect(openSecret({ file: link }, context)).rejects.toThrow(refused(link));
    await expect(writeSecretFile(link, SECRET)).rejects.toThrow(refused(link));
    const folder = strangersLink('secrets', target);
    await expect(openSecret({ file: join(folder, 'secret') }, context)).rejects.toThrow(refused(folder));
    await expect(writeSecretFile(join(folder, 'new'), SECRET)).rejects.toThrow(refused(folder));
    // The draft of a replaced secret is not written through the link either.
    writeFileSync(join(target, 'draft'), 'ours');
    strangersLink('password.new', join(target, 'draft'));
    await expect(replaceSecretFile(join(shared, 'password'), SECRET)).resolves.toBeUndefined();
    expect(readFileSync(join(target, 'draft'), 'utf8')).toBe('ours');
  });

  test('the admin token, which is neither taken from elsewhere nor made there', async () => {
    writeFileSync(join(target, 'token'), SECRET, { mode: 0o600 });
    for (const to of ['token', 'missing']) {
      const link = strangersLink(`admin-${to}`, join(target, to));
      await expect(makeAdminToken(link)).rejects.toThrow(refused(link));
    }
    expect(existsSync(join(target, 'missing'))).toBe(false);
  });

  test('a backup, its draft, or the folder of both', async () => {
    writeFileSync(join(target, 'file'), 'ours');
    const file = join(shared, 'venue.backup');
    const draft = strangersLink('venue.backup.part', join(target, 'file'));
    await expect(backUp(db, file, 0)).rejects.toThrow(refused(draft));
    const folder = strangersLink('backups', target);
    await expect(backUp(db, join(folder, 'venue.backup'), 0)).rejects.toThrow(refused(folder));
    const link = strangersLink('restored', join(target, 'file'));
    await expect(restoreBackup(db, link, VENUE_MIGRATIONS, async () => {})).rejects.toThrow(refused(link));
    expect([readFileSync(join(target, 'file'), 'utf8'), existsSync(join(target, 'venue.backup'))]).toEqual([
      'ours',
      false,
    ]);
  });

  test('the file of travel-rule messages', async () => {
    writeFileSync(join(target, 'file'), 'ours');
    const link = strangersLink('travel-rule.jsonl', join(target, 'file'));
    await expect(createFileTransmitter({ path: link }).transmit('{}', 'k')).rejects.toThrow(refused(link));
    expect(readFileSync(join(target, 'file'), 'utf8')).toBe('ours');
  });
});

describe('files that another user left', () => {
  test('a data directory with a cluster, a lock or an admin token of theirs is refused', async () => {
    const data = join(shared, 'data');
    mkdirSync(data);
    giveAway(data);
    await expect(lockDirectory(data)).rejects.toThrow(refused(data));
    await expect(embedded(data)).rejects.toThrow(refused(data));
    const token = join(shared, 'admin.token');
    writeFileSync(token, SECRET, { mode: 0o600 });
    giveAway(token);
    await expect(makeAdminToken(token)).rejects.toThrow(refused(token));
    const lock = join(shared, 'lock');
    writeFileSync(lock, `${process.pid} ${startOfUs()}`);
    giveAway(lock);
    await expect(lockDirectory(shared)).rejects.toThrow(refused(lock));
  });
});

describe('what the operator placed works', () => {
  test('a data directory on another disk, linked, with its own links below', async () => {
    const data = join(shared, 'data');
    const elsewhere = join(target, 'cluster');
    mkdirSync(elsewhere);
    symlinkSync(elsewhere, data);
    await copyCluster(elsewhere);
    const unlock = await lockDirectory(data);
    const server = await embedded(data);
    await server.stop();
    await unlock();
    expect(existsSync(join(elsewhere, 'pg', 'PG_VERSION'))).toBe(true);
    expect(await makeAdminToken(join(data, 'admin.token'))).toHaveLength(64);
    expect(await makeAdminToken(join(data, 'admin.token'))).toHaveLength(64);
  });

  test('secrets mounted as links, as Kubernetes does', async () => {
    mkdirSync(join(target, '..2026'));
    writeFileSync(join(target, '..2026', 'key'), SECRET, { mode: 0o600 });
    symlinkSync('..2026', join(target, '..data'));
    symlinkSync('..data/key', join(target, 'key'));
    expect(await openSecret({ file: join(target, 'key') }, context)).toBe(SECRET);
  });

  test('a folder that belongs to another user alone, such as a home or a mounted volume', async () => {
    const volume = join(target, 'volume');
    mkdirSync(volume);
    giveAway(volume);
    const key = join(volume, 'key');
    writeFileSync(key, SECRET, { mode: 0o600 });
    giveAway(key);
    expect(await openSecret({ file: key }, context)).toBe(SECRET);
    await (
      await lockDirectory(volume)
    )();
  });

  test('a backup over a link of the last one replaces the link', async () => {
    writeFileSync(join(target, 'old'), 'old backup');
    const file = join(shared, 'latest.backup');
    symlinkSync(join(target, 'old'), file);
    await backUp(db, file, 0);
    expect([lstatSync(file).isSymbolicLink(), lstatSync(file).mode & 0o777]).toEqual([false, 0o600]);
    expect(readFileSync(join(target, 'old'), 'utf8')).toBe('old backup');
  });
});

test('a kill file may be a link, whoever placed it: it stops while its target exists', () => {
  const path = strangersLink('stop', join(target, 'stop'));
  const calls: string[] = [];
  const node = { kill: () => void calls.push('kill'), killFileGone: () => void calls.push('gone') };
  const killFile = createKillFile(node);
  killFile.watch(path);
  expect(calls).toEqual([]);
  writeFileSync(join(target, 'stop'), '');
  killFile.watch(path);
  killFile.stop();
  expect(calls).toEqual(['kill']);
});

function startOfUs(): string {
  const stat = readFileSync(`/proc/${process.pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '';
}
