/** `firmquote partner`: books between a venue and its route partners. */

import { readFile } from 'node:fs/promises';
import { createMetrics } from '../../../adapters/prometheus/metrics.ts';
import { filledOrdersOf } from '../../../adapters/postgres/venue/filled-orders.ts';
import { systemClock } from '../../../adapters/system/clock.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import { toIso } from '../../../domain/time.ts';
import {
  type ReconciliationLine,
  zReconciliationLine,
  zReconciliationRequest,
} from '../../../protocol/partner/messages.ts';
import {
  compareReconciliation,
  type FileDifference,
  secondsOfDay,
} from '../../../venue/partners/reconciliation.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import type { SecretContext } from '../../wiring/keys.ts';
import type { VenueConfig } from '../../venue/config.ts';
import { openPartnerClients } from '../../venue/partners.ts';
import { printLines, table } from '../../terminal/table.ts';
import type { AdminOptions } from './venue-admin.ts';
import { withVenueDatabase } from './venue-database.ts';

interface ReconcileOptions extends AdminOptions {
  /** UTC; default: the last whole day. */
  day?: string;
  /** A file with the partner's lines, read instead of asking the partner. */
  file?: string;
}

const TIMEOUT_MS = 60_000;
const DAY_MS = 86_400_000;

const MEANING: Record<FileDifference['what'], string> = {
  missing: 'filled on this day, and not in the file',
  unknown: 'in the file, and the venue has no such order',
  foreign: 'in the file, and it is an order of another solver',
  unfilled: 'in the file, and the chain has shown no fill of it',
  other_day: 'filled on another day',
  twice: 'in the file twice',
  input: 'the asset that was paid differs',
  amountIn: 'what the partner was paid differs',
  output: 'the asset that was delivered differs',
  amountOut: 'what was delivered differs',
  fillTx: 'the transaction differs',
  filledAt: 'the time of the fill differs',
};

/** Compares the books of a day with the partner's. Exit code 0: no difference, 1: some. */
export async function reconcilePartner(
  partner: string,
  {
    config: configFile,
    json,
    day = toIso(systemClock.nowMs() - DAY_MS).slice(0, 10),
    file,
  }: ReconcileOptions,
): Promise<void> {
  if (!zReconciliationRequest.shape.day.safeParse(day).success)
    throw badRequest(`"${day}" is not a day. Write it as 2026-11-28.`);
  const { begin, end } = secondsOfDay(day);
  if (begin * 1_000 > systemClock.nowMs()) throw badRequest(`${day} (UTC) has not begun yet.`);
  await withVenueDatabase(configFile, async ({ db, venue, config, secrets }) => {
    const lines =
      file === undefined
        ? await askedLines(partner, day, config, secrets)
        : linesOf(await readFile(file, 'utf8').catch(unreadable(file)), file);
    const filled = await filledOrdersOf(db, partner, { begin, end });
    const named = await venue.ordersWith([...new Set(lines.map(({ orderId }) => orderId as Bytes32))]);
    const orders = new Map([...named, ...filled.map((order) => [order.orderId, order] as const)]);
    const differences = compareReconciliation({ partner, day }, orders, lines);
    process.exitCode = differences.length === 0 ? 0 : 1;
    const counts = { partner, day, orders: filled.length, lines: lines.length };
    if (json) return console.log(JSON.stringify({ ...counts, differences }));
    console.log(
      `${partner}, ${day} (UTC): ${filled.length} orders filled by the records of the venue, ${lines.length} lines in the file.`,
    );
    if (end * 1_000 > systemClock.nowMs()) console.log('The day is not over: both may still grow.');
    if (differences.length === 0) return console.log('No difference.');
    printLines(
      table(
        ['order', 'difference', 'venue', 'file'],
        differences.map(({ orderId, what, venue: ours, file: theirs }) => [
          ...[orderId, `${what}: ${MEANING[what]}`, ours ?? '-', theirs ?? '-'],
        ]),
      ),
    );
  });
}

async function askedLines(
  partner: string,
  day: string,
  config: VenueConfig,
  secrets: SecretContext,
): Promise<ReconciliationLine[]> {
  const clients = await openPartnerClients(config, { metrics: createMetrics(), secrets });
  try {
    return await clients.of(partner).reconciliation(day, TIMEOUT_MS);
  } finally {
    clients.close();
  }
}

function linesOf(text: string, file: string): ReconciliationLine[] {
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {}
    const read = zReconciliationLine.safeParse(value);
    if (read.success) return [read.data];
    const [issue] = read.error.issues;
    throw badRequest(
      `Line ${index + 1} of ${file} is not a line of a reconciliation file, at "${issue?.path.join('.') ?? ''}": ${issue?.message ?? ''}`,
    );
  });
}

const unreadable =
  (file: string) =>
  (cause: unknown): never => {
    throw badRequest(`The file ${file} cannot be read.`, cause);
  };
