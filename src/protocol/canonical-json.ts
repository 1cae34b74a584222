/** RFC 8785 canonical JSON: one text per value, so that a MAC over the text binds the value. */

import canonicalize from 'canonicalize';
import { InvariantError } from '../domain/errors.ts';

/** Throws for a number that is not finite, a lone surrogate, and anything that JSON cannot hold. */
export function canonicalJson(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new InvariantError(`JSON cannot hold a ${typeof value}.`);
  return text;
}
