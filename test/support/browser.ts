/** Debian's Chromium, driven from a test. */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

export function openBrowser(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const executablePath = folders.map((folder) => join(folder, 'chromium')).find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error('This test needs Chromium: sudo apt-get install -y chromium');
  return chromium.launch({ executablePath, args: ARGUMENTS });
}
