/**
 * A real Alertmanager with ops/alertmanager.yml sends each severity where it belongs, and its messages say
 * what happened and what to do. Slack, PagerDuty and the mail server are played by their wire formats.
 */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { spawnWatched } from '../../src/adapters/process/parent-watchdog.ts';

const FILE = join(import.meta.dirname, '..', '..', 'ops', 'alertmanager.yml');
const RULES = readFileSync(join(import.meta.dirname, '..', '..', 'ops', 'rules.yml'), 'utf8');
const amtool = (...words: string[]) => spawnSync('amtool', words, { encoding: 'utf8' });

const posts: { path: string; json: Record<string, unknown> }[] = [];
const mails: string[] = [];
const stops: (() => unknown)[] = [];
let url: string;

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'firmquote-alertmanager-'));
  stops.push(() => rmSync(folder, { recursive: true, force: true }));
  const web = createHttpServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    posts.push({ path: request.url ?? '', json: JSON.parse(body) as Record<string, unknown> });
    if (request.url === '/pagerduty') response.writeHead(202).end('{"status":"success","dedup_key":"k"}');
    else response.end('ok');
  });
  const webPort = await listen(web);
  const mailPort = await listen(playMailServer());
  const secret = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const config = readFileSync(FILE, 'utf8')
    .replace('/run/alertmanager/slack-url', secret('slack', `http://127.0.0.1:${webPort}/slack`))
    .replace('/run/alertmanager/smtp-password', secret('smtp', 'a password'))
    .replace('/run/alertmanager/pagerduty-key', secret('pagerduty', '0123456789abcdef0123456789abcdef'))
    .replace('smtp.example.com:587', `127.0.0.1:${mailPort}`)
    .replace('smtp_require_tls: true', 'smtp_require_tls: false')
    .replace('global:\n', `global:\n  pagerduty_url: http://127.0.0.1:${webPort}/pagerduty\n`)
    .replaceAll(/group_wait: \S+/g, 'group_wait: 100ms');
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  const alertmanager = await spawnWatched(
    'prometheus-alertmanager',
    [
      `--config.file=${secret('alertmanager.yml', config)}`,
      `--storage.path=${join(folder, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--cluster.listen-address=',
      '--log.level=error',
    ],
    { cwd: folder, graceMs: 3_000 },
  );
  stops.push(() => alertmanager.stop());
  await vi.waitFor(
    async () => {
      if (!(await fetch(`${url}/-/ready`)).ok) throw new Error('not ready');
    },
    { timeout: 30_000, interval: 100 },
  );
}, 60_000);
afterAll(async () => {
  for (const stop of stops.toReversed()) await stop();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Takes every mail, after the login that it demands. */
function playMailServer(): Server {
  return createServer((socket) => {
    let [text, inMail, mail] = ['', false, ''];
    socket.on('error', () => {});
    socket.write('220 played ESMTP\r\n');
    const reply = (line: string): string => {
      if (/^EHLO/i.test(line)) return '250-played\r\n250 AUTH PLAIN LOGIN';
      if (/^AUTH/i.test(line)) return '235 welcome';
      if (/^DATA/i.test(line)) {
        inMail = true;
        return '354 go on';
      }
      return /^QUIT/i.test(line) ? '221 bye' : '250 ok';
    };
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('utf8');
      for (let end = text.indexOf('\r\n'); end >= 0; end = text.indexOf('\r\n')) {
        const line = text.slice(0, end);
        text = text.slice(end + 2);
        if (!inMail) socket.write(`${reply(line)}\r\n`);
        else if (line !== '.') mail += `${line}\n`;
        else {
          mails.push(mail);
          [inMail, mail] = [false, ''];
          socket.write('250 taken\r\n');
        }
      }
    });
  });
}

async function fire(labels: Record<string, string>, annotations: Record<string, string>): Promise<void> {
  const answer = await fetch(`${url}/api/v2/alerts`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify([{ labels, annotations }]),
  });
  expect(answer.status).toBe(200);
}

test('amtool accepts the file', () => {
  const { stdout, stderr, status } = amtool('check-config', FILE);
  expect([status, stderr]).toEqual([0, '']);
  expect(stdout).toContain('SUCCESS');
});

test('every severity of the rules has a route of its own', () => {
  const severities = [...new Set([...RULES.matchAll(/severity: (\w+)/g)].map(([, severity]) => severity))];
  const receivers = severities.map(
    (severity) => amtool('config', 'routes', 'test', `--config.file=${FILE}`, `severity=${severity}`).stdout,
  );
  expect(Object.fromEntries(severities.map((severity, n) => [severity, receivers[n]?.trim()]))).toEqual({
    page: 'on-call',
    ticket: 'tickets',
  });
});

test('a page reaches PagerDuty and Slack with what happened and what to do', async () => {
  await fire(
    { alertname: 'GasLow', severity: 'page', chain: 'base', job: 'lp' },
    { summary: 'almost no gas', action: 'Top it up.', runbook: 'alerts.md#gaslow' },
  );
  await expect.poll(() => posts.length, { timeout: 30_000 }).toBe(2);
  const [pagerduty, slack] = ['/pagerduty', '/slack'].map(
    (path) => posts.find((post) => post.path === path)?.json,
  );
  expect(pagerduty).toMatchObject({
    routing_key: '0123456789abcdef0123456789abcdef',
    event_action: 'trigger',
    payload: {
      summary: 'GasLow: almost no gas',
      severity: 'critical',
      custom_details: { action: 'Top it up.', runbook: 'alerts.md#gaslow', firing: '1' },
    },
  });
  expect(slack).toMatchObject({
    channel: '#firmquote-incidents',
    attachments: [
      { title: 'FIRING GasLow', text: 'almost no gas\nTop it up.\nalerts.md#gaslow\n', color: 'danger' },
    ],
  });
  expect(mails).toEqual([]);
}, 60_000);

test('a ticket reaches the channel of the team and the mailbox, and nobody else', async () => {
  posts.splice(0);
  await fire(
    { alertname: 'QueueDown', severity: 'ticket', job: 'venue' },
    { summary: 'the queue is away', action: 'Start Redis.' },
  );
  await expect.poll(() => [posts.length, mails.length], { timeout: 30_000 }).toEqual([1, 1]);
  expect(posts[0]).toMatchObject({
    path: '/slack',
    json: { channel: '#firmquote-operations', attachments: [{ title: 'FIRING QueueDown' }] },
  });
  expect(mails[0]).toContain('Subject: firmquote: QueueDown');
  expect(mails[0]).toContain('To: firmquote-operations@example.com');
}, 60_000);

test('a process that is down mutes its other alerts', async () => {
  posts.splice(0);
  const where = { job: 'lp', instance: 'lp:9200' };
  await fire(
    { ...where, alertname: 'ProcessDown', severity: 'page' },
    { summary: 'gone', action: 'Start it.' },
  );
  await expect.poll(() => posts.length, { timeout: 30_000 }).toBe(2);
  await fire({ ...where, alertname: 'LpPairDark', severity: 'ticket' }, { summary: 'dark', action: 'Look.' });
  await expect
    .poll(
      async () =>
        (
          (await (await fetch(`${url}/api/v2/alerts?inhibited=true`)).json()) as {
            labels: { alertname: string };
            status: { state: string };
          }[]
        ).find(({ labels }) => labels.alertname === 'LpPairDark')?.status.state,
      { timeout: 30_000 },
    )
    .toBe('suppressed');
}, 60_000);
