import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { eachOf } from '../../domain/steps.ts';
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
    expect(text).toMatch(/firmquote_process_cpu_seconds_total [0-9.]+/);
  });

  test('a collected series that is not said again is gone', async () => {
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

  test('no piece of a scrape is long, and together they are its text', async () => {
    const metrics = createMetrics({ restMs: 0 });
    metrics.gauge('firmquote_lp_mid', 'Größe.', ['pair'], (gauge) =>
      eachOf(
        Array.from({ length: 5_000 }, (_, n) => n),
        100,
        (n) => gauge.set(n, { pair: `A${n}` }),
      ),
    );
    const pieces = await metrics.pieces();
    expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(16_384);
    const steady = (text: string) =>
      text.split('\n').filter((line) => !line.startsWith('firmquote_process_'));
    expect(steady(Buffer.concat(pieces).toString())).toEqual(steady(await metrics.text()));
    expect(Buffer.concat(pieces).toString()).toContain(
      'firmquote_lp_mid Größe.\n# TYPE firmquote_lp_mid gauge\nfirmquote_lp_mid{pair="A0"} 0\n',
    );
  });

  test('a gauge without labels shows what is said this time, or nothing', async () => {
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

  test('a long gauge is written in pieces, each line once, and others have their turn meanwhile', async () => {
    const metrics = createMetrics({ atOnceMs: 0 });
    let collections = 0;
    metrics.gauge('firmquote_lp_mid', 'Mid.', ['pair'], (gauge) => {
      collections += 1;
      for (let n = 0; n < 1_201; n++) gauge.set(n, { pair: `A${n}-USDC` });
      gauge.set(7, { pair: 'A3-USDC' });
    });
    let [turns, over] = [0, false];
    const count = () => void ((turns += 1), over || setImmediate(count));
    setImmediate(count);
    const [one, other] = await Promise.all([metrics.text(), metrics.text()]);
    over = true;
    const lines = one.split('\n').filter((line) => line.includes('firmquote_lp_mid'));
    expect(lines).toEqual([
      '# HELP firmquote_lp_mid Mid.',
      '# TYPE firmquote_lp_mid gauge',
      ...Array.from({ length: 1_201 }, (_, n) => `firmquote_lp_mid{pair="A${n}-USDC"} ${n === 3 ? 7 : n}`),
    ]);
    expect(turns).toBeGreaterThan(20);
    // Whoever scrapes meanwhile gets the same; afterwards it is read again.
    expect([other === one, collections]).toEqual([true, 1]);
    await metrics.text();
    expect(collections).toBe(2);
  });

  test("what takes long to read is read in steps, with others' turns in between, and is shown whole", async () => {
    const metrics = createMetrics({ atOnceMs: 0 });
    let [turns, pairs] = [0, 250];
    const seen: number[] = [];
    const all = () => Array.from({ length: pairs }, (_, n) => n);
    metrics.gauge('firmquote_lp_mid', 'Mid.', ['pair'], (gauge) =>
      eachOf(all(), 100, (n) => {
        seen.push(turns);
        gauge.set(n, { pair: `A${n}` });
      }),
    );
    const lines = async () => {
      let over = false;
      const count = () => void ((turns += 1), over || setImmediate(count));
      setImmediate(count);
      const text = await metrics.text();
      over = true;
      return text.split('\n').filter((line) => line.startsWith('firmquote_lp_mid{'));
    };
    expect(await lines()).toEqual(all().map((n) => `firmquote_lp_mid{pair="A${n}"} ${n}`));
    expect([...new Set(seen)]).toHaveLength(3);
    pairs = 2;
    expect(await lines()).toEqual(['firmquote_lp_mid{pair="A0"} 0', 'firmquote_lp_mid{pair="A1"} 1']);
  });

  test.each([63, 64, 65, 128, 129])(
    '%i lines are written without a gap, and with few turns where a moment is enough',
    async (count) => {
      const metrics = createMetrics({ atOnceMs: 10_000 });
      metrics.gauge('firmquote_lp_mid', 'Mid.', ['pair'], (gauge) =>
        eachOf(
          Array.from({ length: count }, (_, n) => n),
          10,
          (n) => gauge.set(n, { pair: `A${n}` }),
        ),
      );
      metrics.gauge('firmquote_lp_next', 'x', [], (gauge) => gauge.set(1));
      const text = await metrics.text();
      expect(
        text.slice(text.indexOf('# HELP firmquote_lp_mid'), text.indexOf('# HELP firmquote_lp_next')),
      ).toBe(
        `# HELP firmquote_lp_mid Mid.\n# TYPE firmquote_lp_mid gauge\n${Array.from({ length: count }, (_, n) => `firmquote_lp_mid{pair="A${n}"} ${n}\n`).join('')}\n`,
      );
    },
  );

  test('a histogram shows its buckets, the sum and the count, for each of its labels', async () => {
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

  test('scraping twice counts nothing twice, and what is no count is refused', async () => {
    const metrics = createMetrics();
    const counter = metrics.counter('firmquote_a_b_total', 'x', ['kind', 'outcome']);
    counter.add({ kind: 'x', outcome: 'y' });
    counter.add({ kind: 'x', outcome: 'y' }, 2);
    await metrics.text();
    expect(await metrics.text()).toContain('firmquote_a_b_total{kind="x",outcome="y"} 3');
    expect(() => counter.add({ kind: 'x', outcome: 'y' }, -1)).toThrow(/counts up/);
    expect(() => counter.add({ kind: 'x', other: 'y' })).toThrow(/label that it does not have/);
    expect(() => metrics.histogram('firmquote_a_b_seconds', 'x', [1]).observe(Number.NaN)).toThrow(
      /observes numbers/,
    );
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
    const checked = spawnSync('promtool', ['check', 'metrics'], {
      input: await createMetrics().text(),
      encoding: 'utf8',
    });
    expect(`${checked.stdout}${checked.stderr}`).toBe('');
    expect(checked.status).toBe(0);
  });
});
