/** What an order costs and gives, against the caller's limits and what the candidate shows. */

import { isAmount } from '../../domain/amount.ts';
import type { OutputContext } from '../../domain/context.ts';
import { matchLegs, type ReadCandidate } from '../candidate.ts';
import { DEFAULT_LIMITS, type Limits, type TradeRequest } from '../request.ts';
import { must } from './must.ts';
import type { Sides } from './sides.ts';

/** Throws `DistrustError` when fees are above the limits, or not as the candidate shows them. */
export function matchFees(
  { platformFeeBps: shown, gas, executionMode }: ReadCandidate,
  { maxPlatformFeeBps = DEFAULT_LIMITS.maxPlatformFeeBps, maxRelayFee, maxInput }: Limits,
  contexts: OutputContext[],
  inputAmount: bigint,
): { platformFeeBps: number; relayFee: bigint } {
  const platformFeeBps = contexts[0]?.feeBps ?? 0;
  must(
    platformFeeBps <= maxPlatformFeeBps,
    'platform_fee',
    `The platform fee is ${platformFeeBps} bps; at most ${maxPlatformFeeBps} was expected.`,
  );
  must(
    shown === undefined || shown === null || shown === platformFeeBps,
    'preview',
    `The candidate shows a platform fee of ${shown} bps, the order ${platformFeeBps}.`,
  );
  const relayFee = contexts.reduce((sum, context) => sum + context.relayFee, 0n);
  const mostRelayFee = maxRelayFee ?? inputAmount / 20n;
  must(
    relayFee <= mostRelayFee,
    'relay_fee',
    `The relay fee is ${relayFee}; at most ${mostRelayFee} was expected. Set \`maxRelayFee\` for small trades.`,
  );
  must(
    executionMode !== 'apiSubmit' || !gas || gas.native === '0',
    'gas',
    `The venue sends the transaction and still asks for ${gas?.native} wei of gas.`,
  );
  must(
    maxInput === undefined || inputAmount <= maxInput,
    'price_limit',
    `The order takes ${inputAmount}; you give at most ${maxInput}.`,
  );
  return { platformFeeBps, relayFee };
}

/**
 * Throws `DistrustError` when the order enforces less than the candidate shows or the request wants.
 * `committed`: LPs committed to the whole amount.
 */
export function matchAmounts(
  shown: ReadCandidate,
  { input, output }: TradeRequest,
  { minOutput, maxSlippageBps = DEFAULT_LIMITS.maxSlippageBps }: Limits,
  { inputAmount, outputAmount: enforced }: Pick<Sides, 'inputAmount' | 'outputAmount'>,
  { committed }: { committed: boolean },
): void {
  const [out] = shown.preview.outputs;
  must(out !== undefined && isAmount(out.amount), 'preview', 'The preview shows no output.');
  const promised = BigInt(out.amount);
  if (shown.sequential) {
    must(
      (out.minimumAmount ?? null) === null,
      'minimum_amount',
      'A sequential route enforces no final minimum, but the preview shows one.',
    );
    must(
      minOutput === undefined || promised >= minOutput,
      'price_limit',
      `The route gives ${promised}; you want at least ${minOutput}.`,
    );
  } else {
    must(
      output.amount === undefined || enforced === output.amount,
      'output_amount',
      `The order enforces ${enforced}; the request wants ${output.amount}.`,
    );
    must(
      out.minimumAmount === enforced.toString(),
      'minimum_amount',
      `The preview's minimum is ${out.minimumAmount}; the order enforces ${enforced}.`,
    );
    must(
      minOutput === undefined || enforced >= minOutput,
      'price_limit',
      `The order enforces ${enforced}; you want at least ${minOutput}.`,
    );
    must(
      committed ? promised === enforced : promised >= enforced,
      'preview',
      `The preview shows ${promised} coming out; the order enforces ${enforced}.`,
    );
    must(
      (promised - enforced) * 10_000n <= promised * BigInt(maxSlippageBps),
      'minimum_amount',
      `The preview shows ${promised}, the escrow enforces ${enforced}: more than ${maxSlippageBps} bps apart.`,
    );
  }
  matchLegs(shown, {
    input: input.asset.toLowerCase(),
    output: output.asset.toLowerCase(),
    inputAmount,
    enforced,
  });
}
