/** One EVM chain behind `ports/chain`: head, views, events, simulation and sending, over batched JSON-RPC. */

import type { Chain } from '../../domain/chain.ts';
import { UpstreamError } from '../../domain/errors.ts';
import type { Hex } from '../../domain/hex.ts';
import type { ChainPort, EscrowEvent, Fees, Receipt } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Metrics } from '../../ports/metrics.ts';
import { decodeLog, SURPLUS_TOPIC, surplusOf } from '../../settlement/log.ts';
import { decodeRevert } from '../../settlement/revert.ts';
import { createHead, type RpcBlock, toBlock } from './head.ts';
import { createViewCaller, isRevert, revertData } from './multicall.ts';
import { createRpc, RpcRefusal } from './rpc.ts';
import { sendRaw } from './send.ts';
import { createViews } from './views.ts';

/** Blocks in one eth_getLogs: what public nodes allow. */
const LOG_RANGE = 2_000n;
const TIP_CACHE_MS = 5_000;
const DEFAULT_TIP = 1_000_000_000n;

export interface ChainOptions {
  rpcUrls: readonly string[];
  clock: Clock;
  log: Log;
  metrics: Metrics;
  timeoutMs?: number;
}

export interface EvmChain extends ChainPort {
  /** Checks that the node is on this chain, reads the first head and follows from there. */
  start(): Promise<void>;
}

interface RpcLog {
  blockNumber: Hex;
  blockHash: Hex;
  transactionHash: Hex;
  logIndex: Hex;
  topics: Hex[];
  data: Hex;
}

interface RpcReceipt {
  transactionHash: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  status: Hex;
  gasUsed: Hex;
  effectiveGasPrice: Hex;
  l1Fee?: Hex;
}

export function createChain(chain: Chain, { rpcUrls, clock, log, metrics, timeoutMs }: ChainOptions): EvmChain {
  const rpc = createRpc(rpcUrls, timeoutMs === undefined ? {} : { timeoutMs });
  const head = createHead({ rpc, clock, log: log.child({ chain: chain.slug }), blockTimeMs: chain.blockTimeMs });
  const views = createViews(chain, rpc, createViewCaller(rpc));
  const labels = { chain: chain.slug };
  const headBlock = metrics.gauge('firmquote_chain_head_block', 'Number of the latest block seen', ['chain']);
  const headSeen = metrics.gauge('firmquote_chain_head_seen_timestamp_seconds', 'When the latest block arrived; its age is the lag of the chain or of its node', ['chain']);
  head.onHead((block) => {
    headBlock.set(Number(block.number), labels);
    headSeen.set(head.seenAtMs() / 1_000, labels);
  });
  const sends = metrics.counter('firmquote_chain_sends_total', 'Raw transactions handed to the chain, by what it said', ['chain', 'outcome']);
  let tip: { value: bigint; atMs: number } | undefined;

  const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;

  async function logs(fromBlock: bigint, toBlock: bigint, topics: readonly (Hex | null)[] = []): Promise<EscrowEvent[]> {
    const found: EscrowEvent[] = [];
    for (let from = fromBlock; from <= toBlock; from += LOG_RANGE) {
      const to = from + LOG_RANGE - 1n < toBlock ? from + LOG_RANGE - 1n : toBlock;
      const rows = await rpc.request<RpcLog[]>('eth_getLogs', [{ address: [chain.escrow, chain.oracle], fromBlock: quantity(from), toBlock: quantity(to), ...(topics.length > 0 && { topics }) }]);
      for (const row of rows) {
        const event = decodeLog({ blockNumber: BigInt(row.blockNumber), blockHash: row.blockHash, txHash: row.transactionHash, logIndex: Number(row.logIndex), topics: row.topics, data: row.data });
        if (event) found.push(event);
      }
    }
    return found;
  }

  async function block(number: bigint) {
    const found = await rpc.request<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), false]);
    return found === null ? undefined : toBlock(found);
  }

  return {
    ...views,
    chain,
    head: head.current,
    headSeenAtMs: head.seenAtMs,
    onHead: head.onHead,
    block,
    events: (fromBlock, toBlock) => logs(fromBlock, toBlock),
    async orderEvents(orderId, since) {
      const found: EscrowEvent[] = [];
      const latest = head.current();
      if (!latest) throw new UpstreamError('The chain has not been seen yet.', { code: 'chain_unknown' });
      for (let to = latest.number; to >= 0n; to -= LOG_RANGE) {
        const from = to - LOG_RANGE + 1n > 0n ? to - LOG_RANGE + 1n : 0n;
        found.unshift(...(await logs(from, to, [null, orderId])));
        const oldest = await block(from);
        if (!oldest || oldest.timestamp < since) break;
      }
      return found;
    },
    async surplus(filler, orderId, at) {
      const rows = await rpc.request<RpcLog[]>('eth_getLogs', [{ address: filler, fromBlock: quantity(at), toBlock: quantity(at), topics: [SURPLUS_TOPIC, orderId] }]);
      return rows.reduce((sum, { data }) => sum + surplusOf(data), 0n);
    },
    async simulate({ from, to, data, gas }, at) {
      try {
        const used = await rpc.request<Hex>('eth_estimateGas', [{ from, to, data, ...(gas !== undefined && { gas: quantity(gas) }) }, at === undefined ? 'latest' : quantity(at)]);
        return { ok: true, gasUsed: BigInt(used) };
      } catch (error) {
        if (!(error instanceof RpcRefusal) || !isRevert(error)) throw error;
        const returned = revertData(error);
        return { ok: false, reason: decodeRevert(returned).text, data: returned };
      }
    },
    async fees(): Promise<Fees> {
      const nowMs = clock.monotonicMs();
      if (!tip || nowMs - tip.atMs > TIP_CACHE_MS) {
        const value = await rpc.request<Hex>('eth_maxPriorityFeePerGas', []).then(BigInt, (error) => {
          if (error instanceof RpcRefusal) return DEFAULT_TIP;
          throw error;
        });
        tip = { value, atMs: nowMs };
      }
      const latest = head.current() ?? toBlock(await rpc.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]));
      return { baseFee: latest.baseFee, priorityFee: tip.value };
    },
    async transactionCount(address, tag) {
      return Number(await rpc.request<Hex>('eth_getTransactionCount', [address, tag]));
    },
    async sendRaw(raw) {
      const outcome = await sendRaw(rpc, raw);
      sends.add({ ...labels, outcome: outcome.kind });
      return outcome;
    },
    async receipt(hash): Promise<Receipt | undefined> {
      const found = await rpc.request<RpcReceipt | null>('eth_getTransactionReceipt', [hash]);
      if (!found?.blockHash) return undefined;
      return {
        txHash: found.transactionHash,
        blockNumber: BigInt(found.blockNumber),
        blockHash: found.blockHash,
        status: found.status === '0x1' ? 'success' : 'reverted',
        gasUsed: BigInt(found.gasUsed),
        effectiveGasPrice: BigInt(found.effectiveGasPrice),
        l1Fee: BigInt(found.l1Fee ?? 0),
      };
    },
    async start() {
      const id = Number(await rpc.request<Hex>('eth_chainId', []));
      if (id !== chain.id) throw new UpstreamError(`The node configured for ${chain.slug} (chain ${chain.id}) is on chain ${id}. Correct its rpcUrls.`, { code: 'wrong_chain', retry: 'never' });
      await head.start();
    },
    async close() {
      await head.stop();
      rpc.close();
    },
  };
}
