/** GET …/trades/export as NDJSON and with cursors, and GET …/trades/daily. */

import * as z from 'zod';
import { zExplained } from '../../schema.ts';
import { FIELDS } from '../candidate.ts';
import { zLeg } from '../router.ts';
import { zTradeItem } from './trades.ts';
import { readDateTime, zTradesFilter } from './query.ts';

/**
 * Marks a reader's place in the order of creation (`c`) or of the last change (`u`). `c0`, `u0`: at the
 * start.
 */
const CURSOR = /^[cu](?:0|[1-9]\d{0,14})$/;

export interface TradeCursor {
  by: 'created' | 'changed';
  after: number;
}

const readCursor = (text: string): TradeCursor => ({
  by: text.startsWith('c') ? 'created' : 'changed',
  after: Number(text.slice(1)),
});
export const cursorText = ({ by, after }: TradeCursor): string => `${by === 'created' ? 'c' : 'u'}${after}`;

const isCursorOf = (kind: 'c' | 'u', text: string) => text.startsWith(kind) && CURSOR.test(text);

const zCreatedAfter = z
  .string()
  .max(64)
  .refine(
    (text) => isCursorOf('c', text) || readDateTime(text) !== undefined,
    'must be an RFC 3339 date-time with its offset, such as 2026-01-31T09:30:00Z, or a cursor, such as c0',
  )
  .transform((text) => (isCursorOf('c', text) ? readCursor(text) : (readDateTime(text) as number)));

export const zTradesExportQuery = zTradesFilter
  .extend({
    format: zExplained('How the trades are written. Absent: `csv`.', {
      csv: 'a row for each trade',
      ndjson: 'one JSON object on each line, as in the list',
    }).optional(),
    createdAfter: zCreatedAfter
      .optional()
      .describe(
        'Created at or after this time (RFC 3339). With `format=ndjson` also a cursor: every trade that was created after it, once, in order of creation. `c0` is the start.',
      ),
    updatedAfter: z
      .string()
      .max(64)
      .refine(
        (text) => isCursorOf('u', text),
        'must be a cursor of an earlier export with updatedAfter, or u0',
      )
      .transform(readCursor)
      .optional()
      .describe(
        'A cursor, with `format=ndjson`: every trade that was created or has changed after it, as it is now, in order of its last change. `u0` is the start.',
      ),
  })
  .superRefine(({ format, createdAfter, updatedAfter, sort, direction }, context) => {
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    const byCreation = typeof createdAfter === 'object';
    const name = byCreation ? 'createdAfter' : 'updatedAfter';
    if (!byCreation && updatedAfter === undefined) return;
    if (byCreation && updatedAfter !== undefined)
      refuse('updatedAfter', 'cannot follow two cursors at once. Leave out createdAfter or updatedAfter.');
    if (format !== 'ndjson') refuse(name, 'a cursor needs format=ndjson');
    if (sort !== undefined) refuse('sort', 'a cursor has its own order. Leave out sort.');
    if (direction !== undefined) refuse('direction', 'a cursor has its own order. Leave out direction.');
  });
export type TradesExportQuery = z.infer<typeof zTradesExportQuery>;

/** A line of NDJSON. */
export const zTradeLine = zTradeItem
  .extend({
    legs: z
      .array(
        zLeg
          .pick({ kind: true, solverId: true, fees: true })
          .meta({ id: 'TradeLineLeg', description: 'Kind, venue and fees of a leg.' }),
      )
      .nullable()
      .describe(
        'Legs of the whole route, or slices of a split, as quoted. null for routes of older releases.',
      ),
    cursor: z
      .string()
      .optional()
      .describe('Only in an export with a cursor: give it to the next export to go on after this line.'),
  })
  .meta({ id: 'TradeLine', description: 'A line of an export as NDJSON.' });
export type TradeLine = z.infer<typeof zTradeLine>;

export const zTradesDailyQuery = zTradesFilter.omit({ sort: true, direction: true });
export type TradesDailyQuery = z.infer<typeof zTradesDailyQuery>;

/** A query may span at most this many days, the first and the last included. */
export const MAX_DAYS = 92;
export const DEFAULT_DAYS = 30;

const byStatus = <T extends z.ZodType>(value: T, id: string, what: string) =>
  z
    .object({
      pending: value.describe(`${what} that can still settle.`),
      settled: value.describe(`${what} that settled.`),
      failed: value.describe(`${what} that never opened, or whose refund is still to come.`),
      refunded: value.describe(`${what} that were refunded.`),
    })
    .meta({ id, description: `${what}, by status as it is now.` });

const zTokenTotal = z
  .object({
    asset: z.string().describe(FIELDS.asset),
    symbol: z.string().nullable().describe(`${FIELDS.symbol} null when the venue no longer lists the token.`),
    decimals: z
      .int()
      .nullable()
      .describe(`${FIELDS.decimals} null when the venue no longer lists the token.`),
    amount: byStatus(z.string(), 'TokenTotals', 'Sum in base units, as integer text, over the trades'),
  })
  .meta({ id: 'TokenTotal', description: 'What a day moved of a token.' });
export type TokenTotal = z.infer<typeof zTokenTotal>;

const zDay = z
  .object({
    day: z.iso.date().describe('UTC day of creation, such as 2026-01-31.'),
    trades: byStatus(z.int(), 'TradeCounts', 'Number of the trades'),
    amountUsd: byStatus(z.number(), 'UsdTotals', 'Notional in USD, at the quotes, of the trades'),
    withoutUsd: z.int().describe('Number of trades without a notional, which amountUsd leaves out.'),
    inputs: z.array(zTokenTotal).describe('What takers give, by token.'),
    outputs: z.array(zTokenTotal).describe('What was delivered; before the delivery, what was quoted.'),
  })
  .meta({ id: 'TradesDay', description: 'Totals of the trades of a UTC day.' });
export type TradesDay = z.infer<typeof zDay>;

export const zTradesDailyResponse = z
  .object({
    from: z.iso.datetime().describe('Trades created at or after this time are included.'),
    to: z.iso.datetime().describe('Trades created at or before this time are included.'),
    items: z.array(zDay).describe('Days with trades, oldest first.'),
  })
  .meta({ id: 'TradesDailyResponse', description: 'Totals per UTC day.' });
