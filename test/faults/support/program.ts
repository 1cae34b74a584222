/**
 * Venue, LP and attester as `firmquote` runs them, with faults inside the process: where it dies or stops
 * (crash.ts), and which messages it gets twice (unruly.ts).
 */

import { parseArgs } from 'node:util';
import { crashingLp, crashingVenue, pointsOf } from './crash.ts';
import { unrulyLp, unrulyVenue } from './unruly.ts';

const {
  positionals: [app],
  values,
} = parseArgs({
  allowPositionals: true,
  options: { config: { type: 'string', default: '' }, role: { type: 'string', default: 'all' } },
});
const reached = pointsOf(process.env);
/** A seed: messages that may come twice, late or in another order do so at random. */
const unruly = process.env['UNRULY'];

switch (app) {
  case 'venue':
    await (
      await import('../../../src/apps/venue/main.ts')
    ).runVenue(
      { config: values.config, role: values.role as 'api' | 'worker' | 'all' },
      {
        wrap: (ground) =>
          crashingVenue(unruly === undefined ? ground : unrulyVenue(ground, Number(unruly)), reached),
      },
    );
    break;
  case 'lp':
    await (
      await import('../../../src/apps/lp/main.ts')
    ).runLp(
      { config: values.config },
      {
        wrap: (ground) =>
          crashingLp(unruly === undefined ? ground : unrulyLp(ground, Number(unruly)), reached),
      },
    );
    break;
  case 'attester':
    await (await import('../../../src/apps/attester/main.ts')).runAttester({ config: values.config });
    break;
  default:
    throw new Error(`There is no program "${app ?? ''}".`);
}
