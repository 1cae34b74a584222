/**
 * Seals candidates when they are returned, and verifies the seal when they come back. The venue stores
 * nothing of a quote in between.
 */

import type { Sealer } from '../../auction/seal.ts';
import type { Chain, TokenInfo } from '../../domain/chain.ts';
import { crossLandingSeconds, tokenOf } from '../../domain/chain.ts';
import { type Asset, assetId, parseAssetId } from '../../domain/asset.ts';
import type { SignedCommitment } from '../../domain/commitment.ts';
import { decodeContext } from '../../domain/context.ts';
import { type Address, bytes32ToAddress, type Bytes32 } from '../../domain/hex.ts';
import { readDelivery } from '../../domain/delivery.ts';
import { ORDER_TYPES, orderDigest, orderId, type StandardOrder } from '../../domain/order.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { OrderRoute } from '../../ports/stores/store.ts';
import { canonicalJson, rememberOrder } from '../../protocol/canonical-json.ts';
import type { QuoteCandidate, CandidateTerms } from '../../protocol/api/candidate.ts';
import { ORDER_TYPE } from '../../protocol/api/candidate.ts';
import { invalid, type InvalidError } from '../../protocol/errors.ts';
import {
  type RouterCandidate,
  type RouterTerms,
  type SealedRoute,
  zSealedRoute,
} from '../../protocol/api/router.ts';
import {
  decodeCommitments,
  encodeCommitments,
  formatSeal,
  parseSeal,
  type SealText,
  sealedParts,
} from '../../protocol/seal-wire.ts';
import { inputToken as inputTokenAddress } from '../../settlement/funding.ts';
import { orderFromMessage, zOrderMessage } from '../../protocol/wire.ts';

export interface SealOwner {
  account: string;
  namespace: 'rfq' | 'router';
  mode: 'test' | 'live';
}

/**
 * A candidate with a valid seal, and its order read back. Whether it can still execute is checked elsewhere.
 */
export interface VerifiedQuote {
  quoteId: Bytes32;
  executionMode: 'apiSubmit' | 'walletBroadcast';
  validUntil: UnixSeconds;
  order: StandardOrder;
  orderId: Bytes32;
  digest: Bytes32;
  /** One per output; none when a route venue settles. */
  commitments: SignedCommitment[];
  route: OrderRoute | null;
  /** Gas that the filler of a route may use in addition to the escrow's; 0n without one. */
  fillGas: bigint;
  /** The order whose delivery this order spends. */
  parentOrderId: Bytes32 | null;
  /** The leg that follows in a sequential route. */
  nextLeg: LaterLeg | null;
  referenceId: string | null;
  /** One per output. */
  solverIds: string[];
  origin: Chain;
  dest: Chain;
  inputToken: TokenInfo;
  inputAmount: bigint;
  /** The sealed JSON text, checksum included. */
  text: string;
}

export interface LaterLeg {
  /** The asset that this order delivers to the taker's wallet. */
  input: Asset;
  output: Asset;
  receiver: Address;
  terms: NonNullable<SealedRoute['next']>;
}

export interface Sealing {
  /** Returns the candidate as JSON text, checksum included. */
  seal(
    owner: SealOwner,
    terms: CandidateTerms | RouterTerms,
    commitments: readonly SignedCommitment[],
    route?: SealedRoute | null,
  ): string;
  /** Throws a 422 unless exactly this candidate was sealed for exactly this owner. */
  open(owner: SealOwner, candidate: QuoteCandidate | RouterCandidate, now: UnixSeconds): VerifiedQuote;
}

const LOC = ['body', 'quoteResponse'] as const;
const mismatch = (...at: (string | number)[]): InvalidError =>
  invalid(
    'integrity_mismatch',
    [...LOC, ...at],
    'The candidate is not the one that was quoted. Pass it back exactly as it was received, from the account and namespace that asked for it.',
  );

// Every candidate carries this object itself.
rememberOrder(ORDER_TYPES);

export function createSealing(sealer: Sealer, chains: ReadonlyMap<number, Chain>): Sealing {
  return {
    seal(owner, terms, signed, sealedRoute = null) {
      const route = sealedRoute && Buffer.from(canonicalJson(sealedRoute)).toString('base64url');
      const commitments = encodeCommitments(signed);
      const candidate = canonicalJson(terms);
      const mac = sealer.mac({ ...owner, commitments: sealedParts({ commitments, route }), candidate });
      return sealedText(candidate, formatSeal({ kid: sealer.kid, mac, commitments, route }));
    },
    open(owner, sealed, now) {
      const { integrityChecksum, ...rest } = sealed;
      const seal = parseSeal(integrityChecksum);
      if (!seal) throw mismatch('integrityChecksum');
      const candidate = canonicalJson(rest);
      const holds = (namespace: SealOwner['namespace']) =>
        sealer.verify(
          seal.kid,
          seal.mac,
          { ...owner, namespace, commitments: sealedParts(seal), candidate },
          now,
        );
      if (!holds(owner.namespace)) {
        const other = owner.namespace === 'rfq' ? 'router' : 'rfq';
        if (holds(other))
          throw invalid(
            'namespace_mismatch',
            LOC,
            `This candidate was quoted in the ${other} namespace; submit it there.`,
          );
        throw mismatch('integrityChecksum');
      }
      return read(sealed, seal, sealedText(candidate, integrityChecksum));
    },
  };

  /** Reads the sealed candidate back, and checks once more that the shown terms are the signed terms. */
  function read(candidate: QuoteCandidate | RouterCandidate, seal: SealText, text: string): VerifiedQuote {
    const commitments = decodeCommitments(seal.commitments);
    const route = routeIn(seal);
    const payload = candidate.order?.payload;
    const message = zOrderMessage.safeParse(payload?.['message']);
    if (!commitments || route === undefined || candidate.order?.type !== ORDER_TYPE || !message.success)
      throw mismatch('order');
    const order = orderFromMessage(message.data);
    const origin = chains.get(Number(order.originChainId));
    const dest = chains.get(Number(order.outputs[0]?.chainId));
    const domain = payload?.['domain'] as { chainId?: unknown; verifyingContract?: unknown } | undefined;
    if (!origin || !dest || domain?.chainId !== origin.id || domain.verifyingContract !== origin.escrow)
      throw mismatch('order', 'payload', 'domain');

    const [input] = order.inputs as [readonly [bigint, bigint]];
    const inputToken = tokenOf(origin, inputTokenAddress(input[0]));
    const shownIn = candidate.preview.inputs[0];
    if (
      !inputToken ||
      shownIn?.asset !== assetId({ chainId: origin.id, token: inputToken.address }) ||
      shownIn.amount !== input[1].toString()
    )
      throw mismatch('preview', 'inputs', 0);
    const nextLeg = requireOutput(candidate, order, dest, route);
    const landingSeconds = order.fillDeadline - candidate.validUntil;
    const longest =
      origin.id === dest.id ? origin.landingMarginSeconds : crossLandingSeconds(origin, undefined);
    if (landingSeconds < origin.landingMarginSeconds || landingSeconds > longest)
      throw mismatch('validUntil');
    const settledBy = orderRoute(route);
    if (commitments.length !== (settledBy ? 0 : order.outputs.length)) throw mismatch('integrityChecksum');
    if (
      settledBy?.through &&
      decodeContext(order.outputs[0]?.context ?? '0x')?.exclusiveFor !== settledBy.through.filler
    )
      throw mismatch('order');

    const escrow = { chainId: origin.id, escrow: origin.escrow };
    return {
      quoteId: candidate.quoteId as Bytes32,
      executionMode: candidate.executionMode,
      validUntil: candidate.validUntil,
      order,
      orderId: orderId(escrow, order),
      digest: orderDigest(escrow, order),
      commitments,
      route: settledBy,
      fillGas: BigInt(route?.through?.gas ?? 0),
      parentOrderId: route?.parent ?? null,
      nextLeg,
      referenceId: route?.referenceId ?? null,
      solverIds: solversOf(candidate, order),
      origin,
      dest,
      inputToken,
      inputAmount: input[1],
      text,
    };
  }
}

/**
 * Compares the shown output with the enforced one. A sequential route shows the output of its last leg, and
 * the escrow enforces that of its first leg.
 */
function requireOutput(
  candidate: QuoteCandidate | RouterCandidate,
  order: StandardOrder,
  dest: Chain,
  route: SealedRoute | null,
): LaterLeg | null {
  const output = previewOf(order, dest);
  const shown = candidate.preview.outputs[0];
  if (!output || !shown) throw mismatch('preview', 'outputs', 0);
  const composite = 'composite' in candidate ? candidate.composite : undefined;
  if (route?.next) {
    const [first, second] = composite?.legs ?? [];
    const goal = parseAssetId(shown.asset);
    const middle = parseAssetId(output.asset);
    const holds =
      first?.output.asset === output.asset &&
      first.output.minimumAmount === output.amount &&
      second?.input.asset === output.asset &&
      output.receiver === order.user;
    if (
      !holds ||
      !goal ||
      !middle ||
      (shown.minimumAmount ?? null) !== null ||
      typeof shown.receiver !== 'string'
    )
      throw mismatch('composite');
    return { input: middle, output: goal, receiver: shown.receiver as Address, terms: route.next };
  }
  if (
    shown.asset !== output.asset ||
    shown.minimumAmount !== output.amount ||
    shown.receiver !== output.receiver
  )
    throw mismatch('preview', 'outputs', 0);
  // Liquidity without a commitment may give more than the minimum, never less.
  const amountHolds = route?.venue
    ? BigInt(shown.amount) >= BigInt(output.amount)
    : shown.amount === output.amount;
  if (!amountHolds) throw mismatch('preview', 'outputs', 0);
  return null;
}

/** Reads the route; undefined for a malformed one, null when the seal has none. */
function routeIn({ route }: SealText): SealedRoute | null | undefined {
  if (route === null) return null;
  const parsed = zSealedRoute.safeParse(JSON.parse(Buffer.from(route, 'base64url').toString()));
  return parsed.success ? parsed.data : undefined;
}

/** Returns the part that travels under the checksum; undefined where there is none. */
export const sealedReference = (referenceId: string | undefined): SealedRoute | undefined =>
  referenceId === undefined
    ? undefined
    : { venue: null, through: null, parent: null, next: null, referenceId };

function orderRoute(route: SealedRoute | null): OrderRoute | null {
  return route?.venue
    ? {
        venueId: route.venue.id,
        kind: route.venue.kind,
        through: route.through && { filler: route.through.filler, data: route.through.data },
      }
    : null;
}

function solversOf(candidate: QuoteCandidate | RouterCandidate, order: StandardOrder): string[] {
  if (order.outputs.length === 1) return [candidate.solverId];
  if ('composite' in candidate && candidate.composite)
    return candidate.composite.legs.slice(0, order.outputs.length).map(({ solverId }) => solverId);
  return 'splitFill' in candidate && candidate.splitFill
    ? candidate.splitFill.fills.map(({ solverId }) => solverId)
    : [candidate.solverId];
}

/** A checksum needs no JSON escapes. */
const sealedText = (candidate: string, checksum: string): string =>
  `${candidate.slice(0, -1)},"integrityChecksum":"${checksum}"}`;

/** All outputs of an order are slices of one delivery; undefined when they are not. */
function previewOf(
  order: StandardOrder,
  dest: Chain,
): { asset: string; amount: string; receiver: Address } | undefined {
  const [first] = order.outputs;
  const delivery = first && readDelivery(first);
  if (
    !delivery ||
    order.outputs.some(
      ({ chainId, token, recipient, callbackData, context }) =>
        chainId !== first.chainId ||
        token !== first.token ||
        recipient !== first.recipient ||
        callbackData !== first.callbackData ||
        !decodeContext(context),
    )
  )
    return undefined;
  const amount = order.outputs.reduce((sum, output) => sum + output.amount, 0n);
  return {
    asset: assetId({ chainId: dest.id, token: bytes32ToAddress(first.token) }),
    amount: amount.toString(),
    receiver: delivery.account,
  };
}
