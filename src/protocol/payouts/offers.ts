/** POST …/payouts/offers and GET …/payouts/{partnerId}/{offerId}: payouts that a taker may choose later. */

import * as z from 'zod';
import { zOfferId, zPayoutTerms, PAYOUT_STATES } from '../partner/messages.ts';
import { zExplained } from '../schema.ts';
import { zAddress, zAmount, zAssetId } from '../wire.ts';

/** Beside every offer and state. */
export const NOT_ENFORCED =
  'The escrow does not enforce this step. Once you have sent the token, only the promise of the partner stands for the payout, and no contract gives the token back.';

export const zPayoutOffersRequest = z
  .strictObject({
    asset: zAssetId.describe('The token that you have and want paid out, in CAIP-19 form.'),
    amount: zAmount.describe('How much of it, in base units.'),
    currency: z.string().min(1).max(12).describe('What shall arrive at your bank, such as EUR.'),
    from: zAddress.describe('The address that you will send the token from, in lower case.'),
  })
  .meta({ id: 'PayoutOffersRequest', description: 'A token that you have, and the currency you want.' });
export type PayoutOffersRequest = z.infer<typeof zPayoutOffersRequest>;

const zSigned = z
  .object({
    id: z.string().describe('Id of the message.'),
    timestamp: z.int().describe('When the partner signed it, in Unix seconds.'),
    body: z.string().describe('The JSON text that the partner signed.'),
    signature: z
      .string()
      .describe('`v1a,<base64>`: Ed25519 over `<id>.<timestamp>.<body>`; several with spaces between them.'),
  })
  .meta({ id: 'PartnerSignedAnswer', description: 'What the partner said, as it signed it.' });

const evidence = {
  enforcement: z.string().describe('For people: what the escrow does not do here.'),
  signed: zSigned,
  publicKeys: z
    .array(z.string())
    .describe('Keys of the partner as this venue knows them. Compare them with those that it publishes.'),
};

const zOpening = z
  .object({
    from: z.int().describe('The first second in which the partner is open.'),
    cutOff: z.int().describe('The cut-off: the last second in which it takes something on.'),
    to: z.int().describe('The last second of this opening.'),
  })
  .meta({ id: 'PayoutOpening', description: 'Business hours of a partner, in Unix seconds.' });

const zPartnerName = {
  partnerId: z.string().describe('Id of the route partner, as on the roster.'),
  partnerName: z.string().describe('Its display name.'),
};

const zOffer = z
  .object({
    ...zPartnerName,
    ...zPayoutTerms,
    // Takers get texts without patterns, as everywhere in the API.
    amountOut: z.string().describe(zPayoutTerms.amountOut.description ?? ''),
    fee: z.string().describe(zPayoutTerms.fee.description ?? ''),
    opening: zOpening.nullable().describe('The opening in which the offer was made. null: always open.'),
    minAmount: z
      .string()
      .nullable()
      .describe('Least amount that it pays out, in base units. null: not named.'),
    maxAmount: z.string().nullable().describe('Largest amount, in base units. null: not named.'),
    ...evidence,
  })
  .meta({
    id: 'PayoutOffer',
    description: 'What a partner promises to pay out. The fields are in `signed` too.',
  });
export type PayoutOffer = z.infer<typeof zOffer>;

const zRefusal = z
  .object({
    ...zPartnerName,
    code: zExplained('Why it offers nothing.', {
      closed: 'its bank is closed at this hour',
      amount_too_small: '`minAmount` would pass, where it is known',
      amount_too_large: '`maxAmount` would pass, where it is known',
      no_answer: 'it did not answer in time, or answered wrongly',
      declined: 'another reason of its own',
    }),
    message: z.string().describe('For people. It may change.'),
    opensAt: z
      .int()
      .nullable()
      .describe('The second in which it opens again. null: not closed, or not known.'),
    minAmount: z
      .string()
      .nullable()
      .describe('Least amount that would pass, in base units. null: not named.'),
    maxAmount: z
      .string()
      .nullable()
      .describe('Largest amount that would pass, in base units. null: not named.'),
  })
  .meta({ id: 'PayoutRefusal', description: 'Why a partner that pays out this token offers nothing now.' });
export type PayoutRefusal = z.infer<typeof zRefusal>;

export const zPayoutOffersResponse = z
  .object({
    offers: z.array(zOffer).describe('The offer of each partner; the one that pays out most is first.'),
    refused: z.array(zRefusal).describe('Partners that pay out this token, and offer nothing now.'),
    productUnavailable: z
      .object({
        code: zExplained('Why there is no offer.', {
          pair_not_supported: 'no partner pays out this token in this currency',
          no_offers: 'partners were asked; `refused` has the reasons',
        }),
        message: z.string().describe('For people: why, and when to ask again. It may change.'),
      })
      .meta({ id: 'PayoutUnavailable', description: 'Why there are no offers. An answer, not an error.' })
      .nullable()
      .describe('Why `offers` is empty. null when there are offers.'),
  })
  .meta({ id: 'PayoutOffersResponse', description: 'Payouts that you may choose after a delivery.' });
export type PayoutOffersResponse = z.infer<typeof zPayoutOffersResponse>;

export const zPayoutParams = z.strictObject({
  partnerId: z.string().min(1).max(100).describe('`partnerId` of the offer.'),
  offerId: zOfferId.describe('`offerId` of the offer.'),
});

export const zPayoutStatus = z
  .object({
    partnerId: zPartnerName.partnerId,
    offerId: z.string().describe("The partner's id of the offer."),
    asset: z.string().describe('The token of the offer, in CAIP-19 form.'),
    status: zExplained('How the payout stands, as the partner says.', PAYOUT_STATES),
    reference: z.string().nullable().describe("The bank's reference of the transfer. null before."),
    sentAt: z.int().nullable().describe('When the bank sent it, in Unix seconds. null before.'),
    ...evidence,
  })
  .meta({ id: 'PayoutStatus', description: 'How a payout stands: evidence by the partner, and no proof.' });
export type PayoutStatus = z.infer<typeof zPayoutStatus>;
