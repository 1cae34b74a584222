/**
 * Which quote is best for the taker: net of everything the taker pays, with ties broken so that the order is
 * total and the same everywhere.
 */

export interface Ranked {
  quoteId: string;
  /** What the taker escrows. */
  inputAmount: bigint;
  /** What the taker receives. */
  outputAmount: bigint;
  /** Gas that the taker pays itself, in base units of the side that competes; 0 on apiSubmit. */
  takerGas: bigint;
  eta: number | null;
  /** Share of this solver's awards that settled, in basis points; a newcomer counts as 10,000. */
  fillRateBps: number;
  /** Unix second until which it stays firm. */
  validUntil: number;
}

export type FixedSide = 'exactInput' | 'exactOutput';

/**
 * What competes: output less gas on exact input (more is better), input plus gas on exact output (less is
 * better).
 */
export function netOf(
  side: FixedSide,
  { inputAmount, outputAmount, takerGas }: Pick<Ranked, 'inputAmount' | 'outputAmount' | 'takerGas'>,
): bigint {
  return side === 'exactInput' ? outputAmount - takerGas : inputAmount + takerGas;
}

/**
 * Negative when `a` is the better quote. Ties go to the shorter eta, then the better fill history, then the
 * longer validity, then the smaller quoteId.
 */
export function compareQuotes(side: FixedSide, a: Ranked, b: Ranked): number {
  const [netA, netB] = [netOf(side, a), netOf(side, b)];
  if (netA !== netB) return netA > netB === (side === 'exactInput') ? -1 : 1;
  const [etaA, etaB] = [a.eta ?? Number.POSITIVE_INFINITY, b.eta ?? Number.POSITIVE_INFINITY];
  if (etaA !== etaB) return etaA < etaB ? -1 : 1;
  if (a.fillRateBps !== b.fillRateBps) return b.fillRateBps - a.fillRateBps;
  if (a.validUntil !== b.validUntil) return b.validUntil - a.validUntil;
  return a.quoteId < b.quoteId ? -1 : a.quoteId > b.quoteId ? 1 : 0;
}

/** Best first; the input is left as it was. */
export function rank<Q extends Ranked>(side: FixedSide, quotes: readonly Q[]): Q[] {
  return [...quotes].sort((a, b) => compareQuotes(side, a, b));
}
