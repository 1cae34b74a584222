/** The licences of packages whose code is in what we build: each asks to be passed on with its code. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

/**
 * Returns the text of a NOTICE file: each package with code in one of these files, once, and the licences
 * that several share once. `files`: paths of modules; those outside node_modules count for nothing.
 */
export function noticesOf(files) {
  const folders = new Set(files.map(packageOf).filter(Boolean));
  const namesByText = new Map();
  for (const folder of [...folders].sort()) {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const text = textsIn(folder) || `License: ${license}`;
    namesByText.set(text, new Set(namesByText.get(text)).add(`${name} ${version}`));
  }
  const sections = [...namesByText].map(([text, names]) => `${[...names].join(', ')}\n\n${text}\n`);
  return ['Code of these packages is in the files beside this one.\n', ...sections].join(
    `\n${'-'.repeat(80)}\n\n`,
  );
}

/** A package may lie in the node_modules of another one. */
function packageOf(file) {
  const [, folder] =
    /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(resolve(file).replaceAll('\\', '/')) ?? [];
  return folder !== undefined && existsSync(join(folder, 'package.json')) ? folder : undefined;
}

const textsIn = (folder) =>
  readdirSync(folder)
    .filter((name) => /^(?:licen[cs]e|copying|notice)(?:[.-]|$)/i.test(name))
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n').trim())
    .join('\n\n');
