/** The LP's tokens and accounts by chain: what a transfer by their names moves, and what it is worth. */

import { formatUnits, parseUnits } from '../../../domain/amount.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { LpNode } from '../../../lp/node/interface.ts';
import type { BridgeMove } from '../../../ports/bridge.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import type { LpAppConfig } from '../config.ts';

type Place = BridgeMove['from'];

/** A route by the names that people use. */
export interface NamedRoute {
  asset: string;
  from: string;
  to: string;
}

export interface Moves {
  /** undefined: the chain or the token is not configured. */
  tokenAt(place: Place): TokenInfo | undefined;
  slugOf(chainId: number): string;
  /** Values an amount in USD; undefined: no price is known now. */
  worthUsd(place: Place, amount: bigint): number | undefined;
  /** Makes a move. `amountOf`: base units of a token with so many decimals. Throws `RequestError`. */
  moveOf(route: NamedRoute, amountOf: (decimals: number) => bigint): BridgeMove;
}

export function createMoves(
  { chains, node }: { chains: readonly Pick<ChainPort, 'chain'>[]; node: Pick<LpNode, 'status'> },
  lp: Pick<LpAppConfig['lp'], 'chains' | 'assets'>,
): Moves {
  const byId = new Map(chains.map(({ chain }) => [chain.id, chain]));
  const accountOn = new Map(lp.chains.map(({ chainId, account }) => [chainId, account]));
  const tokenAt = ({ chainId, token }: Place) =>
    byId.get(chainId)?.tokens.find(({ address }) => address === token);

  function placeOn(slug: string, asset: string) {
    const chain = chains.find((each) => each.chain.slug === slug)?.chain;
    const token = chain?.tokens.find(({ symbol }) => symbol === asset);
    if (chain === undefined || token === undefined)
      throw badRequest(`This LP has no ${asset} on ${slug}. Name a token and two of its chains.`);
    return { chainId: chain.id, token: token.address, decimals: token.decimals };
  }

  return {
    tokenAt,
    slugOf: (chainId) => byId.get(chainId)?.slug ?? String(chainId),
    worthUsd(place, amount) {
      const token = tokenAt(place);
      const symbol = token && lp.assets[token.symbol]?.price;
      const usd = node.status().prices.find((price) => price.symbol === symbol)?.usd ?? undefined;
      return token && usd !== undefined ? Number(formatUnits(amount, token.decimals)) * usd : undefined;
    },
    moveOf({ asset, from, to }, amountOf) {
      if (from === to)
        throw badRequest(`A transfer goes from one chain to another; both are ${from}. Name two chains.`);
      const [source, dest] = [placeOn(from, asset), placeOn(to, asset)];
      const account = accountOn.get(source.chainId);
      if (account === undefined || account !== accountOn.get(dest.chainId))
        throw badRequest(
          `The LP has different accounts on ${from} and ${to}. Money is moved between one account and itself: see docs/lp/account.md.`,
        );
      return {
        account,
        amount: amountOf(source.decimals),
        from: { chainId: source.chainId, token: source.token },
        to: { chainId: dest.chainId, token: dest.token },
      };
    },
  };
}

/** Parses what a person wrote in whole tokens to base units. Throws `RequestError`. */
export function writtenAmount(text: string, { asset, from }: NamedRoute, decimals: number): bigint {
  const [, fraction = ''] = text.split('.');
  if (fraction.replace(/0+$/, '').length > decimals)
    throw badRequest(`${text} ${asset} cannot be moved: ${asset} on ${from} has ${decimals} decimals.`);
  const amount = parseUnits(text, decimals);
  if (amount === 0n) throw badRequest(`A transfer moves more than 0 ${asset}.`);
  return amount;
}
