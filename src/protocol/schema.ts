/** What a route needs of a schema, named so that rooms above need not know the library. */

import type { z } from 'zod';

export type Schema<T = unknown> = z.ZodType<T>;
