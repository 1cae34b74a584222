/** Checks the answers of `lp init` against the venue and the chains. */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Abi,
  BaseError as ViemError,
  type ContractFunctionName,
  decodeFunctionResult,
  encodeFunctionData,
  erc20Abi,
} from 'viem';
import { type HeadBlock, type RpcBlock, toBlock } from '../../../adapters/evm/chain/block.ts';
import { createChain } from '../../../adapters/evm/chain/chain.ts';
import { createRpc, type ChainRpc, RpcRefusal } from '../../../adapters/evm/rpc/rpc.ts';
import { createLog } from '../../../adapters/pino/log.ts';
import { createMetrics } from '../../../adapters/prometheus/metrics.ts';
import { systemClock } from '../../../adapters/system/clock.ts';
import { readFirstMessage } from '../../../adapters/ws/challenge.ts';
import type { Chain } from '../../../domain/chain.ts';
import { RequestError } from '../../../domain/errors.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import { readFromVenue } from '../../../protocol/link/link.ts';
import { escrowAbi } from '../../../settlement/abi/escrow.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { presetOf } from '../../config/presets.ts';
import { readLpAccount } from '../account/state.ts';
import { hasLimits } from '../owner/operators.ts';

export interface VenueFacts {
  venueId: string;
  chains: {
    chainId: number;
    slug: string;
    escrow: Address;
    oracle: Address;
    quoteBond?: Address | undefined;
  }[];
}

export interface TokenFacts {
  address: Address;
  symbol: string;
  name: string;
  decimals: number;
}

export interface ChainFacts {
  /** The preset of this chain; undefined for one without, such as a devnet with a public chain's id. */
  preset: string | undefined;
  blockTimeMs: number;
  minProofWindowSeconds: number;
}

const SAMPLE_BLOCKS = 20n;
const BLOCK_TRIES = 6;
const BLOCK_RETRY_MS = 500;

export async function probeVenue(url: string, apiKey: string): Promise<VenueFacts> {
  if (!URL.canParse(url) || !/^(?:ws|http)s?:/.test(url))
    throw badRequest(`"${url}" is not the address of a venue, such as wss://venue.example.`);
  const heard = await readFirstMessage({ url, apiKey });
  if (heard.kind === 'unreachable')
    throw new RequestError(
      `The venue at ${url} cannot be reached: ${heard.why}. Check the address and that the venue is running.`,
      { code: 'bad_venue' },
    );
  if (heard.kind === 'refused') {
    const why =
      heard.status === 401 || heard.status === 403
        ? 'does not accept this key as a solver key. The venue issues one with: firmquote keys issue --kind solver'
        : `answered ${heard.status}. Check that this is the address of a venue`;
    throw new RequestError(`The venue at ${url} ${why}.`, { code: 'bad_venue' });
  }
  const read = readFromVenue(heard.frame);
  if (!read.ok || read.message.type !== 'challenge')
    throw new RequestError(`The server at ${url} is not a venue of this version.`, { code: 'bad_venue' });
  return { venueId: read.message.venueId, chains: read.message.chains };
}

/** Throws unless the endpoint is on this chain and both contracts have code. */
export async function probeChain(
  rpcUrl: string,
  { slug, chainId, escrow, oracle }: VenueFacts['chains'][number],
): Promise<ChainFacts> {
  return withRpc(rpcUrl, slug, async (rpc) => {
    const id = Number(await rpc.request<Hex>('eth_chainId', []));
    if (id !== chainId)
      throw new RequestError(`This endpoint is on chain ${id}, not on ${slug} (${chainId}).`, {
        code: 'wrong_chain',
      });
    for (const [what, address] of [
      ['escrow', escrow],
      ['oracle', oracle],
    ] as const) {
      if ((await rpc.request<Hex>('eth_getCode', [address, 'latest'])) === '0x')
        throw new RequestError(
          `There is no ${what} on ${slug} at ${address}, which the venue names. Check that the endpoint is synchronised and the venue is the right one.`,
          { code: 'no_escrow' },
        );
    }
    const newest = await knownBlock(rpc, slug, 'latest');
    const since = newest.number > SAMPLE_BLOCKS ? newest.number - SAMPLE_BLOCKS : 0n;
    const [first, window] = await Promise.all([
      knownBlock(rpc, slug, `0x${since.toString(16)}`),
      view(rpc, escrow, escrowAbi, 'MIN_PROOF_WINDOW'),
    ]);
    const spanMs = (newest.timestamp - first.timestamp) * 1_000;
    return {
      preset: await presetThatFits(rpc, chainId),
      blockTimeMs: Math.max(250, Math.round(spanMs / Math.max(1, Number(newest.number - since)))),
      minProofWindowSeconds: Number(window),
    };
  });
}

/**
 * Asks again while the answer is null: behind one address there may be several nodes, of which one is behind.
 * Throws `RequestError` when it stays null.
 */
async function knownBlock(rpc: ChainRpc, slug: string, block: Hex | 'latest'): Promise<HeadBlock> {
  for (let tries = 0; tries < BLOCK_TRIES; tries += 1) {
    const found = await rpc.request<RpcBlock | null>('eth_getBlockByNumber', [block, false]);
    if (found !== null) return toBlock(found);
    await sleep(BLOCK_RETRY_MS);
  }
  throw new RequestError(
    `The endpoint of ${slug} has no block ${block === 'latest' ? 'at all' : BigInt(block)}. Wait until it is synchronised, or use another one.`,
    { code: 'bad_rpc' },
  );
}

/**
 * Returns the preset that fits. Development chains borrow the ids of public ones; only the public ones have
 * the tokens of the preset.
 */
async function presetThatFits(rpc: ChainRpc, chainId: number): Promise<string | undefined> {
  const preset = presetOf(chainId);
  const token = preset?.tokens?.[0];
  if (preset === undefined || token === undefined) return undefined;
  return (await rpc.request<Hex>('eth_getCode', [token.address, 'latest'])) === '0x'
    ? undefined
    : preset.slug;
}

export async function probeTokens(
  rpcUrl: string,
  slug: string,
  addresses: readonly Address[],
): Promise<TokenFacts[]> {
  return withRpc(rpcUrl, slug, (rpc) =>
    Promise.all(
      addresses.map(async (address) => {
        const [symbol, name, decimals] = await Promise.all([
          view(rpc, address, erc20Abi, 'symbol'),
          view(rpc, address, erc20Abi, 'name'),
          view(rpc, address, erc20Abi, 'decimals'),
        ]).catch((cause: unknown) => {
          if (cause instanceof RpcRefusal || cause instanceof ViemError)
            throw new RequestError(
              `${address} on ${slug} is not an ERC-20 token: it has no symbol, name or decimals.`,
              { code: 'not_a_token', cause },
            );
          throw cause;
        });
        return { address, symbol: String(symbol), name: String(name), decimals: Number(decimals) };
      }),
    ),
  );
}

export async function probeAccount(rpcUrl: string, chain: Chain, account: Address, operator: Address) {
  const port = createChain(chain, {
    rpcUrls: [rpcUrl],
    clock: systemClock,
    log: createLog({ app: 'init', level: 'silent' }),
    metrics: createMetrics(),
  });
  try {
    const [lpAccount, operatorAllowed, operatorLimited, operatorGas, balances] = await Promise.all([
      readLpAccount(port, account),
      port.isOperator(account, operator),
      hasLimits(port, account, operator),
      port.nativeBalance(operator),
      Promise.all(
        chain.tokens.map(async ({ symbol, decimals, address }) => ({
          symbol,
          decimals,
          amount: await port.ledgerBalance(account, address),
        })),
      ),
    ]);
    return { lpAccount, operatorAllowed, operatorLimited, operatorGas, balances };
  } finally {
    await port.close();
  }
}

async function withRpc<T>(url: string, slug: string, work: (rpc: ChainRpc) => Promise<T>): Promise<T> {
  if (!URL.canParse(url)) throw badRequest(`The endpoint of ${slug} is not a URL.`);
  const rpc = createRpc([url], { timeoutMs: 8_000 });
  try {
    return await work(rpc);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'rpc_unavailable')
      throw new RequestError(`The endpoint of ${slug} does not answer. Check its address.`, {
        code: 'bad_rpc',
        cause: error,
      });
    throw error;
  } finally {
    rpc.close();
  }
}

async function view<const A extends Abi, N extends ContractFunctionName<A, 'view' | 'pure'>>(
  rpc: ChainRpc,
  to: Address,
  abi: A,
  functionName: N,
): Promise<unknown> {
  const call = { abi, functionName } as never;
  const data = await rpc.request<Hex>('eth_call', [{ to, data: encodeFunctionData(call) }, 'latest']);
  return decodeFunctionResult({ ...(call as object), data } as never);
}
