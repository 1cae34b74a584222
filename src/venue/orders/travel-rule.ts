/**
 * Selects the orders that are reported under the travel rule, writes the report, and sends it without
 * delaying settlement.
 */

import { createHash } from 'node:crypto';
import { assetId } from '../../domain/asset.ts';
import { bytes32ToAddress } from '../../domain/hex.ts';
import { toIso } from '../../domain/time.ts';
import type { OrderRecord, OrderStore, Workspace, WorkspaceStore } from '../../ports/stores/store.ts';
import type {
  Transmitter,
  TravelRuleDuty,
  TravelRuleMessage,
  TravelRuleRecord,
  TravelRuleStore,
} from '../../ports/stores/travel-rule.ts';
import { canonicalJson } from '../../protocol/canonical-json.ts';
import { inputToken } from '../../settlement/funding.ts';
import type { VenueDeps } from '../deps.ts';
import { receiverOf } from '../quoting/receiver.ts';

/** An order of unknown value is reported. */
export function dutyOf(
  { travelRuleThresholdUsd: thresholdUsd }: Workspace,
  amountUsd: number | null,
): TravelRuleDuty | null {
  if (thresholdUsd === null) return null;
  return amountUsd === null || amountUsd >= thresholdUsd ? { thresholdUsd, amountUsd } : null;
}

/** Writes the message, whose text is the same in every attempt. */
function travelRuleMessage(record: OrderRecord, workspaceName: string): TravelRuleMessage {
  const { order, originChainId, travelRule } = record;
  const [[token, amount]] = order.inputs as [readonly [bigint, bigint]];
  const [output] = order.outputs;
  if (!output || !travelRule) throw new RangeError('an order without a travel-rule duty has no message');
  return {
    version: 1,
    orderId: record.orderId,
    quoteId: record.quoteId,
    acceptedAt: toIso(record.createdAtMs),
    originator: {
      workspaceId: record.workspaceId,
      workspaceName,
      memberId: record.memberId,
      account: order.user,
    },
    beneficiary: { account: receiverOf(order) },
    sent: { asset: assetId({ chainId: originChainId, token: inputToken(token) }), amount: amount.toString() },
    received: {
      asset: assetId({ chainId: Number(output.chainId), token: bytes32ToAddress(output.token) }),
      amount: order.outputs.reduce((sum, one) => sum + one.amount, 0n).toString(),
    },
    amountUsd: travelRule.amountUsd,
    thresholdUsd: travelRule.thresholdUsd,
    counterparties: record.solverIds,
    referenceId: record.referenceId,
  };
}

type CourierDeps = Pick<VenueDeps, 'clock' | 'log' | 'metrics'> & {
  store: TravelRuleStore & OrderStore & WorkspaceStore;
  transmitter: Transmitter;
};

export const COURIER = {
  maxAttempts: 12,
  /** Doubles with each attempt. */
  firstRetryMs: 5_000,
  longestRetryMs: 3_600_000,
  pollEveryMs: 1_000,
  /** Longer than any transmission takes. */
  leaseMs: 60_000,
};

const AT_ONCE = 20;

/** Several couriers may run: one of them leases each record. */
export function createCourier(
  { store, transmitter, clock, log, metrics }: CourierDeps,
  options: typeof COURIER,
) {
  const { maxAttempts, firstRetryMs, longestRetryMs, pollEveryMs, leaseMs } = options;
  const ended = metrics.counter('firmquote_venue_travel_rule_total', 'Travel-rule transmissions', {
    outcome: ['transmitted', 'failed', 'abandoned', 'superseded'],
  });
  let cancel = () => {};
  let stopped = false;
  let round: Promise<unknown> = Promise.resolve();

  async function deliver(taken: TravelRuleRecord) {
    const order = await store.order(taken.orderId);
    if (!order) return;
    const message = canonicalJson(
      travelRuleMessage(order, (await store.workspace(order.workspaceId))?.name ?? order.workspaceId),
    );
    const sent = {
      ...taken,
      transmitter: transmitter.name,
      messageSha256: createHash('sha256').update(message).digest('hex'),
    };
    try {
      const { reference } = await transmitter.transmit(message, `travel-rule-${taken.orderId}`);
      await close({ ...sent, state: 'transmitted', reference }, null);
    } catch (error) {
      const last = taken.attempt >= maxAttempts;
      // A stack may contain secrets of the adapter.
      const detail = (error instanceof Error ? error.message : 'The transmission failed.').slice(0, 300);
      const pauseMs = Math.min(longestRetryMs, firstRetryMs * 2 ** (taken.attempt - 1));
      await close(
        { ...sent, state: last ? 'abandoned' : 'failed', detail },
        last ? null : { dueAtMs: clock.nowMs() + pauseMs },
      );
      const facts = { orderId: taken.orderId, attempt: taken.attempt, transmitter: transmitter.name, detail };
      if (last) log.error(facts, 'a travel-rule record was given up: send it by hand');
      else
        log.warn({ ...facts, pauseMs }, 'a travel-rule record was not transmitted; it will be tried again');
    }
  }

  async function close(record: TravelRuleRecord, next: { dueAtMs: number } | null) {
    const ours = await store.endTravelRule({ ...record, endedAtMs: clock.nowMs() }, next);
    ended.add({ outcome: ours ? record.state : 'superseded' });
  }

  async function deliverDue() {
    for (let full = true; full && !stopped;) {
      const taken = await store.takeTravelRule(clock.nowMs(), leaseMs, AT_ONCE);
      await Promise.all(
        taken.map((record) =>
          deliver(record).catch((error: unknown) =>
            log.warn(
              { orderId: record.orderId, error },
              'a travel-rule record failed; its lease ends by itself',
            ),
          ),
        ),
      );
      full = taken.length === AT_ONCE;
    }
  }

  function next() {
    round = deliverDue()
      .catch((error: unknown) =>
        log.warn({ error }, 'travel-rule records could not be read; the next look tries again'),
      )
      .then(() => {
        if (!stopped) cancel = clock.after(pollEveryMs, next);
      });
  }

  return {
    start: next,
    async stop() {
      stopped = true;
      cancel();
      await round;
    },
  };
}
