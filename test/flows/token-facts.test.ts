/** Configured tokens are compared with their contracts when a chain is opened. */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createChain } from '../../src/adapters/evm/chain/chain.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import { type Devnet, startDevnet, type TestChain } from '../support/devnet.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';

let devnet: Devnet;
let c: TestChain;
beforeAll(async () => {
  devnet = await startDevnet([51_021]);
  c = devnet.chains[0] as TestChain;
});
afterAll(() => devnet.stop());

/** Opens the chain with these tokens; returns the tokens that the process uses, and what it warned of. */
async function open(tokens: readonly TokenInfo[]) {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (_: object, text: string) => void warnings.push(text) };
  const port = createChain(
    { ...c.chain, tokens },
    {
      rpcUrls: [c.anvil.url],
      clock: systemClock,
      log: { ...log, child: () => ({ ...log, child: () => silentLog }) },
      metrics: silentMetrics,
    },
  );
  try {
    await port.start();
    return { tokens: port.chain.tokens, warnings };
  } finally {
    await port.close();
  }
}

test('tokens that are configured as they are stay as they are', async () => {
  const { tokens, warnings } = await open(c.chain.tokens);
  expect(tokens).toEqual(c.chain.tokens);
  expect(tokens.some(({ eip3009 }) => eip3009 !== null)).toBe(true);
  expect(warnings.filter((text) => text.includes('token'))).toEqual([]);
});

test('wrong decimals end the start, and the message names both', async () => {
  await expect(open([{ ...c.weth, decimals: 6 }])).rejects.toMatchObject({
    code: 'wrong_token',
    retry: 'never',
    message: expect.stringMatching(/WETH .* has 18 decimals, and the configuration says 6/),
  });
});

test.each([
  ['name', { name: 'USDC' }],
  ['version', { version: '9' }],
])('another EIP-712 %s than the token has: EIP-3009 is not offered', async (_, wrong) => {
  const eip3009 = { ...(c.usdc.eip3009 as { name: string; version: string }), ...wrong };
  const { tokens, warnings } = await open([{ ...c.usdc, eip3009 }]);
  expect(tokens).toEqual([{ ...c.usdc, eip3009: null }]);
  expect(warnings.join()).toContain('not the configured one');
});

test('a token without a domain is not offered with EIP-3009', async () => {
  const { tokens } = await open([{ ...c.weth, eip3009: { name: 'Wrapped Ether', version: '1' } }]);
  expect(tokens).toEqual([c.weth]);
});
