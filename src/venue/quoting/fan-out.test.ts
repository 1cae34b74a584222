/** Which solvers a round waits for, what it collects, and how a split's second round ends. */

import { expect, test } from 'vitest';
import { silentMetrics } from '../../../test/support/silent.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Commit, LinkDecline, LinkQuote, Rfq, SliceRequest } from '../../protocol/link/link.ts';
import { createFanOut } from './fan-out.ts';
import type { SolverSession } from '../solvers/roster-entry.ts';

/** A clock that moves when the test says so. */
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

const SOLVERS = ['prompt', 'slow', 'quick', 'flood', 'first', 'second'];
const session = (solverId: string): SolverSession => ({
  solverId,
  shadow: false,
  mode: 'test',
  accounts: new Map(),
  corridors: [],
  maxInFlight: 10,
  status: 'active',
  note: null,
  inFlight: 0,
  readsInTime: () => true,
  send: () => {},
  notify: () => {},
  end: () => {},
});
const decline = (rfqId: string): LinkDecline => ({ type: 'decline', rfqId, reason: 'pair', maxAmount: null });
const OPTIONS = { timeoutMs: 300, sliceTimeoutMs: 200, lingerMs: 0 };

function startFanOut() {
  const { clock, pass } = createHandClock();
  const faults: string[] = [];
  const roster = {
    recordFault: (solverId: string) => void faults.push(solverId),
    onOnboarded: (tell: (solver: string) => void) => SOLVERS.forEach(tell),
  };
  return { fanOut: createFanOut({ clock, metrics: silentMetrics, roster }, OPTIONS), pass, faults };
}
const rfq = (rfqId: string) => ({ rfqId }) as Omit<Rfq, 'deadlineMs'>;

function createRounds(others: readonly SolverSession[]) {
  const { fanOut, pass } = startFanOut();
  let n = 0;
  return {
    pass,
    /** Whether the round ends before its deadline once `speaking` have declined. */
    async round(speaking: readonly SolverSession[]) {
      const rfqId = `r${n++}`;
      let over = false;
      const replies = fanOut.requestQuotes(rfq(rfqId), others).then((result) => {
        over = true;
        return result;
      });
      for (const one of speaking) fanOut.receive(one, decline(rfqId));
      await new Promise((done) => setImmediate(done));
      const early = over;
      pass(OPTIONS.timeoutMs);
      const { declines } = await replies;
      return { early, declines: declines.length };
    },
  };
}

test('after three silent rounds no round waits for a solver, until a rest has passed or it answers', async () => {
  const [prompt, slow] = [session('prompt'), session('slow')];
  const { round, pass } = createRounds([prompt, slow]);
  for (let n = 0; n < 3; n++) expect(await round([prompt])).toEqual({ early: false, declines: 1 });
  for (let n = 0; n < 3; n++) expect(await round([prompt])).toEqual({ early: true, declines: 1 });
  pass(5_000);
  expect(await round([prompt])).toEqual({ early: false, declines: 1 });
  expect(await round([prompt])).toEqual({ early: true, declines: 1 });
  // It is still asked, and an answer in time counts.
  expect(await round([slow, prompt])).toEqual({ early: true, declines: 2 });
  expect(await round([prompt])).toEqual({ early: false, declines: 1 });
  expect([prompt.inFlight, slow.inFlight]).toEqual([0, 0]);
});

test('a round waits for all solvers when every one of them has been silent', async () => {
  const slow = session('slow');
  const { round } = createRounds([slow]);
  for (let n = 0; n < 5; n++) expect(await round([])).toEqual({ early: false, declines: 0 });
  expect(slow.inFlight).toBe(0);
});

test('quotes come back in order of arrival, at most eight per solver, and late ones are dropped', async () => {
  const [slow, quick, flood] = [session('slow'), session('quick'), session('flood')];
  const { fanOut, pass } = startFanOut();
  const replies = fanOut.requestQuotes(rfq('r'), [slow, quick, flood]);
  const quote = { type: 'quote', rfqId: 'r', more: false } as LinkQuote;
  fanOut.receive(quick, quote);
  for (let n = 0; n < 10; n++) fanOut.receive(flood, { ...quote, more: true });
  fanOut.receive(slow, { ...quote, more: true });
  pass(OPTIONS.timeoutMs);
  fanOut.receive(slow, quote);
  const { quotes } = await replies;
  expect(quotes.map(({ session: { solverId } }) => solverId)).toEqual([
    'quick',
    ...Array.from({ length: 8 }, () => 'flood'),
    'slow',
  ]);
  expect([slow.inFlight, quick.inFlight, flood.inFlight]).toEqual([0, 0, 0]);
});

test('a closed connection ends the wait for its solver, and a rejected answer is a fault of its solver', async () => {
  const [first, second] = [session('first'), session('second')];
  const { fanOut, faults } = startFanOut();
  const replies = fanOut.requestQuotes(rfq('r'), [first, second]);
  fanOut.receive(first, decline('r'));
  fanOut.forget(second);
  expect((await replies).declines).toHaveLength(1);
  fanOut.reject(first, 'signature', { rfqId: 'x' });
  expect(faults).toEqual(['first']);
});

test('a round of commits ends with the first refusal, and ignores answers to another plan', async () => {
  const [first, second] = [session('first'), session('second')];
  const { fanOut } = startFanOut();
  const slices = [first, second].map((each) => ({ session: each, slice: { rfqId: 'r' } as SliceRequest }));
  const commit = (quoteId: string) => ({ type: 'commit', rfqId: 'r', quoteId }) as Commit;
  const replies = fanOut.requestCommits('0x01', slices);
  fanOut.receive(first, commit('0x02'));
  fanOut.receive(second, { ...decline('r'), quoteId: '0x02' });
  fanOut.receive(first, commit('0x01'));
  fanOut.receive(second, { ...decline('r'), quoteId: '0x01' });
  const { commits, refused } = await replies;
  expect([...commits.keys()]).toEqual([first]);
  expect(refused).toEqual([second]);
});
