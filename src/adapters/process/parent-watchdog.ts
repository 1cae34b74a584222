/**
 * Child processes that never outlive their parent: a watcher shell reads a pipe from the parent and stops
 * the child when it closes, even after SIGKILL. The child has its own session, so Ctrl-C stops the parent
 * first.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { UpstreamError } from '../../domain/errors.ts';

interface WatchedOptions {
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  uid?: number;
  gid?: number;
  stopSignal?: 'TERM' | 'INT' | 'QUIT';
  graceMs?: number;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
}

export interface WatchedChild {
  readonly pid: number;
  readonly exited: Promise<number>;
  hasExited(): boolean;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

// $1: signal; $2: grace period in tenths of a second; the rest: the command. fd 0: pipe from the parent; fd 3
// gets the child's pid.
const WATCHER = `
sig=$1; grace=$2; shift 2
exec 4<&0
"$@" </dev/null 3>&- 4<&- &
child=$!
(
  exec 1>&- 2>&- 3>&-
  read -r _ <&4
  kill -s "$sig" $child 2>/dev/null
  while [ $grace -gt 0 ] && kill -0 $child 2>/dev/null; do sleep 0.1; grace=$((grace-1)); done
  kill -s KILL $child 2>/dev/null
) &
watcher=$!
echo $child >&3
exec 3>&-
wait $child; code=$?
kill $watcher 2>/dev/null
exit $code
`;

/** Throws `UpstreamError` `spawn_failed`. */
export async function spawnWatched(
  command: string,
  args: readonly string[],
  options: WatchedOptions = {},
): Promise<WatchedChild> {
  const { stopSignal = 'TERM', graceMs = 8_000, onLine } = options;
  const output = onLine ? 'pipe' : 'ignore';
  const watcher = spawn(
    '/bin/sh',
    ['-c', WATCHER, 'watchdog', stopSignal, String(Math.ceil(graceMs / 100)), command, ...args],
    {
      stdio: ['pipe', output, output, 'pipe'],
      detached: true,
      ...(options.env && { env: options.env }),
      ...(options.cwd !== undefined && { cwd: options.cwd }),
      ...(options.uid !== undefined && { uid: options.uid }),
      ...(options.gid !== undefined && { gid: options.gid }),
    },
  );
  let gone = false;
  const exited = new Promise<number>((resolve) => {
    watcher.once('exit', (code, signal) => {
      gone = true;
      // Closing the pipe still ends the part of a killed watcher that stops the child.
      watcher.stdin?.destroy();
      resolve(code ?? (signal ? 128 : 1));
    });
  });
  watcher.stdin?.on('error', () => {});
  if (onLine) {
    followLines(watcher.stdout, (line) => onLine(line, 'stdout'));
    followLines(watcher.stderr, (line) => onLine(line, 'stderr'));
  }
  const pid = await readPid(watcher, exited, command);
  const kill = async () => {
    if (gone) return;
    signal(pid, 'SIGKILL');
    await exited;
  };
  return {
    pid,
    exited,
    hasExited: () => gone,
    kill,
    async stop() {
      watcher.stdin?.end();
      await exited;
    },
  };
}

async function readPid(watcher: ChildProcess, exited: Promise<number>, command: string): Promise<number> {
  const pipe = watcher.stdio[3] as Readable;
  const spawned = new Promise<number>((resolve, reject) => {
    watcher.once('error', reject);
    let text = '';
    pipe.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes('\n')) resolve(Number.parseInt(text, 10));
    });
  });
  const first = await Promise.race([spawned, exited.then((code) => -code - 1)]);
  pipe.destroy();
  if (first > 0) return first;
  throw new UpstreamError(`${command.split('/').pop()} did not start; its exit code was ${-first - 1}.`, {
    code: 'spawn_failed',
  });
}

function followLines(stream: Readable | null, onLine: (line: string) => void): void {
  let rest = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) onLine(line);
  });
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // The process has already exited.
  }
}
