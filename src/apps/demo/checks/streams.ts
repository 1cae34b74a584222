/** A client that reconnects misses no event, and indicative prices are close to firm ones. */

import { WebSocket } from 'ws';
import { zOrderEvent, zPriceEvent, zSubscribed } from '../../../protocol/api/events.ts';
import type { DemoWorld } from '../world.ts';
import { type DemoCheck, eventually, expect, expectEqual } from './check.ts';
import { askOf, settleAndCompare, freshTrade } from './trade.ts';

const ARRIVAL_MS = 30_000;
/** The tolerance as a share of the price: fees, the tenor, and market movement in between. */
const NEAR = 0.02;

interface Listener {
  frames: unknown[];
  drop(): void;
}

function listen({ manifest: { venue } }: DemoWorld, topics: string[], since?: string): Promise<Listener> {
  const socket = new WebSocket(venue.wsUrl, { headers: { 'X-API-Key': venue.keys.service } });
  const frames: unknown[] = [];
  socket.on('message', (data) => frames.push(JSON.parse(String(data))));
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.on('open', () => {
      socket.send(JSON.stringify({ op: 'subscribe', topics, ...(since !== undefined && { since }) }));
      resolve({ frames, drop: () => socket.terminate() });
    });
  });
}

const orderEvents = (frames: readonly unknown[], orderId: string) =>
  frames
    .flatMap((frame) => zOrderEvent.safeParse(frame).data ?? [])
    .filter((event) => event.orderId === orderId);
const lastPrices = (frames: readonly unknown[]) =>
  frames
    .flatMap((frame) => zPriceEvent.safeParse(frame).data ?? [])
    .findLast(({ data }) => data.bids.length > 0 && data.asks.length > 0);

export const streamCheck: DemoCheck = {
  name: 'event stream resumes after a drop; indicative prices are near firm ones',
  async run(world, tally) {
    const topic = 'prices:base-base:USDC-WETH';
    const first = await listen(world, ['orders', topic]);
    await eventually(
      'the subscription',
      ARRIVAL_MS,
      async () => zSubscribed.safeParse(first.frames[0]).success,
    );
    const { cursor } = zSubscribed.parse(first.frames[0]);
    await eventually('prices on both sides', ARRIVAL_MS, async () => lastPrices(first.frames) !== undefined);
    const prices = lastPrices(first.frames)?.data;
    const [bid, ask] = [Number(prices?.bids[0]?.price), Number(prices?.asks[0]?.price)];
    expect(bid < ask, `the bid of ${bid} is not below the ask of ${ask}`);
    // The trade happens while no client is connected.
    first.drop();
    const trade = freshTrade(world);
    const { orderId, candidate } = await settleAndCompare(trade, askOf(trade, { sell: '250' }), tally);
    const paid = Number(candidate.preview.outputs[0]?.amount ?? 0) / 1e18 / 250;
    expect(Math.abs(paid / bid - 1) < NEAR, `a quote of ${paid} is far from the bid of ${bid}`);
    const again = await listen(world, ['orders'], cursor ?? '0');
    try {
      await eventually(
        'the missed events',
        ARRIVAL_MS,
        async () => orderEvents(again.frames, orderId).length >= 2,
      );
      expectEqual(
        orderEvents(again.frames, orderId)
          .map(({ type, seq }) => `${seq} ${type}`)
          .join(', '),
        '1 order.created, 2 order.settled',
        'events of the trade',
      );
    } finally {
      again.drop();
    }
    return `one WETH for ${(1 / ask).toFixed(2)} to ${(1 / bid).toFixed(2)} USDC by ${prices?.solvers ?? 0} LPs; the missed events arrived once each`;
  },
};
