/**
 * One chain as the advancer sees it: the newest block, the newest final block, and recent events by order.
 */

import type { Bytes32, Hex } from '../../../domain/hex.ts';
import type { Block, ChainPort, EscrowEvent } from '../../../ports/chain.ts';
import type { Log } from '../../../ports/log.ts';
import { createOrderEventCache, cacheableEvent, type CachedOrderEvent } from './event-cache.ts';

export interface PinnedBlocks {
  head: Block;
  /** The newest final block; decisions read the chain there. */
  final: Block;
}

export interface ChainWatch {
  readonly chain: ChainPort;
  /** Both blocks from one reading; undefined before the first. */
  pinned(): PinnedBlocks | undefined;
  /**
   * Final events of an order, in chain order. Asks the node when the cached events do not satisfy `isEnough`.
   */
  orderEvents(
    orderId: Bytes32,
    since: number,
    isEnough: (events: readonly CachedOrderEvent[]) => boolean,
  ): Promise<CachedOrderEvent[]>;
  /** The final event that proved this payload to the oracle, in block `from` or later. */
  proof(payloadHash: Bytes32, from: bigint): Promise<EscrowEvent | undefined>;
  /** A final block. */
  blockAt(number: bigint, expected?: Hex): Promise<Block>;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Blocks by which ranges overlap beyond the depth: a node may have served no logs yet, or those of another
 * fork.
 */
const OVERLAP = 4n;
const REMEMBERED_PROOFS = 50_000;
const REMEMBERED_BLOCKS = 2_000;

export function createChainWatch(
  chain: ChainPort,
  log: Log,
  moved: (pinned: PinnedBlocks, orderIds: ReadonlySet<Bytes32>) => void,
): ChainWatch {
  const depth = BigInt(chain.chain.depth);
  const events = createOrderEventCache();
  const proofs = new Map<Bytes32, EscrowEvent>();
  const blocks = new Map<bigint, Block>();
  const asking = new Map<bigint, Promise<Block>>();
  /** Orders with events that are not final yet, by the event's block. */
  const notFinal = new Map<Bytes32, bigint>();
  let pinned: PinnedBlocks | undefined;
  let scannedTo: bigint | undefined;
  let unfollow = () => {};
  let looking: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  function keep(event: EscrowEvent): void {
    if (event.kind === 'proven') {
      proofs.set(event.payloadHash, event);
      if (proofs.size > REMEMBERED_PROOFS) proofs.delete(proofs.keys().next().value as Bytes32);
      return;
    }
    const ofOrder = cacheableEvent(event);
    if (ofOrder && events.add(ofOrder)) notFinal.set(ofOrder.orderId, ofOrder.blockNumber);
  }

  async function look(): Promise<void> {
    const head = chain.head();
    if (!head) return;
    const deepNumber = head.number > depth ? head.number - depth : 0n;
    const from = scannedTo === undefined ? deepNumber : scannedTo - depth - OVERLAP;
    const [final, found] = await Promise.all([
      depth === 0n ? head : chain.block(deepNumber),
      chain.events(from > 0n ? from : 0n, head.number),
    ]);
    // The block was reorganised away between two requests; the next head starts again.
    if (!final) return;
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
    moved(pinned, touched);
  }

  function onHead(): void {
    again = true;
    looking ??= (async () => {
      while (again && !stopped) {
        again = false;
        await look().catch((error: unknown) =>
          log.warn(
            { chain: chain.chain.slug, error },
            'a block could not be read; the next block tries again',
          ),
        );
      }
      looking = undefined;
    })();
  }

  /** `expected`: the hash that the block should have; a cached block with another hash is read again. */
  async function blockAt(number: bigint, expected?: Hex): Promise<Block> {
    const known = blocks.get(number);
    // The cached block may have been reorganised away, or the development chain reset.
    if (known && (expected === undefined || known.hash === expected)) return known;
    // Concurrent requests for one block share one read.
    const asked = asking.get(number) ?? readBlock(number);
    asking.set(number, asked);
    return asked;
  }

  async function readBlock(number: bigint): Promise<Block> {
    try {
      const block = await chain.block(number);
      if (!block) throw new RangeError(`Block ${number} is not there.`);
      blocks.delete(number);
      blocks.set(number, block);
      if (blocks.size > REMEMBERED_BLOCKS) blocks.delete(blocks.keys().next().value as bigint);
      return block;
    } finally {
      asking.delete(number);
    }
  }

  /** Keeps events that are final and on the canonical chain. */
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
    pinned: () => pinned,
    blockAt,
    async orderEvents(orderId, since, isEnough) {
      if (!pinned) return [];
      const { final } = pinned;
      const followed = await finalOnes(events.of(orderId), final);
      if (isEnough(followed)) return followed;
      const asked = (await chain.orderEvents(orderId, since)).flatMap((event) => cacheableEvent(event) ?? []);
      return finalOnes(
        asked.filter((event) => event.orderId === orderId),
        final,
      );
    },
    async proof(payloadHash, from) {
      if (!pinned) return undefined;
      const { final } = pinned;
      const known = async () => (await finalOnes([proofs.get(payloadHash) ?? []].flat(), final))[0];
      const followed = await known();
      if (followed) return followed;
      // The proof may be older than this process: read from the block in which the order was opened.
      for (const event of await chain.events(from, final.number)) keep(event);
      return known();
    },
    async start() {
      unfollow = chain.onHead(onHead);
      await look();
    },
    async stop() {
      stopped = true;
      unfollow();
      await looking;
    },
  };
}
