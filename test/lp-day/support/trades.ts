/** What takers do all day: ask, accept, wait for the end. */

import { expect } from 'vitest';
import type { QuoteCandidate } from '../../../src/protocol/api/candidate.ts';
import { type Client, patiently, type Wanted } from '../../faults/support/client.ts';
import { type Day, TRUTH } from './day.ts';

export interface Accepted {
  id: string;
  taker: Client;
}

const takerOf = ({ takers, orders }: Day): Client => takers[orders.length % takers.length] as Client;

/** An order that the venue accepted. Asks until the LP quotes. */
export async function accept(day: Day, wanted: Wanted): Promise<Accepted> {
  const taker = takerOf(day);
  // Reserved before waiting, so that trades at the same time are of different takers.
  const serial = day.orders.push('') - 1;
  for (let attempt = 1; ; attempt += 1) {
    const id = await taker.insist(await taker.prepare(wanted), `day-${serial}-${attempt}`);
    // undefined: the quote came to its end before the venue decided.
    if (id === undefined) continue;
    day.orders[serial] = id;
    return { id, taker };
  }
}

/** All of them settle. */
export async function settled(accepted: readonly Accepted[]): Promise<void> {
  for (const { id, taker } of accepted)
    expect(await taker.ended(id), id).toMatchObject({ status: 'settled' });
}

/** All of them end: settled, or failed with nothing left in escrow. Answers how many settled. */
export async function ended(accepted: readonly Accepted[]): Promise<number> {
  let count = 0;
  for (const { id, taker } of accepted) if ((await taker.ended(id)).status === 'settled') count += 1;
  return count;
}

/** The LP has delivered all of them, and may not have been paid yet. */
export async function delivered(accepted: readonly Accepted[]): Promise<void> {
  for (const { id, taker } of accepted)
    await patiently(
      async () => {
        const stage = (await taker.look(id))?.stage ?? 'awaiting_escrow';
        return !['awaiting_escrow', 'escrowed'].includes(stage) || undefined;
      },
      () => `order ${id} is not delivered`,
    );
}

export async function trade(day: Day, wanted: Wanted): Promise<string> {
  const accepted = await accept(day, wanted);
  await settled([accepted]);
  return accepted.id;
}

let asked = 0;

/** One question, each of another taker than the last: an LP limits its live quotes per taker. */
export const offer = ({ takers }: Day, wanted: Wanted): Promise<QuoteCandidate | undefined> =>
  (takers[(asked += 1) % takers.length] as Client).quote(wanted);

/**
 * How far a quote of USDC for WETH lies from the true price, fees included, to a millionth of a basis point.
 * Positive: the taker pays. Exact, because a price may lie right on a configured minimum.
 */
export function costBps({ preview }: QuoteCandidate): number {
  const [usdc, weth] = [BigInt(preview.inputs[0]?.amount ?? 0), BigInt(preview.outputs[0]?.amount ?? 0)];
  const paidAtto = usdc * 10n ** 12n;
  const gotAtto = weth * BigInt(TRUTH);
  return Number(((paidAtto - gotAtto) * 10n ** 10n) / paidAtto) / 1e6;
}
