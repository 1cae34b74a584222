/** Says what each step of an order means, without a schema: pages import it, and forbid WebAssembly. */

/** Steps of an order, in the words of `OrderStage`. */
export const STAGE_MEANINGS = {
  awaiting_escrow: 'the input is not in escrow yet',
  escrowed: 'the input is in escrow, and the solver has to deliver',
  delivered: 'the output was delivered, and the attesters prove it',
  proven: 'the delivery is proven, and the solver collects the input',
  settled: 'the output was delivered and the input was paid out; final',
  refund_pending: 'it failed, and the input is still to go back to the taker',
  refunded: 'the input went back to the taker; final',
  failed: 'it failed before the input was taken; final',
} as const;
