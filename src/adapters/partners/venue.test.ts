/** A partner that answers wrongly in each way costs its own offer, with words that say what is wrong. */

import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import { assetId } from '../../domain/asset.ts';
import { type Chain, ETHER } from '../../domain/chain.ts';
import type { RouteAsk } from '../../ports/route-venue.ts';
import { partnerHeaders } from '../../protocol/partner/signature.ts';
import { createOutbound } from '../outbound/request.ts';
import { systemClock } from '../system/clock.ts';
import { systemRandom } from '../system/random.ts';
import { createPartnerClient } from './client.ts';
import { createPartnerVenue, hoursFor, type PartnerVenue } from './venue.ts';

const NOW = 1_800_000_000;
const ACCOUNT = `0x${'ac'.repeat(20)}` as const;
const chainOf = (id: number): Chain => ({
  id,
  slug: `chain${id}`,
  sandbox: true,
  escrow: `0x${'e'.repeat(40)}`,
  oracle: `0x${'0'.repeat(39)}1`,
  permit2: `0x${'0'.repeat(39)}2`,
  depth: 1,
  blockTimeMs: 1_000,
  native: ETHER,
  tokens: [
    {
      address: `0x${String(id).repeat(40)}`,
      symbol: 'USDC',
      name: 'USDC',
      decimals: 6,
      eip3009: null,
      priceSymbol: 'USD',
    },
  ],
  landingMarginSeconds: 20,
  proofWindowSeconds: 60,
});
const [origin, dest] = [chainOf(1), chainOf(2)];
const [inputToken, outputToken] = [
  origin.tokens[0] as Chain['tokens'][0],
  dest.tokens[0] as Chain['tokens'][0],
];
const pair = {
  input: assetId({ chainId: 1, token: inputToken.address }),
  output: assetId({ chainId: 2, token: outputToken.address }),
};
/** The fees take 10 off every input. */
const FEES = 10n;
const ask = (change: Partial<RouteAsk> = {}): RouteAsk => ({
  origin,
  dest,
  inputToken,
  outputToken,
  side: 'exactInput',
  amount: 1_010n,
  taker: `0x${'a'.repeat(40)}`,
  receiver: `0x${'b'.repeat(40)}`,
  at: {
    origin: { number: 5n, hash: '0x05', timestamp: NOW },
    dest: { number: 9n, hash: '0x09', timestamp: NOW },
  },
  validity: { from: NOW + 1, to: NOW + 600 },
  fees: { handedOver: (input) => (input > FEES ? input - FEES : 0n), inputFor: (handed) => handed + FEES },
  signal: new AbortController().signal,
  ...change,
});

const TERMS = {
  protocolVersion: 1,
  kind: 'fiat',
  accounts: [1, 2].map((chainId) => ({ chainId, account: ACCOUNT })),
  pairs: [{ ...pair, minAmountIn: '100', maxAmountIn: '5000' }],
  hours: null as null | { from: number; cutOff: number; to: number }[],
  payouts: [],
};
const QUOTE = { quoteId: 'q', amountIn: '1000', amountOut: '990', fee: '10', validUntil: NOW + 30, eta: 9 };

const [ours, theirs, stranger] = [1, 2, 3].map(() => generateKeyPairSync('ed25519')) as [Pair, Pair, Pair];
interface Pair {
  privateKey: KeyObject;
  publicKey: KeyObject;
}

/** Says what the simulated partner does next. */
interface Manner {
  terms: object;
  quote: object;
  status: number;
  key: KeyObject | null;
  otherId: boolean;
  reserved: boolean;
  silent: boolean;
}
const GOOD: Manner = {
  terms: TERMS,
  quote: QUOTE,
  status: 200,
  key: theirs.privateKey,
  otherId: false,
  reserved: true,
  silent: false,
};
let manner: Manner;
let asked: { type: string; [field: string]: unknown }[];
let server: Server;
let venue: PartnerVenue;
const outbound = createOutbound({ allowPrivate: true });

beforeAll(async () => {
  server = createServer(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const message = JSON.parse(Buffer.concat(parts).toString()) as (typeof asked)[number];
    asked.push(message);
    if (manner.silent) return;
    const body = JSON.stringify(
      message.type === 'terms'
        ? manner.terms
        : message.type === 'quote'
          ? manner.quote
          : { reserved: manner.reserved },
    );
    const id = manner.otherId ? 'another' : String(request.headers['webhook-id']);
    const timestamp = Math.floor(Date.now() / 1_000);
    response.writeHead(
      manner.status,
      manner.key ? { ...partnerHeaders({ id, timestamp, body }, [manner.key]) } : {},
    );
    response.end(body);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});
afterAll(() => {
  venue.stop();
  outbound.close();
  server.close();
});

beforeEach(async () => {
  venue?.stop();
  manner = { ...GOOD };
  asked = [];
  venue = await open();
});

async function open(): Promise<PartnerVenue> {
  const { port } = server.address() as AddressInfo;
  const made = createPartnerVenue(
    {
      client: createPartnerClient(
        {
          id: 'bank',
          url: `http://127.0.0.1:${port}`,
          keys: [ours.privateKey],
          partnerKeys: [theirs.publicKey],
        },
        { outbound, clock: systemClock, random: systemRandom, metrics: silentMetrics },
      ),
      chains: new Map(),
      clock: systemClock,
      log: silentLog,
    },
    {
      id: 'bank',
      name: 'A bank',
      kind: 'fiat',
      publicKeys: [],
      limits: { timeoutMs: 500, maxInFlight: 8 },
      termsMs: 600_000,
      orderTimeoutMs: 5_000,
      fillMs: 1_000,
      cancelSeconds: 0,
    },
  );
  await made.start();
  return made;
}

describe('quotes', () => {
  test('the partner prices what it is handed, and the taker gives that and the fees', async () => {
    expect(await venue.quote(ask())).toMatchObject({
      inputAmount: 1_010n,
      outputAmount: 990n,
      minimumOutput: 990n,
      execution: { kind: 'solver', account: ACCOUNT },
    });
    expect(asked.at(-1)).toMatchObject({ type: 'quote', partner: 'bank', amount: '1000', destBlock: '9' });
    manner.quote = { ...QUOTE, amountIn: '1200', amountOut: '777' };
    expect(await venue.quote(ask({ side: 'exactOutput', amount: 777n }))).toMatchObject({
      inputAmount: 1_210n,
      outputAmount: 777n,
    });
  });

  test('its limits and declines reach the taker in amounts that the taker gives', async () => {
    expect(await venue.quote(ask({ amount: 50n }))).toEqual({ declined: 'size_below_min', minAmount: 110n });
    expect(await venue.quote(ask({ amount: 9_000n }))).toEqual({
      declined: 'size_above_max',
      maxAmount: 5_010n,
    });
    expect(asked.filter(({ type }) => type === 'quote')).toEqual([]);
    manner.quote = { declined: 'no_inventory', maxAmount: '300', detail: 'float' };
    expect(await venue.quote(ask())).toEqual({ declined: 'no_inventory', maxAmount: 310n, detail: 'float' });
    manner.quote = { declined: 'closed', opensAt: NOW + 50 };
    expect(await venue.quote(ask())).toEqual({ declined: 'closed', opensAt: NOW + 50 });
  });

  const wrong: readonly [string, Partial<Manner>, RegExp][] = [
    ['is not signed', { key: null }, /is not signed/],
    ['is signed by a stranger', { key: stranger.privateKey }, /signature of the answer does not hold/],
    ['belongs to another request', { otherId: true }, /another request/],
    ['is malformed', { quote: { ...QUOTE, amountOut: 'many' } }, /schema at "/],
    ['has one field more', { quote: { ...QUOTE, extra: 1 } }, /schema at "/],
    ['changes the fixed amount', { quote: { ...QUOTE, amountIn: '999' } }, /quotes 999 where .* fixes 1000/],
    ['gives nothing', { quote: { ...QUOTE, amountOut: '0' } }, /amount of 0/],
    [
      'is valid too long',
      { quote: { ...QUOTE, validUntil: NOW + 601 } },
      /validUntil 1800000601 is not within/,
    ],
    ['is an error without a body', { status: 500 }, /status 500 and no error/],
  ];
  test.each(wrong)('an answer that %s is a fault with its reason', async (_, change, words) => {
    manner = { ...manner, ...change };
    await expect(venue.quote(ask())).rejects.toThrow(words);
  });

  test('a quote beyond its own limits is a fault, and so is silence', async () => {
    manner.quote = { ...QUOTE, amountIn: '6000', amountOut: '777' };
    await expect(venue.quote(ask({ side: 'exactOutput', amount: 777n }))).rejects.toThrow(
      /6000, which is beyond its own limits 100 to 5000/,
    );
    manner.silent = true;
    await expect(venue.quote(ask())).rejects.toThrow(/no answer within 500 ms/);
  });

  test('only a quote that the partner reserves is firm', async () => {
    const request = ask();
    const quote = await venue.quote(request);
    if ('declined' in quote) throw new Error('declined');
    expect(await venue.promise?.({ ask: request, quote, nonce: 7n })).toBe(true);
    expect(asked.at(-1)).toMatchObject({
      type: 'reserve',
      quoteId: 'q',
      originChainId: 1,
      nonce: '7',
      fillDeadline: QUOTE.validUntil + 20,
    });
    manner.reserved = false;
    expect(await venue.promise?.({ ask: request, quote, nonce: 8n })).toBe(false);
    expect(await venue.promise?.({ ask: request, quote: { ...quote }, nonce: 9n })).toBe(false);
  });
});

describe('terms', () => {
  test('a partner of another kind, or whose terms cannot be read, serves nothing', async () => {
    expect(
      venue.serves({
        input: { chainId: 1, token: inputToken.address },
        output: { chainId: 2, token: outputToken.address },
      }),
    ).toBe(true);
    for (const change of [{ terms: { ...TERMS, kind: 'bridge' } }, { status: 503 }, { key: null }]) {
      manner = { ...GOOD, ...change };
      const other = await open();
      other.stop();
      expect(other.terms()).toBeUndefined();
      expect(await other.quote(ask())).toEqual({ declined: 'pair' });
    }
  });

  test('outside its hours it is closed, without being asked', async () => {
    manner.terms = { ...TERMS, hours: [{ from: NOW + 100, cutOff: NOW + 200, to: NOW + 300 }] };
    const closed = await open();
    closed.stop();
    asked = [];
    expect(await closed.quote(ask())).toEqual({ declined: 'closed', opensAt: NOW + 100 });
    expect(asked).toEqual([]);
  });

  test('hours: no quote is valid after the cut-off, and the next opening is named', () => {
    const hours = [
      { from: NOW - 50, cutOff: NOW + 20, to: NOW + 60 },
      { from: NOW + 100, cutOff: NOW + 200, to: NOW + 300 },
    ];
    const at = (now: number, from: number) =>
      hoursFor(hours, {
        at: {
          origin: { number: 1n, hash: '0x', timestamp: now },
          dest: { number: 1n, hash: '0x', timestamp: now },
        },
        validity: { from, to: from + 60 },
      });
    expect(at(NOW, NOW + 1)).toMatchObject({ cutOff: NOW + 20 });
    expect(at(NOW, NOW + 20)).toMatchObject({ cutOff: NOW + 20 });
    expect(at(NOW, NOW + 21)).toEqual({ declined: 'closed', opensAt: NOW + 100 });
    expect(at(NOW + 70, NOW + 71)).toEqual({ declined: 'closed', opensAt: NOW + 100 });
    expect(at(NOW + 150, NOW + 151)).toMatchObject({ cutOff: NOW + 200 });
    expect(at(NOW + 400, NOW + 401)).toEqual({ declined: 'closed', opensAt: null });
    expect(hoursFor(null, ask())).toMatchObject({ cutOff: Number.MAX_SAFE_INTEGER });
  });
});
