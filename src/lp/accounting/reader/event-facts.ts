/** Reads the escrow's events as facts of the books: fills, claims, refunds, and money that moved. */

import { addressToBytes32, type Bytes32 } from '../../../domain/hex.ts';
import type { StandardOrder } from '../../../domain/order.ts';
import type { Money } from '../../../inventory/event.ts';
import type { EscrowEvent } from '../../../ports/chain.ts';
import { type FactPlace, idOf } from '../ledger/facts.ts';
import { ownExchange } from './exchanges.ts';
import type { BooksProgress, ReaderState, ReadFact } from './reading.ts';

/** Events of one chain, oldest first. Rejects when a store does not answer. */
export async function readEvents(
  state: ReaderState,
  chainId: number,
  events: readonly EscrowEvent[],
  opened: BooksProgress['opened'],
): Promise<ReadFact[]> {
  const orders = new Map(
    events.flatMap((event) => (event.kind === 'open' ? [[event.orderId, event.order] as const] : [])),
  );
  const facts: ReadFact[] = [];
  for (const event of events) {
    const place: FactPlace = {
      chainId,
      block: event.blockNumber,
      blockHash: event.blockHash,
      txHash: event.txHash,
      atMs: state.deps.clock.nowMs(),
    };
    const fact = await readEvent(state, event, place, orders, opened);
    if (fact !== undefined) facts.push(fact);
  }
  return facts;
}

async function readEvent(
  state: ReaderState,
  event: EscrowEvent,
  place: FactPlace,
  orders: ReadonlyMap<Bytes32, StandardOrder>,
  opened: BooksProgress['opened'],
): Promise<ReadFact | undefined> {
  switch (event.kind) {
    case 'filled':
      return readFill(state, event, place, orders);
    case 'finalised':
    case 'refunded': {
      const found = await ownExchange(state, event.orderId, orders);
      if (found === undefined) return undefined;
      return event.kind === 'finalised'
        ? { id: idOf.credit(event.orderId, place), kind: 'credited', ...found, place }
        : { id: idOf.refund(event.orderId, place), kind: 'refunded', ...found, place };
    }
    case 'ledger': {
      const { account, token, amount, logIndex } = event;
      // An event before the token's opening entry is already in the opening balance.
      if (
        account !== state.options.account ||
        amount === 0n ||
        !opened.has(idOf.opening(place.chainId, token))
      )
        return undefined;
      const money = { chainId: place.chainId, token, amount };
      return (
        (await transferFact(state, money, place, logIndex)) ?? {
          ...{ id: idOf.owner(place, logIndex), kind: 'owner' },
          ...{ money, place, logIndex },
        }
      );
    }
    default:
      return undefined;
  }
}

async function readFill(
  state: ReaderState,
  { solver, orderId, txHash }: Extract<EscrowEvent, { kind: 'filled' }>,
  place: FactPlace,
  orders: ReadonlyMap<Bytes32, StandardOrder>,
): Promise<ReadFact | undefined> {
  if (solver !== addressToBytes32(state.options.account)) return undefined;
  const found = await ownExchange(state, orderId, orders);
  if (found !== undefined) return { id: idOf.sent(orderId, place), kind: 'sent', ...found, place };
  state.deps.log.error(
    { orderId, txHash },
    'the account filled an order without a quote of this LP: the books omit it and will differ from the chain',
  );
  return undefined;
}

/** Returns the transfer's fact; undefined when the owner moved the money. */
async function transferFact(
  { steps, operators }: ReaderState,
  money: Money,
  place: FactPlace,
  logIndex: number,
): Promise<ReadFact | undefined> {
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
