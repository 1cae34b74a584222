/**
 * Starts the examples of `ops/proxy` as real servers before a test's venue, with its ports and a certificate.
 */

import { spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../../src/adapters/postgres/embedded/embedded.ts';
import { spawnWatched } from '../../src/adapters/process/parent-watchdog.ts';

const EXAMPLES = join(import.meta.dirname, '..', '..', 'ops', 'proxy');
export const PUBLIC_NAME = 'venue.example.com';
export const REPLICA_NAME = 'api-1.venue.example.com';

export interface ReverseProxy {
  port: number;
  /** The certificate, which signs itself. */
  ca: string;
  stop(): Promise<void>;
}

/** Starts a proxy. `opsPort`: where `/readyz` of the venue is. */
export async function startReverseProxy(
  kind: 'nginx' | 'haproxy',
  { venuePort, opsPort }: { venuePort: number; opsPort: number },
): Promise<ReverseProxy> {
  const folder = await mkdtemp(join(tmpdir(), 'firmquote-proxy-'));
  const port = await freePort();
  const { certificate, key } = await makeCertificate(folder);
  const pem = join(folder, 'both.pem');
  await writeFile(pem, (await readFile(certificate, 'utf8')) + (await readFile(key, 'utf8')), {
    mode: 0o600,
  });
  const changes: Record<string, string> = {
    '/etc/nginx/firmquote/fullchain.pem': certificate,
    '/etc/nginx/firmquote/privkey.pem': key,
    '/etc/haproxy/firmquote.pem': pem,
    '[::]:443': `[::1]:${port}`,
    'listen 443': `listen ${port}`,
    'bind :443': `bind 127.0.0.1:${port}`,
    '127.0.0.1:8080': `127.0.0.1:${venuePort}`,
    'port 9100': `port ${opsPort}`,
    'log /dev/log local0': 'log stderr format raw local0',
  };
  const example = await readFile(join(EXAMPLES, kind === 'nginx' ? 'nginx.conf' : 'haproxy.cfg'), 'utf8');
  const changed = Object.entries(changes).reduce((text, [from, to]) => text.replaceAll(from, to), example);
  const file = join(folder, 'proxy.conf');
  await writeFile(file, kind === 'nginx' ? inHttpBlock(changed, folder) : changed);

  const [check, run] =
    kind === 'nginx'
      ? [
          ['-t', '-q', '-c', file],
          ['-c', file],
        ]
      : [
          ['-c', '-q', '-dW', '-f', file],
          ['-db', '-f', file],
        ];
  const checked = spawnSync(kind, check, { encoding: 'utf8' });
  if (checked.status !== 0)
    throw new Error(`${kind} refuses ops/proxy: ${checked.stderr}${checked.error?.message ?? ''}`);
  const said: string[] = [checked.stderr];
  const child = await spawnWatched(kind, run, { cwd: folder, onLine: (line) => void said.push(line) });
  while (!(await answers(port))) {
    if (child.hasExited()) throw new Error(`${kind} did not start: ${said.join('\n')}`);
    await new Promise((done) => setTimeout(done, 20));
  }
  return {
    port,
    ca: await readFile(certificate, 'utf8'),
    async stop() {
      await child.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Wraps a site like Debian's own nginx.conf wraps the files of conf.d. */
const inHttpBlock = (site: string, folder: string): string => `
${process.getuid?.() === 0 ? 'user root;' : ''}
daemon off;
pid ${folder}/nginx.pid;
error_log stderr warn;
worker_processes 1;
events { worker_connections 1024; }
http {
  access_log off;
  default_type application/octet-stream;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${site}
}
`;

async function makeCertificate(folder: string): Promise<{ certificate: string; key: string }> {
  const [certificate, key] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
  const made = spawnSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
      ...['-days', '2', '-subj', `/CN=${PUBLIC_NAME}`, '-keyout', key, '-out', certificate],
      ...['-addext', `subjectAltName=DNS:${PUBLIC_NAME},DNS:${REPLICA_NAME}`],
    ],
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`openssl made no certificate: ${made.stderr ?? made.error}`);
  return { certificate, key };
}

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
