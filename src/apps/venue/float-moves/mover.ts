/** Asks the account's contract on each chain whether the mover of a float may move it. */

import { formatTokens } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import type { BridgeChain } from '../../wiring/bridges.ts';
import type { BridgeTransports } from '../../config/bridges.ts';
import { routesFrom } from '../../lp/account/routes.ts';
import { readLpAccount, readMoverLimit, readRoute } from '../../lp/account/state.ts';

interface Keeper {
  account: Address;
  mover: Address;
}

/**
 * Explains to the operator why the mover may not, and what to do; undefined: it may. Throws `UpstreamError`.
 */
export async function whyNotMovable(
  chain: ChainPort,
  { account, mover }: Keeper,
): Promise<string | undefined> {
  const { slug, escrow } = chain.chain;
  const state = await readLpAccount(chain, account);
  if (state === undefined)
    return `${account} is no LpAccount on ${slug}, and only an LpAccount has a mover. Move the float into one (docs/lp/account.md), or set moves of the bridge to null`;
  if (state.closed) return `the LpAccount ${account} is closed on ${slug}. Move the float into another`;
  if (state.escrow !== escrow)
    return `the LpAccount ${account} ${state.escrow === null ? 'is not set up' : `belongs to the escrow ${state.escrow}`} on ${slug}. Its owner initialises it for ${escrow}`;
  if (state.mover !== mover)
    return `the mover of ${account} on ${slug} is ${state.mover ?? 'nobody'}, and the key in moves.mover is ${mover}. Its owner calls setMover, or correct moves.mover`;
  return undefined;
}

/** Explains the same for `amount` base units that leave the chain for one of `sections`. */
export async function whyNotSendable(
  chain: ChainPort,
  { account }: Pick<Keeper, 'account'>,
  { token, amount }: { token: TokenInfo; amount: bigint },
  { by, sections }: { by: BridgeTransports; sections: readonly BridgeChain[] },
): Promise<string | undefined> {
  const { id, slug } = chain.chain;
  const carried = routesFrom(id, by, sections).filter(({ list, asset, via }) =>
    list === 'cctpRoute' ? asset === token.address : via === token.address,
  );
  for (const route of carried) {
    const listed = await readRoute(chain, account, route);
    if (listed.via !== route.via || listed.feeBps < route.feeBps)
      return `the route ${route.name} is not listed in ${account} on ${slug} with a fee of ${route.feeBps} bps. Its owner lists it (docs/lp/account.md)`;
  }
  const { most, requested, sent } = await readMoverLimit(chain, account, token.address);
  const used = requested > sent ? requested : sent;
  if (most - used < amount)
    return `the mover may move ${formatTokens(most, token)} a day on ${slug}, of which ${formatTokens(used, token)} are used today, and ${formatTokens(amount, token)} are wanted. Wait for the next day (UTC), or its owner calls setMoverLimit`;
  return undefined;
}
