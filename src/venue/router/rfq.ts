/**
 * The RFQ venue as one source of the router: the same solvers, the same verification, the same splits, inside
 * the process.
 */

import type { Clock } from '../../ports/clock.ts';
import type { Liquidity } from '../market/liquidity.ts';
import type { RfqCandidate, RfqSource } from '../quoting/rfq-source.ts';
import type { Roster } from '../solvers/roster.ts';
import type { SolverRequest } from '../quoting/verify.ts';
import type { RouteLeg, RouteOffer, RouteSource } from './source.ts';

/** Also the `venue` of its legs. */
export const RFQ_VENUE = 'rfq';

export interface RfqRouteDeps {
  source: RfqSource;
  roster: Roster;
  liquidity: Liquidity;
  clock: Clock;
}

export function createRfqRouteSource({ source, roster, liquidity, clock }: RfqRouteDeps): RouteSource {
  function offerOf(ask: SolverRequest, candidate: RfqCandidate): RouteOffer {
    const { verified, landing } = candidate;
    return {
      ...candidate,
      source: RFQ_VENUE,
      solverId: verified.solverId,
      order: verified.order,
      minimumOutput: verified.outputAmount,
      landing,
      commitments: verified.commitments,
      settledBy: null,
      lpSpreadBps: verified.lpSpreadBps,
      legs: legsOf(ask, candidate),
      thin: verified.commitments.some(
        ({ lp }, index) =>
          (liquidity.available(ask.dest.id, lp, ask.outputToken.address) ?? 0n) <
          2n * (verified.slices[index]?.outputAmount ?? 0n),
      ),
      underWatch: verified.slices.some(({ solverId }) =>
        roster.entry(solverId)?.breaker.underWatch(clock.nowMs()),
      ),
      isStillBacked: () => source.affords(ask, candidate),
      recordExposure: () => source.bind(ask, candidate),
    };
  }

  return {
    id: RFQ_VENUE,
    kind: 'rfq',
    serves: (intent) => source.serves(intent),
    async find(intent, nonce, withinMs) {
      const { ask, found, why } = await source.find(intent, nonce, withinMs);
      return { offers: found.map((candidate) => offerOf(ask, candidate)), why };
    },
  };
}

/** A leg a slice: they stand beside each other in one order. */
function legsOf(
  { origin, dest, inputToken, outputToken }: SolverRequest,
  { verified, eta }: RfqCandidate,
): RouteLeg[] {
  let left = verified.inputAmount;
  return verified.slices.map(({ solverId, portionBps, outputAmount }, index) => {
    const amount =
      index === verified.slices.length - 1 ? left : (verified.inputAmount * BigInt(portionBps)) / 10_000n;
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
      eta,
      dependsOn: [],
    };
  });
}
