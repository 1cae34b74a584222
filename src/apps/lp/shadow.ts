/** `firmquote lp --shadow`: its configuration, its tables, and its report in the admin API. */

import type { OpsRoute } from '../../adapters/http/ops.ts';
import { LP_SHADOW_MIGRATIONS } from '../../adapters/postgres/migrations/lp-shadow.ts';
import type { LpNode } from '../../lp/node/interface.ts';
import { type Loaded, parseConfig } from '../config/load.ts';
import { getRoute } from './admin/route.ts';
import { WINDOW_KEYS, windowOf } from './books.ts';
import { type LpAppConfig, zLpAppConfig } from './config.ts';
import { LP_TABLES } from './schema.ts';

/** A schema of its own: opening that of an LP that trades would take the LP over. */
export const SHADOW_DATABASE = {
  schema: 'lp_shadow',
  migrations: [...LP_TABLES, ...LP_SHADOW_MIGRATIONS],
} as const;

/** Parts that shadow mode never uses. They may be missing or wrong in the file. */
const UNUSED = {
  keys: { operator: { keystore: 'shadow mode opens no key', passwordEnv: 'NONE' } },
  replicas: {},
  transfers: { mode: 'off' },
} as const;
const UNUSED_ENV = /^FIRMQUOTE__(?:KEYS|REPLICAS|TRANSFERS)__/i;

export function parseShadowConfig(json: unknown, env: NodeJS.ProcessEnv, file: string): Loaded<LpAppConfig> {
  const isObject = typeof json === 'object' && json !== null && !Array.isArray(json);
  const used = Object.fromEntries(Object.entries(env).filter(([name]) => !UNUSED_ENV.test(name)));
  return parseConfig(zLpAppConfig, isObject ? { ...json, ...UNUSED } : json, used, file);
}

export const shadowRoute = (node: Pick<LpNode, 'shadowReport'>): OpsRoute =>
  getRoute('/shadow', ({ query }) => node.shadowReport(windowOf(query)), WINDOW_KEYS);
