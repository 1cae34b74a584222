/**
 * Inventory bands around a target. Inside the soft band only the skew of the price leads back to the target;
 * beyond the hard band the LP quotes nothing that leads further away. Amounts of one call share a unit.
 */

export interface Band {
  target: bigint;
  soft: bigint;
  /** undefined: no hard band. */
  hard: bigint | undefined;
}

/** Returns 0 at the target, 1 and -1 at the edges of the soft band. */
export function bandQ(position: bigint, { target, soft }: Pick<Band, 'target' | 'soft'>): number {
  return soft <= 0n ? 0 : Number(((position - target) * 1_000_000n) / soft) / 1e6;
}

/** The amounts that may come in and go out before the position leaves the hard band. */
export interface BandHeadroom {
  in: bigint;
  out: bigint;
}

/** Returns the headroom in the hard band; 0n beyond its edge, undefined without one. */
export function bandHeadroom(
  position: bigint,
  { target, hard }: Pick<Band, 'target' | 'hard'>,
): BandHeadroom | undefined {
  if (hard === undefined) return undefined;
  const [up, down] = [target + hard - position, position - target + hard];
  return { in: up > 0n ? up : 0n, out: down > 0n ? down : 0n };
}

/** A chain's part of an asset, in millionths: `soft` and `hard` of its target. */
export interface ChainShare {
  share: bigint;
  softShare: bigint;
  hardShare: bigint | undefined;
}

const MILLION = 1_000_000n;

/**
 * Returns the target, position and room of a chain that has `available`, with its share among `shares` of
 * `total`.
 */
export function chainBandOf(
  { available, total }: { available: bigint; total: bigint },
  { share, softShare, hardShare }: ChainShare,
  shares: bigint,
): { target: bigint; q: number; room: BandHeadroom | undefined } {
  const target = fairShare(total, share, shares);
  return {
    target,
    q: bandQ(available, { target, soft: (target * softShare) / MILLION }),
    room: bandHeadroom(available, {
      target,
      hard: hardShare === undefined ? undefined : (target * hardShare) / MILLION,
    }),
  };
}

export function fairShare(total: bigint, share: bigint, shares: bigint): bigint {
  return shares === 0n ? 0n : (total * share) / shares;
}
