/** Shows a table of any length: only the rows in view are drawn, so that 10,000 stay smooth. */

import { Table, Text } from '@radix-ui/themes';
import { type ReactNode, useEffect, useRef, useState } from 'react';

/** The order of the rows. `by`: the column's `sort`. */
export interface Sorted {
  by: string;
  down: boolean;
}

export interface TableColumn<Row> {
  name: string;
  /** The column's name in `Sorted`. Absent: the rows cannot be sorted by it. */
  sort?: string | undefined;
  show(row: Row): ReactNode;
  end?: boolean;
}

const ROW_PX = 41;
/** Rows beyond the edges of the view. */
const SPARE = 12;

export function RowsTable<Row>({
  label,
  total,
  rowAt,
  onRange,
  columns,
  keyOf,
  open,
  sorted,
  onSort,
  empty,
}: {
  label: string;
  total: number;
  /** undefined while nobody has answered for that row. */
  rowAt(index: number): Row | undefined;
  /** Called with the rows in view: from the first until before the last. */
  onRange?: ((from: number, until: number) => void) | undefined;
  columns: readonly TableColumn<Row>[];
  keyOf(row: Row): string;
  open?: ((row: Row) => void) | undefined;
  sorted: Sorted | undefined;
  /** The column whose head was pressed. */
  onSort(by: string): void;
  empty: string;
}) {
  const [top, setTop] = useState(0);
  const view = useRef<HTMLDivElement>(null);
  const height = view.current?.clientHeight ?? 600;
  const from = Math.max(0, Math.min(total, Math.floor(top / ROW_PX)) - SPARE);
  const until = Math.min(total, Math.ceil((top + height) / ROW_PX) + SPARE);
  useEffect(() => onRange?.(from, until), [from, until, onRange]);
  const rest = (count: number) =>
    count > 0 && (
      <tr aria-hidden>
        <td style={{ height: count * ROW_PX, padding: 0 }} colSpan={columns.length} />
      </tr>
    );
  const head = (name: string, sort: string | undefined) =>
    sort === undefined ? (
      name
    ) : (
      <button type="button" className="sorter" onClick={() => onSort(sort)}>
        {name}
        {sorted?.by === sort ? (sorted.down ? ' ↓' : ' ↑') : ''}
      </button>
    );
  const cells = (row: Row) =>
    columns.map(({ name, show, end }, index) => (
      <Table.Cell key={name} justify={end === true ? 'end' : 'start'} style={{ whiteSpace: 'nowrap' }}>
        {index === 0 && open !== undefined ? (
          <button type="button" className="opener" onClick={() => open(row)}>
            {show(row)}
          </button>
        ) : (
          show(row)
        )}
      </Table.Cell>
    ));
  return (
    <div
      ref={view}
      className="scroll"
      role="region"
      aria-label={`Table: ${label}`}
      tabIndex={0}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <Table.Root size="1">
        <Table.Header>
          <Table.Row>
            {columns.map(({ name, sort, end }) => (
              <Table.ColumnHeaderCell
                key={name}
                justify={end === true ? 'end' : 'start'}
                aria-sort={
                  sort === undefined || sorted?.by !== sort
                    ? 'none'
                    : sorted.down
                      ? 'descending'
                      : 'ascending'
                }
              >
                {head(name, sort)}
              </Table.ColumnHeaderCell>
            ))}
          </Table.Row>
        </Table.Header>
        <Table.Body>
          {rest(from)}
          {Array.from({ length: Math.max(0, until - from) }, (_, index) => {
            const row = rowAt(from + index);
            return (
              <Table.Row key={row === undefined ? from + index : keyOf(row)} style={{ height: ROW_PX }}>
                {row === undefined ? (
                  <Table.Cell colSpan={columns.length}>
                    <Text color="gray">Reading …</Text>
                  </Table.Cell>
                ) : (
                  cells(row)
                )}
              </Table.Row>
            );
          })}
          {rest(total - until)}
        </Table.Body>
      </Table.Root>
      {total === 0 && (
        <Text as="p" size="2" color="gray" m="3">
          {empty}
        </Text>
      )}
    </div>
  );
}
