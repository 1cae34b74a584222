/** GET …/workspaces/{id}/trades: a page of trades. */

import * as z from 'zod';
import { explained, zExplained } from '../../schema.ts';
import { FIELDS } from '../candidate.ts';
import { zSettlementStatus } from '../status.ts';
import { zOrderId, zOrderStatus } from '../submit.ts';

const zState = z
  .object({
    key: z.string().describe('For programs; the field that has this object lists its values.'),
    label: z.string().describe('For people.'),
    tone: zExplained('How to colour it.', {
      neutral: 'nothing has happened yet',
      info: 'on its way',
      success: 'done',
      warning: 'ended otherwise than wanted',
      danger: 'failed',
    }),
  })
  .meta({ id: 'LifecycleState', description: 'A state in words.' });
const zTradeAsset = z
  .object({
    assetId: z.string().describe(FIELDS.asset),
    symbol: z.string().nullable().describe(`${FIELDS.symbol} null when unresolved.`),
    resolutionStatus: zExplained('Whether the venue knows the token.', {
      resolved: 'it lists the token',
      unresolved: 'it no longer lists the token',
    }),
    name: z.string().nullable().describe('Name of the token. null when unresolved.'),
    decimals: z.int().nullable().describe(`${FIELDS.decimals} null when unresolved.`),
    chainId: z.int().describe('Chain of the token.'),
    chainRef: z.string().describe('The same as CAIP-2: `eip155:<chainId>`.'),
    address: z.string().describe('Address of the token.'),
  })
  .meta({ id: 'TradeAsset', description: 'A token of a trade.' });
const zTradeLeg = z
  .object({
    asset: zTradeAsset,
    rawAmount: z.string().describe('In base units.'),
    decimalAmount: z
      .string()
      .nullable()
      .describe('In whole tokens, exact. null when the token is unresolved.'),
  })
  .meta({ id: 'TradeLeg', description: 'One side of a trade.' });

export const zTradeMember = z
  .object({
    userId: z.string().describe('Id of the member.'),
    firstName: z.string().describe('First name.'),
    lastName: z.string().describe('Last name.'),
    email: z.string().describe('Email address.'),
    role: z.string().describe('`owner`, `admin`, `member` or `viewer`.'),
    kycStatus: z.string().describe('`none`, `pending`, `verified` or `rejected`.'),
    joinedAt: z.iso.datetime().describe('When the member joined the workspace.'),
  })
  .meta({ id: 'TradeMember', description: 'Who traded.' });
export type TradeMember = z.infer<typeof zTradeMember>;

const zDeferredSettlement = z
  .object({
    stage: zExplained('How far the output is.', {
      executed: 'in the ledger until the withdrawal delay ends',
      available: 'it may be withdrawn, or is due to be paid out',
      requested: 'its withdrawal was asked for, or the payout is on its way',
      withdrawn: 'it has left the ledger',
    }),
    autoWithdraw: z.boolean().describe('Whether the venue pays it out by itself.'),
    executedAt: z.iso.datetime().describe('When it came into the ledger, by the time of the block.'),
    estimatedSettlementAvailableAt: z.iso
      .datetime()
      .nullable()
      .describe('From when it can leave. null until a payout that is not automatic is requested.'),
    settlementWindowHours: z.int().describe('The withdrawal delay in hours, rounded up.'),
    withdrawalStatus: z
      .string()
      .describe(
        explained('How the withdrawal stands.', {
          none: 'nobody has asked for it',
          scheduled: 'automatic, once the delay is over',
          due: 'automatic, and next to be sent',
          submitted: 'the payout was sent',
          requested: 'the receiver has asked for it',
          kept_in_ledger: 'it stays in the ledger; the automatic payout has ended',
          completed: 'all of it has left',
        }),
      ),
    withdrawalTrackingId: z
      .string()
      .nullable()
      .describe('Id of the withdrawal. null before it was asked for.'),
    withdrawalTxHash: z.string().nullable().describe('Its transaction. null before there is one.'),
  })
  .meta({ id: 'DeferredSettlement', description: "An output in the escrow's ledger." });

const zLifecycle = z
  .object({
    flowKind: zExplained('What kind of trade it is.', {
      same_chain: 'one chain, one LP',
      cross_chain: 'two chains, one LP',
      split: 'several LPs',
      route: 'through a route of the router',
    }),
    primary: zState.describe('The whole: `key` is the settlement status.'),
    execution: zState.describe('The delivery: `quoted`, `submitted`, `filled` or `failed`.'),
    settlement: zState.describe('The escrow: `none`, `open`, `proving`, `finalised` or `refunded`.'),
    withdrawal: zState.describe('The ledger: `none`, `available`, `requested` or `withdrawn`.'),
    isTerminal: z.boolean().describe('Whether the order can no longer change.'),
    rank: z.int().describe('Position of the settlement status in the order of its steps, from 0.'),
    rawStatus: z.string().describe('The settlement status as text.'),
    rawDeferredStatus: z
      .string()
      .nullable()
      .describe('`stage` of `deferredSettlement`. null when there is none.'),
  })
  .meta({ id: 'LifecycleStatus', description: 'The status of a trade, in words.' });
const zExecutionPrice = z
  .object({
    source: z.literal('stored_quote_price').describe('Always `stored_quote_price`: the price as quoted.'),
    value: z
      .string()
      .describe('Output tokens per input token, a decimal number cut after 18 significant digits.'),
    baseSymbol: z.string().describe('Ticker of the input.'),
    quoteSymbol: z.string().describe('Ticker of the output.'),
  })
  .meta({ id: 'ExecutionPrice', description: 'The price of a trade.' });
const zRoutingPath = z
  .object({
    type: zExplained('Who stood between.', { direct: 'nobody', via_broker: 'a broker' }),
    brokerWorkspaceId: z.string().nullable().describe("The broker's workspace. null when direct."),
    brokerName: z.string().nullable().describe("The broker's name. null when direct."),
  })
  .meta({ id: 'RoutingPath', description: 'How a trade reached the venue.' });

export const zTradeItem = z
  .object({
    orderId: zOrderId,
    createdAt: z.iso.datetime().describe('When the submission was accepted.'),
    sourceChain: z.string().describe('Slug of the chain of the input; `eip155:<id>` when no longer listed.'),
    destChain: z.string().describe('Slug of the chain of the output; `eip155:<id>` when no longer listed.'),
    route: z
      .object({
        input: zTradeLeg.describe('What the taker gives.'),
        output: zTradeLeg.describe('What was delivered; before the delivery, what was quoted.'),
      })
      .meta({ id: 'TradeRoute', description: 'Both sides of a trade.' }),
    amountUsd: z
      .number()
      .nullable()
      .describe('Notional in USD at the quote, rounded to 15 significant digits. null without a price.'),
    lpName: z.string().describe('Display name of the LP; its id when it has none.'),
    lpSource: zExplained('Where the LP comes from.', {
      roster: 'it is on the roster',
      external: 'a route venue, or one that has left the roster',
    }),
    routingPathLabel: z
      .string()
      .describe('The routing path for people: Direct, DEX, Bridge, Issuer, Fiat rail, Composite.'),
    status: zOrderStatus,
    settlementStatus: zSettlementStatus,
    lifecycleStatus: zLifecycle,
    executionPrice: zExecutionPrice.nullable().describe('null when the venue no longer lists a token.'),
    member: zTradeMember
      .nullable()
      .optional()
      .describe('Who traded. null when the key named no member; absent unless the caller is owner or admin.'),
    routingPath: zRoutingPath,
    orderKind: zExplained('What filled the order.', {
      rfq_direct: 'one LP',
      rfq_split: 'several LPs',
      route_dex: 'one route venue: a DEX, bridge, issuer or fiat rail',
      route_composite: 'an order of a route with several legs',
    }),
    deferredSettlement: zDeferredSettlement
      .nullable()
      .describe("The output in the escrow's ledger. null when it went to a wallet, or is not delivered yet."),
    settlementSpeedMs: z
      .int()
      .nullable()
      .describe("Milliseconds from acceptance to settlement, by the venue's clock. null until settled."),
    slippageBps: z
      .int()
      .nullable()
      .describe(
        'Quoted output that was not delivered, in basis points, rounded up; negative: more was delivered. ' +
          'null until delivered.',
      ),
  })
  .meta({ id: 'TradeListItem', description: 'A trade as the list shows it.' });
export type TradeItem = z.infer<typeof zTradeItem>;

export const zTradesResponse = z
  .object({
    items: z.array(zTradeItem).describe('This page of the trades.'),
    total: z.int().describe('How many trades match the filter, on all pages.'),
    offset: z.int().describe('How many were skipped.'),
    limit: z.int().describe('Most trades of a page, after clamping.'),
  })
  .meta({ id: 'TradesResponse', description: 'A page of trades.' });
