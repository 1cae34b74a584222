/**
 * Test and live are two worlds: with a key of the one, no endpoint and no topic shows, quotes or touches
 * anything of the other.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { assetId } from '../../src/domain/asset.ts';
import type { KeyKind, KeyMode } from '../../src/ports/stores/store.ts';
import { account, type TestAccount, type TestChain } from '../support/devnet.ts';
import type { ScriptedSolver } from '../support/solver.ts';
import { signPlan } from '../support/taker.ts';
import { payoutVenue } from '../support/payout-desk.ts';
import { type Answer, type Json, startTestVenue, type TestVenue } from '../support/venue.ts';

interface World {
  mode: KeyMode;
  chain: TestChain;
  keys: Record<KeyKind, string>;
  solver: ScriptedSolver & { id: string };
  taker: TestAccount;
  candidate: Json;
  submission: Record<string, unknown>;
  orderId: string;
  quoteId: string;
  webhookId: string;
  deliveryId: string;
  offerId: string;
}

const [SANDBOX, PRODUCTION] = [31_421, 31_422];
/** Listed, without an escrow. */
const LISTED = { 'sandbox-only': 31_423, 'production-only': 31_424 };
const MODES: readonly KeyMode[] = ['test', 'live'];
let v: TestVenue;
let worlds: Record<KeyMode, World>;

beforeAll(async () => {
  // The same kind of chain, but the venue was told that the second one is production.
  v = await startTestVenue({
    routeVenues: async () => [payoutVenue()],
    chainIds: [SANDBOX, PRODUCTION],
    listedChains: Object.entries(LISTED).map(([slug, id]) => ({
      slug,
      id,
      sandbox: slug === 'sandbox-only',
    })),
    seen: (port) =>
      port.chain.id === PRODUCTION ? { ...port, chain: { ...port.chain, sandbox: false } } : port,
  });
  worlds = { test: await makeWorld('test', 1), live: await makeWorld('live', 2) };
});
afterAll(() => v.stop());

const other = (mode: KeyMode): World => worlds[mode === 'test' ? 'live' : 'test'];
const quoteBody = ({ chain, usdc, weth }: TestChain, taker: TestAccount) => ({
  taker: taker.address,
  input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '1000000000' },
  output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
});

async function makeWorld(mode: KeyMode, n: number): Promise<World> {
  const chain = v.devnet.chains[n - 1] as TestChain;
  const keys = {
    service: await v.key('service', { mode }),
    workspace: await v.key('workspace', { mode }),
    solver: await v.key('solver', { mode, solverId: `lp-${n}` }),
  };
  const solver = await v.solver(
    n,
    (rfq, make) => make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_600n }),
    { apiKey: keys.solver },
  );
  const taker = account(7_100 + n);
  await chain.fund(taker.address, 10_000n);
  const call = (path: string, body: unknown) => v.call('POST', path, { key: keys.service, body });
  const quoted = await call('/api/v1/rfq/quotes', quoteBody(chain, taker));
  const candidate = quoted.json['quotes']?.[0] as Json;
  expect(candidate, quoted.text).toBeDefined();
  const plan = (await call('/api/v1/rfq/orders/preflight', { quoteResponse: candidate })).json;
  const submission = await signPlan(taker, candidate, plan);
  const order = await call('/api/v1/rfq/orders', submission);
  expect(order.status, order.text).toBe(200);
  const { taker: from, input } = quoteBody(chain, taker);
  const payout = { ...{ from, asset: input.asset, amount: input.amount }, currency: 'EUR' };
  const { json: payouts } = await call('/api/v1/router/payouts/offers', payout);
  const hooks = '/api/v1/workspaces/w1/webhooks';
  const manage = (path: string, body?: unknown) => v.call('POST', path, { key: keys.workspace, body });
  const made = await manage(hooks, { url: 'https://127.0.0.1:9/', events: ['order.created'] });
  const webhookId = made.json['webhook']?.['id'] as unknown as string;
  const sent = await manage(`${hooks}/${webhookId}/test`);
  return {
    mode,
    chain,
    keys,
    solver,
    taker,
    candidate,
    submission,
    orderId: order.json['id'] as unknown as string,
    quoteId: candidate['quoteId'] as unknown as string,
    webhookId,
    deliveryId: sent.json['id'] as unknown as string,
    offerId: payouts['offers']?.[0]?.['offerId'] as unknown as string,
  };
}

/** Whatever names something of a world. */
const marksOf = ({ chain, orderId, quoteId, solver, taker, webhookId, deliveryId }: World): string[] => [
  ...[orderId, quoteId, webhookId, deliveryId],
  `"${solver.id}"`,
  `eip155:${chain.chain.id}/`,
  `"${chain.chain.slug}-${chain.chain.slug}"`,
  taker.address,
];
const marksIn = (text: string, world: World): string[] =>
  marksOf(world).filter((mark) => text.includes(mark));
/** Both worlds are one workspace's. */
const inOurs = (path: string): string => path.replace('/workspaces/:id', '/workspaces/w1');
const typeOf = ({ json }: Answer): unknown => json['detail']?.[0]?.['type'];

test.each(MODES)(
  'A6: %s: every GET there is, asked with its own key and the other world’s ids, shows nothing of that world',
  async (mode) => {
    const [mine, theirs] = [worlds[mode], other(mode)];
    const unknown = `0x${'12'.repeat(32)}`;
    const routes = v.venue.routes.filter(({ method }) => method === 'GET');
    expect(routes.length).toBeGreaterThan(3);
    for (const { path, keyKinds } of routes) {
      const ofOne = /:/.test(inOurs(path));
      /** The ids of the path, of one world. */
      const idsOf = ({ orderId, solver, webhookId, deliveryId, offerId }: World) => [
        ...(path.includes(':partnerId') ? ['acme-payouts'] : []),
        ...(path.includes(':webhookId') ? [webhookId] : []),
        ...(path.includes(':deliveryId') ? [deliveryId] : []),
        ...(path.includes('/webhooks')
          ? []
          : [path.includes('/solvers/') ? solver.id : path.includes('/payouts/') ? offerId : orderId]),
      ];
      for (const kind of keyKinds as KeyKind[]) {
        const get = (ids: string[]) => {
          const left = [...ids];
          const filled = inOurs(path).replace(/:[A-Za-z]+/g, () => left.shift() ?? '');
          return v.call('GET', filled, { key: mine.keys[kind] });
        };
        const [asked, same] = [await get(idsOf(theirs)), await get(idsOf(theirs).map(() => unknown))];
        if (ofOne) expect([path, asked.status, asked.text], path).toEqual([path, 404, same.text]);
        else expect([path, asked.status]).toEqual([path, 200]);
        expect([path, marksIn(asked.text, theirs)]).toEqual([path, []]);
        if (ofOne)
          expect([path, (await get(idsOf(mine))).text]).toEqual([
            path,
            expect.stringContaining(
              path.includes('/deliveries') ? mine.deliveryId : (idsOf(mine).at(-1) ?? ''),
            ),
          ]);
      }
    }
  },
);

test.each(MODES)(
  'A6: %s: a quote over the other world’s chains is refused, on either side, and nobody is asked',
  async (mode) => {
    const [mine, theirs] = [worlds[mode], other(mode)];
    const heard = theirs.solver.received.filter(({ type }) => type === 'rfq').length;
    const own = quoteBody(mine.chain, mine.taker);
    const foreign = quoteBody(theirs.chain, mine.taker);
    for (const route of v.venue.routes.filter(({ path }) => path.endsWith('/quotes'))) {
      for (const body of [foreign, { ...own, output: foreign.output }, { ...own, input: foreign.input }]) {
        const refused = await v.call('POST', route.path, { key: mine.keys.service, body });
        expect([route.path, refused.status, typeOf(refused)]).toEqual([
          route.path,
          422,
          'chain_not_in_roster',
        ]);
      }
    }
    expect(theirs.solver.received.filter(({ type }) => type === 'rfq')).toHaveLength(heard);
  },
);

test.each(MODES)(
  'A6: %s: a candidate of the other world neither passes preflight nor becomes an order, in the same workspace',
  async (mode) => {
    const [mine, theirs] = [worlds[mode], other(mode)];
    const routed = (
      await v.call('POST', '/api/v1/router/quotes', {
        key: theirs.keys.service,
        body: quoteBody(theirs.chain, theirs.taker),
      })
    ).json['quotes']?.[0] as Json;
    for (const [namespace, quoteResponse] of [
      ['rfq', theirs.candidate],
      ['router', routed],
    ] as const) {
      expect(quoteResponse).toBeDefined();
      for (const [path, body] of [
        ['orders/preflight', { quoteResponse }],
        ['orders', { ...theirs.submission, quoteResponse }],
      ] as const) {
        const refused = await v.call('POST', `/api/v1/${namespace}/${path}`, {
          key: mine.keys.service,
          body,
        });
        expect([namespace, path, refused.status, typeOf(refused)]).toEqual([
          namespace,
          path,
          422,
          'integrity_mismatch',
        ]);
      }
    }
  },
);

test('an Idempotency-Key is separate per mode', async () => {
  for (const mode of MODES) {
    const { keys, submission, orderId } = worlds[mode];
    const again = await v.call('POST', '/api/v1/rfq/orders', {
      key: keys.service,
      body: submission,
      headers: { 'Idempotency-Key': 'same-in-both' },
    });
    expect([again.status, again.json['id']]).toEqual([200, orderId]);
  }
});

test('pairs: a live key sees production, a test key sees both and trades on one', async () => {
  const [sandbox, production] = v.devnet.chains as [TestChain, TestChain];
  expect((await v.call('GET', '/api/v1/rfq/pairs', { key: worlds.live.keys.service })).json).toEqual({
    [production.chain.slug]: PRODUCTION,
    'production-only': LISTED['production-only'],
  });
  expect((await v.call('GET', '/api/v1/rfq/pairs', { key: worlds.test.keys.service })).json).toMatchObject({
    [sandbox.chain.slug]: SANDBOX,
    [production.chain.slug]: PRODUCTION,
  });
});

test.each(MODES)(
  'A6: %s: a solver’s key opens its own world’s chains, and it hears of no request, order or award of the other',
  (mode) => {
    const { solver, chain } = worlds[mode];
    const challenge = solver.received.find(({ type }) => type === 'challenge') as
      | { chains: { chainId: number }[] }
      | undefined;
    expect(challenge?.chains.map(({ chainId }) => chainId)).toEqual([chain.chain.id]);
    expect(marksIn(JSON.stringify(solver.received), other(mode))).toEqual([]);
    expect(v.venue.roster.entry(solver.id)?.session?.accounts.size).toBe(1);
  },
);

describe('topics', () => {
  async function connect(
    key: string,
  ): Promise<{ socket: WebSocket; heard: string[]; answer(frame: object): Promise<Json> }> {
    const socket = new WebSocket(`${v.url.replace('http', 'ws')}/api/v1/ws`, {
      headers: { 'X-API-Key': key },
    });
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    const heard: string[] = [];
    socket.on('message', (data: Buffer) => heard.push(data.toString()));
    return {
      socket,
      heard,
      async answer(frame) {
        const from = heard.length;
        socket.send(JSON.stringify(frame));
        for (;;) {
          const found = heard
            .slice(from)
            .map((text) => JSON.parse(text) as Json)
            .find((one) => one['op'] !== undefined);
          if (found) return found;
          await new Promise((done) => setTimeout(done, 5));
        }
      },
    };
  }

  test.each(MODES)(
    'A6: %s: no topic of the other world can be had, and the open ones stay silent while that world trades',
    async (mode) => {
      const [mine, theirs] = [worlds[mode], other(mode)];
      for (const kind of ['service', 'workspace'] as const) {
        const client = await connect(mine.keys[kind]);
        expect(await client.answer({ op: 'subscribe', topics: [`orders:${theirs.orderId}`] })).toMatchObject({
          op: 'error',
          error: { code: 'not_found' },
        });
        const market = `${theirs.chain.chain.slug}-${theirs.chain.chain.slug}`;
        expect(
          await client.answer({ op: 'subscribe', topics: [`prices:${market}:USDC-WETH`] }),
        ).toMatchObject({ op: 'error', error: { code: 'not_found' } });
        const owned = `${mine.chain.chain.slug}-${mine.chain.chain.slug}`;
        expect(
          await client.answer({
            op: 'subscribe',
            topics: ['orders', 'solvers', `orders:${mine.orderId}`, `prices:${owned}:USDC-WETH`],
          }),
        ).toMatchObject({ op: 'subscribed' });
        // The other world's solver goes and comes, and one of its orders is made.
        theirs.solver.say({ type: 'status', status: 'standby', note: 'looking away' });
        theirs.solver.say({ type: 'status', status: 'active', note: null });
        await trade(theirs);
        // Told after all of that: what was to come has come by now.
        mine.solver.say({ type: 'status', status: 'standby', note: `of ${mode}` });
        while (!client.heard.some((text) => text.includes(`of ${mode}`)))
          await new Promise((done) => setTimeout(done, 5));
        await trade(mine, () => mine.solver.say({ type: 'status', status: 'active', note: null }));
        while (!client.heard.some((text) => text.includes('"topic":"orders"')))
          await new Promise((done) => setTimeout(done, 5));
        expect(
          client.heard.filter((text) => !text.includes('"op":"error"') && marksIn(text, theirs).length > 0),
        ).toEqual([]);
        client.socket.terminate();
      }
    },
  );

  async function trade({ chain, taker, keys, solver }: World, before = (): void => {}): Promise<void> {
    before();
    const call = (path: string, body: unknown) => v.call('POST', path, { key: keys.service, body });
    let candidate: Json | undefined;
    while (!candidate)
      candidate = (await call('/api/v1/rfq/quotes', quoteBody(chain, taker))).json['quotes']?.[0];
    const plan = (await call('/api/v1/rfq/orders/preflight', { quoteResponse: candidate })).json;
    const order = await call('/api/v1/rfq/orders', await signPlan(taker, candidate, plan));
    expect(order.status, order.text).toBe(200);
    await solver.next('award', ({ orderId }) => orderId === (order.json['id'] as unknown as string));
  }
});

test('a listed chain without an escrow is pair_not_supported for every key that sees it, on either side', async () => {
  for (const mode of MODES) {
    const { keys, chain, taker } = worlds[mode];
    const own = quoteBody(chain, taker);
    const { json: pairs } = await v.call('GET', '/api/v1/rfq/pairs', { key: keys.service });
    for (const [slug, id] of Object.entries(LISTED)) {
      const seen = pairs[slug] !== undefined;
      expect([mode, slug, seen]).toEqual([mode, slug, mode === 'test' || slug === 'production-only']);
      const asset = `eip155:${id}/erc20:0x${'ab'.repeat(20)}`;
      for (const namespace of ['rfq', 'router'])
        for (const body of [
          { ...own, output: { asset } },
          { ...own, input: { ...own.input, asset } },
          { ...own, input: { ...own.input, asset }, output: { asset: asset.replace('abab', 'cdcd') } },
        ]) {
          const answer = await v.call('POST', `/api/v1/${namespace}/quotes`, { key: keys.service, body });
          if (seen)
            expect(answer.json).toMatchObject({
              quotes: [],
              productUnavailable: { code: 'pair_not_supported' },
            });
          else expect([answer.status, typeOf(answer)]).toEqual([422, 'chain_not_in_roster']);
        }
    }
  }
});
