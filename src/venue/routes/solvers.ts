/** GET /solvers */

import type * as z from 'zod';
import type { Chain } from '../../domain/chain.ts';
import { parseCorridor } from '../../domain/corridor.ts';
import type { Route } from '../../ports/http.ts';
import { invalid } from '../../protocol/errors.ts';
import { zSolversQuery, zSolversResponse } from '../../protocol/api/roster.ts';
import { tradesOn } from '../market/markets.ts';
import type { Roster } from '../solvers/roster.ts';
import type { RouteRoster } from '../router/route-roster.ts';
import type { Workspaces } from '../access/workspaces.ts';

type Query = z.infer<typeof zSolversQuery>;

export function solversRoute(
  {
    roster,
    workspaces,
    chains,
    routes,
  }: {
    roster: Roster;
    workspaces: Workspaces;
    chains: ReadonlyMap<number, Chain>;
    /** Absent where no route venues are asked. */ routes?: RouteRoster;
  },
  path: string,
  tag: string,
): Route<unknown, Query> {
  return {
    method: 'GET',
    path,
    keyKinds: ['service'],
    rate: 'read',
    load: 'memory',
    tag,
    summary: 'Solvers and LPs that this workspace may trade with, and who of them is pricing now',
    query: zSolversQuery,
    response: zSolversResponse,
    async handle({ query, key }) {
      for (const corridor of query.corridor ?? []) {
        if (
          !parseCorridor(
            corridor,
            [...chains.values()].filter((chain) => tradesOn(chain, key.mode)),
          )
        )
          throw invalid(
            'value_error',
            ['query', 'corridor'],
            `"${corridor}" is not a corridor: write <source>-<dest> with slugs of GET …/pairs.`,
          );
      }
      const { eligibleSolvers } = await workspaces.of(key);
      const mayQuoteUs = ({ id }: { id: string }) => !eligibleSolvers || eligibleSolvers.includes(id);
      const solvers = [...roster.entries()]
        .filter(mayQuoteUs)
        .flatMap((entry) => roster.view(entry, key.mode) ?? []);
      const shown = [...solvers, ...(routes?.(key.mode) ?? []).filter(mayQuoteUs)];
      return {
        solvers: shown.filter(
          ({ status, corridors }) =>
            (!query.status || query.status.includes(status)) &&
            (!query.corridor || query.corridor.some((corridor) => corridors.includes(corridor))),
        ),
      };
    },
  };
}
