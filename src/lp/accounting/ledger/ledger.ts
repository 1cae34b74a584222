/**
 * Double-entry books of everything that moves the LP's money. Each chain fact becomes one entry whose
 * postings sum to zero per token (`entries.ts` describes the accounts). A reorganised fact is reversed by
 * another entry; nothing is deleted.
 *
 * The books are kept in commodities, one per token and chain, in base units. A trade exchanges two of them,
 * so the difference goes to a trading account. Valuation happens on request (`pnl.ts`) and never changes the
 * books. A difference is reported until an operator books it; nothing is adjusted automatically.
 */

import { InvariantError } from '../../../domain/errors.ts';
import type { Address, Bytes32 } from '../../../domain/hex.ts';
import type { Money } from '../../../inventory/event.ts';
import type { Balance, JournalEntry, Posting } from '../../../ports/stores/accounting-store.ts';
import {
  adjustmentEntry,
  arrivedEntry,
  creditEntry,
  departedEntry,
  fillEntry,
  GAS_OF_ALL,
  gasAssignedEntry,
  gasEntry,
  gasOf,
  gasReturnedEntry,
  INVENTORY,
  lossEntry,
  openingEntry,
  owedEntry,
  ownerEntry,
  refundEntry,
  returnedEntry,
  reversalEntry,
  sentEntry,
} from './entries.ts';
import {
  type Arrival,
  type Exchange,
  type FactPlace,
  type Gas,
  idOf,
  type Mined,
  type NativeMoney,
} from './facts.ts';

/**
 * Functions that return entries have applied them already; none when the books have the fact. They throw
 * `InvariantError` when an entry does not balance.
 */
export interface AccountingLedger {
  /** In base units of the token, or in wei. */
  balance(account: string, chainId: number, token: string): bigint;
  balances(): Balance[];
  /** The expected balance at the last block read. */
  inventory(of: Pick<Money, 'chainId' | 'token'>): bigint;
  gas(chainId: number, operator: Address): bigint;
  /**
   * Returns the gas that a program without `GasCursor` booked for all operators of a chain together, in wei.
   */
  gasOfAll(chainId: number): bigint;
  opening(money: Money | NativeMoney, block: bigint, atMs: number): JournalEntry[];
  /** Moves `gasOfAll` to the operator that it belongs to. */
  gasAssigned(chainId: number, operator: Address, block: bigint, atMs: number): JournalEntry[];
  /** A program without `GasCursor` took this gas out of the balance of `operator`, which gets it back. */
  gasReturned(wei: bigint, place: FactPlace, share: number, operator: Address): JournalEntry[];
  /** The order was filled before the books were opened, and the escrow still owes its input. */
  owed(exchange: Exchange, block: bigint, atMs: number): JournalEntry[];
  /** Books a fill that may still be reorganised away. */
  filled(exchange: Exchange, place: FactPlace): JournalEntry[];
  unfilled(orderId: Bytes32, was: Mined, atMs: number): JournalEntry[];
  /** Books a final fill, whether or not it was seen before. */
  sent(exchange: Exchange, place: FactPlace): JournalEntry[];
  credited(exchange: Exchange, place: FactPlace): JournalEntry[];
  /** `filled`: the LP had filled the order, so its output is lost. */
  refunded(exchange: Exchange, place: FactPlace, filled: boolean): JournalEntry[];
  /** The order was refunded before its fill became known. */
  lost(exchange: Exchange, place: FactPlace): JournalEntry[];
  /** A positive amount is a deposit. */
  owner(money: Money, place: FactPlace, logIndex: number): JournalEntry[];
  /** A transfer took `money` (positive) out of the escrow. */
  departed(transferId: string, money: Money, place: FactPlace): JournalEntry[];
  arrived(arrival: Arrival, place: FactPlace): JournalEntry[];
  /** Books that the bridge refused: the money that left is back in the escrow of its own chain. */
  returned(transferId: string, left: Money, got: bigint, place: FactPlace): JournalEntry[];
  adjusted(money: Money | NativeMoney, block: bigint, atMs: number): JournalEntry[];
  spent(gas: Gas): JournalEntry[];
  /**
   * Everything up to this block is final: a fill seen below it that did not become final was reorganised
   * away.
   */
  passed(chainId: number, block: bigint, atMs: number): JournalEntry[];
}

interface State {
  readonly sums: Map<string, Balance>;
  /** Ids of the newest entries. */
  readonly seen: Set<string>;
  /** Fills that are neither final nor reversed, by fact id. */
  readonly open: Map<string, JournalEntry>;
}

const REMEMBERED = 50_000;

export function createAccountingLedger({
  balances = [],
  pending = [],
}: { balances?: readonly Balance[]; pending?: readonly JournalEntry[] } = {}): AccountingLedger {
  const state: State = {
    sums: new Map(balances.map((each) => [keyOf(each), { ...each }])),
    seen: new Set(),
    open: new Map(pending.map((entry) => [entry.id, entry])),
  };
  for (const { id } of pending) remember(state, id);

  const balance = (account: string, chainId: number, token: string): bigint =>
    state.sums.get(`${account}|${chainId}|${token}`)?.amount ?? 0n;
  return {
    balance,
    balances: () => [...state.sums.values()].map((each) => ({ ...each })),
    inventory: ({ chainId, token }) => balance(INVENTORY, chainId, token),
    gas: (chainId, operator) => balance(gasOf(operator), chainId, 'native'),
    gasOfAll: (chainId) => balance(GAS_OF_ALL, chainId, 'native'),
    opening: (money, block, atMs) => post(state, openingEntry(money, block, atMs)),
    gasAssigned(chainId, operator, block, atMs) {
      const amount = balance(GAS_OF_ALL, chainId, 'native');
      return post(state, gasAssignedEntry({ chainId, token: 'native', operator, amount }, block, atMs));
    },
    gasReturned: (wei, place, share, operator) => post(state, gasReturnedEntry(wei, place, share, operator)),
    owed: (exchange, block, atMs) => post(state, owedEntry(exchange, block, atMs)),
    filled: (exchange, place) => filled(state, exchange, place),
    unfilled(orderId, was, atMs) {
      const entry = state.open.get(idOf.fill(orderId, was));
      return entry === undefined ? [] : reverse(state, entry, atMs);
    },
    sent: (exchange, place) => sent(state, exchange, place),
    credited: (exchange, place) => post(state, creditEntry(exchange, place)),
    refunded: (exchange, place, wasFilled) =>
      post(
        state,
        wasFilled
          ? lossEntry(exchange, place, idOf.refund(exchange.orderId, place))
          : refundEntry(exchange, place),
      ),
    lost: (exchange, place) => post(state, lossEntry(exchange, place, `loss:${exchange.orderId}`)),
    owner: (money, place, logIndex) => post(state, ownerEntry(money, place, logIndex)),
    departed: (transferId, money, place) => post(state, departedEntry(transferId, money, place)),
    arrived: (arrival, place) => post(state, arrivedEntry(arrival, place)),
    returned: (transferId, left, got, place) => post(state, returnedEntry(transferId, left, got, place)),
    adjusted: (money, block, atMs) => post(state, adjustmentEntry(money, block, atMs)),
    spent: (gas) => post(state, gasEntry(gas)),
    passed: (chainId, block, atMs) =>
      [...state.open.values()].flatMap((entry) =>
        entry.chainId === chainId && (entry.block ?? 0n) <= block ? reverse(state, entry, atMs) : [],
      ),
  };
}

function filled(state: State, exchange: Exchange, place: FactPlace): JournalEntry[] {
  if (state.seen.has(idOf.sent(exchange.orderId, place))) return [];
  const posted = post(state, fillEntry(exchange, place));
  for (const entry of posted) state.open.set(entry.id, entry);
  return posted;
}

function sent(state: State, exchange: Exchange, place: FactPlace): JournalEntry[] {
  const pending = state.open.get(idOf.fill(exchange.orderId, place));
  const posted = post(state, sentEntry(exchange, place, pending !== undefined));
  if (pending !== undefined && posted.length > 0) state.open.delete(pending.id);
  return posted;
}

function reverse(state: State, entry: JournalEntry, atMs: number): JournalEntry[] {
  state.open.delete(entry.id);
  return post(state, reversalEntry(entry, atMs));
}

function post(state: State, entry: JournalEntry): JournalEntry[] {
  const { sums, seen } = state;
  if (seen.has(entry.id)) return [];
  const kept = { ...entry, postings: entry.postings.filter(({ amount }) => amount !== 0n) };
  requireBalanced(kept);
  for (const posting of kept.postings) {
    const key = keyOf(posting);
    const sum = sums.get(key);
    if (sum === undefined) sums.set(key, { ...posting });
    else sum.amount += posting.amount;
  }
  remember(state, kept.id);
  return [kept];
}

function remember({ seen }: State, id: string): void {
  seen.add(id);
  if (seen.size <= REMEMBERED) return;
  for (const oldest of seen) {
    seen.delete(oldest);
    if (seen.size <= REMEMBERED / 2) return;
  }
}

const keyOf = ({ account, chainId, token }: Omit<Posting, 'amount'>): string =>
  `${account}|${chainId}|${token}`;

function requireBalanced({ id, postings }: JournalEntry): void {
  const sums = new Map<string, bigint>();
  for (const { chainId, token, amount } of postings)
    sums.set(`${chainId}:${token}`, (sums.get(`${chainId}:${token}`) ?? 0n) + amount);
  for (const [token, sum] of sums)
    if (sum !== 0n) throw new InvariantError('An entry does not balance.', { facts: { id, token, sum } });
}
