/** Files and ports of the demo. Several demos can run side by side. */

import { createServer } from 'node:net';
import { join } from 'node:path';
import { UpstreamError } from '../../domain/errors.ts';

export const PORTS = 60;

/** Paths, and the ports of processes. */
export interface Layout {
  manifest: string;
  home: string;
  state: string;
  config(name: string): string;
  keystore(name: string): string;
  passwordFile: string;
  secret(name: string): string;
  denyList: string;
  partnerJournal: string;
  travelRule: string;
  /** The LP signs nothing while this file exists. */
  killFile(name: string): string;
  log(name: string): string;
  chainDir(slug: string): string;
  workDir(name: string): string;
  ports: Record<'venue' | 'venueOps' | 'venueAdmin' | 'exchange' | 'postgres' | 'partner', number> &
    Record<
      'chain' | 'lpOps' | 'lpAdmin' | 'lpConsole' | 'attester' | 'attesterOps',
      (index: number) => number
    >;
}

export function layout(dataDir: string, port: number): Layout {
  const home = join(dataDir, 'demo');
  return {
    manifest: join(dataDir, 'demo.json'),
    home,
    state: join(home, 'state.json'),
    config: (name) => join(home, 'config', `${name}.json`),
    keystore: (name) => join(home, 'keys', `${name}.json`),
    passwordFile: join(home, 'keys', 'password'),
    secret: (name) => join(home, 'keys', `${name}.secret`),
    denyList: join(home, 'deny-list.txt'),
    partnerJournal: join(home, 'partner.ndjson'),
    travelRule: join(home, 'travel-rule.jsonl'),
    killFile: (name) => join(home, `stop-${name}`),
    log: (name) => join(home, 'logs', `${name}.log`),
    chainDir: (slug) => join(home, 'chains', slug),
    workDir: (name) => join(home, 'work', name),
    ports: {
      venue: port,
      venueOps: port + 1,
      venueAdmin: port + 4,
      exchange: port + 2,
      postgres: port + 3,
      partner: port + 8,
      chain: (index) => port + 10 + index,
      lpOps: (index) => port + 20 + index,
      lpAdmin: (index) => port + 30 + index,
      lpConsole: (index) => port + 35 + index,
      attester: (index) => port + 40 + index,
      attesterOps: (index) => port + 50 + index,
    },
  };
}

export function portsOf(
  { ports }: Layout,
  counts: { chains: number; lps: number; attesters: number },
): number[] {
  const each = (count: number, ...of: ((index: number) => number)[]) =>
    Array.from({ length: count }, (_, index) => of.map((port) => port(index))).flat();
  return [
    ...[ports.venue, ports.venueOps, ports.venueAdmin, ports.exchange, ports.postgres, ports.partner],
    ...each(counts.chains, ports.chain),
    ...each(counts.lps, ports.lpOps, ports.lpAdmin, ports.lpConsole),
    ...each(counts.attesters, ports.attester, ports.attesterOps),
  ];
}

export async function assertPortsFree(ports: readonly number[], patienceMs: number): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (const port of ports) {
    while (!(await isFree(port))) {
      if (performance.now() > deadline) {
        throw new UpstreamError(
          `Port ${port} is in use, and the demo needs the ${PORTS} ports from --port on. Stop the other demo or choose another block: npm run demo -- --port ${port + 100 - (port % 100)}`,
          { code: 'port_unavailable' },
        );
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
