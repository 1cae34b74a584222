/**
 * A venue as an operator runs it, for benches: the program's own processes with their own configuration, over
 * a real chain and a PostgreSQL with fsync.
 */

import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { createPostgresBus } from '../src/adapters/postgres/bus.ts';
import type { Database } from '../src/adapters/postgres/pool.ts';
import { createVenueStore } from '../src/adapters/postgres/venue/venue-store.ts';
import { systemClock } from '../src/adapters/system/clock.ts';
import { systemRandom } from '../src/adapters/system/random.ts';
import { VENUE_SCHEMA, VENUE_TABLES } from '../src/apps/venue/schema.ts';
import { mintKey } from '../src/venue/access/keys.ts';
import { createPart, type Part, steadyPort } from '../test/faults/support/process.ts';
import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { silentLog } from '../test/support/silent.ts';
import { LP, OPERATOR, type OrderTarget, TAKER } from './order-load.ts';
import type { QuoteTarget } from './quote-load.ts';

export type Role = 'api' | 'worker' | 'all';

export interface Site {
  chain: TestChain;
  db: Database;
  relayer: `0x${string}`;
  /** Makes a process that is not started yet. */
  process(role: Role): Promise<VenueProcess>;
  quoteTarget(urls: readonly string[]): QuoteTarget;
  orderTarget(urls: readonly string[]): Promise<OrderTarget>;
  stop(): Promise<void>;
}

export interface VenueProcess {
  role: Role;
  url: string;
  part: Part;
}

const PROGRAM = resolve(import.meta.dirname, `../src/apps/cli/main${extname(import.meta.filename)}`);
const ORDER_SOLVER = 'bench-orders';
const LPS = 3;

/** Takers, LPs and the relayer are funded; one-second blocks. */
export async function startSite({ batch }: { batch: boolean }): Promise<Site> {
  const folder = await mkdtemp(join(tmpdir(), 'firmquote-site-'));
  const [devnet, postgres] = await Promise.all([
    startDevnet([31_337], {
      blockTimeSeconds: 1,
      landingMarginSeconds: 60,
      anvilArgs: ['--gas-limit', '120000000'],
    }),
    startTestPostgres({}),
  ]);
  const chain = devnet.chains[0] as TestChain;
  const [taker, relayer] = [account(TAKER), account(9_001)];
  await chain.fund(relayer.address, 0n);
  await chain.fund(taker.address, 1_000_000_000n);
  await chain.deposit(taker.address, chain.usdc.address, 10n ** 15n);
  for (let n = 0; n < LPS; n++) {
    const lp = account(LP + n).address;
    await chain.fund(lp, 1_000_000_000n);
    for (const { address, decimals } of [chain.usdc, chain.weth])
      await chain.deposit(lp, address, 1_000_000_000n * 10n ** BigInt(decimals));
    await chain.setOperator(lp, account(OPERATOR + n).address);
  }
  const databaseUrl = await postgres.server.database('venue');
  const db = await postgres.database(VENUE_SCHEMA, VENUE_TABLES, 'venue');
  const store = createVenueStore(db);
  await store.putWorkspace({
    id: 'w1',
    name: 'One',
    platformFeeBps: 2,
    eligibleSolvers: null,
    limits: { openQuotes: null, openNotionalUsd: null },
    travelRuleThresholdUsd: null,
  });
  const mint = async (kind: 'service' | 'solver', solverId: string | null) => {
    const { text, record } = mintKey(
      { random: systemRandom, clock: systemClock },
      {
        kind,
        mode: 'test',
        workspaceId: kind === 'service' ? 'w1' : null,
        role: null,
        memberId: null,
        solverId,
        label: 'bench',
      },
    );
    await store.addKey(record);
    return text;
  };
  const key = await mint('service', null);
  const seal = randomBytes(32).toString('hex');
  const {
    id,
    slug,
    sandbox,
    escrow,
    oracle,
    permit2,
    depth,
    blockTimeMs,
    landingMarginSeconds,
    proofWindowSeconds,
    tokens,
  } = chain.chain;
  const many = 1_000_000_000;
  const parts: Part[] = [];
  let made = 0;

  const bus = createPostgresBus(db, silentLog);
  const solversAt = async (url: string, query = ''): Promise<string[]> => {
    const answer = await fetch(`${url}/api/v1/solvers${query}`, { headers: { 'x-api-key': key } });
    return (
      ((await answer.json()) as { solvers?: { id: string }[] }).solvers?.map((solver) => solver.id) ?? []
    );
  };

  /** Resolves when each replica knows it. */
  async function onboard(solverId: string, urls: readonly string[]): Promise<string> {
    await store.putSolver({ id: solverId, name: solverId, kind: 'lp', corridors: null, disabled: false });
    await bus.publish('solvers', solverId);
    for (const url of urls)
      while (!(await solversAt(url)).includes(solverId)) await new Promise((done) => setTimeout(done, 50));
    return mint('solver', solverId);
  }

  return {
    chain,
    db,
    relayer: relayer.address,
    async process(role) {
      made += 1;
      const name = `${role}-${made}`;
      const [http, ops] = [await steadyPort(), await steadyPort()];
      const config = {
        ...{
          app: 'venue',
          venueId: 'bench',
          http: { port: http },
          ops: { port: ops },
          log: { level: 'warn' },
          database: { url: databaseUrl },
        },
        keys: {
          relayer: { env: 'RELAYER', development: true },
          seals: [{ id: 'k1', secret: { env: 'SEAL' } }],
        },
        chains: [
          {
            id,
            slug,
            sandbox,
            escrow,
            oracle,
            permit2,
            depth,
            blockTimeMs,
            landingMarginSeconds,
            proofWindowSeconds,
            tokens,
            rpcUrls: [chain.anvil.url],
            maxClockSkewMs: 600_000,
            batch: batch ? chain.deployment.batch : null,
          },
        ],
        prices: { USD: { fixed: '1' }, ETH: { fixed: '2500' } },
        fanOut: { timeoutMs: 1_500 },
        rates: {
          quotesPerSecond: 1e6,
          submitsPerSecond: 1e6,
          readsPerSecond: 1e6,
          perIpPerSecond: 1e6,
          openQuotes: many,
          openNotionalUsd: 1e15,
          leastSubmittedShare: 0,
        },
      };
      const file = join(folder, `${name}.json`);
      await writeFile(file, JSON.stringify(config));
      const part = createPart({
        name,
        opsPort: ops,
        words: ['venue', '--role', role],
        config: async () => file,
        env: { RELAYER: relayer.privateKey, SEAL: seal },
        program: PROGRAM,
      });
      parts.push(part);
      return { role, url: `http://127.0.0.1:${http}`, part };
    },
    quoteTarget: (urls) => ({
      ...{ urls, chain: chain.chain, key },
      onboard: (solverId) => onboard(solverId, urls),
      active: async (ids) =>
        (await Promise.all(urls.map((url) => solversAt(url, '?status=active')))).every((there) =>
          ids.every((wanted) => there.includes(wanted)),
        ),
    }),
    orderTarget: async (urls) => ({
      urls,
      chain: chain.chain,
      key,
      solver: { id: ORDER_SOLVER, apiKey: await onboard(ORDER_SOLVER, urls) },
    }),
    async stop() {
      await Promise.all(parts.map((part) => part.kill()));
      await bus.close();
      await devnet.stop();
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
