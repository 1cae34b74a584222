/** Open orders as administrators see them: stuck ones first, each with its next step. */

import { toIso } from '../../domain/time.ts';
import type { Bytes32 } from '../../domain/hex.ts';
import type { OrderRecord, OrderStore } from '../../ports/stores/store.ts';
import type { OpenOrderView } from '../../protocol/admin/operations.ts';
import type { Progress } from '../../settlement/lifecycle.ts';
import type { ChainTime } from '../../settlement/plan.ts';
import type { VenueDeps } from '../deps.ts';
import { planOrder } from '../orders/advance/plan-order.ts';
import { progressOf } from '../orders/status.ts';
import { isStale } from '../ready.ts';
import { nextStepOf } from './next-step.ts';

/** An open order counts as stuck after this time: the objective of settlement_time in ops/rules.yml. */
export const STUCK_AFTER_SECONDS: Readonly<Record<Progress['flow'], number>> = {
  same_chain: 34,
  cross_chain: 300,
};
const MOST = 500;

export function createOpenOrders({
  store,
  chains,
  relayers,
  clock,
}: Pick<VenueDeps, 'chains' | 'relayers' | 'clock'> & {
  store: Pick<OrderStore, 'openOrders' | 'unclaimed'>;
}) {
  const slugOf = (chainId: number) => chains.get(chainId)?.chain.slug ?? `chain ${chainId}`;

  /**
   * Reads each chain's newest and final time. A chain that does not answer has no final time, and the plan
   * expects less.
   */
  async function timesOf(records: readonly OrderRecord[]): Promise<Map<number, ChainTime>> {
    const ids = new Set(
      records.flatMap(({ originChainId, destChainIds }) => [originChainId, ...destChainIds]),
    );
    const times = new Map<number, ChainTime>();
    await Promise.all(
      [...ids].map(async (id) => {
        const port = chains.get(id);
        const head = port?.head();
        const number = port?.finalNumber(undefined);
        if (!port || !head) return;
        const final = number === undefined ? undefined : await port.block(number).catch(() => undefined);
        times.set(id, { head: head.timestamp, deep: final?.timestamp ?? 0 });
      }),
    );
    return times;
  }

  function problemsOf({ originChainId, destChainIds }: OrderRecord, waitsFor: string): string[] {
    const nowMs = clock.nowMs();
    const problems = [...new Set([originChainId, ...destChainIds])].flatMap((id) => {
      const port = chains.get(id);
      if (!port) return [`${slugOf(id)} is not in the configuration.`];
      const issue = port.healthIssue();
      if (issue) return [`${port.chain.slug}: ${issue.note}`];
      if (!isStale(port, nowMs)) return [];
      const seconds = Math.round((nowMs - port.headSeenAtMs()) / 1_000);
      return [
        `${port.chain.slug} has shown no new block for ${seconds} s: check its endpoints and the chain.`,
      ];
    });
    const relayer = relayers.get(originChainId);
    if ((waitsFor === 'venue' || waitsFor === 'anyone') && relayer && !relayer.healthy())
      problems.push(`No relayer account can send on ${slugOf(originChainId)}: check its gas and its key.`);
    return problems;
  }

  function viewOf(
    record: OrderRecord,
    times: ReadonlyMap<number, ChainTime>,
    unclaimed: ReadonlySet<Bytes32>,
  ): OpenOrderView {
    const progress = progressOf(record);
    const next = planOrder(record, {
      progress,
      origin: chains.get(record.originChainId)?.chain,
      timeOf: (id) => times.get(id),
    });
    const step = nextStepOf(record, { progress, next, slugOf });
    const ageSeconds = Math.max(0, Math.floor((clock.nowMs() - record.createdAtMs) / 1_000));
    const problems = [
      ...(unclaimed.has(record.orderId)
        ? ['No worker holds this order: check that one runs, and holds the lease of a relayer account.']
        : []),
      ...problemsOf(record, step.waitsFor),
    ];
    // Nobody can do anything about one that only waits for a time of its chain.
    const isWaiting = step.waitsFor === 'time' && problems.length === 0;
    return {
      id: record.orderId,
      workspaceId: record.workspaceId,
      stage: progress.stage,
      flow: progress.flow,
      origin: slugOf(record.originChainId),
      destinations: record.destChainIds.map(slugOf),
      solverIds: [...record.solverIds],
      amountUsd: record.amountUsd,
      createdAt: toIso(record.createdAtMs),
      ageSeconds,
      stuck: ageSeconds > STUCK_AFTER_SECONDS[progress.flow] && !isWaiting,
      ...step,
      problems,
    };
  }

  return async (): Promise<{ orders: OpenOrderView[]; more: boolean }> => {
    const found = await store.openOrders(MOST + 1);
    const records = found.slice(0, MOST);
    const [times, unclaimed] = await Promise.all([
      timesOf(records),
      store.unclaimed(records.map(({ orderId }) => orderId)),
    ]);
    const free = new Set(unclaimed);
    const orders = records
      .map((record) => viewOf(record, times, free))
      .sort((a, b) => Number(b.stuck) - Number(a.stuck) || b.ageSeconds - a.ageSeconds);
    return { orders, more: found.length > MOST };
  };
}
