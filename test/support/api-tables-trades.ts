/**
 * The trade history's shapes as tables: the list, and every section of a dossier for those who may see all of
 * it and for those who may not.
 */

import { type Holder, type Row, type Rule, shape, type Shape } from './shapes.ts';

const TRADE_STATES = [
  'awaiting_escrow',
  'escrowed',
  'delivered',
  'proven',
  'settled',
  'refund_pending',
  'refunded',
  'failed',
] as const;

const LEG_ASSET = shape(
  'Leg asset',
  ['assetId', 'CAIP-19', 'always'],
  ['symbol', 'text', 'always', 'or null'],
  ['resolutionStatus', ['resolved', 'unresolved'], 'always'],
  ['name', 'text', 'always', 'or null'],
  ['decimals', 'integer', 'always', 'or null'],
  ['chainId', 'integer', 'always'],
  ['chainRef', 'text', 'always'],
  ['address', 'hex', 'always'],
);
const LEG = shape(
  'Leg',
  ['asset', LEG_ASSET, 'always'],
  ['rawAmount', 'base units', 'always'],
  ['decimalAmount', 'text', 'always', 'or null'],
);

const state = (name: string, keys: readonly string[]): Shape =>
  shape(
    `lifecycleStatus.${name}`,
    ['key', keys, 'always'],
    ['label', 'text', 'always'],
    ['tone', ['neutral', 'info', 'success', 'warning', 'danger'], 'always'],
  );
const LIFECYCLE = shape(
  'lifecycleStatus',
  ['flowKind', ['same_chain', 'cross_chain', 'split', 'route'], 'always'],
  ['primary', state('primary', TRADE_STATES), 'always'],
  ['execution', state('execution', ['quoted', 'submitted', 'filled', 'failed']), 'always'],
  ['settlement', state('settlement', ['none', 'open', 'proving', 'finalised', 'refunded']), 'always'],
  ['withdrawal', state('withdrawal', ['none', 'available', 'requested', 'withdrawn']), 'always'],
  ['isTerminal', 'boolean', 'always'],
  ['rank', 'integer', 'always'],
  ['rawStatus', 'text', 'always'],
  ['rawDeferredStatus', 'text', 'always', 'or null'],
);

const MEMBER = shape(
  'member',
  ['userId', 'text', 'always'],
  ['firstName', 'text', 'always'],
  ['lastName', 'text', 'always'],
  ['email', 'text', 'always'],
  ['role', 'text', 'always'],
  ['kycStatus', 'text', 'always'],
  ['joinedAt', 'date-time', 'always'],
);
const PRICE = shape(
  'executionPrice',
  ['source', ['stored_quote_price'], 'always'],
  ['value', 'text', 'always'],
  ['baseSymbol', 'text', 'always'],
  ['quoteSymbol', 'text', 'always'],
);
const PATH = shape(
  'routingPath',
  ['type', ['direct', 'via_broker'], 'always'],
  ['brokerWorkspaceId', 'text', 'always', 'or null'],
  ['brokerName', 'text', 'always', 'or null'],
);
const DEFERRED = shape(
  'deferredSettlement',
  ['stage', ['executed', 'available', 'requested', 'withdrawn'], 'always'],
  ['autoWithdraw', 'boolean', 'always'],
  ['executedAt', 'date-time', 'always'],
  ['estimatedSettlementAvailableAt', 'date-time', 'always', 'or null'],
  ['settlementWindowHours', 'integer', 'always'],
  ['withdrawalStatus', 'text', 'always', 'or null'],
  ['withdrawalTrackingId', 'text', 'always', 'or null'],
  ['withdrawalTxHash', 'hex', 'always', 'or null'],
);

export type Reader = 'admin' | 'viewer';
const restricted = (reader: Reader): Rule =>
  reader === 'admin' ? 'always' : { when: 'for owners and admins', so: () => false };

const item = (reader: Reader): Row[] => [
  ['orderId', 'hex', 'always'],
  ['createdAt', 'date-time', 'always'],
  ['sourceChain', 'text', 'always'],
  ['destChain', 'text', 'always'],
  ['route', shape('route', ['input', LEG, 'always'], ['output', LEG, 'always']), 'always'],
  ['amountUsd', 'number', 'always', 'or null'],
  ['lpName', 'text', 'always'],
  ['lpSource', ['roster', 'external'], 'always'],
  ['routingPathLabel', 'text', 'always'],
  ['status', ['pending', 'settled', 'failed'], 'always'],
  ['settlementStatus', TRADE_STATES, 'always'],
  ['lifecycleStatus', LIFECYCLE, 'always'],
  ['executionPrice', PRICE, 'always', 'or null'],
  ['member', MEMBER, restricted(reader), 'or null'],
  ['routingPath', PATH, 'always'],
  ['orderKind', ['rfq_direct', 'rfq_split', 'route_dex', 'route_composite'], 'always'],
  ['deferredSettlement', DEFERRED, 'always', 'or null'],
  ['settlementSpeedMs', 'integer', 'always', 'or null'],
  ['slippageBps', 'integer', 'always', 'or null'],
];
const ITEM = {
  admin: shape('Trade list item', ...item('admin')),
  viewer: shape('Trade list item (viewer)', ...item('viewer')),
};
export const trades = (reader: Reader): Shape =>
  shape(
    'List envelope',
    ['items', { each: ITEM[reader] }, 'always'],
    ['total', 'integer', 'always'],
    ['offset', 'integer', 'always'],
    ['limit', 'integer', 'always'],
  );

/* Dossier */

const TRANSACTION: Row[] = [
  ['txHash', 'hex', 'always'],
  ['chainId', 'integer', 'always'],
  ['blockNumber', 'integer', 'always'],
  ['at', 'date-time', 'always'],
  ['gasUsed', 'base units', 'always', 'or null'],
  ['feeUsd', 'number', 'always', 'or null'],
];
const STAGE = shape('stage transaction', ...TRANSACTION);
const STAGES = shape(
  'stages',
  ['submit', STAGE, 'always', 'or null'],
  ['fill', STAGE, 'always', 'or null'],
  ['proof', STAGE, 'always', 'or null'],
  ['finalise', STAGE, 'always', 'or null'],
);
const SETTLEMENT = shape(
  'settlement',
  ['stages', STAGES, 'always'],
  [
    'transactions',
    {
      each: shape(
        'transactions[]',
        ['kind', ['submit', 'fill', 'proof', 'finalise', 'refund'], 'always'],
        ...TRANSACTION,
      ),
    },
    'always',
  ],
);

const SLICE = shape(
  'lp.slices[]',
  ['solverId', 'text', 'always'],
  ['name', 'text', 'always'],
  ['account', 'hex', 'always', 'or null'],
  ['portionBps', 'integer', 'always', 'or null'],
  ['outputAmount', 'base units', 'always'],
  ['deliveredAmount', 'base units', 'always', 'or null'],
);
const LP = shape(
  'lp',
  ['id', 'text', 'always'],
  ['name', 'text', 'always'],
  ['kind', 'text', 'always'],
  ['spreadBps', 'integer', 'always', 'or null'],
  ['slices', { each: SLICE }, 'always'],
);

const FEE = shape(
  'fee',
  ['amount', 'base units', 'always'],
  ['asset', 'text', 'always'],
  ['usd', 'number', 'always', 'or null'],
);
const FEES = shape(
  'fees',
  ['gas', FEE, 'always'],
  ['protocolFee', FEE, 'always'],
  ['solverFee', FEE, 'always'],
  ['relayerTip', FEE, 'always'],
  ['venueFees', { each: FEE }, 'may be left out'],
);

const CHECKED = shape(
  'screening check',
  ['provider', 'text', 'always'],
  ['listVersion', 'text', 'always', 'or null'],
  ['decision', ['allowed', 'denied', 'unknown'], 'always'],
  ['reason', ['listed', 'not_listed', 'unavailable', 'unavailable_let_through'], 'always'],
  ['at', 'date-time', 'always'],
);
const DECISION = ['allowed', 'denied', 'unknown', 'not_screened'] as const;
const PARTY = shape(
  'screened party',
  ['address', 'hex', 'always'],
  ['decision', DECISION, 'always'],
  ['checks', { each: CHECKED }, 'always'],
);
const COMPLIANCE = shape(
  'compliance',
  ['decision', DECISION, 'always'],
  ['taker', PARTY, 'always'],
  ['receiver', PARTY, 'always'],
);

const TRAVEL_RULE = shape(
  'travelRuleTransmission',
  ['attempt', 'integer', 'always'],
  ['state', ['due', 'sending', 'transmitted', 'failed', 'unknown', 'abandoned'], 'always'],
  ['thresholdUsd', 'number', 'always'],
  ['amountUsd', 'number', 'always', 'or null'],
  ['dueAt', 'date-time', 'always'],
  ['startedAt', 'date-time', 'always', 'or null'],
  ['endedAt', 'date-time', 'always', 'or null'],
  ['transmitter', 'text', 'always', 'or null'],
  ['reference', 'text', 'always', 'or null'],
  ['detail', 'text', 'always', 'or null'],
  ['messageSha256', 'text', 'always', 'or null'],
);

const PLACE: Row[] = [
  ['proves', 'text', 'always'],
  ['chainId', 'integer', 'always'],
  ['contract', 'hex', 'always'],
  ['txHash', 'hex', 'always'],
  ['blockNumber', 'integer', 'always'],
  ['blockHash', 'hex', 'always'],
  ['at', 'unix seconds', 'always'],
];
const FILL = shape(
  'receipt fill',
  ['outputIndex', 'integer', 'always'],
  ['outputHash', 'hex', 'always'],
  ['solver', 'hex', 'always'],
  ['timestamp', 'unix seconds', 'always'],
  ['amount', 'base units', 'always'],
);
const PROOFS = shape(
  'complianceProofs',
  [
    'takerSignature',
    shape(
      'takerSignature',
      ['proves', 'text', 'always'],
      ['scheme', ['EIP712', 'EIP1271'], 'always'],
      ['signer', 'hex', 'always'],
      ['digest', 'hex', 'always'],
      ['signature', 'hex', 'always'],
    ),
    'always',
  ],
  [
    'commitments',
    {
      each: shape(
        'commitments[]',
        ['proves', 'text', 'always'],
        ['outputIndex', 'integer', 'always'],
        ['lp', 'hex', 'always'],
        ['quoteId', 'hex', 'always'],
        ['deadline', 'unix seconds', 'always'],
        ['digest', 'hex', 'always'],
        ['signature', 'hex', 'always'],
      ),
    },
    'always',
  ],
  [
    'checksum',
    shape('checksum', ['proves', 'text', 'always'], ['value', 'text', 'always']),
    'always',
    'or null',
  ],
  [
    'receipts',
    {
      each: shape(
        'receipts[]',
        ...PLACE,
        ['event', ['Open', 'OutputFilled', 'Finalised', 'Refunded'], 'always'],
        ['fill', FILL, 'always', 'or null'],
      ),
    },
    'always',
  ],
  [
    'attestations',
    {
      each: shape(
        'attestations[]',
        ...PLACE,
        ['outputIndex', 'integer', 'always'],
        ['remoteChainId', 'integer', 'always'],
        ['application', 'hex', 'always'],
        ['payloadHash', 'hex', 'always'],
      ),
    },
    'always',
  ],
);

const INTENT_OUTPUT = shape(
  'intent output',
  ['token', 'hex', 'always'],
  ['amount', 'base units', 'always'],
  ['recipient', 'hex', 'always'],
  ['chainId', 'integer', 'always'],
);
const INTENT = shape(
  'intent',
  ['standard', ['ERC-7683'], 'always'],
  ['orderId', 'hex', 'always'],
  ['quoteId', 'hex', 'always'],
  ['originSettler', 'hex', 'always'],
  ['user', 'hex', 'always'],
  ['nonce', 'base units', 'always'],
  ['originChainId', 'integer', 'always'],
  ['openDeadline', 'unix seconds', 'always'],
  ['fillDeadline', 'unix seconds', 'always'],
  ['expires', 'unix seconds', 'always'],
  ['orderDataType', 'hex', 'always'],
  ['orderData', 'hex', 'always'],
  [
    'resolved',
    shape(
      'resolved',
      ['maxSpent', { each: INTENT_OUTPUT }, 'always'],
      ['minReceived', { each: INTENT_OUTPUT }, 'always'],
      [
        'fillInstructions',
        {
          each: shape(
            'fillInstructions[]',
            ['destinationChainId', 'integer', 'always'],
            ['destinationSettler', 'hex', 'always'],
            ['originData', 'hex', 'always'],
          ),
        },
        'always',
      ],
    ),
    'always',
  ],
  ['typedData', 'object', 'always'],
  [
    'funding',
    shape(
      'funding',
      ['mode', ['self', 'permit2Grant', 'permit2Lock', 'eip3009', 'resourceLock'], 'always', 'or null'],
      ['data', 'hex', 'always'],
    ),
    'always',
  ],
  [
    'signatures',
    shape(
      'signatures',
      [
        'taker',
        shape(
          'signatures.taker',
          ['scheme', ['EIP712', 'EIP1271'], 'always'],
          ['signature', 'hex', 'always'],
        ),
        'always',
      ],
      [
        'commitments',
        {
          each: shape(
            'signatures.commitments[]',
            ['lp', 'hex', 'always'],
            ['deadline', 'unix seconds', 'always'],
            ['signature', 'hex', 'always'],
          ),
        },
        'always',
      ],
    ),
    'always',
  ],
);

const kindOf = (answer: Holder): string => (answer['trade'] as Holder)['orderKind'] as string;

export const dossier = (reader: Reader): Shape =>
  shape(
    'Trade dossier',
    [
      'trade',
      shape(
        'dossier trade',
        ...item(reader),
        ['filledAt', 'date-time', 'always', 'or null'],
        ['slippageToleranceBps', 'integer', 'always'],
      ),
      'always',
    ],
    ['settlement', SETTLEMENT, 'always'],
    ['lp', LP, 'always'],
    [
      'orderKind',
      ['route_dex', 'route_composite'],
      { when: 'on routes', so: (_, answer) => kindOf(answer).startsWith('route') },
    ],
    ['substatus', 'text', 'always'],
    ['substatusMessage', 'text', 'always'],
    [
      'legs',
      { each: 'object' },
      { when: 'on routes of several legs', so: (_, answer) => kindOf(answer) === 'route_composite' },
    ],
    ['member', MEMBER, restricted(reader), 'or null'],
    ['compliance', COMPLIANCE, restricted(reader)],
    ['snapshotCompliance', COMPLIANCE, restricted(reader), 'or null'],
    ['travelRuleTransmission', TRAVEL_RULE, restricted(reader), 'or null'],
    ['complianceProofs', PROOFS, restricted(reader), 'or null'],
    ['intent', INTENT, restricted(reader), 'or null'],
    ['fees', FEES, reader === 'admin' ? 'may be left out' : restricted(reader)],
  );

/** Everything that an administrator's answers are made of. */
export const TRADE_SHAPES: readonly Shape[] = [
  trades('admin'),
  ITEM.admin,
  LEG,
  LEG_ASSET,
  LIFECYCLE,
  PRICE,
  MEMBER,
  PATH,
  DEFERRED,
  dossier('admin'),
  SETTLEMENT,
  STAGES,
  STAGE,
  LP,
  SLICE,
  FEES,
  FEE,
  COMPLIANCE,
  PARTY,
  CHECKED,
  TRAVEL_RULE,
  PROOFS,
  FILL,
  INTENT,
  INTENT_OUTPUT,
];
