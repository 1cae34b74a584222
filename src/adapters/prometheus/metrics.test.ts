/** Tests the exposition: which series show, with which values. */

import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('metrics', () => {
  test('counts, sets, observes and collects', async () => {
    const metrics = createMetrics();
    metrics.counter('firmquote_venue_quotes_total', 'Quotes.', ['result']).add({ result: 'ok' }, 2);
    metrics.gauge('firmquote_lp_free_ratio', 'Free share.', ['token'], (gauge) =>
      gauge.set(0.5, { token: 'USDC' }),
    );
    metrics.histogram('firmquote_venue_quote_seconds', 'Latency.', [0.1, 1]).observe(0.2);
    const text = await metrics.text();
    expect(text).toContain('firmquote_venue_quotes_total{result="ok"} 2');
    expect(text).toContain('firmquote_lp_free_ratio{token="USDC"} 0.5');
    expect(text).toContain('firmquote_venue_quote_seconds_bucket{le="1"} 1');
    expect(text).toMatch(/firmquote_process_event_loop_lag_seconds\{percentile="p99"\} [0-9.e-]+/);
    // The first scrape already shows the time used until now.
    expect(text).toMatch(/firmquote_process_cpu_seconds_total (?:[1-9]|0\.\d*[1-9])/);
    expect(text).toMatch(/firmquote_process_build_info\{version="\d+\.\d+\.\d+",node="\d+\.[0-9.]+"\} 1/);
  });

  test('a counter with the values of its labels starts every series at 0, again for more values', async () => {
    const metrics = createMetrics();
    const sends = (chain: string) =>
      metrics.counter('firmquote_chain_sends_total', 'x', { chain: [chain], outcome: ['sent', 'rejected'] });
    sends('base').add({ chain: 'base', outcome: 'sent' });
    sends('arc');
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('firmquote_chain_'));
    expect(lines).toEqual([
      'firmquote_chain_sends_total{chain="base",outcome="sent"} 1',
      'firmquote_chain_sends_total{chain="base",outcome="rejected"} 0',
      'firmquote_chain_sends_total{chain="arc",outcome="sent"} 0',
      'firmquote_chain_sends_total{chain="arc",outcome="rejected"} 0',
    ]);
  });

  test('a histogram with the values of its labels shows every series before its first event', async () => {
    const metrics = createMetrics();
    metrics.histogram('firmquote_venue_settle_seconds', 'x', [1], { flow: ['same_chain', 'cross_chain'] });
    const lines = (await metrics.text()).split('\n');
    for (const flow of ['same_chain', 'cross_chain']) {
      expect(lines).toContain(`firmquote_venue_settle_seconds_count{flow="${flow}"} 0`);
      expect(lines).toContain(`firmquote_venue_settle_seconds_bucket{le="1",flow="${flow}"} 0`);
    }
  });

  test('event-loop delay does not reset with a scrape, so a second scraper sees it too', async () => {
    const metrics = createMetrics();
    const worst = async () =>
      Number(/event_loop_lag_seconds\{percentile="p99"\} (\S+)/.exec(await metrics.text())?.[1]);
    await new Promise((resolve) => setTimeout(resolve, 50));
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 400);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await worst()).toBeGreaterThan(0.2);
    expect(await worst()).toBeGreaterThan(0.2);
  });

  test('a gauge that several chains collect shows the series of each', async () => {
    const metrics = createMetrics();
    for (const chain of ['base', 'arc'])
      metrics.gauge('firmquote_chain_doubt', 'x', ['chain'], (gauge) => gauge.set(1, { chain }));
    for (const scrape of [1, 2]) {
      const text = await metrics.text();
      for (const chain of ['base', 'arc'])
        expect(text, `scrape ${scrape}`).toContain(`firmquote_chain_doubt{chain="${chain}"} 1`);
    }
  });

  test('a collected series that is not set again disappears', async () => {
    const metrics = createMetrics();
    let corridors = ['base-arc', 'arc-base'];
    metrics.gauge('firmquote_lp_overdue', 'x', ['corridor'], (gauge) =>
      corridors.forEach((corridor) => gauge.set(1, { corridor })),
    );
    expect(await metrics.text()).toContain('firmquote_lp_overdue{corridor="base-arc"} 1');
    corridors = ['arc-base'];
    const text = await metrics.text();
    expect(text).toContain('firmquote_lp_overdue{corridor="arc-base"} 1');
    expect(text).not.toContain('base-arc');
    corridors = ['base-arc'];
    expect(await metrics.text()).toContain('firmquote_lp_overdue{corridor="base-arc"} 1');
  });

  test('a collected gauge without labels shows nothing when it is not set', async () => {
    const metrics = createMetrics();
    let known: number | undefined = 4;
    metrics.gauge('firmquote_process_fds', 'x', [], (gauge) => {
      if (known !== undefined) gauge.set(known);
    });
    const lines = async () =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith('firmquote_process_fds'));
    expect(await lines()).toEqual(['firmquote_process_fds 4']);
    known = undefined;
    expect(await lines()).toEqual([]);
    known = 5;
    expect(await lines()).toEqual(['firmquote_process_fds 5']);
  });

  test('a histogram shows buckets, sum and count for each label value', async () => {
    const metrics = createMetrics();
    const seconds = metrics.histogram('firmquote_venue_answer_seconds', 'x', [0.1, 1], ['solver']);
    for (const value of [0.1, 0.5, 1, 7]) seconds.observe(value, { solver: 'a' });
    seconds.observe(0.25, { solver: 'b' });
    metrics.histogram('firmquote_venue_idle_seconds', 'x', [1]);
    const lines = (await metrics.text()).split('\n').filter((line) => line.startsWith('firmquote_venue_'));
    expect(lines).toEqual([
      'firmquote_venue_answer_seconds_bucket{le="0.1",solver="a"} 1',
      'firmquote_venue_answer_seconds_bucket{le="1",solver="a"} 3',
      'firmquote_venue_answer_seconds_bucket{le="+Inf",solver="a"} 4',
      'firmquote_venue_answer_seconds_sum{solver="a"} 8.6',
      'firmquote_venue_answer_seconds_count{solver="a"} 4',
      'firmquote_venue_answer_seconds_bucket{le="0.1",solver="b"} 0',
      'firmquote_venue_answer_seconds_bucket{le="1",solver="b"} 1',
      'firmquote_venue_answer_seconds_bucket{le="+Inf",solver="b"} 1',
      'firmquote_venue_answer_seconds_sum{solver="b"} 0.25',
      'firmquote_venue_answer_seconds_count{solver="b"} 1',
      'firmquote_venue_idle_seconds_bucket{le="1"} 0',
      'firmquote_venue_idle_seconds_bucket{le="+Inf"} 0',
      'firmquote_venue_idle_seconds_sum 0',
      'firmquote_venue_idle_seconds_count 0',
    ]);
  });

  test('a scrape changes no count, and invalid counts and labels throw', async () => {
    const metrics = createMetrics();
    const counter = metrics.counter('firmquote_a_b_total', 'x', ['kind', 'outcome']);
    counter.add({ kind: 'x', outcome: 'y' });
    counter.add({ kind: 'x', outcome: 'y' }, 2);
    await metrics.text();
    expect(await metrics.text()).toContain('firmquote_a_b_total{kind="x",outcome="y"} 3');
    expect(() => counter.add({ kind: 'x', outcome: 'y' }, -1)).toThrow(/not possible to decrease/);
    expect(() => counter.add({ kind: 'x', other: 'y' })).toThrow(/not included in initial labelset/);
    expect(() => metrics.histogram('firmquote_a_b_seconds', 'x', [1]).observe(Number.NaN)).toThrow(
      /not a valid number/,
    );
  });

  test('registering one name twice gives the same metric', async () => {
    const metrics = createMetrics();
    metrics.counter('firmquote_a_b_total', 'x').add();
    metrics.counter('firmquote_a_b_total', 'x').add();
    expect(await metrics.text()).toContain('firmquote_a_b_total 2');
    expect(() => metrics.counter('firmquote_a_b_total', 'x', ['other'])).toThrow(/share a name/);
    expect(() => metrics.gauge('firmquote_a_b_total', 'x')).toThrow(/share a name/);
    expect(() => metrics.gauge('quotes', 'x')).toThrow(/named firmquote_/);
  });

  test('promtool accepts the exposition', async () => {
    const checked = spawnSync('promtool', ['check', 'metrics'], {
      input: await createMetrics().text(),
      encoding: 'utf8',
    });
    expect(`${checked.stdout}${checked.stderr}`).toBe('');
    expect(checked.status).toBe(0);
  });
});
