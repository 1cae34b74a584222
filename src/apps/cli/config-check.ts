/** `firmquote config check FILE`. */

import type * as z from 'zod';
import type { LpAppConfig } from '../lp/config.ts';
import { ConfigError, parseConfig, readJson } from '../config/load.ts';
import { printConfig } from '../config/print.ts';
import { printLines } from '../terminal/table.ts';

const APPS = ['venue', 'lp', 'attester', 'deploy', 'demo', 'take'] as const;
export type App = (typeof APPS)[number];

export async function schemaOf(app: App): Promise<z.ZodType> {
  if (app === 'venue') return (await import('../venue/config.ts')).zVenueConfig;
  if (app === 'lp') return (await import('../lp/config.ts')).zLpAppConfig;
  if (app === 'attester') return (await import('../attester/config.ts')).zAttesterConfig;
  if (app === 'deploy') return (await import('../deploy/config.ts')).zDeployConfig;
  if (app === 'take') return (await import('../take/config.ts')).zTakeConfig;
  return (await import('../demo/config.ts')).zDemoConfig;
}

export async function checkConfig(path: string, wanted: App | undefined): Promise<void> {
  const file = await readJson(path);
  const app = wanted ?? appOf(file, path);
  const { config, fromEnv } = parseConfig(await schemaOf(app), file, process.env, path);
  if (app === 'lp') {
    const { lpWarnings, withEffectiveParams } = await import('../lp/config.ts');
    const understood = config as LpAppConfig;
    printLines(printConfig(withEffectiveParams(understood), { file, fromEnv }));
    for (const warning of lpWarnings(understood)) console.log(`\nWARNING: ${warning}`);
  } else printLines(printConfig(config, { file, fromEnv }));
  console.log(`\n${path} is a valid configuration of ${app}.`);
}

export function appOf(file: unknown, path: string): App {
  const app = typeof file === 'object' && file !== null && 'app' in file ? file.app : undefined;
  const known = APPS.find((name) => name === app);
  if (!known)
    throw new ConfigError(path, [
      `app: must say what this file configures, one of ${APPS.map((name) => `"${name}"`).join(', ')}`,
    ]);
  return known;
}
