/**
 * Two replicas of one venue over one database: what one knows the other counts, and an LP that is linked to
 * both is one LP.
 */

import { createPublicClient, createWalletClient, http } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { systemClock } from '../../../src/adapters/system/clock.ts';
import { createLinkClient } from '../../../src/adapters/ws/link-client.ts';
import { type Candidate, createClient, type OpenSocket } from '../../../src/client/client.ts';
import { assetId } from '../../../src/domain/asset.ts';
import type { Rfq } from '../../../src/protocol/link/link.ts';
import { account } from '../../support/devnet.ts';
import { startLiar } from '../../support/liar.ts';
import { createTestLp, lpConfig } from '../../support/lp.ts';
import { startTestPostgres, type TestPostgres } from '../../support/postgres.ts';
import { silentLog } from '../../support/silent.ts';
import { startSolver } from '../../support/solver.ts';
import { signPlan } from '../../support/taker.ts';
import {
  type Answer,
  type Json,
  type Replica,
  startTestVenue,
  type TestVenue,
  until,
} from '../../support/venue.ts';

const WETH = 10n ** 18n;
const taker = account(7_001);
let postgres: TestPostgres;
let v: TestVenue;
let b: Replica;
let key: string;
let n = 700;
let mining: NodeJS.Timeout;

beforeAll(async () => {
  [v, postgres] = await Promise.all([
    startTestVenue({
      breaker: { limit: 3.5, halfLifeMs: 3_600_000, firstCoolDownMs: 600_000 },
      fanOut: { timeoutMs: 20_000 },
    }),
    startTestPostgres(),
  ]);
  await v.chain.fund(taker.address, 1_000_000n);
  mining = setInterval(() => void v.chain.anvil.mine().catch(() => {}), 1_000);
}, 120_000);
afterAll(async () => {
  clearInterval(mining);
  await v.stop();
  await postgres.stop();
});
beforeEach(async () => {
  b = await v.replica();
  await v.agree([b]);
  key = await v.key('service');
});
afterEach(async () => {
  await Promise.all(v.solvers.map((solver) => solver.stop()));
  await b.stop();
});

/** A venue under test is the first replica and `b`, whatever else there is. */
const a = () => v.http.url;
const usdc = () => assetId({ chainId: v.chain.chain.id, token: v.chain.usdc.address });
const weth = () => assetId({ chainId: v.chain.chain.id, token: v.chain.weth.address });

async function post(
  url: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}/api/v1/rfq/${path}`, {
    method: 'POST',
    headers: { 'X-API-Key': key, 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Json };
}
const ask = (url: string, solver?: string) =>
  post(url, 'quotes', {
    input: { asset: usdc(), amount: '1000000000' },
    output: { asset: weth() },
    taker: taker.address,
    ...(solver !== undefined && { solvers: { include: [solver] } }),
  });
const rosterAt = async (url: string, id: string): Promise<Json> =>
  (
    (await (await fetch(`${url}/api/v1/solvers`, { headers: { 'X-API-Key': key } })).json()) as {
      solvers: Json[];
    }
  ).solvers.find((solver) => (solver['id'] as string) === id) as Json;
const fair = (rfq: Rfq) => (BigInt(rfq.amount) * WETH) / 2_500_000_000n;

/** Linked to both. */
async function solver(
  answer: Parameters<TestVenue['solver']>[1],
  more: Parameters<TestVenue['solver']>[2] = {},
) {
  const known = await v.solver(n++, answer, more);
  await until(() => b.venue.roster.entry(known.id));
  const there = await startSolver(b.url, {
    id: known.id,
    apiKey: known.apiKey,
    lp: known.lp.address,
    operator: known.operator,
    chains: [v.chain.chain],
    corridors: ['chain1-chain1'],
    answer,
    now: () => v.chain.port.head()?.timestamp ?? 0,
  });
  await until(() => b.venue.roster.entry(known.id)?.status === 'active');
  return { ...known, there };
}

test('an LP linked to both replicas: asked by one, held once; accepted by the other, awarded once; one status', async () => {
  const [owner, operator] = [account(7_100), account(7_101)];
  await v.chain.fund(owner.address, 100_000n);
  for (const token of [v.chain.usdc, v.chain.weth])
    await v.chain.deposit(owner.address, token.address, 100_000n * 10n ** BigInt(token.decimals));
  await v.chain.setOperator(owner.address, operator.address);
  await v.store.putSolver({ id: 'lp-a', name: 'Alpha', kind: 'lp', corridors: null, disabled: false });
  await v.bus.publish('solvers', 'lp-a');
  await until(() => v.venue.roster.entry('lp-a') && b.venue.roster.entry('lp-a'));
  const apiKey = await v.key('solver', { solverId: 'lp-a' });
  const lp = await createTestLp({
    devnet: v.devnet,
    postgres,
    venueUrl: a(),
    operator,
    schema: 'lp_replicas',
    config: lpConfig(v.devnet, owner.address, {
      quoting: { pointsSeconds: [], validitySeconds: 60, claimSeconds: 10 },
    }),
    more: {
      links: [a(), b.url].map((url, index) =>
        createLinkClient({ clock: systemClock, log: silentLog }, { name: `replica-${index}`, url, apiKey }),
      ),
    },
  });
  await lp.start();
  try {
    await until(
      () =>
        v.venue.roster.entry('lp-a')?.status === 'active' &&
        b.venue.roster.entry('lp-a')?.status === 'active',
    );
    expect(lp.status().venues.map(({ welcome }) => welcome)).toEqual([true, true]);
    const quoted = await until(async () => (await ask(a(), 'lp-a')).json['quotes']?.[0]);
    expect(lp.status().liveQuotes).toBe(1);
    const plan = (await post(b.url, 'orders/preflight', { quoteResponse: quoted })).json;
    const body = await signPlan(taker, quoted, plan);
    const answers = await Promise.all(
      [a(), b.url, a(), b.url].map((url) => post(url, 'orders', body, { 'Idempotency-Key': 'one' })),
    );
    // Whoever was at it first answers; the others repeat that, or ask to come again.
    expect(answers.map(({ status }) => status).every((status) => status === 200 || status === 409)).toBe(
      true,
    );
    const accepted = answers.filter(({ status }) => status === 200);
    expect(new Set(accepted.map(({ text }) => text)).size).toBe(1);
    const id = (accepted[0] as Answer).json['id'] as string;
    await until(() => lp.status().openAwards === 1);
    await until(async () => (await lp.awards()).length > 0);
    expect(await lp.awards()).toHaveLength(1);
    for (const url of [a(), b.url]) {
      const shown = await fetch(`${url}/api/v1/rfq/orders/${id}`, { headers: { 'X-API-Key': key } });
      expect(await shown.json()).toMatchObject({ id, status: 'pending' });
      expect(await rosterAt(url, 'lp-a')).toMatchObject({ status: 'active' });
    }
    expect((await post(a(), 'orders', body, { 'Idempotency-Key': 'another' })).text).toBe(accepted[0]?.text);
  } finally {
    await lp.stop();
  }
});

test('live quotes of a key count on every replica until one is submitted', async () => {
  const { id } = await solver((rfq, make) => make.quote(rfq, { output: fair(rfq) }));
  await v.workspace('limited', { limits: { openQuotes: 4, openNotionalUsd: null } });
  key = await v.key('service', { workspaceId: 'limited' });
  const quotes = [];
  for (const url of [a(), b.url, a()]) quotes.push((await ask(url, id)).json['quotes']?.[0] as Json);
  const last = (await ask(b.url, id)).json['quotes']?.[0] as Json;
  await v.agree([b]);
  expect((await ask(a(), id)).status).toBe(429);
  expect((await ask(b.url, id)).status).toBe(429);
  // Asked for at b, submitted at a: b hears of it.
  const body = await signPlan(
    taker,
    last,
    (await post(a(), 'orders/preflight', { quoteResponse: last })).json,
  );
  expect((await post(a(), 'orders', body)).status).toBe(200);
  await until(async () => (await ask(b.url, id)).status === 200);
});

test('a key has one rate for both replicas', async () => {
  const slow = await v.replica({ rates: { readsPerSecond: 1, burst: 10 } });
  try {
    const read = async (url: string) =>
      (await fetch(`${url}/api/v1/rfq/pairs`, { headers: { 'X-API-Key': key } })).status;
    for (let count = 0; count < 40; count += 1) expect(await read(a())).toBe(200);
    await v.agree([slow]);
    // All of its ten and more were drunk at the other one.
    expect(await read(slow.url)).toBe(429);
  } finally {
    await slow.stop();
  }
});

test('inventory promised through one replica is not promised through the other', async () => {
  // It would promise the same 1,000 twice.
  const { id } = await solver((rfq, make) => make.quote(rfq, { output: 900n * WETH }), { inventory: 1_000n });
  expect((await ask(a(), id)).json['quotes']).toHaveLength(1);
  await v.agree([b]);
  expect((await ask(b.url, id)).json['quotes']).toEqual([]);
});

test('invalid answers are counted together: the breaker excludes the solver at both', async () => {
  const { id } = await solver((rfq, make) =>
    make.quote(rfq, { output: fair(rfq) }, { signer: account(7_200) }),
  );
  for (const url of [a(), b.url, a(), b.url]) expect((await ask(url, id)).json['quotes']).toEqual([]);
  await v.agree([b]);
  for (const url of [a(), b.url]) {
    expect(await rosterAt(url, id)).toMatchObject({
      status: 'standby',
      eligibilityNote: expect.stringMatching(/^Resting until/) as unknown,
    });
    expect((await ask(url, id)).json).toMatchObject({ productUnavailable: { code: 'no_eligible_solver' } });
  }
});

test('a solver linked to one replica is shown by both and asked by one; when it leaves, it leaves both', async () => {
  const known = await v.solver(n++, (rfq, make) => make.quote(rfq, { output: fair(rfq) }));
  await v.agree([b]);
  expect(await rosterAt(b.url, known.id)).toEqual(await rosterAt(a(), known.id));
  expect((await ask(a(), known.id)).json['quotes']).toHaveLength(1);
  expect((await ask(b.url, known.id)).json).toMatchObject({
    productUnavailable: { code: 'no_eligible_solver' },
  });
  await known.stop();
  await until(() => v.venue.roster.entry(known.id)?.status === 'offline');
  await v.agree([b]);
  expect(await rosterAt(b.url, known.id)).toMatchObject({ status: 'offline' });
});

test('two replicas that see an LP for the first time concurrently keep the earlier time', async () => {
  const known = await v.solver(n++, () => undefined);
  await v.agree([b]);
  const early = Date.parse(String((await rosterAt(a(), known.id))['firstSeenAt'])) - 7;
  await v.store.solverSeen(known.id, early);
  await v.store.solverSeen(known.id, early + 1_000);
  await v.bus.publish('solvers', known.id);
  for (const url of [a(), b.url])
    await until(async () => (await rosterAt(url, known.id))['firstSeenAt'] === new Date(early).toISOString());
});

test("a stopping replica removes its solvers from the other's roster and tells its own to reconnect", async () => {
  const other = await v.replica();
  const known = await v.solver(n++, () => undefined);
  await known.stop();
  await until(() => other.venue.roster.entry(known.id));
  const there = await startSolver(other.url, {
    id: known.id,
    apiKey: known.apiKey,
    lp: known.lp.address,
    operator: known.operator,
    chains: [v.chain.chain],
    corridors: ['chain1-chain1'],
    answer: () => undefined,
  });
  await v.agree([other, b]);
  expect(await rosterAt(b.url, known.id)).toMatchObject({ status: 'active' });
  await other.stop();
  expect(await there.closed).toMatchObject({ code: 1012 });
  await until(async () => ((await rosterAt(b.url, known.id))['status'] as string) === 'offline');
});

test('a client of several URLs: a replica without solvers, a lost answer and a stopping replica cost it nothing', async () => {
  const { id } = await solver((rfq, make) => make.quote(rfq, { output: fair(rfq) }));
  const [c, cutting] = await Promise.all([v.replica(), startLiar(b.url)]);
  await v.agree([b, c]);
  const { chain, anvil } = v.chain;
  const rpc = createPublicClient({ transport: http(anvil.url), cacheTime: 0, pollingInterval: 50 });
  /** The paths that clients have read, in the order of the answers. */
  const read: string[] = [];
  const clientOf = (url: string | string[], openSocket?: OpenSocket) =>
    createClient({
      url,
      async fetch(to, init) {
        const answer = await fetch(to, init);
        read.push(String(to));
        return answer;
      },
      key,
      chains: { [chain.id]: { rpc, escrow: chain.escrow, oracles: [chain.oracle] } },
      ...(openSocket && { openSocket }),
    });
  const wallet = createWalletClient({
    account: privateKeyToAccount(taker.privateKey),
    transport: http(anvil.url),
  });
  const request = {
    taker: taker.address,
    input: { asset: usdc(), amount: 1_000_000_000n },
    output: { asset: weth() },
    solvers: { include: [id] },
  };
  try {
    // No solver is linked to the first replica.
    const client = clientOf([c.url, cutting.url, a()]);
    const { quotes } = await client.requestQuotes(request);
    const checked = await client.check(quotes[0] as Candidate, { request });
    const plan = await client.preflight(checked);
    const { locks } = await client.runActions(checked, plan, wallet);
    const signature = await client.sign(checked, wallet);
    // The submission has its effect, and its answer is lost.
    cutting.cut(1);
    const order = await client.submit(checked, { signature, ...locks, attempts: 1 });
    expect(order).toMatchObject({ id: checked.orderId, status: 'pending' });
    expect(
      cutting.heard.filter(({ method, path }) => method === 'POST' && path.endsWith('/orders')),
    ).toHaveLength(1);

    const streams: string[] = [];
    const subscribed: string[] = [];
    const following = clientOf([c.url, a()], (url, headers) => {
      streams.push(url);
      const socket = new WebSocket(url, { headers });
      socket.on('message', (data: Buffer) => data.includes('"subscribed"') && subscribed.push(url));
      return socket as never;
    }).follow(order.id, { pollMs: 600_000 });
    await until(() => subscribed.length === 1);

    // It answers 503 first, then not at all.
    let stopped = false;
    const stopping = c.stop().then(() => (stopped = true));
    while (!stopped) await clientOf([c.url, a()]).pairs();
    await stopping;
    await expect(clientOf(c.url).pairs()).rejects.toMatchObject({ name: 'UnreachableError' });
    expect((await clientOf([c.url, a()]).requestQuotes(request)).quotes).toHaveLength(1);

    await until(() => subscribed.length === 2);
    const before = read.length;
    // The client reads the order once more: between two streams it may have missed an event.
    await until(() => read.slice(before).some((url) => url.endsWith(order.id)));
    expect([streams[0], streams.at(-1)].map((url) => url?.replace('ws', 'http'))).toEqual([
      `${c.url}/api/v1/ws`,
      `${a()}/api/v1/ws`,
    ]);
    const [claim] = await v.store.claim([checked.orderId], 'test', 60_000);
    const record = await v.store.order(checked.orderId);
    await v.store.append(
      claim as NonNullable<typeof claim>,
      record as NonNullable<typeof record>,
      [{ kind: 'failed', failure: { code: 'not_opened', message: 'test' } }],
      { status: 'failed', final: true, event: 'order.failed', atMs: Date.now() },
    );
    const events = [];
    for await (const { type, via } of following) events.push(`${type} ${via}`);
    expect(events.at(-1)).toBe('order.failed stream');
  } finally {
    await cutting.stop();
  }
});
