/**
 * Orders quotes by what the taker gets after everything that the taker pays. Ties are broken, so the order is
 * total.
 */

export interface Ranked {
  quoteId: string;
  inputAmount: bigint;
  outputAmount: bigint;
  /** The gas that the taker itself pays, in base units of the competing side; 0 on apiSubmit. */
  takerGas: bigint;
  eta: number | null;
  /** Share of this solver's awards that settled, basis points; 10,000 for a newcomer. */
  fillRateBps: number;
  validUntil: number;
}

type FixedSide = 'exactInput' | 'exactOutput';

/** Output less gas on exact input (more is better), input plus gas on exact output (less is better). */
export function netOf(
  side: FixedSide,
  { inputAmount, outputAmount, takerGas }: Pick<Ranked, 'inputAmount' | 'outputAmount' | 'takerGas'>,
): bigint {
  return side === 'exactInput' ? outputAmount - takerGas : inputAmount + takerGas;
}

/**
 * Returns a negative number when `a` is better. Ties: shorter eta, then better fill history, longer validity,
 * smaller quoteId.
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

/** Sorts quotes, the best first. */
export function rank<Q extends Ranked>(side: FixedSide, quotes: readonly Q[]): Q[] {
  return [...quotes].sort((a, b) => compareQuotes(side, a, b));
}
