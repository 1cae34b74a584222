/** The units of `ops/systemd` as systemd reads them: each with the drop-in that all share. */

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', 'ops', 'systemd');

/** Values of a directive, in order. systemd sees a directive of the same name again as one more value. */
export type Unit = (section: string, directive: string) => string[];

export const unitNames = async (): Promise<string[]> =>
  (await readdir(FOLDER)).filter((name) => name.endsWith('.service')).toSorted();

export async function readUnit(name: string): Promise<Unit> {
  const files = [name, join('firmquote-.service.d', 'common.conf')];
  const found = new Map<string, string[]>();
  for (const file of files) {
    let section = '';
    for (const line of (await readFile(join(FOLDER, file), 'utf8')).split('\n')) {
      if (line === '' || line.startsWith('#')) continue;
      const header = /^\[(\w+)\]$/.exec(line)?.[1];
      if (header !== undefined) section = header;
      else {
        const [, directive, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
        if (directive === undefined || value === undefined || section === '')
          throw new Error(`${file} has a line that is no directive: ${line}`);
        const path = `${section}.${directive}`;
        found.set(path, [...(found.get(path) ?? []), value]);
      }
    }
  }
  return (section, directive) => found.get(`${section}.${directive}`) ?? [];
}

/** Returns the variables of the unit, with its credentials in `credentials` (`%d`). */
export const variablesOf = (unit: Unit, credentials: string): Record<string, string> =>
  Object.fromEntries(
    unit('Service', 'Environment').map((text): [string, string] => {
      const at = text.indexOf('=');
      return [text.slice(0, at), text.slice(at + 1).replaceAll('%d', credentials)];
    }),
  );

/** Returns what follows the program in the unit's command: the words of `firmquote`. */
export function wordsOf(unit: Unit): string[] {
  const [command = ''] = unit('Service', 'ExecStart');
  const words = command.split(' ');
  return words.slice(words.findIndex((word) => word.endsWith('/dist/apps/cli/main.js')) + 1);
}

/** Returns name and file of each credential. */
export const credentialsOf = (unit: Unit): [string, string][] =>
  unit('Service', 'LoadCredential').map((text) => text.split(':') as [string, string]);
