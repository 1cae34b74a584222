/** A change of a solver's status as the stream and webhooks tell it. */

import { toIso } from '../../domain/time.ts';
import type { Solver } from '../../protocol/api/roster.ts';

export const solverFrame = (data: Solver, atMs: number): string =>
  JSON.stringify({ topic: 'solvers', type: 'solver.changed', occurredAt: toIso(atMs), data });
