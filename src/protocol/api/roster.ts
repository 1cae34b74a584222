/** GET …/solvers: who is on the roster, and why a solver is not asked. */

import * as z from 'zod';
import { zExplained } from '../schema.ts';

const zStatus = zExplained('Whether the solver quotes now.', {
  active: 'pricing now, and asked for quotes',
  standby: 'eligible, and for now not pricing: maintenance, inventory, risk',
  offline: 'unreachable or disabled, and not asked',
}).meta({ id: 'SolverStatus' });

const oneOrMany = <S extends z.ZodType<string>>(schema: S) =>
  z.union([z.array(schema).max(50), schema.transform((one) => [one])]);

export const zSolversQuery = z.strictObject({
  status: oneOrMany(zStatus)
    .optional()
    .describe('Only solvers of this status; repeat it for several. Absent: all.'),
  corridor: oneOrMany(z.string().max(80))
    .optional()
    .describe('Only solvers of this corridor, `<source>-<dest>` in chain slugs; repeat it for several.'),
});

export const zSolver = z
  .object({
    id: z.string().describe('Roster id, as in `solverId` of candidates.'),
    status: zStatus,
    kind: zExplained('What it trades from.', {
      lp: 'a liquidity provider with inventory of its own',
      solver: 'a solver that finds the liquidity elsewhere',
    }).meta({ id: 'SolverKind' }),
    corridors: z
      .array(z.string())
      .describe('What it may quote, as `<source>-<dest>` in chain slugs, sorted.'),
    firstSeenAt: z.iso
      .datetime()
      .optional()
      .describe('When it connected for the first time. Absent until then.'),
    lastQuoteAt: z.iso.datetime().optional().describe('When it quoted last. Absent until it has.'),
    eligibilityNote: z.string().nullable().describe('Why it does not quote, for people. null when none.'),
  })
  .meta({ id: 'Solver', description: 'An entry of the roster.' });
export type Solver = z.infer<typeof zSolver>;

export const zSolversResponse = z
  .object({ solvers: z.array(zSolver).describe('Those that match and that the workspace may trade with.') })
  .meta({ id: 'SolversResponse', description: 'The roster.' });
