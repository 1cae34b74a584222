/** One printed seed per run, so that a failure can be repeated. */

import { type Seeded, seeded } from '../kill/seeded.ts';

export const SEED = Number(process.env['FIRMQUOTE_SEED'] ?? Math.floor(Math.random() * 1e9));

/** Random numbers of one fault. The same seed gives the same numbers, whatever other faults run. */
export function diceOf(id: string): Seeded {
  console.log(`${id}: seed ${SEED} (again: npm run test:faults -- --seed ${SEED} ${id})`);
  return seeded(SEED ^ (Number(id.slice(1)) * 0x9e3779b1));
}
