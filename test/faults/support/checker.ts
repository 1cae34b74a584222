/**
 * Judges every fault and the soak: reads what clients received, what the databases contain and what the
 * chains show, and names each violation of I1 to I11 and each missing base unit. It does not depend on how
 * the system works, only on what must be true.
 */

import { ORDER_COLUMNS, orderFromRow } from '../../../src/adapters/postgres/venue/order-rows.ts';
import type { Queryable, Row } from '../../../src/adapters/postgres/pool.ts';
import { toHex } from '../../../src/adapters/postgres/rows.ts';
import type { Chain } from '../../../src/domain/chain.ts';
import { decodeContext } from '../../../src/domain/context.ts';
import type { Address } from '../../../src/domain/hex.ts';
import { outputHash } from '../../../src/domain/order.ts';
import type { EscrowStatus } from '../../../src/ports/chain.ts';
import type { OrderRecord } from '../../../src/ports/stores/store.ts';
import type { QuoteCandidate } from '../../../src/protocol/api/candidate.ts';
import { foldFacts } from '../../../src/settlement/lifecycle.ts';
import type { ClientEntry } from './client.ts';
import { moneyProblems } from './money.ts';
import { type ChainTruth, readTruth } from './truth.ts';
import type { World } from './world.ts';

export interface Scene {
  chains: readonly { chain: Chain; rpcUrl: string }[];
  /** The venue's tables. */
  venue: Queryable;
  /** Databases that hold transactions, by owner. */
  senders: readonly { name: string; database: Queryable }[];
  /** Their balances, in wallet and ledger, change by their orders only. */
  takers: readonly Address[];
  /** Ledger accounts that pay. */
  lps: readonly Address[];
  log: readonly ClientEntry[];
  /** Secrets that none of these may contain. */
  secrets: readonly string[];
  outputs: readonly { name: string; text: string }[];
}

export interface Asked {
  /** Nothing is in flight, so every order must have ended. Otherwise it checks a running system. */
  ended: boolean;
  /** How long after `expires`, in chain time, an order of a running system may still be open. */
  marginSeconds?: number;
  /** Chains mine by themselves, so their clocks may differ by this much. */
  clockSlackSeconds?: number;
}

interface Order extends OrderRecord {
  status: 'pending' | 'settled' | 'failed';
  final: boolean;
  events: readonly { seq: number; type: string }[];
  tradeStage: string | null;
  onChain: EscrowStatus;
  origin: ChainTruth | undefined;
}

export const sceneOf = (world: World): Scene => ({
  chains: world.devnet.chains.map(({ chain, anvil }) => ({ chain, rpcUrl: anvil.url })),
  venue: world.database,
  senders: [
    { name: 'the venue', database: world.database },
    ...world.lps
      .filter(({ part }) => part.output() !== '')
      .map(({ id, database }) => ({ name: `LP ${id}`, database })),
  ],
  takers: [...new Set(world.log.map(({ taker }) => taker as Address))],
  lps: world.lps.map(({ owner }) => owner.address),
  log: world.log,
  secrets: world.secrets,
  outputs: [...world.lps.map(({ part }) => part), ...world.attesters, ...world.venues].map((part) => ({
    name: part.name,
    text: part.output(),
  })),
});

/** Each violation in one sentence; empty when there is none. */
export async function broken(
  scene: Scene,
  { ended, marginSeconds = 60, clockSlackSeconds = 2 }: Asked,
): Promise<string[]> {
  // In this order, because each is evidence for the next: a client cannot have received what is not stored,
  // and what is stored must have happened.
  const log = [...scene.log];
  const rows = await readOrders(scene.venue);
  const truths = await Promise.all(scene.chains.map(({ chain, rpcUrl }) => readTruth(chain, rpcUrl)));
  const byChain = new Map(truths.map((truth) => [truth.chain.id, truth]));
  const orders = await Promise.all(
    rows.map(async (row): Promise<Order> => {
      const origin = byChain.get(row.originChainId);
      return { ...row, origin, onChain: (await origin?.status(row.orderId)) ?? 'none' };
    }),
  );
  return [
    ...acceptance(log, orders),
    ...history(orders),
    ...statuses(log, orders, byChain),
    ...fills(orders, truths),
    ...(await timing(orders, byChain, clockSlackSeconds)),
    ...endings(orders, { ended, marginSeconds }),
    ...refunds(orders),
    ...(await promises(orders, truths, scene.lps)),
    ...(await sentTwice(scene.senders, truths)),
    ...(await moneyProblems(
      truths,
      orders.map(({ candidate, ...order }) => ({ ...order, shown: JSON.parse(candidate) as QuoteCandidate })),
      scene,
    )),
    ...leaks(scene),
  ];
}

async function readOrders(venue: Queryable): Promise<Omit<Order, 'onChain' | 'origin'>[]> {
  const rows = await venue.query<
    Row & {
      status: Order['status'];
      final: boolean;
      events: { seq: number; type: string }[] | null;
      stage: string | null;
    }
  >(
    `select ${ORDER_COLUMNS}, o.status, o.final, (select jsonb_agg(jsonb_build_object('seq', e.seq, 'type', e.type) order by e.seq) from order_event e where e.order_id = o.order_id) as events,
      (select t.state->>'stage' from trade t where t.order_id = o.order_id) as stage from trade_order o order by created_at_ms, order_id`,
  );
  return rows.map((row) => ({
    ...orderFromRow(row),
    status: row.status,
    final: row.final,
    events: row.events ?? [],
    tradeStage: row.stage,
  }));
}

/** I2 and I6, from the clients' side. */
function acceptance(log: readonly ClientEntry[], orders: readonly Order[]): string[] {
  const problems: string[] = [];
  const known = new Map(orders.map((order) => [order.orderId as string, order]));
  const byKey = new Map<string, string>();
  const byQuote = new Map<string, string>();
  for (const entry of log) {
    if (entry.kind !== 'answered' || entry.status !== 200) continue;
    const { id } = JSON.parse(entry.text) as { id: string };
    const order = known.get(id);
    if (!order) problems.push(`I2: order ${id} was accepted and is not in the database`);
    else if (order.quoteId !== entry.quoteId)
      problems.push(
        `I6: order ${id} was the answer to quote ${entry.quoteId} and is of quote ${order.quoteId}`,
      );
    for (const [map, name, of] of [
      [byKey, 'Idempotency-Key', entry.key && `${entry.taker} ${entry.key}`],
      [byQuote, 'quote', entry.quoteId],
    ] as const) {
      if (of === null) continue;
      const before = map.get(of);
      if (before !== undefined && before !== id)
        problems.push(`I6: one ${name} (${of}) became two orders, ${before} and ${id}`);
      map.set(of, id);
    }
  }
  const submitted = new Set(
    log.flatMap((entry) => (entry.kind === 'submitted' ? [entry.candidate.quoteId] : [])),
  );
  const quotes = new Set<string>();
  for (const { orderId, quoteId } of orders) {
    if (!submitted.has(quoteId)) problems.push(`I6: order ${orderId} is of a quote that no client submitted`);
    if (quotes.has(quoteId)) problems.push(`I6: quote ${quoteId} is two orders in the database`);
    quotes.add(quoteId);
  }
  return problems;
}

/** I2 and I10 within the database: facts without gaps, each once, one end, and the same result everywhere. */
function history(orders: readonly Order[]): string[] {
  return orders.flatMap(({ orderId, order, facts, events, status, final, tradeStage }) => {
    const problems: string[] = [];
    const say = (what: string) => problems.push(`${what}: order ${orderId}`);
    if (facts[0]?.fact.kind !== 'accepted') say('I2: it does not begin with being accepted');
    if (facts.some(({ seq }, index) => seq !== index + 1))
      say(`I2: its facts are numbered ${facts.map(({ seq }) => seq).join(', ')}`);
    const once = facts
      .map(({ fact }) =>
        fact.kind === 'filled' || fact.kind === 'attested' || fact.kind === 'credited'
          ? `${fact.kind} ${fact.outputIndex}`
          : fact.kind,
      )
      .filter((kind) => !/^(?:sent|payout_sent|withdrawal_requested|withdrawn)$/.test(kind));
    const end = once.findIndex((kind) => kind === 'finalised' || kind === 'refunded');
    if (end !== -1 && end !== once.length - 1)
      say(`I10: it came to its end (${once[end]}) and after that to "${once.slice(end + 1).join(', ')}"`);
    for (const kind of new Set(once))
      if (once.filter((each) => each === kind).length > 1)
        say(`${kind.startsWith('filled') ? 'I1' : 'I10'}: it has the fact "${kind}" twice`);
    const progress = foldFacts(
      order,
      facts.map(({ fact }) => fact),
    );
    if (progress.status !== status || progress.final !== final)
      say(
        `I10: its row says ${status}${final ? ', final' : ''} and its facts say ${progress.status}${progress.final ? ', final' : ''}`,
      );
    if (tradeStage !== progress.stage)
      say(`I10: the trade history has it as ${tradeStage ?? 'nothing'} and its facts say ${progress.stage}`);
    const wanted = ['order.created', ...(status === 'pending' ? [] : [`order.${status}`])];
    if (events.map(({ type }) => type).join() !== wanted.join())
      say(
        `I10: its events are ${events.map(({ type }) => type).join(', ') || 'none'} and should be ${wanted.join(', ')}`,
      );
    if (events.some(({ seq }, index) => seq !== index + 1))
      say(`I10: its events are numbered ${events.map(({ seq }) => seq).join(', ')}`);
    return problems;
  });
}

/** I10: a final answer to a client never changes, and equals the chain. */
function statuses(
  log: readonly ClientEntry[],
  orders: readonly Order[],
  byChain: ReadonlyMap<number, ChainTruth>,
): string[] {
  const problems: string[] = [];
  const told = new Map<string, string>();
  for (const entry of log) {
    if (entry.kind !== 'seen') continue;
    const {
      orderId,
      status: { status },
    } = entry;
    const before = told.get(orderId);
    if (before !== undefined && before !== status)
      problems.push(`I10: a client saw order ${orderId} ${before} and later ${status}`);
    if (status !== 'pending') told.set(orderId, status);
  }
  for (const { orderId, order, status, final, onChain } of orders) {
    const now = told.get(orderId);
    if (now !== undefined && now !== status)
      problems.push(`I10: a client saw order ${orderId} ${now}, and the database says ${status}`);
    const undelivered = order.outputs.filter(
      (output) =>
        !byChain
          .get(Number(output.chainId))
          ?.fills.some((fill) => fill.orderId === orderId && fill.outputHash === outputHash(output)),
    );
    if (status === 'settled' && (onChain !== 'claimed' || undelivered.length > 0))
      problems.push(
        `I10: order ${orderId} is settled by the database; its escrow has it as ${onChain}, with ${undelivered.length} outputs not delivered`,
      );
    if (status === 'failed' && onChain === 'claimed')
      problems.push(`I10: order ${orderId} is failed by the database and was paid out on its chain`);
    if (status === 'failed' && final && onChain === 'deposited')
      problems.push(`I10: order ${orderId} is failed for good by the database, and its input is in escrow`);
  }
  return problems;
}

/** I1 and I3: one delivery each, and none without the input in escrow. */
function fills(orders: readonly Order[], truths: readonly ChainTruth[]): string[] {
  const problems: string[] = [];
  const known = new Set(orders.map(({ orderId }) => orderId as string));
  for (const { chain, fills: all } of truths) {
    const times = new Map<string, number>();
    for (const { orderId, outputHash: hash } of all) {
      times.set(`${orderId} ${hash}`, (times.get(`${orderId} ${hash}`) ?? 0) + 1);
      if (!known.has(orderId))
        problems.push(
          `I3: an output of order ${orderId}, which the venue does not know, was delivered on ${chain.slug}`,
        );
    }
    for (const [output, count] of times)
      if (count > 1) problems.push(`I1: output ${output} was delivered ${count} times on ${chain.slug}`);
  }
  return problems;
}

/** I3, I7 and I9: never before the escrow is final, never too late, never without being paid. */
async function timing(
  orders: readonly Order[],
  byChain: ReadonlyMap<number, ChainTruth>,
  slack: number,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { orderId, order, origin, onChain, validUntil, createdAtMs } of orders) {
    if (createdAtMs / 1_000 > validUntil + slack)
      problems.push(
        `I7: order ${orderId} was accepted ${Math.round(createdAtMs / 1_000 - validUntil)} s after its quote had lapsed`,
      );
    const opened = origin?.opened.get(orderId);
    const openedAt = opened && (await origin?.timeOf(opened.block));
    if (openedAt !== undefined && openedAt > order.fillDeadline)
      problems.push(
        `I7: order ${orderId} was opened ${openedAt - order.fillDeadline} s after its fill deadline`,
      );
    for (const output of order.outputs) {
      const fill = byChain
        .get(Number(output.chainId))
        ?.fills.find((each) => each.orderId === orderId && each.outputHash === outputHash(output));
      if (!fill) continue;
      if (fill.timestamp > order.fillDeadline)
        problems.push(
          `I7: order ${orderId} was delivered ${fill.timestamp - order.fillDeadline} s after its fill deadline`,
        );
      if (output.chainId === order.originChainId) continue;
      const deepAt = opened && (await origin?.timeOf(opened.block + BigInt(origin.chain.depth)));
      if (deepAt === undefined || deepAt > fill.timestamp + slack)
        problems.push(
          `I3: order ${orderId} was delivered at ${fill.timestamp}; its input was ${opened ? `in escrow at depth only at ${deepAt ?? 'no time so far'}` : 'never in escrow'}`,
        );
      if (onChain === 'refunded')
        problems.push(`I9: order ${orderId} was delivered and refunded: its LP is not paid any more`);
    }
  }
  return problems;
}

/** I5. */
function endings(
  orders: readonly Order[],
  { ended, marginSeconds }: { ended: boolean; marginSeconds: number },
): string[] {
  return orders.flatMap(({ orderId, order, status, final, origin }) => {
    if (final) return [];
    if (ended) return [`I5: order ${orderId} is not at its end: ${status}`];
    const late = (origin?.head.timestamp ?? 0) - order.expires;
    return late > marginSeconds ? [`I5: order ${orderId} is ${status} ${late} s after it expired`] : [];
  });
}

/** I8: a refund returns the whole input to the user. */
function refunds(orders: readonly Order[]): string[] {
  return orders.flatMap(({ orderId, order, origin }) => {
    const refund = origin?.refunded.get(orderId);
    if (!refund || !origin) return [];
    const got = [...origin.paidOut(refund.txHash), ...origin.credited(refund.txHash)].filter(
      ({ to }) => to === order.user.toLowerCase(),
    );
    return order.inputs.flatMap(([token, amount]) => {
      const back = got
        .filter(({ token: each }) => BigInt(each) === token)
        .reduce((sum, each) => sum + each.amount, 0n);
      return back < amount
        ? [`I8: of order ${orderId}, ${amount} went in and ${back} came back to its user`]
        : [];
    });
  });
}

/** I4: the LP's balance covers everything that accepted orders still need from it. */
async function promises(
  orders: readonly Order[],
  truths: readonly ChainTruth[],
  lps: readonly Address[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const truth of truths) {
    const { chain, head } = truth;
    const filled = new Set(truth.fills.map(({ orderId, outputHash: hash }) => `${orderId} ${hash}`));
    const wanted = new Map<string, bigint>();
    for (const { orderId, order, final, status, onChain } of orders) {
      if (
        final ||
        status === 'failed' ||
        onChain === 'claimed' ||
        onChain === 'refunded' ||
        head.timestamp > order.fillDeadline
      )
        continue;
      for (const output of order.outputs) {
        const lp = decodeContext(output.context)?.exclusiveFor;
        if (
          Number(output.chainId) !== chain.id ||
          lp === undefined ||
          filled.has(`${orderId} ${outputHash(output)}`)
        )
          continue;
        const key = `0x${output.token.slice(26)} ${lp}`;
        wanted.set(key, (wanted.get(key) ?? 0n) + output.amount);
      }
    }
    for (const [key, amount] of wanted) {
      const [token, lp] = key.split(' ') as [Address, Address];
      if (!lps.includes(lp)) continue;
      const free = (await truth.ledger(token, lp)) - (await truth.deferred(token, lp));
      if (amount > free)
        problems.push(
          `I4: accepted orders want ${amount} of ${chain.tokens.find((each) => each.address === token)?.symbol ?? token} on ${chain.slug} from ${lp}, which has ${free}`,
        );
    }
  }
  return problems;
}

/**
 * I1: of all transactions sent for a step, at most one took effect. The same bytes, stored twice by processes
 * that did not know of each other, are one transaction.
 */
async function sentTwice(senders: Scene['senders'], truths: readonly ChainTruth[]): Promise<string[]> {
  const found = await Promise.all(
    senders.map(async ({ name, database }) => {
      const rows = await database.query<{ chain_id: number; key: string; hashes: Buffer[] }>(
        `select s.chain_id, s.key, array_agg(distinct a.hash) as hashes from tx_slot s join tx_attempt a on a.slot_id = s.id where not a.noop group by s.chain_id, s.key`,
      );
      return rows.flatMap(({ chain_id: id, key, hashes }) => {
        const truth = truths.find(({ chain }) => chain.id === id);
        const effective = hashes.map(toHex).filter((hash) => truth?.effects.has(hash));
        return effective.length > 1
          ? [`I1: ${name} had "${key}" take effect ${effective.length} times (${effective.join(', ')})`]
          : [];
      });
    }),
  );
  return found.flat();
}

/** I11. */
function leaks({ secrets, outputs, log }: Scene): string[] {
  const heard = [
    ...outputs,
    {
      name: 'an answer to a client',
      text: log.map((entry) => (entry.kind === 'answered' ? entry.text : '')).join('\n'),
    },
  ];
  return heard.flatMap(({ name, text }) =>
    secrets.flatMap((secret) =>
      text.toLowerCase().includes(secret.toLowerCase())
        ? [`I11: a secret (${secret.slice(0, 4)}…) is in what ${name} says`]
        : [],
    ),
  );
}
