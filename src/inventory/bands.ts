/**
 * How far from where we want to be we are, and how far we may go. Inside the soft band the price alone brings
 * us back; beyond the hard band nothing is promised that leads further away. Amounts of one call are in one
 * unit.
 */

export interface Band {
  target: bigint;
  /** Half-bands: distances from the target. */
  soft: bigint;
  /** undefined: as far as the money goes. */
  hard: bigint | undefined;
}

/** 0 at the target, 1 and -1 at the edges of the soft band. */
export function bandQ(position: bigint, { target, soft }: Pick<Band, 'target' | 'soft'>): number {
  return soft <= 0n ? 0 : Number(((position - target) * 1_000_000n) / soft) / 1e6;
}

/**
 * What may still come in and go out before the hard band is left; 0n beyond its edge, undefined where there
 * is none.
 */
export function bandRoom(
  position: bigint,
  { target, hard }: Pick<Band, 'target' | 'hard'>,
): { in: bigint; out: bigint } | undefined {
  if (hard === undefined) return undefined;
  const [up, down] = [target + hard - position, position - target + hard];
  return { in: up > 0n ? up : 0n, out: down > 0n ? down : 0n };
}

/**
 * Of what lies on all chains, one chain's share out of the sum of all shares: moving it changes places, not
 * the sum.
 */
export function fairShare(total: bigint, share: bigint, shares: bigint): bigint {
  return shares === 0n ? 0n : (total * share) / shares;
}
