/**
 * Signs our slice of a split that the venue planned from our ladder. The whole order is validated like one
 * from a stranger, and our slice must cost no more than the ladder promised.
 */

import { formatTokens } from '../../domain/amount.ts';
import { decodeContext } from '../../domain/context.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import { orderId, type StandardOrder } from '../../domain/order.ts';
import { orderTimes } from '../../domain/time.ts';
import { price, type Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import { type Commit, type LinkDecline, recipientFor, type SliceRequest } from '../../protocol/link/link.ts';
import { orderFromMessage } from '../../protocol/wire.ts';
import type { PartialOffer } from './ladder.ts';
import { holdOf, ownSlice, type OwnSlice } from '../routes/order.ts';
import { takerOf } from '../risk/venue-budgets.ts';
import { declineMessage } from './decline.ts';
import { checkDeal, NO_PRICE_NOW, NO_REFERENCE } from './deal-check.ts';
import type { QuoteHandlerDeps } from './quote.ts';
import { whyUnsigned } from './sign-quotes.ts';

type PricedSlice = OwnSlice & { priced: Priced; inputs: PriceInputs };

export interface SliceHandler {
  /** A commitment to our slice, or a decline. Rejects only on a bug. `untilMs`: of the monotonic clock. */
  handleSlice(slice: VenueSlice, untilMs: number): Promise<Commit | LinkDecline>;
}

/** A slice request; it names its venue while the LP serves several. */
type VenueSlice = SliceRequest & { venue?: string };

export function createSliceHandler(deps: QuoteHandlerDeps): SliceHandler {
  return { handleSlice: (slice, untilMs) => handleSlice(deps, slice, untilMs) };
}

async function handleSlice(
  deps: QuoteHandlerDeps,
  slice: VenueSlice,
  untilMs: number,
): Promise<Commit | LinkDecline> {
  const { context, leases, ladders, log, sharing, clock } = deps;
  const { ledger } = context;
  const declined = (reason: Decline) => {
    deps.risk.countRefusal(reason);
    return declineMessage(slice, reason, slice.quoteId);
  };
  const offer = ladders.find(slice.rfqId);
  const { commitments } = deps;
  if (commitments === undefined || offer === undefined || offer.rfq.venue !== slice.venue)
    return declined({ declined: 'validity' });
  const { rfq, route, times } = offer;
  const refusal = deps.standby.refusal(route);
  if (refusal !== undefined) return declined(refusal);
  const order = orderFromMessage(slice.order);
  const ours = validate(deps, slice, order, offer);
  if (isDecline(ours)) {
    log.warn({ rfqId: slice.rfqId, why: ours.detail }, 'declined a slice of our offer');
    return declined(ours);
  }
  if (!leases.covers(route.origin.id, order.fillDeadline)) return declined({ declined: 'validity' });

  const { priced, inputs } = ours;
  const id = orderId(route.domain, order);
  const about = {
    pair: route.pairName,
    side: route.lp,
    notional: priced.notional,
    gapLoss: deps.risk.gapLoss(route, inputs, priced),
  };
  const request = { ...holdOf(ours, order, id, about), taker: takerOf(rfq) };
  const hold =
    deps.venues?.refusal(rfq.venue, request) ?? ledger.hold(request, context.lastReadTime(route.origin.id));
  if (isDecline(hold)) return declined(hold);
  deps.venues?.held(rfq.venue, request);
  const [sharedRefusal] = (await sharing?.hold([request])) ?? [];
  if (sharedRefusal !== undefined) {
    sharing?.unsigned(request);
    return declined(sharedRefusal);
  }
  // A stop may have come while the other replicas were asked. The hold expires by itself.
  const stopped = deps.standby.refusal(route);
  if (stopped !== undefined) return declined(stopped);

  deps.quoteEvents.quoted({
    orderId: id,
    quoteId: slice.quoteId,
    rfqId: slice.rfqId,
    atMs: clock.nowMs(),
    taker: rfq.taker,
    takerKey: request.taker,
    route,
    times,
    inputs,
    priced,
    hold: request,
    slice: true,
    fullestCap: ledger.fullestCap(id),
    liveQuotes: ledger.live,
  });
  const { account: lp } = route;
  const deadline = order.fillDeadline;
  const commitment = { orderId: id, quoteId: slice.quoteId, lp, deadline };
  const withinMs = untilMs - clock.monotonicMs();
  const signature = await commitments.signCommitment(route.domain, commitment, withinMs).catch(whyUnsigned);
  const stoppedMeanwhile = deps.standby.refusal(route);
  if (stoppedMeanwhile !== undefined) return declined(stoppedMeanwhile);
  if (typeof signature !== 'string') return declined(signature);
  return {
    type: 'commit',
    rfqId: slice.rfqId,
    quoteId: slice.quoteId,
    commitment: { lp, deadline, signature },
    lpSpreadBps: priced.lpSpreadBps,
  };
}

/** The whole order against our offer and our own chain configuration, then the price of our slice. */
function validate(
  deps: QuoteHandlerDeps,
  slice: SliceRequest,
  order: StandardOrder,
  offer: PartialOffer,
): PricedSlice | Decline {
  const { rfq, route, inputs, times } = offer;
  const wrong = (detail: string): Decline => ({ declined: 'internal', detail });
  const now = deps.context.now(route.origin.id);
  if (slice.validUntil > times.validUntil || slice.validUntil < now)
    return { declined: 'validity', detail: 'validUntil is not within the offer' };
  const expected = orderTimes(slice.validUntil, rfq.skeleton);
  if (order.fillDeadline !== expected.fillDeadline || order.expires !== expected.expires)
    return wrong('times');
  if (
    order.user !== rfq.taker ||
    order.nonce !== BigInt(rfq.skeleton.nonce) ||
    order.originChainId !== route.originChainId ||
    order.inputOracle !== route.inputOracle
  )
    return wrong('skeleton');
  const [input] = order.inputs;
  if (input === undefined || order.inputs.length !== 1 || input[0] !== route.inputWord) return wrong('input');
  if (rfq.side === 'exactInput' && input[1] !== BigInt(rfq.amount)) return wrong('input amount');
  const ours = ownSlice(order, route.account, new Map([[route.dest.id, route.dest]]));
  if (ours === undefined || ours.index !== slice.outputIndex) return wrong('our output');
  const { output, context: outputContext } = ours;
  const expectedRecipient = recipientFor(rfq);
  if (
    output.chainId !== route.destChainId ||
    output.token !== route.outputWord ||
    output.oracle !== route.oracleWord ||
    output.settler !== route.settlerWord ||
    output.recipient !== expectedRecipient.recipient ||
    output.callbackData !== expectedRecipient.callbackData
  )
    return wrong('our output');
  if (
    outputContext.startTime !== order.fillDeadline + 1 ||
    outputContext.feeBps !== rfq.platformFeeBps ||
    outputContext.relayFee > BigInt(rfq.relayFee)
  )
    return wrong('our context');
  const portions = order.outputs.map((each) => decodeContext(each.context)?.portionBps ?? 0);
  if (portions.reduce((sum, portion) => sum + portion, 0) !== 10_000) return wrong('portions');
  return priceSlice(deps, slice, offer, ours, inputs);
}

/** Mid, spread and gas of the ladder at exactly this size: never worse for us than what we offered. */
function priceSlice(
  { context, fatFinger, log }: QuoteHandlerDeps,
  slice: SliceRequest,
  { route }: PartialOffer,
  ours: OwnSlice,
  offered: PriceInputs,
): PricedSlice | Decline {
  const baseUsd = (Number(offered.mid.num) / Number(offered.mid.den)) * offered.quoteValue;
  const inputs: PriceInputs = {
    ...offered,
    side: 'exactInput',
    amount: ours.portion,
    relayFee: ours.context.relayFee,
    freeOutput: context.ledger.free(route.dest.id, route.outputToken.address),
    room: context.bands.termsOf(route, baseUsd).room,
  };
  const priced = price(inputs);
  if (isDecline(priced)) return priced;
  const { amount } = ours.output;
  if (amount > priced.output)
    return {
      declined: 'internal',
      detail: `output ${formatTokens(amount, route.outputToken)} where the ladder gives ${formatTokens(priced.output, route.outputToken)}`,
    };
  const deal = { input: ours.portion, output: amount, spreadBps: priced.terms.D };
  const failure = checkDeal(context, route, deal, fatFinger);
  if (failure === undefined) return { ...ours, priced, inputs };
  if (failure === NO_REFERENCE) return NO_PRICE_NOW;
  log.fatal(
    { rfqId: slice.rfqId, pair: route.pairName, failure },
    'the check of both legs in USD rejected a slice: not signed',
  );
  return { declined: 'internal', control: 'fat_finger', detail: failure };
}
