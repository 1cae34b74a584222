/**
 * An LP process moves inventory from one chain to another over CCTP while it is killed, its bridge stalls
 * and its request lapses: the money is in one place, moves once, and is never quoted while it leaves.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { diceOf } from './seed.ts';
import { broken, sceneOf } from './support/checker.ts';
import { patiently } from './support/client.ts';
import type { CrashPoint } from './support/crash.ts';
import { type MovingLp, startMovingLp } from './support/moving-lp.ts';

const WHOLE = 1_000_000n;
const AMOUNT = 1_000n * WHOLE;
/** Transactions of the mover, by chain: request, withdraw, send; deliver, deposit. */
const SENT = { here: 3, there: 2 };
const IN_A_TRANSACTION = [
  'after_reserve',
  'before_persist',
  'after_sign',
  'after_send',
  'before_finish',
] as const;
const KINDS = ['requested', 'withdrawn', 'burned', 'attested', 'minted', 'deposited'] as const;

let m: MovingLp;

beforeAll(async () => {
  m = await startMovingLp({ chainIds: [31_691, 31_692], transfers: { mode: 'by_hand' } });
}, 300_000);
afterAll(() => m?.stop());

const begin = () =>
  m.ask<{ id: string }>('/transfers', {
    ...{ asset: 'USDC', from: m.here.chain.slug, to: m.there.chain.slug },
    ...{ amount: String(AMOUNT / WHOLE), note: 'a test', by: 'the test' },
  });

/** `lapses`: requests that had to be made anew. */
async function movedOnce(had: Awaited<ReturnType<MovingLp['before']>>, lapses = 0): Promise<void> {
  const facts = (await m.newest())?.facts ?? [];
  const anew = Array.from({ length: lapses }).flatMap(() => ['requested', 'lapsed']);
  expect(facts.map(({ kind }) => kind)).toEqual([...anew, ...KINDS]);
  const last = facts.at(-1);
  const arrived = last?.kind === 'deposited' ? last.amount : 0n;
  expect(arrived).toBe(AMOUNT);
  expect(await m.before()).toEqual({
    here: { ...had.here, ledger: had.here.ledger - AMOUNT },
    there: { ...had.there, ledger: had.there.ledger + arrived },
    nonces: { here: had.nonces.here + SENT.here + lapses, there: had.nonces.there + SENT.there },
  });
  // What it promises is what the chains show.
  await patiently(
    async () => (await m.free().catch(() => undefined)) === had.here.ledger - AMOUNT || undefined,
  );
  await m.world.quoting();
  expect(await broken(sceneOf(m.world), { ended: true })).toEqual([]);
}

test('F46: killed at every step of a transfer, in its transactions and between its facts', async () => {
  const dice = diceOf('F46');
  const had = await m.before();
  const passed = { delay: false };
  await begin();
  await m.lp.part.kill();
  // A dead process keeps the lease of its transaction for a while, so one kill for each step.
  const points: CrashPoint[] = KINDS.map((_, at) =>
    dice.pick(at % 2 === dice.pick([0, 1]) ? IN_A_TRANSACTION : (['before_fact', 'after_fact'] as const)),
  );
  let kills = 1;
  for (const point of [...points, undefined]) {
    await m.lp.part.start(point === undefined ? {} : { CRASH_AT: point }).catch((error: unknown) => {
      if (!m.lp.part.said().includes(`reached ${point}`)) throw error;
    });
    if (['planned', 'requested'].includes((await m.newest())?.stage ?? '')) {
      const quotable = await m.free().catch(() => undefined);
      if (quotable !== undefined) expect(quotable).toBeLessThanOrEqual(had.here.ledger - AMOUNT);
    }
    if ((await m.until('deposited', passed)) === 'reached') break;
    expect(m.lp.part.said()).toContain(`reached ${point}`);
    kills += 1;
  }
  expect(kills).toBeGreaterThan(4);
  await movedOnce(had);
});

const waits = async (): Promise<string | undefined> =>
  (await m.ask<{ transfers: { waits: { detail: string } | null }[] }>('/transfers')).transfers[0]?.waits
    ?.detail;

test('F47: the attestation service is away, forgets, refuses and lies while money lies in the bridge', async () => {
  const had = await m.before();
  const passed = { delay: false };
  m.circle.setFaults({ pending: true });
  await begin();
  await m.until('burned', passed);
  const gone = { ...had.here, ledger: had.here.ledger - AMOUNT };
  const troubles = [
    { status: 503 },
    { status: 404 },
    { status: 429, retryAfter: 1 },
    { reset: true },
    { garbage: true },
    { forge: true },
    { pending: true },
  ] as const;
  for (const trouble of troubles) {
    m.circle.setFaults(trouble);
    await patiently(waits);
    await sleep(1_000);
    expect(await m.before()).toMatchObject({ here: gone, there: had.there });
    if ('reset' in trouble) {
      await m.lp.part.kill();
      await m.startWhole();
    }
  }
  m.circle.setFaults({});
  await m.until('deposited', passed);
  await movedOnce(had);
});

test('F48: the LP is down until its request for the money has lapsed', async () => {
  const had = await m.before();
  await begin();
  await m.until('requested', { delay: true });
  await m.lp.part.kill();
  const { lapsesAt } = await m.here.port.pendingWithdrawal(m.account, m.here.usdc.address);
  const now = (await m.here.anvil.rpc<{ timestamp: string }>('eth_getBlockByNumber', ['latest', false]))
    .timestamp;
  for (const { anvil } of [m.here, m.there]) await anvil.advance(lapsesAt - Number(now) + 1);
  await m.startWhole();
  await patiently(async () => (await m.newest())?.facts.some(({ kind }) => kind === 'lapsed') || undefined);
  await m.until('deposited', { delay: false });
  await movedOnce(had, 1);
});
