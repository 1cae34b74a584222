/** A solver that repeats its answer for ever keeps no round open beyond the deadline. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import type { LinkQuote } from '../../src/protocol/link/link.ts';
import type { ScriptedSolver } from '../support/solver.ts';
import { account } from '../support/devnet.ts';
import { startTestVenue, type TestVenue } from '../support/venue.ts';

/** More often than the round lingers, and for much longer than its deadline. */
const REPEAT_MS = 20;
const REPEATS = 400;

let v: TestVenue;
let key: string;

beforeAll(async () => {
  v = await startTestVenue({ chainIds: [31_451], fanOut: { timeoutMs: 500, lingerMs: 200 } });
  await v.workspace('w1');
  key = await v.key('service');
});
afterAll(() => v.stop());

async function ask(solverId: string): Promise<{ solvers: string[] }> {
  const { chain, usdc, weth } = v.chain;
  const { status, json } = await v.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker: account(8_200).address,
      input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
      output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
      solvers: { include: [solverId] },
    },
  });
  expect(status).toBe(200);
  return { solvers: (json['quotes'] as { solverId: string }[]).map((quote) => quote.solverId) };
}

test.each([
  ['with quotes that may continue', undefined],
  ['with quotes that announce another', true],
  ['after its last quote', false],
] as const)('repeating %s: the taker is answered while the solver repeats', async (_, more) => {
  const n = more === undefined ? 1 : more ? 2 : 3;
  let left = REPEATS;
  let sending: NodeJS.Timeout | undefined;
  const held: { solver?: ScriptedSolver } = {};
  held.solver = await v.solver(n, (rfq, make) => {
    const quote: LinkQuote = {
      ...make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }),
      ...(more !== undefined && { more }),
    };
    sending = setInterval(() => {
      left -= 1;
      held.solver?.say(quote);
      if (left === 0) clearInterval(sending);
    }, REPEAT_MS);
    return quote;
  });
  const { solvers } = await ask(`lp-${n}`);
  expect(solvers).toContain(`lp-${n}`);
  expect(left).toBeGreaterThan(0);
  clearInterval(sending);
  await held.solver.stop();
});
