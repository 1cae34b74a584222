/** Signs the best candidate of a quote response, and the lock that its preflight plan asks for. */

import { readFileSync } from 'node:fs';
import { privateKeyToAccount } from 'viem/accounts';

const [quotes, plan, demo] = process.argv.slice(2).map((path) => JSON.parse(readFileSync(path, 'utf8')));
const taker = privateKeyToAccount(demo.takers[0].privateKey);
const candidate = quotes.quotes[0];
const sign = (payload) => taker.signTypedData(payload);

const body = { quoteResponse: candidate, signature: await sign(candidate.order.payload) };
for (const { purpose, typedData } of plan.nextActions) {
  const message = typedData?.payload.message;
  if (purpose === 'eip3009Authorization') {
    const { validAfter, validBefore, nonce } = message;
    body.eip3009Authorization = {
      signature: await sign(typedData.payload),
      validAfter: Number(validAfter),
      validBefore: Number(validBefore),
      nonce,
    };
  }
  if (purpose === 'permit2Lock')
    body.permit2Lock = { signature: await sign(typedData.payload), deadline: Number(message.deadline) };
}
console.log(JSON.stringify(body));
