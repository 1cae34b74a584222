/** Aligns columns for a terminal. */

import { type Amount, formatUnits } from '../../domain/amount.ts';

export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { right = [] }: { right?: readonly string[] } = {},
): string[] {
  const widths = headings.map((heading, column) =>
    Math.max(heading.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    headings
      .map((heading, column) =>
        right.includes(heading)
          ? (cells[column] ?? '').padStart(widths[column] ?? 0)
          : (cells[column] ?? '').padEnd(widths[column] ?? 0),
      )
      .join('  ')
      .trimEnd();
  return [line(headings), ...rows.map(line)];
}

export const printLines = (lines: readonly string[]): void => lines.forEach((line) => console.log(line));

/** Shortens whole tokens for a column: cut after six decimals, which "…" shows. */
export const shortUnits = (amount: Amount, decimals: number): string =>
  formatUnits(amount, decimals).replace(/(\.\d{6})\d+$/, '$1…');

export const CUT_NOTE =
  'Amounts are whole tokens; "…" cuts them after six decimals. --json has all digits, in base units.';

/** Millionths of USD as "-1,234.56", rounded to the nearest cent. */
export function usdText(micros: bigint): string {
  const cents = (micros < 0n ? -micros + 5_000n : micros + 5_000n) / 10_000n;
  const whole = (cents / 100n).toString().replace(/\B(?=(\d{3})+$)/g, ',');
  return `${micros < 0n && cents > 0n ? '-' : ''}${whole}.${(cents % 100n).toString().padStart(2, '0')}`;
}
