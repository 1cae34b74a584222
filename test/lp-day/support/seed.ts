/** One printed seed per day: it chooses who fails, when and how much is traded. */

import { type Seeded, seeded } from '../../kill/seeded.ts';

export const SEED = Number(process.env['FIRMQUOTE_SEED'] ?? Math.floor(Math.random() * 1e9));

/** Random numbers of one part. The same seed gives the same numbers, however many another part drew. */
export const diceOf = (part: number): Seeded => seeded(SEED ^ (part * 0x9e3779b1));
