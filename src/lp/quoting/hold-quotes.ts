/**
 * Prices each tenor of an admitted request and holds its output, in our ledger and, with several replicas, in
 * the shared inventory. Nothing is signed that was not held here.
 */

import { type Decline, isDecline } from '../../domain/decline.ts';
import { nonceGroupOf, orderId, type StandardOrder } from '../../domain/order.ts';
import type { OrderTimes } from '../../domain/time.ts';
import type { HoldRequest } from '../../inventory/event.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Random } from '../../ports/random.ts';
import { check } from '../../pricing/check.ts';
import { price, type Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import type { LpRisk } from '../config/risk-config.ts';
import type { QuoteRecord } from '../quote-log/quote-events.ts';
import type { Sharing } from '../replicas/sharing.ts';
import { takerOf, type VenueBudgets, type VenueRfq } from '../risk/venue-budgets.ts';
import { quoteOrder } from '../routes/order.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { Admitted } from './admission.ts';
import { checkDeal, NO_PRICE_NOW, NO_REFERENCE } from './deal-check.ts';
import type { PricingContext, QuoteInputs } from './pricing-context.ts';

/** A quote that is held and not yet signed. */
export interface HeldQuote {
  order: StandardOrder;
  request: HoldRequest;
  record: QuoteRecord;
}

/** Says why no tenor could be held. */
export interface HoldRefusal {
  decline: Decline;
  /** The most that other replicas leave, in base units of the output. */
  maxOutput?: bigint | undefined;
}

export interface HoldDeps {
  context: PricingContext;
  clock: Clock;
  random: Random;
  log: Log;
  /**
   * Returns what a jump of the mid would cost us on this quote. The ledger keeps the sum of these losses
   * within its budget.
   */
  risk: { gapLoss(route: QuoteRoute, inputs: PriceInputs, priced: Priced): bigint };
  /** Limits of every quote, whatever pricing says. */
  fatFinger: LpRisk['fatFinger'];
  venues?: Pick<VenueBudgets, 'refusal' | 'held'> | undefined;
  /** With several replicas, every hold is also made in the shared inventory before it is signed. */
  sharing?: Pick<Sharing, 'hold' | 'unsigned'> | undefined;
}

/** Returns a quote for each tenor that could be held, the shortest first, or why there is none. */
export async function priceAndHold(
  deps: HoldDeps,
  rfq: VenueRfq,
  route: QuoteRoute,
  { tenors, inputs }: Admitted,
): Promise<HeldQuote[] | HoldRefusal> {
  const { sharing } = deps;
  const group = nonceGroupOf(route.origin.id, rfq.taker, rfq.skeleton.nonce);
  const held: HeldQuote[] = [];
  let refusal: Decline = { declined: 'internal' };
  for (const times of tenors) {
    const quote = holdTenor(deps, rfq, route, group, times, forTenor(inputs, tenors[0], times));
    if (!isDecline(quote)) {
      held.push(quote);
      continue;
    }
    if (times === tenors[0]) refusal = quote;
    // Longer tenors cost the taker more premium, so the output is smaller and may fit the inventory limit.
    if (quote.declined !== 'no_inventory' && quote.declined !== 'limit') break;
  }
  if (held.length === 0) return { decline: refusal };
  if (sharing === undefined) return held;
  const refusals = await sharing.hold(held.map(({ request }) => request));
  const kept = held.filter((_, index) => refusals[index] === undefined);
  for (const [index, { request }] of held.entries())
    if (refusals[index] !== undefined) sharing.unsigned(request);
  return kept.length > 0 ? kept : sharedRefusal(refusals[0], held[0] as HeldQuote);
}

/** Prices one tenor, checks the price independently, and holds its output. */
function holdTenor(
  deps: HoldDeps,
  rfq: VenueRfq,
  route: QuoteRoute,
  group: string,
  times: OrderTimes,
  explored: QuoteInputs,
): HeldQuote | Decline {
  const { context, venues } = deps;
  const { ledger } = context;
  const attempt = price(explored);
  const inputs = isDecline(attempt) ? unexplored(explored) : explored;
  const priced = inputs === explored ? attempt : price(inputs);
  if (isDecline(priced))
    return priced.control === 'confidence' ? withSources(context, route, priced) : priced;
  const { output } = priced;
  const failure = checkPrice(deps, rfq, route, inputs, priced);
  if (failure !== undefined) return failure;
  const order = quoteOrder(rfq, route, times, { input: priced.input, output, relayFee: inputs.relayFee });
  const id = orderId(route.domain, order);
  const gapLoss = deps.risk.gapLoss(route, inputs, priced);
  const request = holdRequestOf(rfq, route, group, times, id, priced, gapLoss);
  const result =
    venues?.refusal(rfq.venue, request) ?? ledger.hold(request, context.lastReadTime(route.origin.id));
  if (isDecline(result)) return inRequestUnits(result, inputs.amount, output);
  venues?.held(rfq.venue, request);
  const record: QuoteRecord = {
    orderId: id,
    quoteId: deps.random.bytes32(),
    rfqId: rfq.rfqId,
    atMs: deps.clock.nowMs(),
    taker: rfq.taker,
    takerKey: request.taker,
    route,
    times,
    inputs,
    priced,
    hold: request,
    slice: false,
    fullestCap: ledger.fullestCap(id),
    liveQuotes: ledger.live,
  };
  return { order, request, record };
}

/** Pricing sees one uncertainty; the market has what each source says. */
function withSources({ market }: PricingContext, { pair }: QuoteRoute, decline: Decline): Decline {
  const { detail = decline.detail } = market.condition(pair.base, pair.quote) ?? {};
  return { ...decline, ...(detail !== undefined && { detail }) };
}

/** Declines a price that one of the two independent checks rejects. */
function checkPrice(
  { context, fatFinger, log }: HoldDeps,
  { rfqId }: VenueRfq,
  route: QuoteRoute,
  inputs: QuoteInputs,
  priced: Priced,
): Decline | undefined {
  const { input, output, terms } = priced;
  const failure =
    check(inputs, priced)[0] ?? checkDeal(context, route, { input, output, spreadBps: terms.D }, fatFinger);
  if (failure === undefined) return undefined;
  if (failure === NO_REFERENCE) return NO_PRICE_NOW;
  log.fatal(
    { rfqId, pair: route.pairName, failure, terms },
    'the independent check rejected a price: not signed',
  );
  return { declined: 'internal', control: 'fat_finger', detail: failure };
}

export function holdRequestOf(
  rfq: VenueRfq,
  route: QuoteRoute,
  group: string,
  { fillDeadline }: OrderTimes,
  id: string,
  priced: Priced,
  gapLoss: bigint,
): HoldRequest {
  return {
    orderId: id,
    chainId: route.dest.id,
    token: route.outputToken.address,
    amount: priced.output,
    input: { chainId: route.origin.id, token: route.inputToken.address, amount: priced.received },
    group,
    lapsesAt: fillDeadline,
    taker: takerOf(rfq),
    pair: route.pairName,
    side: route.lp,
    notional: priced.notional,
    gapLoss,
    fillProbabilityBps: Math.min(10_000, Math.max(1, Math.ceil(priced.terms.winProbability * 10_000))),
  };
}

/** The shared inventory refused every tenor, and names a size in output units. */
function sharedRefusal(refusal: Decline | undefined, { record }: HeldQuote): HoldRefusal {
  const why = refusal ?? { declined: 'internal' };
  return {
    decline: inRequestUnits(why, record.inputs.amount, record.priced.output),
    maxOutput: why.declined === 'no_inventory' ? why.maxAmount : undefined,
  };
}

/** The ledger names sizes in output units, the request may fix the input. */
const inRequestUnits = (decline: Decline, amount: bigint, output: bigint): Decline =>
  decline.maxAmount === undefined
    ? decline
    : { ...decline, maxAmount: (amount * decline.maxAmount) / output };

/**
 * Exploration moves prices and declines nothing, so that a size that a decline names passes, whatever the
 * next request draws.
 */
export const unexplored = (inputs: QuoteInputs): QuoteInputs =>
  inputs.exploreBps === 0 ? inputs : { ...inputs, exploreBps: 0 };

/**
 * The inputs of a longer tenor. Inventory is not read again: a hold of the same nonce does not reduce it for
 * the other tenors.
 */
export const forTenor = (inputs: QuoteInputs, first: OrderTimes, times: OrderTimes): QuoteInputs =>
  times === first
    ? inputs
    : { ...inputs, firmSeconds: inputs.firmSeconds + times.validUntil - first.validUntil };
