/**
 * Finds fills of the account that the database does not know: other processes traded it on another database,
 * or this database was restored. The orders are stored as awards, so that ledger and books take them in.
 */

import type { Chain } from '../../domain/chain.ts';
import { type Address, addressToBytes32, type Bytes32, ZERO_BYTES32 } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import { min } from '../../domain/amount.ts';
import type { ChainPort, EscrowEvent } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { ChainCursor, LpAward, LpStore } from '../../ports/stores/lp-store.ts';
import { ownSlice } from '../routes/order.ts';

interface LearnDeps {
  ports: ReadonlyMap<number, ChainPort>;
  store: Pick<LpStore, 'award' | 'putAward'>;
  log: Log;
}

type Fill = Extract<EscrowEvent, { kind: 'filled' }> & { chainId: number };

/** An order opens before it is filled on another chain; their clocks may differ. */
const OPENED_BEFORE_SECONDS = 86_400;

/**
 * Reads the blocks that the books have not read, and stores what it learns. Same-chain orders need nothing:
 * their transaction holds the whole order. Answers how many orders it learned. Throws `UpstreamError` when a
 * chain or the database does not answer.
 */
export async function learnFills(
  { ports, store, log }: LearnDeps,
  { read, account, maxBlocks }: { read: readonly ChainCursor[]; account: Address; maxBlocks: number },
): Promise<number> {
  const solver = addressToBytes32(account);
  const opened = new Map<Bytes32, StandardOrder>();
  const fills: Fill[] = [];
  for (const { chainId, block } of read) {
    const port = ports.get(chainId);
    const head = port?.head()?.number ?? 0n;
    for (let from = block + 1n; port !== undefined && from <= head; from += BigInt(maxBlocks)) {
      for (const event of await port.events(from, min(head, from + BigInt(maxBlocks) - 1n))) {
        if (event.kind === 'open') opened.set(event.orderId, event.order);
        if (event.kind === 'filled' && event.solver === solver) fills.push({ ...event, chainId });
      }
    }
  }
  let learned = 0;
  for (const fill of fills) {
    if (Number(opened.get(fill.orderId)?.originChainId) === fill.chainId) continue;
    if ((await store.award(fill.orderId)) !== undefined) continue;
    const order = opened.get(fill.orderId) ?? (await findOrder(ports, fill));
    const award = order && awardOf(fill, order, account, ports);
    if (award === undefined) {
      log.error(
        { orderId: fill.orderId, txHash: fill.txHash },
        'the account filled an order that no configured chain shows: books and chain will differ by it',
      );
      continue;
    }
    await store.putAward(award);
    learned += 1;
  }
  if (learned > 0)
    log.warn(
      { orders: learned },
      'the account was traded by processes on another database: their fills were read from the chains',
    );
  return learned;
}

async function findOrder(
  ports: ReadonlyMap<number, ChainPort>,
  { orderId, chainId, timestamp }: Fill,
): Promise<StandardOrder | undefined> {
  for (const port of ports.values()) {
    if (port.chain.id === chainId) continue;
    const events = await port.orderEvents(orderId, timestamp - OPENED_BEFORE_SECONDS);
    for (const event of events) if (event.kind === 'open') return event.order;
  }
  return undefined;
}

function awardOf(
  { orderId, timestamp, txHash, blockNumber }: Fill,
  order: StandardOrder,
  account: Address,
  ports: ReadonlyMap<number, { chain: Chain }>,
): LpAward | undefined {
  const chains = new Map([...ports].map(([chainId, { chain }]) => [chainId, chain]));
  const slice = ownSlice(order, account, chains);
  const atMs = timestamp * 1_000;
  return (
    slice && {
      ...{ orderId, quoteId: ZERO_BYTES32, order, outputIndex: slice.index, commitment: null },
      ...{ stage: 'filled', fill: { timestamp, txHash, blockNumber }, note: 'learned from the chain' },
      ...{ acceptedAtMs: atMs, updatedAtMs: atMs },
    }
  );
}
