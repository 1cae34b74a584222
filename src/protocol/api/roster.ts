/** GET …/solvers: who is on the roster, and why a solver is not asked. */

import { z } from 'zod';

const ROSTER_STATUSES = ['active', 'standby', 'offline'] as const;

const oneOrMany = <S extends z.ZodType<string>>(schema: S) =>
  z.union([z.array(schema).max(50), schema.transform((one) => [one])]);

export const zSolversQuery = z.strictObject({
  status: oneOrMany(z.enum(ROSTER_STATUSES)).optional(),
  corridor: oneOrMany(z.string().max(80)).optional(),
});

export const zSolver = z.object({
  id: z.string(),
  status: z.enum(ROSTER_STATUSES),
  kind: z.enum(['lp', 'solver']),
  corridors: z.array(z.string()),
  /** Absent until it has connected for the first time, and until it has quoted. */
  firstSeenAt: z.iso.datetime().optional(),
  lastQuoteAt: z.iso.datetime().optional(),
  eligibilityNote: z.string().nullable(),
});
export type Solver = z.infer<typeof zSolver>;

export const zSolversResponse = z.object({ solvers: z.array(zSolver) });
