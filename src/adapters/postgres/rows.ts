/** Converts between rows and objects: column `created_at_ms` is field `createdAtMs`, bytes are 0x hex. */

import { bytesToHex, type Bytes32, type Hex } from '../../domain/hex.ts';
import { encodeWords } from '../../domain/abi.ts';
import type { Queryable, Row, Statement } from './pool.ts';

export const bytes = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex');
export const toHex = (buffer: Buffer): Bytes32 => bytesToHex(buffer);
export const uintBytes = (value: bigint): Buffer => Buffer.from(encodeWords([value]));

const fields = new Map<string, string>();

function fieldOf(column: string): string {
  let field = fields.get(column);
  if (field === undefined)
    fields.set(column, (field = column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())));
  return field;
}

const columnOf = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `bigints` names the columns of decimal text that become bigints. */
export function fromRow<T>(row: Row, bigints: readonly string[] = []): T {
  const made: Row = {};
  for (const [column, value] of Object.entries(row))
    made[fieldOf(column)] = Buffer.isBuffer(value)
      ? toHex(value)
      : value !== null && bigints.includes(column)
        ? BigInt(value as string)
        : value;
  return made as T;
}

export async function select<T>(
  db: Queryable,
  statement: Statement | string,
  values: readonly unknown[] = [],
  bigints: readonly string[] = [],
): Promise<T[]> {
  return (await db.query(statement, values)).map((row) => fromRow<T>(row, bigints));
}

interface PutOptions {
  key?: string;
  name?: string;
}

/**
 * Inserts one column per field: bigints as decimal text, objects as JSON, arrays as SQL arrays. Sorted,
 * because a statement's name stands for one text, whatever the order of the row's fields.
 */
export async function put(
  db: Queryable,
  table: string,
  row: object,
  { key, name }: PutOptions = {},
): Promise<void> {
  const entries = Object.entries(row).sort(([one], [other]) => (one < other ? -1 : 1));
  const columns = entries.map(([field]) => columnOf(field));
  const updates = columns
    .filter((column) => !key?.split(', ').includes(column))
    .map((column) => `${column} = excluded.${column}`);
  const text =
    `insert into ${table} (${columns.join(', ')}) values (${columns.map((_, at) => `$${at + 1}`).join(', ')})` +
    (key === undefined ? '' : ` on conflict (${key}) do update set ${updates.join(', ')}`);
  const values = entries.map(([, value]) => toValue(value));
  await db.query(name === undefined ? text : { name, text }, values);
}

/** Updates the columns of the given fields, as `put` writes them, of the row with that id. */
export async function patch(db: Queryable, table: string, id: string, change: object): Promise<void> {
  const entries = Object.entries(change);
  if (entries.length === 0) return;
  const columns = entries.map(([field], at) => `${columnOf(field)} = $${at + 2}`);
  await db.query(`update ${table} set ${columns.join(', ')} where id = $1`, [
    id,
    ...entries.map(([, value]) => toValue(value)),
  ]);
}

function toValue(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  const isJson =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
  return isJson ? JSON.stringify(value) : value;
}
