/**
 * Payouts to a bank after a delivery: the example partner as a process of its own, the venue in front of it,
 * and a taker who trusts neither clock nor venue.
 */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, erc20Abi } from 'viem';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOutbound } from '../../src/adapters/outbound/request.ts';
import { createPartnerClient } from '../../src/adapters/partners/client.ts';
import { createPartnerVenue, type PartnerVenue } from '../../src/adapters/partners/venue.ts';
import { systemClock } from '../../src/adapters/system/clock.ts';
import { systemRandom } from '../../src/adapters/system/random.ts';
import { verifyPayoutOffer } from '../../src/client/client.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { Address } from '../../src/domain/hex.ts';
import {
  partnerHeaders,
  partnerPublicKey,
  partnerSignatureFault,
  partnerSigningKey,
  publicKeyText,
} from '../../src/protocol/partner/signature.ts';
import {
  type PayoutOffer,
  type PayoutOffersRequest,
  zPayoutOffersResponse,
  zPayoutStatus,
} from '../../src/protocol/payouts/offers.ts';
import { account } from '../support/devnet.ts';
import { newPem, startTestPartner, type TestPartner } from '../support/partner.ts';
import { silentLog, silentMetrics } from '../support/silent.ts';
import { startTestVenue, type TestVenue, until } from '../support/venue.ts';

const TERMS_MS = 200;
let folder: string;
let v: TestVenue;
let key: string;
let partner: TestPartner;
let careless: CarelessPartner;
let asked: PayoutOffersRequest;
const taker = account(6_940);

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'fq-payouts-'));
  careless = await startCarelessPartner();
  v = await startTestVenue({
    chainIds: [31_443, 31_444],
    async routeVenues([first, second]) {
      if (!first || !second) throw new Error('two chains are needed');
      const [owner, operator] = [account(6_941), account(6_942)];
      for (const chain of [first, second]) await chain.fund(owner.address);
      const asset = assetId({ chainId: second.chain.id, token: second.usdc.address });
      asked = { asset, amount: '1000000000', currency: 'EUR', from: taker.address };
      partner = await startTestPartner({
        ...{ chains: [first, second], account: owner, operator },
        config: {
          kind: 'fiat',
          bank: join(folder, 'bank.ndjson'),
          payouts: [
            { asset, currency: 'EUR', perToken: 0.9, fee: 1, minAmount: '20000000', maxAmount: '5000000000' },
            { asset, currency: 'USD', perToken: 1, fee: 1 },
          ],
        },
        venue: { kind: 'fiat', name: 'Example Bank', termsMs: TERMS_MS },
      });
      careless.asset = asset;
      await careless.venue.start();
      return [partner.venue, careless.venue];
    },
  });
  key = await v.key('service');
});
afterAll(async () => {
  await partner?.stop();
  await careless?.stop();
  await v?.stop();
  await rm(folder, { recursive: true, force: true });
});

const offersFor = async (change: Partial<PayoutOffersRequest> = {}) => {
  const { status, json } = await v.call('POST', '/api/v1/router/payouts/offers', {
    key,
    body: { ...asked, ...change },
  });
  expect(status).toBe(200);
  return zPayoutOffersResponse.parse(json);
};
const statusOf = (partnerId: string, offerId: string) =>
  v.call('GET', `/api/v1/router/payouts/${partnerId}/${offerId}`, { key });
const now = () => Math.floor(Date.now() / 1_000);
const trusted = () => ({ asked, publicKeys: [partner.publicKey], now: now() });

test('an offer is signed by the partner, the taker sends the token itself, and the venue moves nothing', async () => {
  const { offers, refused, productUnavailable } = await offersFor();
  expect([refused, productUnavailable]).toEqual([[], null]);
  const [offer] = offers as [PayoutOffer];
  expect(offer).toMatchObject({
    ...asked,
    ...{ partnerId: 'test-partner', partnerName: 'Example Bank', amountOut: '899.00', fee: '1.00' },
    ...{ opening: null, minAmount: '20000000', maxAmount: '5000000000' },
    enforcement: expect.stringMatching(/escrow does not enforce/),
    publicKeys: [partner.publicKey],
  });
  verifyPayoutOffer(offer, trusted());

  const dest = v.devnet.chains[1];
  if (!dest) throw new Error('there is a second chain');
  await dest.fund(taker.address, 1_000n);
  const held = (owner: Address) => dest.port.tokenBalance(owner, dest.usdc.address);
  const [mine, theirs] = [await held(taker.address), await held(offer.payTo)];
  await offersFor();
  expect([await held(taker.address), await held(offer.payTo)]).toEqual([mine, theirs]);
  const standing = async ({ partnerId, offerId }: PayoutOffer) =>
    zPayoutStatus.parse((await statusOf(partnerId, offerId)).json);
  const open = { reference: null, sentAt: null };
  expect(await standing(offer)).toMatchObject({ status: 'waiting', ...open });
  await dest.send(
    taker.address,
    dest.usdc.address,
    encodeFunctionData({
      abi: erc20Abi,
      functionName: 'transfer',
      args: [offer.payTo, BigInt(offer.amount)],
    }),
  );
  expect((await held(offer.payTo)) - theirs).toBe(BigInt(offer.amount));

  // Once the transfer is deep enough, it is noted, and counts for one offer only.
  await dest.anvil.mine(dest.chain.depth);
  expect(await standing(offer)).toMatchObject({ status: 'received', ...open });
  const [other] = (await offersFor()).offers as [PayoutOffer];
  expect(await standing(other)).toMatchObject({ status: 'waiting', ...open });
  const bank = { offerId: offer.offerId, reference: 'E2E-4711', sentAt: now() };
  await writeFile(join(folder, 'bank.ndjson'), `${JSON.stringify(bank)}\n`);
  const sent = await standing(offer);
  expect(sent).toMatchObject({ ...bank, status: 'sent' });
  // The taker can show the partner's signature over the reference to others.
  const { id, timestamp, signature, body } = sent.signed;
  expect(JSON.parse(body)).toMatchObject(bank);
  const keys = [partnerPublicKey(partner.publicKey)];
  expect(
    partnerSignatureFault({ id, timestamp: String(timestamp), signature }, body, {
      ...{ keys, now: now(), toleranceSeconds: 300 },
    }),
  ).toBeUndefined();
  expect((await statusOf(offer.partnerId, 'of-nobody')).status).toBe(404);
  expect((await statusOf('nobody', offer.offerId)).status).toBe(404);
});

test('the client refuses whatever the partner did not sign, and offers for something else', async () => {
  const [offer] = (await offersFor()).offers as [PayoutOffer];
  const refuses = (changed: Partial<PayoutOffer>, trust: Partial<ReturnType<typeof trusted>> = {}) =>
    expect(() => verifyPayoutOffer({ ...offer, ...changed }, { ...trusted(), ...trust })).toThrow(
      expect.objectContaining({ code: 'payout' }),
    );
  refuses({ payTo: taker.address });
  refuses({ amountOut: '999.00' });
  refuses({ validUntil: offer.validUntil + 1 });
  refuses({ link: 'https://elsewhere.example' });
  refuses({ signed: { ...offer.signed, body: offer.signed.body.replace('899.00', '999.00') } });
  refuses({}, { publicKeys: [careless.publicKey, 'no key'] });
  refuses({}, { asked: { ...asked, amount: '2000000000' } });
  refuses({}, { now: offer.validUntil + 1 });
});

test('sizes and currencies that it does not pay out', async () => {
  const small = await offersFor({ amount: '1000000' });
  expect(small.refused).toMatchObject([{ code: 'amount_too_small', minAmount: '20000000' }]);
  expect(small.productUnavailable).toMatchObject({ code: 'no_offers' });
  expect((await offersFor({ amount: '9000000000' })).refused).toMatchObject([
    { code: 'amount_too_large', maxAmount: '5000000000' },
  ]);
  expect(await offersFor({ currency: 'CHF' })).toMatchObject({
    ...{ offers: [], refused: [] },
    productUnavailable: { code: 'pair_not_supported' },
  });
});

test('outside its hours the answer says until when; inside, what the cut-off is', async () => {
  const opening = { from: now() + 86_400, cutOff: now() + 90_000, to: now() + 93_600 };
  await partner.configure({ hours: [opening] });
  // By the partner's own answer at first, by its terms once they are read.
  for (const isKnown of [false, true]) {
    if (isKnown) await until(() => partner.venue.terms()?.hours?.[0]?.from === opening.from);
    const { offers, refused, productUnavailable } = await offersFor();
    expect(offers).toEqual([]);
    expect(refused).toMatchObject([{ code: 'closed', opensAt: opening.from }]);
    expect(productUnavailable?.message).toContain(new Date(opening.from * 1_000).toISOString());
  }
  const open = { from: now() - 60, cutOff: now() + 600, to: now() + 1_200 };
  await partner.configure({ hours: [open] });
  await until(() => partner.venue.terms()?.hours?.[0]?.from === open.from);
  const [offer] = (await offersFor()).offers as [PayoutOffer];
  expect(offer).toMatchObject({ opening: open, validUntil: open.cutOff });
  await partner.configure({ hours: null });
  await until(() => partner.venue.terms()?.hours === null);
  expect((await offersFor()).offers).toMatchObject([{ opening: null }]);
});

test('an outage: the answer says so, and the offers come back with the partner', async () => {
  const [offer] = (await offersFor()).offers as [PayoutOffer];
  partner.kill();
  await until(async () => (await offersFor()).refused[0]?.code === 'no_answer');
  expect((await statusOf(offer.partnerId, offer.offerId)).status).toBe(503);
  await partner.restart();
  expect((await offersFor()).offers).toHaveLength(1);
});

test.each(['late', 'wrong-key', 'unsigned', 'other-amount', 'to-taker', 'expired'] as const)(
  'a partner whose answer is %s loses only its own offer',
  async (mode) => {
    careless.mode = mode;
    const { offers, refused } = await offersFor({ currency: 'USD' });
    expect(offers.map(({ partnerId }) => partnerId)).toEqual(['test-partner']);
    expect(refused).toMatchObject([{ partnerId: 'careless', code: 'no_answer' }]);
  },
);

test('the larger payout is first', async () => {
  careless.mode = 'fine';
  const { offers } = await offersFor({ currency: 'USD' });
  expect(offers.map(({ partnerId, amountOut }) => [partnerId, amountOut])).toEqual([
    ['careless', '1000.5'],
    ['test-partner', '999.00'],
  ]);
});

interface CarelessPartner {
  venue: PartnerVenue;
  publicKey: string;
  asset: string;
  /** What is wrong with its offers. */
  mode: 'fine' | 'late' | 'wrong-key' | 'unsigned' | 'other-amount' | 'to-taker' | 'expired';
  stop(): Promise<void>;
}

/** Answers over HTTP as it is told to. */
async function startCarelessPartner(): Promise<CarelessPartner> {
  const [ours, theirs, strange] = [newPem(), newPem(), newPem()].map(partnerSigningKey) as [
    ReturnType<typeof partnerSigningKey>,
    ReturnType<typeof partnerSigningKey>,
    ReturnType<typeof partnerSigningKey>,
  ];
  const outbound = createOutbound({ allowHosts: ['127.0.0.1'], allowPrivate: true });
  const state = { mode: 'fine' as CarelessPartner['mode'], asset: '' };
  const server: Server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      const { type, partner: _, ...ask } = JSON.parse(text) as Record<string, string>;
      const { mode } = state;
      const body = JSON.stringify(type === 'terms' ? terms() : { ...offerOf(ask), ...SPOILT[mode]?.(ask) });
      const message = { id: String(request.headers['webhook-id']), timestamp: now(), body };
      const signing = mode === 'wrong-key' && type !== 'terms' ? strange : theirs;
      const headers =
        mode === 'unsigned' && type !== 'terms' ? {} : { ...partnerHeaders(message, [signing]) };
      const send = () =>
        response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
      if (mode === 'late' && type !== 'terms') setTimeout(send, 2 * TIMEOUT_MS);
      else send();
    });
  });
  const terms = () => ({
    ...{ protocolVersion: 1, kind: 'fiat', pairs: [], hours: null },
    accounts: [{ chainId: 1, account: `0x${'12'.repeat(20)}` }],
    payouts: [{ asset: state.asset, currency: 'USD' }],
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const publicKey = publicKeyText(theirs);
  const client = createPartnerClient(
    { id: 'careless', url: `http://127.0.0.1:${port}`, keys: [ours], partnerKeys: [theirs] },
    { outbound, clock: systemClock, random: systemRandom, metrics: silentMetrics },
  );
  const venue = createPartnerVenue(
    { client, chains: new Map(), clock: systemClock, log: silentLog },
    {
      ...{ id: 'careless', name: 'Careless', kind: 'fiat', publicKeys: [publicKey] },
      ...{ limits: { timeoutMs: TIMEOUT_MS, maxInFlight: 8 }, termsMs: 3_600_000, orderTimeoutMs: 5_000 },
      ...{ fillMs: 1_000, cancelSeconds: 0 },
    },
  );
  return Object.assign(state, {
    ...{ venue, publicKey },
    async stop() {
      venue.stop();
      outbound.close();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  });
}

const TIMEOUT_MS = 1_000;
const offerOf = (ask: Record<string, string>) => ({
  ...{ offerId: 'o-1', ...ask, payTo: `0x${'34'.repeat(20)}`, amountOut: '1000.5', fee: '0' },
  ...{ arrivesAt: now() + 7_200, validUntil: now() + 3_600, link: 'https://careless.example/o-1' },
});
const SPOILT: Partial<Record<CarelessPartner['mode'], (ask: Record<string, string>) => object>> = {
  'other-amount': () => ({ amount: '1' }),
  'to-taker': ({ from }) => ({ payTo: from }),
  expired: () => ({ validUntil: now() - 1 }),
};
