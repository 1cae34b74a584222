/**
 * The books of an LP process that moves inventory over a bridge with a fee: at every stage they have what
 * lies on both chains and on the way, less recorded fees; and the profit shows what moving it cost.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { type MovingLp, startMovingLp } from '../../faults/support/moving-lp.ts';
import { patiently } from '../../faults/support/client.ts';
import { PROGRAM } from '../../support/build.ts';
import { firmquote } from '../../support/command.ts';
import { foldTransfer } from '../../../src/settlement/transfer.ts';

const WHOLE = 1_000_000n;
const AMOUNT = 1_000n * WHOLE;
const OWNED = 100_000n * WHOLE;

let m: MovingLp;

beforeAll(async () => {
  m = await startMovingLp({
    ...{ chainIds: [31_697, 31_698], program: PROGRAM, fast: true },
    transfers: { mode: 'by_hand' },
    lp: { journal: { everyMs: 100 } },
  });
}, 300_000);
afterAll(() => m?.stop());

interface Books {
  reconciled: { chain: string; token: string; difference: string | null }[];
  gas: { difference: string }[];
  balances: { account: string; token: string; amount: string }[];
  lag: { waiting: number; chains: { blocks: number }[] };
}
interface Profit {
  totals: Record<'bridgeFees' | 'transferGas' | 'total', string>;
  transfers: { transfers: number; movedMicros: string; feesMicros: string; gasMicros: string };
  positions: { asset: string; quantity: string }[];
}

const usdcIn = ({ balances }: Books, account: string): bigint =>
  balances
    .filter((each) => each.account === account && each.token === 'USDC')
    .reduce((sum, { amount }) => sum + BigInt(amount), 0n);

/** The books when they have read both chains to the end; they agree with the chains then. */
async function settledBooks(): Promise<Books> {
  let last: unknown;
  return patiently(
    async () => {
      const books = await m.ask<Books>('/books').catch(() => undefined);
      last = books && { differences: books.reconciled, lag: books.lag };
      const isRead = books?.lag.waiting === 0 && books.lag.chains.every(({ blocks }) => blocks === 0);
      const agree = books?.reconciled.every(({ difference }) => difference === '0');
      return isRead && agree && books.reconciled.length === 4 ? books : undefined;
    },
    () => `the books do not agree with the chains: ${JSON.stringify(last)}`,
  );
}

const nav = async () => (await m.ask<{ navUsd: number }>('/risk')).navUsd;
const quantity = async () =>
  (await m.ask<Profit>('/pnl')).positions.find(({ asset }) => asset === 'USDC')?.quantity;
const begin = () =>
  m.ask('/transfers', {
    ...{ asset: 'USDC', from: m.here.chain.slug, to: m.there.chain.slug },
    ...{ amount: String(AMOUNT / WHOLE), note: 'a test', by: 'the test' },
  });

test('the books have what lies on the chains and on the way, less recorded fees, through a kill too', async () => {
  const had = await settledBooks();
  expect(usdcIn(had, 'assets:inventory')).toBe(OWNED);
  const [value, held] = [await nav(), await quantity()];
  // Nothing is attested, so the money stays in the bridge.
  m.circle.setFaults({ pending: true });
  await begin();
  const passed = { delay: false };
  expect(await m.until('burned', passed)).toBe('reached');
  const onTheWay = await settledBooks();
  expect(usdcIn(onTheWay, 'assets:inventory')).toBe(OWNED - AMOUNT);
  expect(usdcIn(onTheWay, 'assets:in-transit')).toBe(AMOUNT);
  expect(await quantity()).toBe(held);
  expect(await nav()).toBeCloseTo(value, 4);

  await m.lp.part.kill();
  await m.startWhole();
  const again = await settledBooks();
  expect(usdcIn(again, 'assets:in-transit')).toBe(AMOUNT);
  await patiently(async () => Math.abs((await nav()) - value) < 0.01 || undefined);

  m.circle.setFaults({});
  expect(await m.until('deposited', passed)).toBe('reached');
  const { here, there } = await m.before();
  const transfer = await m.newest();
  const arrived = transfer ? foldTransfer(AMOUNT, transfer.facts).amount : 0n;
  const fee = AMOUNT - arrived;
  expect(fee).toBeGreaterThan(0n);
  await patiently(async () => usdcIn(await settledBooks(), 'assets:in-transit') === 0n || undefined);
  const after = await settledBooks();
  expect(usdcIn(after, 'assets:inventory')).toBe(here.ledger + there.ledger);
  expect(usdcIn(after, 'assets:inventory')).toBe(OWNED - fee);
  expect(usdcIn(after, 'expense:bridge-fee')).toBe(fee);
  // The mover's balance of native currency agrees too: its transactions are in the books.
  await patiently(
    async () => (await m.ask<Books>('/books')).gas.every(({ difference }) => difference === '0') || undefined,
  );
  await patiently(async () => Math.abs((await nav()) - (value - Number(fee) / 1e6)) < 0.01 || undefined);
  await profitShowsTheCost();
});

/** As a line of its own, in tables, in CSV and by transfer. */
async function profitShowsTheCost(): Promise<void> {
  // The balances are known a moment before the database has the row of profit.
  const { totals, transfers } = await patiently(async () => {
    const profit = await m.ask<Profit>('/pnl');
    return profit.transfers.transfers > 0 ? profit : undefined;
  });
  expect(transfers.transfers).toBe(1);
  expect(BigInt(transfers.movedMicros)).toBe(AMOUNT);
  expect(BigInt(totals.bridgeFees)).toBe(BigInt(transfers.feesMicros));
  expect(BigInt(transfers.feesMicros)).toBeGreaterThan(0n);
  expect(BigInt(totals.transferGas)).toBeGreaterThan(0n);
  const lp = async (...words: string[]) =>
    (await firmquote(['lp', ...words, '--admin', m.lp.adminUrl])).stdout;
  expect(await lp('pnl', '--since', 'all')).toMatch(
    /- rebalancing [\d.]+ = [\s\S]*rebalancing: 1 transfers of 1,000\.00 ended, [\d.]+ minutes under way on average; bridges kept 0\.\d+, gas \d/,
  );
  expect((await lp('pnl', '--since', 'all', '--format', 'csv')).split('\n')).toContainEqual(
    expect.stringMatching(/^rebalancing,1,1000,0,0\.\d+,-0\.\d+,/),
  );
  const { id } = (await m.newest()) ?? { id: '' };
  expect(await lp('pnl', '--since', 'all', '--by', 'transfer')).toMatch(
    new RegExp(`${id} .* USDC +chain1 +chain2 +cctp +arrived +[\\d.]+ +1,000.00`),
  );
  const exported = await lp('journal', '--export', '--counterparty', 'bridge');
  for (const kind of ['departed', 'arrived']) expect(exported).toContain(`,${kind},bridge,`);
}
