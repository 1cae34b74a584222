/** A trip counts when it begins, not for every refused request, and ends by itself. */

import { expect, test } from 'vitest';
import { silentLog } from '../../../test/support/silent.ts';
import { createMetrics } from '../../adapters/prometheus/metrics.ts';
import { createControlBoard } from './control-board.ts';
import type { Control } from '../../domain/decline.ts';
import type { Log } from '../../ports/log.ts';

function desk(log: Log = silentLog) {
  let nowMs = 1_000;
  const metrics = createMetrics();
  const board = createControlBoard({
    clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} },
    log,
    metrics,
  });
  const value = async (name: string, control: Control) =>
    Number(
      (await metrics.text())
        .split('\n')
        .find((line) => line.startsWith(`firmquote_lp_risk_${name}{control="${control}"}`))
        ?.split(' ')[1],
    );
  return { board, value, later: (ms: number) => (nowMs += ms) };
}

test('every control has metrics from the start', async () => {
  const { value } = desk();
  expect([
    await value('trips_total', 'kill_switch'),
    await value('refusals_total', 'band'),
    await value('tripped', 'drift'),
  ]).toEqual([0, 0, 0]);
});

test('refusals count as one trip until five seconds pass without any', async () => {
  const { board, value, later } = desk();
  for (let n = 0; n < 10; n++) {
    board.refused('limit_total', 'full');
    later(4_000);
  }
  expect([
    await value('trips_total', 'limit_total'),
    await value('refusals_total', 'limit_total'),
    await value('tripped', 'limit_total'),
  ]).toEqual([1, 10, 1]);
  later(1_001);
  expect([await value('tripped', 'limit_total'), board.tripped()]).toEqual([0, []]);
  board.refused('limit_total', 'full');
  expect(await value('trips_total', 'limit_total')).toBe(2);
});

test('a lasting condition is one trip per subject, and its refusals are none', async () => {
  const { board, value } = desk();
  board.report('burst', new Map([['A', 'frozen for 3 s']]));
  board.refused('burst', 'frozen');
  board.report(
    'burst',
    new Map([
      ['A', 'frozen for 2 s'],
      ['B', 'frozen for 9 s'],
    ]),
  );
  expect([await value('trips_total', 'burst'), await value('refusals_total', 'burst')]).toEqual([2, 1]);
  expect(board.tripped().map(({ about, detail }) => [about, detail])).toEqual([
    ['A', 'frozen for 2 s'],
    ['B', 'frozen for 9 s'],
    ['requests', 'frozen'],
  ]);
  board.report('burst', new Map());
  expect(board.tripped().map(({ about }) => about)).toEqual(['requests']);
});

test('counts every trip and logs at most a dozen lines a minute', async () => {
  const lines: string[] = [];
  const note = (_: unknown, message: string) => void lines.push(message);
  const { board, value, later } = desk({ ...silentLog, info: note, warn: note });
  const crowd = (from: number) =>
    new Map(Array.from({ length: 100 }, (_, n) => [`taker ${from + n}`, 'gets no quotes']));
  board.report('free_option', crowd(0));
  board.report('free_option', crowd(100));
  expect(lines).toHaveLength(11);
  board.report('burst', new Map([['A', 'frozen']]));
  expect(lines).toHaveLength(12);
  later(61_000);
  board.report('free_option', new Map());
  expect(lines).toHaveLength(23);
  expect([await value('trips_total', 'free_option'), board.tripped().length]).toEqual([200, 1]);
});
