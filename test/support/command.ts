/**
 * Runs the command line as an operator types it: to its end, or as a process of the test that keeps running.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { Command } from 'commander';
import { adminCommands } from '../../src/apps/cli/admin/admin.ts';
import { deployCommand } from '../../src/apps/cli/deploy.ts';
import { doctorCommand } from '../../src/apps/cli/doctor.ts';
import { lpCommand } from '../../src/apps/cli/lp/lp.ts';
import { takeCommand } from '../../src/apps/cli/take.ts';
import { BaseError } from '../../src/domain/errors.ts';
import { PROGRAM } from './build.ts';

const ROOT = join(import.meta.dirname, '..', '..');

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  child: ChildProcess;
  /** Returns its output so far. */
  output(): string;
  /** Resolves with its exit status. */
  ended: Promise<number | null>;
  /** Waits for this output; fails when the program ends first. */
  says(what: RegExp | string): Promise<void>;
  stop(): Promise<number | null>;
}

const environment = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  PATH: process.env['PATH'],
  HOME: process.env['HOME'],
  TMPDIR: process.env['TMPDIR'],
  ...env,
});

function launch(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd = ROOT,
  program = PROGRAM,
): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    cwd,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export function firmquote(args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Ended> {
  const child = launch(args, env);
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  return new Promise((resolve) => child.on('close', (status) => resolve({ status, stdout, stderr })));
}

/** Starts a process that never outlives the test. `program`: another installation than this checkout. */
export function startFirmquote(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  cwd?: string,
  program?: string,
): Running {
  const child = launch(args, env, cwd, program);
  const emergency = () => void child.kill('SIGKILL');
  process.once('exit', emergency);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const ended = new Promise<number | null>((resolve) =>
    child.on('close', (status) => {
      process.off('exit', emergency);
      resolve(status);
    }),
  );
  return {
    child,
    output: () => output,
    ended,
    async says(what) {
      while (!(typeof what === 'string' ? output.includes(what) : what.test(output))) {
        if (child.exitCode !== null || child.signalCode !== null)
          throw new Error(`It ended before it said ${String(what)}:\n${output}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

let turn: Promise<unknown> = Promise.resolve();

export const lpCommandHere = (...words: string[]): Promise<Ended> => commandHere('lp', ...words);

/**
 * Runs a `firmquote` command in this process, without the time that a process of its own takes to start. One
 * at a time, because commands share the console.
 */
export function commandHere(...words: string[]): Promise<Ended> {
  const mine = turn.then(async (): Promise<Ended> => {
    const [out, err]: [string[], string[]] = [[], []];
    const [log, error, exitCode] = [console.log, console.error, process.exitCode];
    console.log = (...parts: unknown[]) => void out.push(`${parts.join(' ')}\n`);
    console.error = (...parts: unknown[]) => void err.push(`${parts.join(' ')}\n`);
    process.exitCode = undefined;
    try {
      const program = new Command('firmquote').enablePositionalOptions().exitOverride();
      for (const command of [
        lpCommand(),
        deployCommand(),
        doctorCommand(),
        takeCommand(),
        ...adminCommands(),
      ])
        program.addCommand(command);
      await program.parseAsync(words, { from: 'user' });
    } catch (failure) {
      err.push(`${failure instanceof BaseError ? failure.message : String(failure)}\n`);
      process.exitCode = 1;
    }
    const status = process.exitCode ?? 0;
    [console.log, console.error, process.exitCode] = [log, error, exitCode];
    return { status: Number(status), stdout: out.join(''), stderr: err.join('') };
  });
  turn = mine;
  return mine;
}
