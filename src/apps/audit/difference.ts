/** The kinds of difference an audit can find, each with its meaning and what to do about it. */

export interface Difference {
  kind: Kind;
  /** Order, account, slot or table; stable between comparisons. */
  subject: string;
  expected: string;
  found: string;
  /** Amounts only: found minus expected, base units. Identifies the difference while both amounts move. */
  by?: string;
}

/** A check that could not be made: neither a difference nor a success. */
export interface Unasked {
  what: string;
  why: string;
}

export interface Findings {
  differences: Difference[];
  unasked: Unasked[];
  /** Number of things compared, by kind. */
  compared: Record<string, number>;
}

export const KINDS = {
  order_status: [
    'the escrow says another thing of this order than the database',
    'If the chain is ahead, a worker is down or stuck: start it and look again. If the database is ahead, a reorganisation deeper than `depth` has happened: stop the chain and compare its blocks.',
  ],
  order_row: [
    'the order row is not what its facts fold to',
    'Somebody wrote into the database by hand, or a write was torn. Facts are the truth: correct the row from them.',
  ],
  fact_sequence: [
    'facts of an order are missing or counted wrongly',
    'Restore the order from a backup, or let a worker read it again from the chain after the count is corrected.',
  ],
  fact_without_event: [
    'a fact has no event: clients of the stream were never told',
    'Clients that poll have seen it. Append the event, or tell those who subscribe to read the order again.',
  ],
  event_without_fact: [
    'an event was sent that no fact stands behind',
    'Clients may believe it: compare with the chain, and tell them.',
  ],
  fact_without_log: [
    'a fact names a transaction that the chain does not show so',
    'Ask another node first. If it stays, a reorganisation deeper than `depth` has happened.',
  ],
  log_without_fact: [
    'the chain shows a step of an order that is not on record',
    'Start a worker: it reads what is missing. If it stays, the node in use hides logs.',
  ],
  unknown_order: [
    'the escrow holds the trace of an order that this database does not know',
    'Another venue uses this escrow (then --others), or this database was restored from a backup older than the order: see docs/venue/backup.md. What is escrowed can be refunded by anybody after the order expires.',
  ],
  output_amount: [
    'what is on record as delivered is not what the escrow delivered',
    'The chain is right. Correct the fact, then: firmquote trades rebuild.',
  ],
  escrow_balance: [
    'the escrow does not hold exactly what its ledger and its open orders add up to',
    'More than that: somebody has sent tokens to the contract past its ledger; nobody can take them. Less: stop at once and find out why, money is missing.',
  ],
  fee_sum: [
    'the fee recipient has not exactly the fees of the settled orders',
    'Compare the orders one by one (firmquote verify); a contract that is not the one configured would explain it.',
  ],
  trade_row: [
    'history shows an order otherwise than its facts',
    'firmquote trades rebuild makes history anew from the facts.',
  ],
  trade_count: ['a count of history is not the number of its rows', 'firmquote trades rebuild counts anew.'],
  delivery_row: [
    'what left the ledger after a deferred delivery is not what the facts say',
    'firmquote trades rebuild makes these rows anew.',
  ],
  idempotency: [
    'an Idempotency-Key answers with an order that does not exist',
    'Its holder believes in an order that is not there: delete the row, so that a repeated submission is taken for a new one.',
  ],
  solver_account: [
    'an order or a key names a solver that is not on the roster, or an account that is not the one bound in the order',
    'Onboard the solver again, or revoke the key.',
  ],
  nonce_gap: [
    'a nonce of the relayer has no slot between others that have one',
    'Rows were deleted, or the key was used elsewhere. Look the nonce up on the chain; never use one key in two places.',
  ],
  next_nonce: [
    'the next nonce is not the one after the last slot',
    'Transactions would collide or wait for ever: stop the worker, correct tx_signer.next_nonce, start it.',
  ],
  slot_state: [
    'a slot says another thing of its transaction than the chain',
    'Start the worker that holds the signer: it looks every slot up. If it stays, somebody else uses the key.',
  ],
  lp_entry: [
    'an entry of the books does not balance',
    'The books were written by hand. Find the entry and reverse it.',
  ],
  lp_balance: [
    'a kept balance is not the sum of its postings',
    'Stop the LP, correct the balance from the postings, start it.',
  ],
  lp_journal: [
    "the books' inventory is not the balance in the escrow",
    'firmquote lp books shows the entries; what no event explains is booked by a person: firmquote lp books adjust.',
  ],
  lp_award: [
    'an award stands otherwise than its order on the chain',
    'Start the LP: it reads what happened. If it stays, the node in use hides events.',
  ],
  lp_reservation: [
    'what is reserved is not what the awards promise',
    'Stop the LP without a clean stop (kill -9) and start it: the ledger is rebuilt from the chain and the awards.',
  ],
  lp_fees: [
    'fees in the books are not those of the orders',
    'Find the entry by its order (firmquote lp books ORDER) and reverse it.',
  ],
} as const satisfies Record<string, readonly [means: string, todo: string]>;
export type Kind = keyof typeof KINDS;

/** Equal for two sightings of the same difference. Moving amounts are identified by their distance. */
export const markOf = ({ kind, subject, expected, found, by }: Difference): string =>
  JSON.stringify(by === undefined ? [kind, subject, expected, found] : [kind, subject, by]);

export function createFindings(): Findings & {
  count(what: string, n?: number): void;
  differ(difference: Difference): void;
  amount(kind: Kind, subject: string, expected: bigint, found: bigint): void;
  ask<T>(what: string, question: () => Promise<T>): Promise<T | undefined>;
} {
  const findings: Findings = { differences: [], unasked: [], compared: {} };
  return {
    ...findings,
    count(what, n = 1) {
      findings.compared[what] = (findings.compared[what] ?? 0) + n;
    },
    differ: (difference) => void findings.differences.push(difference),
    amount(kind, subject, expected, found) {
      if (expected !== found)
        findings.differences.push({
          kind,
          subject,
          expected: expected.toString(),
          found: found.toString(),
          by: (found - expected).toString(),
        });
    },
    async ask(what, question) {
      try {
        return await question();
      } catch (error) {
        findings.unasked.push({ what, why: error instanceof Error ? error.message : String(error) });
        return undefined;
      }
    },
  };
}

export type FindingsCollector = ReturnType<typeof createFindings>;
