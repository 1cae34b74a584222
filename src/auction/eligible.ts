/** Selects the solvers to ask: by status, corridor, workspace and the request. */

export interface Entrant {
  id: string;
  status: 'active' | 'standby' | 'offline';
  corridors: ReadonlySet<string>;
}

export interface Gate {
  corridor: string;
  /** null: every onboarded solver. */
  workspace: readonly string[] | null;
  include: readonly string[] | null;
  exclude: readonly string[];
}

export function eligible<E extends Entrant>(
  roster: Iterable<E>,
  { corridor, workspace, include, exclude }: Gate,
): E[] {
  const chosen: E[] = [];
  for (const entrant of roster) {
    if (entrant.status !== 'active' || !entrant.corridors.has(corridor)) continue;
    if (workspace && !workspace.includes(entrant.id)) continue;
    if (include && !include.includes(entrant.id)) continue;
    if (exclude.includes(entrant.id)) continue;
    chosen.push(entrant);
  }
  return chosen;
}
