/** One EVM chain behind `ports/chain`, over batched JSON-RPC. */

import { type Chain, type FinalityTag, finalityStep } from '../../../domain/chain.ts';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import type {
  ChainLog,
  ChainPort,
  DecidingViews,
  EscrowEvent,
  EscrowStatus,
  Fees,
  Receipt,
  SendOutcome,
} from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import { SURPLUS_TOPIC, surplusOf } from '../../../settlement/log.ts';
import { type RpcBlock, toBlock } from './block.ts';
import { createFinalityTags } from './finality-tags.ts';
import { createHead } from './head.ts';
import { createDecoder, type RpcLog } from './logs.ts';
import { createLogRange } from './log-range.ts';
import { type FeeModel, GAS_PRICE_ORACLE } from './rollup-fees.ts';
import { createTips } from './tips.ts';
import { checkedTokens } from './token-facts.ts';
import { createHealth, type Health, HEALTH, type HealthOptions } from '../rpc/health.ts';
import { createViewCaller, isRevert, revertData } from './multicall.ts';
import { simulateCall } from './simulate.ts';
import { createProbe } from '../rpc/probe.ts';
import { type Agreed, createQuorum } from '../rpc/quorum.ts';
import { createRpc, type ChainRpc, RpcRefusal, type RpcOptions, spansBlocks } from '../rpc/rpc.ts';
import { sendRaw } from '../transactor/send.ts';
import { createViews } from './views.ts';
import type { ChainViews } from '../../../ports/chain.ts';

const TIP_CACHE_MS = 5_000;

interface ChainOptions extends RpcOptions, Partial<HealthOptions> {
  rpcUrls: readonly string[];
  clock: Clock;
  log: Log;
  metrics: Metrics;
  maxClockSkewMs?: number;
  quorum?: QuorumOptions;
  /** After a reorganisation deeper than its depth; true by default. */
  stopOnDeepReorg?: boolean;
  /** Wei per gas; the chain's base fee never falls below it. */
  minBaseFee?: bigint;
  /** opStack: the start fails without the contract that names its further fees. */
  feeModel?: FeeModel;
}

interface Witness extends ChainViews {
  blockHash(number: bigint): Promise<Hex | undefined>;
}

interface QuorumOptions {
  /** From this many whole USD on, or for an unknown value, several endpoints must agree. */
  aboveUsd: number;
  /** How many endpoints must agree; all of them where there are fewer. */
  agree: number;
}

export const QUORUM: QuorumOptions = { aboveUsd: 10_000, agree: 2 };
const MAX_CLOCK_SKEW_MS = 5_000;
/** Or once per block where blocks are slower. */
const PROBE_MS = 1_000;

export interface EvmChain extends ChainPort {
  /** Checks chain id and tokens, and reads the first head. Throws `wrong_chain`, `wrong_token`. */
  start(): Promise<void>;
}

interface RpcReceipt {
  transactionHash: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  status: Hex;
  gasUsed: Hex;
  effectiveGasPrice: Hex;
  l1Fee?: Hex;
  operatorFeeScalar?: Hex;
  operatorFeeConstant?: Hex;
  logs: { address: Hex; topics: Hex[]; data: Hex }[];
}

const SEND_OUTCOMES: readonly SendOutcome['kind'][] = [
  'sent',
  'indeterminate',
  'nonce_too_low',
  'underpriced',
  'out_of_funds',
  'not_now',
  'rejected',
];

const toChainLog = ({ transactionHash, blockNumber, topics, data }: RpcLog): ChainLog => ({
  txHash: transactionHash,
  blockNumber: BigInt(blockNumber),
  topics,
  data,
});

export function createChain(configured: Chain, options: ChainOptions): EvmChain {
  // A copy, because the start corrects its tokens by what their contracts say.
  const chain: Chain = { ...configured };
  const {
    rpcUrls,
    clock,
    log: parentLog,
    metrics,
    timeoutMs,
    tryMs,
    maxLagBlocks = HEALTH.maxLagBlocks,
    readmitAfterMs = HEALTH.readmitAfterMs,
    maxClockSkewMs = MAX_CLOCK_SKEW_MS,
    quorum = QUORUM,
    stopOnDeepReorg = true,
    minBaseFee = 0n,
    feeModel = 'auto',
  } = options;
  const log = parentLog.child({ chain: chain.slug });
  const health = createHealth(
    rpcUrls.length,
    { chain: chain.slug, clock, log, metrics },
    { maxLagBlocks, readmitAfterMs },
  );
  const rpc = createRpc(
    rpcUrls,
    { ...(timeoutMs !== undefined && { timeoutMs }), ...(tryMs !== undefined && { tryMs }) },
    { clock, health },
  );
  const head = createHead(
    { rpc, health, clock, log, metrics },
    {
      slug: chain.slug,
      blockTimeMs: chain.blockTimeMs,
      depth: chain.depth,
      maxJumpBlocks: maxLagBlocks,
      maxClockSkewMs,
      stopOnDeepReorg,
    },
  );
  const tags = createFinalityTags({ rpc, health, clock, log }, { tags: tagsOf(chain), agree: quorum.agree });
  const probe = createProbe(
    { rpc, health, clock },
    { depth: chain.depth, everyMs: Math.max(PROBE_MS, chain.blockTimeMs) },
  );
  const viewCaller = createViewCaller(rpc);
  const views = createViews(chain, rpc, viewCaller, feeModel);
  const alone = decidingBy((_, read) =>
    read({ ...views, blockHash: async (number) => (await block(number))?.hash }),
  );
  const together =
    rpc.endpoints === 1
      ? alone
      : decidingBy(
          createQuorum(
            {
              chain: chain.slug,
              witnesses: rpcUrls.map((_, index) => witness(index)),
              hashOf: ({ blockHash }, number) => blockHash(number),
              health,
              log,
              metrics,
            },
            Math.min(quorum.agree, rpc.endpoints),
          ),
        );
  const labels = { chain: chain.slug };
  const headBlock = metrics.gauge('firmquote_chain_head_block', 'Number of the latest block seen', ['chain']);
  const headSeen = metrics.gauge(
    'firmquote_chain_head_seen_timestamp_seconds',
    'When the latest block arrived; its age is the lag of the chain or of its node',
    ['chain'],
  );
  head.onHead((block) => {
    void tags.look();
    headBlock.set(Number(block.number), labels);
    headSeen.set(head.seenAtMs() / 1_000, labels);
  });
  metrics.gauge(
    'firmquote_chain_doubt',
    'Whether a final block was reorganised away (reorg), or the clocks differ (clock)',
    ['chain', 'kind'],
    (gauge) => {
      for (const kind of ['reorg', 'clock'])
        gauge.set(head.healthIssue()?.kind === kind ? 1 : 0, { ...labels, kind });
    },
  );
  const sends = metrics.counter(
    'firmquote_chain_sends_total',
    'Raw transactions sent to the chain, by answer of the node',
    { chain: [chain.slug], outcome: SEND_OUTCOMES },
  );
  let tip: { value: bigint; atMs: number } | undefined;

  const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;

  const decoded = createDecoder();
  const logRange = createLogRange();
  const suggestedTip = createTips(rpc);

  type Ask = (params: readonly unknown[]) => Promise<RpcLog[]>;
  const sources = [chain.escrow, chain.oracle, ...(chain.quoteBond ? [chain.quoteBond] : [])];
  const fromOne: Ask = (params) => rpc.request<RpcLog[]>('eth_getLogs', params);
  const fromAll: Ask = (params) => logsOfAll(rpc, health, params);

  async function rawLogs(
    ask: Ask,
    address: Address | readonly Address[],
    fromBlock: bigint,
    toBlock: bigint,
    topics: readonly (Hex | null)[],
  ): Promise<RpcLog[]> {
    const found: RpcLog[] = [];
    for (let from = fromBlock; from <= toBlock;) {
      const to = logRange.endOf(from, toBlock);
      if (to > (head.current()?.number ?? to))
        throw new UpstreamError('The block to read up to was taken back. The next block tries again.', {
          code: 'head_replaced',
        });
      const rows = await ask([
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

  async function logs(
    ask: Ask,
    fromBlock: bigint,
    toBlock: bigint,
    topics: readonly (Hex | null)[] = [],
  ): Promise<EscrowEvent[]> {
    const rows = await rawLogs(ask, sources, fromBlock, toBlock, topics);
    return rows.map(decoded).filter((event) => event !== undefined);
  }

  /** Ranges of blocks from the newest back to the one in which a block is older than `since`. */
  async function* rangesBack(since: UnixSeconds): AsyncGenerator<{ from: bigint; to: bigint }> {
    const latest = head.current();
    if (!latest)
      throw new UpstreamError('No block of the chain has been read yet.', { code: 'chain_unknown' });
    for (let to = latest.number; to >= 0n;) {
      const from = logRange.startOf(to);
      yield { from, to };
      const oldest = await block(from);
      if (!oldest || oldest.timestamp < since) return;
      to = from - 1n;
    }
  }

  const fromAny = <T>(method: string, params: readonly unknown[]) =>
    askUntilFound<T>(rpc, health, method, params);

  async function block(number: bigint) {
    const found = await fromAny<RpcBlock>('eth_getBlockByNumber', [quantity(number), false]);
    return found === null ? undefined : toBlock(found);
  }

  function witness(index: number): Witness {
    const only = rpc.only(index);
    return {
      ...createViews(chain, only, createViewCaller(only)),
      blockHash: async (number) =>
        (await only.request<RpcBlock | null>('eth_getBlockByNumber', [quantity(number), false]))?.hash,
    };
  }

  function decidingBy(agreed: Agreed<Witness>): DecidingViews {
    return {
      orderStatus: (orderId, at) => agreed<EscrowStatus>(at, (each) => each.orderStatus(orderId, at)),
      fillRecord: (orderId, outputHash, at) => agreed(at, (each) => each.fillRecord(orderId, outputHash, at)),
      isProven: (oracle, remoteChainId, remoteOracle, application, payloadHash, at) =>
        agreed(at, (each) =>
          each.isProven(oracle, remoteChainId, remoteOracle, application, payloadHash, at),
        ),
      blockHash: (number, at) => agreed(at, (each) => each.blockHash(number)),
    };
  }

  return {
    ...views,
    chain,
    head: head.current,
    headSeenAtMs: head.seenAtMs,
    onHead: head.onHead,
    healthIssue: head.healthIssue,
    finalNumber(valueUsd) {
      const latest = head.current()?.number;
      if (latest === undefined) return undefined;
      const below = (depth: number) => (latest > BigInt(depth) ? latest - BigInt(depth) : 0n);
      const step = finalityStep(chain, valueUsd);
      const wanted =
        step === undefined ? latest : 'depth' in step ? below(step.depth) : tags.newest(step.tag);
      const deep = below(chain.depth);
      return wanted === undefined || wanted < deep ? wanted : deep;
    },
    deciding: (valueUsd) => (valueUsd !== undefined && valueUsd < quorum.aboveUsd ? alone : together),
    block,
    events: (fromBlock, toBlock, thorough = false) => logs(thorough ? fromAll : fromOne, fromBlock, toBlock),
    async orderEvents(orderId, since) {
      const found: EscrowEvent[] = [];
      for await (const { from, to } of rangesBack(since))
        found.unshift(...(await logs(fromAll, from, to, [null, orderId])));
      return found;
    },
    async newestLog(emitter, topics, since) {
      for await (const { from, to } of rangesBack(since)) {
        const row = (await rawLogs(fromAll, emitter, from, to, topics)).at(-1);
        if (row) return toChainLog(row);
      }
      return undefined;
    },
    async logsSince(emitter, topics, since) {
      const found: ChainLog[] = [];
      for await (const { from, to } of rangesBack(since))
        found.unshift(...(await rawLogs(fromAll, emitter, from, to, topics)).map(toChainLog));
      return found;
    },
    async surplus(filler, orderId, at) {
      const rows = await rpc.request<RpcLog[]>('eth_getLogs', [
        { address: filler, fromBlock: quantity(at), toBlock: quantity(at), topics: [SURPLUS_TOPIC, orderId] },
      ]);
      return rows.reduce((sum, { data }) => sum + surplusOf(data), 0n);
    },
    simulate: (transaction, at) => simulateCall(rpc, transaction, at),
    async dryRun({ from, to, data, value, gas }) {
      try {
        return {
          ok: true,
          data: await rpc.request<Hex>('eth_call', [
            {
              ...{ from, to, data },
              ...(value !== undefined && { value: quantity(value) }),
              ...(gas !== undefined && { gas: quantity(gas) }),
            },
            'latest',
          ]),
        };
      } catch (error) {
        if (!(error instanceof RpcRefusal) || !isRevert(error)) throw error;
        return { ok: false, data: revertData(error) };
      }
    },
    async fees(): Promise<Fees> {
      const nowMs = clock.monotonicMs();
      if (!tip || nowMs - tip.atMs > TIP_CACHE_MS) {
        tip = { value: await suggestedTip(), atMs: nowMs };
      }
      const latest =
        head.current() ?? toBlock(await rpc.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]));
      const { baseFee } = latest;
      return { baseFee: baseFee > minBaseFee ? baseFee : minBaseFee, priorityFee: tip.value };
    },
    async transactionCount(address, tag) {
      return Number(await rpc.request<Hex>('eth_getTransactionCount', [address, tag]));
    },
    async sendRaw(raw) {
      const outcome = await sendRaw(rpc, raw);
      sends.add({ ...labels, outcome: outcome.kind });
      return outcome;
    },
    async receipt(hash, emitter): Promise<Receipt | undefined> {
      const found = await fromAny<RpcReceipt>('eth_getTransactionReceipt', [hash]);
      if (!found?.blockHash) return undefined;
      return {
        txHash: found.transactionHash,
        blockNumber: BigInt(found.blockNumber),
        blockHash: found.blockHash,
        status: found.status === '0x1' ? 'success' : 'reverted',
        gasUsed: BigInt(found.gasUsed),
        effectiveGasPrice: BigInt(found.effectiveGasPrice),
        rollupFee: rollupFeeOf(found),
        ...(emitter && { logs: found.logs.filter(({ address }) => address.toLowerCase() === emitter) }),
      };
    },
    async start() {
      const ids = await Promise.all(
        rpcUrls.map((_, index) =>
          rpc
            .only(index)
            .request<Hex>('eth_chainId', [])
            .then(Number, (error: UpstreamError) => error),
        ),
      );
      const stray = ids.find((id) => typeof id === 'number' && id !== chain.id);
      if (stray !== undefined)
        throw new UpstreamError(
          `A node configured for ${chain.slug} (chain ${chain.id}) is on chain ${String(stray)}. ` +
            'Correct its rpcUrls.',
          { code: 'wrong_chain', retry: 'never' },
        );
      const answers = ids.find((id) => typeof id === 'number');
      if (answers === undefined) throw ids[0] as UpstreamError;
      if (feeModel === 'opStack' && !(await views.hasCode(GAS_PRICE_ORACLE)))
        throw new UpstreamError(
          `${chain.slug} is configured as an OP-stack chain (feeModel), and has no GasPriceOracle at ` +
            `${GAS_PRICE_ORACLE}: its data fees would be left out of every price. Correct feeModel or rpcUrls.`,
          { code: 'wrong_chain', retry: 'never' },
        );
      chain.tokens = await checkedTokens(configured, { call: viewCaller, log });
      await head.start();
      await tags.look();
      if (rpc.endpoints > 1) probe.start();
      if (rpc.endpoints === 1)
        log[chain.sandbox ? 'info' : 'warn'](
          {},
          'only one RPC endpoint is configured: it is trusted for all amounts, and work stops while ' +
            'it is away. Configure three from different providers, of which two must agree ' +
            '(docs/venue/chains.md)',
        );
      else if (rpc.endpoints < quorum.agree)
        log.warn(
          { endpoints: rpc.endpoints, quorum: quorum.agree },
          'fewer RPC endpoints than the quorum: all must agree about large amounts, so these wait ' +
            'while one is away (docs/venue/chains.md)',
        );
    },
    async close() {
      await probe.stop();
      await head.stop();
      rpc.close();
    },
  };
}

const tagsOf = ({ finality = [] }: Chain): FinalityTag[] => [
  ...new Set(finality.flatMap((step) => ('tag' in step ? [step.tag] : []))),
];

/** A part per million of the gas, and a constant (Isthmus). */
const OPERATOR_FEE_UNIT = 1_000_000n;

function rollupFeeOf({
  gasUsed,
  l1Fee = '0x0',
  operatorFeeScalar = '0x0',
  operatorFeeConstant = '0x0',
}: RpcReceipt): bigint {
  const operatorFee =
    (BigInt(gasUsed) * BigInt(operatorFeeScalar)) / OPERATOR_FEE_UNIT + BigInt(operatorFeeConstant);
  return BigInt(l1Fee) + operatorFee;
}

/** Merges the logs of all endpoints: one that has lost logs answers without an error. */
export async function logsOfAll(
  rpc: ChainRpc,
  health: Health,
  params: readonly unknown[],
): Promise<RpcLog[]> {
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

/** Asks the other endpoints too when the first one has no such block or receipt. */
export async function askUntilFound<T>(
  rpc: ChainRpc,
  health: Health,
  method: string,
  params: readonly unknown[],
): Promise<T | null> {
  const first = await rpc.request<T | null>(method, params);
  if (first !== null || rpc.endpoints === 1) return first;
  const others = await Promise.all(
    health
      .order()
      .slice(1)
      .map((index) =>
        rpc
          .only(index)
          .request<T | null>(method, params)
          .catch(() => null),
      ),
  );
  return others.find((other) => other !== null) ?? null;
}
