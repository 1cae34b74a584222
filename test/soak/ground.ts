/**
 * The system under the soak: two venues, two LPs, three attesters, two chains and Redis, each behind a
 * network that can be made faulty.
 */

import type { Part } from '../faults/support/process.ts';
import { type Config, startWorld, type World } from '../faults/support/world.ts';
import type { ProviderName } from '../support/providers.ts';
import { startRedis, type TestRedis } from '../support/redis.ts';
import { type Line, openNetwork } from './network.ts';
import { type ChainNode, openNodes } from './nodes.ts';

const CHAINS = [31_651, 31_652] as const;
/** Blocks on top before a fact is final; reorganisations are shallower. */
export const DEPTH = 2;
const VENUES = ['north', 'south'] as const;
const LPS = ['alpha', 'beta'] as const;
/** Of each chain; two must agree where money is decided. */
const ENDPOINTS = 3;
const STREAMS_PER_KEY = 500;

export interface Ground {
  world: World;
  parts: readonly Part[];
  /** Of takers and their streams to each venue. */
  doors: ReadonlyMap<string, Line>;
  /** Of each part with a database, to it. */
  databases: ReadonlyMap<string, Line>;
  /** Of each LP to each venue. */
  links: ReadonlyMap<string, Line>;
  /** By chain. */
  nodes: readonly (readonly ChainNode[])[];
  redis: { line: Line; lose(): Promise<void>; back(): Promise<void> };
  /** Parts that a fault has stopped on purpose. */
  down: Set<string>;
  stop(): Promise<void>;
}

interface LpVenue {
  name: string;
  url: string;
}

/** What the soak adds to every part. */
interface Addition {
  /** Another venue that both LPs serve. */
  venue: LpVenue;
  /** Another node before the chain's own; returns its address. */
  node(target: string): Promise<string>;
  configure(part: string, config: Config): Config;
}

/** With a `provider`, every node answers as that provider does, and each part has a key of its own. */
export async function startGround(more?: Addition, provider?: ProviderName): Promise<Ground> {
  const network = openNetwork();
  const doors = new Map<string, Line>();
  const databases = new Map<string, Line>();
  const links = new Map<string, Line>();
  const chainNodes = openNodes();
  let nodes: ChainNode[][] = [];
  let others: string[] = [];
  let server: TestRedis = await startRedis();
  const redisLine = await network.line(server.url);

  /** Every address in a part's configuration leads through a proxy. */
  function configure(part: string, config: Config): Config {
    for (const section of ['chains', 'networks']) {
      const chains = config[section] as { id: number; [key: string]: unknown }[] | undefined;
      if (!chains) continue;
      config[section] = chains.map((chain) => {
        const index = CHAINS.findIndex((id) => id === chain.id);
        const own = (nodes[index] ?? []).map(({ url }) => (provider ? `${url}/${part}` : url));
        const rpcUrls = [...own, ...others.slice(index, index + 1)];
        return { ...chain, timeoutMs: 5_000, rpcUrls, quorum: { aboveUsd: 0, agree: 2 } };
      });
    }
    const database = config['database'] as { url: string } | undefined;
    if (database) database.url = through(databases.get(part), database.url);
    if (config['app'] === 'venue') {
      config['queue'] = { redisUrl: redisLine.url };
      config['sockets'] = { maxPerKey: STREAMS_PER_KEY };
    }
    if (config['app'] === 'lp')
      config['venues'] = [
        ...(config['venues'] as LpVenue[]).map((venue) => ({
          ...venue,
          url: through(links.get(`${part} ${venue.name}`), venue.url),
        })),
        ...(more ? [{ ...more.venue, apiKey: { env: 'VENUE_KEY' } }] : []),
      ];
    return more ? more.configure(part, config) : config;
  }

  const world = await startWorld({
    chainIds: CHAINS,
    depth: DEPTH,
    venues: { north: 'all', south: 'all' },
    lps: LPS,
    validitySeconds: 20,
    inventory: 1_000_000n,
    ownDatabase: true,
    configure,
  });
  nodes = await Promise.all(
    world.devnet.chains.map(({ anvil }) =>
      Promise.all(Array.from({ length: ENDPOINTS }, () => chainNodes.node(anvil.url))),
    ),
  );
  if (provider) await Promise.all(nodes.flat().map((node) => node.play(provider)));
  if (more) others = await Promise.all(world.devnet.chains.map(({ anvil }) => more.node(anvil.url)));
  for (const name of [...VENUES, ...LPS]) databases.set(name, await network.line(world.postgres.url));
  for (const name of VENUES) {
    doors.set(name, await network.line(world.venueUrl(name)));
    for (const lp of LPS) links.set(`${lp} ${name}`, await network.line(world.venueUrl(name)));
  }
  // Accounts that pay gas never run out of it here.
  for (const { anvil } of world.devnet.chains)
    for (const { address } of [world.relayer, ...world.lps.map(({ operator }) => operator)])
      await anvil.rpc('anvil_setBalance', [address, `0x${(10n ** 24n).toString(16)}`]);

  return {
    world,
    parts: [...world.venues, ...world.lps.map(({ part }) => part), ...world.attesters],
    doors,
    databases,
    links,
    nodes,
    redis: {
      line: redisLine,
      lose: () => server.kill(),
      async back() {
        server = await startRedis({ port: server.port });
      },
    },
    down: new Set(),
    async stop() {
      await world.stop();
      await Promise.all([network.stop(), chainNodes.stop()]);
      await server.stop();
    },
  };
}

/** The same address, through the proxy. */
function through(proxy: Line | undefined, url: string): string {
  if (!proxy) return url;
  const changed = new URL(url);
  changed.host = `127.0.0.1:${proxy.port}`;
  return changed.pathname === '/' ? changed.href.replace(/\/$/, '') : changed.href;
}
