import { expect, test } from 'vitest';
import { silentLog } from '../../../test/support/silent.ts';
import type { Chain } from '../../domain/chain.ts';
import { createLedger } from '../../inventory/ledger.ts';
import type { OpenAward } from '../settlement/awards.ts';
import { zLpConfig } from '../config/config.ts';
import { createQuoteEvents } from '../quote-log/quote-events.ts';
import { createReceivables } from './receivables.ts';

const ME = `0x${'1'.repeat(40)}` as const;
const TOKEN = `0x${'a'.repeat(40)}` as const;
const chains = new Map([
  [1, { id: 1, slug: 'base', tokens: [] }],
  [2, { id: 2, slug: 'arc', tokens: [] }],
]) as unknown as Map<number, Chain>;
const settings = zLpConfig
  .pick({ receivables: true, quoting: true })
  .parse({ receivables: { leastSeconds: 10 }, quoting: { lockSeconds: 20 } });

/** Filled on arc, owed on base: the last second it was filled at, and what the chain's clock says now. */
function made() {
  const ledger = createLedger({
    buckets: [1, 2].map((chainId) => ({ chainId, token: TOKEN, asset: 'USDC', decimals: 6 })),
    graceSeconds: () => 2,
    limits: {},
  });
  ledger.apply({ type: 'deposited', id: 'd', chainId: 2, token: TOKEN, amount: 1_000n });
  const open: OpenAward[] = [];
  let now = 1_000;
  const quoteEvents = createQuoteEvents({ log: silentLog });
  const errors: object[] = [];
  const log = { ...silentLog, error: (facts: object) => void errors.push(facts) };
  const receivables = createReceivables(
    { awards: { open: () => open }, ledger, quoteEvents, chains, log, time: () => now },
    { ...settings, account: ME },
    [],
  );
  return {
    ledger,
    receivables,
    errors,
    at(seconds: number) {
      now = seconds;
      receivables.reportOverdue();
    },
    fill(orderId: `0x${string}`) {
      const input = { chainId: 1, token: TOKEN, amount: 101n };
      ledger.apply({
        type: 'restored',
        request: {
          orderId,
          chainId: 2,
          token: TOKEN,
          amount: 100n,
          input,
          group: orderId,
          lapsesAt: 5_000,
          taker: 't',
          pair: 'p',
          side: 'buy',
          notional: 0n,
        },
      });
      ledger.apply({ type: 'filled', orderId, id: orderId });
      open.push({
        orderId,
        stage: 'filled',
        fill: { timestamp: now, txHash: '0x', blockNumber: 1n },
        slice: { originChainId: 1, destChainId: 2, earns: input },
      } as unknown as OpenAward);
    },
    arrive(orderId: `0x${string}`) {
      const award = open.splice(
        open.findIndex((each) => each.orderId === orderId),
        1,
      )[0] as OpenAward;
      ledger.apply({ type: 'finalised', orderId, id: `claim ${orderId}`, received: 101n });
      quoteEvents.finalised(award, { chainId: 1, blockNumber: 2n, blockHash: '0x', txHash: '0x' });
    },
  };
}

test('overdue for three times the usual delay: one alarm, no exposure, and restored on arrival', () => {
  const world = made();
  const owned = () => world.ledger.exposure('USDC').owned / 10n ** 12n;
  world.fill('0x01');
  expect(owned()).toBe(1_001n);
  // Nothing has arrived yet: three times the configured lock time.
  world.at(1_060);
  expect(world.receivables.list()).toMatchObject([
    { corridor: 'base-arc', seconds: 60, limitSeconds: 60, overdue: false },
  ]);
  world.at(1_061);
  world.at(1_062);
  expect(world.errors).toHaveLength(1);
  expect(world.receivables.list()).toMatchObject([
    { orderId: '0x01', overdue: true, owed: { amount: 101n } },
  ]);
  expect(world.ledger.bucket(1, TOKEN)).toMatchObject({ receivable: 101n, overdue: 101n, free: 0n });
  expect(owned()).toBe(900n);
  world.arrive('0x01');
  expect(world.receivables.list()).toEqual([]);
  expect(world.ledger.bucket(1, TOKEN)).toMatchObject({ receivable: 0n, overdue: 0n, onchain: 101n });
  expect(owned()).toBe(1_001n);
});

test('learns the usual delay per corridor from arrivals', () => {
  const world = made();
  let now = 1_000;
  for (let n = 0; n < 5; n += 1) {
    world.fill(`0x1${n}`);
    now += 6;
    world.at(now);
    world.arrive(`0x1${n}`);
  }
  world.fill('0x02');
  world.at(now + 18);
  expect(world.errors).toHaveLength(0);
  world.at(now + 19);
  expect(world.errors).toMatchObject([
    { orderId: '0x02', corridor: 'base-arc', seconds: 19, limitSeconds: 18 },
  ]);
});
