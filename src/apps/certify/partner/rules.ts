/**
 * Lists every rule that `firmquote certify partner` checks, with the sentence of the page that it stands on.
 */

import type { CertifiedRule } from '../rules.ts';

const rule = (sentence: string): CertifiedRule => ({
  page: 'docs/reference/route-partner-protocol.md',
  sentence,
});
const optional = (sentence: string): CertifiedRule => ({ ...rule(sentence), optional: true });

export const PARTNER_RULES = {
  signature: rule('Refuse a request without a valid signature of the venue with `bad_signature`.'),
  time: rule('Refuse one whose time is more than five minutes from your clock in the same way.'),
  replay: rule('Refuse a `webhook-id` that you have seen in the last ten minutes with `replayed`.'),
  path: rule('Refuse a body whose `type` is not the end of the path with `bad_request`.'),
  audience: rule('Refuse one that names another partner in the same way.'),
  answers: rule('Sign every answer, errors too, with the id of the request.'),
  schema: rule('Answer 200 with the JSON of the [table](#requests)'),
  account: rule('The account on both is the same: it fills on one and is paid on the other.'),
  deadline: rule('Answer within the time of the venue, 500 ms by default.'),
  'fixed-side': rule('`amountIn` or `amountOut`, whichever the request fixes, equals `amount`.'),
  limits: rule('Keep to your own limits: a quote outside `minAmountIn` and `maxAmountIn` is a fault.'),
  validity: rule('It lies within `validFrom` and `validTo`, and not after your `cutOff`.'),
  'cut-off': optional(
    'open from `from`, no quote is valid after `cutOff`, and nothing is delivered after `to`.',
  ),
  'same-block': rule(
    'Balances count as of `destBlock`, so that all sources of one answer see the same chain.',
  ),
  'same-price': rule('The same request gets the same amounts.'),
  reserve: rule('Promise no more than the ledger balance covers.'),
  'order-id': rule('Recompute the orderId with the escrow that you know'),
  source: rule('Refuse an order whose oracle, escrow or chain is not that of your own source.'),
  match: rule(
    'Refuse an order that is not exclusive to your account, pays you less than `amountIn`, or demands more than `amountOut` or a later deadline than `fillDeadline`.',
  ),
  reservation: rule('`user` and `nonce` name the reservation.'),
  'accept-twice': rule('Accepting twice is accepting once.'),
  deposit: rule("wait until `orderStatus(orderId)` of the origin's escrow is 1 at the depth that you want"),
  firm: rule(
    'From `reserved: true` on the quote is firm: keep its money until `fillDeadline`, also over a restart.',
  ),
  status: rule('the fill is on the chain; `fillTx` is its transaction'),
  unknown: rule('there is no such order, quote, offer or day'),
  'given-up': rule('Give up what you are not delivering, and never fill it afterwards.'),
  release: rule('Then release it'),
  delivered: rule('A delivered order stays `delivered`.'),
  reconciliation: rule(
    'The file of a day lists every order that was filled on that day, with what you were paid and what you delivered.',
  ),
  payouts: optional('Answer `offerId`, `amountOut` and `fee` (whole units of the currency)'),
} as const satisfies Record<string, CertifiedRule>;

export type PartnerRule = keyof typeof PARTNER_RULES;
