/** Calldata of every step of an order and of a taker's set-up. */

import {
  encodeFunctionData,
  erc20Abi,
  parseSignature,
  prepareEncodeFunctionData,
  serializeCompactSignature,
  signatureToCompactSignature,
} from 'viem';
import type { SignedCommitment } from '../domain/commitment.ts';
import { type Address, addressToBytes32, type Bytes32, type Hex, ZERO_BYTES32 } from '../domain/hex.ts';
import type { MandateOutput, StandardOrder } from '../domain/order.ts';
import type { UnixSeconds } from '../domain/time.ts';
import { attestationOracleAbi } from './abi/attestation-oracle.ts';
import { escrowAbi } from './abi/escrow.ts';
import { permit2Abi } from './abi/permit2.ts';
import { quoteBondAbi } from './abi/quote-bond.ts';

const escrowCall = encodeFunctionData<typeof escrowAbi>;
/** Prepared once, so that its selector is hashed once. */
const SETTLE = prepareEncodeFunctionData({ abi: escrowAbi, functionName: 'settle' });

export function settleCall(
  order: StandardOrder,
  funding: Hex,
  quoteId: Bytes32,
  commitments: readonly SignedCommitment[],
): Hex {
  return encodeFunctionData({
    ...SETTLE,
    args: [
      toTuple(order),
      funding,
      commitments.map(({ lp, deadline, signature }) => ({ quoteId, lp, deadline, signature })),
    ],
  });
}

/**
 * Encodes the call of the bond contract that settles an order or, when an LP fails it, claims from each LP
 * that does. `signature`: the taker's over the order.
 */
export const settleOrClaimCall = (
  order: StandardOrder,
  funding: Hex,
  signature: Hex,
  quoteId: Bytes32,
  commitments: readonly SignedCommitment[],
): Hex =>
  encodeFunctionData({
    abi: quoteBondAbi,
    functionName: 'settleOrClaim',
    args: [
      toTuple(order),
      funding,
      signature,
      commitments.map(({ lp, deadline, signature: signed }) => ({
        quoteId,
        lp,
        deadline,
        signature: signed,
      })),
    ],
  });

/** `filler` receives the input and fills every output. */
export function settleThroughCall(order: StandardOrder, funding: Hex, filler: Address, data: Hex): Hex {
  return encodeFunctionData({
    abi: escrowAbi,
    functionName: 'settleThrough',
    args: [toTuple(order), funding, filler, data],
  });
}

/** Encodes the call that opens an order for its user. In our own funding modes the sponsor is the user. */
export function openForCall(order: StandardOrder, funding: Hex, sponsor = order.user): Hex {
  return encodeFunctionData({
    abi: escrowAbi,
    functionName: 'openFor',
    args: [toTuple(order), sponsor, funding],
  });
}

/** Encodes the call by which the taker itself opens the order (walletBroadcast). */
export function openCall(order: StandardOrder): Hex {
  return encodeFunctionData({ abi: escrowAbi, functionName: 'open', args: [toTuple(order)] });
}

/** Encodes a fill on the destination. `solver` is the LP account; it or one of its operators sends. */
export function fillCall(
  orderId: Bytes32,
  output: MandateOutput,
  fillDeadline: UnixSeconds,
  solver: Address,
): Hex {
  return encodeFunctionData({
    abi: escrowAbi,
    functionName: 'fill',
    args: [orderId, output, fillDeadline, addressToBytes32(solver)],
  });
}

export function finaliseCall(
  order: StandardOrder,
  fills: readonly { timestamp: UnixSeconds; solver: Address }[],
): Hex {
  const params = fills.map(({ timestamp, solver }) => ({ timestamp, solver: addressToBytes32(solver) }));
  return encodeFunctionData({
    abi: escrowAbi,
    functionName: 'finalise',
    args: [toTuple(order), params, ZERO_BYTES32, '0x'],
  });
}

export function refundCall(order: StandardOrder): Hex {
  return encodeFunctionData({ abi: escrowAbi, functionName: 'refund', args: [toTuple(order)] });
}

/** Signatures by payload, ascending by signer, equally many for each. */
export function submitAttestationsCall(
  remoteChainId: bigint,
  application: Bytes32,
  payloads: readonly { payloadHash: Bytes32; signatures: readonly Hex[] }[],
): Hex {
  return encodeFunctionData({
    abi: attestationOracleAbi,
    functionName: 'submit',
    args: [
      remoteChainId,
      application,
      payloads.map(({ payloadHash }) => payloadHash),
      payloads.flatMap(({ signatures }) => signatures),
    ],
  });
}

/**
 * Encodes the oracle call that proves payloads and finalises their orders in one transaction. The proofs are
 * gone afterwards. `signatures`: over the only payload, or over the list of several. `finalisations`: a
 * `finaliseCall` for this escrow for each.
 */
export const submitAndFinaliseCall = (
  {
    remoteChainId,
    application,
    payloadHashes,
  }: { remoteChainId: bigint; application: Bytes32; payloadHashes: readonly Bytes32[] },
  signatures: readonly Hex[],
  escrow: Address,
  finalisations: readonly Hex[],
): Hex =>
  encodeFunctionData({
    abi: attestationOracleAbi,
    functionName: 'submitAndFinalise',
    args: [remoteChainId, application, payloadHashes, signatures.map(compact), escrow, finalisations],
  });

/** Shortens a signature by ERC-2098, which saves a word of calldata. Anything but 65 bytes stays as it is. */
const compact = (signature: Hex): Hex =>
  signature.length === 2 + 130
    ? serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)))
    : signature;

export const approveCall = (spender: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amount] });
/** Encodes the Permit2 call that gives the escrow a bounded standing grant. */
export const permit2GrantCall = (
  token: Address,
  escrow: Address,
  amount: bigint,
  expiration: UnixSeconds,
): Hex =>
  encodeFunctionData({ abi: permit2Abi, functionName: 'approve', args: [token, escrow, amount, expiration] });
export const depositCall = (token: Address, amount: bigint): Hex =>
  escrowCall({ abi: escrowAbi, functionName: 'deposit', args: [token, amount] });
/** Encodes a deposit from the sender's wallet into the balance of any account. */
export const depositForCall = (account: Address, token: Address, amount: bigint): Hex =>
  escrowCall({ abi: escrowAbi, functionName: 'depositFor', args: [account, token, amount] });
export const requestWithdrawalCall = (token: Address, amount: bigint): Hex =>
  escrowCall({ abi: escrowAbi, functionName: 'requestWithdrawal', args: [token, amount] });
export const withdrawCall = (token: Address, to: Address): Hex =>
  escrowCall({ abi: escrowAbi, functionName: 'withdraw', args: [token, to] });
/** Anyone may send it once the deferral is over. */
export const withdrawDeferredCall = (orderId: Bytes32, output: MandateOutput): Hex =>
  escrowCall({ abi: escrowAbi, functionName: 'withdrawDeferred', args: [orderId, output] });
export const setOperatorCall = (operator: Address, allowed: boolean): Hex =>
  escrowCall({ abi: escrowAbi, functionName: 'setOperator', args: [operator, allowed] });
/** Encodes an operator's limit. `most`: base units in a window of so many seconds. */
export const limitOperatorCall = (
  operator: Address,
  token: Address,
  most: bigint,
  windowSeconds: number,
): Hex =>
  escrowCall({ abi: escrowAbi, functionName: 'limitOperator', args: [operator, token, most, windowSeconds] });

/** Copies the order into the mutable rows that viem's types want. */
export function toTuple(order: StandardOrder) {
  return {
    ...order,
    inputs: order.inputs.map(([token, amount]) => [token, amount] as const),
    outputs: [...order.outputs],
  };
}
