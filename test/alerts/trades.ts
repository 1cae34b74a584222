/** Orders at the venue of the stage, from a named LP. */

import type { WantedQuote } from '../../src/apps/demo/taker.ts';
import type { QuoteCandidate } from '../../src/protocol/api/candidate.ts';
import type { TestChain } from '../support/devnet.ts';
import { type Client, patiently } from '../faults/support/client.ts';
import type { LIAR, LpId } from './stage.ts';

const USDC = 1_000_000n;

export interface Wanted {
  lp: LpId | typeof LIAR;
  from: TestChain;
  to: TestChain;
  usdc: bigint;
  /** What the taker receives; WETH where nothing is said. */
  take?: 'usdc' | 'weth';
  settlement?: 'wallet' | 'ledger' | 'ledger_auto_withdraw';
}

export async function quotesOf(client: Client, wanted: Wanted): Promise<readonly QuoteCandidate[]> {
  const asset = ({ chain: { id } }: TestChain, token: string) => `eip155:${id}/erc20:${token}`;
  const { from, to, usdc, take = 'weth', settlement = 'wallet' } = wanted;
  const body: WantedQuote = {
    input: { asset: asset(from, from.usdc.address), amount: (usdc * USDC).toString() },
    output: { asset: asset(to, to[take].address) },
    settlement,
    splitFill: 'never',
    solvers: { include: [wanted.lp] },
  };
  return (await client.taker.quote(body)).quotes;
}

let serial = 0;

/** Quoted, signed and accepted: returns the order's id. */
export async function order(client: Client, wanted: Wanted): Promise<string> {
  let last: unknown = 'no quote';
  return patiently(
    async () => {
      try {
        const [candidate] = await quotesOf(client, wanted);
        if (candidate === undefined) return undefined;
        const { submission } = await client.taker.prepare(candidate);
        return await client.insist({ candidate, submission }, `alerts-${(serial += 1)}`);
      } catch (error) {
        last = error;
        return undefined;
      }
    },
    () => `no order from ${wanted.lp}: ${String(last)}`,
  );
}
