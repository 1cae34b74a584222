/**
 * The escrow's own arithmetic of fees, forwards and backwards, so that a venue prices exactly what will reach
 * it.
 */

import type { RouteFees } from '../../ports/route-venue.ts';

const BPS = 10_000n;

/** `relayFee` says what carrying a fill of this much gas costs in base units of the input. */
export function routeFees(feeBps: number, relayFee: (gas: bigint) => bigint): RouteFees {
  const handedOver = (input: bigint, gas: bigint): bigint => {
    const left = input - (input * BigInt(feeBps)) / BPS - relayFee(gas);
    return left > 0n ? left : 0n;
  };
  return {
    handedOver,
    inputFor(handed, gas) {
      const wanted = handed + relayFee(gas);
      // The platform's fee is rounded down, so what is left of an input is rounded up.
      return wanted === 0n ? 0n : ((wanted - 1n) * BPS) / (BPS - BigInt(feeBps)) + 1n;
    },
  };
}
