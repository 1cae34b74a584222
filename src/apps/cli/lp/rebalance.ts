/** `firmquote lp rebalance`: what is worth moving between chains, and the transfers that move it. */

import { printLines, table } from '../../terminal/table.ts';
import { type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';

const AMOUNTS = { right: ['amount', 'fee up to'] };
const TRANSFER = ['id', 'began', 'asset', 'from', 'to', 'amount', 'stage'] as const;

export async function showPlans(options: AdminClientOptions): Promise<void> {
  const { plans } = await (await openAdminClient(options)).get('/transfers/plan');
  if (options.json) return console.log(JSON.stringify({ plans }));
  if (plans.length === 0) return console.log('Nothing is worth moving now.');
  printLines(
    table(
      ['asset', 'from', 'to', 'amount', 'bridge', 'fee up to', 'begins', 'why'],
      plans.map(({ asset, from, to, amount, plan, fee, begins, why }) => [
        ...[asset, from, to, amount],
        'refused' in plan ? 'none' : `${plan.bridge}, about ${plan.seconds} s`,
        fee ?? '',
        ...[begins.replace('_', ' '), why],
      ]),
      AMOUNTS,
    ),
  );
}

export async function beginTransfer({
  asset,
  from,
  to,
  amount,
  note,
  ...options
}: AdminClientOptions & {
  asset: string;
  from: string;
  to: string;
  amount: string;
  note: string;
}): Promise<void> {
  const client = await openAdminClient(options);
  const { body } = await client.post('/transfers', { asset, from, to, amount, note });
  if (options.json) return console.log(JSON.stringify(body));
  console.log(
    `Transfer ${body.id} began: ${body.planned} ${body.asset} from ${body.from} to ${body.to} by ${body.bridge}. Follow it with: firmquote lp rebalance status`,
  );
}

export async function showRebalancing(options: AdminClientOptions, which: 'open' | 'all'): Promise<void> {
  const client = await openAdminClient(options);
  const { transfers: newest } = await client.get('/transfers', { query: 'limit=200' });
  const transfers = which === 'all' ? newest : newest.filter(({ isOver }) => !isOver);
  if (options.json) return console.log(JSON.stringify({ transfers }));
  if (transfers.length === 0)
    return console.log(which === 'all' ? 'No transfer has begun yet.' : 'No transfer is under way.');
  const rows = transfers.map(({ id, createdAtMs, asset, from, to, amount, stage }) => [
    ...[id, new Date(createdAtMs).toISOString().slice(0, 19), asset, from, to, amount, stage],
  ]);
  printLines(table(TRANSFER, rows, AMOUNTS));
  for (const { id, waits } of transfers) if (waits !== null) console.log(`${id} waits: ${waits.detail}`);
}
