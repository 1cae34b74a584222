/** Failures of the wallet, the venue or the client, in words. */

/** A wallet's refusal is long; its first sentence says it. */
export const failureText = (error: Error & { shortMessage?: string }): string =>
  error.shortMessage ?? error.message ?? 'The wallet refused.';
