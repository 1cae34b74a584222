import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Command } from 'commander';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import type { RecordedRfq } from '../../../lp/quote-log/recorded-requests.ts';
import type { Distribution } from '../../../sim/study/distribution.ts';
import type { Sample, SimTally } from '../../../sim/tally.ts';
import { parseRfqs } from '../../../sim/rfq-record.ts';
import { simCommand } from './sim.ts';

const EXAMPLE = 'config/lp.example.json';
let folder: string;
let recording: string;
/** The example with a second pair, WBTC-USDC, and a third with another quote asset. */
let twoPairs: string;
const printed: string[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmquote-sim-'));
  recording = join(folder, 'prices.jsonl.gz');
  const lines = Array.from({ length: 400 }, (_, at) => {
    const bid = (2500 + 0.5 * Math.sin(at / 7) + 0.01 * at).toFixed(2);
    return `${1_700_000_000_000_000_000n + BigInt(at) * 400_000_000n} ${JSON.stringify({ u: at + 1, s: 'ETHUSDT', b: bid, B: '1.0', a: (Number(bid) + 0.01).toFixed(2), A: '1.0' })}`;
  });
  await writeFile(recording, gzipSync(lines.join('\n')));
  twoPairs = join(folder, 'two-pairs.json');
  await writeFile(twoPairs, JSON.stringify(withWbtc(JSON.parse(await readFile(EXAMPLE, 'utf8')))));
});
afterAll(() => rm(folder, { recursive: true }));
beforeEach(() => {
  printed.length = 0;
  vi.spyOn(console, 'log').mockImplementation((line = '') => void printed.push(String(line)));
  return () => vi.restoreAllMocks();
});

interface WrittenConfig {
  networks: { tokens: ({ symbol: string } | string)[] }[];
  lp: {
    prices: Record<string, object>;
    assets: Record<string, object>;
    pairs: { base: string; quote: string }[];
  };
}

function withWbtc(config: WrittenConfig): WrittenConfig {
  const { networks, lp } = config;
  const address = `0x${'33'.repeat(20)}`;
  const wbtc = { symbol: 'WBTC', name: 'Wrapped BTC', decimals: 8, address };
  for (const { tokens } of networks) tokens.push(wbtc);
  const [first] = lp.pairs as [(typeof lp.pairs)[0]];
  return {
    ...config,
    lp: {
      ...lp,
      prices: {
        ...lp.prices,
        BTC: { ...lp.prices['ETH'], sources: [{ feed: 'binance', symbol: 'BTCUSDC' }], references: [] },
      },
      assets: {
        ...lp.assets,
        WBTC: { ...lp.assets['WETH'], price: 'BTC', target: null, softBand: null, hardBand: null },
      },
      pairs: [...lp.pairs, { ...first, base: 'WBTC' }, { ...first, base: 'WBTC', quote: 'WETH' }],
    },
  };
}
const BOTH = ['--pair', 'WETH-USDC', '--pair', 'WBTC-USDC'];

/** Runs `firmquote sim …`; commander's errors are thrown instead of ending the process. */
async function sim(
  ...words: string[]
): Promise<{ ok: boolean; rows: { name: string; ours: number; reference: number | null; ok: boolean }[] }> {
  const command = simCommand();
  const quiet = (each: Command) => each.exitOverride().configureOutput({ writeErr: () => {} });
  quiet(command).commands.forEach(quiet);
  await command.parseAsync(words, { from: 'user' });
  return JSON.parse(printed.at(-1) as string) as Awaited<ReturnType<typeof sim>>;
}

/** Rows of a CSV file (RFC 4180) by header. */
async function readCsv(of: string, file: string): Promise<Record<string, string>[]> {
  const text = await readFile(join(of, file), 'utf8');
  const [header = [], ...rows] = text
    .trimEnd()
    .split('\n')
    .map((line) =>
      [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
        ([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '',
      ),
    );
  for (const row of rows) expect(row.length, `${file}: ${row.join()}`).toBe(header.length);
  return rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at] ?? ''])));
}

test('a replay reads the requests that an LP records', () => {
  const line: RecordedRfq = {
    atMs: 1,
    id: 'r',
    taker: '0xaa',
    corridor: 'base-arc',
    input: 'WETH',
    output: 'USDC',
    side: 'exactInput',
    amount: '5',
    platformFeeBps: 2,
    minValidSeconds: 0,
    outcome: 'accepted',
    quoted: '9',
    acceptedAtMs: 2,
    rival: null,
  };
  expect(parseRfqs(JSON.stringify(line), 'f')).toEqual([line]);
});

describe('firmquote sim', () => {
  test('prints a table and, last, one line of JSON', async () => {
    const report = await sim(
      '--model',
      'glft',
      '--sigma',
      '.3',
      '--A',
      '.9',
      '--k',
      '.3',
      '--gamma',
      '.01',
      '--Q',
      '30',
      '--q',
      '-10',
    );
    expect(report.ok).toBe(true);
    expect(
      Object.fromEntries(report.rows.map(({ name, ours }) => [name, Number(ours.toFixed(6))])),
    ).toMatchObject({
      'bid at q=-10, closed form': 2.634257,
      'bid at q=-10, exact': 2.632802,
      eta: 0.325678,
    });
    expect(report.rows[0]).toMatchObject({ name: 'c1', reference: null, ok: true });
    expect(printed.length).toBeGreaterThan(8);
  });

  test('bars report that bar 6 was not run, and run it on a recording', async () => {
    await sim('--bars', '--paths', '2', '--events', '2000');
    expect(printed.join('\n')).toContain('Bar 6 was not run');
    const { rows } = await sim('--bars', '--paths', '2', '--events', '2000', '--recording', recording);
    expect(rows.some(({ name }) => name.startsWith('Bar 6'))).toBe(true);
    expect(printed.join('\n')).toContain('ETHUSDT from 2023-11-14T22:13:20.000Z');
    process.exitCode = 0;
  });

  test('the same seed and configuration give the same output', async () => {
    const files = ['a', 'b'].map((name) => join(folder, `${name}.json`));
    for (const file of files)
      await sim(
        'run',
        '--config',
        EXAMPLE,
        '--minutes',
        '5',
        '--seed',
        '7',
        '--copies',
        '1',
        '--fixed',
        '8',
        '--json',
        file,
        '--html',
        `${file}.html`,
      );
    const [a, b] = await Promise.all(files.map((file) => readFile(file, 'utf8')));
    expect(a).toBe(b);
    expect(JSON.parse(a as string)).toMatchObject({
      result: { makers: [{ name: 'this LP' }, { name: 'copy 1' }, { name: 'fixed 8 bps' }] },
    });
    expect(await readFile(`${files[0]}.html`, 'utf8')).toMatch(/^<!doctype html>[\s\S]*Profit and loss/);
  });

  test('every figure of the report is in a CSV file with headers and units', async () => {
    const csv = join(folder, 'csv');
    const json = join(folder, 'csv.json');
    await sim(
      ...['run', '--config', EXAMPLE, '--minutes', '5', '--seeds', '3', '--fixed', '8', '--rfq-seconds', '2'],
      ...['--csv', csv, '--json', json, '--html', join(folder, 'csv.html')],
    );
    const { result, distributions } = JSON.parse(await readFile(json, 'utf8'));
    const results = await readCsv(csv, 'results.csv');
    expect(
      results.map((row) => [row['lp'], Number(row['pnl_usd']), Number(row['q_rms_soft_bands'])]),
    ).toEqual(result.makers.map((each: SimTally) => [each.name, each.pnlUsd, each.qRms]));
    const series = await readCsv(csv, 'series.csv');
    expect(series.length).toBe(2 * result.series.length);
    expect(series.filter((row) => row['lp'] === 'this LP').map((row) => Number(row['pnl_usd']))).toEqual(
      result.series.map(({ makers }: { makers: Sample[] }) => makers[0]?.pnlUsd),
    );
    const declines = await readCsv(csv, 'declines.csv');
    expect(declines.map((row) => [row['lp'], row['reason'], Number(row['declines'])])).toEqual(
      result.makers.flatMap(({ name, declines: by }: SimTally) =>
        Object.entries(by).map(([reason, times]) => [name, reason, times]),
      ),
    );
    expect(
      (await readCsv(csv, 'money.csv')).every((row) => row['before_base_units'] === row['after_base_units']),
    ).toBe(true);
    expect((await readCsv(csv, 'mids.csv')).length).toBe(result.series.length);

    const distribution = await readCsv(csv, 'distribution.csv');
    expect(
      distribution.map((row) => [
        row['lp'],
        Number(row['mean_pnl_usd']),
        Number(row['shortfall_5_percent_usd']),
      ]),
    ).toEqual(
      distributions.map((each: Distribution & { name: string }) => [
        each.name,
        each.mean,
        each.tail5.shortfall,
      ]),
    );
    expect(distribution.map((row) => row['lp'])).toEqual(['this LP', 'fixed 8 bps', 'all LPs']);
    const runs = await readCsv(csv, 'runs.csv');
    const of = (lp: string) => runs.filter((row) => row['lp'] === lp).map((row) => Number(row['pnl_usd']));
    expect(of('this LP').length).toBe(3);
    expect(new Set(of('this LP')).size).toBe(3);
    expect(of('this LP')[0]).toBe(result.makers[0].pnlUsd);
    for (const [at, total] of of('all LPs').entries())
      expect(total).toBeCloseTo((of('this LP')[at] as number) + (of('fixed 8 bps')[at] as number), 6);
    expect(printed.join('\n')).toMatch(/Distribution over 3 runs of 5 minutes[\s\S]*5 % ES/);
    expect(await readFile(join(folder, 'csv.html'), 'utf8')).toContain('Distribution over 3 runs');
    expect((await readdir(csv)).sort()).toEqual([
      'declines.csv',
      'distribution.csv',
      'mids.csv',
      'money.csv',
      'results.csv',
      'runs.csv',
      'series.csv',
    ]);
  });

  test('replays a recording against a changed configuration', async () => {
    const changed = join(folder, 'changed.json');
    const text = await readFile(EXAMPLE, 'utf8');
    await writeFile(changed, text.replace('"minEdgeBps": 1,', '"minEdgeBps": 30,'));
    const rfqs = join(folder, 'rfqs.jsonl');
    const line = (at: number) =>
      JSON.stringify({
        atMs: 1_700_000_000_000 + at * 1000,
        id: `r${at}`,
        taker: 't',
        corridor: 'base-arc',
        input: 'WETH',
        output: 'USDC',
        side: 'exactInput',
        amount: '1000000000000000000',
      });
    await writeFile(rfqs, [1, 20, 40, 60, 80].map(line).join('\n'));
    const { rows } = await sim(
      'replay',
      '--prices',
      recording,
      '--rfqs',
      rfqs,
      '--config',
      EXAMPLE,
      '--against',
      changed,
      '--json',
      join(folder, 'replay.json'),
      '--html',
      join(folder, 'replay.html'),
      '--csv',
      join(folder, 'replay'),
    );
    const quotes = await readCsv(join(folder, 'replay'), 'quotes.csv');
    expect(quotes.length).toBe(5);
    for (const quote of quotes) {
      expect(quote['changed']).toBe('true');
      expect(Number(quote['first_spread_bps'])).toBeLessThan(Number(quote['second_spread_bps']));
    }
    const summary = await readCsv(join(folder, 'replay'), 'summary.csv');
    expect(summary[0]).toEqual({ figure: 'requests', 'lp.example': '5', changed: '5', difference: '0' });
    expect(summary.map(({ figure }) => figure)).toContain('PnL, USD');
    expect(rows).toContainEqual({ name: 'requests', ours: 5, reference: null, ok: true });
    expect(rows).toContainEqual({
      name: 'answered or accepted differently',
      ours: 5,
      reference: null,
      ok: true,
    });
    expect(printed.join('\n')).toMatch(/PnL, USD[\s\S]*Differences/);
    expect(JSON.parse(await readFile(join(folder, 'replay.json'), 'utf8'))).toMatchObject({
      names: ['lp.example', 'changed'],
      result: { requests: 5 },
    });
  });

  test('shows an LP hedge-less and hedged', async () => {
    const csv = join(folder, 'hedge');
    const { rows } = await sim(
      ...['run', '--config', EXAMPLE, '--minutes', '5', '--seeds', '2', '--rfq-seconds', '1', '--csv', csv],
      ...[
        '--fixed',
        '8',
        '--hedge-band-usd',
        '1000',
        '--hedge-fee-bps',
        '5',
        '--html',
        join(folder, 'h.html'),
      ],
    );
    const [alone, hedged] = await readCsv(csv, 'hedge.csv');
    expect(alone).toMatchObject({ variant: 'hedge-less', orders: '0', fee_usd: '0' });
    expect(Number(hedged?.['fee_usd'])).toBeCloseTo(Number(hedged?.['traded_usd']) * 5e-4, 6);
    expect(Number(hedged?.['open_position_rms_usd'])).toBeLessThan(Number(alone?.['open_position_rms_usd']));
    const runs = await readCsv(csv, 'runs.csv');
    expect(runs.find((row) => row['lp'] === 'hedged')?.['pnl_usd']).toBe(hedged?.['pnl_usd']);
    const pnl = (lp: string) => Number(runs.find((row) => row['lp'] === lp)?.['pnl_usd']);
    // The hedge is another view of the first LP, so the total leaves it out.
    expect(pnl('all LPs')).toBeCloseTo(pnl('this LP') + pnl('fixed 8 bps'), 6);
    const series = await readCsv(csv, 'hedge-series.csv');
    expect(series.at(-1)?.['hedged_pnl_usd']).toBe(hedged?.['pnl_usd']);
    expect(rows.find(({ name }) => name === 'hedge: orders')?.ours).toBe(Number(hedged?.['orders']));
    expect(await readFile(join(folder, 'h.html'), 'utf8')).toMatch(
      /hedge-less and hedged[\s\S]*Open position/,
    );
  });

  test('shows each of several pairs, whose profits sum to that of the LP', async () => {
    const csv = join(folder, 'pairs');
    const { rows } = await sim(
      ...['run', '--config', twoPairs, ...BOTH, '--start', '2500', '--start', '60000', '--sigma', '0.9'],
      ...['--sigma', '0.5', '--correlation', '0.6', '--minutes', '5', '--rfq-seconds', '2', '--csv', csv],
      ...['--html', join(folder, 'pairs.html')],
    );
    expect(printed[0]).toMatch(/^WETH-USDC and WBTC-USDC, 5 minutes.*90 % and 50 % a year.*correlation 0.6/);
    const [all] = await readCsv(csv, 'results.csv');
    const parts = await readCsv(csv, 'pairs.csv');
    expect(parts.map((row) => [row['lp'], row['pair']])).toEqual([
      ['this LP', 'WETH-USDC'],
      ['this LP', 'WBTC-USDC'],
    ]);
    for (const figure of ['requests', 'fills', 'pnl_usd', 'volume_usd']) {
      expect(parts.every((row) => Number(row[figure]) !== 0)).toBe(true);
      const sum = parts.reduce((total, row) => total + Number(row[figure]), 0);
      expect(sum).toBeCloseTo(Number(all?.[figure]), 4);
    }
    const ofPair = (table: Record<string, string>[], pair: string) =>
      table.filter((row) => row['pair'] === pair);
    const series = await readCsv(csv, 'pair-series.csv');
    expect(ofPair(series, 'WBTC-USDC').at(-1)?.['pnl_usd']).toBe(parts[1]?.['pnl_usd']);
    const mids = await readCsv(csv, 'mids.csv');
    expect(ofPair(mids, 'WBTC-USDC')[0]?.['mid_quote_tokens']).toBe('60000');
    expect((await readCsv(csv, 'money.csv')).map((row) => row['token'])).toContain('WBTC');
    expect(rows.find(({ name }) => name === 'this LP, WBTC-USDC: PnL, USD')?.ours).toBe(
      Number(parts[1]?.['pnl_usd']),
    );
    expect(await readFile(join(folder, 'pairs.html'), 'utf8')).toMatch(
      /By pair[\s\S]*Mid of WETH-USDC[\s\S]*Mid of WBTC-USDC/,
    );
  });

  test('takes each pair from its symbol of a recording, and only the seconds that all have', async () => {
    const path = join(folder, 'two.jsonl');
    const line = (atMs: number, symbol: string, bid: number) =>
      `${atMs}000000 ${JSON.stringify({ u: atMs, s: symbol, b: `${bid}`, B: '1', a: `${bid + 1}`, A: '1' })}`;
    const lines = Array.from({ length: 120 }, (_, at) => [
      line(1_700_000_000_000 + at * 1000, 'ETHUSDC', 2_500 + (at % 3)),
      // It begins 20 seconds later.
      ...(at < 20 ? [] : [line(1_700_000_000_500 + at * 1000, 'BTCUSDC', 60_000 + 10 * (at % 5))]),
    ]);
    await writeFile(path, lines.flat().join('\n'));
    const csv = join(folder, 'recorded');
    const recorded = ['--prices', `${path}#ETHUSDC`, '--prices', `${path}#BTCUSDC`];
    await sim('run', '--config', twoPairs, ...BOTH, ...recorded, '--csv', csv);
    expect(printed[0]).toMatch(/1.6 minutes.*recorded: ETHUSDC and BTCUSDC from 2023-11-14T22:13:40/);
    const mids = await readCsv(csv, 'mids.csv');
    expect(mids.slice(0, 2).map((row) => Number(row['mid_quote_tokens']))).toEqual([2_502.5, 60_000.5]);
    await expect(sim('run', '--config', twoPairs, '--prices', `${path}#DOGE`)).rejects.toThrow(
      'has no prices of DOGE. It has: ETHUSDC, BTCUSDC.',
    );
    await expect(sim('run', '--config', twoPairs, ...BOTH, '--prices', path)).rejects.toThrow(
      /--prices is given for 1 of 2 pairs.*FILE#SYMBOL/,
    );
    const other = ['--prices', `${path}#ETHUSDC`, '--prices', recording];
    await expect(sim('run', '--config', twoPairs, ...BOTH, ...other)).resolves.toMatchObject({ ok: true });
    await writeFile(
      path,
      [1, 2, 3, 4, 5, 6, 7].map((at) => line(1_600_000_000_000 + at * 1000, 'ETHUSDC', 2_500)).join('\n'),
    );
    await expect(
      sim('run', '--config', twoPairs, ...BOTH, '--prices', path, '--prices', recording),
    ).rejects.toThrow(/have 0 seconds in common; at least 5 are needed/);
  });

  test('shows what transfers would have cost and brought, and names the limit that held them back', async () => {
    const config = JSON.parse(await readFile(EXAMPLE, 'utf8')) as WrittenConfig;
    const chains = { base: { softShare: 0.3 }, arc: { softShare: 0.3 } };
    Object.assign(config.lp.assets['USDC'] as object, { transportBps: 3, chains });
    const file = join(folder, 'located.json');
    await writeFile(file, JSON.stringify(config));
    const words = ['rebalance', '--config', file, '--minutes', '60', '--capital-usd', '60000'];
    const delay = ['--delay-seconds', '60'];
    const { rows } = await sim(...words, ...delay);
    const ours = (name: string) => rows.find((row) => row.name === name)?.ours as number;
    expect(ours('with: transfers')).toBeGreaterThan(0);
    expect(ours('with: bridge fees, USD')).toBeCloseTo(ours('with: moved, USD') / 1e4, 2);
    expect(ours('without: transfers')).toBe(0);
    expect(ours('with: declined for lack of inventory')).toBeLessThan(
      ours('without: declined for lack of inventory'),
    );
    expect(printed.join('\n')).toMatch(/time out of band, USDC on arc, % +[\d.]+ +[\d.]+ +[+-]?[\d.]+/);
    await sim(...words, ...delay, '--most-usd', '10');
    expect(printed.join('\n')).toContain('it is worth more than transfers.mostUsd (10)');
    await expect(sim(...words, '--asset', 'EURC')).rejects.toThrow('does not have EURC on two chains');
  });

  test('sweeps, compares and replays several pairs', async () => {
    const words = ['--config', twoPairs, ...BOTH, '--start', '2500', '--start', '60000', '--minutes', '3'];
    const swept = await sim('sweep', ...words, '--seeds', '2', '--set', 'minEdgeBps=30');
    expect(swept.rows.find(({ name }) => name === 'minEdgeBps=30: difference, USD')?.ours).not.toBe(0);
    const itself = await sim('compare', ...words, '--against', twoPairs, '--seeds', '2');
    expect(itself.rows.filter(({ ours }) => ours !== 0)).toEqual([]);
    const csv = join(folder, 'replayed');
    await sim('replay', ...words, '--against', twoPairs, '--csv', csv);
    const pairs = (await readCsv(csv, 'quotes.csv')).map((row) => row['pair']);
    expect(new Set(pairs)).toEqual(new Set(['WETH-USDC', 'WBTC-USDC']));
  });

  test.each([
    [['--pair', 'WETH-USDC', '--pair', 'WETH-USDC'], /--pair names WETH-USDC twice/],
    [
      ['--pair', 'WETH-USDC', '--pair', 'WBTC-WETH'],
      /one quote asset.*WETH-USDC and WBTC-WETH have USDC and WETH/,
    ],
    [BOTH, /--start is given for 0 of 2 pairs.*order of --pair: WETH-USDC, WBTC-USDC/],
    [
      [...BOTH, ...['1', '2', '3'].flatMap((start) => ['--start', start])],
      /--start is given for 3 of 2 pairs/,
    ],
    [
      [...BOTH, ...['1', '2', '3'].flatMap((start) => ['--sigma', start, '--start', start])],
      /--start is given for 3/,
    ],
    [
      [...BOTH, '--start', '1', '--start', '2', ...['1', '2', '3'].flatMap((each) => ['--sigma', each])],
      /--sigma is given for 3 of 2 pairs/,
    ],
    [['--correlation', '0.5'], /--correlation is for drawn prices of several pairs/],
    [['--correlation', '2'], /number from 0 to 1/],
    [['--start', 'x'], /number from 1e-9/],
  ])('a market of pairs with %j is refused', async (words, message) => {
    await expect(sim('run', '--config', twoPairs, ...words)).rejects.toThrow(message);
  });

  test('a sweep runs every point with the same seeds and sorts them', async () => {
    const [csv, json] = [join(folder, 'sweep'), join(folder, 'sweep.json')];
    const words = ['sweep', '--config', EXAMPLE, '--minutes', '3', '--seeds', '2', '--rfq-seconds', '1'];
    const { rows } = await sim(
      ...[...words, '--set', 'minEdgeBps=1,30', '--set', 'gamma=0.0005,0.002', '--sort', 'deviation'],
      ...['--csv', csv, '--json', json, '--html', join(folder, 'sweep.html')],
    );
    const points = await readCsv(csv, 'sweep.csv');
    expect(points.length).toBe(5);
    const deviations = points.map((row) => Number(row['deviation_usd']));
    expect(deviations).toEqual(deviations.toSorted((a, b) => a - b));
    // The configuration has these values, and common random numbers leave no difference at all.
    const same = points.find((row) => row['minEdgeBps'] === '1' && row['gamma'] === '0.0005');
    expect(same).toMatchObject({ difference_usd: '0', difference_low_95: '0', difference_high_95: '0' });
    const other = points.find((row) => row['minEdgeBps'] === '30' && row['gamma'] === '0.0005');
    expect(Number(other?.['difference_usd'])).not.toBe(0);
    expect((await readCsv(csv, 'runs.csv')).length).toBe(10);
    expect(JSON.parse(await readFile(json, 'utf8')).points.map(({ mean }: Distribution) => mean)).toEqual(
      points.map((row) => Number(row['mean_pnl_usd'])),
    );
    expect(rows.map(({ name }) => name)).toContain('minEdgeBps=30 gamma=0.002: mean PnL, USD');
  });

  test('a comparison pairs two configurations by seed', async () => {
    const wider = join(folder, 'wider.json');
    const text = await readFile(EXAMPLE, 'utf8');
    await writeFile(wider, text.replace('"minEdgeBps": 1,', '"minEdgeBps": 30,'));
    const words = ['compare', '--config', EXAMPLE, '--minutes', '3', '--seeds', '3', '--rfq-seconds', '1'];
    const csv = join(folder, 'compare');
    const { rows } = await sim(...words, '--against', wider, '--csv', csv);
    const spread = (await readCsv(csv, 'compare.csv')).find((row) => row['figure'] === 'mean spread D, bps');
    expect(spread?.['verdict']).toBe('wider is higher');
    expect(Number(spread?.['difference_low_95'])).toBeGreaterThan(10);
    expect(Number(spread?.['difference'])).toBe(
      rows.find(({ name }) => name === 'difference: mean spread D, bps: mean')?.ours,
    );
    const itself = await sim(...words, '--against', EXAMPLE);
    expect(itself.rows.length).toBeGreaterThan(20);
    expect(itself.rows.filter(({ ours }) => ours !== 0)).toEqual([]);
    const recorded = await sim(
      ...['compare', '--config', EXAMPLE, '--against', wider, '--prices', recording],
    );
    expect(
      recorded.rows.find(({ name }) => name === 'difference: mean spread D, bps: mean')?.ours,
    ).toBeGreaterThan(10);
  });

  test.each([
    [[], /One of: --published, --bars, --model/],
    [['--published', '--bars'], /One of/],
    [['--published', '--foo', '1'], /no option --foo/],
    [['--published', '--events', '5'], /belong to --bars/],
    [['--bars', '--paths', '1'], /at least 2/],
    [['--bars', '--seed', 'x'], /--seed must be a whole number, not "x"/],
    [['--bars', '--events', '1.5'], /whole number/],
    [['--bars', '--recording', '/nowhere'], /could not be read/],
    [['--model', 'lambertw', '--x'], /--x needs a value/],
    [['--model', 'lambertw', '--x', '1', '--x=2'], /given twice/],
    [['--model', 'lambertw', 'x'], /"x" is not an option/],
    [['run'], /required option '-c, --config/],
    [['run', '--config', EXAMPLE, '--informed', '2'], /number from 0 to 1/],
    [['run', '--config', EXAMPLE, '--pair', 'DOGE-USDC'], /makes no market in DOGE-USDC. It has: WETH-USDC/],
    [['run', '--config', 'config/venue.example.json'], /cannot be used/],
    [['run', '--config', EXAMPLE, '--minutes', '1', '--html', '/nowhere/x.html'], /cannot be written/],
    [['sweep', '--config', EXAMPLE, '--set', 'gama=1'], /"gama" is no parameter.*one of: alpha, beta/],
    [['sweep', '--config', EXAMPLE, '--set', 'gamma'], /"" is not allowed/],
    [['sweep', '--config', EXAMPLE, '--set', 'gamma=0,x'], /"x" is not allowed/],
    [
      ['sweep', '--config', EXAMPLE, '--set', 'gamma=-1'],
      /"-1" is not allowed. Too small: expected number to be >=0/,
    ],
    [['sweep', '--config', EXAMPLE, '--set', 'invPassThrough=1'], /"1" is not allowed.*boolean/],
    [['sweep', '--config', EXAMPLE, '--set', 'omega=0', '--set', 'omega=1'], /names omega twice/],
    [['sweep', '--config', EXAMPLE, '--set', 'minSize=300000'], /is 300000, above maxSize = 250000/],
    [['sweep', '--config', EXAMPLE, '--set', 'gamma=1', '--sort', 'luck'], /Allowed choices are pnl, /],
    [['replay', '--config', EXAMPLE], /required option '--against/],
    [['replay', '--config', EXAMPLE, '--against', EXAMPLE, '--rfqs', '/nowhere'], /cannot be read/],
  ])('%j is refused', async (words, message) => {
    await expect(sim(...words)).rejects.toThrow(message);
  });

  test('a line of another day does not fill the gap with a price for each second', async () => {
    const path = join(folder, 'gap.jsonl');
    const line = (atMs: number, u: number) =>
      `${atMs}000000 ${JSON.stringify({ u, s: 'ETHUSDT', b: '2500', B: '1', a: '2501', A: '1' })}`;
    await writeFile(path, [line(1_700_000_000_000, 1), line(8_700_000_000_000, 2)].join('\n'));
    await expect(sim('--bars', '--paths', '2', '--events', '2000', '--recording', path)).rejects.toThrow(
      'gaps of more than a day cannot be filled',
    );
  });
});
