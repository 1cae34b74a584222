/** One seed for a run of the faults, printed, so that what failed can be run again. */

import { type Seeded, seeded } from '../kill/seeded.ts';

export const SEED = Number(process.env['FIRMQUOTE_SEED'] ?? Math.floor(Math.random() * 1e9));

/** The dice of one fault: the same seed gives the same rolls, whatever other faults run. */
export function diceOf(id: string): Seeded {
  console.log(`${id}: seed ${SEED} (again: npm run test:faults -- --seed ${SEED} ${id})`);
  return seeded(SEED ^ (Number(id.slice(1)) * 0x9e3779b1));
}
