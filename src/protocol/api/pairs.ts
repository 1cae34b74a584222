/** GET …/pairs: chain slug to chain id. */

import { z } from 'zod';

export const zPairsResponse = z.record(z.string(), z.int());
