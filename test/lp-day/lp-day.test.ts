/**
 * A day of an LP, from `lp init` to the verdict of its books, in one world. The parts follow each other: each
 * starts where the one before it ended. Again with the same choices: npm run lp-day -- --seed S
 */

import { afterAll, afterEach, beforeAll, test } from 'vitest';
import { another, nobodyKnows, oneIsWrong } from './feeds.ts';
import { init, start } from './morning.ts';
import { drain, parts } from './pauses.ts';
import { alone, replicas } from './kills.ts';
import { noon, restored } from './old-database.ts';
import { sections, typed } from './docs.ts';
import { books, everything, profit } from './evening.ts';
import { bad, good } from './reloads.ts';
import { rotation } from './rotation.ts';
import { type Day, startDay } from './support/day.ts';
import { SEED } from './support/seed.ts';

let day: Day;

beforeAll(async () => {
  console.log(`lp-day: seed ${SEED} (again: npm run lp-day -- --seed ${SEED})`);
  day = await startDay();
});
afterEach(async ({ task }) => {
  if (task.result?.state !== 'fail') return;
  console.log((await day.operator.lp('status')).stdout);
  console.log(day.lp?.output().slice(-6_000));
});
afterAll(() => day?.stop());

test('morning: lp init on the real path, and everything that it asks for', () => init(day));
test('morning: config check, start, and trades on each chain and across', () => start(day));
test('feeds: one exchange freezes or lies, and the LP goes on without it', () => oneIsWrong(day));
test('feeds: nobody knows the price, and the LP stops and says why', () => nobodyKnows(day));
test('feeds: a dead exchange is replaced by a reload', () => another(day));
test('reload: contradictions are refused with both values, and nothing changes', () => bad(day));
test('reload: a good change shows its effect, applies, and is undone', () => good(day));
test('pause: a pair, then a chain, and the rest goes on', () => parts(day));
test('drain: every open order ends, the pause survives a restart, and the LP returns', () => drain(day));
test("rotation: the operator's key changes under open orders, and the gas of both keys is booked", () =>
  rotation(day));
test('kill -9: the LP alone dies under trades, and waits before it signs again', async () => {
  await noon(day);
  await alone(day);
});
test('kill -9: of two replicas the leader dies under trades, and the other one leads', () => replicas(day));
test('old database: the LP compares a backup of noon with the chains before it signs', () => restored(day));
test('docs: the commands of the pages, typed to the letter, print what the pages say', () => typed(day));
test('docs: the sections that the pages show are valid', () => sections(day));
test('evening: the books equal the chains in every token, the gas of every key included', () => books(day));
test('evening: profit ties out, in the whole and by windows', () => profit(day));
test('evening: nothing was lost or paid twice, and no secret was logged', () => everything(day));
