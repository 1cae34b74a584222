/** Checks a candidate offline against the request and its own signed payload, field by field. */

import { toAddress } from '../domain/address.ts';
import { hashTypedData, type TypedDataDefinition } from 'viem';
import { assetId, parseAssetId } from '../domain/asset.ts';
import { type SignedCommitment } from '../domain/commitment.ts';
import { decodeContext, FULL_PORTION_BPS, type OutputContext } from '../domain/context.ts';
import { ESCROW_DOMAIN_NAME, ESCROW_DOMAIN_VERSION, type EscrowDomain } from '../domain/escrow-domain.ts';
import { type Address, addressToBytes32, type Bytes32, type Hex, isBytes32 } from '../domain/hex.ts';
import { isAmount } from '../domain/amount.ts';
import {
  type MandateOutput,
  orderDigest,
  type OrderEnvelope,
  orderEnvelope,
  orderId,
  type StandardOrder,
} from '../domain/order.ts';
import { type Delivery, readDelivery } from '../domain/delivery.ts';
import { SAME_CHAIN_PROOF_SECONDS } from '../domain/time.ts';
import { ORDER_TYPE } from '../protocol/api/candidate.ts';
import { type SealedRoute, zSealedRoute } from '../protocol/api/router.ts';
import { decodeCommitments, parseSeal } from '../protocol/seal-wire.ts';
import { orderFromMessage, zOrderMessage } from '../protocol/wire.ts';
import { type Candidate, matchLegs, type ReadCandidate, shownBy } from './candidate.ts';
import { DistrustError, type DistrustCode } from './errors.ts';
import { DEFAULT_LIMITS, type Limits, type TradeRequest } from './request.ts';
import type { Trust } from './trust.ts';

export interface Terms {
  quoteId: Bytes32;
  executionMode: Candidate['executionMode'];
  /** The origin's escrow, which the taker signs for. */
  domain: EscrowDomain;
  destChainId: number;
  order: StandardOrder;
  orderId: Bytes32;
  digest: Bytes32;
  /** Built here from the order; sign this. */
  envelope: OrderEnvelope;
  inputToken: Address;
  inputAmount: bigint;
  outputToken: Address;
  /** Base units enforced by the escrow; of the first leg of a sequential route. */
  outputAmount: bigint;
  receiver: Address;
  /** One commitment per output; none when the escrow alone enforces the minimum. */
  commitments: SignedCommitment[];
  through: { filler: Address; data: Hex } | null;
  sequential: boolean;
  contexts: OutputContext[];
  platformFeeBps: number;
  relayFee: bigint;
  validUntil: number;
}

const must: (holds: boolean, code: DistrustCode, message: string) => asserts holds = (
  holds,
  code,
  message,
) => {
  if (!holds) throw new DistrustError(code, message);
};

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

function matchSides(
  shown: ReadCandidate,
  request: TradeRequest,
  order: StandardOrder,
  domain: EscrowDomain,
  trust: Trust,
): Pick<Terms, 'destChainId' | 'inputToken' | 'inputAmount' | 'outputToken' | 'outputAmount' | 'receiver'> {
  const taker = toAddress(request.taker);
  const receiver = toAddress(request.receiver ?? request.taker);
  const wanted = { input: parseAssetId(request.input.asset), output: parseAssetId(request.output.asset) };
  must(
    wanted.input !== undefined && wanted.output !== undefined,
    'malformed_answer',
    'The request itself names no assets.',
  );
  must(order.user === taker, 'taker', `The order's taker is ${order.user}, not ${taker}.`);

  const [row, ...rows] = order.inputs;
  const [first] = order.outputs;
  must(row !== undefined && rows.length === 0, 'input_asset', 'The order takes more than one input.');
  must(first !== undefined, 'output_asset', 'The order delivers nothing.');
  must(
    domain.chainId === wanted.input.chainId && row[0] === BigInt(wanted.input.token),
    'input_asset',
    `The order takes 0x${row[0].toString(16)} on chain ${domain.chainId}, not ${request.input.asset}.`,
  );
  const inputAmount = row[1];
  must(
    request.input.amount === undefined || inputAmount === request.input.amount,
    'input_amount',
    `The order takes ${inputAmount}, not ${request.input.amount}.`,
  );

  // The first leg of a sequential route delivers the intermediate asset to the taker.
  const middle = shown.sequential ? parseAssetId(shown.composite?.legs[0]?.output.asset ?? '') : undefined;
  must(!shown.sequential || middle !== undefined, 'composite', 'The first leg of the route gives no asset.');
  const delivery: Delivery = middle
    ? { account: taker, settlement: 'wallet' }
    : { account: receiver, settlement: request.settlement ?? 'wallet' };
  const target = middle ?? wanted.output;
  for (const output of order.outputs)
    matchOutput(output, { ...target, delivery, domain, inputOracle: order.inputOracle }, trust);
  const outputAmount = order.outputs.reduce((sum, { amount }) => sum + amount, 0n);
  must(outputAmount > 0n && inputAmount > 0n, 'output_amount', 'The order moves nothing.');

  const { preview } = shown;
  const [shownIn, ...moreIn] = preview.inputs;
  const [shownOut, ...moreOut] = preview.outputs;
  const one = shownIn !== undefined && shownOut !== undefined && moreIn.length === 0 && moreOut.length === 0;
  must(
    one && shownIn.asset === assetId(wanted.input) && shownOut.asset === assetId(wanted.output),
    'preview',
    'The preview shows other assets than the order.',
  );
  must(
    shownIn.amount === inputAmount.toString(),
    'preview',
    `The preview takes ${shownIn.amount}, the order ${inputAmount}.`,
  );
  must(
    shownOut.receiver === undefined ||
      shownOut.receiver === null ||
      shownOut.receiver.toLowerCase() === receiver,
    'preview',
    `The preview pays ${shownOut.receiver}, the order ${receiver}.`,
  );
  return {
    destChainId: target.chainId,
    inputToken: wanted.input.token,
    inputAmount,
    outputToken: target.token,
    outputAmount,
    receiver: delivery.account,
  };
}

interface WantedOutput {
  chainId: number;
  token: Address;
  delivery: Delivery;
  domain: EscrowDomain;
  inputOracle: Address;
}

function matchOutput(
  output: MandateOutput,
  { chainId: wantedChain, token: wantedToken, delivery, domain, inputOracle }: WantedOutput,
  trust: Trust,
): void {
  const { oracle, settler, chainId, token } = output;
  must(
    chainId === BigInt(wantedChain) && token === addressToBytes32(wantedToken),
    'output_asset',
    `The order delivers ${token} on chain ${chainId}, not ${assetId({ chainId: wantedChain, token: wantedToken })}.`,
  );
  const actual = readDelivery(output);
  must(actual !== undefined, 'callback', 'The order calls a contract upon delivery.');
  must(
    actual.account === delivery.account && actual.settlement === delivery.settlement,
    'receiver',
    `The order pays ${actual.account} (${actual.settlement}), not ${delivery.account} (${delivery.settlement}).`,
  );
  const [settlerAddress, oracleAddress] = [lastBytes(settler), lastBytes(oracle)];
  must(
    settlerAddress !== undefined && oracleAddress !== undefined,
    'settler',
    'Settler or oracle of an output is no address.',
  );
  if (wantedChain === domain.chainId) {
    must(
      settlerAddress === domain.escrow,
      'settler',
      `The output's settler is ${settlerAddress}, not the escrow.`,
    );
    must(
      oracleAddress === domain.escrow && inputOracle === domain.escrow,
      'oracle',
      `On one chain the escrow is the oracle, not ${oracleAddress === domain.escrow ? inputOracle : oracleAddress}.`,
    );
    return;
  }
  try {
    trust.requireEscrow(wantedChain, settlerAddress);
  } catch (error) {
    throw error instanceof DistrustError && error.code === 'escrow'
      ? new DistrustError('settler', error.message, error.facts)
      : error;
  }
  trust.requireOracle(domain.chainId, inputOracle);
  trust.requireOracle(wantedChain, oracleAddress);
}

function lastBytes(word: Bytes32): Address | undefined {
  return word.startsWith(`0x${'0'.repeat(24)}`) ? `0x${word.slice(26)}` : undefined;
}

/**
 * Checks that each output is exclusive to one account for the order's whole life, that shares sum to the
 * whole, and that there is one fee.
 */
function matchContexts({ executionMode }: ReadCandidate, order: StandardOrder): OutputContext[] {
  const contexts = order.outputs.map(({ context }) => {
    const decoded = decodeContext(context);
    must(decoded !== undefined, 'context', `The context ${context.slice(0, 20)}… is not a quote's.`);
    return decoded;
  });
  must(
    contexts.every(({ startTime }) => startTime === order.fillDeadline + 1),
    'exclusivity',
    'Another account could fill an output before the fill deadline.',
  );
  must(
    contexts.reduce((sum, { portionBps }) => sum + portionBps, 0) === FULL_PORTION_BPS &&
      contexts.every(({ portionBps }) => portionBps > 0),
    'context',
    "The outputs' shares do not sum to the whole input.",
  );
  must(
    new Set(contexts.map(({ feeBps }) => feeBps)).size === 1,
    'context',
    'The outputs name different platform fees.',
  );
  must(
    executionMode === 'apiSubmit' || contexts.every(({ relayFee }) => relayFee === 0n),
    'relay_fee',
    'The taker sends the transaction and would still pay a relay fee.',
  );
  return contexts;
}

function matchFees(
  { platformFeeBps: shown, gas, executionMode }: ReadCandidate,
  { maxPlatformFeeBps = DEFAULT_LIMITS.maxPlatformFeeBps, maxRelayFee, maxInput }: Limits,
  contexts: OutputContext[],
  inputAmount: bigint,
): { platformFeeBps: number; relayFee: bigint } {
  const platformFeeBps = contexts[0]?.feeBps ?? 0;
  must(
    platformFeeBps <= maxPlatformFeeBps,
    'platform_fee',
    `The platform fee is ${platformFeeBps} bps; at most ${maxPlatformFeeBps} was expected.`,
  );
  must(
    shown === undefined || shown === null || shown === platformFeeBps,
    'preview',
    `The candidate shows a platform fee of ${shown} bps, the order ${platformFeeBps}.`,
  );
  const relayFee = contexts.reduce((sum, context) => sum + context.relayFee, 0n);
  const mostRelayFee = maxRelayFee ?? inputAmount / 20n;
  must(
    relayFee <= mostRelayFee,
    'relay_fee',
    `The relay fee is ${relayFee}; at most ${mostRelayFee} was expected. Set \`maxRelayFee\` for small trades.`,
  );
  must(
    executionMode !== 'apiSubmit' || !gas || gas.native === '0',
    'gas',
    `The venue sends the transaction and still asks for ${gas?.native} wei of gas.`,
  );
  must(
    maxInput === undefined || inputAmount <= maxInput,
    'price_limit',
    `The order takes ${inputAmount}; you give at most ${maxInput}.`,
  );
  return { platformFeeBps, relayFee };
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

function matchAmounts(
  shown: ReadCandidate,
  { input, output }: TradeRequest,
  { minOutput, maxSlippageBps = DEFAULT_LIMITS.maxSlippageBps }: Limits,
  { inputAmount, outputAmount: enforced }: Pick<Terms, 'inputAmount' | 'outputAmount'>,
  { committed }: { committed: boolean },
): void {
  const [out] = shown.preview.outputs;
  must(out !== undefined && isAmount(out.amount), 'preview', 'The preview shows no output.');
  const promised = BigInt(out.amount);
  if (shown.sequential) {
    must(
      (out.minimumAmount ?? null) === null,
      'minimum_amount',
      'A sequential route enforces no final minimum, but the preview shows one.',
    );
    must(
      minOutput === undefined || promised >= minOutput,
      'price_limit',
      `The route gives ${promised}; you want at least ${minOutput}.`,
    );
  } else {
    must(
      output.amount === undefined || enforced === output.amount,
      'output_amount',
      `The order enforces ${enforced}; the request wants ${output.amount}.`,
    );
    must(
      out.minimumAmount === enforced.toString(),
      'minimum_amount',
      `The preview's minimum is ${out.minimumAmount}; the order enforces ${enforced}.`,
    );
    must(
      minOutput === undefined || enforced >= minOutput,
      'price_limit',
      `The order enforces ${enforced}; you want at least ${minOutput}.`,
    );
    must(
      committed ? promised === enforced : promised >= enforced,
      'preview',
      `The preview shows ${promised} coming out; the order enforces ${enforced}.`,
    );
    must(
      (promised - enforced) * 10_000n <= promised * BigInt(maxSlippageBps),
      'minimum_amount',
      `The preview shows ${promised}, the escrow enforces ${enforced}: more than ${maxSlippageBps} bps apart.`,
    );
  }
  matchLegs(shown, {
    input: input.asset.toLowerCase(),
    output: output.asset.toLowerCase(),
    inputAmount,
    enforced,
  });
}

function matchSplit(
  { splitFill, composite }: ReadCandidate,
  contexts: OutputContext[],
  outputs: readonly MandateOutput[],
): void {
  if (!splitFill)
    return must(
      outputs.length === 1 || (composite !== null && composite.legs.length >= outputs.length),
      'split',
      `The candidate shows none of the order's ${outputs.length} slices.`,
    );
  const same =
    splitFill.fills.length === outputs.length &&
    splitFill.fills.every(
      ({ portionBps, outputAmount }, index) =>
        portionBps === contexts[index]?.portionBps &&
        (outputAmount === undefined || outputAmount === outputs[index]?.amount.toString()),
    );
  must(same, 'split', "The slices shown are not the order's.");
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

function readSealedRoute({ integrityChecksum }: Candidate, namespace: 'rfq' | 'router'): SealedRoute | null {
  const text = parseSeal(integrityChecksum)?.route ?? null;
  if (text === null) return null;
  const parsed = zSealedRoute.safeParse(jsonOf(text));
  must(
    parsed.success && (namespace === 'router' || isReferenceAlone(parsed.data)),
    'commitments',
    "The checksum's route is unexpected or unreadable.",
  );
  return parsed.data;
}

/**
 * Returns true for a reference alone, which is all that an RFQ candidate may carry beside its commitments.
 */
const isReferenceAlone = ({ venue, through, parent, next }: SealedRoute): boolean =>
  venue === null && through === null && parent === null && next === null;

function jsonOf(base64url: string): unknown {
  try {
    const bytes = Uint8Array.from(atob(base64url.replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
      letter.charCodeAt(0),
    );
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** Matches one commitment per output, by the account it is exclusive to, until the fill deadline. */
function matchCommitments(
  { integrityChecksum }: ReadCandidate,
  order: StandardOrder,
  contexts: OutputContext[],
  route: SealedRoute | null,
): SignedCommitment[] {
  const commitments = decodeCommitments(parseSeal(integrityChecksum)?.commitments ?? '');
  if (route?.venue) {
    must(commitments?.length === 0, 'commitments', "A route venue's candidate has commitments of LPs.");
    must(
      !route.through || contexts.every(({ exclusiveFor }) => exclusiveFor === route.through?.filler),
      'exclusivity',
      `The order is not exclusive to its filler ${route.through?.filler}.`,
    );
    return [];
  }
  must(
    commitments !== undefined && commitments.length === order.outputs.length,
    'commitments',
    'The candidate lacks one LP commitment per output.',
  );
  commitments.forEach(({ lp, deadline }, index) => {
    must(
      lp === contexts[index]?.exclusiveFor,
      'exclusivity',
      `Output ${index} is exclusive to ${contexts[index]?.exclusiveFor} but committed by ${lp}.`,
    );
    must(
      deadline === order.fillDeadline,
      'clock_law',
      `The LP of output ${index} commits until ${deadline}, not until the fill deadline ${order.fillDeadline}.`,
    );
  });
  return commitments;
}
