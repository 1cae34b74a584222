/** The fields of a candidate, as the taker sees them: the quote's terms, reference prices and warnings. */

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
    quoteId: quote.quoteId,
    solverId: quote.solverId,
    executionMode: relayTerms.executionMode,
    order: {
      type: ORDER_TYPE,
      payload: orderEnvelope({ chainId: origin.id, escrow: origin.escrow }, quote.order),
    },
    validUntil: quote.validUntil,
    eta: quote.eta,
    validity: { validUntil: quote.validUntil, minValidUntil: rfq.minValidUntil },
    preview: {
      inputs: [
        {
          asset: assetId({ chainId: origin.id, token: inputToken.address }),
          amount: quote.inputAmount.toString(),
          decimals: inputToken.decimals,
          symbol: inputToken.symbol,
          priceUsd: prices.priceUsd(inputToken),
        },
      ],
      outputs: [
        {
          asset: assetId({ chainId: dest.id, token: outputToken.address }),
          amount,
          minimumAmount: amount,
          decimals: outputToken.decimals,
          symbol: outputToken.symbol,
          priceUsd: prices.priceUsd(outputToken),
          receiver: rfq.receiver,
          amountBeforeFees: quote.amountBeforeFees?.toString() ?? null,
          deltaFromMid: delta,
        },
      ],
    },
    routingPath: 'direct',
    platformFeeBps: rfq.platformFeeBps,
    lpSpreadBps: quote.lpSpreadBps,
    splitFill: split
      ? {
          fills: quote.slices.map(({ solverId, portionBps, outputAmount }) => ({
            solverId,
            portionBps,
            outputAmount: outputAmount.toString(),
          })),
          executionModel: 'atomic',
        }
      : null,
    gas: {
      native: relayTerms.takerGasWei.toString(),
      usd: relayTerms.takerGasWei === 0n ? 0 : prices.nativeUsd(origin.native, relayTerms.takerGasWei),
    },
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
