/**
 * What can go wrong between a client and a venue, each with a name to branch on: the venue refused, it lied,
 * it did not answer, the wallet cannot.
 */

import {
  BaseError,
  type ErrorFacts,
  RequestError,
  SettlementError,
  UpstreamError,
} from '../domain/errors.ts';
import { type Detail, ERROR_STATUS, type ErrorCode, type RefusalType, REFUSALS } from '../protocol/errors.ts';

/** 422 `type`s of plain validation: the request itself has the wrong shape. */
export const VALIDATION_CODES = [
  'missing',
  'extra_forbidden',
  'enum',
  'too_big',
  'too_small',
  'string_type',
  'int_type',
  'number_type',
  'object_type',
  'array_type',
  'boolean_type',
  'record_type',
  'tuple_type',
] as const;

/**
 * Every code a venue of this version answers with; `unknown_error` stands for one that a newer venue made up
 * (its own word is in `facts.code`).
 */
export type VenueErrorCode = ErrorCode | RefusalType | (typeof VALIDATION_CODES)[number] | 'unknown_error';

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(ERROR_STATUS), ...REFUSALS, ...VALIDATION_CODES]);

/** The venue answered, and said no. `retry` is "later" where it said when, or where it was its own fault. */
export class VenueError extends BaseError {
  declare readonly code: VenueErrorCode;
  readonly status: number;
  /** 422 only: what does not hold, and where. */
  readonly details: readonly Detail[];
  readonly retryAfterSeconds: number | null;

  constructor({
    status,
    code,
    message,
    details = [],
    retryAfterSeconds = null,
  }: {
    status: number;
    code: string;
    message: string;
    details?: readonly Detail[];
    retryAfterSeconds?: number | null;
  }) {
    super(message, {
      code: KNOWN.has(code) ? code : 'unknown_error',
      facts: { status, code },
      retry: retryAfterSeconds !== null || status >= 500 ? 'later' : 'never',
    });
    this.status = status;
    this.details = details;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** Every way in which a venue is caught. The message says which value was shown and which one is true. */
export const DISTRUST_CODES = [
  // Answers
  'malformed_answer',
  'not_checked',
  'quote_id',
  'solver',
  // Terms, against what was asked and against what would be signed
  'order_missing',
  'envelope',
  'chain',
  'escrow',
  'escrow_code',
  'escrow_domain',
  'taker',
  'receiver',
  'input_asset',
  'input_amount',
  'output_asset',
  'output_amount',
  'minimum_amount',
  'price_limit',
  'preview',
  'decimals',
  'oracle',
  'settler',
  'callback',
  'context',
  'exclusivity',
  'split',
  'composite',
  'platform_fee',
  'relay_fee',
  'gas',
  'clock_law',
  'validity',
  'lock_up',
  'expired',
  'nonce_used',
  // Firmness
  'commitments',
  'commitment_signature',
  'operator',
  'ledger_balance',
  'withdrawal_delay',
  // Plans
  'action_unexpected',
  'action_chain',
  'action_sender',
  'action_value',
  'action_target',
  'action_spender',
  'action_token',
  'action_amount',
  'action_calldata',
  'action_typed_data',
  'action_window',
  // After submission
  'order_id',
  'not_settled',
] as const;
export type DistrustCode = (typeof DISTRUST_CODES)[number];

/**
 * The venue's word does not hold against the request, the payload or the chain: nothing was signed or sent.
 * Never retried; use another venue, or look why.
 */
export class DistrustError extends BaseError {
  declare readonly code: DistrustCode;

  constructor(code: DistrustCode, message: string, facts: ErrorFacts = {}) {
    super(message, { code, facts });
  }
}

/** No answer: the network, the venue's host or the caller's own RPC. */
export class UnreachableError extends UpstreamError {
  constructor(what: string, cause: unknown) {
    super(`${what} did not answer. Try again; nothing that was signed is lost.`, {
      code: 'unreachable',
      cause,
    });
  }
}

/**
 * A submission may or may not have arrived. Submit the same candidate and signature again: the same
 * Idempotency-Key goes with it, so it can only happen once.
 */
export class SubmissionUnknownError extends UpstreamError {
  readonly idempotencyKey: string;

  constructor(idempotencyKey: string, cause: unknown) {
    super(
      'The venue did not answer the submission, so it is not known whether it arrived. Submit the same again: the key that goes with it makes that safe.',
      { code: 'submission_unknown', facts: { idempotencyKey }, cause },
    );
    this.idempotencyKey = idempotencyKey;
  }
}

/** `productUnavailable`: no LP can quote this now. */
export class NoQuoteError extends UpstreamError {
  constructor(code: string, message: string) {
    super(message, { code, facts: {} });
  }
}

/** The wallet is another one, on another chain, does not hold enough, or would send what fails. */
export class WalletError extends RequestError {
  constructor(
    code: 'wrong_account' | 'wrong_wallet_chain' | 'insufficient_balance' | 'would_revert',
    message: string,
    facts: ErrorFacts = {},
  ) {
    super(message, { code, facts });
  }
}

/** A transaction of the taker's own wallet reverted. */
export class RevertedError extends SettlementError {
  constructor(purpose: string, txHash: string) {
    super(
      `The transaction for ${purpose} reverted (${txHash}). Nothing was submitted; run preflight again to see what is still needed.`,
      { code: 'action_reverted', facts: { purpose, txHash } },
    );
  }
}
