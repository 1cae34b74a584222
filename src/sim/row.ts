/** Defines one row of a report: our figure, its reference, and the tolerance. */

export interface ReportRow {
  name: string;
  ours: number;
  /** null: informational, without a published reference. */
  reference: number | null;
  tolerance: string;
  ok: boolean;
}

export interface SimReport {
  ok: boolean;
  rows: ReportRow[];
}

export const reportOf = (rows: ReportRow[]): SimReport => ({ ok: rows.every(({ ok }) => ok), rows });

export const informs = (name: string, ours: number): ReportRow => ({
  name,
  ours,
  reference: null,
  tolerance: 'informs',
  ok: Number.isFinite(ours),
});

export const allInform = (figures: Readonly<Record<string, number>>, source = ''): ReportRow[] =>
  Object.entries(figures).map(([name, ours]) => informs(`${source}${name}`, ours));

/** Compares every printed digit, rounded or truncated. */
export function asPrinted(name: string, ours: number, printed: string): ReportRow {
  const reference = Number(printed);
  const unit =
    10 ** (Number(/e(.+)$/.exec(printed)?.[1] ?? 0) - (/\.([0-9]+)/.exec(printed)?.[1]?.length ?? 0));
  const ok = Math.abs(ours - reference) <= unit / 2 + 4 * Number.EPSILON * Math.abs(reference);
  return { name, ours, reference, tolerance: 'every printed digit', ok };
}

export const allAsPrinted = (
  source: string,
  figures: readonly (readonly [name: string, ours: number, printed: string])[],
): ReportRow[] => figures.map(([name, ours, printed]) => asPrinted(`${source}: ${name}`, ours, printed));

/** Allows a share of the reference: 0.02 is 2 %. */
export function within(name: string, ours: number, reference: number, share: number): ReportRow {
  return {
    name,
    ours,
    reference,
    tolerance: `${Number((share * 100).toPrecision(3))} %`,
    ok: Math.abs(ours - reference) <= share * Math.abs(reference),
  };
}

/** Allows a `distance` from the reference; `because` explains it. */
export function near(
  name: string,
  ours: number,
  reference: number,
  distance: number,
  because: string,
): ReportRow {
  return { name, ours, reference, tolerance: because, ok: Math.abs(ours - reference) <= distance };
}

export const exactly = (name: string, ours: number, reference: number): ReportRow => ({
  name,
  ours,
  reference,
  tolerance: 'exactly',
  ok: ours === reference,
});

export const atMost = (name: string, ours: number, reference: number): ReportRow => ({
  name,
  ours,
  reference,
  tolerance: 'at most',
  ok: ours <= reference,
});

export const atLeast = (name: string, ours: number, reference: number): ReportRow => ({
  name,
  ours,
  reference,
  tolerance: 'at least',
  ok: ours >= reference,
});
