/**
 * Evening: the LP drains, and its books are held against the chains: every token, the gas of every key, and
 * the profit that follows from them.
 */

import { expect } from 'vitest';
import { connectDatabase } from '../../src/adapters/postgres/pool.ts';
import { LP_SCHEMA } from '../../src/apps/lp/schema.ts';
import { broken } from '../faults/support/checker.ts';
import { silentLog } from '../support/silent.ts';
import type { Day } from './support/day.ts';
import { bookRows, closing, type ExportRow, spent } from './support/gas.ts';

export async function books(day: Day): Promise<void> {
  const { operator, here, there, owner } = day;
  await operator.ok('drain');
  const verdict = await operator.until(/^All 8 balances of the accounting ledger agree/m, 'journal');
  for (const key of day.keys) expect(verdict.split(`gas of ${key}`)).toHaveLength(3);

  const rows = await bookRows(day);
  expect(sums(rows, ['opening', 'posting'])).toEqual(sums(rows, ['closing']));
  for (const [entry, tokens] of byEntry(rows))
    expect([entry, ...tokens.values()]).toEqual([entry, ...[...tokens].map(() => 0n)]);
  for (const { chain, port, usdc, weth } of [here, there]) {
    for (const { symbol, address } of [usdc, weth])
      expect(
        closing(rows, chain.slug, ({ account, token }) => account === 'assets:inventory' && token === symbol),
        `${symbol} on ${chain.slug}`,
      ).toBe(await port.ledgerBalance(owner.address, address));
  }
  // Booked by receipts, or by hand: after the old database, and when somebody sent native currency.
  for (const [each, gift] of [
    [here, day.toppedUp],
    [there, 0n],
  ] as const) {
    const native = (name: string) =>
      closing(
        rows,
        each.chain.slug,
        ({ account, token }) => account === name && token !== 'USDC' && token !== 'WETH',
      );
    expect(native('expense:gas') + native('equity:adjustment'), each.chain.slug).toBe(
      (await spent(each, day.keys)) - gift,
    );
    for (const key of day.keys)
      expect(native(`assets:gas:${key}`)).toBe(await each.port.nativeBalance(key as `0x${string}`));
  }
}

interface Profit {
  rows: { trades: number; grossMicros: string; feesMicros: string }[];
  totals: Record<'spread' | 'realised' | 'unrealised' | 'gas' | 'lost' | 'total', string>;
  positions: { asset: string; quantity: string | null }[];
}

export async function profit(day: Day): Promise<void> {
  const { operator, here, there, owner } = day;
  const pnl = async (...window: string[]) => {
    const found = JSON.parse(await operator.ok('pnl', '--format', 'json', ...window)) as Profit;
    const { spread, realised, unrealised, gas, lost, total } = micros(found);
    expect(total, window.join(' ')).toBe(spread + realised + unrealised - gas - lost);
    const earned = found.rows.reduce(
      (sum, row) => sum + BigInt(row.grossMicros) - BigInt(row.feesMicros),
      0n,
    );
    expect(earned, window.join(' ')).toBe(spread);
    return found;
  };
  const whole = await pnl('--since', 'all');
  expect(whole.rows.reduce((sum, { trades }) => sum + trades, 0)).toBeGreaterThan(20);
  await pnl('--since', 'all', '--by', 'trade');
  // Two windows that follow each other are the whole.
  const at = new Date(Date.now() - 120_000).toISOString();
  const [before, after] = [
    micros(await pnl('--since', 'all', '--until', at)),
    micros(await pnl('--since', at)),
  ];
  const all = micros(whole);
  for (const name of Object.keys(all) as (keyof typeof all)[])
    expect([name, before[name] + after[name]]).toEqual([name, all[name]]);
  for (const [asset, of] of [
    ['USDC', 'usdc'],
    ['WETH', 'weth'],
  ] as const) {
    const held = await Promise.all(
      [here, there].map(async (chain) => {
        const { address, decimals } = chain[of];
        return (await chain.port.ledgerBalance(owner.address, address)) * 10n ** BigInt(18 - decimals);
      }),
    );
    expect(whole.positions.find((position) => position.asset === asset)?.quantity).toBe(
      held.reduce((sum, amount) => sum + amount, 0n).toString(),
    );
  }
}

const micros = ({ totals }: Profit) =>
  Object.fromEntries(
    (['spread', 'realised', 'unrealised', 'gas', 'lost', 'total'] as const).map((name) => [
      name,
      BigInt(totals[name]),
    ]),
  ) as Record<keyof Profit['totals'], bigint>;

/** Nobody was paid twice, nothing was lost, no secret was logged: read from chains, databases and answers. */
export async function everything(day: Day): Promise<void> {
  const { world, operator } = day;
  const databases = day.databases.map((url) =>
    connectDatabase({ url, schema: LP_SCHEMA, maxConnections: 2, log: silentLog }),
  );
  try {
    const problems = await broken(
      {
        chains: world.devnet.chains.map(({ chain, anvil }) => ({ chain, rpcUrl: anvil.url })),
        venue: world.database,
        senders: [
          { name: 'the venue', database: world.database },
          ...databases.map((database, at) => ({ name: `database ${at} of the LP`, database })),
        ],
        takers: day.takers.map(({ wallet }) => wallet.address),
        lps: [day.owner.address],
        log: world.log,
        secrets: [...world.secrets, day.owner.privateKey.slice(2), operator.env['OPERATOR_PASSWORD'] ?? '?'],
        outputs: [...new Set([...day.processes, ...world.attesters, ...world.venues])].map((part) => ({
          name: part.name,
          text: part.output(),
        })),
      },
      { ended: true },
    );
    expect(problems).toEqual([]);
  } finally {
    for (const database of databases) await database.close();
  }
  expect(day.orders).not.toContain('');
  expect(new Set(day.orders).size).toBe(day.orders.length);
}

function sums(rows: readonly ExportRow[], kinds: readonly ExportRow['row'][]): Record<string, bigint> {
  const found = new Map<string, bigint>();
  for (const { row, account, chain, token, base_units: amount } of rows) {
    if (!kinds.includes(row)) continue;
    const key = `${account} ${chain} ${token}`;
    found.set(key, (found.get(key) ?? 0n) + BigInt(amount));
  }
  return Object.fromEntries([...found].filter(([, sum]) => sum !== 0n).toSorted());
}

function byEntry(rows: readonly ExportRow[]): Map<number, Map<string, bigint>> {
  const entries = new Map<number, Map<string, bigint>>();
  for (const { row, entry, chain, token, base_units: amount } of rows) {
    if (row !== 'posting' || entry === null) continue;
    const tokens = entries.get(entry) ?? new Map<string, bigint>();
    entries.set(
      entry,
      tokens.set(`${chain} ${token}`, (tokens.get(`${chain} ${token}`) ?? 0n) + BigInt(amount)),
    );
  }
  return entries;
}
