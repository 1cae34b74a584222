/**
 * The fields of a candidate, as the taker sees them: the quote's terms, reference prices and warnings. Keys
 * stand in canonical order, so that sealing does not sort them.
 */

import { orderEnvelope } from '../../domain/order.ts';
import { assetId } from '../../domain/asset.ts';
import { ORDER_TYPE, type CandidateTerms, WARNINGS } from '../../protocol/api/candidate.ts';
import type { Prices } from '../market/prices.ts';
import type { RfqCandidate } from './rank-quotes.ts';
import type { SolverRequest } from './verify.ts';

interface TermsContext {
  prices: Prices;
  shortValiditySeconds: number;
  farFromMidBps: number;
}

export function candidateTerms(
  asked: SolverRequest,
  { quote, relayTerms, underWatch }: RfqCandidate,
  { prices, ...thresholds }: TermsContext,
): CandidateTerms {
  const { origin, dest, inputToken, outputToken, rfq } = asked;
  const amount = quote.outputAmount.toString();
  const delta = prices.deltaFromMid(inputToken, quote.inputAmount, outputToken, quote.outputAmount);
  const split = quote.slices.length > 1;
  return {
    eta: quote.eta,
    executionMode: relayTerms.executionMode,
    gas: {
      native: relayTerms.takerGasWei.toString(),
      usd: relayTerms.takerGasWei === 0n ? 0 : prices.nativeUsd(origin.native, relayTerms.takerGasWei),
    },
    lpSpreadBps: quote.lpSpreadBps,
    order: {
      payload: orderEnvelope({ chainId: origin.id, escrow: origin.escrow }, quote.order),
      type: ORDER_TYPE,
    },
    platformFeeBps: rfq.platformFeeBps,
    preview: {
      inputs: [
        {
          amount: quote.inputAmount.toString(),
          asset: assetId({ chainId: origin.id, token: inputToken.address }),
          decimals: inputToken.decimals,
          priceUsd: prices.priceUsd(inputToken),
          symbol: inputToken.symbol,
        },
      ],
      outputs: [
        {
          amount,
          amountBeforeFees: quote.amountBeforeFees?.toString() ?? null,
          asset: assetId({ chainId: dest.id, token: outputToken.address }),
          decimals: outputToken.decimals,
          deltaFromMid: delta,
          minimumAmount: amount,
          priceUsd: prices.priceUsd(outputToken),
          receiver: rfq.receiver,
          symbol: outputToken.symbol,
        },
      ],
    },
    quoteId: quote.quoteId,
    routingPath: 'direct',
    solverId: quote.solverId,
    splitFill: split
      ? {
          executionModel: 'atomic',
          fills: quote.slices.map(({ solverId, portionBps, outputAmount }) => ({
            outputAmount: outputAmount.toString(),
            portionBps,
            solverId,
          })),
        }
      : null,
    validUntil: quote.validUntil,
    validity: { minValidUntil: rfq.minValidUntil, validUntil: quote.validUntil },
    warnings: warningsFor(
      { delta, thin: quote.thin, secondsLeft: quote.validUntil - asked.now, underWatch },
      thresholds,
    ),
  };
}

/** Returns the warnings of a candidate, the same in both namespaces. */
export function warningsFor(
  {
    delta,
    thin,
    secondsLeft,
    underWatch,
  }: { delta: number | null; thin: boolean; secondsLeft: number; underWatch: boolean },
  { shortValiditySeconds, farFromMidBps }: Pick<TermsContext, 'shortValiditySeconds' | 'farFromMidBps'>,
): CandidateTerms['warnings'] {
  const warnings: CandidateTerms['warnings'] = [];
  if (delta === null)
    warnings.push({
      code: WARNINGS.noReference,
      message: 'The venue has no reference price for this pair; compare the price yourself.',
    });
  else if (Math.abs(delta) * 10_000 > farFromMidBps)
    warnings.push({
      code: WARNINGS.priceFar,
      message: `The price is ${(delta * 100).toFixed(2)} % from the venue's reference.`,
    });
  if (thin)
    warnings.push({
      code: WARNINGS.thinInventory,
      message: 'This trade takes more than half of what the LP holds for it.',
    });
  if (secondsLeft < shortValiditySeconds)
    warnings.push({
      code: WARNINGS.shortValidity,
      message: 'The quote lapses within seconds; ask with minValidUntil for more time.',
    });
  if (underWatch)
    warnings.push({
      code: WARNINGS.underWatch,
      message: 'The solver has failed or answered wrongly recently.',
    });
  return warnings;
}
