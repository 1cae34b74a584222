/** Subscribes a connection to topics, with a replay of what it missed, and ends subscriptions. */

import type { Bytes32 } from '../../domain/hex.ts';
import type { Release } from '../../ports/http.ts';
import { ApiError } from '../../protocol/errors.ts';
import { type FrameId, MAX_TOPICS, parseTopic, type Topic } from '../../protocol/api/events.ts';
import type { PriceMarket } from './levels-board.ts';
import type { Joined } from './order-topics.ts';
import { type StreamConnection, type StreamDoor, fail, sendFrame, type StreamDeps } from './stream-client.ts';

const TOPICS =
  'Topics are orders, orders:{id}, solvers and prices:{source}-{dest}:{inputSymbol}-{outputSymbol}.';

export async function enter(
  deps: StreamDeps,
  connection: StreamConnection,
  id: FrameId,
): Promise<Release | undefined> {
  try {
    return await deps.slots.take('subscribe', connection.key.id);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    fail(connection, error.code, error.message, id);
    return undefined;
  }
}

export async function subscribe(
  deps: StreamDeps,
  door: StreamDoor,
  connection: StreamConnection,
  texts: readonly string[],
  since: string | undefined,
  id: FrameId,
): Promise<void> {
  if (!texts.every(() => door.topicRate.take(connection.key.id).ok))
    return fail(
      connection,
      'rate_limited',
      'This key subscribes too fast. Subscribe to each topic once.',
      id,
    );
  const topics: { text: string; topic: Topic; market?: PriceMarket }[] = [];
  for (const text of texts) {
    const topic = parseTopic(text);
    if (!topic)
      return fail(connection, 'bad_request', `"${text.slice(0, 80)}" is not a topic. ${TOPICS}`, id);
    if (topic.kind === 'order') {
      const record = await deps.store.order(topic.orderId as Bytes32);
      if (!record || record.workspaceId !== connection.key.workspaceId || record.mode !== connection.key.mode)
        return fail(connection, 'not_found', 'No such order.', id);
    }
    const market =
      topic.kind === 'prices'
        ? deps.prices.market(text, topic.corridor, topic.pair, connection.key.mode)
        : undefined;
    if (topic.kind === 'prices' && !market)
      return fail(
        connection,
        'not_found',
        `There is no market "${text.slice(7, 80)}" for this key. Write slugs of GET …/pairs and symbols of tokens there, such as prices:base-base:USDC-WETH.`,
        id,
      );
    topics.push({ text, topic, ...(market && { market }) });
  }
  const ofAll = topics.some(({ topic }) => topic.kind === 'orders');
  if (since !== undefined && !ofAll)
    return fail(
      connection,
      'bad_request',
      "since belongs to the topic orders: orders:{id} always begins with the order's first event.",
      id,
    );
  if (new Set([...connection.client.topics, ...texts]).size > MAX_TOPICS)
    return fail(
      connection,
      'rate_limited',
      `A connection has at most ${MAX_TOPICS} topics. Unsubscribe from some first.`,
      id,
    );
  const from = since === undefined ? undefined : Number(since);
  if (from !== undefined && from > (await deps.orders.last()))
    return fail(
      connection,
      'bad_request',
      'This venue never gave out that cursor. Subscribe without since and read your orders.',
      id,
    );
  const workspace = topics.some(({ market }) => market)
    ? await deps.workspaces.of(connection.key)
    : undefined;
  if (connection.client.gone) return;
  let cursor: string | undefined;
  const joined: Joined[] = [];
  let all: Joined | undefined;
  const markets: PriceMarket[] = [];
  for (const { text, topic, market } of topics) {
    const subscribed = connection.client.topics.has(text);
    connection.client.topics.add(text);
    if (topic.kind === 'orders') {
      all = deps.orders.joinAll(connection.client, from);
      cursor = String(all.place);
    } else if (topic.kind === 'order')
      joined.push(deps.orders.join(connection.client, topic.orderId as Bytes32));
    else if (topic.kind === 'solvers') door.rosterListeners.add(connection.client);
    else if (market && !subscribed) markets.push(market);
  }
  sendFrame(connection, {
    op: 'subscribed',
    topics: [...texts],
    ...(cursor !== undefined && { cursor }),
    id,
  });
  for (const market of markets) {
    if (!workspace) continue;
    connection.client.markets.set(market.topic, market);
    deps.prices.join(connection.client, market, workspace);
  }
  const failed = (error: unknown) => {
    // A stream with missing events must not look complete.
    for (const { text } of topics) leave(deps, door, connection, text);
    reportFailure(deps, connection, error, id);
  };
  // A long replay must not block the client's next request.
  if (all) connection.replay = connection.replay.then(all.catchUp).catch(failed);
  await Promise.all(joined.map((one) => one.catchUp())).catch(failed);
}

export function reportFailure(
  deps: StreamDeps,
  connection: StreamConnection,
  error: unknown,
  id: FrameId,
): void {
  deps.log.warn({ error }, 'a subscription failed');
  fail(
    connection,
    'unavailable',
    'The database does not answer, so none of these topics is subscribed. Try again shortly.',
    id,
  );
}

export function unsubscribe(
  deps: StreamDeps,
  door: StreamDoor,
  connection: StreamConnection,
  topics: readonly string[],
  id: FrameId,
): void {
  for (const topic of topics) leave(deps, door, connection, topic);
  sendFrame(connection, { op: 'unsubscribed', topics: [...topics], id });
}

export function leave(deps: StreamDeps, door: StreamDoor, connection: StreamConnection, text: string): void {
  if (!connection.client.topics.delete(text)) return;
  const topic = parseTopic(text);
  if (topic?.kind === 'orders') deps.orders.leaveAll(connection.client);
  if (topic?.kind === 'order') deps.orders.leave(connection.client, topic.orderId as Bytes32);
  if (topic?.kind === 'solvers') door.rosterListeners.delete(connection.client);
  if (topic?.kind === 'prices') {
    connection.client.markets.delete(text);
    deps.prices.leave(connection.client, text);
  }
}
