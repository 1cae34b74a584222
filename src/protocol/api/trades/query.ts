/** What callers may ask of the trade history: filters, sort columns and pages. */

import * as z from 'zod';
import { explained, zExplained } from '../../schema.ts';

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
