/**
 * Double-entry books of everything that moves the LP's money. Each chain fact becomes one entry whose
 * postings sum to zero per token. A reorganised fact is reversed by another entry; nothing is deleted.
 *
 * The books are kept in commodities, one per token and chain, in base units. A trade exchanges two of them,
 * so the difference goes to a trading account. Valuation happens on request (`pnl.ts`) and never changes the
 * books.
 *
 *  assets:inventory balance in the escrow at the last final block, equal to the contract's own number
 *  assets:outbound fills that are mined and may still be reorganised away (0 or negative)
 *  assets:receivable inputs that the escrow owes for fills
 *  assets:in-transit what left the escrow for another chain and has neither arrived there nor come back
 *  assets:gas:<operator> of every operator ever used: its native opening balance less gas burnt
 *  equity:owner deposits (credit) and withdrawals, opening balances included
 *  equity:adjustment differences that an operator booked because no event explains them
 *  transfer:<asset> what left one chain (debit) and what it is there on the other (credit)
 *  trading:<pair> inputs received (credit) and outputs given (debit)
 *  expense:platform-fee part of the input that the escrow kept for the platform
 *  expense:relay-fee part of the input that the escrow kept for the relayer
 *  expense:gas fills, proofs and claims by their receipts, reverted ones included
 *  expense:bridge-fee what bridges kept of transfers
 *  expense:transfer-gas transactions of transfers, with what bridges took in native currency
 *  expense:lost inputs of orders that were filled and refunded all the same
 *
 * A debit is positive. A difference is reported until an operator books it; nothing is adjusted
 * automatically.
 */

import { InvariantError } from '../../../domain/errors.ts';
import type { Address, Bytes32, Hex } from '../../../domain/hex.ts';
import type { Money } from '../../../inventory/event.ts';
import type { Balance, JournalEntry, Posting } from '../../../ports/stores/accounting-store.ts';

/** The amounts that one slice of an order moves when it is filled, in base units. */
export interface Exchange {
  orderId: Bytes32;
  pair: string;
  pays: Money;
  /** The amount that the escrow credits: `portion` less the two fees. */
  earns: Money;
  portion: bigint;
  platformFee: bigint;
  relayFee: bigint;
}

/** The cost of an operator's transaction, its value included, or one order's share of that cost. */
export interface Gas {
  wei: bigint;
  place: FactPlace;
  share: number;
  orderId: Bytes32 | null;
  /** The transfer between chains that the transaction was a step of. */
  transferId?: string;
  operator: Address;
  /** Mined before the operator's opening balance, so the owner had put in that much more. */
  before: boolean;
}

/** A transfer whose money has arrived: positive amounts, of the source and of the destination. */
export interface Arrival {
  transferId: string;
  asset: string;
  left: Money;
  got: Money;
  /** `left` in base units of the destination. */
  expected: bigint;
}

export interface FactPlace {
  chainId: number;
  block: bigint;
  blockHash: Hex;
  txHash: Hex;
  atMs: number;
}

const INVENTORY = 'assets:inventory';
const OUTBOUND = 'assets:outbound';
const RECEIVABLE = 'assets:receivable';
const IN_TRANSIT = 'assets:in-transit';
const BRIDGE_FEE = 'expense:bridge-fee';
/** One account for all operators of a chain. Programs without `GasCursor` write it, also beside this one. */
const GAS_OF_ALL = 'assets:gas';
const gasOf = (operator: Address) => `${GAS_OF_ALL}:${operator}`;

/** Native currency that an operator has, in wei. */
export interface NativeMoney {
  chainId: number;
  token: 'native';
  operator: Address;
  amount: bigint;
}
const OWNER = 'equity:owner';

type Mined = Pick<FactPlace, 'blockHash' | 'txHash'>;
const factOf = ({ blockHash, txHash }: Mined): string => `${blockHash}:${txHash}`;
/**
 * Ids of facts, shared by writers and readers of the books. The store keeps them, so a changed format books
 * facts twice.
 */
export const idOf = {
  opening: (chainId: number, token: string) => `opening:${chainId}:${token}`,
  openingGas: (chainId: number, operator: Address) => `opening:${chainId}:native:${operator}`,
  owed: (orderId: Bytes32) => `opening:owed:${orderId}`,
  fill: (orderId: Bytes32, at: Mined) => `fill:${orderId}:${factOf(at)}`,
  sent: (orderId: Bytes32, at: Mined) => `sent:${orderId}:${factOf(at)}`,
  credit: (orderId: Bytes32, at: Mined) => `credit:${orderId}:${factOf(at)}`,
  refund: (orderId: Bytes32, at: Mined) => `refund:${orderId}:${factOf(at)}`,
  owner: (at: Mined, logIndex: number) => `owner:${factOf(at)}:${logIndex}`,
  /** Each transfer departs once: the store of transfers knows no second one of a step. */
  departed: (transferId: string) => `departed:${transferId}`,
  arrived: (transferId: string) => `arrived:${transferId}`,
  returned: (transferId: string) => `returned:${transferId}`,
  /** `share`: which of the orders that one transaction proved together. */
  gas: (chainId: number, at: Mined, share = 0) =>
    `gas:${chainId}:${factOf(at)}${share === 0 ? '' : `:${share}`}`,
} as const;

const on = (
  account: string,
  { chainId, token }: Pick<Money, 'chainId' | 'token'>,
  amount: bigint,
): Posting => ({ account, chainId, token, amount });
const at = ({
  chainId,
  block,
  txHash,
  atMs,
}: Omit<FactPlace, 'blockHash' | 'txHash'> & { txHash?: Hex }) => ({
  chainId,
  block,
  txHash: txHash ?? null,
  atMs,
});

function exchanged({ pair, pays, earns, portion, platformFee, relayFee }: Exchange): Posting[] {
  const trading = `trading:${pair}`;
  return [
    on(trading, pays, pays.amount),
    on(RECEIVABLE, earns, earns.amount),
    on('expense:platform-fee', earns, platformFee),
    on('expense:relay-fee', earns, relayFee),
    on(trading, earns, -portion),
  ];
}

export type AccountingLedger = ReturnType<typeof createAccountingLedger>;

const REMEMBERED = 50_000;

/** Functions that return entries have applied them already; none when the books have the fact. */
export function createAccountingLedger({
  balances = [],
  pending = [],
}: { balances?: readonly Balance[]; pending?: readonly JournalEntry[] } = {}) {
  const sums = new Map<string, Balance>();
  const seen = new Set<string>();
  /** Fills that are neither final nor reversed, by fact id. */
  const open = new Map<string, JournalEntry>();
  for (const each of balances) sums.set(keyOf(each), { ...each });
  for (const entry of pending) {
    open.set(entry.id, entry);
    remember(entry.id);
  }

  function remember(id: string): void {
    seen.add(id);
    if (seen.size <= REMEMBERED) return;
    for (const oldest of seen) {
      seen.delete(oldest);
      if (seen.size <= REMEMBERED / 2) return;
    }
  }

  function post(entry: JournalEntry): JournalEntry[] {
    if (seen.has(entry.id)) return [];
    const kept = { ...entry, postings: entry.postings.filter(({ amount }) => amount !== 0n) };
    requireBalanced(kept);
    for (const posting of kept.postings) {
      const key = keyOf(posting);
      const sum = sums.get(key);
      if (sum === undefined) sums.set(key, { ...posting });
      else sum.amount += posting.amount;
    }
    remember(kept.id);
    return [kept];
  }

  function reverse(entry: JournalEntry, atMs: number): JournalEntry[] {
    open.delete(entry.id);
    return post({
      ...entry,
      id: `reversal:${entry.id}`,
      kind: 'reversal',
      atMs,
      postings: entry.postings.map((posting) => ({ ...posting, amount: -posting.amount })),
    });
  }

  const balance = (account: string, chainId: number, token: string): bigint =>
    sums.get(`${account}|${chainId}|${token}`)?.amount ?? 0n;
  const lost = ({ orderId, earns }: Exchange, place: FactPlace, id: string): JournalEntry[] =>
    post({
      ...at(place),
      id,
      kind: 'loss',
      orderId,
      postings: [on(RECEIVABLE, earns, -earns.amount), on('expense:lost', earns, earns.amount)],
    });

  return {
    balance,
    balances: () => [...sums.values()].map((each) => ({ ...each })),
    /** The expected balance at the last block read. */
    inventory: ({ chainId, token }: Pick<Money, 'chainId' | 'token'>) => balance(INVENTORY, chainId, token),
    gas: (chainId: number, operator: Address) => balance(gasOf(operator), chainId, 'native'),
    /**
     * Returns the gas that a program without `GasCursor` booked for all operators of a chain together, in
     * wei.
     */
    gasOfAll: (chainId: number) => balance(GAS_OF_ALL, chainId, 'native'),
    opening(money: Money | NativeMoney, block: bigint, atMs: number) {
      const { chainId, token, amount } = money;
      return post({
        ...at({ chainId, block, atMs }),
        id: 'operator' in money ? idOf.openingGas(chainId, money.operator) : idOf.opening(chainId, token),
        kind: 'opening',
        orderId: null,
        postings: [
          { account: assetOf(money), chainId, token, amount },
          { account: OWNER, chainId, token, amount: -amount },
        ],
      });
    },
    /** Moves `gasOfAll` to the operator that it belongs to. */
    gasAssigned(chainId: number, operator: Address, block: bigint, atMs: number) {
      const amount = balance(GAS_OF_ALL, chainId, 'native');
      const native = { chainId, token: 'native' as const };
      return post({
        ...at({ chainId, block, atMs }),
        id: `transfer:gas:${chainId}:${operator}:${atMs}`,
        kind: 'transfer',
        orderId: null,
        postings: [
          { account: gasOf(operator), ...native, amount },
          { account: GAS_OF_ALL, ...native, amount: -amount },
        ],
      });
    },
    /** A program without `GasCursor` took this gas out of the balance of `operator`, which gets it back. */
    gasReturned(wei: bigint, place: FactPlace, share: number, operator: Address) {
      const native = { chainId: place.chainId, token: 'native' as const };
      return post({
        ...at(place),
        id: `transfer:${idOf.gas(place.chainId, place, share)}`,
        kind: 'transfer',
        orderId: null,
        postings: [
          { account: gasOf(operator), ...native, amount: wei },
          { account: OWNER, ...native, amount: -wei },
        ],
      });
    },
    owed: ({ orderId, earns }: Exchange, block: bigint, atMs: number) =>
      post({
        ...at({ chainId: earns.chainId, block, atMs }),
        id: idOf.owed(orderId),
        kind: 'opening',
        orderId,
        postings: [on(RECEIVABLE, earns, earns.amount), on(OWNER, earns, -earns.amount)],
      }),
    filled(exchange: Exchange, place: FactPlace) {
      const { orderId, pays } = exchange;
      if (seen.has(idOf.sent(orderId, place))) return [];
      const posted = post({
        ...at(place),
        id: idOf.fill(orderId, place),
        kind: 'fill',
        orderId,
        postings: [on(OUTBOUND, pays, -pays.amount), ...exchanged(exchange)],
      });
      for (const entry of posted) open.set(entry.id, entry);
      return posted;
    },
    unfilled(orderId: Bytes32, was: Mined, atMs: number) {
      const entry = open.get(idOf.fill(orderId, was));
      return entry === undefined ? [] : reverse(entry, atMs);
    },
    /** Books a final fill, whether or not it was seen before. */
    sent(exchange: Exchange, place: FactPlace) {
      const { orderId, pays } = exchange;
      const pending = open.get(idOf.fill(orderId, place));
      const rest = pending === undefined ? exchanged(exchange) : [on(OUTBOUND, pays, pays.amount)];
      const posted = post({
        ...at(place),
        id: idOf.sent(orderId, place),
        kind: 'sent',
        orderId,
        postings: [on(INVENTORY, pays, -pays.amount), ...rest],
      });
      if (pending !== undefined && posted.length > 0) open.delete(pending.id);
      return posted;
    },
    credited: ({ orderId, earns }: Exchange, place: FactPlace) =>
      post({
        ...at(place),
        id: idOf.credit(orderId, place),
        kind: 'credit',
        orderId,
        postings: [on(INVENTORY, earns, earns.amount), on(RECEIVABLE, earns, -earns.amount)],
      }),
    /** `filled`: the LP had filled the order, so its output is lost. */
    refunded(exchange: Exchange, place: FactPlace, filled: boolean) {
      const id = idOf.refund(exchange.orderId, place);
      // The LP moved nothing, and the fact is still recorded.
      return filled
        ? lost(exchange, place, id)
        : post({ ...at(place), id, kind: 'refund', orderId: exchange.orderId, postings: [] });
    },
    /** The order was refunded before its fill became known. */
    lost: (exchange: Exchange, place: FactPlace) => lost(exchange, place, `loss:${exchange.orderId}`),
    /** A positive amount is a deposit. */
    owner: (money: Money, place: FactPlace, logIndex: number) =>
      post({
        ...at(place),
        id: idOf.owner(place, logIndex),
        kind: 'owner',
        orderId: null,
        postings: [on(INVENTORY, money, money.amount), on(OWNER, money, -money.amount)],
      }),
    /** A transfer took `money` (positive) out of the escrow. */
    departed: (transferId: string, money: Money, place: FactPlace) =>
      post({
        ...at(place),
        id: idOf.departed(transferId),
        kind: 'departed',
        orderId: null,
        postings: [on(INVENTORY, money, -money.amount), on(IN_TRANSIT, money, money.amount)],
      }),
    arrived({ transferId, asset, left, got, expected }: Arrival, place: FactPlace) {
      const through = `transfer:${asset}`;
      return post({
        ...at(place),
        id: idOf.arrived(transferId),
        kind: 'arrived',
        orderId: null,
        postings: [
          on(IN_TRANSIT, left, -left.amount),
          on(through, left, left.amount),
          on(through, got, -expected),
          on(BRIDGE_FEE, got, expected - got.amount),
          on(INVENTORY, got, got.amount),
        ],
      });
    },
    /** Books that the bridge refused: the money that left is back in the escrow of its own chain. */
    returned: (transferId: string, left: Money, got: bigint, place: FactPlace) =>
      post({
        ...at(place),
        id: idOf.returned(transferId),
        kind: 'returned',
        orderId: null,
        postings: [
          on(IN_TRANSIT, left, -left.amount),
          on(BRIDGE_FEE, left, left.amount - got),
          on(INVENTORY, left, got),
        ],
      }),
    adjusted(money: Money | NativeMoney, block: bigint, atMs: number) {
      const { chainId, token, amount } = money;
      return post({
        ...at({ chainId, block, atMs }),
        id: `adjustment:${chainId}:${token}:${atMs}`,
        kind: 'adjustment',
        orderId: null,
        postings: [
          { account: assetOf(money), chainId, token, amount },
          { account: 'equity:adjustment', chainId, token, amount: -amount },
        ],
      });
    },
    spent({ wei, place, share, orderId, transferId, operator, before }: Gas) {
      const native = { chainId: place.chainId, token: 'native' as const };
      return post({
        ...at(place),
        id: idOf.gas(place.chainId, place, share),
        kind: 'gas',
        orderId,
        postings: [
          {
            account: transferId === undefined ? 'expense:gas' : 'expense:transfer-gas',
            ...native,
            amount: wei,
          },
          { account: before ? OWNER : gasOf(operator), ...native, amount: -wei },
        ],
      });
    },
    /**
     * Everything up to this block is final: a fill seen below it that did not become final was reorganised
     * away.
     */
    passed: (chainId: number, block: bigint, atMs: number) =>
      [...open.values()].flatMap((entry) =>
        entry.chainId === chainId && (entry.block ?? 0n) <= block ? reverse(entry, atMs) : [],
      ),
  };
}

const assetOf = (money: Money | NativeMoney): string =>
  'operator' in money ? gasOf(money.operator) : INVENTORY;

const keyOf = ({ account, chainId, token }: Omit<Posting, 'amount'>): string =>
  `${account}|${chainId}|${token}`;

function requireBalanced({ id, postings }: JournalEntry): void {
  const sums = new Map<string, bigint>();
  for (const { chainId, token, amount } of postings)
    sums.set(`${chainId}:${token}`, (sums.get(`${chainId}:${token}`) ?? 0n) + amount);
  for (const [token, sum] of sums)
    if (sum !== 0n) throw new InvariantError('An entry does not balance.', { facts: { id, token, sum } });
}
