/** Declares what every part of a certification works with. */

import { parseAssetId } from '../../domain/asset.ts';
import type { Asking } from './asking.ts';
import type { RuleFindings } from './findings.ts';
import type { FoundQuote } from './inspect.ts';
import type { Promises } from './promises.ts';
import type { CertifyVenue } from './venue.ts';
import {
  type AskedPair,
  backing,
  type CertifiedChain,
  type CertifyWorld,
  chainIn,
  tokenIn,
} from './world.ts';

export interface CertifyContext {
  world: CertifyWorld;
  venue: CertifyVenue;
  findings: RuleFindings;
  promises: Promises;
  asking: Asking;
  /** Requests of the firmness check. */
  requests: number;
  heartbeatSeconds: number;
  /** The longest time until a connected solver is active. */
  activeMs: number;
  /** The longest time for a solver to deliver, once the input is in escrow. */
  fillMs: number;
}

/** A pair with sizes that suit what the account has: `give` and `take` of 1/n of the balance. */
export interface SizedPair {
  pair: AskedPair;
  dest: CertifiedChain;
  account: `0x${string}`;
  token: `0x${string}`;
  take(share: number): bigint;
  give(share: number): bigint;
}

/** Share of the ledger balance that most requests ask for. */
export const SMALL = 2_000;

/** Learns the price of a pair from one quote. A text says why there is none. */
export async function sizePair(
  { world, venue, asking }: CertifyContext,
  pair: AskedPair,
): Promise<{ sized: SizedPair; first: FoundQuote } | string> {
  const dest = chainIn(world, pair.output);
  const token = tokenIn(pair.output);
  const account = venue.accountOn(parseAssetId(pair.input)?.chainId ?? 0)?.account;
  if (account === undefined) return `the hello names no account on the chain of ${pair.input}`;
  const balance = await backing(dest, account, token);
  if (balance < BigInt(SMALL))
    return `the account ${account} has nothing of ${pair.output} in the escrow's ledger`;
  const take = (share: number) => balance / BigInt(share);
  const answered = await asking.ask(asking.request(pair, 'exactOutput', take(SMALL)));
  const [first] = answered.quotes;
  if (first === undefined) {
    const reason = answered.decline?.reason;
    return `for ${take(SMALL)} of ${pair.output} came ${reason === undefined ? 'no quote that holds' : `the decline ${reason}`}`;
  }
  return {
    first,
    sized: {
      pair,
      dest,
      account,
      token,
      take,
      give: (share) => (first.input * BigInt(SMALL)) / BigInt(share),
    },
  };
}
