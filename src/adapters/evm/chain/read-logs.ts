/** Reads the events and logs of a chain, in ranges that its nodes accept. */

import { UpstreamError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import type { ChainLog, EscrowEvent } from '../../../ports/chain.ts';
import { SURPLUS_TOPIC, surplusOf } from '../../../settlement/log.ts';
import type { Health } from '../rpc/health.ts';
import { type ChainRpc, RpcRefusal, spansBlocks } from '../rpc/rpc.ts';
import { type BlockDeps, blockAt, quantity } from './find-block.ts';
import type { Head } from './head.ts';
import type { LogRange } from './log-range.ts';
import type { RpcLog } from './logs.ts';

export interface LogDeps extends BlockDeps {
  head: Pick<Head, 'current'>;
  logRange: LogRange;
  /** The contracts whose events are decoded. */
  sources: readonly Address[];
  decoded(row: RpcLog): EscrowEvent | undefined;
}

/** Asks for logs at one endpoint, or at all. */
type Ask = (deps: LogDeps, params: readonly unknown[]) => Promise<RpcLog[]>;

const toChainLog = ({ transactionHash, blockNumber, topics, data }: RpcLog): ChainLog => ({
  txHash: transactionHash,
  blockNumber: BigInt(blockNumber),
  topics,
  data,
});

export const fromOne = (deps: BlockDeps, params: readonly unknown[]): Promise<RpcLog[]> =>
  deps.rpc.request<RpcLog[]>('eth_getLogs', params);

export const fromAll = (deps: BlockDeps, params: readonly unknown[]): Promise<RpcLog[]> =>
  logsOfAll(deps.rpc, deps.health, params);

async function rawLogs(
  deps: LogDeps,
  ask: Ask,
  address: Address | readonly Address[],
  fromBlock: bigint,
  toBlock: bigint,
  topics: readonly (Hex | null)[],
): Promise<RpcLog[]> {
  const { logRange, head } = deps;
  const found: RpcLog[] = [];
  for (let from = fromBlock; from <= toBlock;) {
    const to = logRange.endOf(from, toBlock);
    if (to > (head.current()?.number ?? to))
      throw new UpstreamError('The block to read up to was taken back. The next block tries again.', {
        code: 'head_replaced',
      });
    const rows = await ask(deps, [
      { address, fromBlock: quantity(from), toBlock: quantity(to), ...(topics.length > 0 && { topics }) },
    ]).catch((error: unknown) => {
      if (!logRange.shrink(from, to, error)) throw error;
    });
    if (rows === undefined) continue;
    found.push(...rows);
    from = to + 1n;
  }
  return found;
}

/** Reads and decodes the events of the escrow, the oracle and the bond. */
export async function escrowEvents(
  deps: LogDeps,
  ask: Ask,
  fromBlock: bigint,
  toBlock: bigint,
  topics: readonly (Hex | null)[] = [],
): Promise<EscrowEvent[]> {
  const { sources, decoded } = deps;
  const rows = await rawLogs(deps, ask, sources, fromBlock, toBlock, topics);
  return rows.map(decoded).filter((event) => event !== undefined);
}

/** Ranges of blocks from the newest back to the one in which a block is older than `since`. */
async function* rangesBack(deps: LogDeps, since: UnixSeconds): AsyncGenerator<{ from: bigint; to: bigint }> {
  const { head, logRange } = deps;
  const latest = head.current();
  if (!latest) throw new UpstreamError('No block of the chain has been read yet.', { code: 'chain_unknown' });
  for (let to = latest.number; to >= 0n;) {
    const from = logRange.startOf(to);
    yield { from, to };
    const oldest = await blockAt(deps, from);
    if (!oldest || oldest.timestamp < since) return;
    to = from - 1n;
  }
}

export async function orderEvents(deps: LogDeps, orderId: Hex, since: UnixSeconds): Promise<EscrowEvent[]> {
  const found: EscrowEvent[] = [];
  for await (const { from, to } of rangesBack(deps, since))
    found.unshift(...(await escrowEvents(deps, fromAll, from, to, [null, orderId])));
  return found;
}

export async function newestLog(
  deps: LogDeps,
  emitter: Address,
  topics: readonly (Hex | null)[],
  since: UnixSeconds,
): Promise<ChainLog | undefined> {
  for await (const { from, to } of rangesBack(deps, since)) {
    const row = (await rawLogs(deps, fromAll, emitter, from, to, topics)).at(-1);
    if (row) return toChainLog(row);
  }
  return undefined;
}

export async function logsSince(
  deps: LogDeps,
  emitter: Address,
  topics: readonly (Hex | null)[],
  since: UnixSeconds,
): Promise<ChainLog[]> {
  const found: ChainLog[] = [];
  for await (const { from, to } of rangesBack(deps, since))
    found.unshift(...(await rawLogs(deps, fromAll, emitter, from, to, topics)).map(toChainLog));
  return found;
}

export async function surplus({ rpc }: LogDeps, filler: Address, orderId: Hex, at: bigint): Promise<bigint> {
  const rows = await rpc.request<RpcLog[]>('eth_getLogs', [
    { address: filler, fromBlock: quantity(at), toBlock: quantity(at), topics: [SURPLUS_TOPIC, orderId] },
  ]);
  return rows.reduce((sum, { data }) => sum + surplusOf(data), 0n);
}

/** Merges the logs of all endpoints: one that has lost logs answers without an error. */
async function logsOfAll(rpc: ChainRpc, health: Health, params: readonly unknown[]): Promise<RpcLog[]> {
  const answers = await Promise.allSettled(
    health.order().map((index) => rpc.only(index).request<RpcLog[]>('eth_getLogs', params)),
  );
  // An endpoint with a lower limit than the others must not be left out for good.
  const refused = answers.find(
    (answer) =>
      answer.status === 'rejected' &&
      answer.reason instanceof RpcRefusal &&
      answer.reason.meaning === 'smaller' &&
      spansBlocks(params),
  ) as PromiseRejectedResult | undefined;
  if (refused !== undefined) throw refused.reason;
  if (!answers.some(({ status }) => status === 'fulfilled')) return rpc.request('eth_getLogs', params);
  const rows = new Map(
    answers
      .flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
      .map((row) => [`${row.blockHash}:${row.logIndex}`, row]),
  );
  return [...rows.values()].sort(
    (a, b) =>
      Number(BigInt(a.blockNumber) - BigInt(b.blockNumber)) || Number(a.logIndex) - Number(b.logIndex),
  );
}
