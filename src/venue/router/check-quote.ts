/** Checks a route venue's answer: nothing that comes from outside services is trusted. */

import { ZERO_ADDRESS } from '../../domain/hex.ts';
import type { RouteAsk, RouteLimits, RouteQuote } from '../../ports/route-venue.ts';

export const ROUTE_OBJECTIONS = ['amount', 'slack', 'times', 'execution'] as const;
type RouteObjection = (typeof ROUTE_OBJECTIONS)[number];

const BPS = 10_000n;

export function objectionTo(
  quote: RouteQuote,
  ask: RouteAsk,
  { maxSlackBps }: Pick<RouteLimits, 'maxSlackBps'>,
): RouteObjection | undefined {
  const { inputAmount, outputAmount, minimumOutput, validUntil, eta, via } = quote;
  if (
    inputAmount <= 0n ||
    minimumOutput <= 0n ||
    minimumOutput > outputAmount ||
    inputAmount >> 128n !== 0n ||
    outputAmount >> 256n !== 0n
  )
    return 'amount';
  if (
    ask.side === 'exactInput'
      ? inputAmount !== ask.amount
      : outputAmount !== ask.amount || minimumOutput !== ask.amount
  )
    return 'amount';
  if (minimumOutput * BPS < outputAmount * (BPS - BigInt(maxSlackBps))) return 'slack';
  const etaHolds = eta === null || (Number.isInteger(eta) && eta >= 0);
  if (
    !Number.isInteger(validUntil) ||
    validUntil < ask.validity.from ||
    validUntil > ask.validity.to ||
    !etaHolds
  )
    return 'times';
  if (
    via.length > MOST_STOPS ||
    via.some(
      ({ token, amount }) =>
        amount <= 0n || token === ask.inputToken.address || token === ask.outputToken.address,
    )
  )
    return 'execution';
  return feesHold(quote) ? executionObjection(quote, ask) : 'amount';
}

/** Each leg has its fee or null; none takes more than goes into its leg. */
function feesHold({ inputAmount, via, fees }: RouteQuote): boolean {
  const amountsIn = [inputAmount, ...via.map(({ amount }) => amount)];
  return (
    fees.length === amountsIn.length &&
    fees.every(
      (fee, leg) =>
        fee === null ||
        (fee.amount >= 0n &&
          fee.amount >> 256n === 0n &&
          (fee.in === 'output' || fee.amount <= (amountsIn[leg] as bigint))),
    )
  );
}

function executionObjection(
  { inputAmount, execution }: RouteQuote,
  { origin, dest, inputToken, outputToken, taker, receiver, fees }: RouteAsk,
): RouteObjection | undefined {
  const solver = execution.kind === 'through' ? execution.filler : execution.account;
  const gas = execution.kind === 'through' ? execution.gas : 0n;
  // Within one chain an order is settled in one transaction, by a filler; it cannot be opened and filled.
  if ((execution.kind === 'through') !== (origin.id === dest.id)) return 'execution';
  if (execution.kind === 'through' && (gas <= 0n || gas > MOST_GAS || execution.data.length > MOST_DATA))
    return 'execution';
  const notSolvers = [
    ZERO_ADDRESS,
    origin.escrow,
    dest.escrow,
    inputToken.address,
    outputToken.address,
    taker,
    receiver,
  ];
  if (!/^0x[0-9a-f]{40}$/.test(solver) || notSolvers.includes(solver)) return 'execution';
  // The escrow refuses fees that take the whole input.
  return fees.handedOver(inputAmount, gas) > 0n ? undefined : 'amount';
}

const MOST_STOPS = 3;
/** More would not fit into a block beside others. */
const MOST_GAS = 3_000_000n;
/** The most hex characters of `data`, which is part of the candidate's seal. */
const MOST_DATA = 2 + 2 * 4_096;
