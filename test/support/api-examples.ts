/**
 * Every operation of the API once against a real venue, with every answer that it documents: what the
 * documents show as examples, and the test that they are true. A new route needs an entry in `HAPPY`, and
 * `npm run docs` to record it.
 */

import { WebSocket } from 'ws';
import { exampleKey, errorStatuses } from '../../src/adapters/http/openapi.ts';
import { assetId } from '../../src/domain/asset.ts';
import type { Hex } from '../../src/domain/hex.ts';
import type { Route } from '../../src/ports/http.ts';
import type { KeyKind } from '../../src/ports/stores/store.ts';
import type { LinkMessage, FromSolver, Rfq } from '../../src/protocol/link/link.ts';
import type { RecordedExchange, Recording } from '../../src/protocol/api/recording.ts';
import { keyFingerprint } from '../../src/venue/access/keys.ts';
import { account, type TestAccount } from './devnet.ts';
import type { Maker } from './solver.ts';
import { signPlan } from './taker.ts';
import { type Answer, type Json, type TestVenue, until } from './venue.ts';

interface Ask {
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

interface Stage {
  v: TestVenue;
  taker: TestAccount;
  /** One key of each kind, all of the workspace `w1`. */
  keys: Record<KeyKind, string>;
  quote: { taker: Hex; input: { asset: string; amount: string }; output: { asset: string } };
  /** Requests a fresh candidate of a namespace. */
  candidate(namespace: string): Promise<Json>;
  /** Requests a fresh candidate, and signs it. */
  signed(namespace: string): Promise<Record<string, unknown>>;
  /** Submits an order of a namespace. */
  order(namespace: string): Promise<string>;
}

const namespaceOf = (path: string) => path.split('/')[3] ?? '';

/** Requests that succeed, by the end of the route's path. */
const HAPPY: readonly { of: RegExp; ask(stage: Stage, path: string): Promise<Ask> | Ask }[] = [
  { of: /^POST .*\/quotes$/, ask: ({ quote }, path) => ({ path, body: quote }) },
  {
    of: /^POST .*\/orders\/preflight$/,
    ask: async ({ candidate }, path) => ({
      path,
      body: { quoteResponse: await candidate(namespaceOf(path)) },
    }),
  },
  {
    of: /^POST .*\/orders$/,
    ask: async ({ signed }, path) => ({
      path,
      body: await signed(namespaceOf(path)),
      headers: { 'Idempotency-Key': 'order-2026-11-21-0001' },
    }),
  },
  {
    of: /^GET .*\/orders\/:id$/,
    ask: async ({ order }, path) => ({ path: path.replace(':id', await order(namespaceOf(path))) }),
  },
  {
    of: /^POST .*\/payouts\/offers$/,
    ask: ({ taker, quote: { input } }, path) => ({
      path,
      body: { asset: input.asset, amount: '1000000000', currency: 'EUR', from: taker.address },
    }),
  },
  {
    of: /^GET .*\/payouts\/:partnerId\/:offerId$/,
    ask: (_, path) => ({ path: path.replace(':partnerId', 'acme-payouts').replace(':offerId', 'offer-1') }),
  },
  { of: /^GET .*\/solvers$/, ask: (_, path) => ({ path: `${path}?status=active&corridor=chain1-chain1` }) },
  { of: /^GET .*\/firmness$/, ask: (_, path) => ({ path: path.replace(':id', 'lp-1') }) },
  { of: /^POST .*\/ws\/tickets$/, ask: (_, path) => ({ path }) },
  { of: /^GET .*\/key$/, ask: (_, path) => ({ path }) },
  { of: /^GET .*\/pairs$/, ask: (_, path) => ({ path }) },
  {
    of: /^GET .*\/trades$/,
    ask: (_, path) => ({
      path: `${path.replace(':id', 'w1')}?status=all&limit=2&sort=created_at&direction=desc`,
    }),
  },
  { of: /^GET .*\/trades\/export$/, ask: (_, path) => ({ path: `${path.replace(':id', 'w1')}?status=all` }) },
  {
    of: /^GET .*\/trades\/daily$/,
    ask: (_, path) => ({ path: `${path.replace(':id', 'w1')}?status=settled` }),
  },
  {
    of: /^GET .*\/trades\/:orderId$/,
    ask: async ({ order }, path) => ({
      path: path.replace(':id', 'w1').replace(':orderId', await order('rfq')),
    }),
  },
  {
    of: /^GET .*\/keys$/,
    async ask(stage, path) {
      await fewKeys(stage);
      return { path: path.replace(':id', 'w1') };
    },
  },
  {
    of: /^POST .*\/keys$/,
    async ask(stage, path) {
      await fewKeys(stage);
      return { path: path.replace(':id', 'w1'), body: { kind: 'service', label: 'Trading bot' } };
    },
  },
  {
    of: /^DELETE .*\/keys\/:keyId$/,
    async ask({ v }, path) {
      const { json } = await v.call('GET', '/api/v1/key', { key: await v.key('service') });
      return { path: path.replace(':id', 'w1').replace(':keyId', String(json['id'])) };
    },
  },
  {
    of: /^GET .*\/members$/,
    async ask(stage, path) {
      await aMember(stage, 'jane@acme.example');
      return { path: path.replace(':id', 'w1') };
    },
  },
  {
    of: /^POST .*\/members$/,
    async ask(stage, path) {
      await fewMembers(stage);
      return { path: path.replace(':id', 'w1'), body: NEW_MEMBER };
    },
  },
  {
    of: /^PATCH .*\/members\/:memberId$/,
    ask: async (stage, path) => ({
      path: path.replace(':id', 'w1').replace(':memberId', await aMember(stage, 'jim@acme.example')),
      body: { role: 'member' },
    }),
  },
  {
    of: /^DELETE .*\/members\/:memberId$/,
    ask: async (stage, path) => ({
      path: path.replace(':id', 'w1').replace(':memberId', await aMember(stage, 'jill@acme.example')),
    }),
  },
  { of: /^GET .*\/webhooks$/, ask: (_, path) => ({ path: path.replace(':id', 'w1') }) },
  { of: /^POST .*\/webhooks$/, ask: (_, path) => ({ path: path.replace(':id', 'w1'), body: NEW_WEBHOOK }) },
  {
    of: /^PATCH .*\/webhooks\/:webhookId$/,
    ask: async (stage, path) => ({
      path: await ofWebhook(stage, path),
      body: { description: 'Settlements' },
    }),
  },
  {
    of: /^POST .*\/rotate$/,
    ask: async (stage, path) => ({
      path: await ofWebhook(stage, path),
      body: { keepPreviousSeconds: 86_400 },
    }),
  },
  {
    of: /^GET .*\/deliveries$/,
    ask: async (stage, path) => ({ path: `${await ofWebhook(stage, path)}?state=waiting&limit=2` }),
  },
  {
    of: / .*\/webhooks\/:webhookId.*$/,
    ask: async (stage, path) => ({ path: await ofWebhook(stage, path) }),
  },
];

/** Leaves only the keys of the stage, so that the list is short and more can be issued. */
async function fewKeys({ v, keys }: Stage): Promise<void> {
  const kept = new Set([keys.service, keys.workspace].map((key) => keyFingerprint(key).lookup));
  for (const { id, lookup, workspaceId } of await v.store.listKeys())
    if (workspaceId === 'w1' && !kept.has(lookup)) await v.store.revokeKey(id, Date.now());
}

const NEW_MEMBER = { firstName: 'Joe', lastName: 'Bloggs', email: 'joe@acme.example', role: 'viewer' };
const MEMBERS = '/api/v1/workspaces/w1/members';

/** Leaves none with this address, so that it is free. */
async function fewMembers({ v, keys }: Stage, address = NEW_MEMBER.email): Promise<void> {
  const { json } = await v.call('GET', MEMBERS, { key: keys.workspace });
  for (const { userId, email } of json['members'] as unknown as { userId: string; email: string }[])
    if (email === address) await v.call('DELETE', `${MEMBERS}/${userId}`, { key: keys.workspace });
}

/** Adds a member for one request: the next request would remove the member of the one before it. */
async function aMember(stage: Stage, email: string): Promise<string> {
  await fewMembers(stage, email);
  const { v, keys } = stage;
  const body = { ...NEW_MEMBER, email };
  const { json, text } = await v.call('POST', MEMBERS, { key: keys.workspace, body });
  if (!json['userId']) throw new Error(`no member was added: ${text}`);
  return String(json['userId']);
}

/** The only owner, and a key that may change or remove owners. */
async function theLastOwner({ v }: Stage): Promise<{ key: string; userId: string }> {
  const key = await v.key('workspace', { role: 'owner' });
  const { json } = await v.call('GET', MEMBERS, { key });
  const members = json['members'] as unknown as { userId: string; role: string }[];
  const owner = members.find(({ role }) => role === 'owner');
  if (owner !== undefined) return { key, userId: owner.userId };
  const body = { ...NEW_MEMBER, email: 'owner@acme.example', role: 'owner' };
  return { key, userId: String((await v.call('POST', MEMBERS, { key, body })).json['userId']) };
}

/** Tries to change the last owner. */
async function ownerless(stage: Stage, { method }: Route, body: unknown): Promise<Answer> {
  const { key, userId } = await theLastOwner(stage);
  return asked(stage.v.url, method, `${MEMBERS}/${userId}`, key, body, {});
}

const NEW_WEBHOOK = {
  url: 'https://example.com/firmquote',
  events: ['order.created', 'order.settled', 'order.failed', 'solver.changed'],
  description: 'Order events',
};

/**
 * Returns the path for a webhook with one delivery, which was given up while the webhook was briefly
 * disabled.
 */
async function ofWebhook({ v, keys }: Stage, path: string): Promise<string> {
  const all = '/api/v1/workspaces/w1/webhooks';
  const ask = async (method: string, rest: string, body?: unknown): Promise<Json> => {
    const { status, json, text } = await v.call(method, all + rest, { key: keys.workspace, body });
    if (status !== 200) throw new Error(`${method} ${all}${rest} answered ${status}: ${text}`);
    return json;
  };
  const present = await ask('GET', '');
  const [oldest, ...others] = present['webhooks'] as unknown as { id: string }[];
  if (oldest && others.length + 1 >= Number(present['limit'])) await ask('DELETE', `/${oldest.id}`);
  const id = (await ask('POST', '', NEW_WEBHOOK))['webhook']?.['id'] as unknown as string;
  const delivery = (await ask('POST', `/${id}/test`))['id'] as unknown as string;
  await ask('PATCH', `/${id}`, { enabled: false });
  await ask('PATCH', `/${id}`, { enabled: true });
  return path.replace(':id', 'w1').replace(':webhookId', id).replace(':deliveryId', delivery);
}

/** An order id that is well-formed, but of no account. */
const NOWHERE = `0x${'12'.repeat(32)}`;
const nowhere = (path: string) => path.replace(/:[a-zA-Z]+/g, NOWHERE);

/** A whole venue with one LP that quotes a WETH for 2,500 USDC and a funded taker. */
export async function stageOf(v: TestVenue): Promise<Stage> {
  const taker = account(41);
  const { chain, usdc, weth } = v.chain;
  await v.chain.fund(taker.address, 1_000_000n);
  const keys = { service: await v.key('service'), workspace: await v.key('workspace'), solver: '' };
  const solver = await v.solver(1, (rfq, make) =>
    make.quote(rfq, { output: (BigInt(rfq.amount) * 10n ** 12n) / 2_500n }),
  );
  keys.solver = solver.apiKey;
  const quote = {
    taker: taker.address,
    input: { asset: assetId({ chainId: chain.id, token: usdc.address }), amount: '2500000000' },
    output: { asset: assetId({ chainId: chain.id, token: weth.address }) },
  };
  const stage: Stage = {
    v,
    taker,
    keys,
    quote,
    async candidate(namespace) {
      const { json, text } = await v.call('POST', `/api/v1/${namespace}/quotes`, {
        key: keys.service,
        body: quote,
      });
      const [best] = (json['quotes'] ?? []) as unknown as Json[];
      if (!best) throw new Error(`no quote in ${namespace}: ${text}`);
      return best;
    },
    async signed(namespace) {
      const candidate = await stage.candidate(namespace);
      const plan = (
        await v.call('POST', `/api/v1/${namespace}/orders/preflight`, {
          key: keys.service,
          body: { quoteResponse: candidate },
        })
      ).json;
      return signPlan(taker, candidate, plan);
    },
    async order(namespace) {
      const { json, text } = await v.call('POST', `/api/v1/${namespace}/orders`, {
        key: keys.service,
        body: await stage.signed(namespace),
      });
      if (!json['id']) throw new Error(`no order in ${namespace}: ${text}`);
      return json['id'];
    },
  };
  return stage;
}

/** Returns the request that succeeds. Throws for a route without an example. */
export async function happyRequest(stage: Stage, route: Pick<Route, 'method' | 'path'>): Promise<Ask> {
  const id = `${route.method} ${route.path}`;
  const found = HAPPY.find(({ of }) => of.test(id));
  if (!found)
    throw new Error(
      `${id} has no example. Add a request that succeeds to HAPPY in test/support/api-examples.ts, then run npm run docs.`,
    );
  return found.ask(stage, route.path);
}

/** Plays everything. Stops the database of the venue at the end, so nothing can be asked of it afterwards. */
export async function play(stage: Stage): Promise<Recording> {
  const { v, keys } = stage;
  const sockets = await playSockets(stage);
  const http: Record<string, RecordedExchange> = {};
  const unused = await freshKeys(v);
  const narrow = await v.replica({
    rates: { quotesPerSecond: 0.001, submitsPerSecond: 0.001, readsPerSecond: 0.001, burst: 1 },
  });
  const down = await v.replica();
  const late: { route: Route; answers: Record<string, { body: unknown }>; ask: Ask }[] = [];

  for (const route of v.venue.routes) {
    const statuses = errorStatuses(route);
    const kind = route.keyKinds[0] as KeyKind;
    const wrong = (['service', 'workspace', 'solver'] as const).find(
      (each) => !route.keyKinds.includes(each),
    ) as KeyKind;
    const ask = await happyRequest(stage, route);
    const send = (url: string, key: string | null, { path, body, headers = {} }: Ask) =>
      asked(url, route.method, path, key, body, headers);
    const answers: Record<string, { body: unknown }> = {};
    const keep = (status: string, answer: Answer) => {
      if (String(answer.status) !== status)
        throw new Error(
          `${route.method} ${ask.path} answered ${answer.status} where ${status} was to be shown: ${answer.text.slice(0, 300)}`,
        );
      answers[status] = { body: withoutKeys(answer.json ?? answer.text) };
    };
    keep('200', await send(v.url, keys[kind], ask));
    keep('401', await send(v.url, null, ask));
    keep('403', await send(v.url, keys[wrong], ask));
    keep(
      '422',
      await send(
        v.url,
        keys[kind],
        route.body
          ? { ...ask, body: {} }
          : { path: `${ask.path}${ask.path.includes('?') ? '&' : '?'}colour=red` },
      ),
    );
    if (statuses.includes('404'))
      keep('404', await send(v.url, keys[kind], { ...ask, path: nowhere(route.path) }));
    if (statuses.includes('409'))
      keep(
        '409',
        route.path.endsWith('/orders')
          ? await race(stage, route)
          : route.path.endsWith('/:memberId')
            ? await ownerless(stage, route, ask.body)
            : await repeated(() => send(v.url, keys[kind], ask)),
      );
    if (statuses.includes('413'))
      keep('413', await send(v.url, keys[kind], { ...ask, body: 'x'.repeat(256 * 1024) }));
    if (statuses.includes('415'))
      keep('415', await send(v.url, keys[kind], { ...ask, headers: { 'Content-Type': 'text/plain' } }));
    // The one request that its bucket holds, then one too many, each with a key of its own.
    const slow = await v.key(kind);
    await send(narrow.url, slow, ask);
    keep('429', await send(narrow.url, slow, ask));
    http[exampleKey(route)] = {
      request: { path: ask.path, ...(ask.body !== undefined && { body: ask.body }) },
      answers,
    };
    late.push({ route, answers, ask });
  }
  await narrow.stop();
  await v.stopDatabase();
  for (const { route, answers, ask } of late) {
    const answer = await asked(
      down.url,
      route.method,
      ask.path,
      unused[route.keyKinds[0] as KeyKind],
      ask.body,
      ask.headers ?? {},
    );
    if (answer.status !== 503)
      throw new Error(
        `${route.method} ${ask.path} answered ${answer.status} without a database: ${answer.text.slice(0, 300)}`,
      );
    answers['503'] = { body: answer.json };
  }
  await down.stop().catch(() => {});
  return { http, ...sockets };
}

/** Keys that no cache has: only the database can tell whose they are. */
async function freshKeys(v: TestVenue): Promise<Record<KeyKind, string>> {
  return {
    service: await v.key('service'),
    workspace: await v.key('workspace'),
    solver: await v.key('solver', { solverId: 'lp-1' }),
  };
}

async function asked(
  url: string,
  method: string,
  path: string,
  key: string | null | undefined,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(key ? { 'X-API-Key': key } : {}),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: (isJson ? JSON.parse(text) : null) as Json,
  };
}

/** Removes issued keys, because they are no example for others to keep. */
const withoutKeys = <T>(body: T): T =>
  JSON.parse(JSON.stringify(body).replaceAll(/(fq_(?:test|live)_)[\w-]{43}/g, '$1…')) as T;

/** The same request until it goes no longer together with what is there. */
async function repeated(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    const answer = await send();
    if (answer.status !== 200) return answer;
  }
}

/** Makes the same submission many times together: one that arrives while another runs gets 409. */
async function race({ v, keys, signed }: Stage, { path, method }: Route): Promise<Answer> {
  for (let round = 0; ; round++) {
    const body = await signed(namespaceOf(path));
    const answers = await Promise.all(
      Array.from({ length: 16 }, () =>
        asked(v.url, method, path, keys.service, body, { 'Idempotency-Key': `race-${round}` }),
      ),
    );
    const told = answers.find(({ status }) => status === 409);
    if (told) return told;
  }
}

/** Plays one session at each socket in which every kind of message occurs. */
async function playSockets(stage: Stage): Promise<Pick<Recording, 'events' | 'link'>> {
  const { v, keys, quote, order } = stage;
  const events: Record<string, unknown[]> = {};
  const note = (name: string, frame: unknown) => (events[name] ??= []).push(frame);
  const socket = new WebSocket(`${v.url.replace('http', 'ws')}/api/v1/ws`, {
    headers: { 'X-API-Key': keys.service },
  });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const heard: Json[] = [];
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString()) as Json));
  const say = async (frame: { op: string }) => {
    const before = heard.length;
    note('subscribe', frame);
    socket.send(JSON.stringify(frame));
    await until(() => heard.slice(before).some((answer) => answer['op']));
  };
  await say({
    op: 'subscribe',
    topics: ['orders', 'solvers', 'prices:chain1-chain1:USDC-WETH'],
    since: '0',
    id: 1,
  } as never);

  // Two solvers that together fill what neither can alone.
  const partial =
    (share: bigint) =>
    (rfq: Rfq, make: Maker): FromSolver =>
      BigInt(rfq.amount) < 10_000_000_000n
        ? make.decline(rfq, 'size_below_min')
        : {
            type: 'partial',
            rfqId: rfq.rfqId,
            ladder: [
              [
                ((BigInt(rfq.amount) * share) / 100n).toString(),
                ((BigInt(rfq.amount) * share * 10n ** 10n) / 2_600n).toString(),
              ],
            ],
            validUntil: Number(rfq.minValidUntil ?? Math.floor(Date.now() / 1000)) + 60,
          };
  const [one, two] = [await v.solver(2, partial(60n)), await v.solver(3, partial(60n))];
  const dialled = v.solver(4, () => undefined);
  const four = await dialled;
  await v.call('POST', '/api/v1/rfq/quotes', {
    key: keys.service,
    body: {
      ...quote,
      input: { ...quote.input, amount: '100000000000' },
      solvers: { include: ['lp-2', 'lp-3'] },
    },
  });
  four.say({
    type: 'levels',
    input: quote.input.asset as never,
    output: quote.output.asset as never,
    levels: [
      ['2500000000', '1000000000000000000'],
      ['10000000000', '3990000000000000000'],
    ],
    atMs: Date.now(),
  });
  // Nobody asked for it.
  four.say({ type: 'partial', rfqId: 'over', ladder: [['1', '1']], validUntil: 1 });
  await four.next('rejected');
  four.say({ type: 'ping' });
  await four.next('pong');
  const first = await quotedBy(stage, 'lp-1');
  await order('rfq');
  first.say({ type: 'resync' });
  await first.next('resync', ({ awards }) => awards.length > 0);
  const { orderId } = await first.next('award');
  first.say({ type: 'fill', orderId, stage: 'filled', txHash: null });
  await settledBy(stage, orderId);
  await first.next('order');
  await until(
    () =>
      heard.some((frame) => frame['type'] === ('order.failed' as never)) &&
      heard.some(
        (frame) =>
          frame['type'] === ('prices.indicative' as never) &&
          (frame['data']?.['solvers'] as unknown as number) > 0,
      ) &&
      heard.some((frame) => frame['topic'] === ('solvers' as never)),
  );
  await say({ op: 'subscribe', topics: [`orders:${NOWHERE}`], id: 'b' } as never);
  await say({ op: 'unsubscribe', topics: ['solvers'], id: 2 } as never);
  for (const frame of heard) {
    const type = frame['type'] as string | undefined;
    note(
      type === undefined
        ? (frame['op'] as string)
        : type.startsWith('order.')
          ? 'orderEvent'
          : type === 'solver.changed'
            ? 'solverEvent'
            : 'priceEvent',
      frame,
    );
  }
  socket.close();

  const refused = await refusal(stage);
  const link: Record<string, unknown[]> = {
    venue_refused: [refused],
    venue_released: [{ type: 'released', quoteIds: [NOWHERE], proof: 'nonce_used' }],
    venue_outcome: [
      {
        type: 'outcome',
        rfqId: '5b1f7c0e9d2a4f36a8c4e1d07b93f652',
        inputAmount: '1000000000',
        outputAmount: '384230769230769230',
      },
    ],
    venue_ping: [{ type: 'ping' }],
    solver_pong: [{ type: 'pong' }],
  };
  for (const { received, said } of [first, one, two, four]) {
    for (const message of received) link[`venue_${message.type}`] ??= [message];
    for (const message of said) link[`solver_${message.type}`] ??= [message];
  }
  await Promise.all([one, two, four].map((solver) => solver.stop()));
  return {
    events: Object.fromEntries(Object.entries(events).map(([name, frames]) => [name, choose(name, frames)])),
    link,
  };
}

/** Chooses one of each type of event, and of prices one with levels. */
function choose(name: string, frames: unknown[]): unknown[] {
  if (name === 'priceEvent')
    return frames
      .filter((frame) => (frame as { data: { bids: unknown[] } }).data.bids.length > 0)
      .slice(0, 1);
  const byType = new Map(frames.map((frame) => [(frame as Json)['type'] ?? (frame as Json)['op'], frame]));
  return [...byType.values()];
}

async function quotedBy({ v }: Stage, id: string) {
  const found = v.solvers.find((solver) => solver.id === id);
  if (!found) throw new Error(`no solver ${id}`);
  return found;
}

/** Ends an order without a chain's help, so that its last event is told. */
async function settledBy({ v }: Stage, orderId: LinkMessage<'award'>['orderId']): Promise<void> {
  const [claim] = await v.store.claim([orderId], 'examples', 10_000);
  const record = await v.store.order(orderId);
  if (!claim || !record) throw new Error('the order could not be claimed');
  const failure = {
    code: 'not_opened',
    message: 'The order never reached the chain, so nothing was moved.',
  } as const;
  await v.store.append(claim, record, [{ kind: 'failed', failure }], {
    status: 'failed',
    final: true,
    event: 'order.failed',
    atMs: Date.now(),
  });
}

/** Records the answer to a solver that uses another's key. */
async function refusal({ v, keys }: Stage): Promise<unknown> {
  const socket = new WebSocket(`${v.url.replace('http', 'ws')}/api/v1/solver/ws`, {
    headers: { 'X-API-Key': keys.solver },
  });
  const frames: Json[] = [];
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Json));
  await until(() => frames.length > 0);
  socket.send(JSON.stringify({ type: 'status', status: 'active', note: null }));
  await until(() => frames.length > 1);
  socket.close();
  return frames[1];
}
