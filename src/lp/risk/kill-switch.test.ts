/** The kill switch: its sources, its storage, and several replicas. */

import { expect, test } from 'vitest';
import { silentLog } from '../../../test/support/silent.ts';
import { createKillSwitch, KILL } from './kill-switch.ts';

function setUp() {
  const changes: string[] = [];
  const written: [string, object][] = [];
  let broken = false;
  const kill = createKillSwitch(
    { log: silentLog, changed: () => changes.push([...kill.held.keys()].join()), killed: () => {} },
    { shared: false },
  );
  const store = {
    putRisk: (name: string, value: object) =>
      broken
        ? Promise.reject(new Error('no database'))
        : (written.push([name, value]), Promise.resolve(true)),
    putKillReasons: () => Promise.reject(new Error('it runs alone')),
  };
  return { kill, changes, written, store, fail: (now: boolean) => (broken = now) };
}

test('each source engages independently, and release ends all except the file', () => {
  const { kill, changes } = setUp();
  kill.engage('signal', 'a');
  kill.engage('signal', 'a');
  kill.engage('file', 'b');
  kill.release();
  kill.releaseFile();
  kill.releaseFile();
  expect(changes).toEqual(['signal', 'signal,file', 'file', '']);
});

test('a failed write is retried, and a kill file is not stored', async () => {
  const { kill, written, store, fail } = setUp();
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

test.each([undefined, null, 'x', 7, [], { file: 'no' }, { signal: 4 }, { stranger: 'x' }])(
  'restores nothing from %j',
  (saved) => {
    const { kill } = setUp();
    kill.restore(saved);
    expect(kill.held.size).toBe(0);
  },
);

test('restores what it stored', async () => {
  const [before, after] = [setUp(), setUp()];
  before.kill.engage('operator', 'enough');
  before.kill.engage('signal', 'stop');
  await before.kill.flush(before.store);
  after.kill.restore(JSON.parse(JSON.stringify(before.written[0]?.[1])));
  expect([...after.kill.held]).toEqual([
    ['operator', 'enough'],
    ['signal', 'stop'],
  ]);
});

/** Two replicas and what both of them write to; `hold` keeps an answer back until it is let go. */
function pair() {
  let row: Record<string, string> = {};
  let [broken, gate] = [false, Promise.resolve()];
  const store = {
    putRisk: () => Promise.reject(new Error('the switch is not one replica\u2019s')),
    async putKillReasons(word: Readonly<Record<string, string>> | null) {
      if (broken) throw new Error('no database');
      row = word === null ? {} : { ...row, ...word };
      return true;
    },
    async killReasons() {
      const said = { ...row };
      await gate;
      return said;
    },
  };
  const make = () =>
    createKillSwitch({ log: silentLog, changed: () => {}, killed: () => {} }, { shared: true });
  return {
    a: make(),
    b: make(),
    store,
    fail: (now: boolean) => (broken = now),
    hold: (until: Promise<void>) => (gate = until),
  };
}

test('engaging or releasing one replica applies to all, except for a kill file', async () => {
  const { a, b, store } = pair();
  a.engage('operator', 'enough');
  a.engage('file', 'there');
  b.engage('drawdown', 'lost');
  await Promise.all([a.flush(store), b.flush(store)]);
  await Promise.all([a.follow(store), b.follow(store)]);
  expect([...b.held].sort()).toEqual([
    ['drawdown', 'lost'],
    ['operator', 'enough'],
  ]);
  expect([...a.held.keys()].sort()).toEqual(['drawdown', 'file', 'operator']);
  b.release();
  await b.flush(store);
  await Promise.all([a.follow(store), b.follow(store)]);
  expect([...a.held.keys()]).toEqual(['file']);
  expect(b.held.size).toBe(0);
});

test('a release that arrives before the first read releases every source', async () => {
  const { a, b, store } = pair();
  a.engage('operator', 'enough');
  await a.flush(store);
  b.release();
  await b.flush(store);
  await a.follow(store);
  expect(a.held.size).toBe(0);
});

test('a command given during the read is not undone by it', async () => {
  const { a, store, fail, hold } = pair();
  let open = () => {};
  hold(new Promise((done) => (open = done)));
  const reading = a.follow(store);
  a.engage('operator', 'now');
  await a.flush(store);
  open();
  await reading;
  expect([...a.held.keys()]).toEqual(['operator']);
  fail(true);
  a.engage('signal', 'and this');
  await expect(a.flush(store)).rejects.toThrow('no database');
  await a.follow(store);
  expect([...a.held.keys()]).toEqual(['operator', 'signal']);
  fail(false);
  await a.flush(store);
  await a.follow(store);
  expect([...a.held.keys()]).toEqual(['operator', 'signal']);
});
