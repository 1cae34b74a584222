/** Serves the LP's pages for people: the admin token allows actions, the viewer's token only reading. */

import { join } from 'node:path';
import { startConsole } from '../../adapters/http/console.ts';
import type { OpsRoute, OpsServer } from '../../adapters/http/ops.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { PACKAGE_FOLDER } from '../../adapters/system/version.ts';
import type { Log } from '../../ports/log.ts';
import { SecretError, type SecretContext } from '../wiring/keys.ts';
import type { LpAppConfig } from './config.ts';
import { makeAdminToken } from './token.ts';

export async function startLpConsole(
  { console: wanted, tokenFile: adminTokenFile }: LpAppConfig['admin'],
  { routes, secrets, log }: { routes: readonly OpsRoute[]; secrets: SecretContext; log: Log },
): Promise<OpsServer | undefined> {
  if (wanted === null) return undefined;
  const { host, port, tokenFile, viewerTokenFile } = wanted;
  const operator = await tokenIn(tokenFile ?? adminTokenFile, secrets);
  if (operator === undefined)
    throw new SecretError(
      'The console needs a token to log in with: set admin.console.tokenFile or admin.tokenFile, or set admin.console to null.',
    );
  const viewer = await tokenIn(viewerTokenFile, secrets);
  return startConsole({
    host,
    port,
    folder: join(PACKAGE_FOLDER, 'dist', 'console'),
    routes,
    tokens: { operator, ...(viewer !== undefined && { viewer }) },
    clock: systemClock,
    log,
  });
}

async function tokenIn(file: string | null, secrets: SecretContext): Promise<string | undefined> {
  if (file === null) return undefined;
  const token = await makeAdminToken(file, secrets);
  secrets.redactor.hide(token);
  return token;
}
