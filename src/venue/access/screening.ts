/** Screens taker and receiver. The caller never learns the reason. */

import type { Address } from '../../domain/hex.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Screened, ScreenedParty, Screener } from '../../ports/screening.ts';
import { ApiError, InvalidError, type Location, type RefusalType } from '../../protocol/errors.ts';

interface Parties {
  taker: Address;
  receiver: Address;
}

export interface Screening {
  screen(parties: Parties): Promise<Screened>;
  /** Throws 422 `address_denied` at the party's location, 503 when a required screener did not answer. */
  requireAllowed(parties: Parties, at: Record<keyof Parties, Location>): Promise<Screened>;
}

export function createScreening({
  screeners,
  metrics,
}: {
  screeners: readonly Screener[];
  metrics: Metrics;
}): Screening {
  const screened = metrics.counter('firmquote_venue_screened_total', 'Screened addresses', {
    decision: ['allowed', 'denied', 'unknown', 'not_screened'],
  });

  async function screen({ taker, receiver }: Parties): Promise<Screened> {
    const [first, second] = await Promise.all([
      screenParty(taker, screeners),
      receiver === taker ? undefined : screenParty(receiver, screeners),
    ]);
    return both(first, second ?? first);
  }

  async function requireAllowed(parties: Parties, at: Record<keyof Parties, Location>): Promise<Screened> {
    const result = await screen(parties);
    screened.add({ decision: result.decision });
    if (result.decision === 'denied') {
      const denied = (['taker', 'receiver'] as const).filter(
        (side) =>
          result[side].decision === 'denied' &&
          (side === 'taker' || result.receiver.address !== result.taker.address),
      );
      throw new InvalidError(
        denied.map((side) => ({
          loc: at[side],
          msg: `The venue does not serve this ${side}. Nothing was quoted or submitted.`,
          type: 'address_denied' satisfies RefusalType,
        })),
      );
    }
    if (result.decision === 'unknown')
      throw new ApiError(
        'unavailable',
        'The required address screening does not answer, so nothing was done. Try again in a few seconds.',
        { retryAfterSeconds: 5 },
      );
    return result;
  }

  return { screen, requireAllowed };
}

async function screenParty(address: Address, screeners: readonly Screener[]): Promise<ScreenedParty> {
  const checks = await Promise.all(screeners.map((screener) => screener.screen(address)));
  return { address, decision: worst(checks.map(({ decision }) => decision)), checks };
}

const both = (taker: ScreenedParty, receiver: ScreenedParty): Screened => ({
  decision: worst([taker.decision, receiver.decision]),
  taker,
  receiver,
});

/** A denial outweighs everything, a missing answer every approval. */
function worst(decisions: readonly ScreenedParty['decision'][]): ScreenedParty['decision'] {
  for (const decision of ['denied', 'unknown', 'allowed'] as const)
    if (decisions.includes(decision)) return decision;
  return 'not_screened';
}
