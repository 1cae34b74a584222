/** The database and its disk, and money that its owner takes away. */

import type { Fault } from '../fault.ts';

export const DATA: readonly Fault[] = [
  {
    id: 'F13',
    fault: 'the database cannot be reached, or has no connection to spare',
    holds:
      'a submission gets 503 and Retry-After, and with the same key it is one order when the database is back; a maker signs nothing beyond what is durably written',
    invariants: ['I2', 'I4', 'I6'],
    test: 'test/faults/database.test.ts',
    defences: [
      {
        what: 'A connection that says nothing for too long counts as lost',
        file: 'src/adapters/postgres/pool.ts',
        from: 'query_timeout: silenceMs };',
        to: 'query_timeout: 0 };',
      },
      {
        what: 'A part that does not answer is a 503 that says when to ask again',
        file: 'src/protocol/errors.ts',
        from: "so nothing was done. Try again in a second.', 1)",
        to: "so nothing was done. Try again in a second.', null)",
      },
      {
        what: 'Only what a durable lease covers is signed',
        file: 'src/lp/replicas/lease.ts',
        from: 'covers: (chainId, deadline) => !lost && covers(',
        to: 'covers: (chainId, deadline) => !lost || covers(',
      },
    ],
  },
  {
    id: 'F14',
    fault: 'the disk of the database, or that of the log, is full',
    holds:
      'nothing is sent that is not on record; reads go on; with room again every order ends once; a log that cannot be written stops nobody',
    invariants: ['I1', 'I2', 'I5'],
    test: 'test/faults/database.test.ts',
    defences: [
      {
        what: 'The bytes of a transaction are on record before anybody else has them',
        file: 'src/adapters/evm/transactor/transactor.ts',
        from: 'slotId: entry.slot.id }))))) throw lost();',
        to: 'slotId: entry.slot.id }))).catch(() => true))) throw lost();',
      },
      {
        what: 'Lines that cannot be written are dropped',
        file: 'src/adapters/pino/log.ts',
        from: "  output.on('error', () => {});\n",
        to: '',
      },
    ],
  },
  {
    id: 'F32',
    fault: 'the owner takes the inventory out while promises stand on it',
    holds:
      'from the request on it is not quoted; a fill that cannot be paid is never sent; the taker is refunded to the unit',
    invariants: ['I4', 'I8'],
    test: 'test/faults/withdrawal.test.ts',
    defences: [
      {
        what: 'What was asked for counts as gone',
        file: 'src/lp/chain/reconcile.ts',
        from: "    ledger.apply({ type: 'withdrawal_requested', id, chainId, token, amount });\n",
        to: '',
      },
    ],
  },
  {
    id: 'F38',
    fault: 'this release and the next one run side by side on one database, which the next one changes',
    holds:
      'both go on, every order ends once; once something is taken away, the old one refuses to start, and ends where it runs',
    invariants: ['I2', 'I5'],
    test: 'test/faults/versions.test.ts',
    defences: [
      {
        what: 'A statement that was planned before a column came is planned anew',
        file: 'src/adapters/postgres/pool.ts',
        from: 'if (!(error instanceof StalePlan || isStalePlan(error))) throw error;',
        to: 'throw error;',
      },
      {
        what: 'A program that does not know what was taken away does not go on',
        file: 'src/adapters/postgres/migrate.ts',
        from: 'if (sql === undefined && contract) {',
        to: 'if (sql === undefined && contract && id === "") {',
      },
      {
        what: 'Migrations run under a lock',
        file: 'src/adapters/postgres/migrate.ts',
        from: "    await session.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);\n",
        to: '',
      },
    ],
  },
];
