/** Questions at the terminal; what is secret is not shown while it is typed. */

import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { RequestError } from '../../domain/errors.ts';

/** `instead`: what to do where there is no terminal. */
export async function askSecret(question: string, instead: string): Promise<string> {
  if (!process.stdin.isTTY) throw new RequestError(`There is no terminal to ask at. ${instead}`, { code: 'no_terminal' });
  process.stderr.write(question);
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  try {
    return await terminal.question('');
  } finally {
    terminal.close();
    process.stderr.write('\n');
  }
}

/** Enter takes what stands in brackets. */
export async function ask(question: string, preset?: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = (await terminal.question(`${question}${preset === undefined ? '' : ` [${preset}]`}: `)).trim();
    return answer === '' ? (preset ?? '') : answer;
  } finally {
    terminal.close();
  }
}
