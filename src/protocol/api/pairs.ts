/** GET …/pairs: chain slug to chain id. */

import * as z from 'zod';

export const zPairsResponse = z
  .record(z.string(), z.int())
  .meta({ id: 'Pairs', description: 'Chain ids by chain slug, as corridors and assets name them.' });
