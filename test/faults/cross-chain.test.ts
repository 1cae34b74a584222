/**
 * Two chains with attesters between them: what crosses them survives a crash, and the checker sees whatever
 * could go wrong there.
 */

import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Queryable } from '../../src/adapters/postgres/pool.ts';
import type { Hex } from '../../src/domain/hex.ts';
import { fillCall, openCall, refundCall } from '../../src/settlement/call.ts';
import type { TestChain } from '../support/devnet.ts';
import { makeTrade } from '../support/trade.ts';
import { diceOf, SEED } from './seed.ts';
import { broken, sceneOf } from './support/checker.ts';
import { type Client, patiently, someUsdc } from './support/client.ts';
import { startWorld, type World } from './support/world.ts';

let world: World;
let home: TestChain;
let away: TestChain;
let client: Client;
/** Settled, one on a chain and one across. */
let orders: string[];

beforeAll(async () => {
  world = await startWorld({ chainIds: [31_611, 31_612], validitySeconds: 300 });
  [home, away] = world.devnet.chains as [TestChain, TestChain];
  // From the first message on, nobody can rely on their order or on hearing things once.
  const unruly = { UNRULY: String(SEED) };
  await Promise.all([
    world.venue().start(unruly),
    ...world.lps.map(({ part }) => part.start(unruly)),
    ...world.attesters.map((part) => part.start()),
  ]);
  await world.quoting();
  client = await world.client();
});
afterAll(() => world?.stop());

test('F40: jobs, events, chain logs and awards arrive twice, late and in another order', async () => {
  const dice = diceOf('F40');
  const corridors = [{}, { to: away }, { from: away, to: home }, {}];
  const ids = await Promise.all(
    corridors.map(async (corridor, index) => {
      const prepared = await client.prepare({ ...corridor, usdc: someUsdc(dice) });
      const [one, other] = await Promise.all([
        client.insist(prepared, `f40-${index}`),
        client.insist(prepared, `f40-${index}`),
      ]);
      expect(other).toBe(one);
      return one ?? '';
    }),
  );
  for (const id of ids)
    expect(await client.ended(id)).toMatchObject({ status: 'settled', settledAmounts: expect.any(Object) });
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});

test('the checker reports nothing about trades without faults', async () => {
  const ids = [
    await client.insist(await client.prepare(), 'one'),
    await client.insist(await client.prepare({ to: away }), 'two'),
  ];
  for (const id of ids) expect((await client.ended(id ?? '')).status).toBe('settled');
  orders = ids as string[];
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});

test('F6: an LP is killed after its fill is mined, before it claims', async () => {
  const dice = diceOf('F6');
  const [lp] = world.lps;
  if (!lp) throw new Error('there is no LP');
  await lp.part.stop();
  await lp.part.start({ CRASH_AT: dice.pick(['before_filled', 'filled']) }, 'ready');
  await world.quoting();
  const id = await client.insist(await client.prepare({ to: away, usdc: someUsdc(dice) }), 'f6');
  await lp.part.died();
  // The venue's keeper would prove and claim in its place.
  await world.venue().kill();
  // Final when it starts again: the balance it begins with lacks what was paid out, and no event that it will
  // follow says why.
  await away.anvil.mine(away.chain.depth + 1);
  const orderId = id as Hex;
  await lp.part.start();
  await patiently(async () => (await home.port.orderStatus(orderId)) === 'claimed' || undefined);
  await world.venue().start({}, 'ready');
  expect((await client.ended(orderId)).status).toBe('settled');
  expect(await broken(sceneOf(world), { ended: true })).toEqual([]);
});

describe('the checker reports', () => {
  /** Everybody has stopped; whatever is planted here is taken out again. */
  async function planted(
    plant: (session: Queryable, id: string) => Promise<unknown>,
    ended = true,
  ): Promise<string[]> {
    let found: string[] = [];
    const undo = new Error('undo');
    await world.database
      .transaction(async (session) => {
        await plant(session, `'\\${orders[1]?.slice(1)}'`);
        found = await broken(
          { ...sceneOf(world), venue: session, senders: [{ name: 'the venue', database: session }] },
          { ended },
        );
        throw undo;
      })
      .catch((error: unknown) => {
        if (error !== undo) throw error;
      });
    return found;
  }
  beforeAll(async () => {
    for (const part of [...world.venues, ...world.lps.map((lp) => lp.part), ...world.attesters])
      await part.kill();
  });

  test.each([
    [
      'an order that was deleted',
      `set local session_replication_role = replica; delete from trade_order where order_id = ID`,
      /^I2: order 0x\w+ was accepted and is not in the database$/,
    ],
    [
      'a fact that was deleted',
      `delete from order_fact where order_id = ID and seq = 2`,
      /^I2: its facts are numbered 1, 3/,
    ],
    [
      'a fill that is recorded twice',
      `insert into order_fact (order_id, seq, recorded_at_ms, fact) select order_id, 1 + (select max(seq) from order_fact where order_id = ID), recorded_at_ms, fact from order_fact where order_id = ID and fact->>'kind' = 'filled'`,
      /^I1: it has the fact "filled 0" twice/,
    ],
    [
      'facts in the wrong order',
      `update order_fact set seq = -(2 + (select max(seq) from order_fact where order_id = ID) - seq) where order_id = ID and seq > 1; update order_fact set seq = -seq where order_id = ID and seq < 0`,
      /^I10: it came to its end \(finalised\) and after that to "/,
    ],
    [
      'a status that the chain does not know of',
      `update trade_order set status = 'failed' where order_id = ID`,
      /^I10: order 0x\w+ is failed by the database and was paid out on its chain$/,
    ],
    [
      'an end that is not one',
      `update trade_order set final = false where order_id = ID`,
      /^I5: order 0x\w+ is not at its end/,
    ],
    [
      'a second end',
      `insert into order_event (order_id, seq, type, occurred_at_ms) values (ID, 3, 'order.failed', 1)`,
      /^I10: its events are order.created, order.settled, order.failed/,
    ],
    [
      'a history that tells another story',
      `update trade set state = jsonb_set(state::jsonb, '{stage}', '"refunded"')::json where order_id = ID`,
      /^I10: the trade history has it as refunded and its facts say settled/,
    ],
    [
      'a quote that had lapsed',
      `update trade_order set valid_until = created_at_ms / 1000 - 60 where order_id = ID`,
      /^I7: order 0x\w+ was accepted [56]\d s after its quote had lapsed$/,
    ],
    [
      'a step that took effect twice',
      `update tx_attempt set slot_id = (select min(id) from tx_slot where chain_id = 31611), n = slot_id where slot_id in (select id from tx_slot where chain_id = 31611)`,
      /^I1: the venue had ".+" take effect [2-9] times/,
    ],
  ])('%s', async (_, statement, words) => {
    const found = await planted(async (session, id) => {
      for (const each of statement.split(';')) await session.query(each.replaceAll('ID', id));
    });
    expect(found).toContainEqual(expect.stringMatching(words));
  });

  test('wrong answers to clients', async () => {
    const scene = sceneOf(world);
    const entry = scene.log.find(
      (each) => each.kind === 'answered' && each.key === 'one' && each.status === 200,
    );
    const seen = scene.log.findLast((each) => each.kind === 'seen');
    if (entry?.kind !== 'answered' || seen?.kind !== 'seen') throw new Error('the client wrote nothing down');
    const other = { ...entry, text: JSON.stringify({ id: orders[1] }) };
    expect(await broken({ ...scene, log: [...scene.log, other] }, { ended: true })).toContainEqual(
      expect.stringMatching(/^I6: one Idempotency-Key \(.+ one\) became two orders/),
    );
    expect(
      await broken(
        { ...scene, log: [...scene.log, { ...seen, status: { ...seen.status, status: 'failed' } }] },
        { ended: true },
      ),
    ).toContainEqual(expect.stringMatching(/^I10: a client saw order 0x\w+ settled and later failed$/));
    expect(
      await broken({ ...scene, log: scene.log.filter(({ kind }) => kind !== 'submitted') }, { ended: true }),
    ).toContainEqual(expect.stringMatching(/^I6: order 0x\w+ is of a quote that no client submitted$/));
    expect(
      await broken(
        { ...scene, outputs: [{ name: 'venue', text: `key ${world.secrets[0]}` }] },
        { ended: true },
      ),
    ).toEqual([expect.stringMatching(/^I11: a secret \(.{4}…\) is in what venue says$/)]);
  });

  test('a hold without inventory, and an order that never ends', async () => {
    const [lp] = world.lps;
    if (!lp) throw new Error('there is no LP');
    const trade = makeTrade({
      origin: home,
      taker: client.wallet,
      lps: [{ account: lp.owner, operator: lp.operator }],
      outputAmount: 10n ** 30n,
    });
    expect((await world.store.accept(trade, '{}', null)).kind).toBe('accepted');
    const found = await broken(sceneOf(world), { ended: false, marginSeconds: -1_000 });
    expect(found).toContainEqual(
      expect.stringMatching(
        /^I4: accepted orders want 1000000000000000000000000000000 of WETH on chain1 from 0x/,
      ),
    );
    expect(found).toContainEqual(
      expect.stringMatching(/^I5: order 0x\w+ is pending -\d+ s after it expired$/),
    );
    await world.database.query(`set session_replication_role = replica`);
    for (const table of ['order_fact', 'order_event', 'trade', 'trade_fresh', 'trade_order'])
      await world.database.query(`delete from ${table} where order_id = '\\${trade.orderId.slice(1)}'`);
  });

  test('a missing unit and a surplus unit', async () => {
    const move = (to: string) =>
      home.send(
        client.wallet.address,
        home.usdc.address,
        encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to as Hex, 1n] }),
      );
    await move(`0x${'57'.repeat(20)}`);
    expect(await broken(sceneOf(world), { ended: true })).toEqual([
      expect.stringMatching(
        /^tokens: USDC on chain1: taker 0x\w+ has \d+ and by its trades should have \d+ \(-1\)$/,
      ),
    ]);
    await move(home.chain.escrow);
    expect(await broken(sceneOf(world), { ended: true })).toEqual([
      expect.stringMatching(/^tokens: USDC on chain1: the escrow holds \d+; it owes \d+ .+ \(1\)$/),
      expect.stringMatching(/\(-2\)$/),
    ]);
  });

  test('a delivery without an escrow, an unpaid delivery, and a refund that is too small', async () => {
    const [lp] = world.lps;
    if (!lp) throw new Error('there is no LP');
    const trade = makeTrade({
      origin: home,
      dest: away,
      taker: client.wallet,
      lps: [{ account: lp.owner, operator: lp.operator }],
      lock: 'self',
    });
    const { orderId, order } = trade;
    const [output] = order.outputs;
    if (!output) throw new Error('an order without outputs');
    await away.send(
      lp.operator.address,
      away.chain.escrow,
      fillCall(orderId, output, order.fillDeadline, lp.owner.address),
    );
    expect(await broken(sceneOf(world), { ended: true })).toContainEqual(
      `I3: an output of order ${orderId}, which the venue does not know, was delivered on chain2`,
    );
    const preview = { inputs: [], outputs: [{ asset: '', amount: output.amount.toString() }] };
    await world.store.accept({ ...trade, candidate: JSON.stringify({ preview }) }, '{}', null);
    expect(await broken(sceneOf(world), { ended: true })).toContainEqual(
      expect.stringMatching(
        new RegExp(`^I3: order ${orderId} was delivered at \\d+; its input was never in escrow$`),
      ),
    );
    await home.approve(client.wallet.address, home.usdc.address, home.chain.escrow);
    await home.send(client.wallet.address, home.chain.escrow, openCall(order));
    await home.anvil.advance(1_000);
    await home.send(client.wallet.address, home.chain.escrow, refundCall(order));
    const found = await planted((session) =>
      session.query(
        `update trade_order set message = jsonb_set(message, '{inputs,0,1}', '"2500000001"') where order_id = '\\${orderId.slice(1)}'`,
      ),
    );
    expect(found).toContainEqual(
      `I9: order ${orderId} was delivered and refunded: its LP is not paid any more`,
    );
    expect(found).toContainEqual(
      `I8: of order ${orderId}, 2500000001 went in and 2500000000 came back to its user`,
    );
  });
});
