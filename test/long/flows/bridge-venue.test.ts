/**
 * A bridge venue with two processes on one database: what it promises it holds, whichever process promises,
 * and what it promised it delivers once, whichever worker is asked.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { TRANSACTION_MIGRATIONS } from '../../../src/adapters/postgres/migrations/transactions.ts';
import { VENUE_MIGRATIONS } from '../../../src/adapters/postgres/migrations/venue.ts';
import { createFloatStore } from '../../../src/adapters/postgres/venue/float-store.ts';
import { createMetrics } from '../../../src/adapters/prometheus/metrics.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { creditOf } from '../../../src/adapters/bridges/venue/deliver.ts';
import { createFloatWatch } from '../../../src/adapters/bridges/venue/watch.ts';
import { connectDatabase, type Database } from '../../../src/adapters/postgres/pool.ts';
import { isDecline } from '../../../src/domain/decline.ts';
import { outputHash, type StandardOrder } from '../../../src/domain/order.ts';
import type { RouteAsk } from '../../../src/ports/route-venue.ts';
import { limitOperatorCall, requestWithdrawalCall } from '../../../src/settlement/call.ts';
import { bridgeOrders } from '../../support/bridge-orders.ts';
import { fillFloat, startTestBridge, type BridgeSpec, type TestBridge } from '../../support/bridge.ts';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from '../../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { silentLog } from '../../support/silent.ts';
import { random32 } from '../../support/trade.ts';
import { until } from '../../support/venue.ts';

const FLOAT = 10_000_000_000n;
const taker = account(8_300);

let devnet: Devnet;
let postgres: TestPostgres;
let db: Database;
let other: Database;
let [origin, dest]: TestChain[] = [];
let float: TestAccount;
let operator: TestAccount;
let accounts = 8_400;
let stops: (() => Promise<void>)[] = [];

beforeAll(async () => {
  [devnet, postgres] = await Promise.all([startDevnet([31_451, 31_452], { depth: 2 }), startTestPostgres()]);
  [origin, dest] = devnet.chains;
  db = await postgres.database('venue', [...VENUE_MIGRATIONS, ...TRANSACTION_MIGRATIONS]);
  other = connectDatabase({ url: db.url, schema: 'venue', log: silentLog });
});
afterAll(async () => {
  await other.close();
  await postgres.stop();
  await devnet.stop();
});
beforeEach(async () => {
  [float, operator] = [account((accounts += 2)), account(accounts + 1)];
  for (const chain of [from(), to()]) {
    await chain.fund(float.address);
    await chain.fund(operator.address, 0n);
    await chain.setOperator(float.address, operator.address);
  }
  await fillFloat(to(), float, FLOAT);
  stops = [];
  return async () => {
    for (const stop of stops) await stop();
  };
});

const from = () => origin as TestChain;
const to = () => dest as TestChain;

async function process(change: Partial<BridgeSpec> = {}): Promise<TestBridge> {
  const id = `bridge-${accounts}`;
  const bridge = await startTestBridge({
    ...{ account: float, operator, chains: devnet.chains, db },
    ...change,
    options: { id, ...change.options },
  });
  stops.push(bridge.stop);
  return bridge;
}

const { pinned, ask, quoted, accepted } = bridgeOrders(() => ({ from: from(), to: to(), taker, db }));

const answerOf = async ({ venue }: TestBridge, amount: bigint, change: Partial<RouteAsk> = {}) =>
  venue.quote(await ask(amount, change));

const promised = async (bridge: TestBridge, request: RouteAsk, nonce = BigInt(random32())) =>
  (await bridge.venue.promise?.({ ask: request, quote: await quoted(bridge, request), nonce })) ?? false;

const filled = ({ orderId, order }: Awaited<ReturnType<typeof accepted>>) =>
  to().port.fillRecord(orderId, outputHash(order.outputs[0] as StandardOrder['outputs'][number]));
const received = () => to().port.tokenBalance(taker.address, to().usdc.address);

describe('what it promises', () => {
  test('two processes and a burst of quotes: together no more than the float', async () => {
    const both = [await process(), await process({ db: other })] as const;
    const at = await pinned();
    const answers = await Promise.all(
      Array.from({ length: 40 }, async (_, index) =>
        promised(both[index % 2] as TestBridge, await ask(FLOAT / 8n, { at })).catch(() => false),
      ),
    );
    expect(answers.filter(Boolean)).toHaveLength(8);
    expect(await answerOf(both[0], 1_000_000n)).toEqual({ declined: 'no_inventory', maxAmount: 0n });
  });

  test('accepted orders count until they are paid, and the rest can still be promised', async () => {
    const bridge = await process();
    await accepted(bridge, FLOAT - 3_000_000n);
    const answer = await answerOf(bridge, 4_000_000n);
    expect(answer).toEqual({ declined: 'no_inventory', maxAmount: 3_000_000n });
    expect(await promised(bridge, await ask(3_000_000n))).toBe(true);
    expect(await answerOf(bridge, 1_000_000n)).toMatchObject({ declined: 'no_inventory' });
  });

  test('an order counts once while its fill is mined and not final', async () => {
    const bridge = await process();
    const order = await accepted(bridge, 4_000_000_000n);
    const most = async () => {
      const answer = await answerOf(bridge, 2n * FLOAT);
      return isDecline(answer) && 'maxAmount' in answer ? answer.maxAmount : undefined;
    };
    expect(await most()).toBe(FLOAT - 4_000_000_000n);
    await until(async () => {
      await bridge.venue.deliver?.(order);
      return filled(order);
    });
    expect(await most()).toBe(FLOAT - 4_000_000_000n);
    // A deposit is not final, and does not make up for the fill.
    await to().deposit(float.address, to().usdc.address, 4_000_000_000n);
    expect(await most()).toBe(FLOAT - 4_000_000_000n);
    for (let mined = 0; mined < 3; mined += 1) await to().anvil.rpc('evm_mine', []);
    expect(await most()).toBe(FLOAT);
  });

  test('the largest exact input that it names passes, and one unit more does not', async () => {
    const bridge = await process();
    const at = await pinned();
    const side = 'exactInput';
    const answer = await answerOf(bridge, 2n * FLOAT, { at, side });
    const most = (isDecline(answer) && 'maxAmount' in answer && answer.maxAmount) || 0n;
    expect(most).toBeGreaterThan(FLOAT);
    expect((await quoted(bridge, await ask(most, { at, side }))).outputAmount).toBeLessThanOrEqual(FLOAT);
    expect(await answerOf(bridge, most + 2_000n, { at, side })).toMatchObject({ declined: 'no_inventory' });
  });

  test('the fee of its leg is what it is handed less what it pays, on both sides', async () => {
    const bridge = await process();
    for (const side of ['exactInput', 'exactOutput'] as const) {
      const request = await ask(25_000_000n, { side });
      const { inputAmount, outputAmount, fees } = await quoted(bridge, request);
      const handed = request.fees.handedOver(inputAmount, 0n);
      expect(fees).toEqual([{ in: 'input', amount: handed - outputAmount }]);
      expect(handed).toBeGreaterThan(outputAmount);
    }
  });

  test('a deposit counts once it is final, a requested withdrawal is gone at once', async () => {
    const bridge = await process();
    await to().deposit(float.address, to().usdc.address, FLOAT);
    expect(await answerOf(bridge, FLOAT + 1n)).toMatchObject({ maxAmount: FLOAT });
    for (let mined = 0; mined < 2; mined += 1) await to().anvil.rpc('evm_mine', []);
    expect(isDecline(await answerOf(bridge, FLOAT + 1n))).toBe(false);
    await to().send(
      float.address,
      to().chain.escrow,
      requestWithdrawalCall(to().usdc.address, 2n * FLOAT - 5_000_000n),
    );
    expect(await answerOf(bridge, 6_000_000n)).toMatchObject({ maxAmount: 5_000_000n });
  });

  test('what the operator may not spend, cannot pay gas for, or may not fill is not promised', async () => {
    const bridge = await process();
    const limit = limitOperatorCall(operator.address, to().usdc.address, 7_000_000n, 600);
    await to().send(float.address, to().chain.escrow, limit);
    expect(await answerOf(bridge, 8_000_000n)).toMatchObject({ maxAmount: 7_000_000n });
    const gas = await to().anvil.rpc('eth_getBalance', [operator.address, 'latest']);
    await to().anvil.rpc('anvil_setBalance', [operator.address, '0x1']);
    await to().anvil.rpc('evm_mine', []);
    expect(await answerOf(bridge, 5_000_000n)).toMatchObject({ declined: 'standby' });
    await to().anvil.rpc('anvil_setBalance', [operator.address, gas]);
    await to().setOperator(float.address, operator.address, false);
    expect(await answerOf(bridge, 5_000_000n)).toMatchObject({ declined: 'standby' });
  });

  test('it declines small orders, and validities that would lock the float', async () => {
    const bridge = await process();
    expect(await answerOf(bridge, 999_999n)).toEqual({ declined: 'size_below_min', minAmount: 1_000_000n });
    const at = await pinned();
    const until = at.origin.timestamp + 301;
    expect(
      await answerOf(bridge, 5_000_000n, { at, validity: { from: until, to: until + 9 } }),
    ).toMatchObject({ declined: 'validity' });
  });
});

describe('what it delivers', () => {
  test('a worker that does not hold the signer hands the fill to the one that does', async () => {
    const [holder, second] = [await process(), await process({ db: other })];
    const delivery = await accepted(second, 20_000_000n);
    expect([...second.transactors.values()].some((transactor) => transactor.holds())).toBe(false);
    const before = await received();
    await until(async () => {
      await Promise.all([second.venue.deliver?.(delivery), second.venue.deliver?.(delivery)]);
      return filled(delivery);
    });
    expect((await received()) - before).toBe(20_000_000n);
    expect([holder.fills, second.fills]).toEqual([[`${to().chain.id} 20000000`], []]);
  });

  test('a worker that dies: the next one fills, and nobody is paid twice', async () => {
    const first = await process();
    const second = await process({ db: other });
    const [done, left] = [await accepted(first, 20_000_000n), await accepted(first, 30_000_000n)];
    const before = await received();
    await first.venue.deliver?.(done);
    await first.stop();
    stops.shift();
    await until(async () => {
      for (const delivery of [done, left]) await second.venue.deliver?.(delivery).catch(() => {});
      return (await filled(done)) && (await filled(left));
    });
    for (const delivery of [done, left]) await second.venue.deliver?.(delivery);
    await to().anvil.rpc('evm_mine', []);
    expect((await received()) - before).toBe(50_000_000n);
  });

  test('an order of another account is refused', async () => {
    const bridge = await process();
    const delivery = await accepted(bridge, 20_000_000n);
    const [output] = delivery.order.outputs;
    const foreign = { ...delivery.order, outputs: output ? [{ ...output, context: '0x' as const }] : [] };
    await expect(bridge.venue.deliver?.({ ...delivery, order: foreign })).rejects.toThrow('another account');
  });
});

test('its metrics: what the float may promise, what is promised, whether it can fill, and fees', async () => {
  const bridge = await process();
  const { order } = await accepted(bridge, 20_000_000n);
  expect(await promised(bridge, await ask(30_000_000n))).toBe(true);
  const metrics = createMetrics();
  const { chain, port, usdc } = to();
  const watch = createFloatWatch(
    {
      chains: new Map([from(), to()].map((each) => [each.chain.id, each.port])),
      ...{ floats: createFloatStore(db), clock: systemClock, log: silentLog, metrics },
    },
    {
      ...{ id: bridge.venue.id, account: float.address, operator: operator.address },
      assets: [
        {
          on: [
            {
              ...{ chainId: chain.id, token: usdc.address, keep: 1_000_000n },
              ...{ low: 9_950_000_000n, lot: 1n, least: 1n, most: null },
            },
          ],
        },
      ],
    },
  );
  const stop = watch.start();
  const labels = `venue="${bridge.venue.id}",chain="${port.chain.slug}",token="USDC"`;
  const shown = await until(async () => {
    const text = await metrics.text();
    return text.includes(`firmquote_bridge_can_fill{${labels}}`) ? text : undefined;
  });
  stop();
  expect(shown).toContain(`firmquote_bridge_float_low{${labels}} 1\n`);
  expect(shown).toContain(`firmquote_bridge_float_tokens{${labels}} 9999\n`);
  expect(shown).toContain(`firmquote_bridge_promised_tokens{${labels}} 50\n`);
  expect(shown).toContain(`firmquote_bridge_can_fill{${labels}} 1\n`);
  const [output] = order.outputs;
  if (output) watch.filled(creditOf(order), order, output);
  const origin = labels.replace(port.chain.slug, from().chain.slug);
  const fee = Number(creditOf(order) - 20_000_000n) / 1e6;
  expect(fee).toBeGreaterThan(0);
  expect(await metrics.text()).toContain(`firmquote_bridge_fees_tokens_total{${origin}} ${fee}\n`);
});
