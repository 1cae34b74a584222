/**
 * RFC 8785 canonical JSON: one text per value, so that a MAC over it binds the value and not its spelling.
 */

import { InvariantError } from '../domain/errors.ts';

/**
 * Depth is bounded by the strict reader (32) for what comes from outside, and by our own shapes for the rest.
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    // JSON.stringify writes strings and numbers exactly as RFC 8785 asks; lone surrogates never pass the
    // strict reader.
    case 'string':
      return quoted(value);
    case 'boolean':
      return value ? 'true' : 'false';
    case 'number':
      if (!Number.isFinite(value))
        throw new InvariantError('JSON has no spelling for a number that is not finite.');
      return JSON.stringify(value);
    case 'object': {
      if (value === null) return 'null';
      if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
      return canonicalObject(value as Record<string, unknown>);
    }
    default:
      throw new InvariantError(`JSON has no spelling for a ${typeof value}.`);
  }
}

/**
 * Texts of frozen objects that never change (the EIP-712 type table): written once, kept as long as they
 * live.
 */
const constants = new WeakMap<object, string>();

function canonicalObject(object: Record<string, unknown>): string {
  const known = constants.get(object);
  if (known !== undefined) return known;
  let text = '{';
  for (const key of sorted(Object.keys(object))) {
    const value = object[key];
    if (value === undefined) continue;
    text += `${text.length > 1 ? ',' : ''}${quoted(key)}:${canonicalJson(value)}`;
  }
  text += '}';
  if (Object.isFrozen(object)) constants.set(object, text);
  return text;
}

/** What comes back from a taker stands in this order already. */
function sorted(keys: string[]): string[] {
  for (let at = 1; at < keys.length; at++)
    if ((keys[at - 1] as string) > (keys[at] as string)) return keys.sort();
  return keys;
}

const PLAIN = /^[ !#-[\]-~]*$/;
const quoted = (text: string): string => (PLAIN.test(text) ? `"${text}"` : JSON.stringify(text));
