/** A route venue's order: one output, exclusive to the account or filler that fills it. */

import type { Chain, TokenInfo } from '../../domain/chain.ts';
import { recipientOf, type Settlement } from '../../domain/delivery.ts';
import { encodeContext, FULL_PORTION_BPS } from '../../domain/context.ts';
import { type Address, addressToBytes32 } from '../../domain/hex.ts';
import type { StandardOrder } from '../../domain/order.ts';
import { orderTimes, SAME_CHAIN_PROOF_SECONDS } from '../../domain/time.ts';
import type { RouteQuote } from '../../ports/route-venue.ts';

interface RouteOrderTerms {
  origin: Chain;
  dest: Chain;
  inputToken: TokenInfo;
  outputToken: TokenInfo;
  taker: Address;
  receiver: Address;
  settlement: Settlement;
  nonce: bigint;
  platformFeeBps: number;
  relayFee: bigint;
  /** The time from the last valid second until the last fill, in seconds. */
  landingMarginSeconds: number;
  quote: RouteQuote;
}

export function routeOrder({
  origin,
  dest,
  inputToken,
  outputToken,
  taker,
  receiver,
  settlement,
  nonce,
  platformFeeBps,
  relayFee,
  landingMarginSeconds,
  quote,
}: RouteOrderTerms): StandardOrder {
  const sameChain = origin.id === dest.id;
  const times = orderTimes(quote.validUntil, {
    landingMarginSeconds,
    proofWindowSeconds: sameChain ? SAME_CHAIN_PROOF_SECONDS : origin.proofWindowSeconds,
  });
  const { execution } = quote;
  return {
    user: taker,
    nonce,
    originChainId: BigInt(origin.id),
    expires: times.expires,
    fillDeadline: times.fillDeadline,
    inputOracle: sameChain ? origin.escrow : origin.oracle,
    inputs: [[BigInt(inputToken.address), quote.inputAmount]],
    outputs: [
      {
        oracle: addressToBytes32(sameChain ? dest.escrow : dest.oracle),
        settler: addressToBytes32(dest.escrow),
        chainId: BigInt(dest.id),
        token: addressToBytes32(outputToken.address),
        amount: quote.minimumOutput,
        ...recipientOf({ settlement, account: receiver }, dest.escrow),
        context: encodeContext({
          exclusiveFor: execution.kind === 'through' ? execution.filler : execution.account,
          startTime: times.fillDeadline + 1,
          portionBps: FULL_PORTION_BPS,
          feeBps: platformFeeBps,
          relayFee,
        }),
      },
    ],
  };
}
