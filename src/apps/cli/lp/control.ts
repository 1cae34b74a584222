/** Commands that control a running LP: status, pause, resume, drain, reload, audit. */

import { RequestError } from '../../../domain/errors.ts';
import type { LpStatus } from '../../../lp/node.ts';
import type { AuditEntry } from '../../../ports/stores/audit-log.ts';
import type { Reload } from '../../lp/reload.ts';
import { type DoorOptions, openDoor } from './admin-client.ts';
import { table } from '../table.ts';

/** Amounts are decimal text. */
type Status = Omit<LpStatus, 'chains'> & {
  chains: { chainId: number; slug: string; head: string | null; final: string; gasWei: string | null }[];
  sending: 'held' | 'free';
  pause: { by: string; note: string; atMs: number } | null;
};

const POLL_MS = 1_000;

export async function showStatus(options: DoorOptions): Promise<void> {
  const door = await openDoor(options);
  print(options, await door.get<Status>('/status'));
}

export async function pauseLp({ note, ...options }: DoorOptions & { note?: string }): Promise<void> {
  const door = await openDoor(options);
  const { body } = await door.post<Status>('/pause', { ...(note !== undefined && { note }) });
  print(options, body);
}

export async function resumeLp(options: DoorOptions): Promise<void> {
  const door = await openDoor(options);
  const { body } = await door.post<Status>('/resume');
  print(options, body);
}

/** Returns when no live quote and no open order is left: from then on the whole inventory is free. */
export async function drainLp({
  note = 'draining',
  timeout,
  ...options
}: DoorOptions & { note?: string; timeout?: number }): Promise<void> {
  const door = await openDoor(options);
  const startedMs = performance.now();
  await door.post<Status>('/pause', { note });
  let last = '';
  for (;;) {
    const { liveQuotes, openAwards, pause: standing } = await door.get<Status>('/status');
    if (standing === null)
      throw new RequestError(
        'Somebody resumed the LP while it was being drained: it quotes again. See: firmquote lp audit',
        { code: 'resumed' },
      );
    const seconds = Math.round((performance.now() - startedMs) / 1000);
    if (liveQuotes === 0 && openAwards === 0) {
      if (options.json) console.log(JSON.stringify({ drained: true, seconds }));
      else
        console.log(
          `Drained after ${seconds} s: nothing is promised, nothing is open. It stays paused, over a restart too, until: firmquote lp resume`,
        );
      return;
    }
    const now = `${liveQuotes} live quotes, ${openAwards} open orders`;
    if (!options.json && now !== last) console.log(`${String(seconds).padStart(4)} s  ${now}`);
    last = now;
    if (timeout !== undefined && seconds >= timeout)
      throw new RequestError(
        `Not empty after ${seconds} s (${now}). It stays paused; run drain again to go on waiting.`,
        { code: 'timeout' },
      );
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

export async function reloadLp(options: DoorOptions): Promise<void> {
  const door = await openDoor(options);
  const { ok, body } = await door.post<Reload & { error?: { message: string } }>('/reload');
  if (!ok) process.exitCode = 1;
  if (options.json) return console.log(JSON.stringify(body));
  if (!ok) {
    console.error(`${body.error?.message ?? 'Refused.'}`);
    for (const reason of body.reasons) console.error(`  - ${reason}`);
    return;
  }
  console.log(
    body.changes.length === 0
      ? 'The file says what is in force already.'
      : `In force from the next request on; live quotes keep the terms they were signed with.`,
  );
  for (const { path, from, to } of body.changes) console.log(`  ${path}: ${from} → ${to}`);
}

export async function showAudit({
  limit = '20',
  ...options
}: DoorOptions & { limit?: string }): Promise<void> {
  const door = await openDoor(options);
  const { entries } = await door.get<{ entries: AuditEntry[] }>(`/audit?limit=${encodeURIComponent(limit)}`);
  if (options.json) return console.log(JSON.stringify(entries));
  for (const { atMs, who, what, note, changes, configSha256 } of entries) {
    console.log(
      [
        new Date(atMs).toISOString(),
        what,
        `by ${who}`,
        ...(note ? [`"${note}"`] : []),
        ...(configSha256 ? [`config ${configSha256.slice(0, 12)}`] : []),
      ].join('  '),
    );
    for (const { path, from, to } of changes) console.log(`    ${path}: ${from} → ${to}`);
  }
}

function print({ json }: DoorOptions, status: Status): void {
  if (json) return console.log(JSON.stringify(status));
  for (const line of lines(status)) console.log(line);
}

function lines({
  status,
  reasons,
  liveQuotes,
  openAwards,
  venues,
  chains,
  prices,
  sending,
  pause: standing,
}: Status): string[] {
  const head = status === 'active' ? 'Quoting.' : 'Not quoting.';
  return [
    `${head} ${liveQuotes} live quotes, ${openAwards} open orders.`,
    ...(standing === null
      ? []
      : [
          `Paused by ${standing.by} at ${new Date(standing.atMs).toISOString()}${standing.note === '' ? '' : `: ${standing.note}`}. Ends with: firmquote lp resume`,
        ]),
    ...reasons
      .filter(({ kind }) => kind !== 'paused' || standing === null)
      .map(({ kind, note }) => `  ${kind}: ${note}`),
    ...(sending === 'held' ? ['Transactions are held by the operator (POST /fills/resume frees them).'] : []),
    '',
    ...table(
      ['venue', 'link'],
      venues.map(({ name, welcome }) => [name, welcome ? 'welcome' : 'not connected']),
    ),
    '',
    ...table(
      ['chain', 'id', 'head', 'final', 'operator gas'],
      chains.map(({ slug, chainId, head: block, final, gasWei }) => [
        slug,
        String(chainId),
        block ?? '-',
        final,
        gasWei === null ? '-' : (Number(gasWei) / 1e18).toFixed(4),
      ]),
      { right: ['id', 'head', 'final', 'operator gas'] },
    ),
    '',
    ...table(
      ['price', 'USD', ''],
      prices.map(({ symbol, usd, detail }) => [symbol, usd === null ? '-' : String(usd), detail ?? '']),
      { right: ['USD'] },
    ),
  ];
}
