/** Decodes the escrow's event logs. A log only wakes us; decisions use the contract's views. */

import { decodeAbiParameters, getAbiItem } from 'viem';
import { type BondClaim, FADE_REASONS } from '../domain/bond.ts';
import type { Address, Bytes32, Hex } from '../domain/hex.ts';
import { keccakText } from '../domain/keccak.ts';
import { MANDATE_OUTPUT_TYPE, type MandateOutput, type StandardOrder } from '../domain/order.ts';
import type { UnixSeconds } from '../domain/time.ts';
import { escrowAbi } from './abi/escrow.ts';

export type EscrowEvent = { blockNumber: bigint; blockHash: Hex; txHash: Hex; logIndex: number } & (
  | { kind: 'open'; orderId: Bytes32; order: StandardOrder }
  | {
      kind: 'filled';
      orderId: Bytes32;
      solver: Bytes32;
      timestamp: UnixSeconds;
      output: MandateOutput;
      amount: bigint;
    }
  | { kind: 'finalised'; orderId: Bytes32 }
  | { kind: 'refunded'; orderId: Bytes32 }
  | { kind: 'operator'; account: Address; operator: Address; allowed: boolean }
  /** Other than by an order: deposits, credits, withdrawals (negative), requests (0). */
  | { kind: 'ledger'; account: Address; token: Address; amount: bigint; request?: WithdrawalRequest }
  /** The account's wallet received `amount`, as the ledger event just before says too. */
  | {
      kind: 'deferral_ended';
      orderId: Bytes32;
      outputHash: Bytes32;
      account: Address;
      token: Address;
      amount: bigint;
    }
  | { kind: 'nonce'; user: Address; nonce: bigint }
  /** The bond contract reports that an LP's bond has changed. */
  | { kind: 'bond'; account: Address; token: Address; claim?: BondClaim }
  | { kind: 'proven'; remoteChainId: bigint; application: Bytes32; payloadHash: Bytes32 }
);

/** All zero: the request was cancelled. */
interface WithdrawalRequest {
  amount: bigint;
  availableAt: UnixSeconds;
  lapsesAt: UnixSeconds;
}

interface RawLog {
  blockNumber: bigint;
  blockHash: Hex;
  txHash: Hex;
  logIndex: number;
  topics: readonly Hex[];
  data: Hex;
}

const OUTPUT_TUPLE = MANDATE_OUTPUT_TYPE.slice('MandateOutput'.length).replace(/ \w+/g, '');
const ORDER_TUPLE = `(address,uint256,uint256,uint32,uint32,address,uint256[2][],${OUTPUT_TUPLE}[])`;
/** Our fillers emit this event. */
export const SURPLUS_TOPIC = keccakText('Surplus(bytes32,address,address,uint256)');

export const surplusOf = (data: Hex): bigint =>
  decodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], data)[1];

export const TOPICS = {
  Open: keccakText(`Open(bytes32,${ORDER_TUPLE})`),
  Finalised: keccakText('Finalised(bytes32,bytes32,bytes32)'),
  Refunded: keccakText('Refunded(bytes32)'),
  OutputFilled: keccakText(`OutputFilled(bytes32,bytes32,uint32,${OUTPUT_TUPLE},uint256)`),
  OperatorSet: keccakText('OperatorSet(address,address,bool)'),
  OperatorLimited: keccakText('OperatorLimited(address,address,address,uint256,uint256)'),
  NonceInvalidated: keccakText('NonceInvalidated(address,uint256)'),
  Deposited: keccakText('Deposited(address,address,address,uint256)'),
  Credited: keccakText('Credited(address,address,uint256)'),
  Withdrawn: keccakText('Withdrawn(address,address,address,uint256)'),
  OutputProven: keccakText('OutputProven(uint256,bytes32,bytes32,bytes32)'),
  WithdrawalRequested: keccakText('WithdrawalRequested(address,address,uint256,uint256,uint256)'),
  DeferralEnded: keccakText('DeferralEnded(bytes32,bytes32,address,address,uint256)'),
  Posted: keccakText('Posted(address,address,address,uint256)'),
  TakeBackRequested: keccakText('TakeBackRequested(address,address,uint256,uint256)'),
  TakenBack: keccakText('TakenBack(address,address,address,uint256)'),
  Faded: keccakText('Faded(address,address,bytes32,bytes32,uint8,address,uint256,uint256,uint256)'),
} as const;

// Decoded directly: viem's event decoder hashes the signature again for every log.
const [, ...OPEN_DATA] = getAbiItem({ abi: escrowAbi, name: 'Open' }).inputs;
const [, ...FILLED_DATA] = getAbiItem({ abi: escrowAbi, name: 'OutputFilled' }).inputs;

export function decodeLog({ topics, data, ...place }: RawLog): EscrowEvent | undefined {
  const [topic, first, second, third] = topics;
  switch (topic) {
    case TOPICS.Finalised:
      return { ...place, kind: 'finalised', orderId: first as Bytes32 };
    case TOPICS.Refunded:
      return { ...place, kind: 'refunded', orderId: first as Bytes32 };
    case TOPICS.Open: {
      const [opened] = decodeAbiParameters(OPEN_DATA, data);
      const { outputs, user, inputOracle, ...rest } = opened;
      return {
        ...place,
        kind: 'open',
        orderId: first as Bytes32,
        order: {
          ...rest,
          user: lower(user),
          inputOracle: lower(inputOracle),
          outputs: outputs.map(toOutput),
        },
      };
    }
    case TOPICS.OutputFilled: {
      const [solver, timestamp, output, amount] = decodeAbiParameters(FILLED_DATA, data);
      return {
        ...place,
        kind: 'filled',
        orderId: first as Bytes32,
        solver: lower(solver),
        timestamp,
        output: toOutput(output),
        amount,
      };
    }
    case TOPICS.OperatorSet:
      return {
        ...place,
        kind: 'operator',
        account: wordAddress(first),
        operator: wordAddress(second),
        allowed: BigInt(data) !== 0n,
      };
    case TOPICS.OperatorLimited:
      return {
        ...place,
        kind: 'operator',
        account: wordAddress(first),
        operator: wordAddress(second),
        allowed: true,
      };
    case TOPICS.NonceInvalidated:
      return { ...place, kind: 'nonce', user: wordAddress(first), nonce: BigInt(data) };
    case TOPICS.OutputProven:
      return {
        ...place,
        kind: 'proven',
        remoteChainId: BigInt(data.slice(0, 66)),
        application: `0x${data.slice(130, 194)}`,
        payloadHash: `0x${data.slice(194, 258)}`,
      };
    case TOPICS.Deposited:
      return {
        ...place,
        kind: 'ledger',
        account: wordAddress(first),
        token: wordAddress(second),
        amount: wordAt(data, 1),
      };
    case TOPICS.Credited:
      return {
        ...place,
        kind: 'ledger',
        account: wordAddress(first),
        token: wordAddress(second),
        amount: wordAt(data, 0),
      };
    case TOPICS.Withdrawn:
      return {
        ...place,
        kind: 'ledger',
        account: wordAddress(first),
        token: wordAddress(second),
        amount: -wordAt(data, 1),
      };
    case TOPICS.WithdrawalRequested:
      return {
        ...place,
        kind: 'ledger',
        account: wordAddress(first),
        token: wordAddress(second),
        amount: 0n,
        request: {
          amount: wordAt(data, 0),
          availableAt: Number(wordAt(data, 1)),
          lapsesAt: Number(wordAt(data, 2)),
        },
      };
    case TOPICS.DeferralEnded:
      return {
        ...place,
        kind: 'deferral_ended',
        orderId: first as Bytes32,
        outputHash: second as Bytes32,
        account: wordAddress(third),
        token: `0x${data.slice(26, 66)}`,
        amount: wordAt(data, 1),
      };
    case TOPICS.Posted:
    case TOPICS.TakeBackRequested:
    case TOPICS.TakenBack:
      return { ...place, kind: 'bond', account: wordAddress(first), token: wordAddress(second) };
    case TOPICS.Faded: {
      const reason = FADE_REASONS[Number(wordAt(data, 1))];
      // A bond contract of another version: nothing is said of what is not understood.
      if (reason === undefined) return undefined;
      return {
        ...place,
        kind: 'bond',
        account: wordAddress(first),
        token: `0x${data.slice(154, 194)}`,
        claim: {
          user: wordAddress(second),
          orderId: third as Bytes32,
          quoteId: `0x${data.slice(2, 66)}`,
          reason,
          promised: wordAt(data, 3),
          paid: wordAt(data, 4),
          forfeited: wordAt(data, 5),
        },
      };
    }
    default:
      return undefined;
  }
}

/** Lower-cases the text, which also flattens viem's strings: they take five times the memory. */
const lower = (hex: string): Hex => hex.toLowerCase() as Hex;
const wordAddress = (word: Hex | undefined): Address => `0x${(word ?? '').slice(26)}`;
const wordAt = (data: Hex, at: number): bigint => BigInt(`0x${data.slice(2 + 64 * at, 66 + 64 * at)}`);
const toOutput = ({
  oracle,
  settler,
  chainId,
  token,
  amount,
  recipient,
  callbackData,
  context,
}: MandateOutput): MandateOutput => ({
  oracle: lower(oracle),
  settler: lower(settler),
  chainId,
  token: lower(token),
  amount,
  recipient: lower(recipient),
  callbackData: lower(callbackData),
  context: lower(context),
});
