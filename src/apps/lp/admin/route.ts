/** Makes the reading routes of the LP's admin API, held to the types that its clients read. */

import type { OpsRoute } from '../../../adapters/http/ops.ts';
import type { AdminReads } from './answers.ts';

export const getRoute = <Path extends keyof AdminReads>(
  path: Path,
  answer: (request: Parameters<OpsRoute['handle']>[0]) => AdminReads[Path] | Promise<AdminReads[Path]>,
  query: readonly string[] = [],
): OpsRoute => ({
  method: 'GET',
  path,
  query,
  handle: async (request) => ({ status: 200, body: await answer(request) }),
});
