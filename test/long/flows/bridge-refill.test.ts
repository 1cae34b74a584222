/**
 * A bridge venue whose float is used up refills itself over CCTP between real chains: what it quotes
 * meanwhile it holds, and the money is always in one place.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTransactor } from '../../../src/adapters/evm/transactor/transactor.ts';
import { connectDatabase, type Database } from '../../../src/adapters/postgres/pool.ts';
import { createTransferStore } from '../../../src/adapters/postgres/transfer-store.ts';
import { createTxStore } from '../../../src/adapters/postgres/tx-store.ts';
import { createFloatStore } from '../../../src/adapters/postgres/venue/float-store.ts';
import { createMetrics } from '../../../src/adapters/prometheus/metrics.ts';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createFloatMoves } from '../../../src/apps/venue/float-moves/moves.ts';
import { zBridgeTransports } from '../../../src/apps/config/bridges.ts';
import { VENUE_TABLES } from '../../../src/apps/venue/schema.ts';
import { isDecline } from '../../../src/domain/decline.ts';
import { outputHash } from '../../../src/domain/order.ts';
import type { MandateOutput } from '../../../src/domain/order.ts';
import type { Log } from '../../../src/ports/log.ts';
import { accountCall, EVERYTHING, moverCall } from '../../../src/settlement/lp-account.ts';
import { setOperatorCall } from '../../../src/settlement/call.ts';
import { foldTransfer } from '../../../src/settlement/transfer.ts';
import { bridgeOrders } from '../../support/bridge-orders.ts';
import { startTestBridge, type TestBridge } from '../../support/bridge.ts';
import { type TestCctp, startCctp } from '../../support/cctp.ts';
import { commandHere } from '../../support/command.ts';
import { account, type Devnet, startDevnet, type TestChain } from '../../support/devnet.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { silentLog, silentMetrics } from '../../support/silent.ts';
import { until } from '../../support/venue.ts';

const WHOLE = 1_000_000n;
const OWNED = 10_000n * WHOLE;
const LOW = 2_000n * WHOLE;
const LOT = 5_000n * WHOLE;
const ID = 'usdc-float';
const taker = account(8_950);
const operator = account(8_951);

let folder: string;
let devnet: Devnet;
let postgres: TestPostgres;
let db: Database;
let other: Database;
let cctp: TestCctp;
let [base, arc] = [] as unknown as [TestChain, TestChain];
let bridge: TestBridge;
const lines: string[] = [];
const log: Log = {
  ...silentLog,
  warn: (_, text) => void lines.push(text),
  info: (_, text) => void lines.push(text),
  child: () => log,
};
const stops: (() => Promise<unknown>)[] = [];
let serial = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-refill-'));
  [devnet, postgres] = await Promise.all([
    startDevnet([31_461, 31_462], { depth: 2, blockTimeSeconds: 1 }),
    startTestPostgres(),
  ]);
  [base, arc] = devnet.chains as [TestChain, TestChain];
  db = await postgres.database('venue', VENUE_TABLES);
  other = connectDatabase({ url: db.url, schema: 'venue', log: silentLog });
  cctp = await startCctp([
    { chain: base, domain: 6 },
    { chain: arc, domain: 26, isFinalAtOnce: true },
  ]);
  for (const chain of [base, arc]) {
    await chain.fund(operator.address, 0n);
    await chain.send(cctp.owner.address, cctp.account, setOperatorCall(operator.address, true));
    await chain.fund(cctp.account, OWNED / WHOLE);
    await chain.send(cctp.mover.address, cctp.account, moverCall.deposit(chain.usdc.address, EVERYTHING));
  }
  bridge = await startTestBridge({
    ...{ account: { ...cctp.owner, address: cctp.account }, operator, chains: devnet.chains, db },
    options: { id: ID },
  });
  stops.push(bridge.stop);
}, 300_000);
afterAll(async () => {
  for (const stop of stops.reverse()) await stop();
  await cctp?.stop();
  await other?.close();
  await postgres?.stop();
  await devnet?.stop();
  await rm(folder, { recursive: true, force: true });
});

const out = bridgeOrders(() => ({ from: base, to: arc, taker, db }));
const back = bridgeOrders(() => ({ from: arc, to: base, taker, db }));

/** A worker's loop. */
async function startMoves(database: Database, mostPerDay = 100_000n) {
  const metrics = createMetrics();
  const transactors = new Map(
    devnet.chains.map(({ port }) => [
      port.chain.id,
      createTransactor(
        {
          ...{ chain: port, store: createTxStore(database), signer: cctp.mover.signer },
          ...{ clock: systemClock, log: silentLog, metrics: silentMetrics },
        },
        { owner: `mover-${(serial += 1)}`, leaseMs: 2_000 },
      ),
    ]),
  );
  const moves = createFloatMoves(
    {
      ...{ chains: new Map(devnet.chains.map(({ port }) => [port.chain.id, port])), transactors },
      ...{ floats: createFloatStore(database), store: createTransferStore(database) },
      ...{
        bridges: [cctp.open({ fast: false })],
        clock: systemClock,
        log,
        metrics,
        worthUsd: () => undefined,
      },
    },
    {
      ...{ id: ID, account: cctp.account, operator: operator.address, mover: cctp.mover.address },
      assets: [
        {
          on: devnet.chains.map(({ chain, usdc }) => ({
            ...{
              chainId: chain.id,
              token: usdc.address,
              keep: 0n,
              low: chain === arc.chain ? LOW : null,
              lot: LOT,
              least: 1n,
              most: null,
            },
          })),
        },
      ],
      by: zBridgeTransports.parse({ cctp: { fast: false } }),
      sections: devnet.chains.map(({ chain }, at) => {
        const { domain, token, messenger, transmitter } = cctp.deployments[at] ?? expect.fail('no CCTP');
        const own = { token, messenger, transmitter, fastSeconds: null, standardSeconds: 4 };
        return { ...chain, cctp: own, cctpDomain: domain };
      }),
      ...{ mostPerDay: mostPerDay * 10n ** 18n, everyMs: 200, patienceMs: 600_000 },
    },
  );
  const stop = await moves.start();
  return { stop, metrics };
}

const ledgerOf = ({ port, usdc }: TestChain) => port.ledgerBalance(cctp.account, usdc.address);
const besideOf = ({ port, usdc }: TestChain) => port.tokenBalance(cctp.account, usdc.address);
const paidOn = ({ port, usdc }: TestChain) => port.tokenBalance(taker.address, usdc.address);

/** The most that it would promise. */
async function quotable({ ask }: typeof out): Promise<bigint> {
  const answer = await bridge.venue.quote(await ask(100n * OWNED));
  return isDecline(answer) && 'maxAmount' in answer ? (answer.maxAmount ?? 0n) : expect.fail('no decline');
}

async function paid({ accepted }: typeof out, to: TestChain, amount: bigint): Promise<void> {
  const delivery = await accepted(bridge, amount);
  const output = delivery.order.outputs[0] as MandateOutput;
  await until(async () => {
    await bridge.venue.deliver?.(delivery);
    return to.port.fillRecord(delivery.orderId, outputHash(output));
  });
}

async function newest() {
  const all = await createTransferStore(db).newest(10);
  const [transfer] = all;
  const stage = transfer && foldTransfer(transfer.move.amount, transfer.facts).stage;
  return { count: all.length, transfer, stage };
}

/** `firmquote doctor` on the configuration of such a venue: its rows of floats and refills. */
async function doctorSays(): Promise<Record<string, [string, string]>> {
  const places = devnet.chains.map(({ chain, usdc }) => ({
    ...{ chainId: chain.id, token: usdc.address, lot: '5000' },
    low: chain === arc.chain ? '2000' : null,
  }));
  const envKey = (env: string) => ({ env, development: true });
  const config = {
    ...{ app: 'venue', venueId: 'test', database: { url: await postgres.server.database('doctor') } },
    keys: { relayer: envKey('FLOAT_RELAYER'), seals: [{ id: 'k1', secret: { env: 'FLOAT_SEAL' } }] },
    chains: devnet.chains.map(({ chain, anvil }, at) => {
      const { id, slug, escrow, oracle, permit2, depth, tokens } = chain;
      const { domain, token, messenger, transmitter } = cctp.deployments[at] ?? expect.fail('no CCTP');
      return {
        ...{ id, slug, escrow, oracle, permit2, depth, tokens, sandbox: true, blockTimeMs: 1_000 },
        ...{ rpcUrls: [anvil.url], cctpDomain: domain },
        cctp: { token, messenger, transmitter, fastSeconds: null, standardSeconds: 4 },
      };
    }),
    bridges: [
      {
        ...{ id: ID, name: 'Float', account: cctp.account, operator: envKey('FLOAT_OPERATOR') },
        assets: [{ on: places }],
        refill: { by: { cctp: { attestationUrl: cctp.circle.url, allowPrivate: true, fast: false } } },
        moves: { mover: envKey('FLOAT_MOVER'), mostPerDay: '100000' },
      },
    ],
  };
  Object.assign(process.env, {
    FLOAT_RELAYER: taker.privateKey,
    FLOAT_SEAL: 'ab'.repeat(32),
    FLOAT_OPERATOR: operator.privateKey,
    FLOAT_MOVER: cctp.mover.privateKey,
  });
  const file = join(folder, 'venue.json');
  await writeFile(file, JSON.stringify(config));
  const { stdout, stderr } = await commandHere('doctor', '--venue', file, '--json');
  expect(stderr).toBe('');
  const { rows } = JSON.parse(stdout) as {
    rows: { check: string; subject: string; verdict: string; found: string }[];
  };
  return Object.fromEntries(
    rows.map(({ check, subject, verdict, found }) => [`${check} ${subject}`, [verdict, found]]),
  );
}

test('the doctor finds nothing wrong with a float in order', async () => {
  // Deposits count once they are final.
  for (const to of [out, back]) await until(async () => (await quotable(to)) === OWNED || undefined);
  const rows = await doctorSays();
  for (const slug of [base, arc].map(({ chain }) => chain.slug)) {
    expect(rows[`float ${ID} ${slug} USDC`]).toEqual([
      'ok',
      '10000 USDC may be promised, live promises included',
    ]);
    expect(rows[`refill ${ID} ${slug} USDC`]).toEqual([
      'ok',
      `${cctp.mover.address} may send a lot of 5000 USDC from here`,
    ]);
    for (const role of ['operator', 'mover']) expect(rows[`gas ${slug} ${role} of ${ID}`]?.[0]).toBe('ok');
  }
  expect(Object.keys(rows).filter((row) => row.startsWith('bridge '))).not.toEqual([]);
}, 120_000);

test('what cannot be moved is refused, with a reason, and nothing begins', async () => {
  await until(async () => (await quotable(out)) === OWNED || undefined);
  await paid(out, arc, 9_000n * WHOLE);
  expect(await quotable(out)).toBe(1_000n * WHOLE);
  const owner = cctp.owner.address;
  await base.send(owner, cctp.account, accountCall.setMover(taker.address));
  const { stop, metrics } = await startMoves(db);
  await until(() => lines.some((line) => line.includes('No refill begins')) || undefined);
  expect(lines.find((line) => line.includes('No refill begins'))).toMatch(
    /float of usdc-float is low on chain2: 1000 USDC of 2000 USDC\. No refill begins: the mover of 0x.* on chain1 is 0x/,
  );
  expect(await metrics.text()).toMatch(/firmquote_bridge_refill_blocked\{.*chain="chain2".*\} 1\n/);
  expect(await newest()).toMatchObject({ count: 0 });
  await arc.send(owner, cctp.account, setOperatorCall(operator.address, false));
  await base.send(owner, cctp.account, accountCall.setMoverLimit(base.usdc.address, 4_000n * WHOLE));
  const rows = await doctorSays();
  expect(rows[`float ${ID} chain1 USDC`]?.[0]).toBe('ok');
  expect(rows[`float ${ID} chain2 USDC`]).toEqual([
    'failure',
    expect.stringMatching(/is no operator of the float .* on chain2/),
  ]);
  expect(rows[`refill ${ID} chain1 USDC`]).toEqual([
    'failure',
    expect.stringMatching(/^the mover of 0x.* on chain1 is 0x/),
  ]);
  await arc.send(owner, cctp.account, setOperatorCall(operator.address, true));
  await stop();
  await base.send(owner, cctp.account, accountCall.setMover(cctp.mover.address));
  const low = await doctorSays();
  expect(low[`float ${ID} chain2 USDC`]).toEqual([
    'warning',
    expect.stringMatching(/^1000 USDC may be promised, .* less than its low of 2000 USDC$/),
  ]);
  expect(low[`refill ${ID} chain1 USDC`]).toEqual([
    'warning',
    expect.stringMatching(/^the mover may move 4000 USDC a day on chain1/),
  ]);
  await base.send(owner, cctp.account, accountCall.setMoverLimit(base.usdc.address, 2n ** 128n - 1n));
  const limited = await startMoves(db, 4_999n);
  await until(() => lines.some((line) => line.includes('mostPerDay')) || undefined);
  await limited.stop();
  expect(await newest()).toMatchObject({ count: 0 });
  expect(await quotable(back)).toBe(OWNED);
}, 120_000);

test('it refills itself; what it quotes at every step it holds, and pays', async () => {
  const both = await Promise.all([startMoves(db), startMoves(other)]);
  for (const { stop } of both) stops.push(stop);
  await until(async () => (await newest()).transfer);
  expect(await quotable(back)).toBe(OWNED - LOT);
  // All that the transfer leaves is promised to orders, and paid while the transfer goes on.
  await paid(back, base, OWNED - LOT);
  const seen = new Set<string>();
  let passed = false;
  await until(async () => {
    const { stage, count } = await newest();
    expect(count).toBe(1);
    if (stage) seen.add(stage);
    if (stage === 'requested' && !passed) {
      passed = true;
      const seconds = (await base.port.withdrawalDelay()) + 1;
      for (const { anvil } of [base, arc]) await anvil.advance(seconds);
    }
    expect(await quotable(back)).toBe(0n);
    const quotes = await quotable(out);
    expect(quotes).toBeLessThanOrEqual(await ledgerOf(arc));
    return stage === 'deposited' || undefined;
  });
  expect(seen.size).toBeGreaterThan(3);
  const arrived = await until(async () => {
    const now = await quotable(out);
    return now > 1_000n * WHOLE ? now : undefined;
  });
  expect(arrived).toBe(1_000n * WHOLE + LOT);
  const sums = await Promise.all(
    [base, arc].flatMap((chain) => [ledgerOf(chain), besideOf(chain), paidOn(chain)]),
  );
  expect(sums).toEqual([0n, 0n, OWNED - LOT, 1_000n * WHOLE + LOT, 0n, 9_000n * WHOLE]);
  const text = (await Promise.all(both.map(({ metrics }) => metrics.text()))).join('');
  expect(text).toMatch(/firmquote_bridge_transfers_open\{venue="usdc-float",stage="planned"\} 0\n/);
  expect(text).toMatch(/firmquote_bridge_transfer_age_seconds\{venue="usdc-float"\} 0\n/);
  expect(lines).toContainEqual(
    expect.stringMatching(
      /^refill: 5000 USDC go from chain1 to chain2: chain2 holds 1000 USDC of 2000 USDC$/,
    ),
  );
}, 300_000);
