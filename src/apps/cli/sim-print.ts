/** Rows for people, then the same as one line of JSON for programs. */

import type { Report, Row } from '../../sim/row.ts';

export function printReport({ ok, rows }: Report, notes: readonly string[] = []): void {
  for (const line of table(['figure', 'ours', 'reference', 'must hold', ''], rows.map((row) => [row.name, digits(row.ours), row.reference === null ? '' : digits(row.reference), row.reference === null ? '' : row.tolerance, verdict(row)]))) console.log(line);
  for (const note of notes) console.log(note);
  const missed = rows.filter((row) => !row.ok);
  console.log(ok ? `\n${rows.filter(({ reference }) => reference !== null).length} figures held, ${rows.filter(({ reference }) => reference === null).length} for information.` : `\n${missed.length} of ${rows.length} figures do not hold:\n${missed.map(({ name }) => `  ${name}`).join('\n')}`);
  console.log(JSON.stringify({ ok, rows }));
  if (!ok) process.exitCode = 1;
}

const verdict = ({ ok, reference }: Row): string => (!ok ? 'FAILS' : reference === null ? '' : 'ok');

/** Ten significant digits, without the noise of a float. */
export const digits = (value: number): string => (Number.isFinite(value) ? String(Number(value.toPrecision(10))) : String(value));

/** Columns as wide as their widest cell; all but the first to the right where every cell is a number. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? '').length)));
  const numeric = head.map((_, column) => column > 0 && rows.every((row) => /^[-+−]?[0-9][0-9,.e+-]*%?$|^$|^-$/.test(row[column] ?? '')));
  const line = (cells: readonly string[]) => cells.map((cell, column) => (numeric[column] ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0))).join('  ').trimEnd();
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)];
}
