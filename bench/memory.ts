/**
 * Measures what one live quote, one answer that is kept to be explained, and one known taker cost in the
 * memory of an LP process, and what stays after all quotes have ended. Heap in use after two collections
 * beside that of the process before its first quote. Nothing here depends on speed.
 *
 *   npm run bench -- memory [--quotes=20000]
 */

import { account, startDevnet, type TestChain } from '../test/support/devnet.ts';
import { startTestPostgres } from '../test/support/postgres.ts';
import { option, table } from './load.ts';
import { createQuoteCaller } from './quote-caller.ts';
import { createRequests, type LpProcess, onePairConfig, startLpProcess } from './lp-process.ts';

/** As many as an LP keeps to be explained (`explain.keep`), and as it keeps takers (`risk.takers`). */
const QUOTES = option('quotes', 20_000);
/** Long enough that every quote of one row is still live at its end. */
const VALIDITY_SECONDS = option('validity', 90);
/** The LP recognises late acceptances and awards for 60 s after the end of a quote. */
const AFTER_SECONDS = VALIDITY_SECONDS + 75;
const IN_FLIGHT = 10;
const owner = account(41);
const operator = account(42);

interface Row {
  name: string;
  live: number;
  heapBytes: number;
  rssBytes: number;
}

const [devnet, postgres] = await Promise.all([
  startDevnet([41_102], { blockTimeSeconds: 1 }),
  startTestPostgres({}),
]);
const chain = devnet.chains[0] as TestChain;

try {
  await chain.fund(owner.address, 10_000_000_000n);
  for (const { address, decimals } of [chain.usdc, chain.weth])
    await chain.deposit(owner.address, address, 1_000_000_000n * 10n ** BigInt(decimals));
  await chain.setOperator(owner.address, operator.address);
  await chain.anvil.mine(3);
  const lp = await startLp();
  report(await measure(lp));
  await lp.stop();
} finally {
  await Promise.all([devnet.stop(), postgres.stop()]);
}

async function startLp(): Promise<LpProcess> {
  const { feed, config } = onePairConfig(chain.chain.id, owner.address);
  return startLpProcess({
    feed,
    config: {
      ...config,
      chains: config.chains.map((of) => ({ ...of, graceSeconds: 1 })),
      quoting: { ...config.quoting, validitySeconds: VALIDITY_SECONDS },
      // Few takers ask for all quotes and take none.
      limits: { perTakerPair: { count: 1_000_000 } },
      risk: { freeOption: { liveSeconds: 1e9 }, rate: { perSecond: 1e6, burst: 1e6 } },
    },
    chain: chain.chain,
    rpcUrl: chain.anvil.url,
    databaseUrl: await postgres.server.database('bench'),
    schema: 'lp',
    operatorKey: operator.privateKey,
    signer: 'native',
  });
}

async function measure(lp: LpProcess): Promise<Row[]> {
  const rows: Row[] = [];
  const row = async (name: string) => {
    const { liveQuotes, heapBytes, rssBytes } = await lp.memory();
    rows.push({ name, live: liveQuotes, heapBytes, rssBytes });
  };
  // Compiles what quoting runs, and makes what the first quote makes.
  await ask(lp, 300, 10);
  await row('after 300 quotes');
  await ask(lp, QUOTES, 10);
  await row('quotes');
  await ask(lp, QUOTES, 10);
  await row('as many again');
  await wait(AFTER_SECONDS);
  await row('all ended');
  await ask(lp, QUOTES, QUOTES);
  await wait(AFTER_SECONDS);
  await row('asked by as many takers, ended');
  return rows;
}

/** Asks until there are so many quotes. On a busy machine the LP declines some requests. */
async function ask({ socket }: LpProcess, count: number, takers: number): Promise<void> {
  const next = createRequests(chain, { takers, landingMarginSeconds: 1 });
  const caller = createQuoteCaller(socket);
  let left = count;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      if ((await caller.ask(next())).status === 200) continue;
      left += 1;
      await wait(0.1);
    }
  };
  await caller.whileAnswered(Promise.all(Array.from({ length: IN_FLIGHT }, worker)));
  caller.close();
}

function report(rows: readonly Row[]): void {
  const [empty, one, two, ended, takers] = rows.map(({ heapBytes }) => heapBytes) as [
    number,
    number,
    number,
    number,
    number,
  ];
  console.log(
    table(
      ['', 'live quotes', 'heap MB', 'RSS MB'],
      rows.map(({ name, live, heapBytes, rssBytes }) => [name, live, mb(heapBytes), mb(rssBytes)]),
    ),
  );
  const bytes = {
    liveQuote: Math.round((two - one) / QUOTES),
    liveAndKept: Math.round((one - empty) / QUOTES),
    kept: Math.round((ended - empty) / QUOTES),
    taker: Math.round((takers - ended) / QUOTES),
  };
  console.log(
    `bytes: a live quote ${bytes.liveQuote}, with the answer kept to be explained ${bytes.liveAndKept}; that answer ${bytes.kept} after the quote's end; a known taker ${bytes.taker}`,
  );
  console.log(JSON.stringify({ bench: 'memory', quotes: QUOTES, bytes, rows }));
}

function mb(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

function wait(seconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, seconds * 1_000));
}
