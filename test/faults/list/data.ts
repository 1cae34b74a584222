/** The database and its disk, and inventory that its owner withdraws. */

import type { Fault } from '../fault.ts';

export const DATA: readonly Fault[] = [
  {
    id: 'F13',
    fault: 'the database cannot be reached, or has no free connection',
    holds:
      'a submission gets 503 and Retry-After, and with the same key it is one order afterwards; an LP signs nothing beyond its durable lease',
    invariants: ['I2', 'I4', 'I6'],
    test: 'test/faults/database.test.ts',
    defences: [
      {
        what: 'a connection that is silent for too long counts as lost',
        symbol: 'src/adapters/postgres/pool.ts#silenceLimitMs',
        becomes: '() => 0',
      },
      {
        what: 'a part that does not answer is a 503 with Retry-After',
        symbol: 'src/protocol/errors.ts#answerFor',
        becomes: '(error) => ({ ...original(error), retryAfterSeconds: null })',
      },
      {
        what: 'only what a durable lease covers is signed',
        symbol: 'src/inventory/lease.ts#covers',
        becomes: '() => true',
      },
    ],
  },
  {
    id: 'F14',
    fault: 'the disk of the database, or that of the log, is full',
    holds:
      'only recorded transactions are sent; reads go on; with room again every order ends once; a log that cannot be written stops no process',
    invariants: ['I1', 'I2', 'I5'],
    test: 'test/faults/database.test.ts',
    defences: [
      {
        what: 'the bytes of a transaction are recorded before a node gets them',
        symbol: 'src/adapters/evm/transactor/transactor.ts#createTransactor',
        becomes: `(deps, options) => original({ ...deps, store: { ...deps.store,
          addAttempts: (...args) => deps.store.addAttempts(...args).catch(() => true) } }, options)`,
      },
      {
        what: 'log lines that cannot be written are dropped',
        symbol: 'src/adapters/pino/log.ts#standardOutput',
        becomes: "() => { const output = original(); output.removeAllListeners('error'); return output; }",
      },
    ],
  },
  {
    id: 'F32',
    fault: 'the owner withdraws the inventory while live quotes rely on it',
    holds:
      'from the request on it is not quoted; a fill that cannot be paid is never sent; the taker is refunded to the unit',
    invariants: ['I4', 'I8'],
    test: 'test/faults/withdrawal.test.ts',
    defences: [
      {
        what: 'a requested withdrawal counts as gone',
        symbol: 'src/lp/chain/reconcile.ts#createReconciler',
        becomes: `(deps, ...rest) => original({ ...deps, ledger: { ...deps.ledger, apply: (event) =>
          event.type === 'withdrawal_requested' ? { applied: false } : deps.ledger.apply(event) } }, ...rest)`,
      },
    ],
  },
  {
    id: 'F38',
    fault: 'this release and the next one run on one database, which the next one changes',
    holds:
      'both go on, every order ends once; once the next one drops something, the old one refuses to start, and ends where it runs',
    invariants: ['I2', 'I5'],
    test: 'test/faults/versions.test.ts',
    defences: [
      {
        what: 'a statement that was planned before a column was added is planned again',
        symbol: 'src/adapters/postgres/pool.ts#isStalePlan',
        becomes: '() => false',
      },
      {
        what: 'a program that lacks a contracting migration does not run',
        symbol: 'src/adapters/postgres/migrate.ts#requireLivable',
        becomes: '() => {}',
      },
      {
        what: 'migrations run under a lock',
        symbol: 'src/adapters/postgres/migrate.ts#lockMigrations',
        becomes: 'async () => {}',
      },
    ],
  },
];
