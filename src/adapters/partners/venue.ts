/**
 * A route partner as a route venue: prices, reservations and deliveries come from its HTTP service. What it
 * says about deliveries is a hint; the chain decides.
 */

import { crossLandingSeconds } from '../../domain/chain.ts';
import type { Closed, Decline } from '../../domain/decline.ts';
import { UpstreamError } from '../../domain/errors.ts';
import type { Address, Bytes32 } from '../../domain/hex.ts';
import { type MandateOutput, orderToMessage, outputHash, type StandardOrder } from '../../domain/order.ts';
import { orderTimes, toSeconds, type UnixSeconds } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type {
  RouteAsk,
  RouteDelivery,
  RoutePair,
  RoutePromise,
  RouteQuote,
  RouteVenue,
} from '../../ports/route-venue.ts';
import { assetId, type AssetId } from '../../domain/asset.ts';
import type {
  PartnerOrderState,
  PartnerPair,
  PartnerQuoted,
  PartnerTerms,
  PartnerWindow,
} from '../../protocol/partner/messages.ts';
import { hoursAt } from './hours.ts';
import { createPayoutDesk } from './payouts.ts';
import { type PartnerClient, PartnerFault, PartnerRefusal } from './client.ts';

export interface PartnerVenueOptions {
  id: string;
  name: string;
  kind: 'fiat' | 'issuer' | 'bridge';
  /** The partner's keys, for takers who verify its payout offers. */
  publicKeys: readonly string[];
  limits: Pick<RouteVenue['limits'], 'timeoutMs' | 'maxInFlight'>;
  /** The interval at which the partner's terms are read. */
  termsMs: number;
  /** The timeout of each request about an order. */
  orderTimeoutMs: number;
  /** The chain must show a delivery so long after the partner has begun it, or `deliver` rejects. */
  fillMs: number;
  /** An undelivered order is given up when less than this is left to its fill deadline. */
  cancelSeconds: number;
}

interface PartnerVenueDeps {
  client: PartnerClient;
  chains: ReadonlyMap<number, ChainPort>;
  clock: Clock;
  log: Log;
}

export interface PartnerVenue extends RouteVenue {
  /** Resolves after the first look at the partner's terms, successful or not. */
  start(): Promise<void>;
  stop(): void;
  terms(): PartnerTerms | undefined;
}

const POLL_MS = 100;

interface VenueDeps extends PartnerVenueDeps {
  options: PartnerVenueOptions;
}

interface VenueState {
  /** undefined until they have been read once. */
  terms: PartnerTerms | undefined;
  /** The pairs of the terms, by `keyOf`. */
  pairs: ReadonlyMap<string, PartnerPair>;
  cancelTimer: () => void;
  stopped: boolean;
  /** The partner's ids of its quotes. The router passes the same object to `promise`. */
  quoteIds: WeakMap<RouteQuote, string>;
}

export function createPartnerVenue(
  capabilities: PartnerVenueDeps,
  options: PartnerVenueOptions,
): PartnerVenue {
  const { client, clock } = capabilities;
  const { id, name, kind, limits, publicKeys } = options;
  const deps: VenueDeps = { ...capabilities, options };
  const state: VenueState = {
    ...{ terms: undefined, pairs: new Map(), cancelTimer: () => {}, stopped: false },
    quoteIds: new WeakMap(),
  };
  return {
    id,
    name,
    kind,
    limits: { ...limits, maxSlackBps: 0 },
    serves: (pair) => state.pairs.has(keyOf(assetsIn(pair))),
    standing() {
      if (!state.terms) return { declined: 'standby', detail: 'its terms have not been read yet' };
      const now = toSeconds(clock.nowMs());
      const hours = hoursAt(state.terms.hours, now, now);
      return hours && 'declined' in hours ? hours : undefined;
    },
    quote: (ask) => quote(deps, state, ask),
    promise: (promised) => reserve(deps, state, promised),
    deliver: (delivery) => deliver(deps, delivery),
    start: () => readTerms(deps, state),
    stop() {
      state.stopped = true;
      state.cancelTimer();
    },
    terms: () => state.terms,
    payouts: createPayoutDesk(
      { client, clock, terms: () => state.terms },
      { id, publicKeys, timeoutMs: limits.timeoutMs },
    ),
  };
}

async function readTerms(deps: VenueDeps, state: VenueState): Promise<void> {
  const { client, clock, log } = deps;
  const { id, kind, orderTimeoutMs, termsMs } = deps.options;
  try {
    const read = await client.ask('terms', {}, orderTimeoutMs);
    if (read.kind !== kind)
      throw new PartnerFault(id, 'terms', `its kind is ${read.kind}, and we have it as ${kind}`);
    state.terms = read;
    state.pairs = new Map(read.pairs.map((pair) => [keyOf(pair), pair]));
  } catch (error) {
    log.warn({ partner: id, error }, 'the terms of a route partner could not be read; the last ones stay');
  }
  if (!state.stopped) state.cancelTimer = clock.after(termsMs, () => void readTerms(deps, state));
}

async function quote(
  { client, options: { id, limits } }: VenueDeps,
  { terms, pairs, quoteIds }: VenueState,
  ask: RouteAsk,
): Promise<RouteQuote | Decline | Closed> {
  const pair = pairs.get(keyOf(assetsOf(ask)));
  const account = accountOn(terms, ask.dest.id);
  if (!terms || !pair || account === undefined || accountOn(terms, ask.origin.id) !== account)
    return { declined: 'pair' };
  const hours = hoursFor(terms.hours, ask);
  if ('declined' in hours) return hours;
  const amount = ask.side === 'exactInput' ? ask.fees.handedOver(ask.amount, 0n) : ask.amount;
  const outside = ask.side === 'exactInput' ? beyondLimits(pair, amount, ask) : undefined;
  if (outside) return outside;
  const validTo = Math.min(ask.validity.to, hours.cutOff);
  const answer = await client.ask(
    'quote',
    {
      ...assetsOf(ask),
      side: ask.side,
      amount: amount.toString(),
      taker: ask.taker,
      receiver: ask.receiver,
      now: ask.at.origin.timestamp,
      originBlock: ask.at.origin.number.toString(),
      destBlock: ask.at.dest.number.toString(),
      validFrom: ask.validity.from,
      validTo,
    },
    limits.timeoutMs,
  );
  if ('declined' in answer) return answer.declined === 'closed' ? closed(answer) : declined(answer, ask);
  const wrong = objectionTo(answer, { ask, pair, amount, validTo });
  if (wrong !== undefined) throw new PartnerFault(id, 'quote', wrong);
  const outputAmount = BigInt(answer.amountOut);
  const made: RouteQuote = {
    inputAmount: ask.side === 'exactInput' ? ask.amount : ask.fees.inputFor(BigInt(answer.amountIn), 0n),
    outputAmount,
    minimumOutput: outputAmount,
    validUntil: answer.validUntil,
    eta: answer.eta,
    via: [],
    fees: [{ in: 'input', amount: BigInt(answer.fee) }],
    execution: { kind: 'solver', account },
  };
  quoteIds.set(made, answer.quoteId);
  return made;
}

const accountOn = (terms: PartnerTerms | undefined, chainId: number): Address | undefined =>
  terms?.accounts.find((each) => each.chainId === chainId)?.account;

/** Asks the partner to hold what a quote promises. false: it does not. */
async function reserve(
  { client, options: { limits } }: VenueDeps,
  { quoteIds }: VenueState,
  { ask, quote: shown, nonce }: RoutePromise,
): Promise<boolean> {
  const quoteId = quoteIds.get(shown);
  if (quoteId === undefined) return false;
  const { proofWindowSeconds } = ask.origin;
  // The longest that the router can give an order of any value.
  const landingMarginSeconds = crossLandingSeconds(ask.origin, undefined);
  const { fillDeadline } = orderTimes(shown.validUntil, { landingMarginSeconds, proofWindowSeconds });
  const answer = await client.ask(
    'reserve',
    { quoteId, originChainId: ask.origin.id, nonce: nonce.toString(), fillDeadline },
    limits.timeoutMs,
  );
  return answer.reserved;
}

async function deliver(deps: VenueDeps, { orderId, order, outputs }: RouteDelivery): Promise<void> {
  const { client } = deps;
  const { id, orderTimeoutMs } = deps.options;
  const wanted = outputs.flatMap((index) => order.outputs[index] ?? []);
  if ((await unfilled(deps, orderId, wanted)).length === 0) return;
  const state = await stateOf(deps, orderId, order);
  if (state.orderId !== orderId) throw new PartnerFault(id, 'status', 'it is about another order');
  if (state.status === 'refused' || state.status === 'cancelled')
    throw new DeliveryPending(id, `it has ${state.status} the order: ${state.detail ?? 'no reason given'}`);
  if (state.status === 'accepted') {
    const begun = await client.ask('deliver', { orderId }, orderTimeoutMs);
    if (begun.status === 'accepted') {
      await giveUpLate(deps, orderId, order, wanted);
      throw new DeliveryPending(id, `it has not begun: ${begun.detail ?? 'no reason given'}`);
    }
  }
  await untilFilled(deps, orderId, wanted);
}

/** Returns the outputs that the chain does not show as filled. */
async function unfilled(
  deps: VenueDeps,
  orderId: Bytes32,
  outputs: readonly MandateOutput[],
): Promise<MandateOutput[]> {
  const filled = await Promise.all(
    outputs.map(async (output) => {
      const record = await destOf(deps, output).fillRecord(orderId, outputHash(output));
      return record !== undefined;
    }),
  );
  return outputs.filter((_, index) => !filled[index]);
}

function destOf({ chains, options: { id } }: VenueDeps, output: MandateOutput): ChainPort {
  const port = chains.get(Number(output.chainId));
  if (!port) throw new DeliveryPending(id, `chain ${output.chainId} is not connected`);
  return port;
}

/** Asks how far the order is, and hands it over where the partner does not know it. */
async function stateOf(
  { client, options: { orderTimeoutMs } }: VenueDeps,
  orderId: Bytes32,
  order: StandardOrder,
): Promise<PartnerOrderState> {
  const ask = { orderId };
  try {
    return await client.ask('status', ask, orderTimeoutMs);
  } catch (error) {
    if (!(error instanceof PartnerRefusal) || error.reason !== 'unknown') throw error;
  }
  return client.ask(
    'accept',
    { ...ask, originChainId: Number(order.originChainId), order: orderToMessage(order) },
    orderTimeoutMs,
  );
}

/** Gives an order up late. The taker then has its money back immediately, and not only after `expires`. */
async function giveUpLate(
  deps: VenueDeps,
  orderId: Bytes32,
  { fillDeadline }: StandardOrder,
  outputs: readonly MandateOutput[],
): Promise<void> {
  const { client, log } = deps;
  const { id, cancelSeconds, orderTimeoutMs } = deps.options;
  const now = Math.max(...outputs.map((output) => destOf(deps, output).head()?.timestamp ?? 0));
  if (fillDeadline - now > cancelSeconds) return;
  const { status } = await client.ask('cancel', { orderId }, orderTimeoutMs);
  log.info(
    { partner: id, orderId, status },
    'a partner that does not deliver was asked to give the order up',
  );
}

async function untilFilled(
  deps: VenueDeps,
  orderId: Bytes32,
  outputs: readonly MandateOutput[],
): Promise<void> {
  const { clock } = deps;
  const { id, fillMs } = deps.options;
  const endsAtMs = clock.monotonicMs() + fillMs;
  for (;;) {
    const left = await unfilled(deps, orderId, outputs);
    if (left.length === 0) return;
    if (clock.monotonicMs() >= endsAtMs)
      throw new DeliveryPending(id, 'it says that it delivers, and the chain shows no fill');
    await new Promise<void>((done) => clock.after(POLL_MS, done));
  }
}

function beyondLimits(pair: PartnerPair, amountIn: bigint, { fees }: RouteAsk): Decline | undefined {
  const [least, most] = [BigInt(pair.minAmountIn), BigInt(pair.maxAmountIn)];
  if (amountIn === 0n || amountIn < least)
    return { declined: 'size_below_min', minAmount: fees.inputFor(least > 0n ? least : 1n, 0n) };
  return amountIn > most ? { declined: 'size_above_max', maxAmount: fees.inputFor(most, 0n) } : undefined;
}

/** Explains to people what is wrong with a quote. */
function objectionTo(
  { amountIn: handed, amountOut: given, fee, validUntil }: PartnerQuoted,
  { ask, pair, amount, validTo }: { ask: RouteAsk; pair: PartnerPair; amount: bigint; validTo: UnixSeconds },
): string | undefined {
  const [amountIn, amountOut] = [BigInt(handed), BigInt(given)];
  const fixed = ask.side === 'exactInput' ? amountIn : amountOut;
  if (fixed !== amount) return `it quotes ${fixed} where the request fixes ${amount}`;
  if (amountIn === 0n || amountOut === 0n) return 'it quotes an amount of 0';
  if (amountIn < BigInt(pair.minAmountIn) || amountIn > BigInt(pair.maxAmountIn))
    return `it quotes ${amountIn}, which is beyond its own limits ${pair.minAmountIn} to ${pair.maxAmountIn}`;
  if (BigInt(fee) > amountIn) return `it charges a fee of ${fee} for ${amountIn}`;
  if (validUntil < ask.validity.from || validUntil > validTo)
    return `its validUntil ${validUntil} is not within ${ask.validity.from} to ${validTo}`;
  return undefined;
}

/** The partner counts what it is handed, the taker what it gives. */
function declined(
  {
    declined: reason,
    detail,
    minAmount,
    maxAmount,
  }: {
    declined: Decline['declined'];
    detail?: string | undefined;
    minAmount?: string | undefined;
    maxAmount?: string | undefined;
  },
  { side, fees }: RouteAsk,
): Decline {
  const shown = (text: string) => (side === 'exactInput' ? fees.inputFor(BigInt(text), 0n) : BigInt(text));
  return {
    declined: reason,
    ...(detail !== undefined && { detail }),
    ...(minAmount !== undefined && { minAmount: shown(minAmount) }),
    ...(maxAmount !== undefined && { maxAmount: shown(maxAmount) }),
  };
}

const closed = ({
  opensAt,
  detail,
}: {
  opensAt: UnixSeconds | null;
  detail?: string | undefined;
}): Closed => ({ declined: 'closed', opensAt, ...(detail !== undefined && { detail }) });

/** The opening in which the taker could still submit, or when the next one begins. */
export function hoursFor(
  hours: readonly PartnerWindow[] | null,
  { at, validity }: Pick<RouteAsk, 'at' | 'validity'>,
): { cutOff: UnixSeconds } | Closed {
  return hoursAt(hours, at.origin.timestamp, validity.from) ?? { cutOff: Number.MAX_SAFE_INTEGER };
}

const assetsIn = ({ input, output }: RoutePair): { input: AssetId; output: AssetId } => ({
  input: assetId(input),
  output: assetId(output),
});
const assetsOf = ({ origin, dest, inputToken, outputToken }: RouteAsk) =>
  assetsIn({
    input: { chainId: origin.id, token: inputToken.address },
    output: { chainId: dest.id, token: outputToken.address },
  });
const keyOf = ({ input, output }: { input: string; output: string }): string => `${input} ${output}`;

/** The worker asks again at its next look at the order. */
class DeliveryPending extends UpstreamError {
  constructor(partner: string, why: string) {
    super(`The partner ${partner} has not delivered: ${why}.`, {
      code: 'partner_delivery',
      facts: { partner },
    });
  }
}
