/**
 * The quote path of the LP, from a request to signed quotes or a decline: admit, price, hold, sign. Nothing
 * is signed that is not held first, and in shadow mode the path ends before it signs. It waits for no chain;
 * for the database only to extend the lease for an unusually long validity, for Redis with several replicas,
 * and for a remote signer.
 */

import { type Decline, isDecline } from '../../domain/decline.ts';
import type { LinkDecline, LinkPartial, LinkQuote } from '../../protocol/link/link.ts';
import type { LpConfig } from '../config/config.ts';
import type { QuoteEvents } from '../quote-log/quote-events.ts';
import type { VenueRfq } from '../risk/venue-budgets.ts';
import type { Routes } from '../routes/route.ts';
import { type Admission, type AdmissionDeps, createAdmission } from './admission.ts';
import { declined, declineMessage } from './decline.ts';
import { type HoldDeps, priceAndHold } from './hold-quotes.ts';
import { offerPart, type PartDeps } from './offer-part.ts';
import { type SigningDeps, signQuotes } from './sign-quotes.ts';

export type LpAnswer = LinkQuote | LinkPartial | LinkDecline;

export interface QuoteHandler {
  /**
   * Quotes at several tenors, or one decline, or one ladder of a part. Rejects only on a bug. `untilMs`: of
   * the monotonic clock, after which an answer is late.
   */
  handleQuoteRequest(rfq: VenueRfq, untilMs: number): Promise<readonly LpAnswer[]>;
}

export interface QuoteHandlerDeps extends AdmissionDeps, HoldDeps, PartDeps, SigningDeps {
  routes: Routes;
  quoteEvents: Pick<QuoteEvents, 'quoted' | 'declined'>;
  risk: HoldDeps['risk'] & {
    /** Counts a request that a risk control refused; other declines count elsewhere. */
    countRefusal(decline: Decline): void;
  };
}

/** The answer to a request that was priced and held in shadow mode. */
const SHADOW = { declined: 'standby', code: 'shadow' } as const satisfies Decline;

export function createQuoteHandler(
  deps: QuoteHandlerDeps,
  { quoting }: Pick<LpConfig, 'quoting'>,
): QuoteHandler {
  const admission = createAdmission(deps, quoting);
  return { handleQuoteRequest: (rfq, untilMs) => handleQuoteRequest(deps, admission, quoting, rfq, untilMs) };
}

async function handleQuoteRequest(
  deps: QuoteHandlerDeps,
  admission: Admission,
  { etaSeconds }: LpConfig['quoting'],
  rfq: VenueRfq,
  untilMs: number,
): Promise<readonly LpAnswer[]> {
  const route = deps.routes.find(rfq.input, rfq.output);
  if (route === undefined || !admission.isValid(rfq, route))
    return declined(deps, rfq, route, { declined: 'pair' });
  const admitted = await admission.admit(rfq, route);
  if (isDecline(admitted)) return declined(deps, rfq, route, admitted);
  const held = await priceAndHold(deps, rfq, route, admitted);
  if (!Array.isArray(held)) return offerPart(deps, rfq, route, admitted, held);
  // A stop may have come while the lease or the other replicas were asked. The holds expire by themselves.
  const stopped = deps.standby.refusal(route);
  if (stopped !== undefined) return declined(deps, rfq, route, stopped);
  for (const { record } of held) deps.quoteEvents.quoted(record);
  if (deps.commitments === undefined) return [declineMessage(rfq, SHADOW)];
  return signQuotes(deps, deps.commitments, etaSeconds, rfq, route, held, untilMs);
}
