/**
 * A page of docs/ as its reader uses it: its shell blocks run one after the other in one bash, its programs
 * joined and run.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

export interface Shell {
  run(block: string): Promise<{ status: number; output: string }>;
  /** Ends what the shell runs now, like Ctrl-C. */
  interrupt(): void;
  end(): void;
}

/** Reads the fenced blocks of one language. */
export async function blocksOf(page: string, language: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    (match) => match[1] ?? '',
  );
}

/** Opens one bash for the whole page, as the reader has one: functions and variables stay. */
export function openShell(cwd = ROOT): Shell {
  const bash: ChildProcess = spawn('bash', ['--norc', '--noprofile'], {
    cwd,
    // A group of its own, so that Ctrl-C reaches the commands and not the test.
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], TMPDIR: process.env['TMPDIR'] },
  });
  let said = '';
  for (const stream of [bash.stdout, bash.stderr])
    stream?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  let serial = 0;
  return {
    async run(block) {
      const mark = `__done_${(serial += 1)}__`;
      said = '';
      bash.stdin?.write(`{\n${block}\n} < /dev/null\necho "${mark}$?"\n`);
      const ended = new RegExp(`^([\\s\\S]*)${mark}(\\d+)\\n`);
      while (!ended.test(said)) {
        if (bash.exitCode !== null) throw new Error(`The shell ended:\n${said}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const [, output = '', status] = ended.exec(said) ?? [];
      return { status: Number(status), output };
    },
    interrupt: () => void process.kill(-(bash.pid as number), 'SIGINT'),
    end() {
      bash.stdin?.end('exit\n');
    },
  };
}
