/**
 * `integrityChecksum` as text: `v1.<kid>.<mac>.<commitments>`, and the route as base64url of JSON where a
 * route venue settles the candidate, it follows another order, or the request had a referenceId.
 */

import type { SignedCommitment } from '../domain/commitment.ts';
import { bytesToHex, type Hex } from '../domain/hex.ts';
import { AbiWriter, dynamicLength } from '../domain/abi.ts';

const SEAL_VERSION = 'v1';

export interface SealText {
  kid: string;
  mac: string;
  /** base64url of abi.encode((address lp, uint32 deadline, bytes signature)[]), under the MAC. */
  commitments: string;
  /** base64url, under the MAC; null on candidates with four parts. */
  route: string | null;
}

const SEAL =
  /^v1\.([A-Za-z0-9_-]{1,32})\.([0-9a-f]{64})\.([A-Za-z0-9_-]{1,32768})(?:\.([A-Za-z0-9_-]{1,32768}))?$/;

export const formatSeal = ({ kid, mac, commitments, route }: SealText): string =>
  `${SEAL_VERSION}.${kid}.${mac}.${commitments}${route === null ? '' : `.${route}`}`;

export const sealedParts = ({ commitments, route }: Pick<SealText, 'commitments' | 'route'>): string =>
  route === null ? commitments : `${commitments}.${route}`;

/** undefined for text that `formatSeal` never writes. */
export function parseSeal(text: string): SealText | undefined {
  const match = SEAL.exec(text);
  return match?.[1] && match[2] && match[3]
    ? { kid: match[1], mac: match[2], commitments: match[3], route: match[4] ?? null }
    : undefined;
}

export function encodeCommitments(commitments: readonly SignedCommitment[]): string {
  const tailLength = (signature: Hex) => 3 * 32 + dynamicLength(signature);
  const tails = commitments.reduce((length, { signature }) => length + tailLength(signature), 0);
  const writer = new AbiWriter(64 + 32 * commitments.length + tails).word(32).word(commitments.length);
  let offset = 32 * commitments.length;
  for (const { signature } of commitments) {
    writer.word(offset);
    offset += tailLength(signature);
  }
  for (const { lp, deadline, signature } of commitments)
    writer
      .word(lp)
      .word(deadline)
      .word(3 * 32)
      .dynamic(signature);
  return toBase64Url(writer.bytes);
}

/**
 * None where a filler settles; undefined unless `encodeCommitments` would write exactly this. Never
 * throws.
 */
export function decodeCommitments(text: string): SignedCommitment[] | undefined {
  const bytes = fromBase64Url(text);
  if (!bytes) return undefined;
  const count = wordAt(bytes, 32);
  if (wordAt(bytes, 0) !== 32 || count === undefined || count > 32) return undefined;
  const commitments: SignedCommitment[] = [];
  for (let index = 0; index < count; index++) {
    const offset = wordAt(bytes, (2 + index) * 32);
    if (offset === undefined) return undefined;
    const tail = 64 + offset;
    const deadline = wordAt(bytes, tail + 32);
    const length = wordAt(bytes, tail + 96);
    if (deadline === undefined || length === undefined || tail + 128 + length > bytes.length)
      return undefined;
    commitments.push({
      lp: bytesToHex(bytes.subarray(tail + 12, tail + 32)),
      deadline,
      signature: bytesToHex(bytes.subarray(tail + 128, tail + 128 + length)),
    });
  }
  return encodeCommitments(commitments) === text ? commitments : undefined;
}

/** undefined from 2^32 on and beyond the end. */
function wordAt(bytes: Uint8Array, offset: number): number | undefined {
  if (offset + 32 > bytes.length) return undefined;
  for (let at = offset; at < offset + 28; at++) if (bytes[at] !== 0) return undefined;
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(offset + 28, offset + 32);
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

/** Browsers have btoa and atob only. */
const nodeBuffer = (globalThis as { Buffer?: typeof Buffer }).Buffer;

function toBase64Url(bytes: Uint8Array): string {
  if (nodeBuffer)
    return nodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url');
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

function fromBase64Url(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) =>
      letter.charCodeAt(0),
    );
  } catch {
    return undefined;
  }
}
