/** Processes that are killed, frozen or blocked in the middle of something. */

import type { Fault } from '../fault.ts';

const TEST = 'test/faults/crashes.test.ts';
const ORDERS = 'src/adapters/postgres/venue/order-store.ts';
const CLAIMS = 'src/adapters/postgres/venue/order-claims.ts';
const TRANSACTOR = 'src/adapters/evm/transactor/transactor.ts';

const WITHOUT_KEY = `(...args) => {
  const store = original(...args);
  return { ...store, accept: (order, response) => store.accept(order, response, null) };
}`;

export const CRASHES: readonly Fault[] = [
  {
    id: 'F1',
    fault: 'kill -9 of the venue between verifying a submission and committing it',
    holds: 'nothing is stored; its repetition makes exactly one order, at any process',
    invariants: ['I2', 'I6'],
    test: TEST,
    defences: [
      {
        what: 'a quote is sealed with a key that outlives the process, and is not stored',
        symbol: 'src/auction/seal.ts#createSealer',
        becomes:
          '(keys) => original(keys.map((key) => ({ ...key, secret: Buffer.from(String(process.pid).padEnd(64)) })))',
      },
    ],
  },
  {
    id: 'F2',
    fault: 'kill -9 of the venue after the commit, before the answer',
    holds: 'the repetition gets the same order, under the same key, another or none',
    invariants: ['I2', 'I6'],
    test: TEST,
    defences: [
      {
        what: 'the statement that writes the order writes its Idempotency-Key',
        symbol: `${ORDERS}#createOrderStore`,
        becomes: WITHOUT_KEY,
      },
      {
        what: 'a candidate that is an order already is answered with that order',
        symbol: `${ORDERS}#createOrderStore`,
        becomes: `(...args) => {
          const store = original(...args);
          return { ...store, accept: async (...order) => {
            const answer = await store.accept(...order);
            return answer.kind === 'replayed' ? { kind: 'quote_already_used' } : answer;
          } };
        }`,
      },
      {
        what: 'a submission is answered after the commit',
        symbol: 'src/venue/orders/submit.ts#createSubmitter',
        becomes: `(deps) => original({ ...deps, store: { ...deps.store, accept: async (order, response, scope) => {
          void deps.store.accept(order, response, scope);
          return { kind: 'accepted', response };
        } } })`,
      },
    ],
  },
  {
    id: 'F3',
    fault: 'kill -9 of a worker after it claimed an order, before it signed',
    holds: 'the claim lapses; another worker settles the order with one transaction',
    invariants: ['I1', 'I5'],
    test: TEST,
    defences: [
      {
        what: 'a claim is a lease: once it has lapsed another worker may claim the order',
        symbol: `${CLAIMS}#CLAIM_IS_FREE`,
        becomes: "'(owner is null or owner = $2)'",
      },
    ],
  },
  {
    id: 'F4',
    fault: 'kill -9 with signed bytes in the database that no node has seen',
    holds: 'the same bytes are sent after the restart: one nonce, one attempt',
    invariants: ['I1', 'I5'],
    test: TEST,
    defences: [
      {
        what: 'bytes that may never have left are sent again at the start',
        symbol: 'src/adapters/evm/transactor/live-slots.ts#mayBeUnsent',
        becomes: '() => false',
      },
      {
        what: 'bytes are in the database before a node sees them',
        symbol: `${TRANSACTOR}#createTransactor`,
        becomes: `(deps, options) => original({ ...deps, store: { ...deps.store, addAttempts: async (holder, attempts) => {
          for (const { raw } of attempts) await deps.chain.sendRaw(raw);
          return deps.store.addAttempts(holder, attempts);
        } } }, options)`,
      },
    ],
  },
  {
    id: 'F5',
    fault: 'kill -9 after broadcasting, before recording it; nothing is mined meanwhile',
    holds: 'the transaction is found by its hash; the step uses no second nonce',
    invariants: ['I1'],
    test: TEST,
    defences: [
      {
        what: 'a process that starts takes over the open slots of earlier processes',
        symbol: `${TRANSACTOR}#createTransactor`,
        becomes:
          '(deps, options) => original({ ...deps, store: { ...deps.store, liveSlots: async () => [] } }, options)',
      },
    ],
  },
  {
    id: 'F6',
    fault:
      'kill -9 of an LP when its fill is mined, before or after recording it, before the claim; the venue is away too',
    holds: 'the restarted LP sees its fill on the chain, proves and claims it, and fills nothing twice',
    invariants: ['I1', 'I2', 'I9'],
    test: 'test/faults/cross-chain.test.ts',
    defences: [
      {
        what: 'awards outlive the process',
        symbol: 'src/adapters/postgres/lp/lp-store.ts#createLpStore',
        becomes: '(...args) => ({ ...original(...args), putAward: async () => true })',
      },
      {
        what: 'the LP asks the chain what was filled, instead of trusting its records',
        symbol: 'src/lp/chain/restore.ts#restore',
        becomes: `(deps, options) => original({ ...deps, ports: new Map([...deps.ports].map(([id, port]) =>
          [id, { ...port, fillRecord: async () => undefined }])) }, options)`,
      },
    ],
  },
  {
    id: 'F7',
    fault: 'a worker is frozen with an order in hand, another takes it over, the first is thawed',
    holds: 'the stale claim writes nothing, even before another worker has written',
    invariants: ['I1'],
    test: 'test/faults/workers.test.ts',
    defences: [
      {
        what: 'every write shows the fence of its claim',
        symbol: `${CLAIMS}#CLAIM_IS_CURRENT`,
        becomes: "'(o.fence = a.fence or true) and o.last_seq = a.seq'",
      },
      {
        what: 'every claim raises the fence',
        symbol: `${CLAIMS}#NEXT_FENCE`,
        becomes: "'greatest(fence, 1)'",
      },
    ],
  },
  {
    id: 'F9',
    fault:
      'a worker’s event loop is blocked for longer than its leases, with a transaction signed and not yet recorded',
    holds:
      'another worker sends the step; the first may not write, so it does not send; /readyz is 503 until it keeps up',
    invariants: ['I1'],
    test: 'test/faults/workers.test.ts',
    defences: [
      {
        what: 'signed bytes are recorded only under the fence of the signer',
        symbol: 'src/adapters/postgres/tx-store.ts#WRITES_UNDER_FENCE',
        becomes: "'(fence = $3 or true)'",
      },
      {
        what: 'a process whose event loop was blocked reports it',
        symbol: 'src/adapters/process/loop-watch.ts#watchLoop',
        becomes: '(...args) => ({ ...original(...args), reasons: () => [] })',
      },
    ],
  },
  {
    id: 'F12',
    fault:
      'the database is killed while an order commits: before the statement arrived, and after the commit whose answer never came',
    holds: 'the taker gets 503; the repetition finds the order or makes it, once',
    invariants: ['I2', 'I6'],
    test: TEST,
    defences: [
      {
        what: 'the statement that writes the order writes its Idempotency-Key',
        symbol: `${ORDERS}#createOrderStore`,
        becomes: WITHOUT_KEY,
      },
      {
        what: 'a broken connection is replaced and does not end the process',
        symbol: 'src/adapters/postgres/pool.ts#connectDatabase',
        becomes: `(options) => {
          const database = original(options);
          database.pool.removeAllListeners('error');
          return database;
        }`,
      },
    ],
  },
  {
    id: 'F40',
    fault: 'jobs, announcements, chain events and awards come twice, late and in another order',
    holds: 'every fact and every event once, in the order in which things happen; an ended order stays ended',
    invariants: ['I1', 'I6', 'I10'],
    test: 'test/faults/cross-chain.test.ts',
    defences: [
      {
        what: 'a fact that is recorded already is not recorded again',
        symbol: 'src/venue/orders/advance/observe.ts#isNews',
        becomes: '() => true',
      },
      {
        what: 'facts are recorded in the order of their kinds',
        symbol: 'src/venue/orders/advance/observe.ts#observeOrder',
        becomes: `async (...args) => {
          const seen = await original(...args);
          return seen && { ...seen, facts: [...seen.facts].reverse() };
        }`,
      },
    ],
  },
];
