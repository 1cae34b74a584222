/** GET …/workspaces/{id}/trades/{orderId}: one trade in full. */

import * as z from 'zod';
import { explained, zExplained } from '../../schema.ts';
import { FIELDS } from '../candidate.ts';
import { zCompliance, zComplianceProofs, zIntent, zTravelRuleTransmission } from '../records.ts';
import { zLeg } from '../router.ts';
import { zSettlementStatus } from '../status.ts';
import { zOrderId, zOrderStatus } from '../submit.ts';
import { zTradeItem, zTradeMember } from './trades.ts';

const zTransaction = z
  .object({
    txHash: z.string().describe('Hash of the transaction.'),
    chainId: z.int().describe('Its chain.'),
    blockNumber: z.int().describe('Its block.'),
    at: z.iso.datetime().describe('Time of the block.'),
    gasUsed: z
      .string()
      .nullable()
      .describe('Gas units of the whole transaction. null until the gas has been captured.'),
    feeUsd: z
      .number()
      .nullable()
      .describe("The trade's share of its fee in USD. null until captured, or without a price."),
  })
  .meta({ id: 'TradeTransaction', description: 'A transaction of a trade.' });
export type TradeTransaction = z.infer<typeof zTransaction>;
const zFee = z
  .object({
    amount: z.string().describe('In base units of `asset`.'),
    asset: z
      .string()
      .describe(
        'CAIP-19, in lower case: a token, or the native currency as `eip155:<chainId>/slip44:<coin>`.',
      ),
    usd: z.number().nullable().describe('The same in USD at the price of the quote. null without a price.'),
  })
  .meta({ id: 'TradeFee', description: 'A fee.' });
export type TradeFee = z.infer<typeof zFee>;

const zLegExecution = z
  .object({
    orderId: zOrderId,
    status: zOrderStatus,
    settlementStatus: zSettlementStatus,
    txHash: z.string().nullable().describe('Settlement transaction. null before it is broadcast.'),
    deliveredAmount: z
      .string()
      .nullable()
      .describe(
        'What the leg delivered, in base units. null until then, and for inner legs of one transaction.',
      ),
  })
  .meta({ id: 'LegExecution', description: 'What became of a leg.' });

const zTradeInFull = zTradeItem
  .extend({
    filledAt: z.iso
      .datetime()
      .nullable()
      .describe('When the venue saw the last output delivered, at depth. null until then.'),
    slippageToleranceBps: z
      .int()
      .describe(
        'How far the delivery might fall below the quote, in basis points, rounded up. 0 on firm quotes.',
      ),
  })
  .meta({ id: 'TradeDetails', description: 'The list item, and what only the dossier shows.' });

const zStages = z
  .object({
    submit: zTransaction.nullable().describe('It opened or settled the order. null before.'),
    fill: zTransaction.nullable().describe('It delivered the first output. null before.'),
    proof: zTransaction.nullable().describe('It proved the last delivery. null before, and on one chain.'),
    finalise: zTransaction.nullable().describe('It paid the input out. null before.'),
  })
  .meta({ id: 'SettlementStages', description: 'The transaction of each step.' });
const zTradeSettlement = z
  .object({
    stages: zStages,
    transactions: z
      .array(
        zTransaction
          .extend({
            kind: zExplained('What it did; one with several effects is listed under the first.', {
              submit: 'opened or settled the order',
              fill: 'delivered an output',
              proof: 'proved a delivery',
              finalise: 'paid the input out',
              refund: 'gave the input back',
            }),
          })
          .meta({ id: 'SettlementTransaction', description: 'A transaction of a trade, and what it did.' }),
      )
      .describe('Every transaction of the trade.'),
  })
  .meta({ id: 'TradeSettlement', description: 'The settlement on chain.' });
const zSlice = z
  .object({
    solverId: z.string().describe('Roster id of the LP.'),
    name: z.string().describe('Its display name.'),
    account: z.string().nullable().describe('Its account in the escrow. null where no LP stands behind it.'),
    portionBps: z
      .int()
      .nullable()
      .describe('Part of the input, in basis points. null where none is written.'),
    outputAmount: z.string().describe('What it promised, in base units.'),
    deliveredAmount: z.string().nullable().describe('What it delivered, in base units. null until then.'),
  })
  .meta({ id: 'TradeSlice', description: 'The part of one LP.' });
const zTradeLp = z
  .object({
    id: z.string().describe('Roster id of the LP, or id of the route venue.'),
    name: z.string().describe('Its display name.'),
    kind: z.string().describe('`lp`, `solver`, the kind of the route venue, or `external`.'),
    spreadBps: z.int().nullable().describe(FIELDS.lpSpreadBps),
    slices: z.array(zSlice).describe('One for each output of the order.'),
  })
  .meta({ id: 'TradeLp', description: 'Who filled the trade.' });
const zFees = z
  .object({
    gas: zFee.describe("What the trade's transactions cost, whoever paid."),
    protocolFee: zFee.describe('Platform fee, in input.'),
    solverFee: zFee.describe('The spread of the LP, in output, rounded down.'),
    relayerTip: zFee.describe('What the trade paid the relayer, in input.'),
    venueFees: z
      .array(zFee)
      .optional()
      .describe(
        'What the venues of the legs of this order charge, as quoted; the quoted amounts contain it. Empty: ' +
          'nothing. Absent: they charge by their price, as LPs do, or do not say.',
      ),
  })
  .meta({ id: 'TradeFees', description: 'What a trade cost. Before it settles: what it will cost.' });
const RESTRICTED = 'Absent unless the caller is owner or admin.';

export const zTradeDossier = z
  .object({
    trade: zTradeInFull,
    settlement: zTradeSettlement,
    lp: zTradeLp,
    orderKind: z.string().optional().describe('`route_dex` or `route_composite`. Absent for other orders.'),
    substatus: z
      .string()
      .describe(
        explained('The step in detail, or the code of the failure.', {
          awaiting_submission: 'the venue is to put it on chain',
          awaiting_broadcast: "the taker's wallet is to put it on chain",
          confirming: 'sent, and waiting for enough blocks',
          awaiting_fill: 'in escrow, and to be delivered',
          awaiting_proof: 'delivered, and to be proven',
          awaiting_finalisation: 'proven, and to be paid out',
          settled: 'delivered and paid out',
          ledger_executed: 'in the ledger until the withdrawal delay ends',
          ledger_available: 'in the ledger, free to be withdrawn',
          ledger_requested: 'on its way out of the ledger',
          ledger_withdrawn: 'out of the ledger',
          refunded: 'the input went back to the taker',
        }),
      ),
    substatusMessage: z.string().describe('The same for people, with what happens next. It may change.'),
    legs: z
      .array(
        zLeg
          .extend({ execution: zLegExecution.nullable().describe('null before the leg has an order.') })
          .meta({ id: 'TradedLeg', description: 'A leg of the route, and what became of it.' }),
      )
      .optional()
      .describe('The legs of a route. Absent for trades of one leg.'),
    member: zTradeMember
      .nullable()
      .optional()
      .describe(`Who traded. null when the key named no member. ${RESTRICTED}`),
    compliance: zCompliance.nullable().optional().describe(`Screening as of now. ${RESTRICTED}`),
    snapshotCompliance: zCompliance
      .nullable()
      .optional()
      .describe(`Screening as of acceptance. null for orders older than screening. ${RESTRICTED}`),
    travelRuleTransmission: zTravelRuleTransmission
      .nullable()
      .optional()
      .describe(`The latest Travel Rule transmission. null when none is due. ${RESTRICTED}`),
    complianceProofs: zComplianceProofs
      .nullable()
      .optional()
      .describe(`Signatures and events. null when the venue no longer has the chain. ${RESTRICTED}`),
    intent: zIntent
      .nullable()
      .optional()
      .describe(`The order as an intent. null when the venue no longer has the chain. ${RESTRICTED}`),
    fees: zFees
      .optional()
      .describe(
        'What the trade cost. An order that failed paid 0; its gas is what others spent. Absent on orders ' +
          `older than the capture of gas. ${RESTRICTED}`,
      ),
  })
  .meta({ id: 'TradeDossier', description: 'One trade in full.' });
export type TradeDossier = z.infer<typeof zTradeDossier>;
