/** The differences an audit can find, each with its meaning and remedy. */

import { formatTokens } from '../../domain/amount.ts';
import { type Chain, tokenOrAddress } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';

export interface Difference {
  kind: Kind;
  subject: string;
  expected: string;
  found: string;
  /** Found minus expected, base units: identifies the difference while both amounts move. */
  by?: string;
  /** The unit of `expected`, `found` and `by` when these are amounts of a token. */
  unit?: Unit;
}

/** `decimals` is null when the token is not configured. */
export interface Unit {
  decimals: number | null;
  symbol: string;
}

/** A check that could not be made: neither a difference nor a success. */
export interface Unasked {
  what: string;
  why: string;
}

export interface Findings {
  differences: Difference[];
  unasked: Unasked[];
  compared: Record<string, number>;
}

export const KINDS = {
  order_status: [
    'the escrow and the database disagree about the state of this order',
    'Chain ahead: a worker is down or stuck; start it. Database ahead: a reorganisation deeper than `depth` has happened; stop the chain and compare its blocks.',
  ],
  order_row: ['the order row is not what its facts make', 'Correct the row from the facts.'],
  fact_sequence: [
    'facts of an order are missing or miscounted',
    'Restore the order from a backup, or correct the count and let a worker read the order again.',
  ],
  fact_without_event: [
    'a fact has no event, so subscribers did not receive it',
    'Append the event, or ask subscribers to read the order again.',
  ],
  event_without_fact: ['an event was sent without a fact', 'Compare with the chain and inform the clients.'],
  fact_without_log: [
    'a fact names a transaction that the chain does not show',
    'Ask another node. If it remains, a reorganisation deeper than `depth` has happened.',
  ],
  log_without_fact: [
    'the chain shows a step of an order that is not recorded',
    'Start a worker, which reads missing events. If it remains, the node hides logs.',
  ],
  unknown_order: [
    'the escrow has an order that is not in this database',
    'Another venue uses this escrow (use --others), or the database is an older backup: see docs/venue/backup.md. Anyone can refund the input after the order expires.',
  ],
  output_amount: [
    'the recorded delivery is not what the escrow delivered',
    'The chain is right. Correct the fact, then run: firmquote trades rebuild.',
  ],
  escrow_balance: [
    'the escrow balance is not the sum of its ledger and its open orders',
    'More: tokens were sent to the contract directly and cannot be withdrawn. Less: money is missing; stop the processes immediately.',
  ],
  fee_sum: [
    'the balance of the fee recipient is not the sum of the fees of settled orders',
    'Compare the orders one by one (firmquote verify), and check the configured contract address.',
  ],
  trade_row: [
    'the trade history differs from the facts of an order',
    'Rebuild the history from the facts: firmquote trades rebuild.',
  ],
  trade_count: ['a counter of the history is not the number of its rows', 'Run: firmquote trades rebuild.'],
  delivery_row: ['a deferred delivery differs from the facts', 'Run: firmquote trades rebuild.'],
  idempotency: [
    'an Idempotency-Key refers to an order that does not exist',
    'Delete the row, so that a repeated submission is accepted as new.',
  ],
  solver_account: [
    'an order or key names an unknown solver, or an account other than the one bound in the order',
    'Onboard the solver again, or revoke the key.',
  ],
  nonce_gap: [
    'a relayer nonce between two slots has no slot',
    'Rows were deleted, or the key was used elsewhere: look the nonce up on the chain.',
  ],
  next_nonce: [
    'the next nonce does not follow the last slot',
    'Stop the worker, correct tx_signer.next_nonce, start it.',
  ],
  slot_state: [
    'a slot and the chain disagree about a transaction',
    'Start the worker of this signer. If it remains, the key is used elsewhere.',
  ],
  lp_entry: ['an accounting entry does not balance', 'Find the entry and reverse it.'],
  lp_balance: [
    'a stored balance is not the sum of its postings',
    'Stop the LP, correct the balance from the postings, start it.',
  ],
  lp_journal: [
    'the inventory in the accounting ledger is not the balance in the escrow',
    'Show the entries of an order with firmquote lp journal --order ORDER. Book what no event explains with firmquote lp journal --adjust.',
  ],
  lp_native: [
    "an operator's native currency in the accounting ledger is not its balance on the chain",
    'Book a top-up, a withdrawal or a transaction by hand with firmquote lp journal --adjust --token native --operator ADDRESS.',
  ],
  lp_award: [
    'an award and its order on the chain disagree',
    'Start the LP, which reads missing events. If it remains, the node hides events.',
  ],
  lp_reservation: [
    'the reserved amount is not what the awards require',
    'Kill the LP (kill -9) and start it: it rebuilds the inventory ledger from the chain and the awards.',
  ],
  lp_fees: [
    'fees in the accounting ledger differ from the fees of the orders',
    'Find the entry with firmquote lp journal --order ORDER and reverse it.',
  ],
} as const satisfies Record<string, readonly [means: string, todo: string]>;
export type Kind = keyof typeof KINDS;

export const identityOf = ({ kind, subject, expected, found, by }: Difference): string =>
  JSON.stringify(by === undefined ? [kind, subject, expected, found] : [kind, subject, by]);

export function unitOf(chain: Chain, token: Address): Unit {
  const { decimals, symbol } = tokenOrAddress(chain, token);
  return { decimals, symbol };
}

/** Prints amounts of a token in whole tokens, for people. */
export function inTokens({ expected, found, by, unit }: Difference): {
  expected: string;
  found: string;
  by: string | undefined;
} {
  const text = (amount: string): string => (unit === undefined ? amount : formatTokens(BigInt(amount), unit));
  return { expected: text(expected), found: text(found), by: by === undefined ? undefined : text(by) };
}

export interface FindingsCollector extends Findings {
  differ(kind: Kind, subject: string, expected: string, found: string): void;
  /** Counts what was compared. */
  count(what: string, n?: number): void;
  /** Adds a difference unless the amounts are equal. */
  amount(kind: Kind, subject: string, expected: bigint, found: bigint, unit?: Unit): void;
  /** Resolves with undefined, and notes the question, when nobody answers. */
  ask<T>(what: string, question: () => Promise<T>): Promise<T | undefined>;
}

export function createFindings(): FindingsCollector {
  const findings: Findings = { differences: [], unasked: [], compared: {} };
  return {
    ...findings,
    differ: (kind, subject, expected, found) =>
      void findings.differences.push({ kind, subject, expected, found }),
    count(what, n = 1) {
      findings.compared[what] = (findings.compared[what] ?? 0) + n;
    },
    amount(kind, subject, expected, found, unit) {
      if (expected === found) return;
      const by = (found - expected).toString();
      findings.differences.push({
        kind,
        subject,
        expected: expected.toString(),
        found: found.toString(),
        by,
        ...(unit && { unit }),
      });
    },
    async ask<T>(what: string, question: () => Promise<T>): Promise<T | undefined> {
      try {
        return await question();
      } catch (error) {
        findings.unasked.push({ what, why: error instanceof Error ? error.message : String(error) });
        return undefined;
      }
    },
  };
}
