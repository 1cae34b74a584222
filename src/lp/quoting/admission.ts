/**
 * Decides whether a request may be priced: standby, risk controls, tenors, time to fill and the signing
 * lease, in this order.
 */

import { secondsToFinalUp } from '../../domain/chain.ts';
import { type Decline, isDecline } from '../../domain/decline.ts';
import { readDelivery } from '../../domain/delivery.ts';
import { ZERO_ADDRESS } from '../../domain/hex.ts';
import { usdDown } from '../../pricing/usd.ts';
import { type OrderTimes, SAME_CHAIN_PROOF_SECONDS } from '../../domain/time.ts';
import type { Clock } from '../../ports/clock.ts';
import { recipientFor, type Rfq } from '../../protocol/link/link.ts';
import type { LpConfig } from '../config/config.ts';
import type { Bonds } from '../chain/bonds.ts';
import type { Leases } from '../replicas/lease.ts';
import type { Guard } from '../risk/guard.ts';
import type { VenueRfq } from '../risk/venue-budgets.ts';
import type { QuoteRoute } from '../routes/route.ts';
import type { Proving } from '../settlement/proving.ts';
import type { PricingContext, QuoteInputs } from './pricing-context.ts';
import { createTenors, type Tenors } from './tenors.ts';

/** A request that may be priced. */
export interface Admitted {
  /** The shortest first. */
  tenors: readonly [OrderTimes, ...OrderTimes[]];
  /** The inputs of the shortest tenor's price. */
  inputs: QuoteInputs;
}

export interface Admission {
  /** Returns whether the venue's terms of the order match our own chain configuration. */
  isValid(rfq: Rfq, route: QuoteRoute): boolean;
  /** The tenors and the inputs of the price, or the first reason against quoting. Rejects only on a bug. */
  admit(rfq: VenueRfq, route: QuoteRoute): Promise<Admitted | Decline>;
}

export interface AdmissionDeps {
  context: PricingContext;
  leases: Leases;
  guard: Guard;
  bonds: Pick<Bonds, 'latestFillDeadline'>;
  clock: Clock;
  /** Returns why nothing may be signed on this route now; undefined when quoting is allowed. */
  standby: { refusal(route: QuoteRoute): Decline | undefined };
  /** Tells how long a proof takes now. */
  proving?: Pick<Proving, 'neededSeconds'> | undefined;
}

type Quoting = LpConfig['quoting'];

/** Longer would lock the taker's input and our claim for more than a day. */
const MAX_PROOF_WINDOW_SECONDS = 86_400;
/** 10 %. More is taken for a mistake of the venue: no price of ours would interest the taker. */
const MAX_PLATFORM_FEE_BPS = 1_000;

export function createAdmission(deps: AdmissionDeps, quoting: Quoting): Admission {
  const tenors = createTenors(quoting);
  return {
    isValid: (rfq, route) => isValid(deps, quoting, rfq, route),
    admit: (rfq, route) => admit(deps, quoting, tenors, rfq, route),
  };
}

/**
 * The skeleton of the venue against our own chain configuration: never sign for a foreign escrow or oracle.
 */
function isValid({ proving }: AdmissionDeps, quoting: Quoting, rfq: Rfq, route: QuoteRoute): boolean {
  const { skeleton, receiver, taker } = rfq;
  const { proofWindowSeconds } = skeleton;
  const enoughToProve = route.sameChain
    ? proofWindowSeconds === SAME_CHAIN_PROOF_SECONDS
    : proofWindowSeconds <= MAX_PROOF_WINDOW_SECONDS &&
      proofWindowSeconds >= (proving?.neededSeconds(route.origin.id, route.dest.id) ?? quoting.claimSeconds);
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

async function admit(
  deps: AdmissionDeps,
  quoting: Quoting,
  tenorsOf: Tenors,
  rfq: VenueRfq,
  route: QuoteRoute,
): Promise<Admitted | Decline> {
  const { context, leases } = deps;
  const refusal = deps.standby.refusal(route);
  if (refusal !== undefined) return refusal;
  const adjustment = deps.guard.admit(rfq, route, deps.clock.nowMs());
  if (isDecline(adjustment)) return adjustment;
  const tenors = tenorsOf.of(rfq, context.now(route.origin.id), {
    maxSeconds: adjustment.maxSeconds,
    latestFillDeadline: deps.bonds.latestFillDeadline(route, rfq.skeleton.proofWindowSeconds),
  });
  if (isDecline(tenors)) return tenors;
  const slow = tooSlowToFill(context, quoting, rfq, route);
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

/** Declines an order across chains that is final too late to be filled, or that binds us for too long. */
function tooSlowToFill(
  context: PricingContext,
  quoting: Quoting,
  { side, amount, skeleton }: VenueRfq,
  { sameChain, origin, inputToken, outputToken }: QuoteRoute,
): Decline | undefined {
  if (sameChain) return undefined;
  const { symbol, decimals } = side === 'exactInput' ? inputToken : outputToken;
  const price = context.usd(symbol);
  // Pricing declines it, with the reason.
  if (price === undefined) return undefined;
  // A tenth more: the price may rise until the award.
  const tenth = { decimals, price: { num: price.num, den: 10n * price.den } };
  const valueUsd = Number(usdDown(11n * BigInt(amount), tenth));
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
