/** QuoteCandidate of the router namespace, with `composite` instead of `splitFill`. */

import * as z from 'zod';
import { SETTLEMENTS } from '../../domain/delivery.ts';
import type { OrderEnvelope } from '../../domain/order.ts';
import {
  type EXECUTION_MODES,
  FIELDS,
  type ORDER_TYPE,
  zExecutionMode,
  zGas,
  zOrderPayload,
  zPreviewInput,
  zWarning,
} from './candidate.ts';
import { zChosenLock } from './preflight.ts';
import { quoteResponseFields } from './quote.ts';
import { zSubmission } from './submit.ts';
import { zExplained } from '../schema.ts';
import { zAmount, zBytes32, zHex } from '../wire.ts';

const optional = <S extends z.ZodType>(schema: S) => schema.nullable().optional();

const zRouterOutput = z
  .strictObject({
    asset: z.string().describe(FIELDS.asset),
    amount: z.string().describe('What is delivered if the order settles as quoted, in base units.'),
    minimumAmount: optional(z.string()).describe(
      'Least delivery that the escrow accepts, in base units. null while a later leg of a sequential route ' +
        'is not firm.',
    ),
    decimals: optional(z.int()).describe(FIELDS.decimals),
    symbol: optional(z.string()).describe(FIELDS.symbol),
    priceUsd: optional(z.number()).describe(FIELDS.priceUsd),
    receiver: optional(z.string()).describe('Address that the output is delivered to.'),
  })
  .meta({ id: 'RouterPreviewOutput', description: 'What is delivered.' });

export const zLeg = z
  .strictObject({
    index: z.int().describe('Position in the route, from 0.'),
    kind: zExplained('What the leg trades with.', {
      rfq: 'an LP or solver of the roster',
      dex: 'a decentralised exchange',
      bridge: 'a bridge between chains',
      issuer: "the token's issuer, who mints or redeems",
      fiat: 'a fiat rail',
    }),
    solverId: z.string().describe('Roster id of the LP, or id of the route venue.'),
    venue: z.string().describe('Id of the venue of the leg: `rfq`, or the id of the route venue.'),
    chainId: z.int().describe('Chain that the leg settles on.'),
    input: z
      .strictObject({
        asset: z.string().describe(FIELDS.asset),
        amount: z.string().describe('What goes into the leg, in base units.'),
      })
      .meta({ id: 'LegInput', description: 'What goes into a leg.' }),
    output: z
      .strictObject({
        asset: z.string().describe(FIELDS.asset),
        amount: z.string().describe('What comes out of the leg as quoted, in base units.'),
        minimumAmount: z
          .string()
          .nullable()
          .describe('Least that may come out, in base units. null while the leg is not firm.'),
      })
      .meta({ id: 'LegOutput', description: 'What comes out of a leg.' }),
    fees: optional(
      z.array(
        z
          .strictObject({
            asset: z.string().describe('The input or the output of the leg, in CAIP-19 form.'),
            amount: z.string().describe('The fee in base units, rounded up.'),
          })
          .meta({ id: 'LegFee', description: 'What the venue of a leg charges.' }),
      ),
    ).describe(
      'What the venue of the leg charges; the amounts of the leg contain it already. Empty: it charges ' +
        'nothing. null: it charges by its price, as LPs do, or does not say. Fees of the order come on top.',
    ),
    eta: z
      .int()
      .nullable()
      .describe('Expected seconds from the start of the leg to its end. null when unknown.'),
    dependsOn: z.array(z.int()).describe('Indexes of the legs that have to end before this one begins.'),
  })
  .meta({ id: 'RouteLeg', description: 'One step of a route.' });
export type Leg = z.infer<typeof zLeg>;

const zComposite = z
  .strictObject({
    legs: z.array(zLeg).min(1).max(8).describe('The steps in order. A split has one for each slice.'),
    executionModel: zExplained('How the legs hold together.', {
      atomic: 'all legs are in one transaction, so all of them happen or none',
      sequential: 'one order follows the other; later legs are firm only once they are quoted',
    }),
  })
  .meta({ id: 'Composite', description: 'The legs of a candidate.' });
export type Composite = z.infer<typeof zComposite>;

export const zRouterCandidate = z
  .strictObject({
    quoteId: z.string().describe(FIELDS.quoteId),
    solverId: z
      .string()
      .describe('Roster id of the LP or solver, or id of the route venue, of the first leg.'),
    executionMode: zExecutionMode,
    order: optional(zOrderPayload).describe('What the taker signs, exactly as received.'),
    validUntil: z.int().describe(FIELDS.validUntil),
    eta: optional(z.int()).describe(FIELDS.eta),
    preview: z
      .strictObject({
        inputs: z.array(zPreviewInput).describe('What the taker gives: one input.'),
        outputs: z.array(zRouterOutput).describe('What is delivered at the end of the route: one output.'),
      })
      .meta({ id: 'RouterPreview', description: 'The terms of the trade.' }),
    integrityChecksum: z.string().describe(FIELDS.integrityChecksum),
    routingPath: z
      .string()
      .optional()
      .describe('`direct`: one leg, or the slices of one order. `composite`: several legs.'),
    platformFeeBps: optional(z.int()).describe(FIELDS.platformFeeBps),
    lpSpreadBps: optional(z.int()).describe(FIELDS.lpSpreadBps),
    composite: optional(zComposite).describe(
      'The legs. Always an object in answers: a direct fill has its one leg, a split one for each slice.',
    ),
    gas: optional(zGas).describe('What the taker pays for gas, in all legs.'),
    warnings: z.array(zWarning).optional().describe(FIELDS.warnings),
  })
  .meta({
    id: 'RouterQuoteCandidate',
    description: 'A quote of the router namespace. Pass it back exactly as received.',
  });
export type RouterCandidate = z.infer<typeof zRouterCandidate>;

export interface RouterTerms {
  quoteId: string;
  solverId: string;
  executionMode: (typeof EXECUTION_MODES)[number];
  order: { type: typeof ORDER_TYPE; payload: OrderEnvelope };
  validUntil: number;
  eta: number | null;
  preview: {
    inputs: {
      asset: string;
      amount: string;
      decimals: number | null;
      symbol: string | null;
      priceUsd: number | null;
    }[];
    outputs: {
      asset: string;
      amount: string;
      minimumAmount: string | null;
      decimals: number | null;
      symbol: string | null;
      priceUsd: number | null;
      receiver: string;
    }[];
  };
  routingPath: 'direct' | 'composite';
  platformFeeBps: number;
  lpSpreadBps: number | null;
  composite: Composite;
  gas: { native: string; usd: number | null };
  warnings: { code: number; message: string }[];
}

/** The part of a candidate that the checksum covers beside its terms: settler, parent order, later legs. */
export const zSealedRoute = z.strictObject({
  venue: z.strictObject({ id: z.string(), kind: z.enum(['dex', 'bridge', 'issuer', 'fiat']) }).nullable(),
  /** `gas` limits the fill itself. */
  through: z.strictObject({ filler: zHex, data: zHex, gas: zAmount }).nullable(),
  parent: zBytes32.nullable(),
  next: z
    .strictObject({
      settlement: z.enum(SETTLEMENTS),
      include: z.array(z.string()).nullable(),
      exclude: z.array(z.string()),
    })
    .nullable(),
  /** The caller's own, from the quote request. */
  referenceId: z.string().max(200).optional(),
});
export type SealedRoute = z.infer<typeof zSealedRoute>;

export const zRouterQuoteResponse = z
  .object({
    ...quoteResponseFields,
    quotes: z
      .array(zRouterCandidate)
      .describe(
        'Best first: most output less the gas that the taker pays in all legs, or least input plus that gas; ' +
          'then shorter eta, fill history, longer validity.',
      ),
  })
  .meta({ id: 'RouterQuoteResponse', description: 'The ranked answer to a quote request.' });
export const zRouterPreflightRequest = z
  .strictObject({
    quoteResponse: zRouterCandidate.describe('The candidate, exactly as received.'),
    fundingLock: zChosenLock,
  })
  .meta({ id: 'RouterPreflightRequest', description: 'The candidate to plan for.' });
export type RouterPreflightRequest = z.infer<typeof zRouterPreflightRequest>;
export const zRouterSubmitRequest = z
  .strictObject({
    quoteResponse: zRouterCandidate.describe('The chosen candidate, exactly as received.'),
    ...zSubmission,
  })
  .meta({ id: 'RouterOrderSubmitRequest', description: "A candidate with the taker's signature." });
export type RouterSubmitRequest = z.infer<typeof zRouterSubmitRequest>;
