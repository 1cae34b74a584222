/**
 * Venue, LP and attester as `firmquote` runs them, with faults that happen inside a process: `CRASH_AT` names where it dies (crash.ts), and
 * SIGWINCH, which nothing else uses, blocks its event loop for BLOCK_MS.
 */

import { parseArgs } from 'node:util';
import { crashes, crashingLp, crashingVenue } from './crash.ts';

const { positionals: [app], values } = parseArgs({ allowPositionals: true, options: { config: { type: 'string', default: '' }, role: { type: 'string', default: 'all' } } });
const passed = crashes(process.env['CRASH_AT']);

process.on('SIGWINCH', () => {
  const until = performance.now() + Number(process.env['BLOCK_MS'] ?? 0);
  while (performance.now() < until);
});

switch (app) {
  case 'venue':
    await (await import('../../../src/apps/venue/main.ts')).runVenue({ config: values.config, role: values.role as 'api' | 'worker' | 'all' }, { wrap: (ground) => crashingVenue(ground, passed) });
    break;
  case 'lp':
    await (await import('../../../src/apps/lp/main.ts')).runLp({ config: values.config }, { wrap: (ground) => crashingLp(ground, passed) });
    break;
  case 'attester':
    await (await import('../../../src/apps/attester/main.ts')).runAttester({ config: values.config });
    break;
  default:
    throw new Error(`There is no program "${app ?? ''}".`);
}
