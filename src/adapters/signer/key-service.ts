/** Defines what an adapter of a key service does, and how it fails: the same words for every service. */

import { UpstreamError } from '../../domain/errors.ts';

export interface KeyService {
  /** The service's name for logs, metrics and messages, such as `aws-kms`. */
  readonly name: string;
  /** Reads x ‖ y, 64 bytes. Rejects with `KeyServiceFailure`. */
  publicKey(signal: AbortSignal): Promise<Uint8Array>;
  /**
   * Signs keccak256(message): r ‖ s, 64 bytes, s high or low. Nobody has checked it. Rejects with
   * `KeyServiceFailure`.
   */
  sign(request: { message: Uint8Array; digest: Uint8Array }, signal: AbortSignal): Promise<Uint8Array>;
  close(): Promise<void>;
}

export const KEY_FAILURES = [
  /** Too many requests. */
  'throttled',
  /** No connection, or an internal error. */
  'unavailable',
  /** No answer within the time of one request. */
  'timeout',
  /** No valid credentials, or no right to use the key. */
  'denied',
  /** No such key, a disabled one, or one that cannot sign with secp256k1. */
  'no_key',
  /** An answer that nobody can read. */
  'malformed',
  /** A signature by another key, or over something else. */
  'wrong_key',
  /** No answer within the time that the caller had left. */
  'late',
  /** Other signatures were in the way for the whole time. */
  'busy',
] as const;
export type KeyFailure = (typeof KEY_FAILURES)[number];

/** Trying again within seconds can help. */
const PASSING: ReadonlySet<KeyFailure> = new Set(['throttled', 'unavailable', 'timeout', 'malformed']);

const MEANING: Readonly<Record<KeyFailure, string>> = {
  throttled: 'refuses so many requests. Raise its quota, or lower maxConcurrent',
  unavailable: 'cannot be reached or is not working. Check its status and the network',
  timeout: 'does not answer in time. Check its status and the network, or raise timeoutMs',
  denied: 'refuses our credentials. Check them, and their right to sign with this key',
  no_key: 'cannot sign with this key. Check its name, state and kind (secp256k1) in the configuration',
  malformed: 'sends answers that cannot be read. Check that the address is that of a key service',
  wrong_key: 'signs with another key. Check which key the configuration names',
  late: 'did not sign within the time that was left',
  busy: 'has too many signatures of ours to make. Raise maxConcurrent, or quote less',
};

export class KeyServiceFailure extends Error {
  readonly kind: KeyFailure;
  /** The service's own words, without secrets. */
  readonly detail: string;

  constructor(kind: KeyFailure, detail: string, { cause }: { cause?: unknown } = {}) {
    super(`${kind}: ${detail}`, cause === undefined ? undefined : { cause });
    this.kind = kind;
    this.detail = detail.slice(0, 300);
  }

  get passes(): boolean {
    return PASSING.has(this.kind);
  }
}

export const sentenceOf = (service: string, { kind, detail }: KeyServiceFailure): string =>
  `The key service (${service}) ${MEANING[kind]}${detail === '' ? '' : ` (${detail})`}.`;

export class SignerUnavailableError extends UpstreamError {
  readonly kind: KeyFailure;

  constructor(service: string, failure: KeyServiceFailure, { retry }: { retry?: 'never' | 'later' } = {}) {
    super(sentenceOf(service, failure), {
      code: 'signer_unavailable',
      facts: { service, kind: failure.kind },
      cause: failure,
      ...(retry !== undefined && { retry }),
    });
    this.kind = failure.kind;
  }
}
