/** Client errors with codes: the venue refused, gave a false answer or none, or the wallet failed. */

import {
  BaseError,
  type ErrorFacts,
  RequestError,
  SettlementError,
  UpstreamError,
} from '../domain/errors.ts';
import { type Detail, ERROR_STATUS, type ErrorCode, type RefusalType, REFUSALS } from '../protocol/errors.ts';

/** 422 `type`s of plain validation. */
export const VALIDATION_CODES = [
  ...(['missing', 'extra_forbidden', 'enum', 'too_big', 'too_small', 'string_type', 'int_type'] as const),
  ...(['number_type', 'object_type', 'array_type', 'boolean_type', 'record_type', 'tuple_type'] as const),
] as const;

/** The venue's codes. `unknown_error`: a code of a newer venue, which is in `facts.code`. */
export type VenueErrorCode = ErrorCode | RefusalType | (typeof VALIDATION_CODES)[number] | 'unknown_error';

const KNOWN: ReadonlySet<string> = new Set([...Object.keys(ERROR_STATUS), ...REFUSALS, ...VALIDATION_CODES]);

/** The venue refused. `retry` is "later" when it said when, or when it was its own fault. */
export class VenueError extends BaseError {
  declare readonly code: VenueErrorCode;
  readonly status: number;
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

/** The message says which value was shown and which one is true. */
export const DISTRUST_CODES = [
  'malformed_answer',
  'not_checked',
  'payout',
  'quote_id',
  'solver',
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
  'commitments',
  'commitment_signature',
  'operator',
  'ledger_balance',
  'operator_limit',
  'bond',
  'withdrawal_delay',
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
  'order_id',
  'not_settled',
] as const;
export type DistrustCode = (typeof DISTRUST_CODES)[number];

/** The venue's answer contradicts the request, the payload or the chain. Never retried; use another venue. */
export class DistrustError extends BaseError {
  declare readonly code: DistrustCode;

  constructor(code: DistrustCode, message: string, facts: ErrorFacts = {}) {
    super(message, { code, facts });
  }
}

export class UnreachableError extends UpstreamError {
  constructor(what: string, cause: unknown) {
    super(`${what} did not answer. Try again; nothing that was signed is lost.`, {
      code: 'unreachable',
      cause,
    });
  }
}

/** The submission may have arrived. Submitting the same candidate and signature again is safe. */
export class SubmissionUnknownError extends UpstreamError {
  readonly idempotencyKey: string;

  constructor(idempotencyKey: string, cause: unknown) {
    super(
      'The submission got no answer and may have arrived. Submit it again: its idempotency key makes that safe.',
      { code: 'submission_unknown', facts: { idempotencyKey }, cause },
    );
    this.idempotencyKey = idempotencyKey;
  }
}

/** Thrown without a quote. `productUnavailable`: no LP can quote now. */
export class NoQuoteError extends UpstreamError {
  constructor(code: string, message: string) {
    super(message, { code, facts: {} });
  }
}

/** The wallet has another account or chain, holds too little, or would send a transaction that fails. */
export class WalletError extends RequestError {
  constructor(
    code: 'wrong_account' | 'wrong_wallet_chain' | 'insufficient_balance' | 'would_revert',
    message: string,
    facts: ErrorFacts = {},
  ) {
    super(message, { code, facts });
  }
}

export class RevertedError extends SettlementError {
  constructor(purpose: string, txHash: string) {
    super(
      `The transaction for ${purpose} reverted (${txHash}). Nothing was submitted; run preflight again.`,
      { code: 'action_reverted', facts: { purpose, txHash } },
    );
  }
}
