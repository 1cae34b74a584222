/**
 * The quote path of the LP, from a request to signed quotes or a decline: admit, price, hold, sign. Nothing
 * is signed that is not held first, and in shadow mode the path ends before `sign`. It waits for no chain;
 * for the database only to extend the lease for an unusually long validity, for Redis with several replicas,
 * and for a remote signer.
 */

import { divUp } from '../../domain/amount.ts';
import type { QuoteCommitment } from '../../domain/commitment.ts';
import { secondsToFinalUp } from '../../domain/chain.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import { readDelivery } from '../../domain/delivery.ts';
import { UpstreamError } from '../../domain/errors.ts';
import { type Bytes32, type Hex, ZERO_ADDRESS } from '../../domain/hex.ts';
import { nonceGroupOf, orderId, orderToMessage, type StandardOrder } from '../../domain/order.ts';
import { type OrderTimes, SAME_CHAIN_PROOF_SECONDS } from '../../domain/time.ts';
import type { HoldRequest } from '../../inventory/event.ts';
import type { Log } from '../../ports/log.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Random } from '../../ports/random.ts';
import { check } from '../../pricing/check.ts';
import { price, type Priced } from '../../pricing/price.ts';
import type { PriceInputs } from '../../pricing/price-inputs.ts';
import {
  type LinkDecline,
  type LinkQuote,
  type LinkPartial,
  recipientFor,
  type Rfq,
} from '../../protocol/link/link.ts';
import type { PricingContext, QuoteInputs } from './pricing-context.ts';
import type { CommitmentSigner } from '../commitment-signer.ts';
import type { LpConfig } from '../config/config.ts';
import type { LpRisk } from '../config/risk-config.ts';
import { fatFinger } from '../risk/fat-finger.ts';
import type { Guard } from '../risk/guard.ts';
import { takerOf, type VenueBudgets, type VenueRfq } from '../risk/venue-budgets.ts';
import type { Ladders } from './ladder.ts';
import { largestPassing, type Trial } from './largest-passing.ts';
import type { Leases } from '../replicas/lease.ts';
import type { QuoteEvents, QuoteRecord } from '../quote-log/quote-events.ts';
import { quoteOrder } from '../routes/order.ts';
import { createTenors } from './tenors.ts';
import type { Proving } from '../settlement/proving.ts';
import type { Route, Routes } from '../routes/route.ts';
import type { Sharing } from '../replicas/sharing.ts';

export type LpAnswer = LinkQuote | LinkPartial | LinkDecline;

export interface QuoteHandler {
  /**
   * Quotes at several tenors, or one decline, or one ladder of a part. Rejects only on a bug. `untilMs`: of
   * the monotonic clock, after which an answer is late.
   */
  handleQuoteRequest(rfq: VenueRfq, untilMs: number): Promise<readonly LpAnswer[]>;
}

/** A key service that does not sign is a reason to decline. Every other error is a bug. */
export function whyUnsigned(error: unknown): Decline {
  if (error instanceof UpstreamError) return { declined: 'standby', detail: error.message };
  throw error;
}

export interface QuoteHandlerDeps {
  context: PricingContext;
  routes: Routes;
  leases: Leases;
  ladders: Ladders;
  guard: Guard;
  quoteEvents: Pick<QuoteEvents, 'quoted' | 'declined'>;
  clock: Clock;
  /** Absent in shadow mode: nothing can be signed. */
  commitments: CommitmentSigner | undefined;
  random: Random;
  log: Log;
  /** Why nothing may be signed on this route now; undefined when quoting is allowed. */
  standby: { refusal(route: Route): Decline | undefined };
  /** What a jump of the mid would cost us on this quote: the ledger keeps the sum within its budget. */
  risk: {
    gapLoss(route: Route, inputs: PriceInputs, priced: Priced): bigint;
    /** Counts a request that a risk control refused; other declines count elsewhere. */
    countRefusal(decline: Decline): void;
  };
  /** Limits of every quote, whatever pricing says. */
  fatFinger: LpRisk['fatFinger'];
  venues?: Pick<VenueBudgets, 'refusal' | 'held'> | undefined;
  /** How long a proof takes now. */
  proving?: Pick<Proving, 'neededSeconds'> | undefined;
  /** With several replicas: every hold is also made in the shared inventory before it is signed. */
  sharing?: Pick<Sharing, 'hold' | 'unsigned'> | undefined;
}

/** What `admit` decided. */
interface Admitted {
  /** The shortest first. */
  tenors: readonly [OrderTimes, ...OrderTimes[]];
  /** Of the shortest tenor. */
  inputs: QuoteInputs;
}

/** A quote that is held and not yet signed. */
interface HeldQuote {
  order: StandardOrder;
  request: HoldRequest;
  record: QuoteRecord;
}

interface Refusal {
  decline: Decline;
  /** Base units of the output that other replicas leave at most. */
  maxOutput?: bigint | undefined;
}

/** A suggested size keeps this part of itself free: half of the precision of its search, for price moves. */
const SIZE_MARGIN = 2_000n;

/** Longer would lock the taker's input and our claim for more than a day. */
const MAX_PROOF_WINDOW_SECONDS = 86_400;
/** 10 %. More is taken for a mistake of the venue: no price of ours would interest the taker. */
const MAX_PLATFORM_FEE_BPS = 1_000;

/** The answer to a request that was priced and held in shadow mode. */
const SHADOW = { declined: 'standby', code: 'shadow' } as const satisfies Decline;

/** An order id for asking the ledger what it would refuse. */
const TRIAL_ORDER = 'trial';

export function createQuoteHandler(
  deps: QuoteHandlerDeps,
  { quoting }: Pick<LpConfig, 'quoting'>,
): QuoteHandler {
  const { context, routes, leases, ladders, guard, random, log, clock, sharing, venues } = deps;
  const { ledger } = context;
  const tenorsOf = createTenors(quoting).of;

  async function handleQuoteRequest(rfq: VenueRfq, untilMs: number): Promise<readonly LpAnswer[]> {
    const route = routes.find(rfq.input, rfq.output);
    if (route === undefined || !isValid(rfq, route)) return declined(rfq, route, { declined: 'pair' });
    const admitted = await admit(rfq, route);
    if (isDecline(admitted)) return declined(rfq, route, admitted);
    const held = await priceAndHold(rfq, route, admitted);
    if (!Array.isArray(held)) return offerPart(rfq, route, admitted, held);
    // A stop may have come while the lease or the other replicas were asked. The holds expire by themselves.
    const stopped = deps.standby.refusal(route);
    if (stopped !== undefined) return declined(rfq, route, stopped);
    for (const { record } of held) deps.quoteEvents.quoted(record);
    if (deps.commitments === undefined) return [declineMessage(rfq, SHADOW)];
    return sign(rfq, route, held, untilMs, deps.commitments);
  }

  /**
   * The skeleton of the venue against our own chain configuration: never sign for a foreign escrow or oracle.
   */
  function isValid(rfq: Rfq, route: Route): boolean {
    const { skeleton, receiver, taker } = rfq;
    const { proofWindowSeconds } = skeleton;
    const enoughToProve = route.sameChain
      ? proofWindowSeconds === SAME_CHAIN_PROOF_SECONDS
      : proofWindowSeconds <= MAX_PROOF_WINDOW_SECONDS &&
        proofWindowSeconds >=
          (deps.proving?.neededSeconds(route.origin.id, route.dest.id) ?? quoting.claimSeconds);
    return (
      skeleton.originChainId === route.origin.id &&
      skeleton.settler === route.dest.escrow &&
      skeleton.inputOracle === route.inputOracle &&
      skeleton.outputOracle === route.outputOracle &&
      skeleton.landingMarginSeconds > 0 &&
      (!route.sameChain || skeleton.landingMarginSeconds <= quoting.maxLandingMarginSeconds) &&
      enoughToProve &&
      rfq.platformFeeBps <= MAX_PLATFORM_FEE_BPS &&
      receiver !== ZERO_ADDRESS &&
      receiver !== route.account &&
      receiver !== route.dest.escrow &&
      (skeleton.delivery === undefined ||
        readDelivery({ settler: route.settlerWord, ...recipientFor(rfq) })?.account === receiver) &&
      receiver !== route.outputToken.address &&
      taker !== route.account
    );
  }

  /** An order across chains that is final too late to be filled, or binds us for too long. */
  function tooSlowToFill(
    { side, amount, skeleton }: VenueRfq,
    { sameChain, origin, inputToken, outputToken }: Route,
  ): Decline | undefined {
    if (sameChain) return undefined;
    const { symbol, decimals } = side === 'exactInput' ? inputToken : outputToken;
    const price = context.usd(symbol);
    // Pricing declines it, with the reason.
    if (price === undefined) return undefined;
    // A tenth more: the price may rise until the award.
    const valueUsd = Number((11n * BigInt(amount) * price.num) / (10n * price.den * 10n ** BigInt(decimals)));
    const port = context.chains.get(origin.id)?.port;
    const [head, final] = [port?.head()?.number, port?.finalNumber(valueUsd)];
    if (head === undefined || final === undefined)
      return {
        declined: 'standby',
        detail: `no node of ${origin.slug} names a final block for an order of this value`,
      };
    // Where the final blocks are further back than usual, an order opened now has to wait as long.
    const behindSeconds = Math.ceil((Number(head - final) * origin.blockTimeMs) / 1_000);
    const neededSeconds =
      Math.max(secondsToFinalUp(origin, valueUsd), behindSeconds) + quoting.fillMarginSeconds;
    const { landingMarginSeconds } = skeleton;
    const tooLarge = (detail: string): Decline => ({ declined: 'size_above_max', detail });
    if (landingMarginSeconds < neededSeconds)
      return tooLarge(
        `an order of this value can be filled ${neededSeconds} s after it is opened on ${origin.slug}, and the venue leaves ${landingMarginSeconds} s`,
      );
    return landingMarginSeconds > quoting.maxLandingMarginSeconds
      ? tooLarge(
          `the quote would bind us for ${landingMarginSeconds} s beyond its validity: maxLandingMarginSeconds is ${quoting.maxLandingMarginSeconds}`,
        )
      : undefined;
  }

  /** Standby, risk controls, tenors, finality, the signing lease, the inputs of the price: in this order. */
  async function admit(rfq: VenueRfq, route: Route): Promise<Admitted | Decline> {
    const refusal = deps.standby.refusal(route);
    if (refusal !== undefined) return refusal;
    const adjustment = guard.admit(rfq, route, clock.nowMs());
    if (isDecline(adjustment)) return adjustment;
    const tenors = tenorsOf(rfq, context.now(route.origin.id), adjustment.maxSeconds);
    if (isDecline(tenors)) return tenors;
    const slow = tooSlowToFill(rfq, route);
    if (slow !== undefined) return slow;
    const [shortest, ...longer] = tenors as Admitted['tenors'];
    const deadline = (longer.at(-1) ?? shortest).fillDeadline;
    // Only a taker that demands an unusually long validity waits here for a write to the database.
    if (!leases.covers(route.origin.id, deadline)) {
      const extended = await leases.extend(route.origin.id, deadline);
      if (!extended || !leases.covers(route.origin.id, deadline))
        return { declined: 'standby', detail: 'the lease cannot be renewed' };
    }
    const inputs = context.inputs(
      route,
      {
        side: rfq.side,
        amount: BigInt(rfq.amount),
        platformFeeBps: rfq.platformFeeBps,
        relayFee: BigInt(rfq.relayFee),
        validUntil: shortest.validUntil,
        taker: rfq.taker,
        rfqId: rfq.rfqId,
      },
      adjustment,
    );
    return isDecline(inputs) ? inputs : { tenors: [shortest, ...longer], inputs };
  }

  /**
   * Prices each tenor and holds its output, in our ledger and, with several replicas, in the shared
   * inventory.
   */
  async function priceAndHold(
    rfq: VenueRfq,
    route: Route,
    { tenors, inputs }: Admitted,
  ): Promise<HeldQuote[] | Refusal> {
    const group = nonceGroupOf(route.origin.id, rfq.taker, rfq.skeleton.nonce);
    const held: HeldQuote[] = [];
    let refusal: Decline = { declined: 'internal' };
    for (const times of tenors) {
      const quote = holdTenor(rfq, route, group, times, forTenor(inputs, tenors[0], times));
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

  /** One price, its independent check, and the hold of its output. */
  function holdTenor(
    rfq: VenueRfq,
    route: Route,
    group: string,
    times: OrderTimes,
    explored: QuoteInputs,
  ): HeldQuote | Decline {
    const attempt = price(explored);
    const inputs = isDecline(attempt) ? unexplored(explored) : explored;
    const priced = inputs === explored ? attempt : price(inputs);
    if (isDecline(priced)) {
      if (priced.control !== 'confidence') return priced;
      // Pricing sees one uncertainty; the market has what each source says.
      const { detail = priced.detail } = context.market.condition(route.pair.base, route.pair.quote) ?? {};
      return { ...priced, ...(detail !== undefined && { detail }) };
    }
    const { input, output } = priced;
    const failure =
      check(inputs, priced)[0] ??
      checkDeal(context, route, { input, output, spreadBps: priced.terms.D }, deps.fatFinger);
    if (failure === NO_REFERENCE) return NO_PRICE_NOW;
    if (failure !== undefined) {
      log.fatal(
        { rfqId: rfq.rfqId, pair: route.pairName, failure, terms: priced.terms },
        'the independent check rejected a price: not signed',
      );
      return { declined: 'internal', control: 'fat_finger', detail: failure };
    }
    const order = quoteOrder(rfq, route, times, { input, output, relayFee: inputs.relayFee });
    const id = orderId(route.domain, order);
    const request = holdRequestOf(
      rfq,
      route,
      group,
      times,
      id,
      priced,
      deps.risk.gapLoss(route, inputs, priced),
    );
    const result =
      venues?.refusal(rfq.venue, request) ?? ledger.hold(request, context.lastReadTime(route.origin.id));
    if (isDecline(result)) return inRequestUnits(result, inputs.amount, output);
    venues?.held(rfq.venue, request);
    const record: QuoteRecord = {
      orderId: id,
      quoteId: random.bytes32(),
      rfqId: rfq.rfqId,
      atMs: clock.nowMs(),
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

  /** The quotes that could be signed in time. The hold of each other one expires. */
  async function sign(
    rfq: Rfq,
    route: Route,
    held: readonly HeldQuote[],
    untilMs: number,
    commitments: CommitmentSigner,
  ): Promise<readonly LpAnswer[]> {
    const withinMs = untilMs - clock.monotonicMs();
    const signatures = await Promise.all(
      held.map((quote) =>
        commitments.signCommitment(route.domain, commitmentOf(route, quote), withinMs).catch(whyUnsigned),
      ),
    );
    // A remote signer takes time: a signature that arrives after a stop is not sent, and its hold expires.
    const stopped = deps.standby.refusal(route);
    if (stopped !== undefined) return declined(rfq, route, stopped);
    const quotes: LinkQuote[] = [];
    let unsigned: Decline = { declined: 'internal' };
    for (const [index, quote] of held.entries()) {
      const signature = signatures[index] as Hex | Decline;
      if (typeof signature === 'string') quotes.push(quoteMessage(rfq, route, quote, signature));
      else unsigned = signature;
    }
    const last = quotes.at(-1);
    if (last === undefined) return declined(rfq, route, unsigned);
    last.more = false;
    return quotes;
  }

  const commitmentOf = ({ account: lp }: Route, { order, record }: HeldQuote): QuoteCommitment => ({
    orderId: record.orderId,
    quoteId: record.quoteId,
    lp,
    deadline: order.fillDeadline,
  });

  function quoteMessage(rfq: Rfq, route: Route, { order, record }: HeldQuote, signature: Hex): LinkQuote {
    const { quoteId, priced, times } = record;
    return {
      type: 'quote',
      rfqId: rfq.rfqId,
      quoteId,
      order: orderToMessage(order) as LinkQuote['order'],
      validUntil: times.validUntil,
      eta: route.sameChain ? quoting.etaSeconds.sameChain : quoting.etaSeconds.crossChain,
      lpSpreadBps: priced.lpSpreadBps,
      amountBeforeFees: priced.amountBeforeFees.toString(),
      commitment: { lp: route.account, deadline: order.fillDeadline, signature },
      more: true,
    };
  }

  /** A ladder of the part that would pass, else a decline that names the largest size that would pass. */
  function offerPart(
    rfq: VenueRfq,
    route: Route,
    { tenors, inputs }: Admitted,
    { decline, maxOutput }: Refusal,
  ): readonly LpAnswer[] {
    const why = withLargestSize(rfq, route, tenors[0], unexplored(inputs), decline, maxOutput);
    // A split needs another round between its LPs, so a part is offered for the longest tenor.
    const longest = tenors.at(-1) ?? tenors[0];
    // A shadow LP offers no part: its slice would have to be signed.
    const part =
      deps.commitments && ladders.offer(rfq, route, forTenor(inputs, tenors[0], longest), longest, why);
    if (part !== undefined) return [part];
    const { control } = inputs.evidence.adjustment;
    const reducedBy = why.declined === 'size_above_max' ? control : undefined;
    return declined(
      rfq,
      route,
      reducedBy === undefined ? why : { ...why, control: reducedBy },
      unexplored(inputs),
    );
  }

  /** Finds a size that passes by asking pricing and ledger again, not by proportion. */
  function withLargestSize(
    rfq: VenueRfq,
    route: Route,
    times: OrderTimes,
    inputs: QuoteInputs,
    why: Decline,
    maxOutput: bigint | undefined,
  ): Decline {
    if (why.minAmount !== undefined) return withSmallestSize(inputs, why, why.minAmount);
    if (why.maxAmount === undefined || why.maxAmount <= 0n) return why;
    const group = nonceGroupOf(route.origin.id, rfq.taker, rfq.skeleton.nonce);
    const trial = (amount: bigint): Trial => {
      const priced = price({ ...inputs, amount });
      if (isDecline(priced)) return priced.declined === 'size_below_min' ? 'tiny' : 'fails';
      if (maxOutput !== undefined && priced.output > maxOutput) return 'fails';
      const gapLoss = deps.risk.gapLoss(route, inputs, priced);
      const request = holdRequestOf(rfq, route, group, times, TRIAL_ORDER, priced, gapLoss);
      const refusal = venues?.refusal(rfq.venue, request) ?? ledger.wouldRefuse(request);
      return refusal === undefined ? 'passes' : 'fails';
    };
    // Pricing has tried the size that it names, so only the ledger can object. The ledger's is an estimate.
    const isTried = why.declined !== 'limit' && trial(why.maxAmount) === 'passes';
    const largest = isTried ? why.maxAmount : largestPassing(inputs.amount, why.maxAmount, trial);
    // The price moves before the taker asks again; our inventory does not, so that limit is named exactly.
    const smaller = largest - largest / SIZE_MARGIN;
    const isExact = rfq.side === 'exactOutput' && why.declined === 'no_inventory';
    return { ...why, maxAmount: isExact || trial(smaller) !== 'passes' ? largest : smaller };
  }

  function declined(
    rfq: Rfq,
    route: Route | undefined,
    reason: Decline,
    inputs?: PriceInputs,
  ): readonly LpAnswer[] {
    deps.quoteEvents.declined(rfq, route, reason, clock.nowMs(), inputs);
    return [declineMessage(rfq, reason)];
  }

  return { handleQuoteRequest };
}

/** Why the shared inventory refused every tenor. It names a size in output units. */
function sharedRefusal(refusal: Decline | undefined, { record }: HeldQuote): Refusal {
  const why = refusal ?? { declined: 'internal' };
  return {
    decline: inRequestUnits(why, record.inputs.amount, record.priced.output),
    maxOutput: why.declined === 'no_inventory' ? why.maxAmount : undefined,
  };
}

/**
 * Exploration moves prices and declines nothing, so that a size that a decline names passes, whatever the
 * next request draws.
 */
const unexplored = (inputs: QuoteInputs): QuoteInputs =>
  inputs.exploreBps === 0 ? inputs : { ...inputs, exploreBps: 0 };

/** A little more than the smallest amount that passes now: the price moves before the taker asks again. */
function withSmallestSize(inputs: QuoteInputs, why: Decline, smallest: bigint): Decline {
  const larger = smallest + divUp(smallest, SIZE_MARGIN);
  const passes = !isDecline(price({ ...inputs, amount: larger }));
  return { ...why, minAmount: passes ? larger : smallest };
}

/** The ledger names sizes in output units, the request may fix the input. */
const inRequestUnits = (decline: Decline, amount: bigint, output: bigint): Decline =>
  decline.maxAmount === undefined
    ? decline
    : { ...decline, maxAmount: (amount * decline.maxAmount) / output };

/**
 * The inputs of a longer tenor. Inventory is not read again: a hold of the same nonce does not reduce it for
 * the other tenors.
 */
const forTenor = (inputs: QuoteInputs, first: OrderTimes, times: OrderTimes): QuoteInputs =>
  times === first
    ? inputs
    : { ...inputs, firmSeconds: inputs.firmSeconds + times.validUntil - first.validUntil };

export function declineMessage(
  rfq: Pick<Rfq, 'rfqId'>,
  { declined, control, code, maxAmount, minAmount }: Decline,
  quoteId?: Bytes32,
): LinkDecline {
  const said = control ?? code;
  return {
    type: 'decline',
    rfqId: rfq.rfqId,
    ...(quoteId !== undefined && { quoteId }),
    reason: declined,
    ...(said !== undefined && { code: said }),
    maxAmount: maxAmount === undefined ? null : maxAmount.toString(),
    ...(minAmount !== undefined && { minAmount: minAmount.toString() }),
  };
}

function holdRequestOf(
  rfq: VenueRfq,
  route: Route,
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

/** An asset of the pair has no USD price of its own now, so the deal cannot be checked. */
export const NO_REFERENCE = 'no_reference';

/** The market lost a price between two reads. Pricing made no mistake, so nobody is paged. */
export const NO_PRICE_NOW = {
  declined: 'stale_price',
  control: 'stale_mid',
  detail: 'an asset of the pair has no USD price now',
} as const satisfies Decline;

/** Checks a deal by the USD value of both legs, independently of pricing. Returns what is wrong with it. */
export function checkDeal(
  context: Pick<PricingContext, 'usd'>,
  route: Route,
  { input, output, spreadBps }: { input: bigint; output: bigint; spreadBps: number },
  limits: LpRisk['fatFinger'],
): string | undefined {
  const { base, quote } = route.pair;
  const inputUsd = context.usd(route.inputToken.symbol);
  const outputUsd = base === quote ? inputUsd : context.usd(route.outputToken.symbol);
  if (inputUsd === undefined || outputUsd === undefined) return NO_REFERENCE;
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
    limits,
  );
}
