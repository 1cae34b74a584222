/**
 * Builds the inventory ledger at start: from the snapshot after a clean stop, else from final balances with
 * the stored awards replayed; then the lease waits out quotes of the earlier process.
 */

import { InvariantError, UpstreamError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import { addressToBytes32 } from '../../domain/hex.ts';
import { outputHash } from '../../domain/order.ts';
import type { LedgerEvent } from '../../inventory/event.ts';
import { createLedger, type Ledger, type LedgerOptions } from '../../inventory/ledger.ts';
import { chunksOf } from '../../inventory/snapshot.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';
import type { ChainCursor, LpAward, LpStore, Opening } from '../../ports/stores/lp-store.ts';
import { holdOf, ownSlice } from '../routes/order.ts';
import { yieldToEventLoop } from '../yield-to-event-loop.ts';

export interface Restored {
  ledger: Ledger;
  cursors: ReadonlyMap<number, ChainCursor>;
  /** The ledger is that of the last clean stop, so no quarantine is needed. */
  clean: boolean;
  awards: LpAward[];
  requests: { id: string; chainId: number; token: Address; amount: bigint }[];
}

export async function restore(
  {
    ports,
    store,
    log,
    nowMs,
  }: {
    ports: ReadonlyMap<number, ChainPort>;
    store: Pick<LpStore, 'putAward' | 'awardsBut'>;
    log: Log;
    nowMs: number;
  },
  {
    opening,
    options,
    account,
    learned,
  }: { opening: Opening; options: LedgerOptions; account: Address; learned: boolean },
): Promise<Restored> {
  const { clean } = opening;
  if (clean !== null && !learned && (await canonical(clean.cursors, ports))) {
    const { promises, ...books } = clean.ledger;
    const ledger = createLedger(options);
    ledger.loadBooks(books);
    for (const chunk of chunksOf(promises)) {
      ledger.loadHolds(chunk);
      await yieldToEventLoop();
    }
    const cursors = new Map(clean.cursors.map((cursor) => [cursor.chainId, cursor]));
    // Tokens added to the configuration start from the chain's balance.
    const known = new Set(books.buckets.map(({ chainId, token }) => `${chainId}:${token}`));
    for (const { chainId, token } of options.buckets) {
      const at =
        cursors.get(chainId) ?? cursors.set(chainId, await finalCursor(portOf(ports, chainId))).get(chainId);
      if (at !== undefined && !known.has(`${chainId}:${token}`))
        ledger.apply(await startingBalance(portOf(ports, chainId), account, token, at, 0n));
    }
    const requests = books.withdrawals.flatMap(({ id, chainId, token, requested, ended }) =>
      requested === null || ended !== null
        ? []
        : [{ id, chainId, token: token as Address, amount: BigInt(requested) }],
    );
    return { ledger, cursors, clean: true, awards: [...opening.awards], requests };
  }
  if (clean !== null)
    log.warn(
      {},
      learned
        ? 'the account was traded since the clean stop: starting as after a crash'
        : 'a block of the clean stop no longer exists on its chain: starting as after a crash',
    );
  return rebuild({ ports, store, log, nowMs }, opening.awards, options, account);
}

async function rebuild(
  { ports, store, log, nowMs }: Parameters<typeof restore>[0],
  stored: readonly LpAward[],
  options: LedgerOptions,
  account: Address,
): Promise<Restored> {
  const cursors = new Map(
    await Promise.all([...ports].map(async ([chainId, port]) => [chainId, await finalCursor(port)] as const)),
  );
  const ledger = createLedger(options);
  const chains = new Map([...ports].map(([chainId, port]) => [chainId, port.chain]));
  const left = new Map<string, bigint>();
  const replays: LedgerEvent[] = [];
  const awards: LpAward[] = [];
  // Another replica may have filled an order since the awards were read, in a final block.
  const since = await store.awardsBut(stored.map(({ orderId }) => orderId));
  for (const award of [...stored, ...since]) {
    const slice = ownSlice(award.order, account, chains);
    const [origin, dest] = [slice && ports.get(slice.originChainId), slice && ports.get(slice.destChainId)];
    const [originAt, destAt] = [
      slice && cursors.get(slice.originChainId),
      slice && cursors.get(slice.destChainId),
    ];
    if (
      slice === undefined ||
      origin === undefined ||
      dest === undefined ||
      originAt === undefined ||
      destAt === undefined
    )
      continue;
    const status = await origin.orderStatus(award.orderId, originAt.block);
    if (status === 'claimed' || status === 'refunded') {
      // The order ended before the start block, so the balances include it.
      await store.putAward({
        ...award,
        stage: status === 'claimed' ? 'finalised' : 'failed',
        note: status,
        updatedAtMs: nowMs,
      });
      continue;
    }
    replays.push({
      type: 'restored',
      request: holdOf(slice, award.order, award.orderId, { pair: 'restored', side: 'buy', notional: 0n }),
    });
    const crossed =
      slice.originChainId !== slice.destChainId &&
      (await dest.fillRecord(award.orderId, outputHash(slice.output), destAt.block)) !== undefined;
    if (!crossed) {
      awards.push({ ...award, stage: 'committed', fill: null });
      continue;
    }
    // The output left before the start block: add it back so that the fill deducts it.
    const fill = await findFill(dest, award, account);
    const place = `${slice.pays.chainId}:${slice.pays.token}`;
    left.set(place, (left.get(place) ?? 0n) + slice.pays.amount);
    const id = `${fill.blockHash}:${fill.txHash}`;
    replays.push(
      { type: 'filled', orderId: award.orderId, id },
      { type: 'fill_final', orderId: award.orderId, id },
    );
    awards.push({
      ...award,
      stage: 'filled',
      fill: { timestamp: fill.timestamp, txHash: fill.txHash, blockNumber: fill.blockNumber },
    });
  }
  for (const { chainId, token } of options.buckets) {
    const at = cursors.get(chainId);
    if (at !== undefined)
      ledger.apply(
        await startingBalance(
          portOf(ports, chainId),
          account,
          token,
          at,
          left.get(`${chainId}:${token}`) ?? 0n,
        ),
      );
  }
  for (const event of replays) ledger.apply(event);
  log.info({ awards: awards.length }, 'ledger rebuilt from the chains');
  return { ledger, cursors, clean: false, awards, requests: [] };
}

async function startingBalance(
  port: ChainPort,
  account: Address,
  token: Address,
  at: ChainCursor,
  left: bigint,
): Promise<LedgerEvent> {
  const amount = (await port.ledgerBalance(account, token, at.block)) + left;
  return {
    type: 'deposited',
    id: `start:${at.chainId}:${token}:${at.hash}`,
    chainId: at.chainId,
    token,
    amount,
  };
}

async function findFill(port: ChainPort, award: LpAward, account: Address) {
  const since = Math.floor(award.acceptedAtMs / 1000) - SINCE_SECONDS;
  const events = await port.orderEvents(award.orderId, since);
  const fill = events.find((event) => event.kind === 'filled' && event.solver === addressToBytes32(account));
  if (fill?.kind !== 'filled')
    throw new UpstreamError('A fill is on record but no node shows its event. Use a node that keeps logs.', {
      code: 'event_missing',
      facts: { orderId: award.orderId },
    });
  return fill;
}

/** An award may be stored some time after its quote, and chain clocks may differ. */
const SINCE_SECONDS = 3_600;

async function canonical(
  cursors: readonly ChainCursor[],
  ports: ReadonlyMap<number, ChainPort>,
): Promise<boolean> {
  const same = await Promise.all(
    cursors.map(async ({ chainId, block, hash }) => {
      const port = ports.get(chainId);
      return port === undefined || (await port.block(block))?.hash === hash;
    }),
  );
  return same.every(Boolean);
}

async function finalCursor(port: ChainPort): Promise<ChainCursor> {
  const head = port.head();
  if (head === undefined)
    throw new InvariantError('A chain was asked for its final block before it was seen.');
  const number = head.number - BigInt(port.chain.depth);
  const block = await port.block(number > 0n ? number : 0n);
  if (block === undefined)
    throw new UpstreamError('The node does not show a block it should have.', {
      code: 'block_missing',
      facts: { chainId: port.chain.id },
    });
  return { chainId: port.chain.id, block: block.number, hash: block.hash };
}

function portOf(ports: ReadonlyMap<number, ChainPort>, chainId: number): ChainPort {
  const port = ports.get(chainId);
  if (port === undefined) throw new InvariantError('No port for a configured chain.', { facts: { chainId } });
  return port;
}
