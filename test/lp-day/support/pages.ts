/** The commands that a page of docs/ shows in blocks, one by one, as they are written. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../../support/page.ts';

/** Of fenced blocks of a shell or without a language and of indented blocks; no figures or formulas. */
export async function commandsOf(page: string): Promise<string[]> {
  const lines = (await readFile(join(ROOT, page), 'utf8')).split('\n');
  const commands: string[] = [];
  let fence: string | undefined;
  for (const line of lines) {
    const edge = /^ *```(\w*)$/.exec(line);
    if (edge) {
      fence = fence === undefined ? (edge[1] as string) : undefined;
      continue;
    }
    const before = commands.at(-1);
    const isShell =
      fence === undefined
        ? (before?.endsWith('\\') ? /^ {4}/ : /^ {4}\S/).test(line)
        : ['', 'sh', 'console'].includes(fence);
    const text = line.trim();
    // One command on two lines.
    if (isShell && before?.endsWith('\\') === true)
      commands.splice(-1, 1, `${before.slice(0, -1).trimEnd()} ${text}`);
    else if (isShell && text !== '' && !isFormula(text)) commands.push(text);
  }
  return commands;
}

/** The JSON blocks of a page. */
export async function jsonOf(page: string): Promise<string[]> {
  const text = await readFile(join(ROOT, page), 'utf8');
  return [...text.matchAll(/^ *```json\n([\s\S]*?)^ *```$/gm)].map((match) => match[1] ?? '');
}

/** `free = balance - held`, `fill(bytes32 orderId, …)`: nothing that anybody types. */
const isFormula = (text: string): boolean =>
  /^[a-z ]+(?:[-+] [a-z ]+)* = /i.test(text) ||
  /^[-+=] /.test(text) ||
  /^\w+\(|^uint\d+ |^keccak|^abi\./.test(text);
