/**
 * Extra cost terms for the pricing model, in bps of mid, positive is worse for the taker. Try it without an
 * LP:
 *
 *   firmquote lp price --inputs docs/examples/worked-example.json --module docs/examples/pricing-terms.mjs
 *
 * and put `"pricing": { "module": "docs/examples/pricing-terms.mjs" }` into the `lp` section to quote with
 * it.
 *
 * @type {import('../../src/pricing/plugin.ts').PricingPlugin}
 */
export default {
  name: 'night-desk',
  terms: {
    /** Our hedge venue charges this for every trade that we pass on. */
    hedgeFee: ({ size }) => (size > 1_000 ? 0.8 : 0),
    /** The longer a quote is firm on a corridor that we know little of, the more we want for it. */
    newCorridor: ({ corridor, firmSeconds }) => (corridor.endsWith('-arc') ? 0.02 * firmSeconds : 0),
  },
};
