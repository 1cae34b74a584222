/**
 * Tables of fields and the walk that holds live answers against them: name, type, nullability and presence of
 * every field, and no field besides.
 */

/** A named type; a list of words is an enum. */
export type Type =
  | 'text'
  | 'integer'
  | 'number'
  | 'boolean'
  | 'base units'
  | 'date-time'
  | 'unix seconds'
  | 'CAIP-19'
  | 'hex'
  | 'path'
  | 'object'
  | readonly string[]
  | Shape
  | { each: Type }
  | { byName: Type };

/** Sees the object that holds the field, and the whole answer. */
export type Rule =
  | 'always'
  | 'may be left out'
  | { when: string; so: (holder: Holder, answer: Holder) => boolean };
export type Holder = Record<string, unknown>;

/** `null` after the type: the field may be null. */
export type Row = readonly [name: string, type: Type, presence: Rule, nullable?: 'or null'];

export interface Shape {
  name: string;
  rows: readonly Row[];
}

export const shape = (name: string, ...rows: Row[]): Shape => ({ name, rows });

export interface Walk {
  /** Lists what is wrong with an answer, one line each. */
  problems(type: Type, value: unknown): string[];
  /** Rows that no answer has shown with a value so far, such as `GasEstimate.usd`. */
  unseen(shapes: readonly Shape[]): string[];
}

export function createWalk(): Walk {
  const seen = new Set<string>();

  function walk(type: Type, value: unknown, at: string, answer: Holder): string[] {
    if (typeof type === 'string') return TYPES[type](value) ? [] : [`${at}: ${show(value)} is not ${type}`];
    if (isWords(type))
      return type.includes(value as string) ? [] : [`${at}: ${show(value)} is none of ${type.join(', ')}`];
    if ('each' in type)
      return Array.isArray(value)
        ? value.flatMap((one, index) => walk(type.each, one, `${at}[${index}]`, answer))
        : [`${at}: ${show(value)} is no list`];
    if (!isObject(value)) return [`${at}: ${show(value)} is no object`];
    if ('byName' in type)
      return Object.entries(value).flatMap(([name, one]) => walk(type.byName, one, `${at}.${name}`, answer));
    const known = new Set(type.rows.map(([name]) => name));
    const extra = Object.keys(value)
      .filter((name) => !known.has(name))
      .map((name) => `${at}.${name}: no such field of ${type.name}`);
    return [...extra, ...type.rows.flatMap((row) => field(type, row, value, at, answer))];
  }

  function field(
    { name: shapeName }: Shape,
    [name, type, presence, nullable]: Row,
    holder: Holder,
    at: string,
    answer: Holder,
  ): string[] {
    const here = `${at}.${name}`;
    if (!Object.hasOwn(holder, name)) {
      const wanted = presence === 'always' || (typeof presence === 'object' && presence.so(holder, answer));
      return wanted ? [`${here}: missing${typeof presence === 'object' ? ` ${presence.when}` : ''}`] : [];
    }
    if (typeof presence === 'object' && !presence.so(holder, answer))
      return [`${here}: there, though only ${presence.when}`];
    const value = holder[name];
    if (value === null) return nullable ? [] : [`${here}: null, and never may be`];
    seen.add(`${shapeName}.${name}`);
    return walk(type, value, here, answer);
  }

  return {
    problems: (type, value) => walk(type, value, '$', isObject(value) ? value : {}),
    unseen: (shapes) =>
      shapes
        .flatMap(({ name: shapeName, rows }) => rows.map(([name]) => `${shapeName}.${name}`))
        .filter((row) => !seen.has(row)),
  };
}

const isObject = (value: unknown): value is Holder =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isWords = (type: Exclude<Type, string>): type is readonly string[] => Array.isArray(type);
const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 80);
const text = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);

const TYPES: Record<Extract<Type, string>, (value: unknown) => boolean> = {
  text: text(/\S/),
  integer: Number.isSafeInteger,
  number: Number.isFinite,
  boolean: (value) => typeof value === 'boolean',
  'base units': text(/^(?:0|[1-9]\d*)$/),
  'date-time': (value) =>
    text(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/)(value) &&
    Number.isFinite(Date.parse(value as string)),
  'unix seconds': (value) =>
    Number.isInteger(value) && (value as number) > 1_000_000_000 && (value as number) < 2 ** 32,
  'CAIP-19': text(/^eip155:[1-9]\d*\/erc20:0x[0-9a-f]{40}$/),
  hex: text(/^0x(?:[0-9a-f]{2})+$/),
  /** Matches a path of names and positions, as errors point at fields. */
  path: (value) =>
    Array.isArray(value) && value.every((step) => typeof step === 'string' || Number.isInteger(step)),
  object: isObject,
};
