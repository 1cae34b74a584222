/** Encodes how an order is paid for: lock, signed data, and `openFor`'s signature argument. */

import { decodeAbiParameters, encodeAbiParameters, parseAbiParameters } from 'viem';
import { type EscrowDomain, separatorOf } from '../domain/escrow-domain.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import { keccak, keccakText, typedDataDigest } from '../domain/keccak.ts';
import {
  MANDATE_OUTPUT_TYPE,
  ORDER_TYPES,
  orderToMessage,
  outputsHash,
  type StandardOrder,
} from '../domain/order.ts';
import { PERMIT2_TYPES, RECEIVE_FIELDS } from '../domain/lock-types.ts';
import type { UnixSeconds } from '../domain/time.ts';
import { encodeWords } from '../domain/abi.ts';

type OrderLock = 'Permit2' | 'EIP-3009' | 'ResourceLock';

export type Funding =
  /** The taker sends the transaction and has approved the escrow. */
  | { mode: 'self' }
  /** A standing allowance to the escrow. */
  | { mode: 'permit2Grant'; orderSignature: Hex }
  | { mode: 'permit2Lock'; orderSignature: Hex; deadline: bigint; permitSignature: Hex }
  | {
      mode: 'eip3009';
      orderSignature: Hex;
      validAfter: bigint;
      validBefore: bigint;
      nonce: Bytes32;
      authSignature: Hex;
    }
  /** The taker's balance in the escrow's ledger. */
  | { mode: 'resourceLock'; orderSignature: Hex };

const FUNDING_MODE_BYTES = {
  self: 'ff',
  permit2Grant: '10',
  permit2Lock: '11',
  eip3009: '12',
  resourceLock: '13',
} as const;

const ONE_SIGNATURE = parseAbiParameters('bytes');
const PERMIT2_LOCK = parseAbiParameters('bytes, uint256, bytes');
const EIP3009 = parseAbiParameters('bytes, uint256, uint256, bytes32, bytes');

export function encodeFunding(funding: Funding): Hex {
  const byte = FUNDING_MODE_BYTES[funding.mode];
  const join = (data: Hex): Hex => `0x${byte}${data.slice(2)}`;
  switch (funding.mode) {
    case 'self':
      return `0x${byte}`;
    case 'permit2Grant':
    case 'resourceLock':
      return join(encodeAbiParameters(ONE_SIGNATURE, [funding.orderSignature]));
    case 'permit2Lock':
      return join(
        encodeAbiParameters(PERMIT2_LOCK, [
          funding.orderSignature,
          funding.deadline,
          funding.permitSignature,
        ]),
      );
    case 'eip3009':
      return join(
        encodeAbiParameters(EIP3009, [
          funding.orderSignature,
          funding.validAfter,
          funding.validBefore,
          funding.nonce,
          funding.authSignature,
        ]),
      );
  }
}

/** Returns the taker's signature over the order, where the funding holds it. */
export function orderSignatureOf(data: Hex): Hex | undefined {
  const funding = decodeFunding(data);
  return funding === undefined || funding.mode === 'self' ? undefined : funding.orderSignature;
}

/** Decodes funding; undefined for other modes and for data that does not decode. */
export function decodeFunding(data: Hex): Funding | undefined {
  const rest: Hex = `0x${data.slice(4)}`;
  try {
    switch (data.slice(2, 4)) {
      case '':
      case FUNDING_MODE_BYTES.self:
        return { mode: 'self' };
      case FUNDING_MODE_BYTES.permit2Grant:
        return { mode: 'permit2Grant', orderSignature: decodeAbiParameters(ONE_SIGNATURE, rest)[0] };
      case FUNDING_MODE_BYTES.resourceLock:
        return { mode: 'resourceLock', orderSignature: decodeAbiParameters(ONE_SIGNATURE, rest)[0] };
      case FUNDING_MODE_BYTES.permit2Lock: {
        const [orderSignature, deadline, permitSignature] = decodeAbiParameters(PERMIT2_LOCK, rest);
        return { mode: 'permit2Lock', orderSignature, deadline, permitSignature };
      }
      case FUNDING_MODE_BYTES.eip3009: {
        const [orderSignature, validAfter, validBefore, nonce, authSignature] = decodeAbiParameters(
          EIP3009,
          rest,
        );
        return { mode: 'eip3009', orderSignature, validAfter, validBefore, nonce, authSignature };
      }
      default:
        return undefined;
    }
  } catch {
    return undefined;
  }
}

/** Read by preflight, all at one block. */
export interface FundingState {
  amount: bigint;
  /** Less what the taker has requested to withdraw. */
  ledgerAvailable: bigint;
  tokenBalance: bigint;
  hasEip3009: boolean;
  /** Contract wallets, delegated accounts included, cannot sign EIP-3009. */
  takerHasCode: boolean;
  /** The taker's allowance to Permit2. */
  permit2TokenAllowance: bigint;
  /** The taker's grant to the escrow inside Permit2. */
  permit2Grant: { amount: bigint; expiration: UnixSeconds };
  /** The lock has to hold until then. */
  fillDeadline: UnixSeconds;
}

export interface LockChoice {
  lock: OrderLock;
  mode: Exclude<Funding['mode'], 'self'>;
  needsTokenApproval: boolean;
}

/** Chooses ResourceLock if the ledger balance covers it, else EIP-3009 where it works, else Permit2. */
export function chooseLock(state: FundingState): LockChoice {
  const { amount } = state;
  if (state.ledgerAvailable >= amount)
    return { lock: 'ResourceLock', mode: 'resourceLock', needsTokenApproval: false };
  if (state.hasEip3009 && !state.takerHasCode)
    return { lock: 'EIP-3009', mode: 'eip3009', needsTokenApproval: false };
  const granted = state.permit2Grant.amount >= amount && state.permit2Grant.expiration >= state.fillDeadline;
  return {
    lock: 'Permit2',
    mode: granted ? 'permit2Grant' : 'permit2Lock',
    needsTokenApproval: state.permit2TokenAllowance < amount,
  };
}

/** Typed data as JSON for wallets, with its digest by our own encoder. */
interface TypedDataToSign {
  typedData: {
    domain: Record<string, string | number>;
    types: Record<string, readonly { name: string; type: string }[]>;
    primaryType: string;
    message: Record<string, unknown>;
  };
  digest: Bytes32;
}

const PERMIT2_WITNESS_TYPE =
  'Permit2Witness(address user,uint32 expires,address inputOracle,MandateOutput[] outputs)';
const TOKEN_PERMISSIONS_TYPE = 'TokenPermissions(address token,uint256 amount)';
const PERMIT2_TYPEHASH = keccakText(
  `PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,Permit2Witness witness)${MANDATE_OUTPUT_TYPE}${PERMIT2_WITNESS_TYPE}${TOKEN_PERMISSIONS_TYPE}`,
);
const WITNESS_TYPEHASH = keccakText(`${PERMIT2_WITNESS_TYPE}${MANDATE_OUTPUT_TYPE}`);
const TOKEN_PERMISSIONS_TYPEHASH = keccakText(TOKEN_PERMISSIONS_TYPE);
const PERMIT2_DOMAIN_TYPEHASH = keccakText(
  'EIP712Domain(string name,uint256 chainId,address verifyingContract)',
);
const PERMIT2_NAME_HASH = keccakText('Permit2');

/** Builds the typed data with nonce = order.nonce, spender = the escrow, witness = the order. */
export function permit2LockTypedData(
  escrow: EscrowDomain,
  permit2: Address,
  order: StandardOrder,
  deadline: bigint,
): TypedDataToSign {
  const permitted = order.inputs.map(([token, amount]) => ({
    token: inputToken(token),
    amount: amount.toString(),
  }));
  const typedData = {
    domain: { name: 'Permit2', chainId: escrow.chainId, verifyingContract: permit2 },
    types: PERMIT2_TYPES,
    primaryType: 'PermitBatchWitnessTransferFrom',
    message: {
      permitted,
      spender: escrow.escrow,
      nonce: order.nonce.toString(),
      deadline: deadline.toString(),
      witness: {
        user: order.user,
        expires: order.expires,
        inputOracle: order.inputOracle,
        outputs: orderToMessage(order).outputs,
      },
    },
  };
  return { typedData, digest: permit2LockDigest(escrow, permit2, order, deadline) };
}

export function permit2LockDigest(
  escrow: EscrowDomain,
  permit2: Address,
  order: StandardOrder,
  deadline: bigint,
): Bytes32 {
  const permitted = order.inputs.map((row) => keccak(encodeWords([TOKEN_PERMISSIONS_TYPEHASH, ...row])));
  const witness = encodeWords([
    WITNESS_TYPEHASH,
    order.user,
    order.expires,
    order.inputOracle,
    outputsHash(order.outputs),
  ]);
  const struct = encodeWords([
    PERMIT2_TYPEHASH,
    keccak(encodeWords(permitted)),
    escrow.escrow,
    order.nonce,
    deadline,
    keccak(witness),
  ]);
  return typedDataDigest(permit2Separator(escrow.chainId, permit2), keccak(struct));
}

/** Permit2's domain has no version. */
function permit2Separator(chainId: number, permit2: Address): Bytes32 {
  return keccak(encodeWords([PERMIT2_DOMAIN_TYPEHASH, PERMIT2_NAME_HASH, chainId, permit2]));
}

interface Eip3009Token {
  chainId: number;
  address: Address;
  name: string;
  version: string;
}

/**
 * `to` is the escrow: only it can use the authorization, so a third party cannot replay it from the mempool.
 */
interface ReceiveAuthorization {
  from: Address;
  to: Address;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Bytes32;
}

const RECEIVE_TYPEHASH = keccakText(
  'ReceiveWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)',
);

export function eip3009TypedData(token: Eip3009Token, authorization: ReceiveAuthorization): TypedDataToSign {
  const typedData = {
    domain: {
      name: token.name,
      version: token.version,
      chainId: token.chainId,
      verifyingContract: token.address,
    },
    types: { EIP712Domain: ORDER_TYPES.EIP712Domain, ReceiveWithAuthorization: RECEIVE_FIELDS },
    primaryType: 'ReceiveWithAuthorization',
    message: {
      ...authorization,
      value: authorization.value.toString(),
      validAfter: authorization.validAfter.toString(),
      validBefore: authorization.validBefore.toString(),
    },
  };
  return { typedData, digest: eip3009Digest(token, authorization) };
}

export function eip3009Digest(
  { chainId, address, name, version }: Eip3009Token,
  { from, to, value, validAfter, validBefore, nonce }: ReceiveAuthorization,
): Bytes32 {
  const struct = encodeWords([RECEIVE_TYPEHASH, from, to, value, validAfter, validBefore, nonce]);
  return typedDataDigest(separatorOf({ name, version, chainId, verifyingContract: address }), keccak(struct));
}

export function inputToken(token: bigint): Address {
  return `0x${token.toString(16).padStart(40, '0')}`;
}
