/**
 * Pays deferred deliveries out of the ledger as soon as the escrow allows it, and records each withdrawal
 * and each claim on a bond that final events show once.
 */

import type { Gauge } from '../../../ports/metrics.ts';
import type { Evidence, Fact } from '../../../domain/fact.ts';
import type { Bytes32 } from '../../../domain/hex.ts';
import { outputHash } from '../../../domain/order.ts';
import type { UnixSeconds } from '../../../domain/time.ts';
import type { Block, ChainPort, EscrowEvent } from '../../../ports/chain.ts';
import type {
  DeliveryStore,
  EventPlace,
  LateFacts,
  LedgerDelivery,
} from '../../../ports/stores/deliveries.ts';
import type { FirmnessStore } from '../../../ports/stores/firmness.ts';
import type { OrderRecord, OrderStore } from '../../../ports/stores/store.ts';
import type { Transactor } from '../../../ports/transactor.ts';
import type { BondClaim } from '../../../domain/bond.ts';
import { withdrawDeferredCall } from '../../../settlement/call.ts';
import { allocate, payoutKey } from '../../../settlement/deferred.ts';
import type { VenueDeps } from '../../deps.ts';
import { followHeads } from './follow-heads.ts';
import { createSend, type Send } from './send.ts';

type WithdrawalsDeps = Pick<VenueDeps, 'chains' | 'clock' | 'log' | 'metrics'> & {
  store: DeliveryStore & Pick<OrderStore, 'order'> & Pick<FirmnessStore, 'addBondClaim'>;
  transactors: ReadonlyMap<number, Transactor>;
};

/** Blocks per request for events. */
const RANGE = 500n;
/** Blocks after which the position is stored even without events: the most that a restart reads again. */
const PLACE_EVERY = 50n;
const MOST_DUE = 100;
/** The chain seconds between two reads of a payment that was sent or refused. */
const RETRY_SECONDS = 15;
const LONGEST_PAUSE_SECONDS = 3_600;
const WHOLE_BLOCK = Number.MAX_SAFE_INTEGER;

interface WithdrawalsOptions {
  /**
   * An account's own requests and withdrawals are recorded this many chain seconds late, so that earlier
   * deliveries have been recorded.
   */
  recordingSeconds?: number;
}

/** The followers of all chains, and what they share. */
interface WithdrawalsState {
  readonly recordingSeconds: number;
  readonly waiting: Gauge;
  readonly send: Send;
  readonly following: { stop(): Promise<void> }[];
}

interface Withdrawals {
  start(): void;
  stop(): Promise<void>;
}

export function createWithdrawals(deps: WithdrawalsDeps, options: WithdrawalsOptions = {}): Withdrawals {
  const steps = deps.metrics.counter('firmquote_venue_payouts_total', 'Payouts handed to a relayer', {
    step: ['withdraw'],
    chain: [...deps.chains.values()].map(({ chain }) => chain.slug),
  });
  const state: WithdrawalsState = {
    recordingSeconds: options.recordingSeconds ?? 10,
    waiting: deps.metrics.gauge('firmquote_venue_payouts_due', 'Deliveries due to be paid out', ['chain']),
    send: createSend({ log: deps.log, steps }),
    following: [],
  };

  return { start: () => start(deps, state), stop: () => stop(state) };
}

function start(deps: WithdrawalsDeps, state: WithdrawalsState): void {
  for (const port of deps.chains.values()) state.following.push(follow(deps, state, port));
}

/** The withdrawals of one chain, and the state of following them. */
interface Follower {
  readonly port: ChainPort;
  readonly chainId: number;
  /** The number of times the escrow has refused each payment. */
  readonly refusals: Map<string, number>;
  /** Paid by the newest block, or never payable: neither is overdue. */
  readonly done: Set<string>;
  /** Up to here events have been read. */
  place: EventPlace | undefined;
  /** The block of the position that was stored last. */
  written: bigint;
  stopped: boolean;
  readonly heads: { readNow: () => void; stop(): Promise<void> };
}

function follow(deps: WithdrawalsDeps, state: WithdrawalsState, port: ChainPort): { stop(): Promise<void> } {
  const follower: Follower = {
    port,
    chainId: port.chain.id,
    refusals: new Map<string, number>(),
    done: new Set<string>(),
    place: undefined,
    written: 0n,
    stopped: false,
    heads: followHeads(port, deps.log, async () => {
      const head = port.head();
      if (head) await onHead(deps, state, follower, head);
    }),
  };
  follower.heads.readNow();
  return { stop: () => stopFollowing(follower) };
}

async function stopFollowing(follower: Follower): Promise<void> {
  follower.stopped = true;
  await follower.heads.stop();
}

async function onHead(
  deps: WithdrawalsDeps,
  state: WithdrawalsState,
  follower: Follower,
  head: Block,
): Promise<void> {
  const depth = BigInt(follower.port.chain.depth);
  await read(deps, state, follower, head.number > depth ? head.number - depth : 0n, head.timestamp);
  await pay(deps, state, follower, head.timestamp);
}

async function read(
  deps: WithdrawalsDeps,
  state: WithdrawalsState,
  follower: Follower,
  deep: bigint,
  now: UnixSeconds,
): Promise<void> {
  follower.place ??= await deps.store.withdrawalsRead(follower.chainId, deep);
  while (follower.place.block < deep && !follower.stopped) {
    const to: bigint = follower.place.block + RANGE < deep ? follower.place.block + RANGE : deep;
    // The stored position may be inside this block.
    const events = await follower.port.events(follower.place.block, to);
    const paid = new Set(
      events.flatMap((event) =>
        event.kind === 'deferral_ended' ? [`${event.blockHash}:${event.logIndex - 1}`] : [],
      ),
    );
    for (const event of events)
      if (
        !paid.has(`${event.blockHash}:${event.logIndex}`) &&
        !(await write(deps, state, follower, event, now))
      )
        return;
    follower.place = { block: to, logIndex: WHOLE_BLOCK };
    if (to - follower.written < PLACE_EVERY) continue;
    await deps.store.readWithdrawal(follower.chainId, follower.place, [], deps.clock.nowMs());
    follower.written = to;
  }
}

/** Returns false when the event cannot be recorded yet; the next block tries again. */
async function write(
  deps: WithdrawalsDeps,
  state: WithdrawalsState,
  follower: Follower,
  event: EscrowEvent,
  now: UnixSeconds,
): Promise<boolean> {
  if (event.kind === 'bond' && event.claim !== undefined)
    return writeClaim(deps, follower, event, event.claim);
  if (
    event.kind !== 'deferral_ended' &&
    (event.kind !== 'ledger' || (event.request === undefined && event.amount >= 0n))
  )
    return true;
  const evidence = await evidenceOf(follower, event);
  if (event.kind === 'ledger' && evidence.at + state.recordingSeconds > now) return false;
  const late =
    event.kind === 'deferral_ended'
      ? await ended(deps, follower, event, evidence)
      : await ownMove(deps, follower, event, evidence);
  if (late.length === 0) return true;
  const result = await deps.store.readWithdrawal(
    follower.chainId,
    { block: event.blockNumber, logIndex: event.logIndex },
    late,
    deps.clock.nowMs(),
  );
  if (result === 'written')
    for (const { before, facts } of late)
      deps.log.info(
        { orderId: before.orderId, facts: facts.map(({ kind }) => kind) },
        'ledger money of an order moved',
      );
  return result !== 'moved';
}

/** Stores a paid claim. The caller moves the position afterwards, so that no claim is lost. */
async function writeClaim(
  deps: WithdrawalsDeps,
  follower: Follower,
  event: Extract<EscrowEvent, { kind: 'bond' }>,
  claim: BondClaim,
): Promise<true> {
  const { at } = await evidenceOf(follower, event);
  const { account, token, txHash, logIndex, blockNumber: block } = event;
  const { orderId, quoteId, reason, promised, paid, forfeited } = claim;
  await deps.store.addBondClaim({
    ...{ chainId: follower.chainId, txHash, logIndex, block, atMs: at * 1_000, account, token },
    ...{ orderId, quoteId, reason, promised, paid, forfeited },
  });
  deps.log.warn({ account, orderId, reason }, 'the bond of an LP has paid a taker for a failed promise');
  return true;
}

async function evidenceOf(
  follower: Follower,
  { txHash, blockNumber, blockHash }: EscrowEvent,
): Promise<Evidence> {
  const block = await follower.port.block(blockNumber);
  if (!block) throw new RangeError(`Block ${blockNumber} is not there.`);
  return { chainId: follower.chainId, txHash, blockNumber, blockHash, at: block.timestamp };
}

async function ended(
  deps: WithdrawalsDeps,
  follower: Follower,
  event: Extract<EscrowEvent, { kind: 'deferral_ended' }>,
  evidence: Evidence,
): Promise<LateFacts[]> {
  const before = await deps.store.order(event.orderId);
  const outputIndex =
    before?.order.outputs.findIndex(
      (output) => output.chainId === BigInt(follower.chainId) && outputHash(output) === event.outputHash,
    ) ?? -1;
  if (!before || outputIndex === -1) return [];
  return [
    { before, facts: [{ kind: 'withdrawn', outputIndex, amount: event.amount, ended: true, evidence }] },
  ];
}

/**
 * Counts against the oldest deliveries, per workspace: small ones must not hide those of another
 * workspace.
 */
async function ownMove(
  deps: WithdrawalsDeps,
  follower: Follower,
  { account, token, amount, request }: Extract<EscrowEvent, { kind: 'ledger' }>,
  evidence: Evidence,
): Promise<LateFacts[]> {
  const open = await deps.store.openDeliveries(follower.chainId, account, token);
  if (open.length === 0) return [];
  const facts = new Map<Bytes32, Fact[]>();
  const say = ({ orderId }: LedgerDelivery, fact: Fact) =>
    void facts.set(orderId, [...(facts.get(orderId) ?? []), fact]);
  const books = [...new Set(open.map(({ workspaceId }) => workspaceId))].map((id) =>
    open.filter(({ workspaceId }) => workspaceId === id),
  );
  for (const { credit, amount: part } of books.flatMap((book) =>
    allocate(request?.amount ?? -amount, book),
  )) {
    const { outputIndex, requested } = credit;
    if (request === undefined && part > 0n)
      say(credit, { kind: 'withdrawn', outputIndex, amount: part, ended: false, evidence });
    // A withdrawal ends its request, even if it took less.
    else if (part !== requested)
      say(credit, {
        kind: 'withdrawal_requested',
        outputIndex,
        amount: part,
        availableAt: request?.availableAt ?? 0,
        lapsesAt: request?.lapsesAt ?? 0,
        evidence,
      });
  }
  return Promise.all(
    [...facts].map(async ([orderId, list]) => ({
      before: (await deps.store.order(orderId)) as OrderRecord,
      facts: list,
    })),
  );
}

async function pay(
  deps: WithdrawalsDeps,
  state: WithdrawalsState,
  follower: Follower,
  now: UnixSeconds,
): Promise<void> {
  const transactor = deps.transactors.get(follower.chainId);
  const due = await deps.store.dueDeliveries(follower.chainId, now, MOST_DUE);
  const names = new Set(due.map(nameOf));
  for (const name of follower.done) if (!names.has(name)) follower.done.delete(name);
  state.waiting.set(names.size - follower.done.size, { chain: follower.port.chain.slug });
  // Another worker pays while this one lacks the signer's lease.
  if (!transactor?.healthy()) return;
  for (const delivery of due) {
    if (follower.stopped) return;
    if (delivery.lookAt > now) continue;
    await payOne(deps, state, follower, delivery, transactor, now).catch((error: unknown) =>
      deps.log.warn(
        { orderId: delivery.orderId, error },
        'a deferred delivery was not paid out; it will be tried again',
      ),
    );
  }
}

async function payOne(
  deps: WithdrawalsDeps,
  state: WithdrawalsState,
  follower: Follower,
  { orderId, outputIndex }: LedgerDelivery,
  transactor: Transactor,
  now: UnixSeconds,
): Promise<void> {
  const before = await deps.store.order(orderId);
  const output = before?.order.outputs[outputIndex];
  if (!before || !output) return;
  const name = nameOf({ orderId, outputIndex });
  const until = await follower.port.deferredUntil(orderId, outputHash(output));
  // The final block will tell whether it was paid, kept or not delivered.
  if (until === 0) follower.done.add(name);
  if (until === 0) return deps.store.postponeDelivery({ orderId, outputIndex }, now + RETRY_SECONDS);
  if (until > now) return deps.store.postponeDelivery({ orderId, outputIndex }, until);
  const sent = await state.send(
    follower.port,
    transactor,
    name,
    follower.port.chain.escrow,
    withdrawDeferredCall(orderId, output),
    null,
  );
  if (sent.kind === 'sent') {
    follower.refusals.delete(name);
    follower.done.delete(name);
    const { hash } = sent;
    const recorded = before.facts.some(({ fact }) => fact.kind === 'payout_sent' && fact.txHash === hash);
    if (hash && !recorded)
      await deps.store.appendLate(
        { before, facts: [{ kind: 'payout_sent', outputIndex, chainId: follower.chainId, txHash: hash }] },
        deps.clock.nowMs(),
      );
    return deps.store.postponeDelivery({ orderId, outputIndex }, now + RETRY_SECONDS);
  }
  const times = (follower.refusals.get(name) ?? 0) + 1;
  follower.refusals.set(name, times);
  follower.done.add(name);
  deps.log.warn(
    { orderId, reason: sent.revert.text, times },
    'a deferred delivery cannot be paid out: the money stays in the ledger',
  );
  return deps.store.postponeDelivery(
    { orderId, outputIndex },
    now + Math.min(LONGEST_PAUSE_SECONDS, RETRY_SECONDS * 2 ** Math.min(times, 10)),
  );
}

async function stop(state: WithdrawalsState): Promise<void> {
  await Promise.all(state.following.map((each) => each.stop()));
}

const nameOf = ({ orderId, outputIndex }: Pick<LedgerDelivery, 'orderId' | 'outputIndex'>): string =>
  payoutKey(orderId, outputIndex);
