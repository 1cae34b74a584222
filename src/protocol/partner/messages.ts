/**
 * The route partner protocol, version 1: what a venue asks a partner over HTTP, and what the partner answers.
 * docs/reference/route-partner-protocol.md explains it; docs/partner-openapi.json is made from it.
 */

import * as z from 'zod';
import { DECLINE_REASONS } from '../../domain/decline.ts';
import { zExplained } from '../schema.ts';
import { zAddress, zAmount, zAssetId, zBytes32, zOrderMessage, zSeconds } from '../wire.ts';

export const PARTNER_PROTOCOL_VERSION = 1;

/** Every body has at most this size, in both directions. */
export const PARTNER_MAX_BYTES = 64 * 1024;
/** A message whose timestamp is further from the receiver's clock is refused. */
export const PARTNER_TOLERANCE_SECONDS = 300;

export const PARTNER_KINDS = ['fiat', 'issuer', 'bridge'] as const;

const zText = (most: number) => z.string().max(most);
const zChainId = z.int().min(1).describe('Chain id.');
const zPartner = zText(64).describe('Id of the partner at this venue. Refuse a request that names another.');
const zOrderId = zBytes32.describe("The order's id, as the origin's escrow computes it.");

const request = <T extends string, S extends z.ZodRawShape>(type: T, meaning: string, shape: S) =>
  z
    .strictObject({
      type: z.literal(type).describe('The same word as the end of the path.'),
      partner: zPartner,
      ...shape,
    })
    .meta({ id: `Partner${idOf(type)}Request`, description: meaning });

const idOf = (type: string): string =>
  type.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());

/* Terms */

const zWindow = z
  .strictObject({
    from: zSeconds.describe('The first second in which the partner is open.'),
    cutOff: zSeconds.describe('The last second until which a quote can be valid.'),
    to: zSeconds.describe('The last second in which the partner delivers.'),
  })
  .refine(({ from, cutOff, to }) => from <= cutOff && cutOff <= to, 'must have from <= cutOff <= to')
  .meta({ id: 'PartnerOpening', description: 'One opening of the partner.' });
export type PartnerWindow = z.infer<typeof zWindow>;

const zPair = z
  .strictObject({
    input: zAssetId.describe('What the taker gives, in CAIP-19 form.'),
    output: zAssetId.describe(
      "What the partner delivers, in CAIP-19 form, on another chain than the input's.",
    ),
    minAmountIn: zAmount.describe('Least `amountIn` of a quote, in base units of the input.'),
    maxAmountIn: zAmount.describe('Largest `amountIn` of a quote, in base units of the input.'),
  })
  .meta({ id: 'PartnerPair', description: 'A pair that the partner serves, with its limits.' });
export type PartnerPair = z.infer<typeof zPair>;

const zTermsRequest = request('terms', 'What does the partner serve?', {});
const zTerms = z
  .strictObject({
    protocolVersion: z.literal(PARTNER_PROTOCOL_VERSION).describe('The version of this protocol.'),
    kind: zExplained('What the partner is.', {
      fiat: 'a payout provider or another rail of money outside the chains',
      issuer: "the mint and redeem desk of a token's issuer",
      bridge: 'a bridge between chains',
    }),
    accounts: z
      .array(
        z
          .strictObject({
            chainId: zChainId,
            account: zAddress.describe("The partner's account in the escrow's ledger of this chain."),
          })
          .meta({ id: 'PartnerAccount', description: 'The account that fills and is paid on a chain.' }),
      )
      .min(1)
      .max(32)
      .describe('One account for each chain. Use the same account on all chains of a pair.'),
    pairs: z.array(zPair).max(500).describe('The pairs that the partner serves.'),
    hours: z
      .array(zWindow)
      .max(100)
      .nullable()
      .describe('The openings of the next days, in order. null: always open.'),
    payouts: z
      .array(
        z
          .strictObject({
            asset: zAssetId.describe('The token that the partner pays out, in CAIP-19 form.'),
            currency: zText(12).describe('What arrives, such as EUR.'),
            minAmount: zAmount.optional().describe('Least amount that it pays out, in base units.'),
            maxAmount: zAmount.optional().describe('Largest amount that it pays out, in base units.'),
          })
          .meta({ id: 'PartnerPayoutPair', description: 'A payout that a taker can choose afterwards.' }),
      )
      .max(100)
      .describe('Payouts outside the chains. No order settles by one.'),
  })
  .meta({ id: 'PartnerTerms', description: 'What the partner serves, where and when.' });
export type PartnerTerms = z.infer<typeof zTerms>;

/* Quotes */

const zQuoteRequest = request('quote', 'A request for a price. Nothing is reserved by it.', {
  input: zAssetId.describe('What the taker gives, in CAIP-19 form.'),
  output: zAssetId.describe('What the partner delivers, in CAIP-19 form.'),
  side: zExplained('Which amount is fixed.', {
    exactInput: 'the partner is handed `amount` of the input',
    exactOutput: 'the receiver gets `amount` of the output',
  }),
  amount: zAmount.describe('Of the fixed side, in base units. Fees of the venue are taken off already.'),
  taker: zAddress.describe('Who gives the input.'),
  receiver: zAddress.describe('Who gets the output.'),
  now: zSeconds.describe("Time of the origin's block that the venue prices at."),
  originBlock: zAmount.describe("Number of the origin's block that the venue prices at."),
  destBlock: zAmount.describe("Number of the destination's block. Balances count as of this block."),
  validFrom: zSeconds.describe('Least `validUntil` that the venue takes.'),
  validTo: zSeconds.describe('Largest `validUntil` that the venue takes.'),
});
export type PartnerQuoteRequest = z.infer<typeof zQuoteRequest>;

const zQuoted = z
  .strictObject({
    quoteId: zText(100).min(1).describe("The partner's own id of this quote."),
    amountIn: zAmount.describe('What the partner is handed, in base units of the input.'),
    amountOut: zAmount.describe('What the receiver gets, in base units of the output.'),
    fee: zAmount.describe(
      'What of `amountIn` is the fee of the partner, in base units of the input. Takers see it.',
    ),
    validUntil: zSeconds.describe('The last second in which the taker may submit the order.'),
    eta: z.int().min(0).max(86_400).nullable().describe('Seconds to delivery; null when unknown.'),
  })
  .meta({ id: 'PartnerQuote', description: 'A price.' });
export type PartnerQuoted = z.infer<typeof zQuoted>;

const zDeclined = z
  .strictObject({
    declined: zExplained('Why there is no quote.', {
      pair: 'the pair is not served',
      size_above_max: 'the amount is too large',
      size_below_min: 'the amount is too small',
      no_inventory: 'the money is not there at the moment',
      stale_price: 'the partner has no price at the moment',
      limit: 'a limit of the partner is reached',
      validity: 'no price is kept for that long',
      standby: 'the partner is not at work for another reason',
      internal: 'something failed inside the partner',
    } satisfies Record<(typeof DECLINE_REASONS)[number], string>),
    detail: zText(200).optional().describe('For people and logs.'),
    minAmount: zAmount.optional().describe('The least amount of the fixed side that would pass.'),
    maxAmount: zAmount.optional().describe('The largest amount of the fixed side that would pass.'),
  })
  .meta({ id: 'PartnerDecline', description: 'No quote, and why. Declining is normal and costs nothing.' });
const zClosed = z
  .strictObject({
    declined: z.literal('closed').describe('The partner is not open at this hour.'),
    opensAt: zSeconds.nullable().describe('The second in which it opens. null when that is not known.'),
    detail: zText(200).optional().describe('For people and logs.'),
  })
  .meta({ id: 'PartnerClosed', description: 'No quote, because the rail is closed.' });
const zQuoteAnswer = z.union([zQuoted, zDeclined, zClosed]);

const zReserveRequest = request('reserve', 'The taker is about to see this quote: keep its money.', {
  quoteId: zText(100).describe("The partner's id of the quote."),
  originChainId: zChainId,
  nonce: zAmount.describe(
    "The order's nonce. Of all orders of a taker with one nonce, at most one executes.",
  ),
  fillDeadline: zSeconds.describe('Until then the order can demand the money.'),
});
const zReserveAnswer = z
  .strictObject({
    reserved: z.boolean().describe('true: firm until `validUntil`. false: the taker never sees the quote.'),
    detail: zText(200).optional().describe('Why not; for people and logs.'),
  })
  .meta({ id: 'PartnerReservation', description: 'Whether the quote is firm from now on.' });

/* Orders */

export const PARTNER_ORDER_STATES = {
  accepted: 'the partner will deliver, and has not begun',
  delivering: 'the fill is on its way',
  delivered: 'the fill is on the chain',
  refused: 'the partner will not deliver: the order is not what it has quoted',
  cancelled: 'the partner has given the order up, and the taker gets its money back',
} as const;

const zOrderState = z
  .strictObject({
    orderId: zOrderId,
    status: zExplained('How the order stands with the partner.', PARTNER_ORDER_STATES),
    fillTx: zBytes32.nullable().describe('Hash of the transaction that fills it; null before.'),
    detail: zText(300).nullable().describe('For people and logs: why it is refused or not delivered yet.'),
  })
  .meta({ id: 'PartnerOrderState', description: 'How the partner sees an order.' });
export type PartnerOrderState = z.infer<typeof zOrderState>;

const zAcceptRequest = request('accept', 'An order whose input is in escrow: will you deliver it?', {
  orderId: zOrderId,
  originChainId: zChainId,
  order: zOrderMessage.describe('The whole order, as the taker signed it.'),
});
const zDeliverRequest = request('deliver', 'Fill the order on chain now.', { orderId: zOrderId });
const zStatusRequest = request('status', 'How does the order stand?', { orderId: zOrderId });
const zCancelRequest = request('cancel', 'Give the order up, unless you deliver it.', { orderId: zOrderId });

/* Afterwards */

export const zReconciliationRequest = request('reconciliation', 'The file of one day.', {
  day: z.iso.date().describe('A day in UTC, such as 2026-11-28.'),
});
export const zReconciliationLine = z
  .strictObject({
    orderId: zOrderId,
    quoteId: zText(100).describe("The partner's id of the quote."),
    input: zAssetId.describe('What the partner is paid in, in CAIP-19 form.'),
    amountIn: zAmount.describe('What the partner is paid, in base units.'),
    output: zAssetId.describe('What was delivered, in CAIP-19 form.'),
    amountOut: zAmount.describe('What was delivered, in base units.'),
    fillTx: zBytes32.describe('Hash of the transaction that filled the order.'),
    filledAt: zSeconds.describe('Time of its block.'),
    payout: zText(100).nullable().describe('Bank reference of a payout that followed; null without one.'),
  })
  .meta({ id: 'PartnerReconciliationLine', description: 'One line of the file: one delivered order.' });
export type ReconciliationLine = z.infer<typeof zReconciliationLine>;

export const zOfferId = z
  .string()
  .regex(/^[A-Za-z0-9._~-]{1,100}$/, 'must be letters, digits, ".", "_", "~", "-"');
const zDecimal = z.string().regex(/^[0-9]{1,20}(\.[0-9]{1,18})?$/, 'must be a decimal number without a sign');

const zPayoutOfferRequest = request(
  'payout-offer',
  'What would the partner pay out for a token that the taker has?',
  {
    asset: zAssetId.describe('The token, in CAIP-19 form.'),
    amount: zAmount.describe('How much of it, in base units.'),
    currency: zText(12).describe('What shall arrive, such as EUR.'),
    from: zAddress.describe('The address that the token will come from.'),
  },
);
/** The fields that the partner signs; the venue shows them to takers as they are. */
export const zPayoutTerms = {
  offerId: zOfferId.describe("The partner's own id of the offer, which nobody can guess."),
  asset: zAssetId.describe('The token that is paid out, as asked.'),
  amount: zAmount.describe('How much of it, in base units, as asked.'),
  currency: zText(12).describe('What arrives, as asked.'),
  from: zAddress.describe('The address that the token comes from, as asked.'),
  payTo: zAddress.describe("Where the taker sends the token, on the token's chain."),
  amountOut: zDecimal.describe('What would arrive, as decimal text in whole units of the currency.'),
  fee: zDecimal.describe('Fee that is taken off already, in whole units of the currency.'),
  arrivesAt: zSeconds.describe('When it would arrive at the latest, if the token comes before `validUntil`.'),
  validUntil: zSeconds.describe('The last second in which the token has to come; the cut-off of the bank.'),
  link: z
    .url({ protocol: /^https?$/ })
    .max(500)
    .describe('Page of the partner. The taker names its bank account there, never to the venue.'),
};
const zPayoutOffer = z
  .strictObject(zPayoutTerms)
  .meta({
    id: 'PartnerPayoutOffer',
    description:
      'A payout that the taker may choose. It is the promise of the partner; the escrow holds none of it.',
  });
export type PartnerPayoutOffer = z.infer<typeof zPayoutOffer>;
const zPayoutOfferAnswer = z.union([zPayoutOffer, zDeclined, zClosed]);

const zPayoutStatusRequest = request('payout-status', 'How does a payout stand?', {
  offerId: zOfferId.describe("The partner's id of the offer."),
});
export const PAYOUT_STATES = {
  waiting: 'the token has not come',
  received: 'the token has come, and the bank has no order yet',
  sent: 'the bank has sent the money; `reference` names the transfer',
  returned: 'the token went back to where it came from',
} as const;

const zPayoutState = z
  .strictObject({
    offerId: zOfferId.describe("The partner's id of the offer."),
    asset: zAssetId.describe('The token of the offer, in CAIP-19 form.'),
    status: zExplained('How the payout stands.', PAYOUT_STATES),
    reference: zText(100)
      .nullable()
      .describe("The bank's reference of the transfer; null before it is sent."),
    sentAt: zSeconds.nullable().describe('When the bank sent it; null before.'),
  })
  .meta({
    id: 'PartnerPayoutState',
    description: 'A payout. The signature of the answer attests the reference: it is evidence, and no proof.',
  });

export type PartnerPayoutState = z.infer<typeof zPayoutState>;

/* From the partner */

export const zPartnerEvent = z
  .strictObject({
    type: z.literal('order').describe('What the event is about.'),
    partner: zPartner,
    order: zOrderState.describe('The order that has changed.'),
  })
  .meta({
    id: 'PartnerEvent',
    description: 'A hint that an order has changed. The venue then reads the chain.',
  });

export const PARTNER_ERRORS = {
  bad_signature: { status: 401, meaning: 'The signature does not hold, or its time is not ours.' },
  replayed: { status: 409, meaning: 'This message id was used before.' },
  bad_request: { status: 422, meaning: 'The body is not what the path takes, or names another partner.' },
  unknown: { status: 404, meaning: 'There is no such order, quote, offer or day.' },
  unavailable: { status: 503, meaning: 'The partner cannot do it at the moment. Ask again later.' },
} as const;
export const zPartnerError = z
  .strictObject({
    error: z
      .strictObject({
        code: z
          .enum(Object.keys(PARTNER_ERRORS) as (keyof typeof PARTNER_ERRORS)[])
          .describe(
            [
              'Why nothing was done.\n',
              ...Object.entries(PARTNER_ERRORS).map(([code, { meaning }]) => `- \`${code}\`: ${meaning}`),
            ].join('\n'),
          ),
        message: zText(500).describe('For people and logs.'),
      })
      .meta({ id: 'PartnerErrorBody', description: 'An error.' })
      .describe('What is wrong.'),
  })
  .meta({ id: 'PartnerError', description: 'The answer to a request that was not done.' });

/** The operations by the end of their path. `answer` is the body of a 200. */
export const PARTNER_OPERATIONS = {
  terms: { request: zTermsRequest, answer: zTerms },
  quote: { request: zQuoteRequest, answer: zQuoteAnswer },
  reserve: { request: zReserveRequest, answer: zReserveAnswer },
  accept: { request: zAcceptRequest, answer: zOrderState },
  deliver: { request: zDeliverRequest, answer: zOrderState },
  status: { request: zStatusRequest, answer: zOrderState },
  cancel: { request: zCancelRequest, answer: zOrderState },
  'payout-offer': { request: zPayoutOfferRequest, answer: zPayoutOfferAnswer },
  'payout-status': { request: zPayoutStatusRequest, answer: zPayoutState },
} as const;
export type PartnerOperation = keyof typeof PARTNER_OPERATIONS;
