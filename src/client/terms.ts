/** Checks a candidate offline against the request and its own signed payload, field by field. */

import { hashTypedData, type TypedDataDefinition } from 'viem';
import { toAddress } from '../domain/address.ts';
import type { SignedCommitment } from '../domain/commitment.ts';
import type { OutputContext } from '../domain/context.ts';
import { ESCROW_DOMAIN_NAME, ESCROW_DOMAIN_VERSION, type EscrowDomain } from '../domain/escrow-domain.ts';
import { type Address, type Bytes32, type Hex, isBytes32 } from '../domain/hex.ts';
import {
  orderDigest,
  type OrderEnvelope,
  orderEnvelope,
  orderId,
  type StandardOrder,
} from '../domain/order.ts';
import { SAME_CHAIN_PROOF_SECONDS } from '../domain/time.ts';
import { ORDER_TYPE } from '../protocol/api/candidate.ts';
import { orderFromMessage, zOrderMessage } from '../protocol/wire.ts';
import { type Candidate, type ReadCandidate, shownBy } from './candidate.ts';
import type { Limits, TradeRequest } from './request.ts';
import { matchAmounts, matchFees } from './terms/amounts.ts';
import { matchCommitments, matchContexts, matchSplit, readSealedRoute } from './terms/fillers.ts';
import { must } from './terms/must.ts';
import { matchSides, type Sides } from './terms/sides.ts';
import type { Trust } from './trust.ts';

export interface Terms extends Sides {
  quoteId: Bytes32;
  executionMode: Candidate['executionMode'];
  /** The origin's escrow, which the taker signs for. */
  domain: EscrowDomain;
  order: StandardOrder;
  orderId: Bytes32;
  digest: Bytes32;
  /** Built here from the order; sign this. */
  envelope: OrderEnvelope;
  /** One commitment per output; none when the escrow alone enforces the minimum. */
  commitments: SignedCommitment[];
  through: { filler: Address; data: Hex } | null;
  sequential: boolean;
  contexts: OutputContext[];
  platformFeeBps: number;
  relayFee: bigint;
  validUntil: number;
}

/** Throws `DistrustError`. */
export function readTerms(
  received: Candidate,
  request: TradeRequest,
  limits: Limits,
  trust: Trust,
  namespace: 'rfq' | 'router',
): Terms {
  const route = readSealedRoute(received, namespace);
  const candidate = shownBy(received, route, request.input.asset.toLowerCase());
  const { order, domain } = readOrder(candidate, trust);
  const sides = matchSides(candidate, request, order, domain, trust);
  const contexts = matchContexts(candidate, order);
  const { platformFeeBps, relayFee } = matchFees(candidate, limits, contexts, sides.inputAmount);
  matchTimes(candidate, request, order, contexts);
  matchSplit(candidate, contexts, order.outputs);
  matchAmounts(candidate, request, limits, sides, { committed: route?.venue == null });
  matchSolvers(candidate, request);
  const commitments = matchCommitments(candidate, order, contexts, route);
  const id = orderId(domain, order);
  const digest = orderDigest(domain, order);
  must(
    digest === foreignDigest(candidate),
    'envelope',
    "The payload's types, type name or domain differ from the order it shows.",
  );
  return {
    quoteId: candidate.quoteId as Bytes32,
    executionMode: candidate.executionMode,
    domain,
    order,
    orderId: id,
    digest,
    envelope: orderEnvelope(domain, order),
    ...sides,
    commitments,
    through: route?.through ?? null,
    sequential: candidate.sequential,
    contexts,
    platformFeeBps,
    relayFee,
    validUntil: candidate.validUntil,
  };
}

function readOrder(candidate: ReadCandidate, trust: Trust): { order: StandardOrder; domain: EscrowDomain } {
  must(isBytes32(candidate.quoteId), 'quote_id', 'A quoteId is 32 bytes of hex.');
  const payload = candidate.order?.payload;
  must(payload !== undefined, 'order_missing', 'The candidate carries no order to sign.');
  must(
    candidate.order?.type === ORDER_TYPE,
    'envelope',
    `The payload is a "${candidate.order?.type}", not ${ORDER_TYPE}.`,
  );
  const message = zOrderMessage.safeParse(payload['message']);
  must(
    message.success && payload['primaryType'] === 'StandardOrder',
    'envelope',
    'The payload is not a StandardOrder.',
  );
  const order = orderFromMessage(message.data);
  const { name, version, chainId, verifyingContract, ...more } = (payload['domain'] ?? {}) as Record<
    string,
    unknown
  >;
  const known =
    name === ESCROW_DOMAIN_NAME &&
    version === ESCROW_DOMAIN_VERSION &&
    typeof chainId === 'number' &&
    typeof verifyingContract === 'string' &&
    Object.keys(more).length === 0;
  must(known, 'envelope', "The payload's EIP-712 domain is not an escrow's.");
  must(
    order.originChainId === BigInt(chainId),
    'chain',
    `The order is of chain ${order.originChainId}, its domain of chain ${chainId}.`,
  );
  const escrow = toAddress(verifyingContract);
  trust.requireEscrow(chainId, escrow);
  return { order, domain: { chainId, escrow } };
}

function foreignDigest(candidate: ReadCandidate): string | undefined {
  try {
    return hashTypedData(candidate.order?.payload as unknown as TypedDataDefinition);
  } catch {
    return undefined;
  }
}

function matchTimes(
  { validUntil, validity }: ReadCandidate,
  { minValidUntil }: TradeRequest,
  { fillDeadline, expires, outputs, originChainId }: StandardOrder,
  contexts: OutputContext[],
): void {
  must(
    contexts.length > 0 && validUntil < fillDeadline && fillDeadline < expires,
    'clock_law',
    `An order needs validUntil < fillDeadline < expires; this one has ${validUntil}, ${fillDeadline}, ${expires}.`,
  );
  must(
    expires === fillDeadline + SAME_CHAIN_PROOF_SECONDS ||
      outputs.some(({ chainId }) => chainId !== originChainId),
    'clock_law',
    `On one chain an order expires right after its fillDeadline ${fillDeadline}; this one expires at ${expires}.`,
  );
  must(
    minValidUntil === undefined || validUntil >= minValidUntil,
    'validity',
    `The quote expires at ${validUntil}, before ${minValidUntil}.`,
  );
  must(
    !validity ||
      (validity.validUntil === validUntil && (validity.minValidUntil ?? null) === (minValidUntil ?? null)),
    'preview',
    "The restated validity differs from the quote's.",
  );
}

function matchSolvers(
  { solverId, splitFill, composite }: ReadCandidate,
  { solvers, splitFill: wanted }: TradeRequest,
): void {
  const named = [solverId, ...(splitFill?.fills ?? composite?.legs ?? []).map((fill) => fill.solverId)];
  const unwanted = named.find(
    (id) => solvers?.exclude?.includes(id) || (solvers?.include && !solvers.include.includes(id)),
  );
  must(unwanted === undefined, 'solver', `The quote is by ${unwanted}, whom the request left out.`);
  must(wanted !== 'never' || !splitFill, 'solver', 'The order has several counterparties.');
}
