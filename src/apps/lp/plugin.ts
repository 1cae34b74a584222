/** Loads and validates a pricing plug-in. */

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pluginProblems } from '../../pricing/plugin.ts';
import type { PricingPlugin } from '../../pricing/price-inputs.ts';
import { badConfig } from '../wiring/bad-request.ts';

/** A reload loads the file again when its text has changed; modules that it imports stay as they are. */
export interface LoadedPlugin {
  plugin: PricingPlugin;
  sha256: string;
}

export async function loadPlugin(path: string): Promise<LoadedPlugin> {
  const file = resolve(path);
  const bad = (why: string, cause?: unknown) =>
    badConfig(
      `The pricing module ${file} cannot be used: ${why}. See docs/lp/pricing-plugins.md for what it has to export.`,
      cause,
    );
  const text = await readFile(file).catch((cause: unknown) => {
    throw bad('there is no such file, or it may not be read', cause);
  });
  const sha256 = createHash('sha256').update(text).digest('hex');
  // Node keeps a module by its URL for ever, also when it threw: another text needs another URL.
  const url = `${pathToFileURL(file).href}?sha256=${sha256}`;
  const module = (await import(url).catch((cause: unknown) => {
    throw bad(
      `it throws when it is loaded (${cause instanceof Error ? cause.message : String(cause)})`,
      cause,
    );
  })) as { default?: unknown };
  if (module.default === undefined) throw bad('it has no default export');
  const problems = pluginProblems(module.default);
  if (problems.length > 0) throw bad(problems.join('; '));
  return { plugin: module.default as PricingPlugin, sha256 };
}
