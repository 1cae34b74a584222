/**
 * The world of the day: two chains, a database, a venue, attesters, exchanges and takers. The LP itself is
 * made and run by its operator in the parts of the day.
 */

import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXCHANGES } from '../../../src/apps/lp/init/exchanges.ts';
import type { Client } from '../../faults/support/client.ts';
import { type PlayedExchange, playExchange } from '../../faults/support/exchanges.ts';
import { createPart, type Part } from '../../faults/support/process.ts';
import { startWorld, type World } from '../../faults/support/world.ts';
import { PROGRAM } from '../../support/build.ts';
import { account, type TestAccount, type TestChain } from '../../support/devnet.ts';
import { createOperator, type Operator } from './operator.ts';
import { playRestExchanges, type RestExchanges } from './rest-exchanges.ts';

export interface Day {
  world: World;
  here: TestChain;
  there: TestChain;
  folder: string;
  operator: Operator;
  owner: TestAccount;
  /** Of the LP's id, in the order of their starts. */
  processes: Part[];
  /** Runs `firmquote lp --config FILE` and keeps it running. */
  run(name: string, file: string, opsPort: number): Part;
  /** The process that runs now. */
  lp: Part;
  takers: readonly Client[];
  /** They make the price of ether. */
  exchanges: Record<'binance' | 'coinbase' | 'kraken', PlayedExchange>;
  /** They check it, and the peg of USDC. */
  rest: RestExchanges;
  /** The feeds that `lp init` writes, with the URLs of the played exchanges. */
  feeds: Record<string, object>;
  /** Addresses of the operator's keys, the newest last. */
  keys: string[];
  /** Ids of all orders that the venue accepted. */
  orders: string[];
  /** URLs of every database that the LP ran on. */
  databases: string[];
  /** Wei that somebody sent to the operator's key on the first chain. */
  toppedUp: bigint;
  /** What else has to be stopped. */
  atEnd: (() => Promise<void>)[];
  stop(): Promise<void>;
}

export const SOLVER = 'mine';
/** Dollars for ether. */
export const TRUTH = 2_500;
const TAKERS = 4;
const OWNER = account(9_100);
const OWNED = 300_000n;

export async function startDay(): Promise<Day> {
  const folder = await mkdtemp(join(tmpdir(), 'fq-lp-day-'));
  // The database's user has to get in.
  await chmod(folder, 0o755);
  const world = await startWorld({ chainIds: [31_661, 31_662], lps: [], guests: [SOLVER], program: PROGRAM });
  const [here, there] = world.devnet.chains as [TestChain, TestChain];
  const [binance, coinbase, kraken] = await Promise.all([
    playExchange('binance', TRUTH, 'ETHUSDC'),
    playExchange('coinbase', TRUTH),
    playExchange('kraken', TRUTH),
  ]);
  const rest = await playRestExchanges({
    kraken: { ETHUSD: TRUTH, USDCUSD: 1 },
    bitstamp: { ethusd: TRUTH, usdcusd: 1 },
  });
  await Promise.all([here, there].map((chain) => chain.fund(OWNER.address, OWNED)));
  await world.startAll();
  const takers: Client[] = [];
  for (let count = 0; count < TAKERS; count += 1) takers.push(await world.client());
  const database = await world.postgres.database('lp_mine');
  const file = join(folder, 'my-lp', 'lp.json');
  const operator = createOperator(file, {
    LP_DATABASE_URL: database,
    CHAIN1_RPC_URL: here.anvil.url,
    CHAIN2_RPC_URL: there.anvil.url,
    VENUE_KEY: world.solverKey(SOLVER),
    OPERATOR_PASSWORD: 'the password of an operator',
    OWNER_PASSWORD: 'the password of an owner',
    OWNER_KEY: OWNER.privateKey,
  });
  const processes: Part[] = [];
  const atEnd: Day['atEnd'] = [];
  return {
    world,
    here,
    there,
    folder,
    operator,
    owner: OWNER,
    processes,
    run(name, config, opsPort) {
      const part = createPart({
        name,
        opsPort,
        words: ['lp'],
        config: async () => config,
        env: operator.env,
        program: PROGRAM,
      });
      processes.push(part);
      return part;
    },
    get lp() {
      return processes.at(-1) as Part;
    },
    takers,
    exchanges: { binance, coinbase, kraken },
    rest,
    feeds: {
      ...EXCHANGES,
      ...Object.fromEntries(
        [binance, coinbase, kraken].map(({ kind, url }) => [kind, { ...EXCHANGES[kind], url }]),
      ),
      'kraken-rest': { ...EXCHANGES['kraken-rest'], url: rest.kraken.url },
      bitstamp: { ...EXCHANGES.bitstamp, url: rest.bitstamp.url },
    },
    keys: [],
    orders: [],
    databases: [database],
    toppedUp: 0n,
    atEnd,
    async stop() {
      await Promise.all(processes.map((part) => part.kill()));
      for (const end of atEnd) await end();
      await world.stop();
      await Promise.all([binance, coinbase, kraken].map((exchange) => exchange.stop()));
      await rest.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
