/**
 * Taker and receiver before every quote and every submission: what is known without asking costs nothing, and
 * nobody is told why.
 */

import type { Address } from '../../domain/hex.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Screened, ScreenedParty, Screener, ScreeningCheck } from '../../ports/screening.ts';
import { ApiError, InvalidError, type Location, type Refusal } from '../../protocol/errors.ts';

export interface Parties {
  taker: Address;
  receiver: Address;
}

export interface Screening {
  /** What the screeners say of both, whatever it is. Synchronous when all of them know it by heart. */
  screen(parties: Parties): Screened | Promise<Screened>;
  /**
   * The same where only an allowed trade may go on: throws 422 `address_denied` at the party's place, 503
   * when somebody could not be asked.
   */
  requireAllowed(parties: Parties, at: Record<keyof Parties, Location>): Screened | Promise<Screened>;
}

export function createScreening({
  screeners,
  metrics,
}: {
  screeners: readonly Screener[];
  metrics: Metrics;
}): Screening {
  const screened = metrics.counter(
    'firmquote_venue_screened_total',
    'Addresses screened before a quote or a submission',
    ['decision'],
  );

  function look({ taker, receiver }: Parties): Screened | Promise<Screened> {
    const first = party(taker, screeners);
    const second = receiver === taker ? first : party(receiver, screeners);
    return first instanceof Promise || second instanceof Promise
      ? Promise.all([first, second]).then(([a, b]) => both(a, b))
      : both(first, second);
  }

  function judge(result: Screened, at: Record<keyof Parties, Location>): Screened {
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
          type: 'address_denied' satisfies Refusal,
        })),
      );
    }
    if (result.decision === 'unknown')
      throw new ApiError(
        'unavailable',
        'The address screening that this venue requires does not answer at the moment, so nothing was done. Try again in a few seconds.',
        { retryAfterSeconds: 5 },
      );
    return result;
  }

  return {
    screen: look,
    requireAllowed(parties, at) {
      const result = look(parties);
      return result instanceof Promise ? result.then((found) => judge(found, at)) : judge(result, at);
    },
  };
}

function party(address: Address, screeners: readonly Screener[]): ScreenedParty | Promise<ScreenedParty> {
  const checks = screeners.map((screener) => screener.screen(address));
  const whole = (found: readonly ScreeningCheck[]): ScreenedParty => ({
    address,
    decision: worst(found.map(({ decision }) => decision)),
    checks: found,
  });
  return checks.some((check) => check instanceof Promise)
    ? Promise.all(checks).then(whole)
    : whole(checks as ScreeningCheck[]);
}

const both = (taker: ScreenedParty, receiver: ScreenedParty): Screened => ({
  decision: worst([taker.decision, receiver.decision]),
  taker,
  receiver,
});

/** One denial outweighs everything; an unanswered question outweighs every yes. */
function worst(decisions: readonly ScreenedParty['decision'][]): ScreenedParty['decision'] {
  for (const decision of ['denied', 'unknown', 'allowed'] as const)
    if (decisions.includes(decision)) return decision;
  return 'not_screened';
}
