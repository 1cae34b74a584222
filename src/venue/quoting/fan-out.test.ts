/**
 * Who a round waits for: somebody silent costs the takers three deadlines and then nobody anything, until it
 * speaks again.
 */

import { expect, test } from 'vitest';
import { silentMetrics } from '../../../test/support/silent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { LinkDecline, LinkQuote, Rfq } from '../../protocol/link/link.ts';
import { createFanOut } from './fan-out.ts';
import type { SolverSession } from '../solvers/roster.ts';

/** Time moves when the test says so. */
function createHandClock() {
  let nowMs = 0;
  const due = new Set<{ atMs: number; run: () => void }>();
  const clock: Clock = {
    nowMs: () => nowMs,
    monotonicMs: () => nowMs,
    after(ms, run) {
      const entry = { atMs: nowMs + ms, run };
      due.add(entry);
      return () => void due.delete(entry);
    },
  };
  const pass = (ms: number) => {
    nowMs += ms;
    for (const entry of due) if (entry.atMs <= nowMs && due.delete(entry)) entry.run();
  };
  return { clock, pass };
}

const session = (solverId: string): SolverSession => ({
  solverId,
  mode: 'test',
  accounts: new Map(),
  corridors: [],
  maxInFlight: 10,
  status: 'active',
  note: null,
  inFlight: 0,
  readsInTime: () => true,
  send: () => {},
  end: () => {},
});
const decline = (rfqId: string): LinkDecline => ({ type: 'decline', rfqId, reason: 'pair', maxAmount: null });
const OPTIONS = { timeoutMs: 300, sliceTimeoutMs: 200, lingerMs: 0 };

function createRounds(others: readonly SolverSession[]) {
  const { clock, pass } = createHandClock();
  const fanOut = createFanOut({ clock, metrics: silentMetrics }, OPTIONS);
  let n = 0;
  return {
    pass,
    /** Is the round over once `speaking` have declined, before its deadline? */
    async round(speaking: readonly SolverSession[]) {
      const rfqId = `r${n++}`;
      let over = false;
      const gathered = fanOut
        .gather({ rfqId } as Omit<Rfq, 'deadlineMs'>, others, () => 'terms')
        .then((result) => {
          over = true;
          return result;
        });
      for (const one of speaking) fanOut.answer(one, decline(rfqId));
      await Promise.resolve();
      await Promise.resolve();
      await Promise.resolve();
      const early = over;
      pass(OPTIONS.timeoutMs);
      const { declines } = await gathered;
      return { early, declines: declines.length };
    },
  };
}

test('a silent solver is not waited for after three rounds, gets another chance after a rest, and is waited for again once it answers', async () => {
  const [prompt, slow] = [session('prompt'), session('slow')];
  const { round, pass } = createRounds([prompt, slow]);
  for (let n = 0; n < 3; n++) expect(await round([prompt])).toEqual({ early: false, declines: 1 });
  for (let n = 0; n < 3; n++) expect(await round([prompt])).toEqual({ early: true, declines: 1 });
  pass(5_000);
  expect(await round([prompt])).toEqual({ early: false, declines: 1 });
  expect(await round([prompt])).toEqual({ early: true, declines: 1 });
  // It was asked all the while, and what it says in time counts.
  expect(await round([slow, prompt])).toEqual({ early: true, declines: 2 });
  expect(await round([prompt])).toEqual({ early: false, declines: 1 });
  expect([prompt.inFlight, slow.inFlight]).toEqual([0, 0]);
});

test('when nobody is prompt, everybody gets the whole time', async () => {
  const slow = session('slow');
  const { round } = createRounds([slow]);
  for (let n = 0; n < 5; n++) expect(await round([])).toEqual({ early: false, declines: 0 });
  expect(slow.inFlight).toBe(0);
});

test('proofs that come later are waited for, count in the order in which their quotes came, and those that do not hold count as such', async () => {
  const [slow, quick, liar] = [session('slow'), session('quick'), session('liar')];
  const { clock, pass } = createHandClock();
  const fanOut = createFanOut({ clock, metrics: silentMetrics }, OPTIONS);
  const objections: [string, string][] = [];
  fanOut.onInvalid((who, why) => void objections.push([who.solverId, why]));
  const proofs = new Map<SolverSession, (verdict: { by: string } | 'signature') => void>();
  const verify = (who: SolverSession) =>
    who === quick
      ? { by: 'quick' }
      : new Promise<{ by: string } | 'signature'>((resolve) => void proofs.set(who, resolve));
  let over = false;
  const gathered = fanOut
    .gather({ rfqId: 'r' } as Omit<Rfq, 'deadlineMs'>, [slow, quick, liar], verify)
    .finally(() => void (over = true));
  for (const who of [slow, liar, quick])
    fanOut.answer(who, { type: 'quote', rfqId: 'r', more: false } as LinkQuote);
  // The deadline is for solvers; what they said in time is judged, however long that takes.
  pass(OPTIONS.timeoutMs);
  await new Promise((done) => setImmediate(done));
  expect(over).toBe(false);
  proofs.get(liar)?.('signature');
  await new Promise((done) => setImmediate(done));
  expect(over).toBe(false);
  proofs.get(slow)?.({ by: 'slow' });
  const { quotes, invalid } = await gathered;
  expect([quotes, invalid, objections]).toEqual([
    [{ by: 'slow' }, { by: 'quick' }],
    1,
    [['liar', 'signature']],
  ]);
  expect([slow.inFlight, quick.inFlight, liar.inFlight]).toEqual([0, 0, 0]);
});
