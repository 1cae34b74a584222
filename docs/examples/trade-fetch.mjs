/**
 * One trade with plain fetch: 1,000 USDC for WETH on the demo's first chain. It trusts what the venue answers;
 * docs/examples/trade.mjs shows the client that checks it.
 */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { privateKeyToAccount } from 'viem/accounts';

const demo = JSON.parse(readFileSync(process.argv[2] ?? 'data/demo.json', 'utf8'));
const [chain] = demo.chains;
const taker = privateKeyToAccount(demo.takers[1].privateKey);
const asset = (symbol) =>
  `eip155:${chain.id}/erc20:${chain.tokens.find((token) => token.symbol === symbol).address}`;

async function call(method, path, body, headers = {}) {
  const answer = await fetch(`${demo.venue.url}/api/v1/rfq${path}`, {
    method,
    headers: {
      'X-API-Key': demo.venue.keys.service,
      ...(body && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const { quotes, productUnavailable } = await call('POST', '/quotes', {
  taker: taker.address,
  input: { asset: asset('USDC'), amount: '1000000000' },
  output: { asset: asset('WETH') },
});
const [candidate] = quotes;
if (!candidate) throw new Error(`no quote: ${productUnavailable.message}`);

// What must be signed, and how the escrow gets the input.
const plan = await call('POST', '/orders/preflight', { quoteResponse: candidate });
const submission = { quoteResponse: candidate };
for (const { type, purpose, typedData } of plan.nextActions) {
  if (type !== 'signature') throw new Error(`send the transaction first: ${purpose}`);
  const signature = await taker.signTypedData(typedData.payload);
  const { message } = typedData.payload;
  if (purpose === 'orderSignature') submission.signature = signature;
  if (purpose === 'permit2Lock') submission.permit2Lock = { signature, deadline: Number(message.deadline) };
  if (purpose === 'eip3009Authorization')
    submission.eip3009Authorization = {
      signature,
      validAfter: Number(message.validAfter),
      validBefore: Number(message.validBefore),
      nonce: message.nonce,
    };
}

// The same key and body always give the same order, so a lost answer is asked for again.
const order = await call('POST', '/orders', submission, { 'Idempotency-Key': candidate.quoteId });
let status;
do {
  await sleep(250);
  status = await call('GET', `/orders/${order.id}`);
} while (status.status === 'pending');
console.log(`${status.status}: ${candidate.preview.outputs[0].amount} wei of WETH, order ${order.id}`);
