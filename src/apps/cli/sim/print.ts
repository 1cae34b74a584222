/** Prints a report as a table and, last, as one line of JSON. */

import type { SimReport, ReportRow } from '../../../sim/row.ts';
import { printLines, table } from '../../terminal/table.ts';

export function printReport({ ok, rows }: SimReport, notes: readonly string[] = []): void {
  printLines(
    table(
      ['figure', 'ours', 'reference', 'must hold', ''],
      rows.map((row) => [
        row.name,
        digits(row.ours),
        row.reference === null ? '' : digits(row.reference),
        row.reference === null ? '' : row.tolerance,
        verdict(row),
      ]),
      { right: ['ours', 'reference'] },
    ),
  );
  printLines(notes);
  const missed = rows.filter((row) => !row.ok);
  console.log(
    ok
      ? `\n${rows.filter(({ reference }) => reference !== null).length} figures held, ${rows.filter(({ reference }) => reference === null).length} for information.`
      : `\n${missed.length} of ${rows.length} figures do not hold:\n${missed.map(({ name }) => `  ${name}`).join('\n')}`,
  );
  console.log(JSON.stringify({ ok, rows }));
  if (!ok) process.exitCode = 1;
}

const verdict = ({ ok, reference }: ReportRow): string => (!ok ? 'FAILS' : reference === null ? '' : 'ok');

const digits = (value: number): string =>
  Number.isFinite(value) ? String(Number(value.toPrecision(10))) : String(value);
