/**
 * The highest platform fee, in basis points, that every escrow accepts. An order with a higher fee could
 * never settle, so it is never quoted.
 */

import type { ChainPort } from '../../ports/chain.ts';
import type { Log } from '../../ports/log.ts';

export interface FeeCap {
  cap(bps: number): number;
  /** Retries at the next block. */
  start(): void;
  stop(): void;
}

export function createFeeCap({ chains, log }: { chains: ReadonlyMap<number, ChainPort>; log: Log }): FeeCap {
  let lowest = Number.POSITIVE_INFINITY;
  const stops: (() => void)[] = [];

  function ask(port: ChainPort) {
    let asking = false;
    let known = false;
    const readCap = (): void => {
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
            'a fee cap could not be read; the next block tries again',
          ),
        )
        .finally(() => (asking = false));
    };
    stops.push(port.onHead(readCap));
    readCap();
  }

  return {
    cap: (bps: number) => Math.min(bps, lowest),
    start: () => [...chains.values()].forEach(ask),
    stop: () => stops.splice(0).forEach((stop) => stop()),
  };
}
