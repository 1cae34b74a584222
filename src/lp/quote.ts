/**
 * The hot path: a request comes in, a signed promise or a reason goes out. Validate, price, doubt the price, hold the
 * money, then sign; nothing here waits for a disk or a network, and nothing is signed that is not held.
 */

import { commitmentDigest, type QuoteCommitment, type SignedCommitment } from '../domain/commitment.ts';
import { type Decline, isDecline } from '../domain/decline.ts';
import type { EscrowDomain } from '../domain/escrow-domain.ts';
import type { Bytes32, Hex } from '../domain/hex.ts';
import { orderId, type StandardOrder } from '../domain/order.ts';
import { orderTimes, type OrderTimes } from '../domain/time.ts';
import type { HoldRequest } from '../inventory/event.ts';
import type { Log } from '../ports/log.ts';
import type { Clock } from '../ports/clock.ts';
import type { Random } from '../ports/random.ts';
import type { Signer } from '../ports/signer.ts';
import { check } from '../pricing/check.ts';
import { price, type Priced } from '../pricing/price.ts';
import type { LinkDecline, LinkQuote, Partial, Rfq } from '../protocol/link.ts';
import { orderToMessage } from '../protocol/wire.ts';
import type { Ask, Book } from './book.ts';
import type { LpConfig } from './config.ts';
import { fatFinger } from './fat-finger.ts';
import type { Caution, Guard } from './guard.ts';
import type { Ladders } from './ladder.ts';
import type { Leases } from './lease.ts';
import type { Moments } from './moments.ts';
import { groupOf, quoteOrder } from './order.ts';
import type { Route, Routes } from './route.ts';

export type Answer = LinkQuote | Partial | LinkDecline;

export interface Quoter {
  /** At once with a signer in this process; later where the key lives elsewhere or the lease has to reach further. */
  answer(rfq: Rfq): Answer | Promise<Answer>;
}

export type CommitmentSigner = (domain: EscrowDomain, commitment: QuoteCommitment) => Hex | Promise<Hex>;

/** Our own encoder's digest, signed wherever the key lives. */
export const commitmentSigner =
  (signer: Signer): CommitmentSigner =>
  (domain, commitment) =>
    signer.sign(commitmentDigest(domain, commitment));

export interface QuoterDeps {
  book: Book;
  routes: Routes;
  leases: Leases;
  ladders: Ladders;
  guard: Guard;
  moments: Pick<Moments, 'quoted' | 'declined'>;
  clock: Clock;
  /** Turns a commitment into the operator's signature over it. */
  commit: CommitmentSigner;
  random: Random;
  log: Log;
  /** Why nothing may be signed on this route at the moment; undefined when all is well. */
  refusal(route: Route): string | undefined;
  /** Called with every promise, after the hold and before the signature leaves. */
  held(request: HoldRequest): void;
}

export function createQuoter(deps: QuoterDeps, { quoting }: Pick<LpConfig, 'quoting'>): Quoter {
  const { book, routes, leases, ladders, guard, random, log } = deps;

  function answer(rfq: Rfq): Answer | Promise<Answer> {
    const route = routes.find(rfq.input, rfq.output);
    if (route === undefined || !fits(rfq, route)) return no(rfq, route, { declined: 'pair' });
    const refusal = deps.refusal(route);
    if (refusal !== undefined) return no(rfq, route, { declined: 'standby', detail: refusal });
    const caution = guard.admit(rfq, route, deps.clock.nowMs());
    if (isDecline(caution)) return no(rfq, route, caution);
    const times = timesOf(rfq, route, caution);
    if (isDecline(times)) return no(rfq, route, times);
    if (leases.covers(route.origin.id, times.fillDeadline)) return priced(rfq, route, times, caution);
    // Only a taker that wants an unusually long validity waits for a write.
    return leases.extend(route.origin.id, times.fillDeadline).then((ours) => (ours ? priced(rfq, route, times, caution) : no(rfq, route, { declined: 'standby', detail: 'the lease cannot be renewed' })));
  }

  /** A reason instead of a promise, counted. */
  function no(rfq: Rfq, route: Route | undefined, reason: Decline): LinkDecline {
    deps.moments.declined(rfq, route, reason, deps.clock.nowMs());
    return decline(rfq, reason);
  }

  function timesOf(rfq: Rfq, route: Route, { mostSeconds }: Caution): OrderTimes | Decline {
    const now = book.now(route.origin.id);
    const validUntil = Math.max(now + Math.min(quoting.validitySeconds, mostSeconds ?? quoting.validitySeconds), rfq.minValidUntil ?? 0);
    if (validUntil - now > Math.max(quoting.maxValiditySeconds, quoting.validitySeconds)) return { declined: 'validity', detail: 'longer than we quote' };
    return orderTimes(validUntil, rfq.skeleton);
  }

  function priced(rfq: Rfq, route: Route, times: OrderTimes, caution: Caution): Answer | Promise<Answer> {
    const ask: Ask = { side: rfq.side, amount: BigInt(rfq.amount), platformFeeBps: rfq.platformFeeBps, relayFee: BigInt(rfq.relayFee), validUntil: times.validUntil };
    const inputs = book.inputs(route, ask, caution);
    if (isDecline(inputs)) return no(rfq, route, inputs);
    const quoted = price(inputs);
    if (isDecline(quoted)) return ladders.offer(rfq, route, inputs, times, quoted) ?? no(rfq, route, quoted);

    const doubt = check(inputs, quoted)[0] ?? doubtOf(book, route, quoted.input, quoted.output);
    if (doubt !== undefined) {
      log.error({ rfqId: rfq.rfqId, pair: route.pairName, doubt, terms: quoted.terms }, 'a price did not survive the second opinion: not signed');
      return no(rfq, route, { declined: 'internal', detail: doubt });
    }
    const order = quoteOrder(rfq, route, times, { input: quoted.input, output: quoted.output, relayFee: ask.relayFee });
    const id = orderId(route.domain, order);
    const request = requestOf(rfq, route, order, id, quoted);
    const hold = book.ledger.hold(request, book.settled(route.origin.id));
    if (isDecline(hold)) return refused(rfq, route, inputs, times, hold);
    deps.held(request);
    const quoteId = random.bytes32();
    deps.moments.quoted({ orderId: id, quoteId, rfqId: rfq.rfqId, atMs: deps.clock.nowMs(), taker: rfq.taker, route, times, inputs, priced: quoted, hold: request, slice: false });
    return signed(rfq, route, order, id, quoteId, times, quoted);
  }

  /** The ledger says no: offer a part, or say how much would have passed in the taker's own unit. */
  function refused(rfq: Rfq, route: Route, inputs: Parameters<typeof price>[0], times: OrderTimes, hold: Decline): Answer {
    const most = hold.maxAmount === undefined || hold.maxAmount <= 0n ? undefined : rfq.side === 'exactOutput' ? hold.maxAmount : inputFor(inputs, hold.maxAmount);
    const { maxAmount: _, ...reason } = hold;
    const inTheirUnit: Decline = most === undefined ? reason : { ...reason, maxAmount: most };
    return ladders.offer(rfq, route, inputs, times, inTheirUnit) ?? no(rfq, route, inTheirUnit);
  }

  function signed(rfq: Rfq, route: Route, order: StandardOrder, id: Bytes32, quoteId: Bytes32, times: OrderTimes, quoted: Priced): Answer | Promise<Answer> {
    const seal = (signature: Hex): LinkQuote => {
      const commitment: SignedCommitment = { lp: route.account, deadline: order.fillDeadline, signature };
      return {
        type: 'quote',
        rfqId: rfq.rfqId,
        quoteId,
        order: orderToMessage(order) as LinkQuote['order'],
        validUntil: times.validUntil,
        eta: route.sameChain ? quoting.etaSeconds.sameChain : quoting.etaSeconds.crossChain,
        lpSpreadBps: quoted.lpSpreadBps,
        amountBeforeFees: quoted.amountBeforeFees.toString(),
        commitment,
      };
    };
    const signature = deps.commit(route.domain, { orderId: id, quoteId, lp: route.account, deadline: order.fillDeadline });
    return typeof signature === 'string' ? seal(signature) : signature.then(seal);
  }

  /** The venue's skeleton against what we know of the chains ourselves: an order on another escrow or oracle is not ours to promise. */
  function fits({ skeleton, receiver, taker }: Rfq, route: Route): boolean {
    return (
      skeleton.originChainId === route.origin.id &&
      skeleton.settler === route.dest.escrow &&
      skeleton.inputOracle === route.inputOracle &&
      skeleton.outputOracle === route.outputOracle &&
      skeleton.landingMarginSeconds > 0 &&
      skeleton.landingMarginSeconds <= quoting.maxLandingMarginSeconds &&
      skeleton.proofWindowSeconds >= (route.sameChain ? 1 : quoting.claimSeconds) &&
      receiver !== route.dest.escrow &&
      receiver !== route.outputToken.address &&
      taker !== route.account
    );
  }

  return { answer };
}

export function decline(rfq: Pick<Rfq, 'rfqId'>, { declined, control, maxAmount }: Decline, quoteId?: Bytes32): LinkDecline {
  return { type: 'decline', rfqId: rfq.rfqId, ...(quoteId !== undefined && { quoteId }), reason: declined, ...(control !== undefined && { code: control }), maxAmount: maxAmount === undefined ? null : maxAmount.toString() };
}

function requestOf(rfq: Rfq, route: Route, order: StandardOrder, id: Bytes32, quoted: Priced): HoldRequest {
  return {
    quoteId: id,
    chainId: route.dest.id,
    token: route.outputToken.address,
    amount: quoted.output,
    input: { chainId: route.origin.id, token: route.inputToken.address, amount: quoted.received },
    group: groupOf(route.origin.id, rfq.taker, rfq.skeleton.nonce),
    lapsesAt: order.fillDeadline,
    taker: rfq.taker,
    pair: route.pairName,
    side: route.lp,
    notional: quoted.notional,
    fillProbabilityBps: Math.min(10_000, Math.max(1, Math.ceil(quoted.terms.winProbability * 10_000))),
  };
}

/** The largest input whose output the ledger could still pay. */
function inputFor(inputs: Parameters<typeof price>[0], output: bigint): bigint | undefined {
  const quoted = price({ ...inputs, side: 'exactOutput', amount: output });
  return isDecline(quoted) ? undefined : quoted.input;
}

/** The independent check of a deal at the market of this moment. */
export function doubtOf(book: Book, route: Route, input: bigint, output: bigint): string | undefined {
  const { base, quote } = route.pair;
  const same = base === quote;
  const inputUsd = book.usd(route.inputToken.symbol);
  const outputUsd = same ? inputUsd : book.usd(route.outputToken.symbol);
  if (inputUsd === undefined || outputUsd === undefined) return 'no_reference';
  return fatFinger({ input, output, inputDecimals: route.inputToken.decimals, outputDecimals: route.outputToken.decimals, inputUsd, outputUsd, minSpreadBps: route.params.minSpreadBps, maxUsd: route.params.maxSize });
}
