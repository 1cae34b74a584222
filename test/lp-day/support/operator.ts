/**
 * The LP's operator: types `firmquote` commands and edits the configuration file. What is repeated until it
 * says something runs in this process, because a process of its own takes a second of a core to start.
 */

import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { commandHere, type Ended, firmquote } from '../../support/command.ts';
import { patiently } from '../../faults/support/client.ts';

/** The file as JSON: whatever the operator writes into it is what the test is about. */
// oxlint-disable-next-line typescript/no-explicit-any
export type ConfigFile = any;

export interface Operator {
  /** The environment of every command and process of the LP. */
  env: NodeJS.ProcessEnv;
  /** The configuration file, or that of another replica. */
  file: string;
  /** `firmquote WORDS`. */
  type(...words: string[]): Promise<Ended>;
  /** `firmquote lp WORDS --config FILE`. */
  lp(...words: string[]): Promise<Ended>;
  /** The same, which must succeed. Answers what it printed. */
  ok(...words: string[]): Promise<string>;
  json<T>(...words: string[]): Promise<T>;
  /** `lp status` until it says this. Answers all of it. */
  sees(...what: RegExp[]): Promise<string>;
  /** Repeats a command until it exits 0 and prints this. */
  until(what: RegExp, ...words: string[]): Promise<string>;
  /** Changes the file. Answers a function that undoes it. */
  edit(change: (config: ConfigFile) => void): Promise<() => Promise<void>>;
}

export function createOperator(file: string, env: NodeJS.ProcessEnv): Operator {
  const here = (...words: string[]) => commandHere('lp', ...words, '--config', self.file);
  const self: Operator = {
    env,
    file,
    type: (...words) => firmquote(words, self.env),
    lp: (...words) => self.type('lp', ...words, '--config', self.file),
    async ok(...words) {
      const done = await self.lp(...words);
      expect(done, words.join(' ')).toMatchObject({ status: 0 });
      return done.stdout;
    },
    json: async <T>(...words: string[]) => JSON.parse(await self.ok(...words, '--json')) as T,
    async sees(...what) {
      let said = '';
      await patiently(
        async () => {
          const { stdout, stderr } = await here('status');
          said = stdout + stderr;
          return what.every((each) => each.test(said)) || undefined;
        },
        () => `status does not say ${what.join(' and ')}:\n${said}`,
      );
      return said;
    },
    async until(what, ...words) {
      let done: Ended | undefined;
      await patiently(
        async () => {
          done = await here(...words);
          return (done.status === 0 && what.test(done.stdout)) || undefined;
        },
        () =>
          `firmquote lp ${words.join(' ')} does not say ${what}:\n${done?.stdout ?? ''}${done?.stderr ?? ''}`,
      );
      return done?.stdout ?? '';
    },
    async edit(change) {
      const before = await readFile(self.file, 'utf8');
      const config = JSON.parse(before) as ConfigFile;
      change(config);
      await writeFile(self.file, JSON.stringify(config, null, 2));
      return () => writeFile(self.file, before);
    },
  };
  return self;
}
