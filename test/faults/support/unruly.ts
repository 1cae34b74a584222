/**
 * Unreliable delivery: jobs, events, chain logs and awards come twice, late and in another order, at random.
 */

import type { LpGround } from '../../../src/apps/lp/main.ts';
import type { VenueGround } from '../../../src/apps/venue/main.ts';
import type { ChainPort, EscrowEvent } from '../../../src/ports/chain.ts';
import { type Seeded, seeded } from '../../kill/seeded.ts';

const LATEST_MS = 1_500;

export function unrulyVenue(ground: VenueGround, seed: number): VenueGround {
  const dice = seeded(seed);
  const { queue, bus } = ground;
  return {
    ...ground,
    queue: {
      ...queue,
      async wake(topic, id, delayMs = 0) {
        await Promise.all(
          [0, 1, 2].map((n) =>
            queue.wake(topic, id, delayMs + (n === 0 ? 0 : Math.floor(dice.next() * LATEST_MS))),
          ),
        );
      },
    },
    bus: {
      ...bus,
      subscribe: (topic, listener) =>
        bus.subscribe(topic, (payload) => repeated(dice, () => listener(payload))),
    },
    chains: ground.chains.map((chain) => unrulyChain(chain, dice)),
  };
}

export function unrulyLp(ground: LpGround, seed: number): LpGround {
  const dice = seeded(seed);
  return {
    ...ground,
    chains: ground.chains.map((chain) => unrulyChain(chain, dice)),
    links: ground.links.map((link) => ({
      ...link,
      start: (listener) =>
        link.start({
          ...listener,
          frame(...args) {
            if ((JSON.parse(args[0]) as { type: string }).type === 'award')
              repeated(dice, () => listener.frame(...args));
            else listener.frame(...args);
          },
        }),
    })),
  };
}

/** A node that returns every log twice, in any order. */
function unrulyChain<T extends ChainPort>(chain: T, dice: Seeded): T {
  const twice = (events: EscrowEvent[]) =>
    [...events, ...events]
      .map((event) => ({ event, at: dice.next() }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ event }) => event);
  return {
    ...chain,
    events: async (...args: Parameters<ChainPort['events']>) => twice(await chain.events(...args)),
    orderEvents: async (...args: Parameters<ChainPort['orderEvents']>) =>
      twice(await chain.orderEvents(...args)),
  };
}

/** Now or a little later, and once more after that. */
function repeated(dice: Seeded, what: () => void): void {
  const firstMs = dice.next() < 0.5 ? 0 : dice.next() * 200;
  setTimeout(what, firstMs);
  setTimeout(what, firstMs + dice.next() * LATEST_MS);
}
