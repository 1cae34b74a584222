/** A taker that repeats each submission under one Idempotency-Key until the venue gives a definite answer. */

import type { Manifest } from '../../src/apps/demo/manifest.ts';
import { askOf, tradeOf } from '../../src/apps/demo/checks/trade.ts';
import type { DemoTaker } from '../../src/apps/demo/taker.ts';
import { takerFor } from '../../src/apps/demo/world.ts';
import type { QuoteCandidate } from '../../src/protocol/api/candidate.ts';
import type { OrderStatusResponse } from '../../src/protocol/api/status.ts';
import type { Seeded } from './seeded.ts';

export interface Accepted {
  orderId: string;
  taker: DemoTaker;
  candidate: QuoteCandidate;
}

const FLOWS = [
  { corridor: ['base', 'base'], sell: 'USDC', buy: 'WETH', from: 50, to: 1_500, digits: 2 },
  { corridor: ['base', 'base'], sell: 'WETH', buy: 'USDC', from: 0.02, to: 0.5, digits: 5 },
  { corridor: ['base', 'arc'], sell: 'USDC', buy: 'WETH', from: 50, to: 1_000, digits: 2 },
  { corridor: ['arc', 'base'], sell: 'USDC', buy: 'WETH', from: 50, to: 1_000, digits: 2 },
  { corridor: ['arc', 'arc'], sell: 'DAI', buy: 'WETH', from: 50, to: 1_000, digits: 2 },
] as const;

const SUBMIT_PATIENCE_MS = 60_000;

/** One trade of one taker. undefined: it was never accepted, for a reason that the venue gave. */
export async function tradeOnce(
  manifest: Manifest,
  privateKey: `0x${string}`,
  flow: number,
  random: Seeded,
  idempotencyKey: string,
): Promise<Accepted | undefined> {
  const { corridor, sell, buy, from, to, digits } = FLOWS[flow % FLOWS.length] as (typeof FLOWS)[number];
  const taker = takerFor(manifest, { privateKey });
  const trade = tradeOf({ manifest }, taker, corridor, sell, buy);
  const size = (from + random.next() * (to - from)).toFixed(digits);
  const prepared = await quoted(taker, () => askOf(trade, { sell: size }));
  if (!prepared) return undefined;
  const orderId = await submitted(taker, prepared.submission, idempotencyKey);
  if (orderId === undefined) return undefined;
  // walletBroadcast: an unavailable chain is asked again; a late order fails, and no money moves.
  for (const { tx } of prepared.broadcasts)
    if (tx) await patiently(15_000, () => taker.send(tx)).catch(() => undefined);
  return { orderId, taker, candidate: prepared.submission.quoteResponse };
}

async function quoted(taker: DemoTaker, ask: () => Parameters<DemoTaker['quote']>[0]) {
  const deadline = performance.now() + 30_000;
  while (performance.now() < deadline) {
    try {
      const [candidate] = (await taker.quote(ask())).quotes;
      if (candidate) {
        const prepared = await taker.prepare(candidate);
        // Preparation takes blocks, so a quote that is nearly over is requested again.
        if (candidate.validUntil - Date.now() / 1000 > 2) return prepared;
      }
    } catch {
      // The venue or a chain is down, which this test is about.
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return undefined;
}

async function submitted(
  taker: DemoTaker,
  submission: unknown,
  idempotencyKey: string,
): Promise<string | undefined> {
  const deadline = performance.now() + SUBMIT_PATIENCE_MS;
  while (performance.now() < deadline) {
    const answer = await taker.post(submission, idempotencyKey).catch(() => undefined);
    if (answer?.status === 200) return (answer.json as { id: string }).id;
    if (answer?.status === 422) return undefined;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`No definite answer to a submission within ${SUBMIT_PATIENCE_MS / 1000} s.`);
}

/** Settled, or failed without moving money: never opened, or refunded. */
export async function ended({ taker, orderId }: Accepted, timeoutMs: number): Promise<OrderStatusResponse> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const status = await taker.finish(orderId, Math.max(1_000, deadline - performance.now()));
    if (status.status === 'settled' || status.failure?.refundableFrom === null) return status;
    if (performance.now() > deadline)
      throw new Error(
        `Order ${orderId} failed (${status.failure?.code ?? ''}) and was not refunded in ${timeoutMs / 1000} s.`,
      );
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

export async function patiently<T>(patienceMs: number, work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}
