/** The fields of a router candidate. */

import { assetId } from '../../domain/asset.ts';
import { orderEnvelope } from '../../domain/order.ts';
import { ORDER_TYPE } from '../../protocol/api/candidate.ts';
import type { Leg, RouterTerms } from '../../protocol/api/router.ts';
import type { FanOutOptions } from '../options.ts';
import type { Prices } from '../market/prices.ts';
import { warningsFor } from '../quoting/terms.ts';
import type { RouteCandidate } from './gather.ts';
import type { PairRequest } from '../quoting/rfq-source.ts';
import type { RouteLeg } from './source.ts';

export interface RouterTermsContext {
  prices: Prices;
  options: Pick<FanOutOptions, 'shortValiditySeconds' | 'farFromMidBps'>;
  delivered?: readonly Leg[];
}

export function routerTerms(
  { input, output, receiver, workspace, now }: PairRequest,
  { first, legs, model, inputAmount, outputAmount, eta, validUntil }: RouteCandidate,
  { prices, options, delivered = [] }: RouterTermsContext,
): RouterTerms {
  const { relayTerms, order } = first;
  const origin = input.chain;
  const sequential = model === 'sequential';
  const parts = order.outputs.length;
  const shown = [
    ...delivered,
    ...legs.map((leg, index) => show(leg, index + delivered.length, delivered.length)),
  ];
  const direct = delivered.length === 0 && !sequential && (parts > 1 || legs.length === 1);
  return {
    quoteId: first.quoteId,
    solverId: first.solverId,
    executionMode: relayTerms.executionMode,
    order: { type: ORDER_TYPE, payload: orderEnvelope({ chainId: origin.id, escrow: origin.escrow }, order) },
    validUntil,
    eta,
    preview: {
      inputs: [
        {
          asset: assetId(input.asset),
          amount: inputAmount.toString(),
          decimals: input.token.decimals,
          symbol: input.token.symbol,
          priceUsd: prices.priceUsd(input.token),
        },
      ],
      outputs: [
        {
          asset: assetId(output.asset),
          amount: outputAmount.toString(),
          minimumAmount: sequential ? null : first.minimumOutput.toString(),
          decimals: output.token.decimals,
          symbol: output.token.symbol,
          priceUsd: prices.priceUsd(output.token),
          receiver,
        },
      ],
    },
    routingPath: direct ? 'direct' : 'composite',
    platformFeeBps: workspace.platformFeeBps,
    lpSpreadBps: first.lpSpreadBps,
    composite: { legs: shown, executionModel: sequential || delivered.length > 0 ? 'sequential' : 'atomic' },
    gas: {
      native: relayTerms.takerGasWei.toString(),
      usd: relayTerms.takerGasWei === 0n ? 0 : prices.nativeUsd(origin.native, relayTerms.takerGasWei),
    },
    warnings: warningsFor(
      {
        delta: prices.deltaFromMid(input.token, inputAmount, output.token, outputAmount),
        thin: first.thin,
        secondsLeft: validUntil - now,
        underWatch: first.underWatch,
        laterLeg: sequential,
      },
      options,
    ),
  };
}

/** `before`: number of delivered legs; the first of these depends on the last of them. */
function show(
  { kind, solverId, venue, chainId, input, output, eta, dependsOn }: RouteLeg,
  index: number,
  before: number,
): Leg {
  return {
    index,
    kind,
    solverId,
    venue,
    chainId,
    input: { asset: assetId(input.asset), amount: input.amount.toString() },
    output: {
      asset: assetId(output.asset),
      amount: output.amount.toString(),
      minimumAmount: output.minimum?.toString() ?? null,
    },
    eta,
    dependsOn: dependsOn.length === 0 && before > 0 ? [before - 1] : dependsOn.map((leg) => leg + before),
  };
}
