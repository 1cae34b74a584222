/**
 * The highest platform fee that every escrow of the venue takes: an order with more could never settle, so
 * none is ever quoted.
 */

import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';

export interface FeeCap {
  /** The fee itself, or the most that the escrows take; basis points. */
  cap(bps: number): number;
  /** Asks every chain once, and again at its next block where it does not answer. */
  start(): void;
  stop(): void;
}

export function createFeeCap({ chains, log }: { chains: ReadonlyMap<number, ChainPort>; log: Log }): FeeCap {
  let lowest = Number.POSITIVE_INFINITY;
  const stops: (() => void)[] = [];

  function ask(port: ChainPort): void {
    let asking = false;
    let known = false;
    const look = (): void => {
      if (asking || known) return;
      asking = true;
      port
        .maxFeeBps()
        .then((bps) => {
          known = true;
          lowest = Math.min(lowest, bps);
        })
        .catch((error: unknown) =>
          log.warn(
            { chain: port.chain.slug, error },
            'the highest fee of this escrow is not known yet; the next block asks again',
          ),
        )
        .finally(() => (asking = false));
    };
    stops.push(port.onHead(look));
    look();
  }

  return {
    cap: (bps) => Math.min(bps, lowest),
    start: () => [...chains.values()].forEach(ask),
    stop: () => stops.splice(0).forEach((stop) => stop()),
  };
}
