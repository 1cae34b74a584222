/**
 * Submissions of a taker whose orders one solver fills, both in a process of their own: signed beforehand,
 * then sent at a rate or all together.
 */

import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { assetId } from '../src/domain/asset.ts';
import type { Chain } from '../src/domain/chain.ts';
import { orderDigest } from '../src/domain/order.ts';
import { orderFromMessage, zOrderMessage } from '../src/protocol/wire.ts';
import { account } from '../test/support/devnet.ts';
import { startSolver } from '../test/support/solver.ts';
import { createCaller, type LoadFigures, openLoop } from './load.ts';

/** The numbers of `account` for the taker, the LP and its operator: they have to be funded. */
export const TAKER = 1;
export const LP = 1_001;
export const OPERATOR = 2_001;

export interface OrderTarget {
  /** The URL of each replica. */
  urls: readonly string[];
  key: string;
  chain: Chain;
  /** The solver, already onboarded. */
  solver: { id: string; apiKey: string };
}
type Ask = { prepare: number } | { rate: number; seconds: number };

export interface OrderLoad {
  /** Quotes and signs so many; what was left of before is forgotten. */
  prepare(count: number): Promise<void>;
  /** Offers what was prepared. */
  run(rate: number, seconds: number): Promise<LoadFigures>;
  stop(): void;
}

export async function startOrderLoad(target: OrderTarget): Promise<OrderLoad> {
  const child = fork(fileURLToPath(import.meta.url), [], { execArgv: process.execArgv });
  const say = <T>(word: Ask | OrderTarget) =>
    new Promise<T>((resolve, reject) => {
      const ended = () =>
        reject(new Error('The process that offers orders has ended; what it said is above.'));
      child.once('exit', ended);
      child.once('message', (answer) => {
        child.off('exit', ended);
        resolve(answer as T);
      });
      child.send(word);
    });
  await say<void>(target);
  return {
    prepare: (count) => say<void>({ prepare: count }),
    run: (rate, seconds) => say<LoadFigures>({ rate, seconds }),
    stop: () => void child.kill(),
  };
}

async function drive({ urls, key, chain, solver }: OrderTarget): Promise<void> {
  await startSolver(urls, {
    ...solver,
    lp: account(LP).address,
    operator: account(OPERATOR),
    chains: [chain],
    corridors: [`${chain.slug}-${chain.slug}`],
    answer: (rfq, make) => ({
      ...make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }, { validSeconds: 500 }),
      more: false,
    }),
  });
  const [usdc, weth] = chain.tokens as [Chain['tokens'][number], Chain['tokens'][number]];
  const taker = account(TAKER);
  const body = JSON.stringify({
    taker: taker.address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000' },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  });
  const callers = await Promise.all(urls.map((url) => createCaller(url, key, Math.ceil(400 / urls.length))));
  const callerOf = (n: number) => callers[n % callers.length] as (typeof callers)[number];
  let ready: string[] = [];
  let sent = 0;
  while ((await callerOf(0).call('/api/v1/rfq/quotes', body)).status !== 200)
    await new Promise((done) => setTimeout(done, 100));
  process.on('message', (word) => void answer(word as Ask).then((figures) => process.send?.(figures)));
  process.send?.('ready');

  async function answer(ask: Ask): Promise<LoadFigures | 'ready'> {
    if ('prepare' in ask) {
      ready = [];
      while (ready.length < ask.prepare)
        ready.push(
          ...(await Promise.all(
            Array.from({ length: Math.min(20, ask.prepare - ready.length) }, (_, n) => prepared(n)),
          )),
        );
      return 'ready';
    }
    const run = `${Date.now()}`;
    return openLoop({
      ...ask,
      call: (n) =>
        callerOf(n).call('/api/v1/rfq/orders', ready[n] as string, {
          'Idempotency-Key': `bench-${run}-${sent++}`,
        }),
    });
  }

  async function prepared(n: number): Promise<string> {
    for (;;) {
      const { status, text } = await callerOf(n).call('/api/v1/rfq/quotes', body);
      const quote =
        status === 200
          ? (JSON.parse(text) as { quotes?: { order: { payload: { message: unknown } } }[] }).quotes?.[0]
          : undefined;
      // Nobody answered in time: a quote that was not given measures nothing.
      if (!quote) continue;
      const order = orderFromMessage(zOrderMessage.parse(quote.order.payload.message));
      const signature = taker.sign(orderDigest({ chainId: chain.id, escrow: chain.escrow }, order));
      return JSON.stringify({ quoteResponse: quote, signature });
    }
  }
}

if (process.send && process.argv[1] === fileURLToPath(import.meta.url))
  process.once('message', (target) => void drive(target as OrderTarget));
