/** The schema type of routes, so that rooms above do not import zod. */

import { z } from 'zod';

export type Schema<T = unknown> = z.ZodType<T>;

/** An object without any field. */
export const zNothing: Schema = z.strictObject({});
