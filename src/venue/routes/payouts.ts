/** POST /router/payouts/offers and GET /router/payouts/{partnerId}/{offerId} */

import type * as z from 'zod';
import type { Route } from '../../ports/http.ts';
import {
  type PayoutOffersRequest,
  zPayoutOffersRequest,
  zPayoutOffersResponse,
  zPayoutParams,
  zPayoutStatus,
} from '../../protocol/payouts/offers.ts';
import type { Payouts } from '../payouts/payouts.ts';

export function payoutRoutes({ payouts }: { payouts: Payouts }) {
  const offers: Route<PayoutOffersRequest> = {
    method: 'POST',
    path: '/api/v1/router/payouts/offers',
    keyKinds: ['service'],
    rate: 'quote',
    load: 'preflight',
    tag: 'router',
    summary:
      'What route partners would pay out to a bank for a token that you hold; the escrow has no part in it',
    body: zPayoutOffersRequest,
    response: zPayoutOffersResponse,
    handle: ({ body, key }) => payouts.offers(body, key),
  };
  const status: Route<unknown, unknown, z.infer<typeof zPayoutParams>> = {
    method: 'GET',
    path: '/api/v1/router/payouts/:partnerId/:offerId',
    keyKinds: ['service'],
    rate: 'read',
    load: 'preflight',
    tag: 'router',
    summary: 'How a payout stands, as its partner says and signs',
    params: zPayoutParams,
    response: zPayoutStatus,
    handle: ({ params, key }) => payouts.status(params, key),
  };
  return [offers, status] as const;
}
