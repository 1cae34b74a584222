/** Checks the RPC endpoints of a chain: each by itself, and all against each other. */

import type { HeadBlock, RpcBlock } from '../../adapters/evm/chain/block.ts';
import { toBlock } from '../../adapters/evm/chain/block.ts';
import { createLogRange } from '../../adapters/evm/chain/log-range.ts';
import { type ChainRpc, createRpc } from '../../adapters/evm/rpc/rpc.ts';
import { loginHeader } from '../../adapters/outbound/login.ts';
import type { Hex } from '../../domain/hex.ts';
import type { ChainSection } from '../config/parts.ts';
import { expand, type SecretContext } from '../wiring/keys.ts';
import { failure, messageOf, ok, type Finding, warning } from './finding.ts';

/** Requests for logs that span fewer blocks make catching up after an outage slow. */
const FEW_BLOCKS = 100;
const FEW_CALLS = 10;
const BATCHES = [100, 50, 10, 3];
/** Blocks beyond `depth`: decisions read state shortly after it was final. */
const STATE_MARGIN = 16n;
/** A chain without a new block for this long and this many block times stands still. */
const STILL_SECONDS = 60;
const STILL_BLOCKS = 20;

interface Endpoint {
  name: string;
  url: string;
  rpc: Pick<ChainRpc, 'request'>;
  head: HeadBlock;
}

const tag = (block: bigint): Hex => `0x${block.toString(16)}`;

/** Checks the endpoints. `lookBackSeconds`: how far back the process reads logs. `nowMs` is our clock. */
export async function checkEndpoints(
  section: ChainSection,
  {
    secrets,
    lookBackSeconds,
    nowMs,
  }: { secrets: SecretContext; lookBackSeconds: number; nowMs: () => number },
): Promise<Finding[]> {
  const { slug, rpcUrls, timeoutMs, sandbox, quorum } = section;
  const opened: ChainRpc[] = [];
  const rows: Finding[] = [];
  const endpoints: Endpoint[] = [];
  try {
    await Promise.all(
      rpcUrls.map(async (configured, index) => {
        const name = `${slug} #${index}`;
        try {
          const url = expand(configured, secrets);
          const rpc = createRpc([url], { timeoutMs });
          opened.push(rpc);
          const [chainId, latest] = await Promise.all([
            rpc.request<Hex>('eth_chainId', []),
            rpc.request<RpcBlock>('eth_getBlockByNumber', ['latest', false]),
          ]);
          if (Number(chainId) === section.id) endpoints.push({ name, url, rpc, head: toBlock(latest) });
          else
            rows.push(
              failure(
                'endpoint',
                name,
                `is of chain ${Number(chainId)}, not ${section.id}`,
                'Correct its URL in rpcUrls',
              ),
            );
        } catch (error) {
          rows.push(
            failure(
              'endpoint',
              name,
              messageOf(error),
              'Check its URL, its key and the plan at its provider, or take it out of rpcUrls',
            ),
          );
        }
      }),
    );
    endpoints.sort((a, b) => a.name.localeCompare(b.name));
    const each = await Promise.all(
      endpoints.map((endpoint) => checkEndpoint(endpoint, endpoints, section, lookBackSeconds, nowMs)),
    );
    rows.push(
      ...each.flat(),
      ...(await agreement(endpoints, section)),
      ...clockOf(endpoints, section, nowMs()),
    );
    if (rpcUrls.length === 1 && !sandbox)
      rows.push(
        warning(
          'endpoint',
          slug,
          'is the only one: its answers are believed for any amount, and nothing continues while it is down',
          'Add endpoints of two other providers to rpcUrls',
        ),
      );
    else if (rpcUrls.length > 1 && rpcUrls.length < quorum.agree)
      rows.push(
        warning(
          'endpoint',
          slug,
          `${rpcUrls.length} endpoints, and quorum.agree is ${quorum.agree}: all of them must agree`,
          'Add endpoints, or lower quorum.agree',
        ),
      );
    return rows;
  } finally {
    for (const rpc of opened) rpc.close();
  }
}

async function checkEndpoint(
  { name, url, rpc, head }: Endpoint,
  all: readonly Endpoint[],
  section: ChainSection,
  lookBackSeconds: number,
  nowMs: () => number,
): Promise<Finding[]> {
  const best = all.reduce((most, other) => (other.head.number > most ? other.head.number : most), 0n);
  const behind = Number(best - head.number);
  const { maxLagBlocks } = section.endpoints;
  const lag =
    behind > maxLagBlocks
      ? warning(
          'endpoint',
          name,
          `is ${behind} blocks behind another one, more than endpoints.maxLagBlocks (${maxLagBlocks})`,
          'It is not used while that lasts. If it lasts, replace it',
        )
      : ok(
          'endpoint',
          name,
          `chain ${section.id}, block ${head.number}${behind > 0 ? `, ${behind} behind` : ''}`,
        );
  return [
    lag,
    await logRange(name, rpc, head, section),
    ...(await batchSize(name, url, section, nowMs)),
    await history(name, rpc, head, section, lookBackSeconds),
  ];
}

async function logRange(
  name: string,
  rpc: Pick<ChainRpc, 'request'>,
  head: HeadBlock,
  { escrow }: ChainSection,
): Promise<Finding> {
  const range = createLogRange();
  for (;;) {
    const from = range.startOf(head.number);
    const blocks = Number(head.number - from + 1n);
    try {
      await rpc.request('eth_getLogs', [
        { address: escrow, fromBlock: tag(from), toBlock: tag(head.number) },
      ]);
      return blocks < FEW_BLOCKS && from > 0n
        ? warning(
            'log range',
            name,
            `gives logs of ${blocks} blocks at a time`,
            'Catching up after an outage is slow and costs many requests. Use a plan with a wider range',
          )
        : ok('log range', name, `${blocks} blocks at a time`);
    } catch (error) {
      if (range.shrink(from, head.number, error)) continue;
      return failure(
        'log range',
        name,
        messageOf(error),
        'Orders are found by logs. Use another plan or provider',
      );
    }
  }
}

/** Checks batches, and the server's time by HTTP; returns nothing for a WebSocket, which has no batches. */
async function batchSize(
  name: string,
  url: string,
  { timeoutMs, maxClockSkewMs }: ChainSection,
  nowMs: () => number,
): Promise<Finding[]> {
  if (!/^https?:/.test(url)) return [];
  let date: string | null = null;
  for (const calls of BATCHES) {
    const answer = await postBatch(url, calls, timeoutMs).catch(() => undefined);
    date = answer?.date ?? date;
    if (answer?.answered !== true) continue;
    return [
      calls < FEW_CALLS
        ? warning(
            'batch',
            name,
            `takes ${calls} calls in one request`,
            'Busy processes make many small requests and meet rate limits sooner. Use another plan',
          )
        : ok('batch', name, `${calls} calls in one request`),
      ...httpTime(name, date, maxClockSkewMs, nowMs()),
    ];
  }
  return [
    warning(
      'batch',
      name,
      'takes no batches',
      'Each call is a request of its own, which meets rate limits sooner',
    ),
    ...httpTime(name, date, maxClockSkewMs, nowMs()),
  ];
}

async function postBatch(
  address: string,
  calls: number,
  timeoutMs: number,
): Promise<{ answered: boolean; date: string | null }> {
  const url = new URL(address);
  const response = await fetch(`${url.origin}${url.pathname}${url.search}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...loginHeader(url) },
    body: JSON.stringify(
      Array.from({ length: calls }, (_, id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] })),
    ),
    redirect: 'error',
    signal: AbortSignal.timeout(timeoutMs),
  });
  const answers = (await response.json()) as { result?: unknown }[] | object;
  return {
    answered: Array.isArray(answers) && answers.length === calls && answers.every((one) => 'result' in one),
    date: response.headers.get('date'),
  };
}

/** HTTP dates have whole seconds. */
function httpTime(name: string, date: string | null, maxClockSkewMs: number, nowMs: number): Finding[] {
  const theirs = date === null ? Number.NaN : Date.parse(date);
  if (!Number.isFinite(theirs)) return [];
  const seconds = Math.round((nowMs - theirs) / 1_000);
  return Math.abs(seconds) * 1_000 > maxClockSkewMs
    ? [
        warning(
          'clock',
          name,
          `our clock is ${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the endpoint's`,
          'Check that NTP runs on this machine: timedatectl',
        ),
      ]
    : [];
}

async function history(
  name: string,
  rpc: Pick<ChainRpc, 'request'>,
  { number }: HeadBlock,
  { escrow, depth, blockTimeMs, startBlock }: ChainSection,
  lookBackSeconds: number,
): Promise<Finding> {
  const recent = max(number - BigInt(depth) - STATE_MARGIN, 0n);
  const back = BigInt(Math.ceil((lookBackSeconds * 1_000) / blockTimeMs));
  const oldest = max(number - back, BigInt(startBlock));
  const state = (block: bigint) => rpc.request('eth_getBalance', [escrow, tag(block)]);
  const todo = 'Use a plan or a node that keeps it';
  try {
    await state(recent);
  } catch (error) {
    return failure('history', name, `has no state of block ${recent}, at depth: ${messageOf(error)}`, todo);
  }
  try {
    const block = tag(oldest < number ? oldest : number);
    await rpc.request('eth_getLogs', [{ address: escrow, fromBlock: block, toBlock: block }]);
  } catch (error) {
    return failure(
      'history',
      name,
      `has no logs of block ${oldest}, ${lookBackSeconds} s ago: ${messageOf(error)}`,
      `A process that starts reads back so far. ${todo}`,
    );
  }
  try {
    await state(max(oldest, 1n));
  } catch {
    return warning(
      'history',
      name,
      `has no state of block ${oldest}, ${lookBackSeconds} s ago`,
      `Audits and restored databases read it. ${todo}, as one of the endpoints`,
    );
  }
  return ok('history', name, `state and logs back to block ${oldest}`);
}

async function agreement(endpoints: readonly Endpoint[], { slug, depth }: ChainSection): Promise<Finding[]> {
  if (endpoints.length < 2) return [];
  const lowest = endpoints.reduce(
    (least, { head }) => (head.number < least ? head.number : least),
    endpoints[0]?.head.number ?? 0n,
  );
  const settled = max(lowest - BigInt(depth), 0n);
  const hashes = await Promise.all(
    endpoints.map(({ rpc }) =>
      rpc.request<{ hash: Hex } | null>('eth_getBlockByNumber', [tag(settled), false]).then(
        (block) => block?.hash,
        () => undefined,
      ),
    ),
  );
  const told = hashes.filter((hash) => hash !== undefined);
  if (new Set(told).size <= 1)
    return [ok('agreement', slug, `${told.length} endpoints have the same block ${settled}`)];
  const words = endpoints.map(({ name }, index) => `${name} ${hashes[index]?.slice(0, 10) ?? 'nothing'}`);
  return [
    failure(
      'agreement',
      slug,
      `endpoints have different blocks ${settled}: ${words.join(', ')}`,
      'One of them is on a fork or wrong. Compare with a block explorer, and take it out of rpcUrls',
    ),
  ];
}

function clockOf(endpoints: readonly Endpoint[], section: ChainSection, nowMs: number): Finding[] {
  const { slug, maxClockSkewMs, blockTimeMs } = section;
  if (endpoints.length === 0) return [];
  const newest = Math.max(...endpoints.map(({ head }) => head.timestamp));
  const aheadMs = newest * 1_000 - nowMs;
  const ageSeconds = Math.max(0, Math.round(-aheadMs / 1_000));
  if (aheadMs > maxClockSkewMs)
    return [
      failure(
        'clock',
        slug,
        `the newest block is dated ${Math.round(aheadMs / 1_000)} s after our clock`,
        'Our clock is behind: check that NTP runs on this machine. Nothing is quoted meanwhile',
      ),
    ];
  if (ageSeconds > Math.max(STILL_SECONDS, (STILL_BLOCKS * blockTimeMs) / 1_000))
    return [
      failure(
        'clock',
        slug,
        `the newest block is ${ageSeconds} s old`,
        'The chain or its endpoints stand still, or our clock is ahead: compare with a block explorer and check NTP',
      ),
    ];
  return [ok('clock', slug, `the newest block is ${ageSeconds} s old`)];
}

const max = (a: bigint, b: bigint): bigint => (a > b ? a : b);
