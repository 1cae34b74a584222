/** Commands that control a running LP: status, pause, resume, drain, reload, audit. */

import { formatTokens } from '../../../domain/amount.ts';
import { RequestError } from '../../../domain/errors.ts';
import type { Json } from '../../../protocol/json.ts';
import type { StatusView } from '../../lp/admin/answers.ts';
import type { Reload } from '../../lp/reload.ts';
import { type AdminClient, type AdminClientOptions, openAdminClient } from '../../lp/admin-client.ts';
import { printLines, table } from '../../terminal/table.ts';
import { signalText } from './signal.ts';

type Status = Json<StatusView>;

const POLL_MS = 1_000;

export async function showStatus(options: AdminClientOptions): Promise<void> {
  const client = await openAdminClient(options);
  print(options, await client.get('/status'));
}

interface Scope {
  pair?: string;
  chain?: string;
}

const given = (fields: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, text]) => (text === undefined ? [] : [[name, text]])),
  );

/** Pauses the whole LP, or one pair or chain. */
export async function pauseLp({
  note,
  pair,
  chain,
  ...options
}: AdminClientOptions & Scope & { note?: string }): Promise<void> {
  const client = await openAdminClient(options);
  const { body } = await client.post('/pause', given({ note, pair, chain }));
  print(options, body);
}

/** Resumes everything, or one pair or chain. */
export async function resumeLp({ pair, chain, ...options }: AdminClientOptions & Scope): Promise<void> {
  const client = await openAdminClient(options);
  const { body } = await client.post('/resume', given({ pair, chain }));
  print(options, body);
}

/** Returns when no live quote and no open order is left. */
export async function drainLp({
  note = 'draining',
  timeout,
  ...options
}: AdminClientOptions & { note?: string; timeout?: number }): Promise<void> {
  const client = await openAdminClient(options);
  const startedMs = performance.now();
  await client.post('/pause', { note });
  let last = '';
  for (;;) {
    const { liveQuotes, openAwards, pause: standing } = await client.get('/status');
    if (standing === null)
      throw new RequestError(
        'The LP was resumed while it was draining and quotes again. See: firmquote lp audit',
        { code: 'resumed' },
      );
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    if (liveQuotes === 0 && openAwards === 0) {
      if (options.json) console.log(JSON.stringify({ drained: true, seconds }));
      else
        console.log(
          `Drained after ${seconds} s: no live quotes, no open orders. It stays paused, also after a restart, until: firmquote lp resume`,
        );
      return;
    }
    const now = `${liveQuotes} live quotes, ${openAwards} open orders`;
    if (!options.json && now !== last) console.log(`${String(seconds).padStart(4)} s  ${now}`);
    last = now;
    if (timeout !== undefined && seconds >= timeout)
      throw new RequestError(
        `Not drained after ${seconds} s (${now}). It stays paused. Run drain again to wait longer.`,
        { code: 'timeout' },
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export async function reloadLp(options: AdminClientOptions & { dryRun?: boolean }): Promise<void> {
  const client = await openAdminClient(options);
  if (options.dryRun === true) return previewReload(client, options);
  const { ok, body } = await client.post('/reload');
  if (!ok) process.exitCode = 1;
  if (options.json) return console.log(JSON.stringify(body));
  if (!ok) {
    console.error(`${body.error?.message ?? 'Refused.'}`);
    for (const reason of body.reasons) console.error(`  - ${reason}`);
    return;
  }
  console.log(
    body.changes.length === 0
      ? 'Nothing changed: the file equals the running configuration.'
      : 'Applied from the next request on; live quotes keep their terms.',
  );
  printChanges(body);
}

function printChanges({ changes, warnings }: Pick<Reload, 'changes' | 'warnings'>): void {
  for (const { path, from, to } of changes) console.log(`  ${path}: ${from} → ${to}`);
  for (const warning of warnings) console.log(`Warning: ${warning}`);
}

async function previewReload(client: AdminClient, { json }: AdminClientOptions): Promise<void> {
  const { ok, body } = await client.post('/reload/preview');
  if (!ok) process.exitCode = 1;
  if (json) return console.log(JSON.stringify(body));
  printChanges(body);
  if (!ok) {
    console.error(body.error?.message ?? 'Refused.');
    for (const reason of body.reasons) console.error(`  - ${reason}`);
    return;
  }
  if (body.changes.length === 0)
    return console.log('A reload would change nothing: the file equals the running configuration.');
  console.log('\nNothing was changed. Quotes of the last hour, priced again with these changes:');
  const bps = (value: number | null) => (value === null ? '-' : value.toFixed(2));
  printLines(
    table(
      ['pair', 'quotes', 'spread bps', 'new spread bps', 'declined'],
      body.pairs.map(({ pair, quotes, spreadBps, newSpreadBps, declined }) => [
        pair,
        String(quotes),
        bps(spreadBps),
        bps(newSpreadBps),
        Object.entries(declined)
          .map(([reason, count]) => `${count} ${reason}`)
          .join(', ') || '0',
      ]),
      { right: ['quotes', 'spread bps', 'new spread bps'] },
    ),
  );
  if (body.pairs.length === 0) console.log('none: the LP gave no quote in the last hour');
}

export async function showAudit({
  limit = '20',
  ...options
}: AdminClientOptions & { limit?: string }): Promise<void> {
  const client = await openAdminClient(options);
  const { entries } = await client.get('/audit', { query: `limit=${encodeURIComponent(limit)}` });
  if (options.json) return console.log(JSON.stringify(entries));
  for (const { atMs, who, address, what, note, changes, configSha256 } of entries) {
    console.log(
      [
        new Date(atMs).toISOString(),
        what,
        `by ${who}${address === null ? '' : ` at ${address}`}`,
        ...(note ? [`"${note}"`] : []),
        ...(configSha256 ? [`config ${configSha256.slice(0, 12)}`] : []),
      ].join('  '),
    );
    for (const { path, from, to } of changes) console.log(`    ${path}: ${from} → ${to}`);
  }
}

function print({ json }: AdminClientOptions, status: Status): void {
  if (json) return console.log(JSON.stringify(status));
  printLines(lines(status));
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function lines({
  status,
  reasons,
  pairs,
  liveQuotes,
  openAwards,
  venues,
  chains,
  prices,
  sources,
  signals,
  sending,
  pause: standing,
  shadow,
}: Status): string[] {
  const dark = pairs.filter(({ quoting }) => !quoting);
  const quoting = shadow ? 'Shadow: nothing is signed. Pricing' : 'Quoting';
  const head =
    status === 'standby'
      ? shadow
        ? 'Shadow: nothing is signed. Not pricing.'
        : 'Not quoting.'
      : dark.length === 0
        ? `${quoting}.`
        : `${quoting} ${pairs.length - dark.length} of ${pairs.length} pairs.`;
  return [
    `${head} ${liveQuotes} live quotes, ${openAwards} open orders.`,
    ...(standing === null
      ? []
      : [
          `Paused by ${standing.by} at ${new Date(standing.atMs).toISOString()}${standing.note === '' ? '' : `: ${standing.note}`}. Resume with: firmquote lp resume`,
        ]),
    ...reasons
      .filter(({ kind }) => kind !== 'paused' || standing === null)
      .map(({ kind, note }) => `  ${kind}: ${note}`),
    ...(status === 'active'
      ? dark.map(({ pair, reason }) => `  ${pair} is not quoted: ${reason ?? 'no reason'}`)
      : []),
    ...signals.map((signal) => `  signal ${signalText(signal)}`),
    ...(sending === 'held' ? ['The operator holds transactions. Release them with: POST /fills/resume'] : []),
    '',
    ...table(
      ['venue', 'link'],
      venues.map(({ name, welcome }) => [name, welcome ? 'connected' : 'not connected']),
    ),
    '',
    ...table(
      ['chain', 'id', 'head', 'final', 'operator gas'],
      chains.map(({ slug, chainId, head: block, final, gasWei, gasSymbol }) => [
        slug,
        String(chainId),
        block ?? '-',
        final,
        gasWei === null ? '-' : formatTokens(BigInt(gasWei), { decimals: 18, symbol: gasSymbol }),
      ]),
      { right: ['id', 'head', 'final', 'operator gas'] },
    ),
    '',
    ...table(
      ['price', 'USD', ''],
      prices.map(({ symbol, usd, detail }) => [symbol, usd === null ? '-' : String(usd), detail ?? '']),
      { right: ['USD'] },
    ),
    '',
    ...table(
      ['source', 'of', 'says', 'age', 'bps off', 'state', 'last refused message'],
      sources.map(
        ({ price, feed, symbol, value, ageMs, allowedAgeMs, offBps, allowedBps, use, trouble, refused }) => [
          `${feed}|${symbol}`,
          price,
          value === undefined ? '-' : String(value),
          ageMs === undefined ? '-' : `${seconds(ageMs)} of ${seconds(allowedAgeMs)}`,
          offBps === undefined || allowedBps === undefined
            ? '-'
            : `${offBps.toFixed(1)} of ${allowedBps.toFixed(1)}`,
          trouble ?? use,
          refused === undefined
            ? ''
            : `${refused.why}${refused.detail === undefined ? '' : ` (${refused.detail})`} ${seconds(refused.ageMs)} ago, ${refused.count} since its last price`,
        ],
      ),
      { right: ['says', 'age', 'bps off'] },
    ),
  ];
}
