/** What a route needs of a schema, named so that rooms above need not know the library. */

import { z } from 'zod';
import { fieldsOf } from './link/plain.ts';

export type Schema<T = unknown> = z.ZodType<T>;

/** An object without any field. */
export const zNothing: Schema = z.strictObject({});

/** The same, without asking the schema. */
export const plainNothing = (json: unknown): object | undefined =>
  typeof json === 'object' && json !== null && !Array.isArray(json) && fieldsOf(json) === 0
    ? json
    : undefined;
