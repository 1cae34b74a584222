/** What a route needs of a schema, named so that rooms above need not know the library. */

import { z } from 'zod';

export type Schema<T = unknown> = z.ZodType<T>;

/** An object without any field. */
export const zNothing: Schema = z.strictObject({});
