/**
 * Quote requests and the solvers that answer them, each in a process of their own: what the venue and fan-out
 * benches drive.
 */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assetId } from '../src/domain/asset.ts';
import type { Chain } from '../src/domain/chain.ts';
import { account } from '../test/support/devnet.ts';
import type { TestVenue } from '../test/support/venue.ts';
import { createCaller, type LoadFigures, openLoop } from './load.ts';
import { startQuoteMaker } from './quote-maker.ts';

/** Solvers may share an LP account: what the venue verifies is the same for each. */
const ACCOUNTS = 3;

export interface QuoteTarget {
  /** The URL of each replica; takers ask them by turns, solvers link to all. */
  urls: readonly string[];
  chain: Chain;
  key: string;
  /** Answers with its API key. */
  onboard(solverId: string): Promise<string>;
  /** Are all of these active, everywhere? */
  active(solverIds: readonly string[]): Promise<boolean>;
}

interface Job {
  urls: readonly string[];
  chain: Chain;
  /** The solvers of one process. */
  solvers?: { id: string; apiKey: string; account: number }[];
  /** The key with which another process asks. */
  key?: string;
}
interface Ask {
  rate: number;
  seconds: number;
}
/** `candidates`: a mean; where it is below the number of LPs, answers came too late for some. */
export type QuoteFigures = LoadFigures & { candidates: number };

export interface QuoteLoad {
  run(rate: number, seconds: number): Promise<QuoteFigures>;
  stop(): void;
}

export const targetOf = async (v: TestVenue): Promise<QuoteTarget> => ({
  urls: v.urls,
  chain: v.chain.chain,
  key: await v.key('service'),
  async onboard(id) {
    await v.store.putSolver({ id, name: id, kind: 'lp', corridors: null, disabled: false });
    await v.bus.publish('solvers', id);
    return v.key('solver', { solverId: id });
  },
  active: async (ids) => ids.every((id) => v.venue.roster.entry(id)?.status === 'active'),
});

/** Starts solvers that quote every request, connected and warm. */
export async function startQuoteLoad(target: QuoteTarget, lps: number): Promise<QuoteLoad> {
  const { urls, chain, key } = target;
  const solvers: NonNullable<Job['solvers']> = [];
  for (let n = 0; n < lps; n++) {
    const id = `bench-${lps}-${n}`;
    const at = 1 + (n % ACCOUNTS);
    solvers.push({ id, apiKey: await target.onboard(id), account: at });
  }
  const [makers, takers] = [start(), start()];
  await makers.say({ urls, chain, solvers });
  while (!(await target.active(solvers.map(({ id }) => id))))
    await new Promise((done) => setTimeout(done, 50));
  await takers.say({ urls, chain, key });
  await takers.say({ rate: Math.min(200, 1_500 / lps), seconds: 3 });
  return {
    run: (rate, seconds) => takers.say({ rate, seconds }),
    stop() {
      makers.child.kill();
      takers.child.kill();
    },
  };
}

function start() {
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: process.execArgv });
  const say = <T>(word: Ask | Job) =>
    new Promise<T>((resolve, reject) => {
      const ended = () => reject(new Error('A process of the load has ended; what it said is above.'));
      child.once('exit', ended);
      child.once('message', (answer) => {
        child.off('exit', ended);
        resolve(answer as T);
      });
      child.send(word);
    });
  return { child, say };
}

/** The LP accounts that all of them share, funded once. */
export async function fundQuoteLoad(v: TestVenue): Promise<void> {
  for (let n = 1; n <= ACCOUNTS; n++)
    await (await v.solver(n, () => undefined, { inventory: 1_000_000_000n })).stop();
}

async function make({ urls, chain }: Job, solvers: NonNullable<Job['solvers']>): Promise<void> {
  for (const { id, apiKey, account: n } of solvers) {
    const worse = BigInt(/\d+$/.exec(id)?.[0] ?? 0);
    await startQuoteMaker(urls, {
      id,
      apiKey,
      lp: account(1_000 + n).address,
      operator: account(2_000 + n),
      chain,
      corridors: [`${chain.slug}-${chain.slug}`],
      output: (rfq) => (BigInt(rfq.amount) * 10n ** 12n) / (2_600n + worse),
      validSeconds: 30,
    });
  }
  process.send?.('ready');
}

async function take({ urls, chain }: Job, key: string): Promise<void> {
  const [usdc, weth] = chain.tokens as [Chain['tokens'][number], Chain['tokens'][number]];
  const body = JSON.stringify({
    taker: account(1).address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  });
  const callers = await Promise.all(urls.map((url) => createCaller(url, key, Math.ceil(400 / urls.length))));
  const ask = (n: number) =>
    (callers[n % callers.length] as (typeof callers)[number]).call('/api/v1/rfq/quotes', body);
  process.on('message', (word) => void run(word as Ask));
  process.send?.('ready');

  async function run({ rate, seconds }: Ask): Promise<void> {
    let [candidates, sampled, wrong, empty] = [0, 0, 0, 0];
    const figures = await openLoop({
      rate,
      seconds,
      call: async (n) => {
        const reply = await ask(n);
        if (reply.status === 200 && n % 20 === 0) {
          const { quotes } = JSON.parse(reply.text) as {
            quotes: { preview: { outputs: { amount: string }[] } }[];
          };
          sampled++;
          candidates += quotes.length;
          const amounts = quotes.map(({ preview }) => BigInt(preview.outputs[0]?.amount ?? 0));
          if (amounts.length === 0) empty++;
          if (amounts.some((amount, index) => index > 0 && amount > (amounts[index - 1] as bigint))) wrong++;
        }
        return reply;
      },
    });
    if (wrong > 0) throw new Error(`${wrong} of ${sampled} answers were not ranked`);
    // Nobody's answer came in time: so it is on a machine that is busy with other things.
    if (empty * 2 > sampled) throw new Error(`${empty} of ${sampled} answers had no quotes`);
    process.send?.({
      ...figures,
      candidates: Math.round((candidates / Math.max(1, sampled)) * 100) / 100,
    } satisfies QuoteFigures);
  }
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', (word) => {
    const job = word as Job;
    void (job.solvers ? make(job, job.solvers) : take(job, job.key ?? ''));
  });
}
