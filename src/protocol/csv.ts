/** CSV cells (RFC 4180). No cell is a formula in a spreadsheet. */

/** A bare number, negative ones included, is no formula. */
export type CsvCell = string | number | null | undefined;

/** Matches texts that a spreadsheet takes for a formula, also after a full-width sign. */
const FORMULA = /^[=+\-@\t\r\n\0\uFF1D\uFF0B\uFF0D\uFF20]/u;
const NUMBER = /^-?\d+(?:\.\d+)?$/;

function cellOf(cell: CsvCell): string {
  if (typeof cell !== 'string') return String(cell ?? '');
  const guarded = FORMULA.test(cell) && !NUMBER.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

/** Returns the line without a line break. */
export const csvLineOf = (cells: readonly CsvCell[]): string => cells.map(cellOf).join(',');
