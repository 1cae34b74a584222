/** `integrityChecksum` as text: `v1.<kid>.<mac>.<commitments>`, so that the LPs' own signatures travel with the terms they back. */

import type { SignedCommitment } from '../domain/commitment.ts';
import { bytesToHex, hexToBytes } from '../domain/hex.ts';
import { writeHexWord, writeNumber } from '../domain/word.ts';

export const SEAL_VERSION = 'v1';

export interface SealText {
  kid: string;
  /** 64 lower-case hex digits. */
  mac: string;
  /** base64url of abi.encode((address lp, uint32 deadline, bytes signature)[]), as text: it is under the MAC. */
  commitments: string;
}

const SEAL = /^v1\.([A-Za-z0-9_-]{1,32})\.([0-9a-f]{64})\.([A-Za-z0-9_-]{1,32768})$/;

export const formatSeal = ({ kid, mac, commitments }: SealText): string => `${SEAL_VERSION}.${kid}.${mac}.${commitments}`;

/** undefined for anything that we never wrote. */
export function parseSeal(text: string): SealText | undefined {
  const match = SEAL.exec(text);
  return match?.[1] && match[2] && match[3] ? { kid: match[1], mac: match[2], commitments: match[3] } : undefined;
}

/** abi.encode of the commitments, in base64url. */
export function encodeCommitments(commitments: readonly SignedCommitment[]): string {
  const tails = commitments.map(({ lp, deadline, signature }) => {
    const bytes = hexToBytes(signature);
    const tail = Buffer.alloc(4 * 32 + padded(bytes.length));
    writeHexWord(tail, 0, lp);
    writeNumber(tail, 32, deadline);
    writeNumber(tail, 64, 96);
    writeNumber(tail, 96, bytes.length);
    bytes.copy(tail, 128);
    return tail;
  });
  const head = Buffer.alloc((2 + tails.length) * 32);
  writeNumber(head, 0, 32);
  writeNumber(head, 32, tails.length);
  let at = tails.length * 32;
  tails.forEach((tail, index) => {
    writeNumber(head, (2 + index) * 32, at);
    at += tail.length;
  });
  return Buffer.concat([head, ...tails]).toString('base64url');
}

/** The commitments of a checksum; undefined unless this is exactly how `encodeCommitments` would write them. Never throws. */
export function decodeCommitments(text: string): SignedCommitment[] | undefined {
  const bytes = Buffer.from(text, 'base64url');
  const count = wordAt(bytes, 32);
  if (wordAt(bytes, 0) !== 32 || count === undefined || count < 1 || count > 32) return undefined;
  const commitments: SignedCommitment[] = [];
  for (let index = 0; index < count; index++) {
    const offset = wordAt(bytes, (2 + index) * 32);
    if (offset === undefined) return undefined;
    const tail = 64 + offset;
    const deadline = wordAt(bytes, tail + 32);
    const length = wordAt(bytes, tail + 96);
    if (deadline === undefined || length === undefined || tail + 128 + length > bytes.length) return undefined;
    commitments.push({ lp: bytesToHex(bytes.subarray(tail + 12, tail + 32)), deadline, signature: bytesToHex(bytes.subarray(tail + 128, tail + 128 + length)) });
  }
  return encodeCommitments(commitments) === text ? commitments : undefined;
}

/** A word that holds a number below 2^32; undefined for any other word and beyond the end. */
function wordAt(bytes: Buffer, offset: number): number | undefined {
  if (offset + 32 > bytes.length) return undefined;
  for (let at = offset; at < offset + 28; at++) if (bytes[at] !== 0) return undefined;
  return bytes.readUInt32BE(offset + 28);
}

const padded = (length: number): number => Math.ceil(length / 32) * 32;
