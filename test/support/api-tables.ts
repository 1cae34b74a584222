/** Writes every shape of the API contract as a table in our own words, with the decisions about its gaps. */

import { type Holder, type Rule, shape, type Shape } from './shapes.ts';

const when = (words: string, so: (holder: Holder, answer: Holder) => boolean): Rule => ({ when: words, so });

/* Candidates */

export const PREVIEW_INPUT = shape(
  'PreviewInput',
  ['asset', 'CAIP-19', 'always'],
  ['amount', 'base units', 'always'],
  ['decimals', 'integer', 'always', 'or null'],
  ['symbol', 'text', 'always', 'or null'],
  ['priceUsd', 'number', 'always', 'or null'],
);

const SHARED_OUTPUT = [
  ['asset', 'CAIP-19', 'always'],
  ['amount', 'base units', 'always'],
  ['minimumAmount', 'base units', 'always', 'or null'],
  ['decimals', 'integer', 'always', 'or null'],
  ['symbol', 'text', 'always', 'or null'],
  ['priceUsd', 'number', 'always', 'or null'],
  ['receiver', 'hex', 'always', 'or null'],
] as const;
export const PREVIEW_OUTPUT = shape(
  'PreviewOutput',
  ...SHARED_OUTPUT,
  ['amountBeforeFees', 'base units', 'always', 'or null'],
  ['deltaFromMid', 'number', 'always', 'or null'],
);
export const ROUTER_PREVIEW_OUTPUT = shape('PreviewOutput (router)', ...SHARED_OUTPUT);

export const STANDARD_ORDER = shape(
  'StandardOrder',
  ['type', ['escrow-v0'], 'always'],
  [
    'payload',
    shape(
      'EIP-712 envelope',
      ['domain', 'object', 'always'],
      ['types', 'object', 'always'],
      ['primaryType', ['StandardOrder'], 'always'],
      ['message', 'object', 'always'],
    ),
    'always',
  ],
);
export const VALIDITY = shape(
  'ValidityWindow',
  ['validUntil', 'unix seconds', 'always'],
  ['minValidUntil', 'unix seconds', 'always', 'or null'],
);
export const GAS = shape(
  'GasEstimate',
  ['native', 'base units', 'always'],
  ['usd', 'number', 'always', 'or null'],
);
export const SLICE = shape(
  'SplitFillDetail.fills[]',
  ['solverId', 'text', 'always'],
  ['portionBps', 'integer', 'always'],
  ['outputAmount', 'base units', 'may be left out'],
);
export const SPLIT = shape(
  'SplitFillDetail',
  ['fills', { each: SLICE }, 'always'],
  ['executionModel', ['atomic'], 'may be left out'],
);
export const WARNING = shape('PriceWarning', ['code', 'integer', 'always'], ['message', 'text', 'always']);

const CANDIDATE = [
  ['quoteId', 'hex', 'always'],
  ['solverId', 'text', 'always'],
  ['executionMode', ['apiSubmit', 'walletBroadcast'], 'always'],
  ['order', STANDARD_ORDER, 'may be left out', 'or null'],
  ['validUntil', 'unix seconds', 'always'],
  ['eta', 'integer', 'may be left out', 'or null'],
  ['integrityChecksum', 'text', 'always'],
  ['platformFeeBps', 'integer', 'may be left out', 'or null'],
  ['lpSpreadBps', 'integer', 'may be left out', 'or null'],
  ['gas', GAS, 'may be left out', 'or null'],
  ['warnings', { each: WARNING }, 'may be left out'],
] as const;
const preview = (output: Shape): Shape =>
  shape('preview', ['inputs', { each: PREVIEW_INPUT }, 'always'], ['outputs', { each: output }, 'always']);

export const RFQ_CANDIDATE = shape(
  'QuoteCandidate (RFQ)',
  ...CANDIDATE,
  ['validity', VALIDITY, 'may be left out', 'or null'],
  ['preview', preview(PREVIEW_OUTPUT), 'always'],
  ['routingPath', ['direct'], 'may be left out'],
  ['splitFill', SPLIT, 'may be left out', 'or null'],
);

export const LEG = shape(
  'composite.legs[]',
  ['index', 'integer', 'always'],
  ['kind', ['rfq', 'dex', 'bridge', 'issuer', 'fiat'], 'always'],
  ['solverId', 'text', 'always'],
  ['venue', 'text', 'always'],
  ['chainId', 'integer', 'always'],
  ['input', shape('leg input', ['asset', 'CAIP-19', 'always'], ['amount', 'base units', 'always']), 'always'],
  [
    'output',
    shape(
      'leg output',
      ['asset', 'CAIP-19', 'always'],
      ['amount', 'base units', 'always'],
      ['minimumAmount', 'base units', 'always', 'or null'],
    ),
    'always',
  ],
  [
    'fees',
    { each: shape('leg fee', ['asset', 'CAIP-19', 'always'], ['amount', 'base units', 'always']) },
    'may be left out',
    'or null',
  ],
  ['eta', 'integer', 'always', 'or null'],
  ['dependsOn', { each: 'integer' }, 'always'],
);
export const COMPOSITE = shape(
  'composite',
  ['legs', { each: LEG }, 'always'],
  ['executionModel', ['atomic', 'sequential'], 'always'],
);
export const ROUTER_CANDIDATE = shape(
  'QuoteCandidate (router)',
  ...CANDIDATE,
  ['preview', preview(ROUTER_PREVIEW_OUTPUT), 'always'],
  ['routingPath', ['direct', 'composite'], 'may be left out'],
  ['composite', COMPOSITE, 'may be left out', 'or null'],
);

const UNAVAILABLE = shape(
  'productUnavailable',
  [
    'code',
    [
      'pair_not_supported',
      'no_eligible_solver',
      'no_quotes',
      'amount_too_small',
      'amount_too_large',
      'validity_unavailable',
    ],
    'always',
  ],
  ['message', 'text', 'always'],
  ['corridor', 'text', 'always', 'or null'],
);
const quotes = (name: string, candidate: Shape): Shape =>
  shape(
    name,
    ['requestId', 'text', 'always'],
    ['createdAt', 'date-time', 'always'],
    ['quotes', { each: candidate }, 'always'],
    ['productUnavailable', UNAVAILABLE, 'always', 'or null'],
  );
export const RFQ_QUOTES = quotes('quote response (RFQ)', RFQ_CANDIDATE);
export const ROUTER_QUOTES = quotes('quote response (router)', ROUTER_CANDIDATE);

/* Preflight */

const TX = shape(
  'action tx',
  ['to', 'hex', 'always'],
  ['value', 'base units', 'always'],
  ['data', 'hex', 'always'],
  ['chainId', 'integer', 'always'],
  ['from', 'hex', 'always'],
  ['gas', 'integer', 'always'],
  ['gasPrice', 'integer', 'always'],
);
const isTransaction = ({ type }: Holder) => type === 'evmTransaction';
const isSignature = ({ type }: Holder) => type === 'signature';
export const ACTION = shape(
  'Action',
  ['type', ['evmTransaction', 'signature', 'wait'], 'always'],
  [
    'purpose',
    [
      'tokenApproval',
      'permit2Grant',
      'resourceLockDeposit',
      'permit2Lock',
      'eip3009Authorization',
      'orderSignature',
      'settlementBroadcast',
      'legDelivery',
      'legQuote',
    ],
    'always',
  ],
  ['actor', ['userWallet', 'venue'], 'always'],
  ['frequency', ['perTrade', 'reusableSetup'], 'always'],
  ['chainId', 'integer', 'always'],
  ['tx', TX, when('for transactions', isTransaction)],
  [
    'typedData',
    shape('action typedData', ['type', ['escrow-v0', 'eip712'], 'always'], ['payload', 'object', 'always']),
    when('for signatures', isSignature),
  ],
  ['submitTo', 'text', when('for signatures', isSignature)],
  ['after', { each: ['rerunPreflight', 'submitOrder'] }, 'always'],
  ['details', 'object', 'may be left out'],
);
export const LOCKS: Record<string, Shape> = {
  Permit2: shape(
    'lockDetails: Permit2Lock',
    ['signature', ['0x'], 'always'],
    ['deadline', 'unix seconds', 'always'],
  ),
  'EIP-3009': shape(
    'lockDetails: Eip3009Authorization',
    ['signature', ['0x'], 'always'],
    ['validAfter', 'integer', 'always'],
    ['validBefore', 'unix seconds', 'always'],
    ['nonce', 'hex', 'always'],
  ),
  ResourceLock: shape(
    'lockDetails: ResourceLock',
    ['token', 'hex', 'always'],
    ['account', 'hex', 'always'],
    ['available', 'base units', 'always'],
    ['withdrawableAt', 'unix seconds', 'always', 'or null'],
  ),
};
/** Paid by plain allowance on walletBroadcast, and while a route waits, there is no lock to speak of. */
const locked = when('where a lock was selected', (plan) => plan['fundingLock'] !== undefined);
export const PREFLIGHT = shape(
  'Preflight response',
  ['quoteId', 'hex', 'always'],
  ['ready', 'boolean', 'always'],
  ['nextActions', { each: ACTION }, 'always'],
  ['fundingLock', ['Permit2', 'EIP-3009', 'ResourceLock'], 'may be left out'],
  ['lockDetails', 'object', locked],
  [
    'order',
    shape(
      'preflight order',
      ['orderId', 'hex', 'always'],
      ['status', ['pending', 'settled', 'failed'], 'always'],
      ['stage', 'text', 'always'],
    ),
    'may be left out',
  ],
);

/* Orders */

const STATUS = ['pending', 'settled', 'failed'] as const;
export const ORDER = shape(
  'Order',
  ['id', 'hex', 'always'],
  ['status', STATUS, 'always'],
  ['quoteId', 'hex', 'always'],
  ['createdAt', 'date-time', 'always'],
);
const FAILURE = shape(
  'failure',
  [
    'code',
    [
      'not_opened',
      'not_broadcast',
      'expired_unfilled',
      'solver_released',
      'funding_failed',
      'settlement_reverted',
    ],
    'always',
  ],
  ['message', 'text', 'always'],
  ['refundTxHash', 'hex', 'always', 'or null'],
  ['refundableFrom', 'unix seconds', 'always', 'or null'],
);
const SETTLED = shape(
  'settledAmounts value',
  ['amount', 'base units', 'always'],
  ['decimals', 'integer', 'always', 'or null'],
  ['symbol', 'text', 'always', 'or null'],
  ['receiver', 'hex', 'always'],
  ['txHash', 'hex', 'always'],
);
export const ORDER_STATUS = shape(
  'Order status response',
  ['status', STATUS, 'always'],
  ['referenceId', 'text', 'may be left out'],
  ['txHash', 'hex', 'may be left out'],
  ['settledAmounts', { byName: SETTLED }, when('on settled orders', ({ status }) => status === 'settled')],
  ['failure', FAILURE, when('on failed orders', ({ status }) => status === 'failed')],
  ['id', 'hex', 'always'],
  ['quoteId', 'hex', 'always'],
  ['createdAt', 'date-time', 'always'],
  ['updatedAt', 'date-time', 'always'],
  [
    'stage',
    ['awaiting_escrow', 'escrowed', 'delivered', 'proven', 'settled', 'refund_pending', 'refunded', 'failed'],
    'always',
  ],
);

/* Roster, pairs, errors */

export const SOLVER = shape(
  'Solver',
  ['id', 'text', 'always'],
  ['status', ['active', 'standby', 'offline'], 'always'],
  ['kind', ['lp', 'solver'], 'always'],
  ['corridors', { each: 'text' }, 'always'],
  ['firstSeenAt', 'date-time', 'may be left out'],
  ['lastQuoteAt', 'date-time', 'may be left out'],
  ['eligibilityNote', 'text', 'always', 'or null'],
);
export const ROSTER = shape('roster', ['solvers', { each: SOLVER }, 'always']);
export const PAIRS = { byName: 'integer' } as const;
export const VALIDATION_ERROR = shape('Validation error', [
  'detail',
  {
    each: shape('detail[]', ['loc', 'path', 'always'], ['msg', 'text', 'always'], ['type', 'text', 'always']),
  },
  'always',
]);
export const ERROR = shape('Trade-endpoint error', [
  'error',
  shape('error', ['code', 'text', 'always'], ['message', 'text', 'always']),
  'always',
]);
