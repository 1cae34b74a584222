/**
 * The hot path: a request comes in, a signed promise or a reason goes out. Validate, price, doubt the price,
 * hold the money, then sign; nothing here waits for a disk or a network, and nothing is signed that is not
 * held.
 */

import { commitmentDigest, type QuoteCommitment } from '../../domain/commitment.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import { readDelivery } from '../../domain/delivery.ts';
import type { EscrowDomain } from '../../domain/escrow-domain.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import { orderId, type StandardOrder } from '../../domain/order.ts';
import type { OrderTimes } from '../../domain/time.ts';
import type { HoldRequest } from '../../inventory/event.ts';
import type { Log } from '../../ports/log.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import type { Signer } from '../../ports/signer.ts';
import { check } from '../../pricing/check.ts';
import { price, type Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import {
  type LinkDecline,
  type LinkQuote,
  type Partial,
  recipientFor,
  type Rfq,
} from '../../protocol/link/link.ts';
import { orderToMessage } from '../../protocol/wire.ts';
import type { Ask, Book, BookInputs } from './pricing-context.ts';
import type { LpConfig } from '../config/config.ts';
import { fatFinger } from '../risk/fat-finger.ts';
import type { Caution, Guard } from '../risk/guard.ts';
import type { Ladders } from './ladder.ts';
import { largestPassing, type Trial } from './largest-passing.ts';
import type { Leases } from '../replicas/lease.ts';
import type { Moments } from '../quote-log/quote-events.ts';
import { groupOf, quoteOrder } from './order.ts';
import { createPoints } from './tenors.ts';
import type { LpRisk } from '../config/risk-config.ts';
import type { Proving } from '../settlement/proving.ts';
import type { Route, Routes } from './route.ts';
import type { Sharing } from '../replicas/sharing.ts';
import { createLine } from './turns.ts';

export type Answer = LinkQuote | Partial | LinkDecline;

export interface Quoter {
  /**
   * Quotes at several firm times, or one reason, or one ladder. At once with a signer in this process; later
   * where the key lives elsewhere or the lease has to reach further.
   */
  answer(rfq: Rfq): readonly Answer[] | Promise<readonly Answer[]>;
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
  refusal(route: Route): Decline | undefined;
  /** What a jump of the mid would cost us on this quote: the ledger keeps the sum within its budget. */
  gapLoss(route: Route, inputs: PriceInputs, priced: Priced): bigint;
  /** Bounds of every promise, whatever pricing says. */
  bounds: LpRisk['fatFinger'];
  /** How long a proof takes at the moment. */
  proving?: Pick<Proving, 'neededSeconds'> | undefined;
  /**
   * One inventory with other replicas: a promise is made there too before it is signed. Absent: nothing is
   * waited for.
   */
  sharing?: Pick<Sharing, 'promise' | 'unsigned'> | undefined;
}

export function createQuoter(deps: QuoterDeps, { quoting }: Pick<LpConfig, 'quoting'>): Quoter {
  const { book, routes, leases, ladders, guard, random, log } = deps;
  const points = createPoints(quoting);
  /** Of those that waited for the same write. */
  const line = createLine();

  function answer(rfq: Rfq): readonly Answer[] | Promise<readonly Answer[]> {
    const route = routes.find(rfq.input, rfq.output);
    if (route === undefined || !fits(rfq, route)) return no(rfq, route, { declined: 'pair' });
    const refusal = deps.refusal(route);
    if (refusal !== undefined) return no(rfq, route, refusal);
    const caution = guard.admit(rfq, route, deps.clock.nowMs());
    if (isDecline(caution)) return no(rfq, route, caution);
    const times = points.of(rfq, book.now(route.origin.id), caution.mostSeconds);
    if (isDecline(times)) return no(rfq, route, times);
    const last = times.at(-1)?.fillDeadline ?? 0;
    if (leases.covers(route.origin.id, last)) return promised(rfq, route, times, caution);
    // Only a taker that wants an unusually long validity waits for a write.
    return leases.extend(route.origin.id, last).then((ours) =>
      line(() => {
        // Somebody may have stopped us while we waited, or taken us over while others went on before us.
        const covered = ours && leases.covers(route.origin.id, last);
        const stopped =
          deps.refusal(route) ??
          (covered ? undefined : { declined: 'standby' as const, detail: 'the lease cannot be renewed' });
        return stopped === undefined ? promised(rfq, route, times, caution) : no(rfq, route, stopped);
      }),
    );
  }

  /** A reason instead of a promise, counted. */
  function no(rfq: Rfq, route: Route | undefined, reason: Decline): readonly Answer[] {
    deps.moments.declined(rfq, route, reason, deps.clock.nowMs());
    return [decline(rfq, reason)];
  }

  /** Everything is held before anything is signed. */
  function promised(
    rfq: Rfq,
    route: Route,
    times: readonly OrderTimes[],
    caution: Caution,
  ): readonly Answer[] | Promise<readonly Answer[]> {
    const [first] = times as readonly [OrderTimes];
    const ask: Ask = {
      side: rfq.side,
      amount: BigInt(rfq.amount),
      platformFeeBps: rfq.platformFeeBps,
      relayFee: BigInt(rfq.relayFee),
      validUntil: first.validUntil,
      taker: rfq.taker,
      rfqId: rfq.rfqId,
    };
    // Read once for all points: what the first of them holds is of the same nonce and does not stand against
    // the others.
    const inputs = book.inputs(route, ask, caution);
    if (isDecline(inputs)) return no(rfq, route, inputs);
    const group = groupOf(route.origin.id, rfq.taker, rfq.skeleton.nonce);
    const held: Held[] = [];
    let refusal: Decline | undefined;
    for (const each of times) {
      const made = hold(rfq, route, group, each, laterBy(inputs, each.validUntil - first.validUntil));
      if (!isDecline(made)) held.push(made);
      else {
        refusal ??= made;
        // A longer promise pays less, so it may fit where a shorter one does not; nothing else gets better
        // with time.
        if (made.declined !== 'no_inventory' && made.declined !== 'limit') break;
      }
    }
    if (held.length > 0 && deps.sharing !== undefined)
      return shared(deps.sharing, rfq, route, times, inputs, held);
    if (held.length > 0) return signed(rfq, route, held);
    return refused(rfq, route, times, inputs, refusal ?? { declined: 'internal' });
  }

  /**
   * Together with the other replicas: what fits there is signed, the rest ends before anybody has seen it.
   */
  async function shared(
    sharing: NonNullable<QuoterDeps['sharing']>,
    rfq: Rfq,
    route: Route,
    times: readonly OrderTimes[],
    inputs: BookInputs,
    held: readonly Held[],
  ): Promise<readonly Answer[]> {
    const refusals = await sharing.promise(held.map(({ request }) => request));
    const made = held.filter((_, at) => refusals[at] === undefined);
    for (const each of held) if (!made.includes(each)) sharing.unsigned(each.request);
    // Much may have happened while we waited; what was promised there and is not signed runs out by itself.
    const stopped = deps.refusal(route);
    if (stopped !== undefined) return no(rfq, route, stopped);
    for (const each of made) announce(rfq, route, each);
    if (made.length > 0) return signed(rfq, route, made);
    const why = refusals[0] ?? { declined: 'internal' };
    const { output } = (held[0] as Held).quoted;
    const room = why.declined === 'no_inventory' ? why.maxAmount : undefined;
    return refused(
      rfq,
      route,
      times,
      inputs,
      why.maxAmount === undefined ? why : { ...why, maxAmount: (inputs.amount * why.maxAmount) / output },
      room,
    );
  }

  /**
   * Why not, with a size or a ladder that would pass. `most`: of the output, where other replicas leave no
   * more.
   */
  function refused(
    rfq: Rfq,
    route: Route,
    times: readonly OrderTimes[],
    inputs: BookInputs,
    reason: Decline,
    most?: bigint,
  ): readonly Answer[] {
    const [first] = times as readonly [OrderTimes];
    const why = advised(rfq, route, first, inputs, reason, most);
    // A split takes its LPs another round, so a part is offered for as long as a whole at most.
    const last = times.at(-1) ?? first;
    const part = ladders.offer(rfq, route, laterBy(inputs, last.validUntil - first.validUntil), last, why);
    if (part !== undefined) return [part];
    // Another day this size would have passed.
    const control = inputs.evidence.caution.control;
    return no(
      rfq,
      route,
      why.declined === 'size_above_max' && control !== undefined ? { ...why, control } : why,
    );
  }

  /** One price, doubted, and its money put aside. */
  function hold(
    rfq: Rfq,
    route: Route,
    group: string,
    times: OrderTimes,
    inputs: PriceInputs,
  ): Held | Decline {
    const quoted = price(inputs);
    if (isDecline(quoted)) return quoted;
    const doubt =
      check(inputs, quoted)[0] ??
      doubtOf(
        book,
        route,
        { input: quoted.input, output: quoted.output, spreadBps: quoted.terms.D },
        deps.bounds,
      );
    if (doubt !== undefined) {
      log.fatal(
        { rfqId: rfq.rfqId, pair: route.pairName, doubt, terms: quoted.terms },
        'a price did not survive the second opinion: not signed',
      );
      return { declined: 'internal', control: 'fat_finger', detail: doubt };
    }
    const order = quoteOrder(rfq, route, times, {
      input: quoted.input,
      output: quoted.output,
      relayFee: inputs.relayFee,
    });
    const id = orderId(route.domain, order);
    const request = requestOf(rfq, route, group, times, id, quoted, deps.gapLoss(route, inputs, quoted));
    const answered = book.ledger.hold(request, book.settled(route.origin.id));
    // What the ledger names is of what it pays out, whichever side the taker fixed.
    if (isDecline(answered))
      return answered.maxAmount === undefined
        ? answered
        : { ...answered, maxAmount: (inputs.amount * answered.maxAmount) / quoted.output };
    const held: Held = { times, order, id, quoteId: random.bytes32(), quoted, request, inputs };
    if (deps.sharing === undefined) announce(rfq, route, held);
    return held;
  }

  /** It is about to be signed. */
  function announce(rfq: Rfq, route: Route, { times, id, quoteId, quoted, request, inputs }: Held): void {
    deps.moments.quoted({
      orderId: id,
      quoteId,
      rfqId: rfq.rfqId,
      atMs: deps.clock.nowMs(),
      taker: rfq.taker,
      route,
      times,
      inputs,
      priced: quoted,
      hold: request,
      slice: false,
      nearest: book.ledger.nearest(id),
      liveQuotes: book.ledger.live,
    });
  }

  /**
   * A refusal that size is the reason of names a size that passes: found by asking pricing and ledger again,
   * not by proportion.
   */
  function advised(
    rfq: Rfq,
    route: Route,
    times: OrderTimes,
    inputs: PriceInputs,
    why: Decline,
    mostOutput?: bigint,
  ): Decline {
    if (why.maxAmount === undefined || why.maxAmount <= 0n) return why;
    const group = groupOf(route.origin.id, rfq.taker, rfq.skeleton.nonce);
    const tried = (amount: bigint): Trial => {
      const quoted = price({ ...inputs, amount });
      if (isDecline(quoted)) return quoted.declined === 'size_below_min' ? 'tiny' : 'fails';
      if (mostOutput !== undefined && quoted.output > mostOutput) return 'fails';
      return book.ledger.wouldRefuse(
        requestOf(rfq, route, group, times, TRIAL, quoted, deps.gapLoss(route, inputs, quoted)),
      ) === undefined
        ? 'passes'
        : 'fails';
    };
    // What pricing names it has searched for and found to pass; only the ledger may still object. What the
    // ledger names is a guess.
    const found = why.declined !== 'limit' && tried(why.maxAmount) === 'passes';
    const most = found ? why.maxAmount : largestPassing(inputs.amount, why.maxAmount, tried);
    // Before the taker is back the price has moved a little; what we own has not, and is named to the last
    // unit.
    const less = most - most / MOVES;
    return {
      ...why,
      maxAmount:
        (rfq.side === 'exactOutput' && why.declined === 'no_inventory') || tried(less) !== 'passes'
          ? most
          : less,
    };
  }

  function signed(
    rfq: Rfq,
    route: Route,
    held: readonly Held[],
  ): readonly Answer[] | Promise<readonly Answer[]> {
    const quotes: LinkQuote[] = [];
    let later: Promise<LinkQuote>[] | undefined;
    for (const each of held) {
      const more = each !== held[held.length - 1];
      const signature = deps.commit(route.domain, {
        orderId: each.id,
        quoteId: each.quoteId,
        lp: route.account,
        deadline: each.order.fillDeadline,
      });
      if (typeof signature === 'string') quotes.push(quoteOf(rfq, route, each, signature, more));
      else (later ??= []).push(signature.then((text) => quoteOf(rfq, route, each, text, more)));
    }
    if (later === undefined) return quotes;
    // A signature that comes after a stop stays with us; its hold runs out by itself.
    return Promise.all(later).then((late) => {
      const stopped = deps.refusal(route);
      return stopped === undefined ? late : no(rfq, route, stopped);
    });
  }

  function quoteOf(
    rfq: Rfq,
    route: Route,
    { times, order, quoteId, quoted }: Held,
    signature: Hex,
    more: boolean,
  ): LinkQuote {
    return {
      type: 'quote',
      rfqId: rfq.rfqId,
      quoteId,
      order: orderToMessage(order) as LinkQuote['order'],
      validUntil: times.validUntil,
      eta: route.sameChain ? quoting.etaSeconds.sameChain : quoting.etaSeconds.crossChain,
      lpSpreadBps: quoted.lpSpreadBps,
      amountBeforeFees: quoted.amountBeforeFees.toString(),
      commitment: { lp: route.account, deadline: order.fillDeadline, signature },
      more,
    };
  }

  /**
   * The venue's skeleton against what we know of the chains ourselves: an order on another escrow or oracle
   * is not ours to promise.
   */
  function fits(rfq: Rfq, route: Route): boolean {
    const { skeleton, receiver, taker } = rfq;
    return (
      skeleton.originChainId === route.origin.id &&
      skeleton.settler === route.dest.escrow &&
      skeleton.inputOracle === route.inputOracle &&
      skeleton.outputOracle === route.outputOracle &&
      skeleton.landingMarginSeconds > 0 &&
      skeleton.landingMarginSeconds <= quoting.maxLandingMarginSeconds &&
      skeleton.proofWindowSeconds >=
        (route.sameChain
          ? 1
          : (deps.proving?.neededSeconds(route.origin.id, route.dest.id) ?? quoting.claimSeconds)) &&
      receiver !== route.dest.escrow &&
      (skeleton.delivery === undefined ||
        readDelivery({ settler: route.settlerWord, ...recipientFor(rfq) })?.account === receiver) &&
      receiver !== route.outputToken.address &&
      taker !== route.account
    );
  }

  return { answer };
}

/** A promise that is held and not yet signed. */
interface Held {
  times: OrderTimes;
  order: StandardOrder;
  id: Bytes32;
  quoteId: Bytes32;
  quoted: Priced;
  request: HoldRequest;
  inputs: PriceInputs;
}

/** The same request, firm for so many seconds more. */
const laterBy = (inputs: PriceInputs, seconds: number): PriceInputs =>
  seconds === 0 ? inputs : { ...inputs, firmSeconds: inputs.firmSeconds + seconds };

/** A named size leaves this part of itself for the price to move in: half of what its search leaves open. */
const MOVES = 2_000n;

/** Names no order: for asking the ledger what it would say. */
const TRIAL = 'trial';

export function decline(
  rfq: Pick<Rfq, 'rfqId'>,
  { declined, control, maxAmount }: Decline,
  quoteId?: Bytes32,
): LinkDecline {
  return {
    type: 'decline',
    rfqId: rfq.rfqId,
    ...(quoteId !== undefined && { quoteId }),
    reason: declined,
    ...(control !== undefined && { code: control }),
    maxAmount: maxAmount === undefined ? null : maxAmount.toString(),
  };
}

function requestOf(
  rfq: Rfq,
  route: Route,
  group: string,
  { fillDeadline }: OrderTimes,
  id: string,
  quoted: Priced,
  gapLoss: bigint,
): HoldRequest {
  return {
    orderId: id,
    chainId: route.dest.id,
    token: route.outputToken.address,
    amount: quoted.output,
    input: { chainId: route.origin.id, token: route.inputToken.address, amount: quoted.received },
    group,
    lapsesAt: fillDeadline,
    taker: rfq.taker,
    pair: route.pairName,
    side: route.lp,
    notional: quoted.notional,
    gapLoss,
    fillProbabilityBps: Math.min(10_000, Math.max(1, Math.ceil(quoted.terms.winProbability * 10_000))),
  };
}

/** The independent check of a deal at the market of this moment. */
export function doubtOf(
  book: Book,
  route: Route,
  { input, output, spreadBps }: { input: bigint; output: bigint; spreadBps: number },
  bounds: LpRisk['fatFinger'],
): string | undefined {
  const { base, quote } = route.pair;
  const same = base === quote;
  const inputUsd = book.usd(route.inputToken.symbol);
  const outputUsd = same ? inputUsd : book.usd(route.outputToken.symbol);
  if (inputUsd === undefined || outputUsd === undefined) return 'no_reference';
  const { minSpreadBps, maxSize } = route.params;
  return fatFinger(
    {
      input,
      output,
      spreadBps,
      inputDecimals: route.inputToken.decimals,
      outputDecimals: route.outputToken.decimals,
      inputUsd,
      outputUsd,
      minSpreadBps,
      maxUsd: maxSize,
    },
    bounds,
  );
}
