/**
 * RFC 8785 canonical JSON: one text per value, so that a MAC over the text binds the value. Our own writer,
 * because a venue seals each candidate of each answer: 15 us each, against 37 us with the `canonicalize`
 * package. A test holds the two equal.
 */

import { InvariantError } from '../domain/errors.ts';

/** Text that JSON writes as it stands: printable ASCII without quotes and backslashes. */
const PLAIN = /^[ !#-[\]-~]*$/;
/** With the `u` flag this matches a surrogate without its pair only. */
const LONE_SURROGATE = /\p{Surrogate}/u;

const constants = new WeakMap<object, string>();

/** Writes `value`, which must never change, only once: two thirds of a candidate are the same each time. */
export function rememberCanonical(value: object): void {
  constants.set(value, canonicalJson(value));
}

/** Throws for a number that is not finite, a lone surrogate, and anything that JSON cannot hold. */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'boolean' || value === null) return String(value);
  if (typeof value === 'number' && Number.isFinite(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object')
    return constants.get(value) ?? canonicalObject(value as Record<string, unknown>);
  throw new InvariantError(`JSON cannot hold ${typeof value === 'number' ? value : `a ${typeof value}`}.`);
}

/** Keys in the order of their UTF-16 code units; absent values are left out. */
function canonicalObject(object: Record<string, unknown>): string {
  let text = '';
  for (const key of Object.keys(object).sort()) {
    const value = object[key];
    if (value !== undefined) text += `${text === '' ? '' : ','}${quoted(key)}:${canonicalJson(value)}`;
  }
  return `{${text}}`;
}

function quoted(text: string): string {
  if (PLAIN.test(text)) return `"${text}"`;
  if (LONE_SURROGATE.test(text)) throw new InvariantError('JSON cannot hold a lone surrogate.');
  return JSON.stringify(text);
}
