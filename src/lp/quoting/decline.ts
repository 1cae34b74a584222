/** Declines of a request: the message to the venue, and the event for the quote log. */

import type { Decline } from '../../domain/decline.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { Clock } from '../../ports/clock.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { LinkDecline, Rfq } from '../../protocol/link/link.ts';
import type { QuoteEvents } from '../quote-log/quote-events.ts';
import type { QuoteRoute } from '../routes/route.ts';

export interface DeclineDeps {
  quoteEvents: Pick<QuoteEvents, 'declined'>;
  clock: Clock;
}

/** Records the decline and returns the answer to the venue. */
export function declined(
  { quoteEvents, clock }: DeclineDeps,
  rfq: Rfq,
  route: QuoteRoute | undefined,
  reason: Decline,
  inputs?: PriceInputs,
): readonly [LinkDecline] {
  quoteEvents.declined(rfq, route, reason, clock.nowMs(), inputs);
  return [declineMessage(rfq, reason)];
}

export function declineMessage(
  rfq: Pick<Rfq, 'rfqId'>,
  { declined: reason, control, code, maxAmount, minAmount }: Decline,
  quoteId?: Bytes32,
): LinkDecline {
  const said = control ?? code;
  return {
    type: 'decline',
    rfqId: rfq.rfqId,
    ...(quoteId !== undefined && { quoteId }),
    reason,
    ...(said !== undefined && { code: said }),
    maxAmount: maxAmount === undefined ? null : maxAmount.toString(),
    ...(minAmount !== undefined && { minAmount: minAmount.toString() }),
  };
}
