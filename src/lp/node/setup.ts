/** Derives an LP's settings from its configuration before it runs, and checks that the chains match it. */

import { max, parseUnits } from '../../domain/amount.ts';
import { RequestError, UpstreamError } from '../../domain/errors.ts';
import type { Address } from '../../domain/hex.ts';
import type { BucketConfig } from '../../inventory/bucket.ts';
import type { LeaseRule } from '../../inventory/lease.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Sequencer } from '../../ports/feed.ts';
import type { Position } from '../accounting/bands.ts';
import type { LpConfig } from '../config/config.ts';
import { createPriceSources, type PriceSources } from '../market/price-sources.ts';
import { createLpMetrics, type LpMetrics } from '../metrics.ts';
import { crossLandingSeconds } from '../../domain/chain.ts';
import type { QuotingSnapshot } from '../quoting/quoting-snapshot.ts';
import { longestTenorSeconds } from '../config/longest-tenor.ts';
import type { LpChain } from '../routes/route.ts';
import type { LpNodeDeps } from './interface.ts';

export type LpChainWithPort = LpChain & { port: ChainPort };

/** What an LP has before it opens its ledger. */
export interface NodeBase {
  lpChains: LpChainWithPort[];
  /** The same on every chain. */
  account: Address;
  prices: PriceSources;
  /** The chain's slug, or its id when it is not configured. */
  slug(chainId: number): string;
  /** Every token of its inventory. */
  buckets: readonly (BucketConfig & { buffer: bigint })[];
  lpMetrics: LpMetrics;
}

export function createNodeBase(
  { chains, feeds, metrics, clock, log, ...deps }: LpNodeDeps,
  config: LpConfig,
): NodeBase {
  const lpChains = lpChainsOf(chains, config);
  const account = accountOf(lpChains);
  const sequencers = deps.sequencers ?? new Map<number, Sequencer>();
  const slugs = new Map(lpChains.map(({ chain }) => [chain.id, chain.slug]));
  const slug = (chainId: number) => slugs.get(chainId) ?? String(chainId);
  return {
    lpChains,
    account,
    prices: createPriceSources({ sequencers, slug, clock, log, metrics }, config, feeds),
    slug,
    buckets: bucketsOf(lpChains, config),
    lpMetrics: createLpMetrics(metrics, {
      pairs: config.pairs.map(({ base, quote }) => `${base}-${quote}`),
      venues: deps.links.map(({ name }) => name),
    }),
  };
}

function lpChainsOf(ports: readonly ChainPort[], config: LpConfig): LpChainWithPort[] {
  return config.chains.map((chain) => {
    const port = ports.find((each) => each.chain.id === chain.chainId);
    if (port === undefined)
      throw new RequestError(
        `Chain ${chain.chainId} is configured for this LP but not described. Add it, or take it out.`,
        { code: 'bad_config' },
      );
    return { config: chain, chain: port.chain, port };
  });
}

function accountOf(chains: readonly LpChain[]): Address {
  const [account, ...others] = new Set(chains.map(({ config }) => config.account));
  if (account === undefined || others.length > 0)
    throw new RequestError(
      'An LP has one account address, the same on every chain: the escrow credits the address that paid.',
      { code: 'bad_config' },
    );
  return account;
}

const READY_MS = 30_000;

export function leaseRules(chains: readonly LpChain[], { quoting, lease }: LpConfig): Map<number, LeaseRule> {
  return new Map(
    chains.map(({ chain, config }) => [
      chain.id,
      {
        longestQuoteSeconds:
          longestTenorSeconds(quoting) +
          Math.max(
            chain.landingMarginSeconds,
            Math.min(quoting.maxLandingMarginSeconds, crossLandingSeconds(chain, undefined)),
          ),
        aheadSeconds: lease.aheadSeconds,
        graceSeconds: graceSecondsOf({ chain, config }),
      },
    ]),
  );
}

export function positionsOf({ context }: Pick<QuotingSnapshot, 'context'>): Position[] {
  return context.bands.positions((asset) => {
    const price = context.usd(asset);
    return price && Number(price.num) / Number(price.den);
  });
}

export function graceSecondsOf(chain: LpChain | undefined): number {
  return chain?.config.graceSeconds ?? ((chain?.chain.blockTimeMs ?? 0) >= 12_000 ? 36 : 15);
}

export function bucketsOf(
  chains: readonly LpChain[],
  config: LpConfig,
): (BucketConfig & { buffer: bigint })[] {
  const buffers = new Map(config.chains.map((chain) => [chain.chainId, chain.buffers]));
  return chains.flatMap(({ chain }) =>
    chain.tokens
      .filter(({ symbol }) => symbol in config.assets)
      .map(({ address, symbol, decimals }) => ({
        chainId: chain.id,
        token: address,
        asset: symbol,
        decimals,
        buffer: parseUnits(buffers.get(chain.id)?.[symbol] ?? '0', decimals),
      })),
  );
}

/** The selector of ERC-20 `decimals()`. */
const DECIMALS = '0x313ce567';

/** A wrong number of decimals would make every amount wrong by powers of ten. */
export async function checkDecimals(port: ChainPort, config: LpConfig): Promise<void> {
  for (const { symbol, address, decimals } of port.chain.tokens.filter(
    (token) => token.symbol in config.assets,
  )) {
    const answer = await port.read(address, DECIMALS);
    const real = answer === undefined || answer.length < 66 ? undefined : BigInt(answer);
    if (real === BigInt(decimals)) continue;
    const says = real === undefined ? 'does not say how many decimals it has' : `has ${real} decimals`;
    throw new RequestError(
      `${symbol} at ${address} on ${port.chain.slug} ${says}, and the configuration says ${decimals}. ` +
        "Correct the token's address or decimals, or take it out of the assets.",
      { code: 'bad_config', facts: { control: 'fat_finger', chainId: port.chain.id, token: address } },
    );
  }
}

/** Waits until the final block of the chain has the escrow: right after a deployment it has not. */
export async function waitUntilReady(port: ChainPort, clock: Clock): Promise<void> {
  const untilMs = clock.monotonicMs() + READY_MS;
  for (;;) {
    const head = port.head();
    if (
      head !== undefined &&
      (await port.hasCode(port.chain.escrow, max(head.number - BigInt(port.chain.depth), 0n)))
    )
      return;
    if (clock.monotonicMs() > untilMs) {
      const what = head === undefined ? 'no block' : 'no escrow at its configured address';
      throw new UpstreamError(
        `Chain ${port.chain.slug} shows ${what}. Check its RPC endpoints and addresses.`,
        { code: 'chain_unavailable' },
      );
    }
    await new Promise<void>((resolve) => clock.after(100, resolve));
  }
}
