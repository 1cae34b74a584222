/** The one error type and its four families: who has to act, and whether trying again can help. */

export type ErrorFacts = Record<string, string | number | bigint | boolean | null | undefined>;

interface ErrorOptions {
  /** Stable, machine readable; the status tables key on it. */
  code: string;
  /** Named values for logs. Never a secret, a signature or an RPC URL. */
  facts?: ErrorFacts;
  cause?: unknown;
  /** May the same call succeed if it is simply made again? */
  retry?: 'never' | 'later';
}

export class BaseError extends Error {
  readonly code: string;
  readonly facts: ErrorFacts;
  readonly retry: 'never' | 'later';

  constructor(message: string, { code, facts = {}, cause, retry = 'never' }: ErrorOptions) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.facts = facts;
    this.retry = retry;
  }
}

/** The caller has to change something; the status comes from the table in `protocol/errors`. */
export class RequestError extends BaseError {}

/** An RPC node, a database, an LP or a feed did not do its part. Later may be better. */
export class UpstreamError extends BaseError {
  constructor(message: string, options: ErrorOptions) {
    super(message, { retry: 'later', ...options });
  }
}

/** The chain said no, or a window closed: becomes an order's `failure {code, message}`. */
export class SettlementError extends BaseError {}

/** Our own bug: logged as fatal, counted, never retried. */
export class InvariantError extends BaseError {
  constructor(message: string, options: Partial<ErrorOptions> = {}) {
    super(message, { code: 'invariant', ...options, retry: 'never' });
  }
}
