/** Solvers as a source of the router. */

import type { RfqSource } from '../quoting/rfq-source.ts';
import type { RfqCandidate } from '../quoting/rank-quotes.ts';
import type { SolverRequest } from '../quoting/verify.ts';
import type { RouteLeg, RouteOffer, RouteSource } from './source.ts';

export const RFQ_VENUE = 'rfq';

export function createRfqRouteSource(source: RfqSource): RouteSource {
  const offerOf = (asked: SolverRequest, candidate: RfqCandidate): RouteOffer => {
    const { quote, ...ranking } = candidate;
    return {
      ...ranking,
      source: RFQ_VENUE,
      solverId: quote.solverId,
      order: quote.order,
      minimumOutput: quote.outputAmount,
      commitments: quote.commitments,
      settledBy: null,
      lpSpreadBps: quote.lpSpreadBps,
      legs: legsOf(asked, candidate),
      thin: quote.thin,
      promise: async () => true,
      isStillBacked: () => source.isStillBacked(asked, candidate),
      recordPromise: () => source.recordPromise(asked, candidate),
    };
  };
  return {
    id: RFQ_VENUE,
    kind: 'rfq',
    serves: (pair) => source.serves(pair),
    async find(pair, nonce, withinMs) {
      const { asked, candidates, why } = await source.find(pair, nonce, withinMs);
      return { offers: candidates.map((candidate) => offerOf(asked, candidate)), why };
    },
  };
}

function legsOf(
  { origin, dest, inputToken, outputToken }: SolverRequest,
  { quote, eta }: RfqCandidate,
): RouteLeg[] {
  let left = quote.inputAmount;
  return quote.slices.map(({ solverId, portionBps, outputAmount }, index) => {
    const amount =
      index === quote.slices.length - 1 ? left : (quote.inputAmount * BigInt(portionBps)) / 10_000n;
    left -= amount;
    return {
      kind: 'rfq',
      solverId,
      venue: RFQ_VENUE,
      chainId: origin.id,
      input: { asset: { chainId: origin.id, token: inputToken.address }, amount },
      output: {
        asset: { chainId: dest.id, token: outputToken.address },
        amount: outputAmount,
        minimum: outputAmount,
      },
      // An LP earns a spread in its price and charges no fee beside it.
      fee: null,
      eta,
      dependsOn: [],
    };
  });
}
