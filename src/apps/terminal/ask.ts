/** Questions at the terminal. Secrets are not echoed. */

import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { RequestError } from '../../domain/errors.ts';

export interface Terminal {
  ask(question: string, preset?: string): Promise<string>;
  secret(question: string): Promise<string>;
  say(line: string): void;
  close(): void;
}

export function openTerminal(): Terminal | undefined {
  if (!process.stdin.isTTY) return undefined;
  let hidden = false;
  const output = new Writable({
    write(chunk: Buffer, _encoding, done) {
      if (hidden) done();
      else process.stderr.write(chunk, () => done());
    },
  });
  const terminal = createInterface({ input: process.stdin, output, terminal: true });
  // Ctrl-C and Ctrl-D exit immediately; nothing has been written by then.
  const leave = () => process.exit(130);
  terminal.on('SIGINT', leave);
  terminal.on('close', leave);
  const question = (text: string) => new Promise<string>((resolve) => terminal.question(text, resolve));
  return {
    async ask(text, preset) {
      const answer = (await question(`${text}${preset === undefined ? '' : ` [${preset}]`}: `)).trim();
      return answer === '' ? (preset ?? '') : answer;
    },
    async secret(text) {
      process.stderr.write(`${text}: `);
      hidden = true;
      const answer = await question('');
      hidden = false;
      process.stderr.write('\n');
      return answer;
    },
    say: (line) => void process.stderr.write(`${line}\n`),
    close() {
      terminal.off('close', leave);
      terminal.close();
    },
  };
}

/** Asks for a secret. `instead`: the advice to print when there is no terminal. */
export async function askSecret(question: string, instead: string): Promise<string> {
  const terminal = openTerminal();
  if (terminal === undefined)
    throw new RequestError(`No terminal to ask for input. ${instead}`, { code: 'no_terminal' });
  try {
    return await terminal.secret(question);
  } finally {
    terminal.close();
  }
}
