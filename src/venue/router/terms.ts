/** The fields of a router candidate. */

import { formatUnits } from '../../domain/amount.ts';
import { assetId } from '../../domain/asset.ts';
import { type Chain, ETHER, type NativeCurrency } from '../../domain/chain.ts';
import { orderEnvelope } from '../../domain/order.ts';
import { ORDER_TYPE, WARNINGS } from '../../protocol/api/candidate.ts';
import type { VenueFee } from '../../ports/route-venue.ts';
import type { Leg, RouterTerms } from '../../protocol/api/router.ts';
import type { FanOutOptions } from '../options.ts';
import type { Prices } from '../market/prices.ts';
import { warningsFor } from '../quoting/terms.ts';
import { routeWarnings } from './route-warnings.ts';
import type { RouteCandidate } from './gather.ts';
import type { PairRequest } from '../quoting/solver-request.ts';
import type { RouteLeg } from './source.ts';

interface RouterTermsContext {
  prices: Prices;
  options: Pick<FanOutOptions, 'shortValiditySeconds' | 'farFromMidBps'>;
  delivered?: readonly Leg[];
  /** undefined for a chain that is not connected. */
  native(chainId: number): NativeCurrency | undefined;
}

export function routerTerms(
  { input, output, receiver, workspace, now }: PairRequest,
  { first, legs, model, inputAmount, outputAmount, eta, validUntil, gas }: RouteCandidate,
  { prices, options, delivered = [], native }: RouterTermsContext,
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
    gas: gasOf(origin, gas, { prices, native }),
    warnings: [
      ...warningsFor(
        {
          delta: prices.deltaFromMid(input.token, inputAmount, output.token, outputAmount),
          thin: first.thin,
          secondsLeft: validUntil - now,
          underWatch: first.underWatch,
        },
        options,
      ),
      ...routeWarnings({ first, legs, before: delivered.length }, [input.chain, output.chain]),
      ...laterGas(gas, native),
    ],
  };
}

type NativeOf = RouterTermsContext['native'];

/**
 * Sums the gas of all legs: USD over all chains, native where it is the same currency as on the first chain.
 */
function gasOf(
  { native: own }: Chain,
  costs: RouteCandidate['gas'],
  { prices, native }: Pick<RouterTermsContext, 'prices' | 'native'>,
): RouterTerms['gas'] {
  const usd = costs.map(({ chainId, wei }) => prices.nativeUsd(native(chainId) ?? ETHER, wei));
  return {
    native: costs
      .reduce((sum, { chainId, wei }) => (native(chainId)?.symbol === own.symbol ? sum + wei : sum), 0n)
      .toString(),
    usd: usd.some((each) => each === null) ? null : usd.reduce<number>((sum, each) => sum + (each ?? 0), 0),
  };
}

/** A cost that the taker meets only after the first leg. */
const laterGas = (costs: RouteCandidate['gas'], native: NativeOf): RouterTerms['warnings'] =>
  costs
    .filter(({ later }) => later)
    .map(({ chainId, wei }) => {
      const { symbol } = native(chainId) ?? ETHER;
      return {
        code: WARNINGS.laterLegGas,
        message: `Your wallet also sends the second leg, for about ${formatUnits(wei, 18)} ${symbol} of gas on chain ${chainId}. The ranking counts it.`,
      };
    });

/** `before`: number of delivered legs; the first of these depends on the last of them. */
function show(
  { kind, solverId, venue, chainId, input, output, fee, eta, dependsOn }: RouteLeg,
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
    fees: fee && feesOf(fee, { input, output }),
    eta,
    dependsOn: dependsOn.length === 0 && before > 0 ? [before - 1] : dependsOn.map((leg) => leg + before),
  };
}

/** Returns the fees of a leg; empty when the venue charges nothing. */
const feesOf = (fee: VenueFee, leg: Pick<RouteLeg, 'input' | 'output'>): Leg['fees'] =>
  fee.amount === 0n ? [] : [{ asset: assetId(leg[fee.in].asset), amount: fee.amount.toString() }];
