/**
 * Pays deferred deliveries out of the ledger as soon as the escrow allows it, and records each withdrawal
 * and each claim on a bond that final events show once.
 */

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
import { createSend } from './send.ts';

export type WithdrawalsDeps = Pick<VenueDeps, 'chains' | 'clock' | 'log' | 'metrics'> & {
  store: DeliveryStore & Pick<OrderStore, 'order'> & Pick<FirmnessStore, 'addBondClaim'>;
  transactors: ReadonlyMap<number, Transactor>;
};

/** Blocks per request for events. */
const RANGE = 500n;
/** Blocks after which the position is stored even without events: the most that a restart reads again. */
const PLACE_EVERY = 50n;
const MOST_DUE = 100;
/** Chain seconds between looks at a payment that was sent or refused. */
const LOOK_AGAIN_SECONDS = 15;
const LONGEST_PAUSE_SECONDS = 3_600;
const WHOLE_BLOCK = Number.MAX_SAFE_INTEGER;

export function createWithdrawals(
  { store, chains, transactors, clock, log, metrics }: WithdrawalsDeps,
  {
    recordingSeconds = 10,
  }: {
    /**
     * An account's own requests and withdrawals are recorded this many chain seconds late, so that earlier
     * deliveries have been recorded.
     */
    recordingSeconds?: number;
  } = {},
) {
  const steps = metrics.counter('firmquote_venue_payouts_total', 'Payouts handed to a relayer', {
    step: ['withdraw'],
    chain: [...chains.values()].map(({ chain }) => chain.slug),
  });
  const waiting = metrics.gauge('firmquote_venue_payouts_due', 'Deliveries due to be paid out', ['chain']);
  const send = createSend({ log, steps });
  const following: { stop(): Promise<void> }[] = [];

  function follow(port: ChainPort): { stop(): Promise<void> } {
    const chainId = port.chain.id;
    const refusals = new Map<string, number>();
    /** Paid by the newest block, or never payable: neither is overdue. */
    const done = new Set<string>();
    let place: EventPlace | undefined;
    let written = 0n;
    let stopped = false;

    async function look(head: Block) {
      const depth = BigInt(port.chain.depth);
      await read(head.number > depth ? head.number - depth : 0n, head.timestamp);
      await pay(head.timestamp);
    }

    async function read(deep: bigint, now: UnixSeconds) {
      place ??= await store.withdrawalsRead(chainId, deep);
      while (place.block < deep && !stopped) {
        const to: bigint = place.block + RANGE < deep ? place.block + RANGE : deep;
        // The stored position may be inside this block.
        const events = await port.events(place.block, to);
        const paid = new Set(
          events.flatMap((event) =>
            event.kind === 'deferral_ended' ? [`${event.blockHash}:${event.logIndex - 1}`] : [],
          ),
        );
        for (const event of events)
          if (!paid.has(`${event.blockHash}:${event.logIndex}`) && !(await write(event, now))) return;
        place = { block: to, logIndex: WHOLE_BLOCK };
        if (to - written < PLACE_EVERY) continue;
        await store.readWithdrawal(chainId, place, [], clock.nowMs());
        written = to;
      }
    }

    /** false: cannot be recorded yet; the next block tries again. */
    async function write(event: EscrowEvent, now: UnixSeconds): Promise<boolean> {
      if (event.kind === 'bond' && event.claim !== undefined) return writeClaim(event, event.claim);
      if (
        event.kind !== 'deferral_ended' &&
        (event.kind !== 'ledger' || (event.request === undefined && event.amount >= 0n))
      )
        return true;
      const evidence = await evidenceOf(event);
      if (event.kind === 'ledger' && evidence.at + recordingSeconds > now) return false;
      const late =
        event.kind === 'deferral_ended' ? await ended(event, evidence) : await ownMove(event, evidence);
      if (late.length === 0) return true;
      const result = await store.readWithdrawal(
        chainId,
        { block: event.blockNumber, logIndex: event.logIndex },
        late,
        clock.nowMs(),
      );
      if (result === 'written')
        for (const { before, facts } of late)
          log.info(
            { orderId: before.orderId, facts: facts.map(({ kind }) => kind) },
            'ledger money of an order moved',
          );
      return result !== 'moved';
    }

    /** Before the position moves on, so that none is lost. */
    async function writeClaim(
      event: Extract<EscrowEvent, { kind: 'bond' }>,
      claim: BondClaim,
    ): Promise<true> {
      const { at } = await evidenceOf(event);
      const { account, token, txHash, logIndex, blockNumber: block } = event;
      const { orderId, quoteId, reason, promised, paid, forfeited } = claim;
      await store.addBondClaim({
        ...{ chainId, txHash, logIndex, block, atMs: at * 1_000, account, token },
        ...{ orderId, quoteId, reason, promised, paid, forfeited },
      });
      log.warn({ account, orderId, reason }, 'the bond of an LP has paid a taker for a failed promise');
      return true;
    }

    async function ended(
      event: Extract<EscrowEvent, { kind: 'deferral_ended' }>,
      evidence: Evidence,
    ): Promise<LateFacts[]> {
      const before = await store.order(event.orderId);
      const outputIndex =
        before?.order.outputs.findIndex(
          (output) => output.chainId === BigInt(chainId) && outputHash(output) === event.outputHash,
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
      { account, token, amount, request }: Extract<EscrowEvent, { kind: 'ledger' }>,
      evidence: Evidence,
    ): Promise<LateFacts[]> {
      const open = await store.openDeliveries(chainId, account, token);
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
          before: (await store.order(orderId)) as OrderRecord,
          facts: list,
        })),
      );
    }

    async function evidenceOf({ txHash, blockNumber, blockHash }: EscrowEvent): Promise<Evidence> {
      const block = await port.block(blockNumber);
      if (!block) throw new RangeError(`Block ${blockNumber} is not there.`);
      return { chainId, txHash, blockNumber, blockHash, at: block.timestamp };
    }

    async function pay(now: UnixSeconds) {
      const transactor = transactors.get(chainId);
      const due = await store.dueDeliveries(chainId, now, MOST_DUE);
      const names = new Set(due.map(nameOf));
      for (const name of done) if (!names.has(name)) done.delete(name);
      waiting.set(names.size - done.size, { chain: port.chain.slug });
      // Another worker pays while this one lacks the signer's lease.
      if (!transactor?.healthy()) return;
      for (const delivery of due) {
        if (stopped) return;
        if (delivery.lookAt > now) continue;
        await payOne(delivery, transactor, now).catch((error: unknown) =>
          log.warn(
            { orderId: delivery.orderId, error },
            'a deferred delivery was not paid out; it will be tried again',
          ),
        );
      }
    }

    async function payOne(
      { orderId, outputIndex }: LedgerDelivery,
      transactor: Transactor,
      now: UnixSeconds,
    ) {
      const before = await store.order(orderId);
      const output = before?.order.outputs[outputIndex];
      if (!before || !output) return;
      const name = nameOf({ orderId, outputIndex });
      const until = await port.deferredUntil(orderId, outputHash(output));
      // The final block will tell whether it was paid, kept or not delivered.
      if (until === 0) done.add(name);
      if (until === 0) return store.postponeDelivery({ orderId, outputIndex }, now + LOOK_AGAIN_SECONDS);
      if (until > now) return store.postponeDelivery({ orderId, outputIndex }, until);
      const sent = await send(
        port,
        transactor,
        name,
        port.chain.escrow,
        withdrawDeferredCall(orderId, output),
        null,
      );
      if (sent.kind === 'sent') {
        refusals.delete(name);
        done.delete(name);
        const { hash } = sent;
        const recorded = before.facts.some(({ fact }) => fact.kind === 'payout_sent' && fact.txHash === hash);
        if (hash && !recorded)
          await store.appendLate(
            { before, facts: [{ kind: 'payout_sent', outputIndex, chainId, txHash: hash }] },
            clock.nowMs(),
          );
        return store.postponeDelivery({ orderId, outputIndex }, now + LOOK_AGAIN_SECONDS);
      }
      const times = (refusals.get(name) ?? 0) + 1;
      refusals.set(name, times);
      done.add(name);
      log.warn(
        { orderId, reason: sent.revert.text, times },
        'a deferred delivery cannot be paid out: the money stays in the ledger',
      );
      return store.postponeDelivery(
        { orderId, outputIndex },
        now + Math.min(LONGEST_PAUSE_SECONDS, LOOK_AGAIN_SECONDS * 2 ** Math.min(times, 10)),
      );
    }

    const follower = followHeads(port, log, async () => {
      const head = port.head();
      if (head) await look(head);
    });
    follower.readNow();
    return {
      async stop() {
        stopped = true;
        await follower.stop();
      },
    };
  }

  return {
    start() {
      for (const port of chains.values()) following.push(follow(port));
    },
    async stop() {
      await Promise.all(following.map((each) => each.stop()));
    },
  };
}

const nameOf = ({ orderId, outputIndex }: Pick<LedgerDelivery, 'orderId' | 'outputIndex'>): string =>
  payoutKey(orderId, outputIndex);
