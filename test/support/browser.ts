/** Drives Chromium without windows from a test. */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { AxeBuilder } from '@axe-core/playwright';
import { expect } from 'vitest';

export const SCREENS = {
  light: { viewport: { width: 1_280, height: 900 }, colorScheme: 'light' },
  dark: { viewport: { width: 1_280, height: 900 }, colorScheme: 'dark' },
  phone: { viewport: { width: 360, height: 740 }, colorScheme: 'light' },
} as const;
export type Screen = keyof typeof SCREENS;
export const SCREEN_NAMES = Object.keys(SCREENS) as Screen[];
const ALL = process.env['CI'] !== 'true';
/** The screens on which a whole story is played: all, but one in CI. */
export const screens: readonly Screen[] = ALL ? SCREEN_NAMES : ['light'];

/** Returns the pages to check on this screen: all of them, but in CI each page on one screen. */
export const shownOn = <T>(screen: Screen, pages: readonly T[]): readonly T[] =>
  ALL ? pages : pages.filter((_, at) => SCREEN_NAMES[at % SCREEN_NAMES.length] === screen);

const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'];

export function openBrowser(): Promise<Browser> {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  const executablePath = ['chromium-headless-shell', 'chromium']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
  if (executablePath === undefined)
    throw new Error('This test needs Chromium: sudo apt-get install -y chromium-headless-shell');
  return chromium.launch({ executablePath, args: ARGUMENTS });
}

/**
 * Resolves when nothing moves or fades any more: before that, colours are not those of the page. It asks anew
 * from here, since the policy of the pages forbids the code with which `waitForFunction` would wait in them.
 */
const still = (page: Page): Promise<void> =>
  expect.poll(() => page.evaluate<boolean>(NOTHING_MOVES)).toBe(true);

const NOTHING_MOVES = `document.getAnimations().every(({ playState, effect }) =>
  playState !== 'running' || effect.getTiming().iterations === Infinity)`;

/** Lists what axe finds wrong with the page as it stands, with the elements. */
export async function faultsOfAccess(page: Page): Promise<string[]> {
  await still(page);
  // Pages of ours have no frames, for which axe would open another page and copy all its results there.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode();
  return (await axe.analyze()).violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' | ')}`,
  );
}
