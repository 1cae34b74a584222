/** Prices a request: the exact amounts of a quote, or a decline. */

import { divUp, mulDivUp, ten } from '../domain/amount.ts';
import { isDecline, type Decline } from '../domain/decline.ts';
import {
  baseUnitRate,
  exactOut,
  feeOf,
  grossOf,
  largestInput,
  MOST_FEE_BPS,
  MOST_SPREAD,
  paid,
  receivedOf,
  type Charges,
} from './amounts.ts';
import { PluginFault } from './plugin.ts';
import type { PriceInputs, SpreadTerms } from './price-inputs.ts';
import type { Rational } from './rational.ts';
import { wholeTokens } from './usd.ts';
import { spreadInteger, spreadTerms } from './spread.ts';

export interface Priced {
  /** Base units of input and output token. */
  input: bigint;
  output: bigint;
  /** Value of the input at mid in output units, rounded down. */
  gross: bigint;
  /** Output units: LP spread with rounding, platform fee, own gas with buffer, relay fee at mid. */
  spreadAmount: bigint;
  feeAmount: bigint;
  gasAmount: bigint;
  relayAmount: bigint;
  amountBeforeFees: bigint;
  /** Input less platform fee and relay fee. The `input.amount` of the hold. */
  received: bigint;
  /** D - fee - gas in 1e-4 bps, rounded up: the integer that priced it. */
  spread: bigint;
  /** Whole bps, rounded, as the API reports it. */
  lpSpreadBps: number;
  platformFeeBps: number;
  /** Millionths of the reference currency, rounded up. The `notional` of the hold. */
  notional: bigint;
  terms: SpreadTerms;
}

export type PriceDecline = Decline;

const MICRO = 1_000_000;
const BPS = 10_000n;

/**
 * Example: 10 WETH at a mid of 2500 are 25,000 USDC gross; 8.2978 bps of spread, 2 bps of fee and 0.36 USDC
 * of gas leave 24,973.8955 USDC.
 */
export function price(inputs: PriceInputs): Priced | PriceDecline {
  const frame = frameOf(inputs);
  if (isDecline(frame)) return frame;
  try {
    return tooLarge(inputs, frame) ?? withBounds(inputs, frame);
  } catch (fault) {
    if (fault instanceof PluginFault) return { declined: 'internal', detail: fault.message };
    throw fault;
  }
}

interface Frame {
  rate: Rational;
  /** Own gas with buffer and the relay fee at mid, output units, rounded up. */
  ownGas: bigint;
  relay: bigint;
  /** Largest input that passes the size limit and the hard bands; `aboveInput` declines beyond it. */
  largestInput: bigint;
  aboveInput: Decline;
  /** Largest output within the hard bands and free inventory. */
  largestOutput: bigint | undefined;
  aboveOutput: Decline;
}

const OUT_OF_BAND: Decline = {
  declined: 'limit',
  control: 'band',
  detail: 'beyond a hard band of the position',
};
const NO_INVENTORY: Decline = { declined: 'no_inventory' };

function frameOf(inputs: PriceInputs): Frame | PriceDecline {
  const { mid, params, platformFeeBps: fee } = inputs;
  if (!sane(inputs)) return { declined: 'internal', detail: 'an input is no number' };
  if (mid.num <= 0n || mid.den <= 0n || !(inputs.quoteValue > 0))
    return { declined: 'stale_price', detail: 'no price' };
  if (inputs.confidenceBps > params.maxConfidenceBps)
    return {
      declined: 'stale_price',
      control: 'confidence',
      detail: `sources disagree by ${inputs.confidenceBps.toFixed(2)} bps, and ${params.maxConfidenceBps} are allowed`,
    };
  if (!(inputs.firmSeconds > 0)) return { declined: 'validity', detail: 'already over' };
  if (!Number.isInteger(fee) || fee < 0 || fee > MOST_FEE_BPS || inputs.relayFee < 0n || inputs.ownGas < 0n)
    return { declined: 'internal', detail: 'fee or gas out of range' };
  // Our own settings: the taker cannot find a size that fits.
  if (params.minSize > params.maxSize)
    return {
      declined: 'standby',
      code: 'settings',
      detail: `the least size ${params.minSize} is above the largest allowed now, ${params.maxSize}`,
    };
  if (inputs.amount <= 0n)
    return { declined: 'size_below_min', detail: 'not a positive amount', minAmount: 1n };
  const rate = baseUnitRate(mid, inputs.lp, inputs.baseDecimals, inputs.quoteDecimals);
  const { room, freeOutput } = inputs;
  const gate = sizeGate(inputs, rate, params.maxSize);
  const bound = room?.input !== undefined && room.input < gate ? room.input : undefined;
  const output =
    room?.output !== undefined && (freeOutput === undefined || room.output < freeOutput)
      ? room.output
      : undefined;
  return {
    rate,
    ownGas: mulDivUp(inputs.ownGas, BigInt(params.gasBufferBps), BPS),
    relay: divUp(inputs.relayFee * rate.num, rate.den),
    largestInput: bound ?? gate,
    aboveInput:
      bound === undefined ? { declined: 'size_above_max', detail: `above ${params.maxSize}` } : OUT_OF_BAND,
    largestOutput: output ?? freeOutput,
    aboveOutput: output === undefined ? NO_INVENTORY : OUT_OF_BAND,
  };
}

/** Returns whether all inputs are finite, and small enough that their squares are finite too. */
function sane({
  quoteValue,
  sigma,
  q,
  firmSeconds,
  confidenceBps,
  lockSeconds,
  adverseBps = 0,
  rebalanceBps = 0,
  walkedImpactBps = 0,
  splitHoldSeconds = 0,
  exploreBps = 0,
  signal,
}: PriceInputs): boolean {
  const most = Math.max(
    Math.abs(quoteValue),
    sigma,
    Math.abs(q),
    Math.abs(firmSeconds),
    Math.abs(confidenceBps),
    Math.abs(lockSeconds),
    Math.abs(adverseBps),
    Math.abs(rebalanceBps),
    Math.abs(walkedImpactBps),
    Math.abs(splitHoldSeconds),
    Math.abs(exploreBps),
  );
  // Math.max returns NaN when any input is NaN.
  if (!(most < 1e12 && sigma >= 0)) return false;
  if (signal === undefined) return true;
  const { skewBps, fairValueShiftBps, widthBps } = signal;
  return Math.max(Math.abs(skewBps), Math.abs(fairValueShiftBps), widthBps) < 1e12 && widthBps >= 0;
}

/**
 * Returns the largest input worth at most `size` of the reference currency. Exact, so that the limit and the
 * `maxAmount` of its decline agree.
 */
function sizeGate(
  { lp, quoteValue, quoteDecimals }: PriceInputs,
  { num, den }: Rational,
  size: number,
): bigint {
  const quote =
    (BigInt(Math.floor(size * MICRO)) * ten(quoteDecimals)) /
    BigInt(Math.max(1, Math.round(quoteValue * MICRO)));
  return lp === 'sell' ? quote : ((quote + 1n) * den - 1n) / num;
}

function tooLarge(inputs: PriceInputs, frame: Frame): PriceDecline | undefined {
  const { amount, side } = inputs;
  const ceiling = side === 'exactInput' ? frame.largestInput : grossOf(frame.largestInput, frame.rate);
  if (amount <= ceiling) return undefined;
  return withLargest(frame.aboveInput, largestPassing({ ...inputs, amount: ceiling }, frame));
}

/**
 * Adds the largest amount that passes. Where no size passes, our own limits are the cause, and the taker is
 * not told to change the amount.
 */
function withLargest(answer: PriceDecline, maxAmount: bigint): PriceDecline {
  return answer.declined === 'size_above_max' && maxAmount === 0n ? noSize(answer) : { ...answer, maxAmount };
}

const noSize = ({ detail }: PriceDecline): PriceDecline => ({
  declined: 'standby',
  code: 'settings',
  detail: `no size passes: ${detail ?? 'all are out of bounds'}`,
});

function withBounds(inputs: PriceInputs, frame: Frame): Priced | PriceDecline {
  const answer = evaluate(inputs, frame);
  if (!isDecline(answer)) return answer;
  switch (answer.declined) {
    case 'size_below_min': {
      const minAmount = smallestPassing(inputs, frame);
      return minAmount === undefined ? noSize(answer) : { ...answer, minAmount };
    }
    case 'size_above_max':
    case 'no_inventory':
    case 'limit':
      return withLargest(answer, largestPassing(inputs, frame));
    default:
      return answer;
  }
}

function evaluate(inputs: PriceInputs, frame: Frame): Priced | PriceDecline {
  const { params } = inputs;
  if (inputs.side === 'exactInput') return evaluateAt(inputs, frame, inputs.amount, undefined);
  if (frame.largestOutput !== undefined && inputs.amount > frame.largestOutput) return frame.aboveOutput;

  // Exact output: spread and size depend on each other and converge in two or three rounds. If two
  // neighbouring integers alternate, the wider one is used.
  const gas = frame.ownGas + frame.relay;
  let gross = inputs.amount + gas;
  let widest: bigint | undefined;
  for (let round = 0; round < 8; round++) {
    const terms = spreadTerms(inputs, sizeOf(inputs, gross), gasBps(gas, gross));
    if (!Number.isFinite(terms.D)) return { declined: 'internal', detail: 'no finite spread' };
    if (terms.D > params.maxSpreadBps) return tooWide(terms);
    const spread = spreadInteger(terms);
    const charges: Charges = { rate: frame.rate, spread, feeBps: BigInt(inputs.platformFeeBps), gas };
    if (spread > MOST_SPREAD) return tooWide(terms);
    const input = exactOut(inputs.amount, charges);
    gross = grossOf(input, frame.rate);
    if (spread === widest) return evaluateAt(inputs, frame, input, { terms, spread });
    if (round < 3 || widest === undefined || spread > widest) widest = spread;
  }
  return { declined: 'internal', detail: 'exact output did not settle' };
}

function evaluateAt(
  inputs: PriceInputs,
  frame: Frame,
  input: bigint,
  fixed: { terms: SpreadTerms; spread: bigint } | undefined,
): Priced | PriceDecline {
  const { params } = inputs;
  if (input > frame.largestInput) return frame.aboveInput;
  const gross = grossOf(input, frame.rate);
  const gas = frame.ownGas + frame.relay;
  if (gross <= gas) return { declined: 'size_below_min', detail: 'size below gas' };
  const size = sizeOf(inputs, gross);
  if (size < params.minSize) return { declined: 'size_below_min', detail: `below ${params.minSize}` };

  // A fixed spread has passed the next three checks; a second look costs nothing.
  const terms = fixed?.terms ?? spreadTerms(inputs, size, gasBps(gas, gross));
  if (!Number.isFinite(terms.D)) return { declined: 'internal', detail: 'no finite spread' };
  if (terms.D > params.maxSpreadBps) return tooWide(terms);
  const spread = fixed?.spread ?? spreadInteger(terms);
  if (spread > MOST_SPREAD) return tooWide(terms);

  const feeBps = BigInt(inputs.platformFeeBps);
  const bought = paid(gross, { rate: frame.rate, spread, feeBps, gas });
  const received = receivedOf(input, feeBps, inputs.relayFee);
  if (bought <= 0n || received <= 0n) return { declined: 'size_below_min', detail: 'size below gas' };
  const output = inputs.side === 'exactInput' ? bought : inputs.amount;
  if (frame.largestOutput !== undefined && output > frame.largestOutput) return frame.aboveOutput;

  const feeAmount = feeOf(gross, feeBps);
  return {
    input,
    output,
    gross,
    spreadAmount: gross - output - feeAmount - gas,
    feeAmount,
    gasAmount: frame.ownGas,
    relayAmount: frame.relay,
    amountBeforeFees: gross - gas,
    received,
    spread,
    lpSpreadBps: Math.round(Number(spread) / 1e4),
    platformFeeBps: inputs.platformFeeBps,
    notional: BigInt(Math.ceil(size * MICRO)),
    terms,
  };
}

/** Declines as too small if gas is most of the spread, else as too large. */
function tooWide(terms: SpreadTerms): PriceDecline {
  const detail = `spread of ${terms.D.toFixed(2)} bps is out of bounds`;
  if (2 * terms.gas > terms.D) return { declined: 'size_below_min', detail };
  return { declined: 'size_above_max', detail };
}

const gasBps = (gas: bigint, gross: bigint): number => (Number(gas) / Number(gross)) * 1e4;

/**
 * Returns the value in the reference currency. It is a float: it steers the spread and, as `notional`, counts
 * against caps. It never becomes an amount of a token.
 */
function sizeOf({ lp, mid, quoteValue, baseDecimals, quoteDecimals }: PriceInputs, gross: bigint): number {
  if (lp === 'buy') return wholeTokens(gross, quoteDecimals) * quoteValue;
  return wholeTokens(gross, baseDecimals) * (Number(mid.num) / Number(mid.den)) * quoteValue;
}

/* Maximum size in a decline: an evaluated amount that passes, found with at most 64 evaluations. */

const passes = (inputs: PriceInputs, frame: Frame, amount: bigint): boolean =>
  amount > 0n && !isDecline(evaluate({ ...inputs, amount }, frame));

/** Returns the largest passing amount up to `inputs.amount`; 0n when none was found. */
function largestPassing(inputs: PriceInputs, frame: Frame): bigint {
  let high = inputs.amount;
  if (passes(inputs, frame, high)) return high;
  if (inputs.side === 'exactOutput') {
    const gate = evaluate({ ...inputs, side: 'exactInput', amount: frame.largestInput }, frame);
    if (!isDecline(gate) && gate.output < high && passes(inputs, frame, gate.output)) return gate.output;
  }
  if (frame.largestOutput !== undefined) {
    const served =
      inputs.side === 'exactOutput' ? frame.largestOutput : servedBy(inputs, frame, frame.largestOutput);
    if (passes(inputs, frame, served)) return served;
    if (served < high) high = served;
  }
  let low = 0n;
  for (let amount = high / 2n, round = 0; amount > 0n && round < 24; amount /= 2n, round++) {
    if (passes(inputs, frame, amount)) {
      low = amount;
      break;
    }
    high = amount;
  }
  if (low === 0n) return 0n;
  return halve(low, high, (amount) => passes(inputs, frame, amount));
}

/** Returns the largest input that free inventory can pay, at the spread of about that size. */
function servedBy(inputs: PriceInputs, frame: Frame, free: bigint): bigint {
  const gas = frame.ownGas + frame.relay;
  let input = inputs.amount;
  let best = 0n;
  for (let round = 0; round < 4; round++) {
    const gross = grossOf(input, frame.rate);
    if (gross <= 0n) return best;
    const terms = spreadTerms(inputs, sizeOf(inputs, gross), gasBps(gas, gross));
    if (!(terms.D <= inputs.params.maxSpreadBps)) return best;
    const spread = spreadInteger(terms);
    if (spread > MOST_SPREAD) return best;
    input = largestInput(free, { rate: frame.rate, spread, feeBps: BigInt(inputs.platformFeeBps), gas });
    if (input > best && passes(inputs, frame, input)) best = input;
  }
  return best;
}

function smallestPassing(inputs: PriceInputs, frame: Frame): bigint | undefined {
  let low = inputs.amount;
  const gas = frame.ownGas + frame.relay;
  const start = inputs.side === 'exactOutput' ? gas : divUp(gas * frame.rate.den, frame.rate.num);
  let high = (start > low ? start : low) * 2n;
  for (let round = 0; round < 40; round++, high *= 2n) {
    if (passes(inputs, frame, high)) return halve(high, low, (amount) => passes(inputs, frame, amount));
    low = high;
  }
  return undefined;
}

/** Bisects between a passing and a failing amount, 16 times; returns the passing end. */
function halve(passing: bigint, failing: bigint, passesAt: (amount: bigint) => boolean): bigint {
  for (let round = 0; round < 16; round++) {
    const amount = (passing + failing) / 2n;
    if (amount === passing || amount === failing) break;
    if (passesAt(amount)) passing = amount;
    else failing = amount;
  }
  return passing;
}
