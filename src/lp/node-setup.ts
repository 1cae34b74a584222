/**
 * What a maker's configuration comes to before it runs: rules of leases, buckets, caps; and chains that are
 * what the configuration says they are.
 */

import { max, parseUnits } from '../domain/amount.ts';
import { RequestError, UpstreamError } from '../domain/errors.ts';
import type { LeaseRule } from '../inventory/lease.ts';
import type { Cap, Limits } from '../inventory/limits.ts';
import type { ChainPort } from '../ports/chain.ts';
import type { Clock } from '../ports/clock.ts';
import type { Position } from './accounting/bands.ts';
import type { LpConfig } from './config/config.ts';
import type { Desk } from './quoting/quoting-config.ts';
import { longestPoint } from './quoting/tenors.ts';
import type { LpChain } from './quoting/route.ts';

const READY_MS = 30_000;

/** How far ahead of now a promise may have to reach, by chain. */
export function leaseRules(chains: readonly LpChain[], { quoting, lease }: LpConfig): Map<number, LeaseRule> {
  return new Map(
    chains.map(({ chain, config }) => [
      chain.id,
      {
        longestQuoteSeconds: longestPoint(quoting) + chain.landingMarginSeconds,
        aheadSeconds: lease.aheadSeconds,
        graceSeconds: graceOf({ chain, config }),
      },
    ]),
  );
}

export function positionsOf({ book }: Desk): Position[] {
  return book.bands.positions((asset) => {
    const price = book.usd(asset);
    return price && Number(price.num) / Number(price.den);
  });
}

/** By the chain's pace where none is configured. */
export function graceOf(place: LpChain | undefined): number {
  return place?.config.graceSeconds ?? ((place?.chain.blockTimeMs ?? 0) >= 12_000 ? 36 : 15);
}

export function bucketsOf(chains: readonly LpChain[], config: LpConfig) {
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

export function limitsOf({ limits }: LpConfig): Limits {
  const cap = (given: { count?: number | undefined; notionalUsd?: number | undefined } | undefined): Cap => ({
    ...(given?.count !== undefined && { count: given.count }),
    ...(given?.notionalUsd !== undefined && { notional: BigInt(given.notionalUsd) * 1_000_000n }),
  });
  return Object.fromEntries(Object.entries(limits).map(([name, given]) => [name, cap(given)]));
}

const DECIMALS = '0x313ce567';

/**
 * Amounts are whole tokens in the configuration and base units on the chain: a wrong number of decimals is
 * money lost by powers of ten.
 */
export async function checkDecimals(port: ChainPort, config: LpConfig): Promise<void> {
  for (const { symbol, address, decimals } of port.chain.tokens.filter(
    (token) => token.symbol in config.assets,
  )) {
    const answer = await port.read(address, DECIMALS);
    const real = answer === undefined || answer.length < 66 ? undefined : BigInt(answer);
    if (real === BigInt(decimals)) continue;
    const says = real === undefined ? 'does not say how many decimals it has' : `has ${real} decimals`;
    throw new RequestError(
      `${symbol} at ${address} on ${port.chain.slug} ${says}, and the configuration says ${decimals}. Correct the token's address or decimals, or take it out of the assets.`,
      { code: 'bad_config', facts: { control: 'fat_finger', chainId: port.chain.id, token: address } },
    );
  }
}

/** A chain is ready when its final block shows the escrow: a chain just deployed to is not, for a moment. */
export async function ready(port: ChainPort, clock: Clock): Promise<void> {
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
