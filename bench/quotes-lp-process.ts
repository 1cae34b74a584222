/** The process of `quotes-lp.ts`, compiled as an LP's is: before anything of it is loaded. */

import { compileAhead } from '../src/apps/lp/node-options.ts';

compileAhead();
await import('./quotes-lp.ts');
