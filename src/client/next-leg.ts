/** The next leg of a sequential route, and what the taker may expect of it. */

import { assetId } from '../domain/asset.ts';
import type { PreflightResponse } from '../protocol/api/preflight.ts';
import { type RouterCandidate, zRouterCandidate } from '../protocol/api/router.ts';
import type { Candidate } from './candidate.ts';
import type { Checked, Expectations } from './check.ts';
import { DistrustError } from './errors.ts';
import { DEFAULT_LIMITS } from './request.ts';

export type NextLeg =
  /** A leg is in progress: ask again later. */
  | { kind: 'waiting' }
  /** No quote now: the taker holds the intermediate asset. */
  | { kind: 'no_quote'; message: string }
  | { kind: 'done' }
  | { kind: 'leg'; candidate: Candidate };

const STANDING: Record<string, NextLeg['kind']> = { legDelivery: 'waiting', legQuote: 'no_quote' };

export function readNextLeg({ ready, nextActions }: PreflightResponse): NextLeg {
  if (!ready && nextActions.length === 0) return { kind: 'done' };
  const wait = nextActions.find(({ type }) => type === 'wait');
  if (wait) {
    const why = wait.details?.['productUnavailable'] as { message?: unknown } | undefined;
    return STANDING[wait.purpose] === 'no_quote'
      ? { kind: 'no_quote', message: String(why?.message ?? 'There is no quote for the next leg now.') }
      : { kind: 'waiting' };
  }
  const offered = nextActions.find(({ purpose }) => purpose === 'orderSignature')?.details?.['quoteResponse'];
  if (offered === undefined) return { kind: 'waiting' };
  const candidate = zRouterCandidate.safeParse(offered);
  if (!candidate.success)
    throw new DistrustError('malformed_answer', 'The next leg that the venue brings is no candidate.');
  return { kind: 'leg', candidate: candidate.data };
}

/**
 * Builds the expectations: the next leg spends only what the one before delivered, with the route's output
 * and receiver.
 */
export function expectationsOfNext(
  { expectations, order, destChainId, outputToken, outputAmount, candidate }: Checked,
  next: Candidate,
): Expectations {
  // These two are amounts of the first leg's input token. This leg spends another one, which the check of
  // `spends` limits.
  const { request, maxInput: _input, maxRelayFee: _relayFee, ...others } = expectations;
  const { maxSlippageBps = DEFAULT_LIMITS.maxSlippageBps, ...limits } = others;
  const shown = BigInt(
    (candidate as Partial<RouterCandidate>).composite?.legs[0]?.output.amount ?? outputAmount,
  );
  const most = shown + (shown * BigInt(maxSlippageBps)) / 10_000n;
  const spends = BigInt(next.preview.inputs[0]?.amount ?? '0');
  if (spends < outputAmount || spends > most)
    throw new DistrustError(
      'input_amount',
      `The next leg spends ${spends}; the one before it delivers between ${outputAmount} and ${most}.`,
    );
  const { minValidUntil: _, ...rest } = request;
  return {
    ...limits,
    maxSlippageBps,
    request: {
      ...rest,
      taker: order.user,
      input: { asset: assetId({ chainId: destChainId, token: outputToken }), amount: spends },
      output: { asset: request.output.asset },
    },
  };
}
