/** Checks a payout offer without trusting the venue that passed it on: by the partner's own signature. */

import { hashes, verify } from '@noble/ed25519';
import { sha512 } from '@noble/hashes/sha2.js';
import type { PayoutOffer, PayoutOffersRequest } from '../../protocol/payouts/offers.ts';
import { DistrustError } from '../errors.ts';

/** An Ed25519 public key in SPKI ends with its 32 bytes. */
const SPKI_PREFIX = '302a300506032b6570032100';

/**
 * Throws "payout" unless the partner has signed this offer, it answers `asked`, and is valid at `now` (Unix
 * seconds). `publicKeys`: those that the partner publishes, in base64, not those that the venue names.
 */
export function verifyPayoutOffer(
  offer: PayoutOffer,
  { asked, publicKeys, now }: { asked: PayoutOffersRequest; publicKeys: readonly string[]; now: number },
): void {
  const { signed } = offer;
  const must = (holds: boolean, what: string): void => {
    if (!holds) throw new DistrustError('payout', `This payout offer is not the partner's: ${what}.`);
  };
  const message = new TextEncoder().encode(`${signed.id}.${signed.timestamp}.${signed.body}`);
  const isSigned = signed.signature.split(' ').some((each) => {
    const [version, signature = ''] = each.split(',');
    return version === 'v1a' && publicKeys.some((key) => holds(bytesOf(signature), message, keyOf(key)));
  });
  must(isSigned, 'its signature is of none of the keys that you trust');
  const said = parsed(signed.body);
  for (const field of FIELDS)
    must(said[field] === offer[field], `the partner signed another ${field} than is shown`);
  for (const field of ['asset', 'amount', 'currency', 'from'] as const)
    must(offer[field] === asked[field], `it is for another ${field} than you asked for`);
  must(now <= offer.validUntil, 'the token would come after its validUntil');
}

const FIELDS = [
  ...(['offerId', 'asset', 'amount', 'currency', 'from', 'payTo'] as const),
  ...(['amountOut', 'fee', 'arrivesAt', 'validUntil', 'link'] as const),
];

function parsed(body: string): Record<string, unknown> {
  try {
    return Object(JSON.parse(body)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

function holds(signature: Uint8Array, message: Uint8Array, key: Uint8Array | undefined): boolean {
  // Not where the module loads: programs that verify no payouts leave both libraries out.
  hashes.sha512 ??= sha512;
  try {
    return key !== undefined && verify(signature, message, key);
  } catch {
    return false;
  }
}

function keyOf(text: string): Uint8Array | undefined {
  const bytes = bytesOf(text);
  const prefix = [...bytes.slice(0, -32)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return prefix === SPKI_PREFIX ? bytes.slice(-32) : undefined;
}

/** Empty where the text is no base64. */
function bytesOf(base64: string): Uint8Array {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}
