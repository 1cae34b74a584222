/** Parameters of the pricing model per pair and corridor, with defaults for a liquid pair on two L2s. */

export interface PricingParams {
  /** Win-rate curve: f(delta) = 1 / (1 + e^(alpha + beta*delta)), delta all-in in bps. */
  alpha: number;
  beta: number;
  /** The markup never falls below this. */
  minEdgeBps: number;
  /** Informed takers to others, theta / ((1 - theta) * a): the charged share of the option value. */
  omega: number;
  /** Jumps of the mid: rate per second and mean size (Laplace). */
  jumpsPerSecond: number;
  jumpBps: number;
  /** Competing quoters including us, for the winner's curse. */
  rivals: number;
  /** Risk aversion per bps and unit; arrival intensity per second; its decay per bps. */
  gamma: number;
  arrival: number;
  decay: number;
  /** Reference currency: one unit of size, and the half-band of the position. */
  unit: number;
  halfBand: number;
  /** Pass inventory skew to the price one to one instead of through the markup. */
  invPassThrough: boolean;
  /** Square-root impact: factor, and average daily volume in the reference currency. */
  impactFactor: number;
  dailyVolume: number;
  /** Cost of locked capital, a year. */
  capitalRate: number;
  /** Probability that another LP of a split fails, which refunds the whole order. */
  coFailureRate: number;
  /** Own gas is multiplied by this over 10,000; the relay fee of the venue is exact. */
  gasBufferBps: number;
  /** Least all-in spread. Below 0: a rebate may exceed the mid by at most this. */
  minSpreadBps: number;
  maxSpreadBps: number;
  maxConfidenceBps: number;
  /** Reference currency. */
  minSize: number;
  maxSize: number;
}

export const DEFAULT_PARAMS: PricingParams = {
  alpha: -2,
  beta: 0.25,
  minEdgeBps: 1,
  omega: 0.25,
  jumpsPerSecond: 1 / 3600,
  jumpBps: 30,
  rivals: 3,
  gamma: 5e-4,
  arrival: 0.02,
  decay: 0.2,
  unit: 10_000,
  halfBand: 200_000,
  invPassThrough: false,
  impactFactor: 1,
  dailyVolume: 2e9,
  capitalRate: 0.12,
  coFailureRate: 0.02,
  gasBufferBps: 12_000,
  minSpreadBps: 0.5,
  maxSpreadBps: 300,
  maxConfidenceBps: 20,
  minSize: 0,
  maxSize: 250_000,
};
