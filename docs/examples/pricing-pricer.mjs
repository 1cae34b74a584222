/**
 * A pricer that replaces the model. It returns the parts of the spread in bps; the LP adds gas and platform
 * fee, applies the configured bounds, computes the amounts and checks them. This one has a fixed edge, a skew
 * for the position, and a firmness charge that grows with the square root of time.
 *
 * @type {import('../../src/pricing/price-inputs.ts').PricingPlugin}
 */
export default {
  name: 'root-of-time',
  pricer({ lp, q, size, sigma, firmSeconds, confidenceBps, params }) {
    const side = lp === 'buy' ? 1 : -1;
    const deviationBps = sigma * 1e4 * Math.sqrt(firmSeconds / 31_536_000);
    return {
      edge: 4,
      uncertainty: confidenceBps,
      firmness: 0.1 * deviationBps,
      skew: 10 * side * (q + (side * size) / (2 * params.halfBand)),
    };
  },
};
