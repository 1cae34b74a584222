/**
 * The deny list as its keepers meet it: a file in two spellings, replaced while the venue runs, sometimes by
 * rubbish.
 */

import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import type { Address } from '../../domain/hex.ts';
import type { Log } from '../../ports/log.ts';
import { systemClock } from '../system/clock.ts';
import { createDenyList, type DenyList, DenyListError, parseDenyList } from './deny-list.ts';

const BAD: Address = `0x${'ba'.repeat(20)}`;
const WORSE: Address = `0x${'bb'.repeat(20)}`;
const GOOD: Address = `0x${'60'.repeat(20)}`;

let folder: string;
let path: string;
const lists: DenyList[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-deny-'));
  path = join(folder, 'list');
});
afterEach(async () => {
  for (const list of lists.splice(0)) list.stop();
  await rm(folder, { recursive: true });
});

async function started(text: string, log: Log = silentLog): Promise<DenyList> {
  await writeFile(path, text);
  const list = createDenyList({ clock: systemClock, log, metrics: silentMetrics }, { path, pollEveryMs: 10 });
  lists.push(list);
  await list.start();
  return list;
}

const verdict = async (list: DenyList, address: Address) => (await list.screen(address)).decision;
const until = async (holds: () => boolean | Promise<boolean>) => {
  while (!(await holds())) await new Promise((done) => setTimeout(done, 5));
};

describe('formats', () => {
  test('JSON with a declared version, in upper or lower case', () => {
    const { addresses, version } = parseDenyList(
      JSON.stringify({
        version: 'ofac 2026-11-20',
        addresses: [BAD.toUpperCase().replace('0X', '0x'), WORSE],
      }),
    );
    expect([...addresses]).toEqual([BAD, WORSE]);
    expect(version).toMatch(/^ofac 2026-11-20 sha256:[0-9a-f]{16}$/);
  });

  test('files of other editors: byte order mark, CRLF, lone CR, no-break spaces', async () => {
    const list = await started(`\ufeff# version: 7\r\n${BAD}\u00a0\r\n${WORSE}\r`);
    expect(await verdict(list, BAD)).toBe('denied');
    expect(await verdict(list, WORSE)).toBe('denied');
    expect(await verdict(list, GOOD)).toBe('allowed');
    expect(list.version()).toMatch(/^7 sha256:/);
    expect(parseDenyList(`${BAD}\r${WORSE}\r`).addresses.size).toBe(2);
  });

  test('error: UTF-16 and other encodings, and characters that nobody sees, by name', async () => {
    await writeFile(path, Buffer.from(`\ufeff${BAD}\r\n`, 'utf16le'));
    const list = createDenyList({ clock: systemClock, log: silentLog, metrics: silentMetrics }, { path });
    await expect(list.start()).rejects.toThrow(/is UTF-16.*Save it as UTF-8/);
    await writeFile(path, Buffer.from(`# gepr\u00fcft\n${BAD}\n`, 'latin1'));
    await expect(list.start()).rejects.toThrow(/not UTF-8: byte 7 is not part of a character/);
    expect(() => parseDenyList(`${BAD}\n${WORSE}\u200b`)).toThrow(/entry 2, "0xbb.*\\u\{200b\}", is not/);
  });

  test('text with comments; without a declared version the version is a hash of the content', () => {
    const text = `# blocked by counsel\n${BAD}  # case 7\n\n${WORSE}\r\n`;
    expect([...parseDenyList(text).addresses]).toEqual([BAD, WORSE]);
    expect(parseDenyList(text).version).toMatch(/^sha256:[0-9a-f]{16}$/);
    expect(parseDenyList(`# version: 12\n${text}`).version).toMatch(/^12 sha256:/);
    expect(parseDenyList(`${text}#`).version).not.toBe(parseDenyList(text).version);
  });

  test.each([
    ['one bad line spoils the whole file', `${BAD}\n0x123\n`],
    ['JSON cut in half', `{"addresses": ["${BAD}"`],
    ['an unknown field', JSON.stringify({ addresses: [], adresses: [BAD] })],
    ['no addresses', '{}'],
    ['addresses that are no texts', JSON.stringify({ addresses: [1] })],
  ])('error: %s', (_, text) => expect(() => parseDenyList(text)).toThrow());
});

test('a verdict names the version of the list', async () => {
  const list = await started(BAD);
  expect(await list.screen(BAD)).toMatchObject({
    provider: 'deny-list',
    decision: 'denied',
    reason: 'listed',
    listVersion: list.version(),
  });
  expect(await list.screen(GOOD)).toMatchObject({ decision: 'allowed', reason: 'not_listed' });
});

test('reloads a changed file, also one replaced by rename', async () => {
  const list = await started(BAD);
  await writeFile(path, `${BAD}\n${WORSE}`);
  await until(async () => (await verdict(list, WORSE)) === 'denied');
  await writeFile(`${path}.new`, WORSE);
  await rename(`${path}.new`, path);
  await until(async () => (await verdict(list, BAD)) === 'allowed');
  expect(await verdict(list, WORSE)).toBe('denied');
});

test('a broken or missing file keeps the old list and reports it', async () => {
  const said: string[] = [];
  const list = await started(BAD, { ...silentLog, error: (_, message) => void said.push(message) });
  const version = list.version();
  await writeFile(path, 'not a list');
  expect(await list.reload()).toBe(false);
  await rm(path);
  expect(await list.reload()).toBe(false);
  expect([await verdict(list, BAD), await verdict(list, GOOD), list.version()]).toEqual([
    'denied',
    'allowed',
    version,
  ]);
  expect(said.length).toBeGreaterThanOrEqual(2);
  expect(said[0]).toContain('stays in use');
  await writeFile(path, WORSE);
  await until(async () => (await verdict(list, WORSE)) === 'denied');
});

test('error: a venue configured to screen does not start without its list', async () => {
  await expect(started('0x12')).rejects.toThrow(DenyListError);
});
