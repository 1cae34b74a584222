/**
 * A planned split comes back for our signature: the whole order is read as if a stranger had written it, and
 * our part must be one that our own ladder would have sold.
 */

import { decodeContext } from '../../domain/context.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import { orderId, type StandardOrder } from '../../domain/order.ts';
import { orderTimes } from '../../domain/time.ts';
import type { HoldRequest } from '../../inventory/event.ts';
import { price, type Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import { type Commit, type LinkDecline, recipientFor, type SliceRequest } from '../../protocol/link/link.ts';
import { orderFromMessage } from '../../protocol/wire.ts';
import type { Offer } from './ladder.ts';
import { holdOf, ownSlice, type OwnSlice } from './order.ts';
import { decline, doubtOf, type QuoterDeps } from './quote.ts';

export interface Slicer {
  answer(slice: SliceRequest): Commit | LinkDecline | Promise<Commit | LinkDecline>;
}

/** Our part, with what priced it. */
type PricedSlice = OwnSlice & { priced: Priced; inputs: PriceInputs };

export function createSlicer(deps: QuoterDeps): Slicer {
  const { book, leases, ladders, log } = deps;

  function answer(slice: SliceRequest): Commit | LinkDecline | Promise<Commit | LinkDecline> {
    const offer = ladders.find(slice.rfqId);
    if (offer === undefined) return decline(slice, { declined: 'validity' }, slice.quoteId);
    const refusal = deps.refusal(offer.route);
    if (refusal !== undefined) return decline(slice, refusal, slice.quoteId);
    const order = orderFromMessage(slice.order);
    const read = readSlice(slice, order, offer);
    if (isDecline(read)) {
      log.warn({ rfqId: slice.rfqId, why: read.detail }, 'a slice is not what was offered');
      return decline(slice, read, slice.quoteId);
    }
    if (!leases.covers(offer.route.origin.id, order.fillDeadline))
      return decline(slice, { declined: 'validity' }, slice.quoteId);
    return committed(slice, order, offer, read);
  }

  function readSlice(slice: SliceRequest, order: StandardOrder, offer: Offer): PricedSlice | Decline {
    const { rfq, route, inputs, times } = offer;
    const wrong = (detail: string): Decline => ({ declined: 'internal', detail });
    const now = book.now(route.origin.id);
    if (slice.validUntil > times.validUntil || slice.validUntil < now)
      return { declined: 'validity', detail: 'validUntil is not within the offer' };
    const law = orderTimes(slice.validUntil, rfq.skeleton);
    if (order.fillDeadline !== law.fillDeadline || order.expires !== law.expires) return wrong('times');
    if (
      order.user !== rfq.taker ||
      order.nonce !== BigInt(rfq.skeleton.nonce) ||
      order.originChainId !== route.originChainId ||
      order.inputOracle !== route.inputOracle
    )
      return wrong('skeleton');
    const [input] = order.inputs;
    if (input === undefined || order.inputs.length !== 1 || input[0] !== route.inputWord)
      return wrong('input');
    if (rfq.side === 'exactInput' && input[1] !== BigInt(rfq.amount)) return wrong('input amount');
    const mine = ownSlice(order, route.account, new Map([[route.dest.id, route.dest]]));
    if (mine === undefined || mine.index !== slice.outputIndex) return wrong('our output');
    const { output, context } = mine;
    const wanted = recipientFor(rfq);
    const place =
      output.chainId === route.destChainId &&
      output.token === route.outputWord &&
      output.oracle === route.oracleWord &&
      output.settler === route.settlerWord;
    if (!place || output.recipient !== wanted.recipient || output.callbackData !== wanted.callbackData)
      return wrong('our output');
    if (
      context.startTime !== order.fillDeadline + 1 ||
      context.feeBps !== rfq.platformFeeBps ||
      context.relayFee > BigInt(rfq.relayFee)
    )
      return wrong('our context');
    if (
      order.outputs.reduce((sum, each) => sum + (decodeContext(each.context)?.portionBps ?? 0), 0) !== 10_000
    )
      return wrong('portions');
    // The ladder's own mid, spread and gas, at exactly this size: never worse for us than what we promised
    // there.
    const own: PriceInputs = {
      ...inputs,
      side: 'exactInput',
      amount: mine.portion,
      relayFee: context.relayFee,
      freeOutput: book.ledger.free(route.dest.id, route.outputToken.address),
      room: book.bands.look(route, (Number(inputs.mid.num) / Number(inputs.mid.den)) * inputs.quoteValue)
        .room,
    };
    const priced = price(own);
    if (isDecline(priced)) return priced;
    if (output.amount > priced.output)
      return wrong(`output ${output.amount} where the ladder gives ${priced.output}`);
    const doubt = doubtOf(
      book,
      route,
      { input: mine.portion, output: output.amount, spreadBps: priced.terms.D },
      deps.bounds,
    );
    if (doubt === undefined) return { ...mine, priced, inputs: own };
    log.fatal(
      { rfqId: slice.rfqId, pair: route.pairName, doubt },
      'a slice did not survive the second opinion: not signed',
    );
    return { ...wrong(doubt), control: 'fat_finger' };
  }

  function committed(
    slice: SliceRequest,
    order: StandardOrder,
    offer: Offer,
    mine: PricedSlice,
  ): Commit | LinkDecline | Promise<Commit | LinkDecline> {
    const { route } = offer;
    const id = orderId(route.domain, order);
    const request = holdOf(mine, order, id, {
      pair: route.pairName,
      side: route.lp,
      notional: mine.priced.notional,
      gapLoss: deps.gapLoss(route, mine.inputs, mine.priced),
    });
    const hold = book.ledger.hold(request, book.settled(route.origin.id));
    if (isDecline(hold)) return decline(slice, hold, slice.quoteId);
    const { sharing } = deps;
    if (sharing === undefined) return signed(slice, order, offer, mine, request);
    return sharing.promise([request]).then(([refusal]) => {
      if (refusal !== undefined) sharing.unsigned(request);
      const no = refusal ?? deps.refusal(route);
      return no === undefined
        ? signed(slice, order, offer, mine, request)
        : decline(slice, no, slice.quoteId);
    });
  }

  /** Held, by all who share the inventory. */
  function signed(
    slice: SliceRequest,
    order: StandardOrder,
    offer: Offer,
    mine: PricedSlice,
    request: HoldRequest,
  ): Commit | LinkDecline | Promise<Commit | LinkDecline> {
    const { rfq, route, times } = offer;
    const id = request.orderId as Bytes32;
    deps.moments.quoted({
      orderId: id,
      quoteId: slice.quoteId,
      rfqId: slice.rfqId,
      atMs: deps.clock.nowMs(),
      taker: rfq.taker,
      route,
      times,
      inputs: mine.inputs,
      priced: mine.priced,
      hold: request,
      slice: true,
      nearest: book.ledger.nearest(id),
      liveQuotes: book.ledger.live,
    });
    const seal = (signature: Hex): Commit => ({
      type: 'commit',
      rfqId: slice.rfqId,
      quoteId: slice.quoteId,
      commitment: { lp: route.account, deadline: order.fillDeadline, signature },
      lpSpreadBps: mine.priced.lpSpreadBps,
    });
    const signature = deps.commit(route.domain, {
      orderId: id,
      quoteId: slice.quoteId,
      lp: route.account,
      deadline: order.fillDeadline,
    });
    if (typeof signature === 'string') return seal(signature);
    return signature.then((late) => {
      const stopped = deps.refusal(route);
      return stopped === undefined ? seal(late) : decline(slice, stopped, slice.quoteId);
    });
  }

  return { answer };
}
