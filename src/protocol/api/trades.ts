/** GET …/workspaces/{id}/trades, its dossier and its export. */

import { z } from 'zod';
import { zCompliance, zComplianceProofs, zIntent, zTravelRuleTransmission } from './records.ts';
import { zLeg } from './router.ts';

const MAX_SEARCH = 200;
const TRADE_BUCKETS = ['all', 'pending', 'settled', 'failed', 'refunded'] as const;
export const TRADE_SORTS = [
  'created_at',
  'order_id',
  'member',
  'corridor',
  'amount_usd',
  'lp_name',
  'routing_path',
  'settlement_status',
  'settlement_speed_ms',
] as const;
export type TradeSort = (typeof TRADE_SORTS)[number];
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

const zDateTime = z
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
  .transform(Number);
const zUsd = z
  .string()
  .regex(/^-?\d{1,20}(?:\.\d{1,20})?$/, 'must be a decimal number of USD, such as 1000.50')
  .transform(Number);
const zSearch = z.string().max(MAX_SEARCH);

const clamped = (low: number, high: number) => (value: number) => Math.min(high, Math.max(low, value));

export const zTradesFilter = z.strictObject({
  status: z.enum(TRADE_BUCKETS).optional(),
  corridor: z.string().max(80).optional(),
  createdAfter: zDateTime.optional(),
  createdBefore: zDateTime.optional(),
  member: zSearch.optional(),
  lp: zSearch.optional(),
  routingPath: z.enum(['direct', 'via_broker', 'all']).optional(),
  minAmountUsd: zUsd.optional(),
  maxAmountUsd: zUsd.optional(),
  /** Unknown sorts mean `created_at`. */
  sort: z.string().max(64).optional(),
  direction: z.enum(['asc', 'desc']).optional(),
});
export type TradesFilter = z.infer<typeof zTradesFilter>;

export const zTradesQuery = zTradesFilter.extend({
  limit: zInteger.transform(clamped(1, MAX_LIMIT)).optional(),
  offset: zInteger.transform(clamped(0, Number.MAX_SAFE_INTEGER)).optional(),
});

export const zTradesParams = z.strictObject({ id: z.string().max(200) });
export const zTradeParams = z.strictObject({ id: z.string().max(200), orderId: z.string().max(200) });

const zState = z.object({
  key: z.string(),
  label: z.string(),
  tone: z.enum(['neutral', 'info', 'success', 'warning', 'danger']),
});
const zTradeAsset = z.object({
  assetId: z.string(),
  symbol: z.string().nullable(),
  /** `unresolved`: the venue no longer lists this token. */
  resolutionStatus: z.enum(['resolved', 'unresolved']),
  name: z.string().nullable(),
  decimals: z.int().nullable(),
  chainId: z.int(),
  chainRef: z.string(),
  address: z.string(),
});
const zTradeLeg = z.object({
  asset: zTradeAsset,
  rawAmount: z.string(),
  decimalAmount: z.string().nullable(),
});

const zTradeMember = z.object({
  userId: z.string(),
  firstName: z.string(),
  lastName: z.string(),
  email: z.string(),
  role: z.string(),
  kycStatus: z.string(),
  joinedAt: z.iso.datetime(),
});
export type TradeMember = z.infer<typeof zTradeMember>;

const zDeferredSettlement = z.object({
  stage: z.enum(['executed', 'available', 'requested', 'withdrawn']),
  autoWithdraw: z.boolean(),
  executedAt: z.iso.datetime(),
  /** null until a payout is requested, where it is not automatic. */
  estimatedSettlementAvailableAt: z.iso.datetime().nullable(),
  settlementWindowHours: z.int(),
  withdrawalStatus: z.string(),
  withdrawalTrackingId: z.string().nullable(),
  withdrawalTxHash: z.string().nullable(),
});

const zTradeItem = z.object({
  orderId: z.string(),
  createdAt: z.iso.datetime(),
  sourceChain: z.string(),
  destChain: z.string(),
  route: z.object({ input: zTradeLeg, output: zTradeLeg }),
  amountUsd: z.number().nullable(),
  lpName: z.string(),
  lpSource: z.enum(['roster', 'external']),
  routingPathLabel: z.string(),
  status: z.enum(['pending', 'settled', 'failed']),
  settlementStatus: z.enum([
    'awaiting_escrow',
    'escrowed',
    'delivered',
    'proven',
    'settled',
    'refund_pending',
    'refunded',
    'failed',
  ]),
  lifecycleStatus: z.object({
    flowKind: z.enum(['same_chain', 'cross_chain', 'split', 'route']),
    primary: zState,
    execution: zState,
    settlement: zState,
    withdrawal: zState,
    isTerminal: z.boolean(),
    rank: z.int(),
    rawStatus: z.string(),
    rawDeferredStatus: z.string().nullable(),
  }),
  executionPrice: z
    .object({
      source: z.literal('stored_quote_price'),
      value: z.string(),
      baseSymbol: z.string(),
      quoteSymbol: z.string(),
    })
    .nullable(),
  /** Owners and admins only. */
  member: zTradeMember.nullable().optional(),
  routingPath: z.object({
    type: z.enum(['direct', 'via_broker']),
    brokerWorkspaceId: z.string().nullable(),
    brokerName: z.string().nullable(),
  }),
  orderKind: z.enum(['rfq_direct', 'rfq_split', 'route_dex', 'route_composite']),
  deferredSettlement: zDeferredSettlement.nullable(),
  settlementSpeedMs: z.int().nullable(),
  slippageBps: z.int().nullable(),
});
export type TradeItem = z.infer<typeof zTradeItem>;

export const zTradesResponse = z.object({
  items: z.array(zTradeItem),
  total: z.int(),
  offset: z.int(),
  limit: z.int(),
});

const zTransaction = z.object({
  txHash: z.string(),
  chainId: z.int(),
  blockNumber: z.int(),
  at: z.iso.datetime(),
  /** null until the gas has been captured. */
  gasUsed: z.string().nullable(),
  feeUsd: z.number().nullable(),
});
export type TradeTransaction = z.infer<typeof zTransaction>;
const zFee = z.object({ amount: z.string(), asset: z.string(), usd: z.number().nullable() });
export type TradeFee = z.infer<typeof zFee>;

const zLegExecution = z.object({
  orderId: z.string(),
  status: z.enum(['pending', 'settled', 'failed']),
  settlementStatus: zTradeItem.shape.settlementStatus,
  txHash: z.string().nullable(),
  deliveredAmount: z.string().nullable(),
});

export const zTradeDossier = z.object({
  trade: zTradeItem.extend({ filledAt: z.iso.datetime().nullable(), slippageToleranceBps: z.int() }),
  settlement: z.object({
    stages: z.object({
      submit: zTransaction.nullable(),
      fill: zTransaction.nullable(),
      proof: zTransaction.nullable(),
      finalise: zTransaction.nullable(),
    }),
    transactions: z.array(
      zTransaction.extend({ kind: z.enum(['submit', 'fill', 'proof', 'finalise', 'refund']) }),
    ),
  }),
  lp: z.object({
    id: z.string(),
    name: z.string(),
    kind: z.string(),
    spreadBps: z.int().nullable(),
    slices: z.array(
      z.object({
        solverId: z.string(),
        name: z.string(),
        account: z.string().nullable(),
        portionBps: z.int().nullable(),
        outputAmount: z.string(),
        deliveredAmount: z.string().nullable(),
      }),
    ),
  }),
  /** Routes only. */
  orderKind: z.string().optional(),
  substatus: z.string(),
  substatusMessage: z.string(),
  /** Routes of more than one leg only. */
  legs: z.array(zLeg.extend({ execution: zLegExecution.nullable() })).optional(),
  /** From here on: owners and admins only. */
  member: zTradeMember.nullable().optional(),
  /** As of now; `snapshotCompliance` is as of acceptance, null on orders older than screening. */
  compliance: zCompliance.nullable().optional(),
  snapshotCompliance: zCompliance.nullable().optional(),
  travelRuleTransmission: zTravelRuleTransmission.nullable().optional(),
  complianceProofs: zComplianceProofs.nullable().optional(),
  intent: zIntent.nullable().optional(),
  /** Omitted on orders older than the capture of fees. 0 on orders that failed; only gas was spent. */
  fees: z.object({ gas: zFee, protocolFee: zFee, solverFee: zFee, relayerTip: zFee }).optional(),
});
export type TradeDossier = z.infer<typeof zTradeDossier>;
