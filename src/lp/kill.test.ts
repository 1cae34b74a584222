/** The kill switch remembers who pulled it until it is written down, and believes only what it wrote itself. */

import { expect, test } from 'vitest';
import { silentLog } from '../../test/support/silent.ts';
import { createKillSwitch, KILL } from './kill.ts';

function desk() {
  const told: string[] = [];
  const written: [string, object][] = [];
  let broken = false;
  const kill = createKillSwitch({ log: silentLog, changed: () => told.push([...kill.held.keys()].join()), pulled: () => {} });
  const store = { putRisk: (name: string, value: object) => (broken ? Promise.reject(new Error('no database')) : (written.push([name, value]), Promise.resolve(true))) };
  return { kill, told, written, store, fail: (now: boolean) => (broken = now) };
}

test('each hand holds by itself; resuming lets go of all but the file', () => {
  const { kill, told } = desk();
  kill.engage('signal', 'a');
  kill.engage('signal', 'a');
  kill.engage('file', 'b');
  kill.release();
  kill.releaseFile();
  kill.releaseFile();
  expect(told).toEqual(['signal', 'signal,file', 'file', '']);
});

test('what a database did not take stays due; a file is not written, it speaks for itself', async () => {
  const { kill, written, store, fail } = desk();
  kill.engage('file', 'there');
  await kill.flush(store);
  expect(written).toEqual([]);
  kill.engage('drawdown', 'lost');
  fail(true);
  await expect(kill.flush(store)).rejects.toThrow('no database');
  fail(false);
  await kill.flush(store);
  await kill.flush(store);
  expect(written).toEqual([[KILL, { drawdown: 'lost' }]]);
  kill.release();
  await kill.flush(store);
  expect(written.at(-1)).toEqual([KILL, {}]);
});

test.each([undefined, null, 'x', 7, [], { file: 'no' }, { signal: 4 }, { stranger: 'x' }])('of %j nothing is restored', (saved) => {
  const { kill } = desk();
  kill.restore(saved);
  expect(kill.held.size).toBe(0);
});

test('what it wrote it takes up again', async () => {
  const [before, after] = [desk(), desk()];
  before.kill.engage('operator', 'enough');
  before.kill.engage('signal', 'stop');
  await before.kill.flush(before.store);
  after.kill.restore(JSON.parse(JSON.stringify(before.written[0]?.[1])));
  expect([...after.kill.held]).toEqual([['operator', 'enough'], ['signal', 'stop']]);
});
