/** Debian's Chromium, driven from a test. */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

export function openBrowser(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const executablePath = folders.map((folder) => join(folder, 'chromium')).find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error('This test needs Chromium: sudo apt-get install -y chromium');
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

/** Resolves when nothing moves or fades any more: before that, colours are not those of the page. */
export const still = (page: Page): Promise<unknown> => page.waitForFunction(NOTHING_MOVES);

const NOTHING_MOVES = `document.getAnimations().every(({ playState, effect }) =>
  playState !== 'running' || effect.getTiming().iterations === Infinity)`;
