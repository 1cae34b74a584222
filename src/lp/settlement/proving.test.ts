/**
 * Proofs that come late, attesters that are away: what is needed before `expires` grows, and nothing is
 * promised that could not be claimed.
 */

import { expect, test } from 'vitest';
import type { Chain } from '../../domain/chain.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import { createProving } from './proving.ts';

const chainOf = (id: number) =>
  ({
    id,
    slug: `chain${id}`,
    escrow: `0x${'e'.repeat(40)}`,
    oracle: `0x${'0'.repeat(40)}`,
    ...{ depth: 1, blockTimeMs: 1_000 },
    proofWindowSeconds: 100,
  }) as unknown as Chain;
const chains = new Map([1, 2].map((id) => [id, chainOf(id)]));
const hash = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as Bytes32;

function world({ present = 3, claimSeconds = 40 } = {}) {
  let nowMs = 1_000_000;
  let ready = false;
  const state = { present, probes: 0 };
  const proving = createProving(
    {
      proofs: { signatures: async () => (ready ? ['0x01'] : undefined) },
      attesterPresence: {
        probe: async () => void (state.probes += 1),
        presence: () => ({ present: state.present, needed: 2 }),
      },
      chains,
      clock: { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} },
    },
    { claimSeconds },
  );
  const pass = (seconds: number) => {
    nowMs += seconds * 1000;
    proving.measure();
  };
  return {
    ...{ proving, state, pass },
    ask: (n: number) =>
      proving.signatures(
        { remoteChainId: 2n, application: hash(7), payloadHash: hash(n) },
        { chainId: 1, oracle: `0x${'0'.repeat(40)}` },
      ),
    answer: (yes: boolean) => (ready = yes),
  };
}

test('a prompt proof changes nothing', async () => {
  const { proving, ask, answer } = world();
  answer(true);
  await ask(1);
  expect(proving.neededSeconds(1, 2)).toBe(40);
  expect(proving.healthIssue(1)).toBeUndefined();
});

test('a pending proof counts with its age; beyond the window quoting stops until the proof arrives and is forgotten', async () => {
  const { proving, ask, answer, pass } = world();
  await ask(1);
  pass(30);
  expect(proving.neededSeconds(1, 2)).toBe(50);
  pass(25);
  await ask(1);
  pass(26);
  expect(proving.neededSeconds(1, 2)).toBe(101);
  expect(proving.healthIssue(1)).toBe('chain1: proofs take too long (101 s with the claim, of 100)');
  answer(true);
  await ask(1);
  expect(proving.healthIssue(1)).toBeDefined();
  pass(601);
  expect([proving.neededSeconds(1, 2), proving.healthIssue(1)]).toEqual([40, undefined]);
});

test('a slow proof counts for four times as long as it took, at least a minute and at most ten', async () => {
  for (const { slowSeconds, countsSeconds } of [
    { slowSeconds: 22, countsSeconds: 88 },
    { slowSeconds: 50, countsSeconds: 200 },
    { slowSeconds: 590, countsSeconds: 600 },
  ]) {
    const { proving, ask, answer, pass } = world();
    for (let waited = 0; waited < slowSeconds; waited += 10) {
      await ask(1);
      pass(Math.min(10, slowSeconds - waited));
    }
    answer(true);
    await ask(1);
    pass(countsSeconds - 1);
    expect(proving.neededSeconds(1, 2)).toBe(slowSeconds + 20);
    pass(2);
    expect(proving.neededSeconds(1, 2)).toBe(40);
  }
  const { proving, ask, answer, pass } = world({ claimSeconds: 10 });
  await ask(1);
  pass(6);
  answer(true);
  await ask(1);
  pass(59);
  expect(proving.neededSeconds(1, 2)).toBe(11);
  pass(2);
  expect(proving.neededSeconds(1, 2)).toBe(10);
});

test('a corridor leaves time for the finality that the attesters of its destination wait for', () => {
  const slow = {
    ...chainOf(2),
    finality: [{ aboveUsd: 50_000, tag: 'safe', seconds: 31 }],
  } as unknown as Chain;
  const proving = createProving(
    {
      proofs: { signatures: async () => [], listSignatures: async () => [] },
      chains: new Map([
        [1, chainOf(1)],
        [2, slow],
      ]),
      clock: systemClock,
    },
    { claimSeconds: 40 },
  );
  expect([proving.neededSeconds(1, 2), proving.neededSeconds(2, 1)]).toEqual([70, 40]);
});

test('a slow corridor does not affect others', async () => {
  const { proving, ask, pass } = world();
  await ask(1);
  pass(30);
  expect([proving.neededSeconds(1, 2), proving.neededSeconds(2, 1), proving.neededSeconds(1, 3)]).toEqual([
    50, 40, 40,
  ]);
});

test('stops waiting for an order that is no longer asked for', async () => {
  const { proving, ask, pass } = world();
  await ask(1);
  pass(59);
  expect(proving.neededSeconds(1, 2)).toBe(79);
  pass(2);
  expect(proving.neededSeconds(1, 2)).toBe(40);
});

test('with too few attesters nothing is quoted or filled until enough are back', async () => {
  const { proving, state } = world({ present: 1 });
  expect(proving.healthIssue(1)).toBe('chain1: 1 of 2 attesters answer');
  expect(await proving.sure(1)).toBe(false);
  expect(state.probes).toBe(1);
  state.present = 2;
  expect([proving.healthIssue(1), await proving.sure(1)]).toEqual([undefined, true]);
  expect(state.probes).toBe(1);
});
