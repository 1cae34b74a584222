/**
 * Detects reorganisations deeper than the configured depth, which can undo a deposit already paid for. The
 * health issue lasts until the old block is back or the process restarts.
 */

import type { Hex } from '../../../domain/hex.ts';
import type { ChainHealthIssue } from '../../../ports/chain.ts';
import type { Log } from '../../../ports/log.ts';
import type { Health } from '../rpc/health.ts';
import { type HeadBlock, type RpcBlock, toBlock } from './block.ts';
import type { ChainRpc } from '../rpc/rpc.ts';

interface Final {
  number: bigint;
  hash: Hex;
}

export interface Finality {
  /**
   * Resolves to true when the last final block is still on the chain; to false also while it cannot be
   * verified.
   */
  stands(): Promise<boolean>;
  /** Makes the block at depth below this head the final one. */
  advance(head: HeadBlock): Promise<void>;
  healthIssue(): ChainHealthIssue | undefined;
}

export function createFinality(
  { rpc, health, log }: { rpc: ChainRpc; health: Pick<Health, 'order' | 'eject'>; log: Log },
  { slug, depth, stop }: { slug: string; depth: number; stop: boolean },
): Finality {
  let final: Final | undefined;
  let broken: { found: Hex } | undefined;

  const read = async (from: Pick<ChainRpc, 'request'>, number: bigint): Promise<HeadBlock | undefined> => {
    const block = await from.request<RpcBlock | null>('eth_getBlockByNumber', [
      `0x${number.toString(16)}`,
      false,
    ]);
    return block === null ? undefined : toBlock(block);
  };

  /** A single node may be on a fork of its own, so no endpoint in service may still have our block. */
  async function confirmed({ number, hash }: Final): Promise<Hex | undefined> {
    const seen = await Promise.all(
      health
        .order()
        .map(async (index) => ({
          index,
          found: (await read(rpc.only(index), number).catch(() => undefined))?.hash,
        })),
    );
    const others = seen.filter(({ found }) => found !== undefined && found !== hash);
    if (!seen.some(({ found }) => found === hash)) return others[0]?.found;
    for (const { index } of others) health.eject(index, 'contradicting');
    return undefined;
  }

  return {
    async stands(): Promise<boolean> {
      if (final === undefined) return true;
      const now = await read(rpc, final.number);
      if (now?.hash === final.hash) {
        if (broken)
          log.warn(
            { block: final.number },
            'the chain is back on the branch that was final; work on it resumes',
          );
        broken = undefined;
        return true;
      }
      if (!stop) {
        log.error(
          { block: final.number, was: final.hash, found: now?.hash, depth },
          'a final block was reorganised away; the chain is still followed, as configured',
        );
        final = undefined;
        return true;
      }
      if (broken || now === undefined) return false;
      const found = await confirmed(final);
      if (found !== undefined) {
        broken = { found };
        log.fatal(
          { block: final.number, was: final.hash, found, depth },
          `${slug} was reorganised deeper than its depth of ${depth} blocks, so final blocks are ` +
            'gone. Work on this chain has stopped and statuses stay as they were; firmquote audit ' +
            'lists what is affected. After handling that, raise depth and restart this process to ' +
            'continue with the current chain (docs/venue/chains.md).',
        );
      }
      return false;
    },
    async advance(head: HeadBlock): Promise<void> {
      const number = head.number > BigInt(depth) ? head.number - BigInt(depth) : 0n;
      if (final && number <= final.number) return;
      const block = depth === 0 ? head : await read(rpc, number);
      // The chain may have switched branches between two requests.
      if (!block || (final && number === final.number + 1n && block.parentHash !== final.hash)) return;
      final = { number, hash: block.hash };
    },
    healthIssue: (): ChainHealthIssue | undefined =>
      broken && final
        ? {
            kind: 'reorg',
            note: `${slug}: block ${final.number} was final and is gone; see docs/venue/chains.md`,
          }
        : undefined,
  };
}
