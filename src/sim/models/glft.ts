/** Guéant, Lehalle and Fernandez-Tapia (arXiv 1105.3115): closed-form and exact quotes. */

import { skewSlope } from '../../pricing/terms.ts';
import { groundState } from './tridiagonal.ts';

interface GlftSetup {
  gamma: number;
  sigma: number;
  A: number;
  k: number;
  Q: number;
  mu?: number;
  xi?: number;
}

export function glft({ gamma, sigma, A, k, Q, mu = 0, xi = 0 }: GlftSetup) {
  const c1 = Math.log1p(gamma / k) / gamma;
  const eta = A * (1 + gamma / k) ** -(1 + k / gamma);
  // The engine's own slope, so that the comparison covers the code that quotes.
  const c2 = skewSlope({ gamma, sigma, arrival: A, decay: k, xi: gamma });
  const scaled = c2 * Math.exp((k * xi) / 4);
  const tilt = mu === 0 ? 0 : mu / (gamma * sigma * sigma);

  const alpha = (k * gamma * sigma * sigma) / 2;
  const positions = Array.from({ length: 2 * Q + 1 }, (_, at) => at - Q);
  const { vector, residual } = groundState(
    positions.map((q) => alpha * q * q - k * mu * q),
    positions.slice(1).map(() => -eta * Math.exp((-k * xi) / 2)),
  );
  const f = (q: number) => vector[q + Q] ?? Number.NaN;
  return {
    c1,
    c2,
    spread: 2 * c1 + c2,
    eta,
    residual,
    bid: (q: number) => c1 + xi / 2 + ((2 * q + 1) / 2 - tilt) * scaled,
    ask: (q: number) => c1 + xi / 2 - ((2 * q - 1) / 2 - tilt) * scaled,
    exactBid: (q: number) => c1 + xi / 2 + Math.log(f(q) / f(q + 1)) / k,
    exactAsk: (q: number) => c1 + xi / 2 + Math.log(f(q) / f(q - 1)) / k,
  };
}
