/** GET …/workspaces/{id}/trades, its dossier and its export. */

import * as z from 'zod';
import { zCompliance, zComplianceProofs, zIntent, zTravelRuleTransmission } from './records.ts';
import { explained, zExplained } from '../schema.ts';
import { FIELDS } from './candidate.ts';
import { zLeg } from './router.ts';
import { zSettlementStatus } from './status.ts';
import { zOrderId, zOrderStatus } from './submit.ts';

const MAX_SEARCH = 200;
const SORTS = {
  created_at: 'when the order was accepted',
  order_id: 'order id',
  member: 'name of the member; for callers who may not see members, creation',
  corridor: 'source and destination chain',
  amount_usd: 'notional in USD',
  lp_name: 'display name of the LP',
  routing_path: 'routing path',
  settlement_status: 'settlement status, in the order of its steps',
  settlement_speed_ms: 'time from acceptance to settlement',
} as const;
export const TRADE_SORTS = Object.keys(SORTS) as (keyof typeof SORTS)[];
export type TradeSort = keyof typeof SORTS;
export const DEFAULT_LIMIT = 25;
const MAX_LIMIT = 100;

const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/;

/** Milliseconds and the part below; undefined for anything but RFC 3339, local time and 24:00 included. */
export function readDateTime(text: string): number | undefined {
  const match = DATE_TIME.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const [offsetHour, offsetMinute] = [Number(match[9] ?? 0), Number(match[10] ?? 0)];
  if (
    month < 1 ||
    month > 12 ||
    day < 1 ||
    hour > 23 ||
    minute > 59 ||
    second > 59 ||
    offsetHour > 23 ||
    offsetMinute > 59
  )
    return undefined;
  if (day > new Date(Date.UTC(year, month, 0)).getUTCDate()) return undefined;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  date.setUTCHours(hour, minute, second);
  const sign = match[8] === '-' ? -1 : 1;
  return (
    date.getTime() - sign * (offsetHour * 60 + offsetMinute) * 60_000 + Number(`0.${match[7] ?? '0'}`) * 1_000
  );
}

export const zDateTime = z
  .string()
  .max(64)
  .refine(
    (text) => readDateTime(text) !== undefined,
    'must be an RFC 3339 date-time with its offset, such as 2026-01-31T09:30:00Z',
  )
  .transform((text) => readDateTime(text) as number);
const zInteger = z
  .string()
  .regex(/^-?\d{1,30}$/, 'must be an integer, such as 25')
  .transform(Number)
  .meta({ type: 'integer' });
const zUsd = z
  .string()
  .regex(/^-?\d{1,20}(?:\.\d{1,20})?$/, 'must be a decimal number of USD, such as 1000.50')
  .transform(Number)
  .meta({ type: 'number' });
const zSearch = z.string().max(MAX_SEARCH);

const clamped = (low: number, high: number) => (value: number) => Math.min(high, Math.max(low, value));

export const zTradesFilter = z.strictObject({
  status: zExplained('Only trades of this bucket. Absent: `all`.', {
    all: 'every trade',
    pending: 'neither settled nor failed',
    settled: 'delivered and paid out',
    failed: 'never opened, or the refund is still to come',
    refunded: 'the input went back to the taker',
  }).optional(),
  corridor: z
    .string()
    .max(80)
    .optional()
    .describe('Only this corridor, `<source>-<dest>` in chain slugs. An unknown one matches nothing.'),
  createdAfter: zDateTime.optional().describe('Only trades created at or after this RFC 3339 time.'),
  createdBefore: zDateTime.optional().describe('Only trades created at or before this RFC 3339 time.'),
  member: zSearch
    .optional()
    .describe(
      'Only trades of members whose name or email contains this text, in any case. For owners and admins; ' +
        'without effect for others.',
    ),
  lp: zSearch
    .optional()
    .describe('Only trades with an LP whose display name or id contains this text, in any case.'),
  routingPath: zExplained('Only trades of this path. Absent: `all`.', {
    direct: 'traded with the venue itself',
    via_broker: 'traded through a broker',
    all: 'every path',
  }).optional(),
  minAmountUsd: zUsd
    .optional()
    .describe('Only trades of at least this notional in USD. Trades without a notional are left out.'),
  maxAmountUsd: zUsd
    .optional()
    .describe('Only trades of at most this notional in USD. Trades without a notional are left out.'),
  sort: z
    .string()
    .max(64)
    .optional()
    .describe(
      explained(
        'Sort column. Absent or unknown: `created_at`. A trade without a value counts as the smallest.',
        SORTS,
      ),
    ),
  direction: zExplained('Sort direction. Absent: `desc`.', {
    asc: 'smallest, or oldest, first',
    desc: 'largest, or newest, first',
  }).optional(),
});
export type TradesFilter = z.infer<typeof zTradesFilter>;

export const zTradesQuery = zTradesFilter.extend({
  limit: zInteger
    .transform(clamped(1, MAX_LIMIT))
    .optional()
    .describe(`Most trades in the answer: 1 to ${MAX_LIMIT}, clamped. Absent: ${DEFAULT_LIMIT}.`),
  offset: zInteger
    .transform(clamped(0, Number.MAX_SAFE_INTEGER))
    .optional()
    .describe('How many trades to skip; a negative number counts as 0. Absent: 0.'),
});

const zWorkspaceId = z.string().max(200).describe('Id of the workspace: the one that the key belongs to.');
export const zTradesParams = z.strictObject({ id: zWorkspaceId });
export const zTradeParams = z.strictObject({
  id: zWorkspaceId,
  orderId: z.string().max(200).describe('Id of the order, as in the list.'),
});

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

const zTradeMember = z
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
