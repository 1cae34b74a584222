/** Quote requests and the solvers that answer them, each in a process of their own: what the venue and fan-out benches drive. */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assetId } from '../src/domain/asset.ts';
import type { Chain } from '../src/domain/chain.ts';
import { account } from '../test/support/devnet.ts';
import { startSolver } from '../test/support/solver.ts';
import type { TestVenue } from '../test/support/venue.ts';
import { createCaller, type LoadFigures, openLoop } from './load.ts';

/** Solvers may share an LP account: what the venue verifies is the same for each. */
const ACCOUNTS = 3;

interface Job {
  url: string;
  chain: Chain;
  /** One process has these … */
  solvers?: { id: string; apiKey: string; account: number }[];
  /** … and another asks with this. */
  key?: string;
}
interface Ask {
  rate: number;
  seconds: number;
}
export type QuoteFigures = LoadFigures & { candidates: number };

export interface QuoteLoad {
  run(rate: number, seconds: number): Promise<QuoteFigures>;
  stop(): void;
}

/** So many solvers that quote every request, connected and warm. */
export async function startQuoteLoad(v: TestVenue, lps: number): Promise<QuoteLoad> {
  const solvers: NonNullable<Job['solvers']> = [];
  for (let n = 0; n < lps; n++) {
    const id = `bench-${lps}-${n}`;
    const at = 1 + (n % ACCOUNTS);
    await v.store.putSolver({ id, name: id, kind: 'lp', corridors: null, disabled: false });
    await v.bus.publish('solvers', id);
    solvers.push({ id, apiKey: await v.key('solver', { solverId: id }), account: at });
  }
  const [makers, takers] = [start(), start()];
  await makers.say({ url: v.url, chain: v.chain.chain, solvers });
  while ([...v.venue.roster.entries()].filter(({ id, status }) => id.startsWith(`bench-${lps}-`) && status === 'active').length < lps) await new Promise((done) => setTimeout(done, 50));
  await takers.say({ url: v.url, chain: v.chain.chain, key: await v.key('service') });
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
    new Promise<T>((resolve) => {
      child.once('message', (answer) => resolve(answer as T));
      child.send(word);
    });
  return { child, say };
}

/** The LP accounts that all of them share, funded once. */
export async function fundQuoteLoad(v: TestVenue): Promise<void> {
  for (let n = 1; n <= ACCOUNTS; n++) await (await v.solver(n, () => undefined, { inventory: 1_000_000_000n })).stop();
}

async function make({ url, chain }: Job, solvers: NonNullable<Job['solvers']>): Promise<void> {
  for (const { id, apiKey, account: n } of solvers) {
    const worse = BigInt(/\d+$/.exec(id)?.[0] ?? 0);
    await startSolver(url, {
      id,
      apiKey,
      lp: account(1_000 + n).address,
      operator: account(2_000 + n),
      chains: [chain],
      corridors: [`${chain.slug}-${chain.slug}`],
      // As our own LP does, it says when it has said all.
      answer: (rfq, make) => ({ ...make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / (2_600n + worse) }, { validSeconds: 30 }), more: false }),
    });
  }
  process.send?.('ready');
}

async function take({ url, chain }: Job, key: string): Promise<void> {
  const [usdc, weth] = chain.tokens as [Chain['tokens'][number], Chain['tokens'][number]];
  const body = JSON.stringify({ taker: account(1).address, input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' }, output: { asset: assetId({ chainId: chain.id, token: weth.address }) } });
  const caller = await createCaller(url, key);
  const ask = () => caller.call('/api/v1/rfq/quotes', body);
  process.on('message', (word) => void run(word as Ask));
  process.send?.('ready');

  async function run({ rate, seconds }: Ask): Promise<void> {
    let [candidates, sampled, wrong] = [0, 0, 0];
    const figures = await openLoop({
      rate,
      seconds,
      call: async (n) => {
        const reply = await ask();
        if (reply.status === 200 && n % 20 === 0) {
          const { quotes } = JSON.parse(reply.text) as { quotes: { preview: { outputs: { amount: string }[] } }[] };
          sampled++;
          candidates += quotes.length;
          const amounts = quotes.map(({ preview }) => BigInt(preview.outputs[0]?.amount ?? 0));
          if (amounts.length === 0 || amounts.some((amount, index) => index > 0 && amount > (amounts[index - 1] as bigint))) wrong++;
        }
        return reply;
      },
    });
    if (wrong > 0) throw new Error(`${wrong} of ${sampled} answers were wrong: no quotes, or not ranked`);
    process.send?.({ ...figures, candidates: Math.round((candidates / Math.max(1, sampled)) * 100) / 100 } satisfies QuoteFigures);
  }
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url)) {
  process.once('message', (word) => {
    const job = word as Job;
    void (job.solvers ? make(job, job.solvers) : take(job, job.key ?? ''));
  });
}
