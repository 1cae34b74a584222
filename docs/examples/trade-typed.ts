/**
 * One trade with types that are generated from the venue's API document, so that the compiler checks every
 * path, field and value. It trusts what the venue answers; docs/examples/trade.mjs shows the client that
 * checks it.
 *
 *   npx openapi-typescript $URL/openapi.json --default-non-nullable=false --output venue.d.ts
 */

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import { privateKeyToAccount } from 'viem/accounts';
import type { components, paths } from './venue.d.ts';

type Submission = components['schemas']['OrderSubmitRequest'];

const demo = JSON.parse(readFileSync(process.argv[2] ?? 'data/demo.json', 'utf8'));
const [chain] = demo.chains;
const taker = privateKeyToAccount(demo.takers[1].privateKey);
const asset = (symbol: string): string =>
  `eip155:${chain.id}/erc20:${chain.tokens.find((token: { symbol: string }) => token.symbol === symbol).address}`;
const venue = createClient<paths>({
  baseUrl: demo.venue.url,
  headers: { 'X-API-Key': demo.venue.keys.service },
});

/** The answer, or the refusal as an error. */
function answered<T>({
  data,
  error,
}: {
  data?: T;
  error?: components['schemas']['Error'] | components['schemas']['ValidationError'];
}): T {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

const { quotes, productUnavailable } = answered(
  await venue.POST('/api/v1/rfq/quotes', {
    body: {
      taker: taker.address,
      input: { asset: asset('USDC'), amount: '1000000000' },
      output: { asset: asset('WETH') },
    },
  }),
);
const [candidate] = quotes;
if (candidate === undefined) throw new Error(`no quote: ${productUnavailable?.message}`);

const plan = answered(
  await venue.POST('/api/v1/rfq/orders/preflight', { body: { quoteResponse: candidate } }),
);
const submission: Submission = { quoteResponse: candidate, signature: '0x' };
for (const { purpose, typedData } of plan.nextActions) {
  if (typedData === undefined) throw new Error(`send the transaction first: ${purpose}`);
  const payload = typedData.payload as Parameters<typeof taker.signTypedData>[0];
  const signature = await taker.signTypedData(payload);
  const message = payload.message as Record<string, string>;
  if (purpose === 'orderSignature') submission.signature = signature;
  if (purpose === 'permit2Lock')
    submission.permit2Lock = { signature, deadline: Number(message['deadline']) };
  if (purpose === 'eip3009Authorization')
    submission.eip3009Authorization = {
      signature,
      validAfter: Number(message['validAfter']),
      validBefore: Number(message['validBefore']),
      nonce: String(message['nonce']),
    };
}

const { id } = answered(
  await venue.POST('/api/v1/rfq/orders', {
    params: { header: { 'Idempotency-Key': candidate.quoteId } },
    body: submission,
  }),
);
let order: components['schemas']['OrderStatusResponse'];
do {
  await sleep(250);
  order = answered(await venue.GET('/api/v1/rfq/orders/{id}', { params: { path: { id } } }));
} while (order.status === 'pending');
console.log(`${order.status}: ${candidate.preview.outputs[0]?.amount} wei of WETH, order ${id}`);
