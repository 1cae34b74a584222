/**
 * The bytes of a LayerZero packet, version 1, with the message of an OFT in it. The source chain emits them;
 * the verifiers of the destination store a hash of them, and the delivering address passes them whole.
 */

import type { Address, Bytes32, Hex } from '../../../domain/hex.ts';
import { keccakHex } from '../../../domain/keccak.ts';

/** Names the direction of a packet and its position there: from 1, without a gap. */
interface PacketPath {
  nonce: bigint;
  srcEid: number;
  /** The OFT contract on the source; `receiver` is the one on the destination. */
  sender: Bytes32;
  dstEid: number;
  receiver: Bytes32;
}

export interface OftPacket extends PacketPath {
  /** LayerZero's name of the packet, made from its path. */
  guid: Bytes32;
  message: Hex;
}

const VERSION = '01';
/** Hex digits of each field behind the version. */
const DIGITS = { nonce: 16, srcEid: 8, sender: 64, dstEid: 8, receiver: 64, guid: 64 } as const;
const FIELDS = ['nonce', 'srcEid', 'sender', 'dstEid', 'receiver', 'guid'] as const;
const HEADER_DIGITS = VERSION.length + FIELDS.reduce((sum, field) => sum + DIGITS[field], 0);

/** undefined for other versions, bytes that are too short, and a guid that is not the path's. */
export function decodePacket(packet: Hex): OftPacket | undefined {
  const digits = packet.slice(2).toLowerCase();
  if (!/^(?:[0-9a-f]{2})*$/.test(digits) || digits.length < HEADER_DIGITS || !digits.startsWith(VERSION))
    return undefined;
  let at = VERSION.length;
  const next = (field: keyof typeof DIGITS): Hex => `0x${digits.slice(at, (at += DIGITS[field]))}`;
  const [nonce, srcEid, sender] = [BigInt(next('nonce')), Number(next('srcEid')), next('sender')];
  const [dstEid, receiver, guid] = [Number(next('dstEid')), next('receiver'), next('guid')];
  const path = { nonce, srcEid, sender, dstEid, receiver };
  return guid === guidOf(path) ? { ...path, guid, message: `0x${digits.slice(at)}` } : undefined;
}

export const guidOf = ({ nonce, srcEid, sender, dstEid, receiver }: PacketPath): Bytes32 =>
  keccakHex(
    `0x${padded(nonce, 'nonce')}${padded(srcEid, 'srcEid')}${sender.slice(2)}${padded(dstEid, 'dstEid')}${receiver.slice(2)}`,
  );

/** Computes the hash that the destination's endpoint stores once the packet is verified. */
export const payloadHash = ({ guid, message }: OftPacket): Bytes32 =>
  keccakHex(`${guid}${message.slice(2)}` as Hex);

/** Encodes a transfer without a call at its end. `shared`: base units of the OFT's shared decimals. */
export const transferMessage = (to: Address, shared: bigint): Hex =>
  `0x${to.slice(2).padStart(64, '0')}${shared.toString(16).padStart(16, '0')}`;

const padded = (value: bigint | number, field: keyof typeof DIGITS): string =>
  value.toString(16).padStart(DIGITS[field], '0');
