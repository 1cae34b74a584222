/** Divides the distance of a price from the mid into its reasons, exactly. */

import type { Priced } from '../../pricing/price.ts';

/** One reason for a part of the price. Positive is worse for the taker. */
interface PriceLine {
  name: string;
  bps: number;
  /** Base units of the output token. */
  amount: bigint;
}

const LABELS: Readonly<Record<string, string>> = {
  conf: 'uncertain mid',
  adv: 'adverse selection',
  inv: 'inventory skew',
  impact: 'market impact',
  capital: 'locked capital',
  rebal: 'rebalancing',
  x: 'firmness premium',
  m: 'markup',
  explore: 'learning noise',
  signalSkew: 'signal: skew',
  signalWidth: 'signal: width',
  signalShift: 'signal: fair value',
  floor: 'least spread',
  gas: 'own gas, buffered',
  relay: 'relay fee',
  fee: 'platform fee',
  rounding: 'rounding',
};

const PER_BILLIONTH_BPS = 10_000_000_000_000n;

/**
 * Divides gross less output into lines. Fee, gas and relay fee are the charged integers. The spread is
 * divided to a billionth of a bp; the rest is rounding.
 */
export function linesOf({
  gross,
  spreadAmount,
  feeAmount,
  gasAmount,
  relayAmount,
  terms,
}: Priced): PriceLine[] {
  const { conf, adv, inv, impact, capital, rebal, extra = {}, x, m, explore = 0, c0, fee, D } = terms;
  const { signalSkew = 0, signalWidth = 0, signalShift = 0 } = terms;
  const floor = D - (c0 + fee + x + m + explore + signalSkew + signalWidth + signalShift);
  const parts: [string, number][] = [
    ['conf', conf],
    ['adv', adv],
    ['inv', inv],
    ['impact', impact],
    ['capital', capital],
    ['rebal', rebal],
    ...Object.entries(extra),
    ['x', x],
    ['m', m],
  ];
  if (explore !== 0) parts.push(['explore', explore]);
  if (signalSkew !== 0) parts.push(['signalSkew', signalSkew]);
  if (signalWidth !== 0) parts.push(['signalWidth', signalWidth]);
  if (signalShift !== 0) parts.push(['signalShift', signalShift]);
  // A smaller difference is rounding of floats.
  if (Math.abs(floor) > 1e-9) parts.push(['floor', floor]);
  const lines = parts.map(([name, bps]) => ({
    name,
    bps,
    amount: (gross * BigInt(Math.round(bps * 1e9))) / PER_BILLIONTH_BPS,
  }));
  const rounding = lines.reduce((left, { amount }) => left - amount, spreadAmount);
  const charged = (name: string, amount: bigint) => ({ name, bps: bpsOf(amount, gross), amount });
  return [
    ...lines,
    charged('gas', gasAmount),
    charged('relay', relayAmount),
    charged('fee', feeAmount),
    charged('rounding', rounding),
  ];
}

/** Names a line for people. */
export const labelOf = (name: string): string => LABELS[name] ?? `plug-in: ${name}`;

export const bpsOf = (part: bigint, whole: bigint): number =>
  whole === 0n ? 0 : (Number(part) / Number(whole)) * 1e4;
