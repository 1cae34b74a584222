/**
 * One trade with the client: 1,000 USDC for WETH on the demo's first chain. The client checks every statement
 * of the venue before it signs.
 */

import { readFileSync } from 'node:fs';
import { createClient } from 'firmquote/client';
import { createPublicClient, createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

const demo = JSON.parse(readFileSync(process.argv[2] ?? 'data/demo.json', 'utf8'));
const [chain] = demo.chains;
const taker = privateKeyToAccount(demo.takers[1].privateKey);
const asset = (symbol) =>
  `eip155:${chain.id}/erc20:${chain.tokens.find((token) => token.symbol === symbol).address}`;

const client = createClient({
  url: demo.venue.url,
  key: demo.venue.keys.service,
  // Your own RPC endpoint, and the escrow address that you accept.
  chains: {
    [chain.id]: { rpc: createPublicClient({ transport: http(chain.rpcUrl) }), escrow: chain.escrow },
  },
});

const { checked, order, status } = await client.trade({
  request: {
    taker: taker.address,
    input: { asset: asset('USDC'), amount: 1_000_000_000n },
    output: { asset: asset('WETH') },
  },
  wallet: createWalletClient({ account: taker, transport: http(chain.rpcUrl) }),
  minOutput: 100_000_000_000_000_000n,
  onRefused: (candidate, why) => console.log(`refused the quote of ${candidate.solverId}: ${why.message}`),
  onEvent: ({ type, status: { stage } }) => console.log(type, stage),
});
console.log(
  `${status.status}: ${checked.outputAmount} wei of WETH for ${checked.inputAmount} units of USDC, order ${order.id}`,
);
