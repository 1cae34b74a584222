/**
 * Measures what one answered request with three candidates, and one taker, cost in the memory of a venue
 * process, and what stays after the quotes have ended. Heap in use after two collections; the process also
 * plays the takers. Nothing here depends on speed, but all requests must be answered within `VALID_SECONDS`.
 *
 *   npm run bench -- venue-memory [--quotes=5000]
 */

import { createMetrics } from '../src/adapters/prometheus/metrics.ts';
import { assetId } from '../src/domain/asset.ts';
import { startTestVenue } from '../test/support/venue.ts';
import { heapInUse } from './heap.ts';
import { createCaller, option, table } from './load.ts';
import { fundQuoteLoad, startQuoteLoad, targetOf } from './quote-load.ts';

const QUOTES = option('quotes', 5_000);
const LPS = 3;
const IN_FLIGHT = 20;
/** Validity of the quotes of `quote-load.ts`. */
const VALID_SECONDS = 30;
/** With the landing margin, after which the venue lets go of a quote. */
const AFTER_SECONDS = VALID_SECONDS + 60;

const v = await startTestVenue({
  metrics: createMetrics(),
  rates: {
    quotesPerSecond: 1e6,
    perIpPerSecond: 1e6,
    openQuotes: 1e9,
    openNotionalUsd: 1e15,
    leastSubmittedShare: 0,
  },
});
await fundQuoteLoad(v);
const target = await targetOf(v);
const load = await startQuoteLoad(target, LPS);
const caller = await createCaller(v.urls[0] as string, target.key, IN_FLIGHT);
const [usdc, weth] = [v.chain.usdc, v.chain.weth].map(({ address: token }) =>
  assetId({ chainId: v.chain.chain.id, token }),
);

const rows: { name: string; heapBytes: number }[] = [];
await ask(500, 1);
await untilEnded();
row('before');
await ask(QUOTES, 1);
row(`${QUOTES} live`);
await untilEnded();
row('all ended');
await ask(QUOTES, QUOTES);
await untilEnded();
row(`${QUOTES} of as many takers, ended`);
caller.close();
load.stop();
await v.stop();
report();

/** Asks for so many quotes for so many takers, and waits for all answers. */
async function ask(count: number, takers: number): Promise<void> {
  let sent = 0;
  const next = async () => {
    while (sent < count) {
      sent += 1;
      const body = JSON.stringify({
        taker: `0x${(0xfa000000 + (sent % takers)).toString(16).padStart(40, '0')}`,
        input: { asset: usdc, amount: '1000000000' },
        output: { asset: weth },
      });
      const { status, text } = await caller.call('/api/v1/rfq/quotes', body);
      if (status !== 200) throw new Error(`${status}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, next));
}

/** Waits until no quote can be executed, and for the block by whose time the venue sees it. */
async function untilEnded(): Promise<void> {
  await wait(AFTER_SECONDS);
  await v.chain.anvil.mine(2);
  await wait(3);
}

function row(name: string): void {
  rows.push({ name, heapBytes: heapInUse() });
}

function report(): void {
  const [before, live, ended, takers] = rows.map(({ heapBytes }) => heapBytes) as [
    number,
    number,
    number,
    number,
  ];
  const bytes = {
    liveQuote: Math.round((live - before) / QUOTES),
    ended: Math.round((ended - before) / QUOTES),
    taker: Math.round((takers - ended) / QUOTES),
  };
  console.log(
    table(
      ['', 'heap MB'],
      rows.map(({ name, heapBytes }) => [name, (heapBytes / 2 ** 20).toFixed(1)]),
    ),
  );
  console.log(
    `bytes: a live quote with its candidates ${bytes.liveQuote}, after its end ${bytes.ended}; a known taker ${bytes.taker}`,
  );
  console.log(JSON.stringify({ bench: 'venue-memory', quotes: QUOTES, bytes, rows }));
}

function wait(seconds: number): Promise<void> {
  return new Promise((done) => setTimeout(done, seconds * 1_000));
}
