/**
 * What CCTP and an OFT have in common: each carries one token between known places, and passes a message that
 * anyone may deliver.
 */

import { RequestError, UpstreamError } from '../../domain/errors.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { BridgeEstimate, BridgeRefusal, BridgeRoute, TransferProgress } from '../../ports/bridge.ts';
import type { ChainPort } from '../../ports/chain.ts';

/** How far the clocks of two chains may differ. */
export const CLOCK_SLACK_SECONDS = 600;

/** A chain to and from which a bridge carries its token. */
export interface BridgePlace {
  chain: ChainPort;
  token: Address;
}

export interface Ends<T extends BridgePlace> {
  source: T;
  destination: T;
}

interface Places<T extends BridgePlace> {
  serves(route: BridgeRoute): boolean;
  /** Throws `RequestError` for a route that is not served. */
  endsOf(route: BridgeRoute): Ends<T>;
}

/** `bridge` names the bridge in errors. */
export function createPlaces<T extends BridgePlace>(places: readonly T[], bridge: string): Places<T> {
  const byChain = new Map(places.map((place) => [place.chain.chain.id, place]));
  const placeOf = ({ chainId, token }: BridgeRoute['from']): T | undefined => {
    const place = byChain.get(chainId);
    return place?.token === token ? place : undefined;
  };
  return {
    serves: ({ from, to }) => from.chainId !== to.chainId && !!placeOf(from) && !!placeOf(to),
    endsOf({ from, to }) {
      const [source, destination] = [placeOf(from), placeOf(to)];
      if (!source || !destination || source === destination)
        throw new RequestError(
          `${bridge} does not carry this token between these chains. Ask serves first.`,
          { code: 'bad_request' },
        );
      return { source, destination };
    },
  };
}

export const bridgeUnavailable = (detail: string): BridgeRefusal => ({ refused: 'unavailable', detail });

/** Answers with a refusal where a node or a service does not answer. */
export async function orUnavailable(
  estimate: Promise<BridgeEstimate | BridgeRefusal>,
): Promise<BridgeEstimate | BridgeRefusal> {
  try {
    return await estimate;
  } catch (error) {
    if (error instanceof UpstreamError) return bridgeUnavailable(error.message);
    throw error;
  }
}

export const waiting = (detail: string): TransferProgress => ({ state: 'waiting', detail });
export const stuck = (detail: string): TransferProgress => ({ state: 'stuck', detail });

export const transactionUnknown = ({ chain }: ChainPort, txHash: Hex): UpstreamError =>
  new UpstreamError('No node knows the transaction that sends. It is looked for again.', {
    code: 'transaction_unknown',
    facts: { chain: chain.slug, txHash },
  });
