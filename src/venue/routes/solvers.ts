/** GET /solvers */

import type { z } from 'zod';
import type { Chain } from '../../domain/chain.ts';
import { parseCorridor } from '../../domain/corridor.ts';
import type { Route } from '../../ports/http.ts';
import { invalid } from '../../protocol/errors.ts';
import { zSolversQuery, zSolversResponse } from '../../protocol/roster.ts';
import type { Roster } from '../roster.ts';
import type { Workspaces } from '../workspaces.ts';

type Query = z.infer<typeof zSolversQuery>;

export function solversRoute({ roster, workspaces, chains }: { roster: Roster; workspaces: Workspaces; chains: ReadonlyMap<number, Chain> }, path: string, tag: string): Route<unknown, Query> {
  return {
    method: 'GET',
    path,
    keyKinds: ['service'],
    rate: 'read',
    tag,
    summary: 'Solvers and LPs that this workspace may trade with, and who of them is pricing now',
    query: zSolversQuery,
    response: zSolversResponse,
    async handle({ query, key }) {
      for (const corridor of query.corridor ?? []) {
        if (!parseCorridor(corridor, chains.values())) throw invalid('value_error', ['query', 'corridor'], `"${corridor}" is not a corridor: write <source>-<dest> with slugs of GET …/pairs.`);
      }
      const { eligibleSolvers } = await workspaces.of(key);
      const shown = [...roster.entries()].filter(
        (entry) =>
          (!eligibleSolvers || eligibleSolvers.includes(entry.id)) &&
          (!query.status || query.status.includes(entry.status)) &&
          (!query.corridor || query.corridor.some((corridor) => entry.corridors.has(corridor))),
      );
      return { solvers: shown.map(roster.view) };
    },
  };
}
