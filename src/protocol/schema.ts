/** The schema type of routes, so that rooms above do not import zod. */

import { z } from 'zod';

export type Schema<T = unknown> = z.ZodType<T>;

export const zNothing: Schema = z.strictObject({});
