/**
 * Our reading of CCTP V2 against Circle's own: the published ABIs, the addresses of its package, and messages
 * that were sent and attested on public chains.
 */

import { readFileSync } from 'node:fs';
import { type Abi, type AbiEvent, type AbiFunction, toEventSelector, toFunctionSelector } from 'viem';
import { toEventSignature, toFunctionSignature } from 'viem/utils';
import { describe, expect, test } from 'vitest';
import {
  messageTransmitterAbi,
  tokenMessengerAbi,
  tokenMinterAbi,
} from '../../src/adapters/bridges/cctp/contracts.ts';
import {
  type BurnMessage,
  decodeBurnMessage,
  differences,
  encodeBurnMessage,
} from '../../src/adapters/bridges/cctp/message.ts';
import { createRecovery } from '../../src/adapters/secp256k1/recovery.ts';
import { presetOf } from '../../src/apps/config/presets.ts';
import { addressToBytes32, type Hex, ZERO_BYTES32 } from '../../src/domain/hex.ts';
import { keccakHex } from '../../src/domain/keccak.ts';
import { devCctpMessengerAbi } from '../support/abi/dev-cctp-messenger.ts';
import { devCctpTransmitterAbi } from '../support/abi/dev-cctp-transmitter.ts';

type Contract = 'TokenMessengerV2' | 'MessageTransmitterV2' | 'TokenMinterV2';

const vectors = JSON.parse(readFileSync(new URL('cctp.json', import.meta.url), 'utf8')) as {
  abis: Record<
    Contract,
    { functions: Record<string, Hex>; events: Record<string, { topic: Hex; indexed: number }> }
  >;
  chains: { chainId: number; domain: number; usdc: Hex; messenger: Hex; transmitter: Hex }[];
  messages: { name: string; message: Hex; attestation?: Hex; signers?: Hex[] }[];
};

const shapeOf = (abi: Abi) => {
  const items = abi as readonly (AbiFunction | AbiEvent)[];
  const of = <T extends 'function' | 'event'>(type: T) =>
    items.filter((item): item is Extract<AbiFunction | AbiEvent, { type: T }> => item.type === type);
  return {
    functions: Object.fromEntries(
      of('function').map((one) => [toFunctionSignature(one), toFunctionSelector(one)]),
    ),
    events: Object.fromEntries(
      of('event').map((one) => [
        toEventSignature(one),
        { topic: toEventSelector(one), indexed: one.inputs.filter(({ indexed }) => indexed).length },
      ]),
    ),
  };
};

test.each([
  ['TokenMessengerV2', tokenMessengerAbi],
  ['MessageTransmitterV2', messageTransmitterAbi],
  ['TokenMinterV2', tokenMinterAbi],
] as const)('we call %s as Circle published it', (contract, abi) => {
  const { functions, events } = shapeOf(abi as Abi);
  const published = vectors.abis[contract];
  expect(Object.keys(functions).length).toBeGreaterThan(0);
  expect(published.functions).toMatchObject(functions);
  expect(published.events).toMatchObject(events);
});

test.each([
  ['TokenMessengerV2', devCctpMessengerAbi],
  ['MessageTransmitterV2', devCctpTransmitterAbi],
  // The stand-in of the messenger is its own minter.
  ['TokenMinterV2', devCctpMessengerAbi],
] as const)('our stand-in answers all that is listed of %s', (contract, abi) => {
  const ours = shapeOf(abi as Abi);
  expect(ours.functions).toMatchObject(vectors.abis[contract].functions);
  expect(ours.events).toMatchObject(vectors.abis[contract].events);
});

test.each(vectors.chains)("the preset of chain $chainId has Circle's domain and addresses", (chain) => {
  const preset = presetOf(chain.chainId) as unknown as {
    cctpDomain: number;
    cctp: { token: string; messenger: string; transmitter: string };
  };
  const { token, messenger, transmitter } = preset.cctp;
  expect([preset.cctpDomain, ...[token, messenger, transmitter].map((text) => text.toLowerCase())]).toEqual([
    chain.domain,
    ...[chain.usdc, chain.messenger, chain.transmitter].map((text) => text.toLowerCase()),
  ]);
});

describe.each(vectors.messages)('a real message: $name', ({ message, attestation }) => {
  const decoded = decodeBurnMessage(message) as BurnMessage;

  test('is read and written again byte by byte', () => {
    expect(encodeBurnMessage(decoded)).toBe(message);
  });

  test('goes from messenger to messenger, in the version that we know', () => {
    const known = vectors.chains.find(({ domain }) => BigInt(domain) === decoded.sourceDomain);
    expect([decoded.version, decoded.bodyVersion]).toEqual([1n, 1n]);
    expect(decoded.sender).toBe(decoded.recipient);
    expect(vectors.chains.map(({ messenger }) => addressToBytes32(messenger))).toContain(decoded.sender);
    expect(known?.domain).toBe(Number(decoded.sourceDomain));
    expect(decoded.fee <= decoded.maxFee && decoded.maxFee < decoded.amount).toBe(true);
  });

  test('equals what was sent but for what the attester fills in', () => {
    const sent = { ...decoded, nonce: ZERO_BYTES32, finality: 0n, fee: 0n, expirationBlock: 0n };
    const attested = attestation ? decoded : { ...decoded, nonce: keccakHex(message), finality: 2_000n };
    expect(differences(sent, attested)).toEqual([]);
  });
});

test.each(vectors.messages.filter(({ attestation }) => attestation))(
  'a message is signed over its keccak-256, by ascending attesters: $name',
  ({ message, attestation = '0x', signers }) => {
    const digits = attestation.slice(2);
    const recovered = [0, 130].map((start) =>
      createRecovery().recover(keccakHex(message), `0x${digits.slice(start, start + 130)}`),
    );
    expect(digits.length).toBe(260);
    expect(recovered).toEqual(signers);
    expect(recovered.toSorted()).toEqual(recovered);
  },
);

test('one pair of attesters signs on all main networks', () => {
  const pairs = vectors.messages
    .filter(({ name, signers }) => signers && !name.includes('Sepolia'))
    .map(({ signers }) => signers?.join());
  expect(pairs.length).toBeGreaterThan(2);
  expect(new Set(pairs).size).toBe(1);
});

test('the fields of a fast transfer from Base', () => {
  const { message } = vectors.messages.find(({ name }) => name === 'Base to Avalanche, fast') ?? {};
  expect(decodeBurnMessage(message as Hex)).toEqual({
    version: 1n,
    sourceDomain: 6n,
    destinationDomain: 1n,
    nonce: '0xbe761cca8a69cb0e710f3c765ca929dacd58ab31238952b2889b406f6406866b',
    sender: addressToBytes32('0x28b5a0e9c621a5badaa536219b3a228c8168cf5d'),
    recipient: addressToBytes32('0x28b5a0e9c621a5badaa536219b3a228c8168cf5d'),
    destinationCaller: ZERO_BYTES32,
    minFinality: 500n,
    finality: 1_000n,
    bodyVersion: 1n,
    burnToken: addressToBytes32('0x833589fcd6edb6e08f4c7c32d4f71b54bda02913'),
    mintRecipient: addressToBytes32('0x5c2632cedb167609c7f12e9bbfbc5665cfd66d40'),
    amount: 1_000_000n,
    messageSender: addressToBytes32('0x5c2632cedb167609c7f12e9bbfbc5665cfd66d40'),
    maxFee: 100n,
    fee: 100n,
    expirationBlock: 59_288_048n,
    hookData: '0x',
  });
});
