/** Implements `ports/chain` for one EVM chain, over batched JSON-RPC. */

import { type Chain, type FinalityTag, finalityStep } from '../../../domain/chain.ts';
import { UpstreamError } from '../../../domain/errors.ts';
import type { Hex } from '../../../domain/hex.ts';
import type { ChainPort, ChainViews, ContractCall, Fees, SendOutcome } from '../../../ports/chain.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Log } from '../../../ports/log.ts';
import type { Metrics } from '../../../ports/metrics.ts';
import { type RpcBlock, toBlock } from './block.ts';
import { createFinalityTags, type FinalityTags } from './finality-tags.ts';
import { createHead, type Head } from './head.ts';
import { createDecoder } from './logs.ts';
import { createLogRange } from './log-range.ts';
import { type FeeModel, GAS_PRICE_ORACLE } from './rollup-fees.ts';
import { createTips } from './tips.ts';
import { checkedTokens } from './token-facts.ts';
import { createHealth, HEALTH, type HealthOptions } from '../rpc/health.ts';
import { createViewCaller, isRevert, revertData, type ViewCaller } from './multicall.ts';
import { simulateCall } from './simulate.ts';
import { createProbe, type Probe } from '../rpc/probe.ts';
import { createRpc, RpcRefusal, type RpcOptions } from '../rpc/rpc.ts';
import { sendRaw } from '../transactor/send.ts';
import { createDeciding, QUORUM, type QuorumOptions } from './deciding.ts';
import { createViews } from './views.ts';
import {
  fromOne,
  surplus,
  escrowEvents,
  logsSince,
  newestLog,
  type LogDeps,
  fromAll,
  orderEvents,
} from './read-logs.ts';
import { blockAt, receiptOfHash, quantity } from './find-block.ts';

const TIP_CACHE_MS = 5_000;

interface ChainOptions extends RpcOptions, Partial<HealthOptions> {
  rpcUrls: readonly string[];
  clock: Clock;
  log: Log;
  metrics: Metrics;
  maxClockSkewMs?: number;
  quorum?: QuorumOptions;
  /** The chain stops after a reorganisation deeper than its depth; true by default. */
  stopOnDeepReorg?: boolean;
  /** Wei per gas; the chain's base fee never falls below it. */
  minBaseFee?: bigint;
  /** opStack: the start fails without the contract that names the chain's further fees. */
  feeModel?: FeeModel;
}

const MAX_CLOCK_SKEW_MS = 5_000;

/** The least time between two probes; where blocks are slower, there is one probe per block. */
const PROBE_MS = 1_000;

export interface EvmChain extends ChainPort {
  /** Checks chain id and tokens, and reads the first head. Throws `wrong_chain`, `wrong_token`. */
  start(): Promise<void>;
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

interface ChainDeps extends LogDeps {
  /** The chain as configured, and its copy with tokens as their contracts say. */
  configured: Chain;
  chain: Chain;
  rpcUrls: readonly string[];
  head: Head;
  tags: FinalityTags;
  probe: Probe;
  views: ChainViews;
  viewCaller: ViewCaller;
  suggestedTip(): Promise<bigint>;
  clock: Clock;
  log: Log;
  minBaseFee: bigint;
  feeModel: FeeModel;
  quorum: QuorumOptions;
}

interface ChainState {
  /** The suggested tip, wei per gas, and when it was read. */
  tip: { value: bigint; atMs: number } | undefined;
}

export function createChain(configured: Chain, options: ChainOptions): EvmChain {
  const state: ChainState = { tip: undefined };
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
  const blockHash = async (number: bigint) => (await blockAt(deps, number))?.hash;
  const deciding = createDeciding(
    { chain, rpc, anyone: { ...views, blockHash }, health, log, metrics },
    quorum,
  );
  showHead({ chain, head, tags, metrics });
  const sends = metrics.counter(
    'firmquote_chain_sends_total',
    'Raw transactions sent to the chain, by answer of the node',
    { chain: [chain.slug], outcome: SEND_OUTCOMES },
  );

  const deps: ChainDeps = {
    ...{ rpc, rpcUrls, health, head, tags, probe, views, viewCaller, clock, log },
    ...{ chain, configured, minBaseFee, feeModel, quorum },
    logRange: createLogRange(),
    sources: [chain.escrow, chain.oracle, ...(chain.quoteBond ? [chain.quoteBond] : [])],
    decoded: createDecoder(),
    suggestedTip: createTips(rpc),
  };
  return {
    ...views,
    chain,
    head: head.current,
    headSeenAtMs: head.seenAtMs,
    onHead: head.onHead,
    healthIssue: head.healthIssue,
    finalNumber: (valueUsd) => finalNumber(deps, valueUsd),
    deciding,
    block: (number) => blockAt(deps, number),
    events: (fromBlock, toBlock, thorough = false) =>
      escrowEvents(deps, thorough ? fromAll : fromOne, fromBlock, toBlock),
    orderEvents: (orderId, since) => orderEvents(deps, orderId, since),
    newestLog: (emitter, topics, since) => newestLog(deps, emitter, topics, since),
    logsSince: (emitter, topics, since) => logsSince(deps, emitter, topics, since),
    surplus: (filler, orderId, at) => surplus(deps, filler, orderId, at),
    simulate: (transaction, at) => simulateCall(rpc, transaction, at),
    dryRun: (call) => dryRun(deps, call),
    fees: () => fees(deps, state),
    async transactionCount(address, tag) {
      return Number(await rpc.request<Hex>('eth_getTransactionCount', [address, tag]));
    },
    async sendRaw(raw) {
      const outcome = await sendRaw(rpc, raw);
      sends.add({ chain: chain.slug, outcome: outcome.kind });
      return outcome;
    },
    receipt: (hash, emitter) => receiptOfHash(deps, hash, emitter),
    start: () => start(deps),
    async close() {
      await probe.stop();
      await head.stop();
      rpc.close();
    },
  };
}

/** Follows the head's number, age and doubts in metrics, and refreshes the finality tags at each new one. */
function showHead({
  chain,
  head,
  tags,
  metrics,
}: Pick<ChainDeps, 'chain' | 'head' | 'tags'> & Pick<ChainOptions, 'metrics'>): void {
  const labels = { chain: chain.slug };
  const headBlock = metrics.gauge('firmquote_chain_head_block', 'Number of the latest block seen', ['chain']);
  const headSeen = metrics.gauge(
    'firmquote_chain_head_seen_timestamp_seconds',
    'When the latest block arrived; its age is the lag of the chain or of its node',
    ['chain'],
  );
  head.onHead((block) => {
    void tags.refresh();
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
}

function finalNumber({ head, chain, tags }: ChainDeps, valueUsd: number | undefined): bigint | undefined {
  const latest = head.current()?.number;
  if (latest === undefined) return undefined;
  const below = (depth: number) => (latest > BigInt(depth) ? latest - BigInt(depth) : 0n);
  const step = finalityStep(chain, valueUsd);
  const wanted = step === undefined ? latest : 'depth' in step ? below(step.depth) : tags.newest(step.tag);
  const deep = below(chain.depth);
  return wanted === undefined || wanted < deep ? wanted : deep;
}

async function dryRun(
  { rpc }: ChainDeps,
  { from, to, data, value, gas }: ContractCall,
): Promise<{ ok: true; data: Hex } | { ok: false; data: Hex }> {
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
}

async function fees(
  { clock, suggestedTip, head, rpc, minBaseFee }: ChainDeps,
  state: ChainState,
): Promise<Fees> {
  const nowMs = clock.monotonicMs();
  if (!state.tip || nowMs - state.tip.atMs > TIP_CACHE_MS) {
    state.tip = { value: await suggestedTip(), atMs: nowMs };
  }
  const latest =
    head.current() ?? toBlock(await rpc.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]));
  const { baseFee } = latest;
  return { baseFee: baseFee > minBaseFee ? baseFee : minBaseFee, priorityFee: state.tip.value };
}

async function start({
  rpcUrls,
  rpc,
  chain,
  feeModel,
  views,
  configured,
  viewCaller,
  log,
  head,
  tags,
  probe,
  quorum,
}: ChainDeps): Promise<void> {
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
  await tags.refresh();
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
}

const tagsOf = ({ finality = [] }: Chain): FinalityTag[] => [
  ...new Set(finality.flatMap((step) => ('tag' in step ? [step.tag] : []))),
];
