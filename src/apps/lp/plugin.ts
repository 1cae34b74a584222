/** Loads and validates a pricing plug-in. */

import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pluginProblems } from '../../pricing/plugin.ts';
import type { PricingPlugin } from '../../pricing/price-inputs.ts';
import { badConfig } from '../bad-request.ts';

export async function loadPlugin(path: string): Promise<PricingPlugin> {
  const file = resolve(path);
  const bad = (why: string, cause?: unknown) =>
    badConfig(
      `The pricing module ${file} cannot be used: ${why}. See docs/lp/pricing-plugins.md for what it has to export.`,
      cause,
    );
  await access(file).catch((cause: unknown) => {
    throw bad('there is no such file, or it may not be read', cause);
  });
  const module = (await import(pathToFileURL(file).href).catch((cause: unknown) => {
    throw bad(
      `it throws when it is loaded (${cause instanceof Error ? cause.message : String(cause)})`,
      cause,
    );
  })) as { default?: unknown };
  if (module.default === undefined) throw bad('it has no default export');
  const problems = pluginProblems(module.default);
  if (problems.length > 0) throw bad(problems.join('; '));
  return module.default as PricingPlugin;
}
