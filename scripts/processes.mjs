/** Starts programs from the root of the checkout. */

import { spawn, spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

export const ROOT = resolve(import.meta.dirname, '..');
export const bin = (name) => join(ROOT, 'node_modules', '.bin', name);

/**
 * Runs a program to its end, passes signals on, and returns its exit status. With `onLine`, that function
 * gets every line of its output. `env` is added to the environment.
 */
export function run(program, words, onLine = undefined, env = {}) {
  const child = spawn(program, words, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: onLine ? ['inherit', 'pipe', 'pipe'] : 'inherit',
  });
  if (child.stdout && child.stderr)
    for (const stream of [child.stdout, child.stderr]) createInterface({ input: stream }).on('line', onLine);
  const passOn = (signal) => child.kill(signal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, passOn);
  return new Promise((done) => {
    child.on('error', (error) => {
      console.error(`${program} did not start: ${error.message}`);
      done(1);
    });
    child.on('close', (status, signal) => {
      for (const each of signals) process.off(each, passOn);
      done(status ?? (signal === 'SIGINT' ? 130 : 1));
    });
  });
}

/** Runs a program to its end, prints its output, and returns it with its exit status. */
export function captured(program, words, print) {
  print(`\n$ ${program} ${words.join(' ')}\n`);
  const child = spawn(program, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk) => {
    print(chunk);
    output += chunk;
  });
  return new Promise((done) => child.on('close', (status) => done({ status, output })));
}

/** Returns what a program writes to its standard output. Ends this process when the program fails. */
export function outputOf(program, words) {
  const { status, stdout } = spawnSync(program, words, {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) fail(`${program} ${words.join(' ')} ended with ${status}.`);
  return stdout;
}

export function fail(message) {
  console.error(message);
  process.exit(1);
}
