import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('metrics', () => {
  test('counts, sets, observes and collects', async () => {
    const metrics = createMetrics();
    metrics.counter('firmquote_venue_quotes_total', 'Quotes.', ['result']).add({ result: 'ok' }, 2);
    metrics.gauge('firmquote_lp_free_ratio', 'Free share.', ['token'], (gauge) => gauge.set(0.5, { token: 'USDC' }));
    metrics.histogram('firmquote_venue_quote_seconds', 'Latency.', [0.1, 1]).observe(0.2);
    const text = await metrics.text();
    expect(text).toContain('firmquote_venue_quotes_total{result="ok"} 2');
    expect(text).toContain('firmquote_lp_free_ratio{token="USDC"} 0.5');
    expect(text).toContain('firmquote_venue_quote_seconds_bucket{le="1"} 1');
    expect(text).toMatch(/firmquote_process_event_loop_lag_seconds\{percentile="p99"\} [0-9.e-]+/);
    expect(text).toMatch(/firmquote_process_cpu_seconds_total [0-9.]+/);
  });

  test('a collected series that is not said again is gone', async () => {
    const metrics = createMetrics();
    let corridors = ['base-arc', 'arc-base'];
    metrics.gauge('firmquote_lp_overdue', 'x', ['corridor'], (gauge) => corridors.forEach((corridor) => gauge.set(1, { corridor })));
    expect(await metrics.text()).toContain('firmquote_lp_overdue{corridor="base-arc"} 1');
    corridors = ['arc-base'];
    const text = await metrics.text();
    expect(text).toContain('firmquote_lp_overdue{corridor="arc-base"} 1');
    expect(text).not.toContain('base-arc');
  });

  test('one name is one metric', async () => {
    const metrics = createMetrics();
    metrics.counter('firmquote_a_b_total', 'x').add();
    metrics.counter('firmquote_a_b_total', 'x').add();
    expect(await metrics.text()).toContain('firmquote_a_b_total 2');
    expect(() => metrics.counter('firmquote_a_b_total', 'x', ['other'])).toThrow(/share a name/);
    expect(() => metrics.gauge('firmquote_a_b_total', 'x')).toThrow(/share a name/);
    expect(() => metrics.gauge('quotes', 'x')).toThrow(/named firmquote_/);
  });

  test('promtool has no complaint', async () => {
    const checked = spawnSync('promtool', ['check', 'metrics'], { input: await createMetrics().text(), encoding: 'utf8' });
    expect(`${checked.stdout}${checked.stderr}`).toBe('');
    expect(checked.status).toBe(0);
  });
});
