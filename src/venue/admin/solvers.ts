/** Solvers: onboarded, changed, disabled. Every replica's roster follows. */

import type { NewSolver, OnboardedView, SolverChange } from '../../protocol/admin/admin.ts';
import { SOLVERS_TOPIC } from '../solvers/roster.ts';
import { type AdminDeps, conflict, missing, recorder } from './change.ts';
import { solverView } from './views.ts';

export interface SolverAdmin {
  list(): Promise<OnboardedView[]>;
  /** Throws 409 when it exists. */
  add(who: string, solver: NewSolver): Promise<OnboardedView>;
  /** Absent fields stay. Disabling closes the solver's connections. Throws 404. */
  set(who: string, id: string, change: SolverChange): Promise<OnboardedView>;
}

export function createSolverAdmin({ store, venue, clock }: AdminDeps): SolverAdmin {
  return {
    list: async () => (await venue.listSolvers()).map(solverView),
    add: (who, { id, name, kind = 'lp', corridors = null, disabled = false }) =>
      store.change(async (tx) => {
        if (await tx.solver(id)) throw conflict(`There is a solver "${id}" already.`);
        const solver = { id, name, kind, corridors, disabled };
        const after = solverView({ ...solver, firstSeenAtMs: null, lastQuoteAtMs: null });
        await tx.putSolver(solver);
        await recorder(tx, who, clock).record('solver.add', null, id, null, after);
        await tx.announce(SOLVERS_TOPIC, id);
        return after;
      }),
    set: (who, id, { name, kind, corridors, disabled }) =>
      store.change(async (tx) => {
        const before = await tx.solver(id);
        if (!before) throw missing('solver', id);
        const solver = {
          ...before,
          name: name ?? before.name,
          kind: kind ?? before.kind,
          corridors: corridors === undefined ? before.corridors : corridors,
          disabled: disabled ?? before.disabled,
        };
        const after = solverView(solver);
        await tx.putSolver(solver);
        await recorder(tx, who, clock).record('solver.set', null, id, solverView(before), after);
        await tx.announce(SOLVERS_TOPIC, id);
        return after;
      }),
  };
}
