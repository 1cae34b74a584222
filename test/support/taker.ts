/**
 * Plays a taker with a key: it signs what it is given, as a wallet would, with viem and not with our own
 * encoder.
 */

import { privateKeyToAccount } from 'viem/accounts';
import type { Hex } from '../../src/domain/hex.ts';
import type { TestAccount } from './devnet.ts';
import type { Json } from './venue.ts';

/** Signs EIP-712 over an envelope exactly as it came over the wire. */
export function signTypedData(who: TestAccount, payload: Json): Promise<Hex> {
  const { EIP712Domain: _, ...types } = payload['types'] as unknown as Record<
    string,
    { name: string; type: string }[]
  >;
  const { domain, primaryType, message } = payload as unknown as {
    domain: Record<string, unknown>;
    primaryType: string;
    message: Record<string, unknown>;
  };
  return privateKeyToAccount(who.privateKey).signTypedData({ domain, types, primaryType, message });
}

/** Signs whatever the plan asks for and builds the body of the submission. */
export async function signPlan(
  who: TestAccount,
  candidate: Json,
  plan: Json,
): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = { quoteResponse: candidate };
  for (const action of plan['nextActions'] as unknown as Json[]) {
    if ((action['type'] as string) !== 'signature') continue;
    const signature = await signTypedData(who, action['typedData']?.['payload'] as Json);
    const details = action['details'] as Json;
    switch (action['purpose'] as string) {
      case 'orderSignature':
        body['signature'] = signature;
        break;
      case 'permit2Lock':
        body['permit2Lock'] = { signature, deadline: details['deadline'] };
        break;
      case 'eip3009Authorization':
        body['eip3009Authorization'] = {
          signature,
          validAfter: details['validAfter'],
          validBefore: details['validBefore'],
          nonce: details['nonce'],
        };
    }
  }
  return body;
}
