/**
 * A whole pricer in the place of the model: it names the parts of the spread in bps; gas, platform fee, the
 * bounds of the configuration, the amounts and every check stay the LP's. This one is the plainest that still
 * respects what a firm quote gives away: a fixed edge, a skew for the position, and a charge that grows with
 * the root of the time it is firm.
 *
 * @type {import('../../src/pricing/plugin.ts').PricingPlugin}
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
