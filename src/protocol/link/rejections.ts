/** Says why an answer of a solver is rejected: codes of the `rejected` frame, with what to check. */

interface Rejection {
  /** Path in the answer. */
  field: string;
  message: string;
}

export const REJECTIONS = {
  malformed: { field: '', message: 'The frame does not match its schema in /asyncapi.json.' },
  late: { field: 'rfqId', message: 'The request is over: its deadline has passed, or it was never yours.' },
  times: {
    field: 'validUntil',
    message:
      'Times do not fit: fillDeadline = validUntil + landingMarginSeconds, expires = fillDeadline + ' +
      'proofWindowSeconds, the commitment ends at fillDeadline, and validUntil lies between minValidUntil ' +
      "and the venue's maximum. fillDeadline lies within the settler's WITHDRAWAL_DELAY; across chains, where " +
      'minBond names the input, also within that of the origin, and expires within its TAKE_BACK_DELAY.',
  },
  terms: {
    field: 'order',
    message: 'user, nonce, originChainId, inputOracle and the one input must be those of the request.',
  },
  amount: {
    field: 'order.outputs.0.amount',
    message:
      'The amount that the request fixes must be kept, the other be more than 0 and cover the fees, and ' +
      'amountBeforeFees be at least the output.',
  },
  output: {
    field: 'order.outputs.0',
    message: 'oracle, settler, chainId, token, recipient and callbackData must be those of the request.',
  },
  context: {
    field: 'order.outputs.0.context',
    message:
      'The context names your account, fillDeadline + 1, 10000, and the platformFeeBps and relayFee of the ' +
      'request.',
  },
  account: {
    field: 'commitment.lp',
    message: 'lp must be the account of your hello, the same on both chains.',
  },
  signature: {
    field: 'commitment.signature',
    message: 'The signature is not that of an operator who may sign for lp now.',
  },
  balance: {
    field: 'order.outputs.0.amount',
    message: "The account's ledger balance does not cover this beside what else is promised.",
  },
  limit: {
    field: 'order.outputs.0.amount',
    message: "This exceeds what the owner lets the operator promise in the output's token.",
  },
  bond: { field: 'commitment.lp', message: "The account's bond is below the minBond of the welcome." },
  duplicate: { field: 'quoteId', message: 'Another answer was counted instead.' },
} as const satisfies Record<string, Rejection>;

export type RejectionCode = keyof typeof REJECTIONS;
