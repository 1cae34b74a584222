/** `firmquote lp pnl --by transfer`: what each transfer between chains moved and cost. */

import { formatUnits } from '../../../domain/amount.ts';
import { csvLineOf } from '../../../protocol/csv.ts';
import { printLines, table, usdText } from '../../terminal/table.ts';
import type { AdminClient } from '../../lp/admin-client.ts';

const HEAD = ['transfer', 'left', 'asset', 'from', 'to', 'bridge', 'stage', 'minutes', 'moved', 'fee', 'gas'];

export async function showTransfers(
  client: AdminClient,
  { window, limit, format, json }: { window: string; limit: string; format: string; json: boolean },
): Promise<void> {
  const query = `${window}&limit=${encodeURIComponent(limit)}`;
  const { transfers } = await client.get('/books/transfers', { query });
  if (json || format === 'json') return console.log(JSON.stringify(transfers));
  const rows = (figure: (micros: string) => string) =>
    transfers.map((each) => [
      each.id,
      each.departedAtMs === null ? '' : new Date(each.departedAtMs).toISOString(),
      ...[each.asset, each.fromChain, each.toChain, each.bridge, each.stage],
      each.departedAtMs === null || each.endedAtMs === null
        ? ''
        : ((each.endedAtMs - each.departedAtMs) / 60_000).toFixed(1),
      ...[each.movedMicros, each.feeMicros, each.gasMicros].map(figure),
    ]);
  if (format === 'csv')
    return printLines([
      csvLineOf(HEAD),
      ...rows((micros) => formatUnits(BigInt(micros), 6)).map((row) => csvLineOf(row)),
    ]);
  if (transfers.length === 0) return console.log('No transfer moved or cost anything in this window.');
  printLines(
    table(
      HEAD,
      rows((micros) => usdText(BigInt(micros))),
      { right: ['minutes', 'moved', 'fee', 'gas'] },
    ),
  );
}

export const minutes = (ms: number): string => `${(ms / 60_000).toFixed(1)} minutes`;
