/** Reads the chains for the books: final blocks as facts, gas by receipts, and opening balances. */

import { LRUCache } from 'lru-cache';
import { assetId } from '../../../domain/asset.ts';
import { max, min } from '../../../domain/amount.ts';
import { tokenOf, type TokenInfo } from '../../../domain/chain.ts';
import { type Address, addressToBytes32, type Bytes32 } from '../../../domain/hex.ts';
import type { StandardOrder } from '../../../domain/order.ts';
import type { Money } from '../../../inventory/event.ts';
import type { ChainPort, EscrowEvent, Receipt } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { GasCursor, JournalCursor } from '../../../ports/stores/accounting-store.ts';
import type { Log } from '../../../ports/log.ts';
import type { ChainCursor, LpStore } from '../../../ports/stores/lp-store.ts';
import type { StoredTransfer } from '../../../ports/stores/transfers.ts';
import type { TxSlot, TxStore } from '../../../ports/stores/tx-store.ts';
import type { Rational } from '../../../pricing/rational.ts';
import {
  type AccountingLedger,
  type Exchange,
  type Gas,
  idOf,
  type FactPlace,
  type NativeMoney,
} from '../ledger.ts';
import { ordersOfKey } from '../../settlement/step-key.ts';
import { ownSlice, type OwnSlice } from '../../routes/order.ts';
import type { Routes } from '../../routes/route.ts';
import { createTransferSteps, type TransferSources } from '../transfers/recognise.ts';

export interface ReaderDeps {
  awards: Pick<LpStore, 'award'>;
  chains: ReadonlyMap<number, ChainPort>;
  /** The last final block that the inventory ledger has processed. */
  final(chainId: number): ChainCursor | undefined;
  usd(asset: string): Rational | undefined;
  native(chainId: number): Rational | undefined;
  nativeSymbol(chainId: number): string;
  routes(): Routes;
  /** The operators' transactions; without them the books have no gas costs. */
  transactions: Pick<TxStore, 'slotsFrom' | 'signers' | 'keyOf'> | undefined;
  transfers: TransferSources['transfers'];
  clock: Clock;
  log: Log;
}

export interface ReaderOptions {
  account: Address;
  operator: Address;
  tokens: readonly { chainId: number; token: Address }[];
  maxBlocks: number;
}

export interface Reading {
  cursor: JournalCursor;
  gas: GasCursor[];
  facts: ({ id: string } & (
    | {
        kind: 'sent' | 'credited' | 'refunded';
        exchange: Exchange;
        place: FactPlace;
        order: StandardOrder | undefined;
      }
    | { kind: 'departed'; transfer: StoredTransfer; money: Money; place: FactPlace }
    | {
        kind: 'arrived' | 'returned';
        transfer: StoredTransfer;
        /** The money that left the source, and the block in which it did. */
        left: Money & { block: bigint };
        money: Money;
        place: FactPlace;
        logIndex: number;
      }
    | { kind: 'owner'; money: Money; place: FactPlace; logIndex: number }
    | (Gas & {
        kind: 'gas';
        transfer?: StoredTransfer;
        /** The operator from whose balance a program without `GasCursor` took the gas of every operator. */
        payer: Address;
      })
  ))[];
}

/** Opening balances of a chain or newly configured token at one final block. */
export interface OpeningBalances {
  cursor: JournalCursor;
  balances: Money[];
  /** The native balances of operators that the books do not have yet. */
  native: NativeMoney[];
  /**
   * The account that takes over what a program without `GasCursor` booked for all operators together;
   * undefined when it booked nothing.
   */
  legacyGasOperator: Address | undefined;
  fresh: boolean;
}

interface Known {
  cursors: ReadonlyMap<number, JournalCursor>;
  gas: ReadonlyMap<string, GasCursor>;
  /** The block at which the books of a chain were opened. */
  began: ReadonlyMap<number, bigint>;
  opened: ReadonlySet<string>;
  journal: Pick<AccountingLedger, 'gasOfAll'>;
}

export const gasKey = ({ chainId, operator }: Pick<GasCursor, 'chainId' | 'operator'>): string =>
  `${chainId}:${operator}`;

export type ChainReader = ReturnType<typeof createChainReader>;

const RECEIPTS_AT_ONCE = 50;
const EVENTS_AT_ONCE = 300;
const MOST_EXCHANGES = 5_000;

/**
 * Returns the wei that the call took with it, such as the fee of a bridge: a cost of the network like gas.
 */
const valuePaid = ({ value, attempts }: TxSlot, { txHash, status }: Receipt): bigint =>
  status === 'success' && !attempts.find(({ hash }) => hash === txHash)?.noop ? value : 0n;

export function createChainReader(deps: ReaderDeps, { account, operator, tokens, maxBlocks }: ReaderOptions) {
  const { chains, clock, log } = deps;
  const described = new Map([...chains].map(([chainId, { chain }]) => [chainId, chain]));
  const me = addressToBytes32(account);
  const exchanges = new LRUCache<Bytes32, { exchange: Exchange; order: StandardOrder }>({
    max: MOST_EXCHANGES,
  });

  const steps = createTransferSteps(deps);
  const trusted = new Set<number>();
  /** The operators of each chain in the order of their first use, the running operator included. */
  const operators = new Map<number, readonly Address[]>();

  async function operatorsOf(chainId: number): Promise<readonly Address[]> {
    const known = operators.get(chainId);
    if (known !== undefined || deps.transactions === undefined) return known ?? [];
    const found = [...new Set([...(await deps.transactions.signers(chainId)), operator])];
    operators.set(chainId, found);
    return found;
  }

  const infoOf = ({ chainId, token }: Pick<Money, 'chainId' | 'token'>): TokenInfo | undefined => {
    const chain = described.get(chainId);
    return chain && tokenOf(chain, token);
  };

  function exchangeOf(orderId: Bytes32, slice: OwnSlice, order: StandardOrder): Exchange {
    const { pays, earns, portion, context } = slice;
    const [paid, got] = [infoOf(pays), infoOf(earns)];
    const route = deps.routes().find(assetId(earns), assetId(pays));
    const exchange: Exchange = {
      orderId,
      pair: route?.pairName ?? `${got?.symbol ?? '?'}-${paid?.symbol ?? '?'}`,
      pays,
      earns,
      portion,
      platformFee: (portion * BigInt(context.feeBps)) / 10_000n,
      relayFee: context.relayFee,
    };
    exchanges.set(orderId, { exchange, order });
    return exchange;
  }

  async function ours(
    orderId: Bytes32,
    orders: ReadonlyMap<Bytes32, StandardOrder>,
  ): Promise<{ exchange: Exchange; order: StandardOrder } | undefined> {
    const known = exchanges.get(orderId);
    if (known !== undefined) return known;
    const order = orders.get(orderId) ?? (await deps.awards.award(orderId))?.order;
    const slice = order && ownSlice(order, account, described);
    return order && slice && { exchange: exchangeOf(orderId, slice, order), order };
  }

  async function next(
    { cursors, opened, gas, began }: Known,
    chainId: number,
    patient: boolean,
  ): Promise<Reading | undefined> {
    const port = chains.get(chainId);
    const cursor = cursors.get(chainId);
    const final = deps.final(chainId);
    if (port === undefined || cursor === undefined || final === undefined || final.block <= cursor.block)
      return undefined;
    if (!trusted.has(chainId)) {
      const there = await port.block(cursor.block);
      if (there !== undefined && there.hash !== cursor.hash)
        log.error(
          { chain: port.chain.slug, block: cursor.block },
          'the last block in the books no longer exists: the chain was reorganised beyond its depth, and books and chain will differ by the undone transactions (docs/lp/reconcile.md)',
        );
      trusted.add(chainId);
    }
    const read = min(final.block, cursor.block + BigInt(maxBlocks));
    const all = await port.events(cursor.block + 1n, read);
    // Whole blocks, a few hundred events at a time, so that folding does not delay quotes.
    const beyond = all[EVENTS_AT_ONCE]?.blockNumber;
    const to = beyond === undefined ? read : max(beyond - 1n, cursor.block + 1n);
    const events = all.filter(({ blockNumber }) => blockNumber <= to);
    const bottom = to === final.block ? { number: final.block, hash: final.hash } : await port.block(to);
    if (bottom === undefined) return undefined;
    const reading: Reading = {
      cursor: { chainId, block: to, hash: bottom.hash, nonce: cursor.nonce },
      gas: [],
      facts: [],
    };
    const orders = new Map(
      events.flatMap((event) => (event.kind === 'open' ? [[event.orderId, event.order] as const] : [])),
    );
    for (const event of events) {
      const place: FactPlace = {
        chainId,
        block: event.blockNumber,
        blockHash: event.blockHash,
        txHash: event.txHash,
        atMs: clock.nowMs(),
      };
      await readEvent(event, place, orders, opened, reading.facts);
    }
    // Gas that is booked without a price would be missing from the profit for ever.
    if (patient && deps.native(chainId) === undefined) return reading;
    for (const each of await operatorsOf(chainId)) {
      const from = gas.get(gasKey({ chainId, operator: each }));
      if (from !== undefined) await readGas(port, from, began.get(chainId) ?? 0n, reading);
    }
    return reading;
  }

  async function readEvent(
    event: EscrowEvent,
    place: FactPlace,
    orders: ReadonlyMap<Bytes32, StandardOrder>,
    opened: ReadonlySet<string>,
    facts: Reading['facts'],
  ): Promise<void> {
    switch (event.kind) {
      case 'filled': {
        if (event.solver !== me) return;
        const found = await ours(event.orderId, orders);
        if (found === undefined)
          return log.error(
            { orderId: event.orderId, txHash: event.txHash },
            'the account filled an order without a quote of this LP: the books omit it and will differ from the chain',
          );
        return void facts.push({ id: idOf.sent(event.orderId, place), kind: 'sent', ...found, place });
      }
      case 'finalised':
      case 'refunded': {
        const found = await ours(event.orderId, orders);
        if (found === undefined) return;
        const id = (event.kind === 'finalised' ? idOf.credit : idOf.refund)(event.orderId, place);
        return void facts.push({
          id,
          kind: event.kind === 'finalised' ? 'credited' : 'refunded',
          ...found,
          place,
        });
      }
      case 'ledger': {
        const { token, amount } = event;
        // An event before the token's opening entry is already in the opening balance.
        if (event.account !== account || amount === 0n || !opened.has(idOf.opening(place.chainId, token)))
          return;
        const money = { chainId: place.chainId, token, amount };
        const transferred = await transferFact(money, place, event.logIndex);
        return void facts.push(
          transferred ?? {
            ...{ id: idOf.owner(place, event.logIndex), kind: 'owner' },
            ...{ money, place, logIndex: event.logIndex },
          },
        );
      }
      default:
    }
  }

  /** Returns the transfer's fact; undefined when the owner moved the money. */
  async function transferFact(
    money: Money,
    place: FactPlace,
    logIndex: number,
  ): Promise<Reading['facts'][number] | undefined> {
    const found = await steps.ofTransaction(place.chainId, place.txHash);
    if (found === undefined) return undefined;
    const { transfer, step, signer } = found;
    // The mover's first transaction: its gas account is opened at the next pass.
    if (operators.get(place.chainId)?.includes(signer) === false) operators.delete(place.chainId);
    const { id, facts } = transfer;
    if (step === 'withdraw' && money.amount < 0n)
      return {
        ...{ id: idOf.departed(id), kind: 'departed', transfer, place },
        money: { ...money, amount: -money.amount },
      };
    const left = facts.find((fact) => fact.kind === 'withdrawn');
    const arrives = step === 'deposit';
    if (!(arrives || step === 'give_back') || money.amount < 0n || left === undefined) return undefined;
    return {
      ...(arrives ? { id: idOf.arrived(id), kind: 'arrived' } : { id: idOf.returned(id), kind: 'returned' }),
      ...{ transfer, money, place, logIndex },
      left: { ...transfer.move.from, amount: left.amount, block: left.blockNumber },
    };
  }

  /** Nonces are mined in order, so all transactions below the first unfinal one are booked once. */
  async function readGas(
    port: ChainPort,
    from: GasCursor,
    began: bigint,
    { cursor, facts, gas }: Reading,
  ): Promise<void> {
    const { chainId } = cursor;
    const block = began + 1n;
    const slots =
      (await deps.transactions?.slotsFrom(
        chainId,
        from.operator,
        { nonce: from.nonce, block },
        RECEIPTS_AT_ONCE,
      )) ?? [];
    let { nonce } = from;
    for (const slot of slots) {
      const receipt = await receiptOf(port, slot);
      if (receipt === 'none') {
        nonce = slot.nonce + 1;
        continue;
      }
      if (receipt === undefined || receipt.blockNumber > cursor.block) break;
      nonce = slot.nonce + 1;
      if (receipt.blockNumber < block) continue;
      const place: FactPlace = {
        chainId,
        block: receipt.blockNumber,
        blockHash: receipt.blockHash,
        txHash: receipt.txHash,
        atMs: clock.nowMs(),
      };
      const wei = receipt.gasUsed * receipt.effectiveGasPrice + receipt.rollupFee + valuePaid(slot, receipt);
      const transfer = (await steps.ofKey(slot.key))?.transfer;
      const orderIds = ordersOfKey(slot.key);
      const bearers = orderIds.length === 0 ? [null] : orderIds;
      const each = wei / BigInt(bearers.length);
      for (const [share, orderId] of bearers.entries())
        facts.push({
          id: idOf.gas(chainId, place, share),
          kind: 'gas',
          // The first one bears what the division leaves.
          wei: share === 0 ? wei - each * BigInt(bearers.length - 1) : each,
          place,
          share,
          orderId,
          ...(transfer && { transfer, transferId: transfer.id }),
          operator: from.operator,
          before: receipt.blockNumber <= from.block,
          payer: operators.get(chainId)?.[0] ?? operator,
        });
    }
    if (from.operator === operator) cursor.nonce = nonce;
    if (nonce !== from.nonce) gas.push({ ...from, nonce });
  }

  /**
   * Returns the receipt; undefined when the transaction is not mined yet, 'none' when the slot ended without
   * one.
   */
  async function receiptOf(
    port: ChainPort,
    { state, mined, signer, attempts }: TxSlot,
  ): Promise<Receipt | 'none' | undefined> {
    if (mined !== null) return port.receipt(mined.txHash);
    if (state !== 'open') return 'none';
    // Nobody follows the transactions of a key that was rotated out.
    if (signer !== operator)
      for (const { hash } of attempts) {
        const receipt = await port.receipt(hash);
        if (receipt !== undefined) return receipt;
      }
    return undefined;
  }

  /** `patient`: wait rather than open the books without prices. */
  async function opening(
    { cursors, opened, gas, journal }: Known,
    chainId: number,
    patient: boolean,
  ): Promise<OpeningBalances | undefined> {
    const port = chains.get(chainId);
    const missing = tokens.filter(
      (each) => each.chainId === chainId && !opened.has(idOf.opening(chainId, each.token)),
    );
    const all = await operatorsOf(chainId);
    const unknown = all.filter((each) => !gas.has(gasKey({ chainId, operator: each })));
    const ofAll = journal.gasOfAll(chainId) !== 0n;
    const known = cursors.get(chainId);
    const final = deps.final(chainId);
    if (
      port === undefined ||
      final === undefined ||
      (known !== undefined &&
        ((missing.length === 0 && unknown.length === 0 && !ofAll) || known.block !== final.block))
    )
      return undefined;
    const unpriced = missing.filter((each) => deps.usd(infoOf(each)?.symbol ?? '') === undefined);
    if (unpriced.length > 0 && patient) return undefined;
    const balances = await Promise.all(
      missing.map(async ({ token }): Promise<Money> => ({
        chainId,
        token,
        amount: await port.ledgerBalance(account, token, final.block),
      })),
    );
    // A program without `GasCursor` books gas for all operators together. While the chain has no
    // `GasCursor`, that sum belongs to the first operator. Later it comes from such a program that runs
    // beside this one during an upgrade, with our operator.
    const legacyGasOperator = ofAll ? (unknown.length === all.length ? all[0] : operator) : undefined;
    const native = await Promise.all(
      unknown
        .filter((each) => each !== legacyGasOperator)
        .map(async (each): Promise<NativeMoney> => ({
          chainId,
          token: 'native',
          operator: each,
          amount: await port.nativeBalance(each, final.block),
        })),
    );
    return {
      cursor: known ?? { chainId, block: final.block, hash: final.hash, nonce: 0 },
      balances,
      native,
      legacyGasOperator,
      fresh: known === undefined,
    };
  }

  return { next, opening, exchangeOf, infoOf, described };
}
