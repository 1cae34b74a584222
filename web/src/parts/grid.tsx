/** A table of rows that the page has: it sorts and searches them itself. */

import { Box, TextField } from '@radix-ui/themes';
import { type ReactNode, useMemo, useState } from 'react';
import { RowsTable, type Sorted } from './table.tsx';

export interface Column<Row> {
  name: string;
  /** Returns what the cell shows. */
  show(row: Row): ReactNode;
  /** Returns the value that is compared and searched. */
  value(row: Row): string | number;
  end?: boolean;
}

export function Grid<Row>({
  label,
  rows,
  columns,
  keyOf,
  open,
  empty,
  sortedBy,
}: {
  label: string;
  rows: readonly Row[];
  columns: readonly Column<Row>[];
  keyOf(row: Row): string;
  open?(row: Row): void;
  empty: string;
  sortedBy?: Sorted;
}) {
  const [sorted, setSorted] = useState(sortedBy);
  const [filter, setFilter] = useState('');

  const shown = useMemo(() => {
    const wanted = filter.trim().toLowerCase();
    const found =
      wanted === ''
        ? [...rows]
        : rows.filter((row) =>
            columns.some(({ value }) => String(value(row)).toLowerCase().includes(wanted)),
          );
    const column = columns.find(({ name }) => name === sorted?.by);
    if (column === undefined) return found;
    const sign = sorted?.down === true ? -1 : 1;
    return found.sort((a, b) => {
      const [left, right] = [column.value(a), column.value(b)];
      return left === right ? 0 : (left < right ? -1 : 1) * sign;
    });
  }, [rows, columns, filter, sorted]);

  return (
    <Box>
      {rows.length > 8 && (
        <TextField.Root
          mb="2"
          size="2"
          placeholder={`Search ${shown.length} of ${rows.length}`}
          aria-label={`Search in ${label}`}
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <RowsTable
        label={label}
        total={shown.length}
        rowAt={(index) => shown[index]}
        columns={columns.map(({ name, show, end = false }) => ({ name, sort: name, show, end }))}
        keyOf={keyOf}
        open={open}
        sorted={sorted}
        onSort={(by) => setSorted({ by, down: sorted?.by === by ? !sorted.down : false })}
        empty={rows.length === 0 ? empty : 'Nothing matches the search.'}
      />
    </Box>
  );
}
