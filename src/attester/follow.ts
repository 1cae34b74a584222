/**
 * The fills of one chain by payload hash, from its events. Every fill is checked again before it is signed.
 */

import { fillPayloadHash } from '../domain/attestation.ts';
import type { Bytes32 } from '../domain/hex.ts';
import type { Block, ChainPort, EscrowEvent } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Log } from '../ports/log.ts';

export type Filled = Extract<EscrowEvent, { kind: 'filled' }>;

export interface FillFollower {
  /** Returns fills, newest first: after a reorganisation one may be in several blocks. */
  fills(payloadHash: Bytes32): readonly Filled[];
  /** Reads the fills of an order from the chain. */
  search(orderId: Bytes32): Promise<void>;
  /** Unix ms of the last complete read; undefined before the first. */
  readAtMs(): number | undefined;
  /** Resolves after the first read, successful or not. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

const OVERLAP = 8n;
const REMEMBERED = 100_000;
const BACKFILL_BLOCKS = 2_000n;

export function createFillFollower(
  chain: ChainPort,
  { clock, log }: { clock: Clock; log: Log },
  { lookBackSeconds }: { lookBackSeconds: number },
): FillFollower {
  const byPayload = new Map<Bytes32, Filled[]>();
  let scannedTo: bigint | undefined;
  let readAtMs: number | undefined;
  let unfollow = () => {};
  let reading: Promise<void> | undefined;
  let again = false;
  let stopped = false;

  function keep(events: readonly EscrowEvent[]): void {
    for (const event of events) {
      if (event.kind !== 'filled') continue;
      const payloadHash = fillPayloadHash(event);
      const known = byPayload.get(payloadHash) ?? [];
      if (known.some(({ blockHash }) => blockHash === event.blockHash)) continue;
      byPayload.set(payloadHash, [event, ...known].slice(0, 8));
      if (byPayload.size > REMEMBERED) byPayload.delete(byPayload.keys().next().value as Bytes32);
    }
  }

  async function readNew(): Promise<void> {
    const head = chain.head();
    if (!head) return;
    const from = scannedTo === undefined ? head.number : scannedTo - BigInt(chain.chain.depth) - OVERLAP;
    keep(await chain.events(from > 0n ? from : 0n, head.number));
    const first = scannedTo === undefined;
    scannedTo = head.number;
    readAtMs = clock.nowMs();
    if (first)
      backfill(head).catch((error: unknown) =>
        log.warn(
          { chain: chain.chain.slug, error },
          'older fills could not be read; they are read when a proof is requested',
        ),
      );
  }

  /** Reads fills before the start that may still need a proof. */
  async function backfill(head: Block): Promise<void> {
    const oldest = head.timestamp - lookBackSeconds;
    for (let to = head.number; to > 0n && !stopped; to -= BACKFILL_BLOCKS) {
      const from = to > BACKFILL_BLOCKS ? to - BACKFILL_BLOCKS + 1n : 0n;
      keep(await chain.events(from, to));
      if (((await chain.block(from))?.timestamp ?? 0) < oldest) return;
      if (from === 0n) return;
    }
  }

  const unread = (error: unknown): void =>
    log.warn({ chain: chain.chain.slug, error }, 'events could not be read; the next block tries again');

  function onHead(): void {
    again = true;
    reading ??= (async () => {
      while (again && !stopped) {
        again = false;
        await readNew().catch(unread);
      }
      reading = undefined;
    })();
  }

  return {
    fills: (payloadHash) => byPayload.get(payloadHash) ?? [],
    async search(orderId) {
      keep(await chain.orderEvents(orderId, (chain.head()?.timestamp ?? 0) - lookBackSeconds));
    },
    readAtMs: () => readAtMs,
    async start() {
      unfollow = chain.onHead(onHead);
      await readNew().catch(unread);
    },
    async stop() {
      stopped = true;
      unfollow();
      await reading;
    },
  };
}
