/** How many submissions one venue process makes durable: seal, taker's signature, chain state and one commit each, on a real chain and PostgreSQL with fsync. */

import { cpus } from 'node:os';
import { assetId } from '../src/domain/asset.ts';
import { orderDigest } from '../src/domain/order.ts';
import type { Hex } from '../src/domain/hex.ts';
import { orderFromMessage, zOrderMessage } from '../src/protocol/wire.ts';
import { account } from '../test/support/devnet.ts';
import { type Json, startTestVenue } from '../test/support/venue.ts';

const RATE = 200;
const ORDERS = Number(process.argv.find((word) => word.startsWith('--orders='))?.slice(9) ?? 1_000);

const v = await startTestVenue({ fsync: true, rates: { quotesPerSecond: 1e6, submitsPerSecond: 1e6, perIpPerSecond: 1e6, openQuotes: 1e9, openNotionalUsd: 1e15 }, fanOut: { maxRequests: 10_000 } });
const key = await v.key('service');
const { chain, usdc, weth } = v.chain;
await v.solver(1, (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }, { validSeconds: 300 }), { inventory: 1_000_000_000n });
const taker = account(1);
await v.chain.fund(taker.address, 1_000_000_000n);
await v.chain.deposit(taker.address, usdc.address, 1_000_000_000n * 10n ** 6n);

const body = { taker: taker.address, input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' }, output: { asset: assetId({ chainId: chain.id, token: weth.address }) } };
const submissions: string[] = [];
while (submissions.length < ORDERS) {
  const answers = await Promise.all(Array.from({ length: 20 }, () => v.call('POST', '/api/v1/rfq/quotes', { key, body })));
  for (const { json } of answers) {
    const quote = json['quotes']?.[0] as Json;
    const order = orderFromMessage(zOrderMessage.parse(quote['order']?.['payload']?.['message']));
    const signature = taker.signer.sign(orderDigest({ chainId: chain.id, escrow: chain.escrow }, order)) as Hex;
    submissions.push(JSON.stringify({ quoteResponse: quote, signature }));
  }
}

const times: number[] = [];
let refused = 0;
const cpu = process.cpuUsage();
const started = performance.now();
const pending: Promise<void>[] = [];
for (let n = 0; n < ORDERS; ) {
  const due = Math.min(ORDERS, Math.ceil(((performance.now() - started) / 1000) * RATE));
  for (; n < due; n++) {
    const at = performance.now();
    pending.push(
      v.call('POST', '/api/v1/rfq/orders', { key, raw: submissions[n] as string, headers: { 'Idempotency-Key': `bench-${n}` } }).then(({ status }) => {
        if (status === 200) times.push(performance.now() - at);
        else refused++;
      }),
    );
  }
  await new Promise((done) => setTimeout(done, 1));
}
await Promise.all(pending);
const seconds = (performance.now() - started) / 1000;
const { user, system } = process.cpuUsage(cpu);
times.sort((a, b) => a - b);
const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
await v.stop();
// The takers live in this process too, so the CPU figure is an upper bound.
console.log(JSON.stringify({ bench: 'submit', offered: RATE, submitsPerSecond: times.length / seconds, p50Ms: at(0.5), p99Ms: at(0.99), refused, cpuMicrosPerSubmit: Math.round((user + system) / ORDERS), machine: { cpus: cpus().length, model: cpus()[0]?.model, node: process.version } }));
