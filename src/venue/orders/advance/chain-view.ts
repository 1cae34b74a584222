/**
 * One chain as the advancer sees it: the newest block, the newest final block, and recent events by order.
 */

import { LRUCache } from 'lru-cache';
import type { Bytes32, Hex } from '../../../domain/hex.ts';
import type { Block, ChainPort, EscrowEvent } from '../../../ports/chain.ts';
import { createOrderEventCache, cacheableEvent, type CachedOrderEvent } from './event-cache.ts';

export interface PinnedBlocks {
  head: Block;
  /** Decisions read the chain here. */
  final: Block;
}

export interface ChainView {
  readonly chain: ChainPort;
  /**
   * Reads the newest blocks. `touched`: orders of newly final events and payload hashes of newly final
   * proofs. undefined without a head, or when it was reorganised away.
   */
  update(): Promise<(PinnedBlocks & { touched: ReadonlySet<Bytes32> }) | undefined>;
  /**
   * The blocks for an order of this value. Without the block that its value waits for, the one at depth: the
   * venue reports and sends nobody's own money, and an order that it left alone would miss its refund.
   */
  pinnedFor(valueUsd: number | undefined): Promise<PinnedBlocks | undefined>;
  /** A cached block with another hash than `expected` is read again. */
  blockAt(number: bigint, expected?: Hex): Promise<Block>;
  /** Returns final events in chain order. Asks the node unless `isEnough` accepts the cached events. */
  orderEvents(
    orderId: Bytes32,
    since: number,
    final: Block,
    isEnough: (events: readonly CachedOrderEvent[]) => boolean,
  ): Promise<CachedOrderEvent[]>;
  /** Returns the proof of a payload in block `from` or later, and not after `final`. */
  proof(payloadHash: Bytes32, from: bigint, final: Block): Promise<EscrowEvent | undefined>;
}

/** A node may have served no logs yet, or those of another fork. */
const OVERLAP = 4n;
const CACHED_PROOFS = 50_000;
const CACHED_BLOCKS = 2_000;

export function createChainView(chain: ChainPort): ChainView {
  const depth = BigInt(chain.chain.depth);
  const events = createOrderEventCache();
  const proofs = new LRUCache<Bytes32, EscrowEvent>({ max: CACHED_PROOFS });
  const blocks = new LRUCache<bigint, Block>({ max: CACHED_BLOCKS });
  const reading = new Map<bigint, Promise<Block>>();
  const notFinal = new Map<Bytes32, bigint>();
  let pinned: PinnedBlocks | undefined;
  let scannedTo: bigint | undefined;

  function keep(event: EscrowEvent) {
    if (event.kind === 'proven') {
      proofs.set(event.payloadHash, event);
      return;
    }
    const ofOrder = cacheableEvent(event);
    if (ofOrder && events.add(ofOrder)) notFinal.set(ofOrder.orderId, ofOrder.blockNumber);
  }

  async function update(): Promise<(PinnedBlocks & { touched: ReadonlySet<Bytes32> }) | undefined> {
    const head = chain.head();
    if (!head) return undefined;
    const deepNumber = head.number > depth ? head.number - depth : 0n;
    const from = scannedTo === undefined ? deepNumber : scannedTo - depth - OVERLAP;
    const [final, found] = await Promise.all([
      depth === 0n ? head : chain.block(deepNumber),
      chain.events(from > 0n ? from : 0n, head.number),
    ]);
    if (!final) return undefined;
    for (const event of found) keep(event);
    scannedTo = head.number;
    pinned = { head, final };
    const touched = new Set<Bytes32>();
    for (const [orderId, blockNumber] of notFinal) {
      if (blockNumber > final.number) continue;
      notFinal.delete(orderId);
      touched.add(orderId);
    }
    for (const event of found)
      if (event.kind === 'proven' && event.blockNumber <= final.number) touched.add(event.payloadHash);
    return { ...pinned, touched };
  }

  async function blockAt(number: bigint, expected?: Hex): Promise<Block> {
    const cached = blocks.get(number);
    // It may have been reorganised away, or the development chain reset.
    if (cached && (expected === undefined || cached.hash === expected)) return cached;
    const read = reading.get(number) ?? readBlock(number);
    reading.set(number, read);
    return read;
  }

  async function readBlock(number: bigint): Promise<Block> {
    try {
      const block = await chain.block(number);
      if (!block) throw new RangeError(`Block ${number} is not there.`);
      blocks.set(number, block);
      return block;
    } finally {
      reading.delete(number);
    }
  }

  async function finalOnes<E extends CachedOrderEvent | EscrowEvent>(
    candidates: readonly E[],
    final: Block,
  ): Promise<E[]> {
    const finalEvents = candidates.filter(({ blockNumber }) => blockNumber <= final.number);
    const canonical = await Promise.all(
      finalEvents.map(
        async ({ blockNumber, blockHash }) => (await blockAt(blockNumber, blockHash)).hash === blockHash,
      ),
    );
    return finalEvents
      .filter((_, index) => canonical[index])
      .sort((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
  }

  return {
    chain,
    update,
    async pinnedFor(valueUsd) {
      const number = chain.finalNumber(valueUsd);
      if (pinned === undefined || number === undefined) return pinned;
      const { head, final } = pinned;
      return number < final.number ? { head, final: await blockAt(number) } : pinned;
    },
    blockAt,
    async orderEvents(orderId, since, final, isEnough) {
      const cached = await finalOnes(events.of(orderId), final);
      if (isEnough(cached)) return cached;
      const read = (await chain.orderEvents(orderId, since)).flatMap((event) => cacheableEvent(event) ?? []);
      return finalOnes(
        read.filter((event) => event.orderId === orderId),
        final,
      );
    },
    async proof(payloadHash, from, final) {
      const finalProof = async () => (await finalOnes([proofs.get(payloadHash) ?? []].flat(), final))[0];
      const cached = await finalProof();
      if (cached) return cached;
      // The proof may be older than this process.
      for (const event of await chain.events(from, final.number)) keep(event);
      return finalProof();
    },
  };
}
