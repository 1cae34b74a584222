/** Tables of an LP's inventory, limits, orders and win-rate curves. */

import { formatTokens } from '../../../domain/amount.ts';
import type { CurveView } from '../../../lp/quoting/win-rates.ts';
import type { RiskStatus } from '../../../lp/risk/risk.ts';
import type { Json } from '../../../protocol/json.ts';
import type { AdminReads } from '../../lp/admin/answers.ts';
import { type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';
import { boundsText } from './signal.ts';
import { CUT_NOTE, printLines, shortUnits, table } from '../../terminal/table.ts';

type Inventory = Json<AdminReads['/inventory']>;

const AMOUNTS = [
  'balance',
  'held',
  'committed',
  'in flight',
  'receivable',
  'buffer',
  'withdrawing',
  'free',
] as const;
const WANTED = ['position', 'target', 'soft band', 'hard band', 'q'] as const;

export async function showInventory(options: AdminClientOptions): Promise<void> {
  const client = await openAdminClient(options);
  const [inventory, { chains }] = await Promise.all([client.get('/inventory'), client.get('/status')]);
  if (options.json) return console.log(JSON.stringify(inventory));
  const { buckets } = inventory;
  const slug = (chainId: number) =>
    chains.find((chain) => chain.chainId === chainId)?.slug ?? String(chainId);
  const rows = buckets.map((bucket) => {
    const exact = (text: string) =>
      formatTokens(BigInt(text), { decimals: bucket.decimals, symbol: bucket.asset });
    const amounts = [
      bucket.onchain,
      bucket.held,
      bucket.committed,
      bucket.pendingOut,
      bucket.receivable,
      bucket.buffer,
      bucket.withdrawing,
      bucket.free,
    ].map((text) => shortUnits(BigInt(text), bucket.decimals));
    const limit = bucket.operatorLimit;
    const trouble = [
      limit === null
        ? ''
        : `in this window the operator may still spend ${exact(limit.left)} of ${exact(limit.most)}`,
      bucket.drift === null
        ? ''
        : `frozen: the chain has ${exact(bucket.drift)} more than the inventory ledger`,
      bucket.shortfall === '0' ? '' : `short by ${exact(bucket.shortfall)}`,
    ];
    return [bucket.asset, slug(bucket.chainId), ...amounts, trouble.filter(Boolean).join('; ')];
  });
  printLines(table(['asset', 'chain', ...AMOUNTS, ''], rows, { right: AMOUNTS }));
  console.log('');
  printLines(wantedTable(inventory));
  console.log(`\n${CUT_NOTE}`);
  for (const { corridor, orderId, owed, seconds, limitSeconds, overdue } of inventory.receivables) {
    const bucket = buckets.find(({ chainId, token }) => chainId === owed.chainId && token === owed.token);
    if (overdue)
      console.log(
        `\nOverdue on ${corridor}: ${formatTokens(BigInt(owed.amount), bucket === undefined ? { decimals: null, symbol: owed.token } : { decimals: bucket.decimals, symbol: bucket.asset })}, owed for ${seconds} s (usual limit ${limitSeconds} s), order ${orderId}. It is not counted until it arrives.`,
      );
  }
  for (const { asset, from, to, amount, cost, charges } of inventory.rebalancing) {
    const tokens = (atto: string) => formatTokens(BigInt(atto), { decimals: 18, symbol: asset });
    console.log(
      `\nRebalancing advice: move ${tokens(amount)} from ${from} to ${to}. It costs about ${tokens(cost)}; charging takers for the shortage costs ${tokens(charges)} per day.`,
    );
  }
}

function wantedTable({ positions }: Inventory): string[] {
  const rows = positions.flatMap(({ asset, total, target, soft, hard, q, places }) => [
    [
      asset,
      'all',
      atto(total),
      atto(target),
      soft === undefined ? '-' : `± ${atto(soft)}`,
      hard === undefined ? '-' : `± ${atto(hard)}`,
      q === undefined ? '-' : q.toFixed(2),
    ],
    ...(places.length < 2
      ? []
      : places.map(({ slug, available, target: part, q: off, room }) => [
          asset,
          slug,
          atto(available),
          atto(part),
          '',
          room === undefined ? '-' : `${atto(room.in)} in, ${atto(room.out)} out`,
          off.toFixed(2),
        ])),
  ]);
  return table(['asset', 'chain', ...WANTED], rows, { right: WANTED });
}

const atto = (amount: string): string => shortUnits(BigInt(amount), 18);

export async function showAwards({
  limit = '20',
  ...options
}: AdminClientOptions & { limit?: string }): Promise<void> {
  const client = await openAdminClient(options);
  const [{ awards }, { buckets }, { chains }] = await Promise.all([
    client.get('/awards', { query: `limit=${encodeURIComponent(limit)}` }),
    client.get('/inventory'),
    client.get('/status'),
  ]);
  if (options.json) return console.log(JSON.stringify({ awards }));
  if (awards.length === 0) return console.log('No orders yet.');
  const place = (chainId: string, token: string, amount: string): string => {
    const address = `0x${BigInt(token).toString(16).padStart(40, '0').slice(-40)}`;
    const bucket = buckets.find((one) => one.chainId === Number(chainId) && one.token === address);
    const slug = chains.find((chain) => chain.chainId === Number(chainId))?.slug ?? chainId;
    return bucket === undefined
      ? `${amount} base units of ${address} on ${slug}`
      : `${shortUnits(BigInt(amount), bucket.decimals)} ${bucket.asset} on ${slug}`;
  };
  const rows = awards.map(({ orderId, stage, note, acceptedAtMs, order, outputIndex }) => {
    const [input, output] = [order.inputs[0], order.outputs[outputIndex]];
    const split = order.outputs.length > 1 ? ' (part of a split)' : '';
    return [
      new Date(acceptedAtMs).toISOString().slice(0, 19),
      stage,
      output ? place(output.chainId, output.token, output.amount) : '',
      input ? `${place(order.originChainId, input[0], input[1])}${split}` : '',
      orderId,
      note ?? '',
    ];
  });
  printLines(table(['accepted', 'stage', 'LP pays', 'taker pays', 'order', ''], rows));
}

export async function showLimits(options: AdminClientOptions): Promise<void> {
  const client = await openAdminClient(options);
  const [{ limits, signals }, risk] = await Promise.all([client.get('/limits'), client.get('/risk')]);
  if (options.json) return console.log(JSON.stringify({ limits, signals, risk }));
  const of = (now: string, most: string | null) => (most === null ? now : `${now} / ${most}`);
  const rows = limits.map(
    ({ scope, of: whose, count, maxCount, notionalUsd, maxNotionalUsd, gapLossUsd, maxGapLossUsd, used }) => [
      scope,
      whose,
      of(String(count), maxCount === null ? null : String(maxCount)),
      of(money(notionalUsd), maxNotionalUsd === null ? null : money(maxNotionalUsd)),
      of(money(gapLossUsd), maxGapLossUsd === null ? null : money(maxGapLossUsd)),
      `${(used * 100).toFixed(0)} %`,
    ],
  );
  const headings = ['limit', 'of', 'live quotes', 'notional USD', 'gap loss USD', 'used'];
  printLines(
    rows.length === 0
      ? ['No limits are configured (lp.limits).']
      : table(headings, rows, { right: headings.slice(2) }),
  );
  if (signals !== null) printLines(['', `Signals in force: ${boundsText(signals)}`]);
  printLines(['', ...riskLines(risk)]);
}

function riskLines({ tripped, navUsd, loss, suspects }: RiskStatus): string[] {
  return [
    ...(tripped.length === 0
      ? ['No risk control has tripped.']
      : table(
          ['risk control', 'about', 'since', ''],
          tripped.map(({ control, about, sinceMs, detail }) => [
            control,
            about,
            new Date(sinceMs).toISOString().slice(0, 19),
            detail,
          ]),
        )),
    ...(navUsd === null
      ? []
      : [
          `Net asset value ${money(navUsd)} USD${loss === null ? '' : `; lost ${loss.hourBps.toFixed(1)} bps in an hour, ${loss.dayBps.toFixed(1)} bps in a day (negative: gained)`}.`,
        ]),
    ...(suspects.length === 0
      ? []
      : [
          '',
          ...table(
            ['suspected option holder', 'step', 'quotes', 'accepted'],
            suspects.map(({ taker, step, quotes, accepts }) => [
              taker,
              String(step),
              String(quotes),
              String(accepts),
            ]),
            { right: ['step', 'quotes', 'accepted'] },
          ),
        ]),
  ];
}

const money = (usd: number): string => usd.toLocaleString('en-US', { maximumFractionDigits: 2 });

export async function showCurves(options: AdminClientOptions): Promise<void> {
  const { curves } = await (await openAdminClient(options)).get('/curves');
  if (options.json) return console.log(JSON.stringify({ curves }));
  const shown = ({ alpha, beta }: CurveView['learned']) => [
    alpha.toFixed(2),
    beta.toFixed(3),
    (-alpha / beta).toFixed(2),
  ];
  const rows = curves.map(({ pair, corridor, size, won, lost, configured, learned, inUse }) => [
    pair,
    corridor,
    size,
    String(won),
    String(lost),
    ...shown(configured),
    ...shown(learned),
    inUse ? 'learned' : 'configured',
  ]);
  const headings = [
    'pair',
    'corridor',
    'size USD',
    'won',
    'lost',
    'alpha',
    'beta',
    'half bps',
    'learned alpha',
    'beta',
    'half bps',
    'prices',
  ];
  printLines(
    rows.length === 0
      ? ['No curves yet: no quote was accepted or expired, or lp.pricing.calibration.mode is off.']
      : table(headings, rows, { right: headings.slice(3, -1) }),
  );
}
