/**
 * Extra cost terms for the pricing model, in bps of mid; positive is worse for the taker. Try it without an
 * LP:
 *
 *   firmquote lp price --inputs docs/examples/worked-example.json --module docs/examples/pricing-terms.mjs
 *
 * To quote with it, put `"pricing": { "module": "docs/examples/pricing-terms.mjs" }` into the `lp` section.
 *
 * @type {import('../../src/pricing/price-inputs.ts').PricingPlugin}
 */
export default {
  name: 'night-desk',
  terms: {
    /** The fee of our hedging venue. */
    hedgeFee: ({ size }) => (size > 1_000 ? 0.8 : 0),
    /** A premium per second of firmness on a corridor with little history. */
    newCorridor: ({ corridor, firmSeconds }) => (corridor.endsWith('-arc') ? 0.02 * firmSeconds : 0),
  },
};
