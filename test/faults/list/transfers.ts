/** An LP, or a bridge venue, moves its own money between chains. */

import type { Fault } from '../fault.ts';

const TEST = 'test/faults/transfers.test.ts';
const STEPS = 'src/settlement/transfer.ts';

export const TRANSFERS: readonly Fault[] = [
  {
    id: 'F46',
    fault:
      'an LP that moves inventory to another chain is killed at every step, before and after recording it',
    holds:
      'the money moves once and is always in one place; each step is one transaction; what is about to leave is not quoted, by the next process either',
    invariants: ['I1', 'I4'],
    test: TEST,
    defences: [
      {
        what: 'each step has one permanent key, so that its transaction is found and not made anew',
        symbol: `${STEPS}#transferKey`,
        becomes: '(...args) => `${original(...args)}-${Math.random()}`',
      },
      {
        what: 'the next step follows from recorded facts',
        symbol: 'src/adapters/postgres/transfer-store.ts#createTransferStore',
        becomes: '(...args) => ({ ...original(...args), append: async () => true })',
      },
    ],
  },
  {
    id: 'F47',
    fault:
      'Circle’s attestation service is away, does not know the burn, refuses, breaks connections, answers nonsense, signs with strange keys; the LP is killed meanwhile',
    holds:
      'the transfer waits and says for what; nothing is delivered that the contract would not accept; it goes on when the service is back',
    invariants: ['I1'],
    test: TEST,
    defences: [
      {
        what: 'what was burned is followed until it has arrived',
        symbol: `${STEPS}#nextTransferStep`,
        becomes: "(state, now) => (state.stage === 'burned' ? { do: 'nothing' } : original(state, now))",
      },
    ],
  },
  {
    id: 'F48',
    fault: 'an LP has requested money from its ledger to move it, and is down until the request has lapsed',
    holds: 'a final block shows the lapse, the request is made anew, and the money moves once',
    invariants: ['I1', 'I4'],
    test: TEST,
    defences: [
      {
        what: 'a request that can no longer be executed is noticed',
        symbol: `${STEPS}#nextTransferStep`,
        becomes: `(state, now) => {
          const todo = original(state, now);
          return todo.do === 'note_lapse' ? { do: 'wait_until', at: now } : todo;
        }`,
      },
      {
        what: 'after a lapse the request has another key',
        symbol: `${STEPS}#transferKey`,
        becomes: '(id, step) => `${id}-${step}`',
      },
    ],
  },
  {
    id: 'F50',
    fault: 'a bridge venue that refills its float is killed at every step, before and after recording it',
    holds: 'one transfer begins; the money moves once and is in one place; each step is one transaction',
    invariants: ['I1'],
    test: 'test/faults/bridge-refill.test.ts',
    defences: [
      {
        what: 'each step has one permanent key, so that its transaction is found and not made anew',
        symbol: `${STEPS}#transferKey`,
        becomes: '(...args) => `${original(...args)}-${Math.random()}`',
      },
    ],
  },
];
