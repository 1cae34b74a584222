/** GET /solvers/{id}/firmness */

import type * as z from 'zod';
import type { Route } from '../../ports/http.ts';
import { ApiError } from '../../protocol/errors.ts';
import { zFirmness, zFirmnessParams } from '../../protocol/api/firmness.ts';
import type { Workspaces } from '../access/workspaces.ts';
import type { FirmnessViews } from '../solvers/firmness.ts';
import type { Roster } from '../solvers/roster.ts';

export function firmnessRoute({
  firmness,
  roster,
  workspaces,
}: {
  firmness: FirmnessViews;
  roster: Roster;
  workspaces: Workspaces;
}): Route<unknown, unknown, z.infer<typeof zFirmnessParams>> {
  return {
    method: 'GET',
    path: '/api/v1/solvers/:id/firmness',
    keyKinds: ['service'],
    rate: 'read',
    load: 'history',
    tag: 'roster',
    summary: 'Whether a solver keeps its promises: bonds, settled and failed orders, claims, answer times',
    params: zFirmnessParams,
    response: zFirmness,
    async handle({ params, key }) {
      const { eligibleSolvers } = await workspaces.of(key);
      const entry = roster.entry(params.id);
      // Of the other mode, or of another workspace's choice: like a solver that does not exist.
      const mayTrade = !eligibleSolvers || eligibleSolvers.includes(params.id);
      if (!entry || !mayTrade || roster.view(entry, key.mode) === undefined)
        throw new ApiError('not_found', 'No such solver: GET /api/v1/solvers lists them.');
      return firmness.view(params.id, key.mode);
    },
  };
}
