/** Questions of `firmquote lp init`, and what stands for an answer where there is no terminal. */

import type { Terminal } from '../../../terminal/ask.ts';
import { badRequest } from '../../../wiring/bad-request.ts';

export interface Asker {
  /** True when a person answers at a terminal. */
  interactive: boolean;
  /** Asks until there is an answer. Throws `RequestError`, which names the flag, without a terminal. */
  need(question: string, flag: string): Promise<string>;
  /** Asks without an echo. Throws `RequestError` without a terminal. */
  secret(question: string, flag: string): Promise<string>;
  /** Asks with a proposal, which is the answer without a terminal. */
  or(question: string, preset: string): Promise<string>;
  /** Throws `RequestError` for text that is no number. */
  number(text: string): number;
}

export function createAsker(terminal: Terminal | undefined, yes: boolean): Asker {
  const missing = (question: string, flag: string) =>
    badRequest(
      `Missing: ${question}. There is no terminal to ask${yes ? ' (--yes)' : ''}. Give it with ${flag} or in an answers file.`,
    );
  return {
    interactive: terminal !== undefined,
    async need(question, flag) {
      if (terminal === undefined) throw missing(question, flag);
      for (;;) {
        const answer = await terminal.ask(question);
        if (answer !== '') return answer;
      }
    },
    async secret(question, flag) {
      if (terminal === undefined) throw missing(question, flag);
      return terminal.secret(question);
    },
    or: async (question, preset) => (terminal === undefined ? preset : terminal.ask(question, preset)),
    number(text) {
      const value = Number(text);
      if (!Number.isFinite(value)) throw badRequest(`"${text}" is not a number.`);
      return value;
    },
  };
}

/** Tells the operator what was found. */
export const report = (line: string): void => console.log(line);

/** The parts of a list that is separated by commas. */
export const listOf = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
