/** Installs the locked packages. Plain Node, because it runs before any package is installed. */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, ROOT } from './processes.mjs';

/** Installs the locked packages unless exactly these are installed. No package's install script runs. */
export function install() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    fail(`firmquote needs Node >= 20.19; this is ${process.versions.node}.`);
  const lock = createHash('sha256')
    .update(readFileSync(join(ROOT, 'package-lock.json')))
    .update(`${process.platform}-${process.arch}`)
    .digest('hex');
  const stamp = join(ROOT, 'node_modules', '.firmquote-lock');
  const installed = () => existsSync(stamp) && readFileSync(stamp, 'utf8') === lock;
  if (installed()) return;
  alone(() => {
    if (installed()) return;
    console.error('Installing dependencies (npm ci --ignore-scripts) …');
    const done = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: ROOT,
      stdio: ['ignore', 2, 2],
      shell: process.platform === 'win32',
    });
    if (done.status !== 0) fail('npm ci failed, so nothing can run. Its own message is above.');
    writeFileSync(stamp, lock);
  });
}

/** Runs one install of this folder at a time: two would each remove the files that the other one writes. */
function alone(work) {
  const file = join(
    tmpdir(),
    `firmquote-install-${createHash('sha256').update(ROOT).digest('hex').slice(0, 16)}`,
  );
  for (let waited = false; ; waited = true) {
    try {
      writeFileSync(file, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
      if (!waited) console.error('Another command is installing the dependencies: waiting for it …');
      if (!isAlive(file)) rmSync(file, { force: true });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
    }
  }
  process.once('exit', () => rmSync(file, { force: true }));
  try {
    work();
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Returns true when the process that wrote its id into this file runs. A file without an id is being written.
 */
function isAlive(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    return pid === 0 || process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}
