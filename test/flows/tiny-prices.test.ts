/**
 * What a venue holds against a trade in a coin of many digits, or of no price: the travel rule, the agreement
 * of several nodes, and the open notional of its key. The price comes from a real HTTP feed.
 */

import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createHttpFeed } from '../../src/adapters/feeds/http.ts';
import { createMetrics } from '../../src/adapters/prometheus/metrics.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { createReference } from '../../src/apps/venue/reference.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { Log } from '../../src/ports/log.ts';
import type { OrderRecord } from '../../src/ports/stores/store.ts';
import { account, type TestAccount } from '../support/devnet.ts';
import { silentLog } from '../support/silent.ts';
import { signPlan } from '../support/taker.ts';
import { type Answer, startTestVenue, type TestVenue, until } from '../support/venue.ts';

/** 3e13 whole coins of six decimals: 216,000 dollars at 0.0000000072. */
const COINS = 30_000_000_000_000n;
const TINY = '{"bid":"0.0000000071","ask":"0.0000000073"}';

let exchange: Server;
let v: TestVenue;
let reference: ReturnType<typeof createReference> | undefined;
let metrics: ReturnType<typeof createMetrics>;
let lines: { facts: Record<string, unknown>; message: string }[];
/** The body of the exchange's answers. */
let says: string;

beforeAll(async () => {
  exchange = createServer((_, response) => response.end(says));
  await new Promise<void>((resolve) => exchange.listen(0, '127.0.0.1', resolve));
  v = await startTestVenue({
    reference: { usd: (symbol) => reference?.usd(symbol), lastUsd: (symbol) => reference?.lastUsd(symbol) },
    rates: { openNotionalUsd: 100_000 },
  });
  // About 86 WETH for all coins, whatever the reference says.
  await v.solver(1, (rfq, make) =>
    make.quote(rfq, { output: (86n * 10n ** 18n * BigInt(rfq.amount)) / (COINS * 10n ** 6n) }),
  );
  await v.workspace('watched', { travelRuleThresholdUsd: 1_000 });
});
beforeEach(() => {
  [lines, metrics] = [[], createMetrics()];
});
afterEach(() => reference?.stop());
afterAll(async () => {
  await v.stop();
  exchange.closeAllConnections();
  exchange.close();
});

/** Starts the reference prices of a venue process. What the venue calls USDC is the coin. */
function follow(body: string): void {
  says = body;
  const log: Log = {
    ...silentLog,
    warn: (facts, message) => void lines.push({ facts: facts as Record<string, unknown>, message }),
  };
  const feed = createHttpFeed(
    { clock: systemClock, backoff: () => 20 },
    {
      url: `http://127.0.0.1:${(exchange.address() as AddressInfo).port}/{symbol}`,
      ...{ symbols: ['COINUSD'], source: 'web', bid: 'bid', ask: 'ask', everyMs: 20 },
    },
  );
  reference = createReference({ USD: { feed: 'web', symbol: 'COINUSD', maxAgeMs: 500 } }, [feed], {
    clock: systemClock,
    log,
    metrics,
  });
  reference.start();
}
const priced = () => until(() => reference?.usd('USD'));
const unpriced = () => until(() => reference?.usd('USD') === undefined);

let takers = 9_000;
const newKey = () => v.key('service', { workspaceId: 'watched' });
const ask = (key: string, taker: TestAccount, coins = COINS): Promise<Answer> =>
  v.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker: taker.address,
      input: {
        asset: assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address }),
        amount: (coins * 10n ** 6n).toString(),
      },
      output: { asset: assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address }) },
    },
  });

async function accepted(coins = COINS): Promise<OrderRecord | undefined> {
  const [key, taker] = [await newKey(), account(takers++)];
  await v.chain.fund(taker.address, coins);
  const quoted = await ask(key, taker, coins);
  const quote = quoted.json['quotes']?.[0];
  if (quote === undefined) throw new Error(quoted.text);
  const plan = await v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse: quote } });
  const answer = await v.call('POST', '/api/v1/rfq/orders', {
    key,
    body: await signPlan(taker, quote, plan.json),
  });
  expect(answer.status, answer.text).toBe(200);
  return v.store.order(answer.json['id'] as unknown as Hex);
}

/** How many of two quotes the key may hold. */
async function heldOfTwo(coins = COINS): Promise<number> {
  const key = await newKey();
  const answers = [await ask(key, account(takers++), coins), await ask(key, account(takers++), coins)];
  expect(answers[0]?.json['quotes'], answers[0]?.text).toHaveLength(1);
  return answers[1]?.status === 429 ? 1 : 2;
}

describe('a price of many digits', () => {
  beforeEach(async () => {
    follow(TINY);
    await priced();
  });

  test('is shown, and makes the order worth 216,000 dollars', async () => {
    const quoted = await ask(await newKey(), account(takers++), 1n);
    expect(quoted.json['quotes']?.[0]?.['preview']?.['inputs']?.[0]).toMatchObject({ priceUsd: 7.2e-9 });
    const order = await accepted();
    expect(order?.amountUsd).toBe(216_000);
    expect(order?.travelRule).toEqual({ thresholdUsd: 1_000, amountUsd: 216_000 });
    const path = `/api/v1/workspaces/watched/trades/${order?.orderId}`;
    const dossier = await v.call('GET', path, {
      key: await v.key('workspace', { workspaceId: 'watched', role: 'owner' }),
    });
    // 2 bps of it.
    expect(dossier.json['fees']?.['protocolFee']?.['usd'], dossier.text).toBe(43.2);
  });

  test('counts the open notional of the key', async () => {
    expect(await heldOfTwo()).toBe(1);
    expect(await heldOfTwo(COINS / 10n)).toBe(2);
  });
});

describe('a price that is missing', () => {
  test('since it became 0: the order is reported, and the last price counts the notional', async () => {
    follow(TINY);
    await priced();
    says = '{"bid":"0.0000000000","ask":"0.0000000073"}';
    await unpriced();
    const order = await accepted();
    expect([order?.amountUsd, order?.travelRule]).toEqual([null, { thresholdUsd: 1_000, amountUsd: null }]);
    expect(await heldOfTwo()).toBe(1);
    expect(await heldOfTwo(COINS / 10n)).toBe(2);
    expect(await metrics.text()).toContain('firmquote_venue_reference_fresh{price="USD"} 0\n');
  });

  test('from the start: an unknown value counts as the whole notional', async () => {
    follow('{"bid":0,"ask":0}');
    expect(await heldOfTwo(1n)).toBe(1);
    expect((await accepted(1n))?.travelRule).toEqual({ thresholdUsd: 1_000, amountUsd: null });
  });
});

test('a feed that says only what cannot be read is not live, and the log names it once', async () => {
  follow('{"bid":"1e-200","ask":"1e-200"}');
  const refused = async () =>
    Number(
      /firmquote_venue_reference_messages_total\{feed="web",outcome="malformed"\} (\d+)/.exec(
        await metrics.text(),
      )?.[1] ?? 0,
    );
  await until(async () => (await refused()) >= 3);
  expect(await metrics.text()).toContain('firmquote_venue_reference_connected{feed="web"} 0\n');
  expect(lines.filter(({ facts }) => facts['why'] === 'malformed')).toHaveLength(1);
  says = TINY;
  await priced();
  expect(await metrics.text()).toContain('firmquote_venue_reference_connected{feed="web"} 1\n');
});
