/** Recomputes every step of a preflight plan from the checked candidate, or refuses the whole plan. */

import {
  decodeFunctionData,
  encodeFunctionData,
  erc20Abi,
  hashTypedData,
  parseAbi,
  type TypedDataDefinition,
} from 'viem';
import { type Address, type Hex, isBytes32 } from '../domain/hex.ts';
import type { Action, FundingLock, PreflightResponse } from '../protocol/api/preflight.ts';
import { DistrustError, type DistrustCode } from './errors.ts';
import type { Terms } from './terms.ts';
import { ESCROW_ABI } from './trust.ts';
import { type AuthorizationWindow, permit2Lock, receiveAuthorization, type TypedData } from './typed-data.ts';

export type Step =
  /** `alternative`: not needed when the lock of this trade is signed instead. */
  | {
      kind: 'transaction';
      purpose: Exclude<Action['purpose'], SignedPurpose>;
      to: Address;
      data: Hex;
      rerun: boolean;
      alternative: boolean;
    }
  | { kind: 'permit2Lock'; typedData: TypedData; deadline: number }
  | {
      kind: 'eip3009Authorization';
      typedData: TypedData;
      validAfter: number;
      validBefore: number;
      nonce: Hex;
    }
  | { kind: 'orderSignature' };
type SignedPurpose = 'permit2Lock' | 'eip3009Authorization' | 'orderSignature' | 'legDelivery' | 'legQuote';

export interface Plan {
  ready: boolean;
  fundingLock: FundingLock | null;
  /** The steps in order. Calldata and typed data are the client's own. */
  steps: Step[];
}

export interface Approvals {
  /** Approves Permit2 for any amount, once. */
  unlimitedPermit2?: boolean;
  /** Trades of this size that a standing grant or approval may cover. Default 10. */
  tradesAhead?: number;
}

const PERMIT2_ABI = parseAbi([
  'function approve(address token, address spender, uint160 amount, uint48 expiration)',
]);
/** A lock may outlive the fill deadline by this much. */
const LOCK_MARGIN_SECONDS = 3_600n;
/** Venues ask for an allowance of about this many trades. */
const TRADES_ASKED = 10;
const GRANT_SECONDS = 32 * 24 * 3_600;

/** The purposes that may follow from each lock. */
const PURPOSES: Record<FundingLock | 'none', readonly Action['purpose'][]> = {
  Permit2: ['tokenApproval', 'permit2Grant', 'permit2Lock', 'orderSignature'],
  'EIP-3009': ['eip3009Authorization', 'orderSignature'],
  ResourceLock: ['tokenApproval', 'resourceLockDeposit', 'orderSignature'],
  none: ['tokenApproval', 'orderSignature', 'settlementBroadcast'],
};

interface Context {
  terms: Terms;
  permit2: Address;
  lock: FundingLock | null;
  now: number;
  /** Limits of a standing approval or grant: the caller's, and what a venue may ask for. */
  most: bigint;
  mostAsked: bigint;
  unlimitedPermit2: boolean;
}

const refuse = (code: DistrustCode, message: string): never => {
  throw new DistrustError(code, message);
};

export function readPlan(
  answer: PreflightResponse,
  terms: Terms,
  {
    permit2,
    now,
    unlimitedPermit2 = false,
    tradesAhead = TRADES_ASKED,
  }: { permit2: Address; now: number } & Approvals,
): Plan {
  if (answer.quoteId !== terms.quoteId) refuse('quote_id', `The plan is for quote ${answer.quoteId}.`);
  const lock = answer.fundingLock ?? null;
  if ((terms.executionMode === 'walletBroadcast') !== (lock === null))
    refuse('action_unexpected', 'Only orders that the venue sends have a lock.');
  const purposes = answer.nextActions.map(({ purpose }) => purpose);
  const extra = purposes.find(
    (purpose, index) =>
      !PURPOSES[lock ?? 'none'].includes(purpose) ||
      (purposes.indexOf(purpose) !== index && !resetsBefore(answer.nextActions, index)),
  );
  if (extra)
    refuse(
      'action_unexpected',
      `The plan asks for ${extra}, which does not belong to ${lock ?? 'walletBroadcast'}.`,
    );
  const context: Context = {
    terms,
    permit2,
    lock,
    now,
    most: terms.inputAmount * BigInt(tradesAhead),
    mostAsked: terms.inputAmount * BigInt(Math.max(tradesAhead, TRADES_ASKED)),
    unlimitedPermit2,
  };
  return {
    ready: answer.ready,
    fundingLock: lock,
    steps: answer.nextActions.map((action) => readAction(action, context)),
  };
}

/**
 * Returns true for a reset before an approval: some tokens change an allowance only from or to zero (USDT).
 */
function resetsBefore(actions: readonly Action[], index: number): boolean {
  const [reset, action] = [actions[index - 1], actions[index]];
  return (
    index === 1 &&
    action?.purpose === 'tokenApproval' &&
    reset?.purpose === 'tokenApproval' &&
    /^0{64}$/.test(reset.tx?.data.slice(74) ?? '')
  );
}

function readAction(action: Action, context: Context): Step {
  const { domain, order } = context.terms;
  if (action.chainId !== domain.chainId)
    refuse('action_chain', `${action.purpose} is on chain ${action.chainId}, not ${domain.chainId}.`);
  if (action.type === 'signature') return readSignature(action, context);
  const { tx, purpose } = action;
  if (!tx || action.typedData)
    return refuse('action_unexpected', `${purpose} is a transaction and carries none.`);
  if (tx.chainId !== domain.chainId)
    refuse(
      'action_chain',
      `The transaction for ${purpose} is for chain ${tx.chainId}, not ${domain.chainId}.`,
    );
  if (lower(tx.from) !== order.user)
    refuse('action_sender', `The transaction for ${purpose} is to be sent by ${tx.from}, not by the taker.`);
  if (tx.value !== '0')
    refuse('action_value', `${purpose} would send ${tx.value} wei; no step sends native currency.`);
  const made = transactionOf(purpose, { to: lower(tx.to), data: tx.data as Hex }, context);
  return {
    kind: 'transaction',
    purpose: purpose as Exclude<Action['purpose'], SignedPurpose>,
    ...made,
    rerun: action.after.includes('rerunPreflight'),
    alternative: purpose === 'permit2Grant',
  };
}

interface Tx {
  to: Address;
  data: Hex;
}

function transactionOf(purpose: Action['purpose'], tx: Tx, context: Context): Tx {
  switch (purpose) {
    case 'tokenApproval':
      return approval(tx, context);
    case 'permit2Grant':
      return grant(tx, context);
    case 'resourceLockDeposit':
      return deposit(tx, context);
    case 'settlementBroadcast':
      return settlement(tx, context);
    default:
      return refuse('action_unexpected', `${purpose} is a signature, not a transaction.`);
  }
}

/** Permit2 for a Permit2 lock, else the escrow and no more than this trade. */
function approval({ to, data }: Tx, { terms, permit2, lock, most, unlimitedPermit2 }: Context): Tx {
  const { inputToken, inputAmount, domain } = terms;
  if (to !== inputToken) refuse('action_token', `The approval is of ${to}; the order takes ${inputToken}.`);
  const [spender, asked] = decoded(() => decodeFunctionData({ abi: erc20Abi, data }), 'approve') as [
    Address,
    bigint,
  ];
  const wanted = lock === 'Permit2' ? permit2 : domain.escrow;
  if (lower(spender) !== wanted) refuse('action_spender', `The approval is for ${spender}, not ${wanted}.`);
  if (asked < 0n || (lock !== 'Permit2' && asked > inputAmount))
    refuse('action_amount', `The approval is for ${asked}; the order takes ${inputAmount}.`);
  // Permit2 needs another signature, so a standing approval is safe, up to the caller's limit.
  const amount = lock === 'Permit2' && !unlimitedPermit2 && asked > most ? most : asked;
  return { to, data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [wanted, amount] }) };
}

function grant({ to, data }: Tx, { terms, permit2, most, mostAsked, now }: Context): Tx {
  if (to !== permit2) refuse('action_target', `The grant goes to ${to}; Permit2 is ${permit2}.`);
  const [token, spender, amount, expiration] = decoded(
    () => decodeFunctionData({ abi: PERMIT2_ABI, data }),
    'approve',
  ) as [Address, Address, bigint, number];
  if (lower(token) !== terms.inputToken)
    refuse('action_token', `The grant is of ${token}; the order takes ${terms.inputToken}.`);
  if (lower(spender) !== terms.domain.escrow)
    refuse('action_spender', `The grant is for ${spender}, not the escrow.`);
  if (amount > mostAsked)
    refuse('action_amount', `The grant is for ${amount}; at most ${mostAsked} was expected.`);
  if (expiration > now + GRANT_SECONDS)
    refuse('action_window', `The grant lasts until ${expiration}, longer than ${GRANT_SECONDS} s.`);
  return {
    to,
    data: encodeFunctionData({
      abi: PERMIT2_ABI,
      functionName: 'approve',
      args: [terms.inputToken, terms.domain.escrow, amount < most ? amount : most, expiration],
    }),
  };
}

function deposit({ to, data }: Tx, { terms }: Context): Tx {
  if (to !== terms.domain.escrow)
    refuse('action_target', `The deposit goes to ${to}; the escrow is ${terms.domain.escrow}.`);
  const [token, amount] = decoded(() => decodeFunctionData({ abi: ESCROW_ABI, data }), 'deposit') as [
    Address,
    bigint,
  ];
  if (lower(token) !== terms.inputToken)
    refuse('action_token', `The deposit is of ${token}; the order takes ${terms.inputToken}.`);
  if (amount > terms.inputAmount)
    refuse('action_amount', `The deposit is of ${amount}; the order takes ${terms.inputAmount}.`);
  return {
    to,
    data: encodeFunctionData({ abi: ESCROW_ABI, functionName: 'deposit', args: [terms.inputToken, amount] }),
  };
}

function settlement({ to, data }: Tx, { terms }: Context): Tx {
  const { domain, order, commitments, quoteId, destChainId, through } = terms;
  if (to !== domain.escrow)
    refuse('action_target', `The order goes to ${to}; its escrow is ${domain.escrow}.`);
  const tuple = {
    ...order,
    inputs: order.inputs.map(([token, amount]) => [token, amount] as const),
    outputs: [...order.outputs],
  };
  const own =
    destChainId !== domain.chainId
      ? encodeFunctionData({ abi: ESCROW_ABI, functionName: 'open', args: [tuple] })
      : through
        ? encodeFunctionData({
            abi: ESCROW_ABI,
            functionName: 'settleThrough',
            args: [tuple, '0xff', through.filler, through.data],
          })
        : encodeFunctionData({
            abi: ESCROW_ABI,
            functionName: 'settle',
            args: [
              tuple,
              '0xff',
              commitments.map(({ lp, deadline, signature }) => ({ quoteId, lp, deadline, signature })),
            ],
          });
  if (own !== data.toLowerCase())
    refuse('action_calldata', 'The transaction is not the settlement of the checked order.');
  return { to, data: own };
}

function decoded(
  decode: () => { functionName: string; args?: readonly unknown[] | undefined },
  wanted: string,
): readonly unknown[] {
  try {
    const { functionName, args } = decode();
    if (functionName === wanted && args) return args;
  } catch {
    // Refused below.
  }
  return refuse('action_calldata', `The transaction calls something else than ${wanted}.`);
}

function readSignature(action: Action, { terms, permit2, now }: Context): Step {
  const { purpose, typedData, tx } = action;
  if (!typedData || tx)
    return refuse('action_unexpected', `${purpose} is a signature and carries no payload.`);
  const { payload } = typedData;
  const message = (payload['message'] ?? {}) as Record<string, unknown>;
  switch (purpose) {
    case 'orderSignature':
      if (digestOf(payload) !== terms.digest)
        refuse('action_typed_data', "The plan asks to sign another order than the candidate's.");
      return { kind: 'orderSignature' };
    case 'permit2Lock': {
      const deadline = whole(message['deadline']);
      requireWindow(deadline, terms);
      const own = permit2Lock(terms, permit2, deadline);
      if (digestOf(payload) !== digestOf(own))
        refuse('action_typed_data', "The permit is not this order's to its escrow.");
      return { kind: 'permit2Lock', typedData: own, deadline: Number(deadline) };
    }
    case 'eip3009Authorization': {
      const window: AuthorizationWindow = {
        validAfter: whole(message['validAfter']),
        validBefore: whole(message['validBefore']),
        nonce: String(message['nonce']) as Hex,
      };
      requireWindow(window.validBefore, terms);
      if (!isBytes32(window.nonce) || window.validAfter > BigInt(now))
        refuse('action_window', "The authorization's nonce is not 32 bytes, or its window has not begun.");
      const { name, version } = (payload['domain'] ?? {}) as Record<string, unknown>;
      const own = receiveAuthorization(terms, { name: String(name), version: String(version) }, window);
      if (digestOf(payload) !== digestOf(own))
        refuse('action_typed_data', "The authorization is not of this input to this order's escrow.");
      return {
        kind: 'eip3009Authorization',
        typedData: own,
        validAfter: Number(window.validAfter),
        validBefore: Number(window.validBefore),
        nonce: window.nonce,
      };
    }
    default:
      return refuse('action_unexpected', `${purpose} is a transaction, not a signature.`);
  }
}

function requireWindow(until: bigint, { order }: Terms): void {
  const deadline = BigInt(order.fillDeadline);
  if (until < deadline || until > deadline + LOCK_MARGIN_SECONDS)
    refuse('action_window', `The lock would hold until ${until}; the order may be filled until ${deadline}.`);
}

function whole(value: unknown): bigint {
  const text = String(value);
  return /^[0-9]{1,78}$/.test(text)
    ? BigInt(text)
    : refuse('action_window', `"${text.slice(0, 80)}" is no time.`);
}

function digestOf(payload: object): Hex | undefined {
  try {
    return hashTypedData(payload as TypedDataDefinition);
  } catch {
    return undefined;
  }
}

const lower = (address: string): Address => address.toLowerCase() as Address;
