/** Answers administrators' reads of the stores and of this process. Nothing here changes state. */

import { toIso } from '../../domain/time.ts';
import type { Address } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { QueueDepth } from '../../ports/queue.ts';
import type { KeyStore, OrderStore, SolverRecord, SolverStore } from '../../ports/stores/store.ts';
import type { TxStore } from '../../ports/stores/tx-store.ts';
import type {
  ChainRow,
  OpenOrderView,
  QueueRow,
  RatesView,
  RosterRow,
} from '../../protocol/admin/operations.ts';
import type { VenueDeps } from '../deps.ts';
import { isStale } from '../ready.ts';
import type { Roster } from '../solvers/roster.ts';
import { createOpenOrders } from './open-orders.ts';

/** An account that can pay for fewer transactions counts as low. The alert GasLow has the same threshold. */
const LOW_TRANSACTIONS = 20n;
/** A queue whose oldest job waits longer counts as behind. The alert QueueBehind has the same threshold. */
const BEHIND_SECONDS = 30;
const MOST_COUNTED = 10_000;

interface OperationsDeps extends Pick<VenueDeps, 'chains' | 'relayers' | 'clock'> {
  store: Pick<OrderStore, 'openOrders' | 'unclaimed'> &
    Pick<SolverStore, 'listSolvers'> &
    Pick<KeyStore, 'listKeys'>;
  roster: Pick<Roster, 'entry'>;
  transactions: Pick<TxStore, 'liveSlots'>;
  /** Returns balances and costs in wei. Throws `UpstreamError` when the chain does not answer. */
  gasOf(chain: ChainPort): Promise<readonly { address: Address; balanceWei: bigint; costWei: bigint }[]>;
  queues(): readonly QueueDepth[];
  rates: RatesView;
}

export interface Operations {
  /** Lists open orders, stuck ones first. `more`: there are further ones. */
  orders(): Promise<{ orders: OpenOrderView[]; more: boolean }>;
  roster(): Promise<RosterRow[]>;
  chains(): Promise<ChainRow[]>;
  queues(): QueueRow[];
  limits(): RatesView;
}

export function createOperations(deps: OperationsDeps): Operations {
  const { store, chains, roster, transactions, gasOf, queues, rates, clock } = deps;

  async function relayersOn(port: ChainPort): Promise<ChainRow['relayers']> {
    const accounts = await gasOf(port).catch(() => undefined);
    if (!accounts) return null;
    return Promise.all(
      accounts.map(async ({ address, balanceWei, costWei }) => {
        // From a nonce and a block that no transaction has: only open ones.
        const from = { nonce: Number.MAX_SAFE_INTEGER, block: 2n ** 62n };
        const open = await transactions.liveSlots(port.chain.id, address, from);
        const oldest = open.reduce((least, { createdAtMs }) => Math.min(least, createdAtMs), Infinity);
        const left = costWei === 0n ? BigInt(MOST_COUNTED) : balanceWei / costWei;
        return {
          address,
          balanceWei: balanceWei.toString(),
          costWei: costWei.toString(),
          transactionsLeft: left > BigInt(MOST_COUNTED) ? MOST_COUNTED : Number(left),
          low: balanceWei < LOW_TRANSACTIONS * costWei,
          openTransactions: open.length,
          oldestOpenSeconds:
            open.length === 0 ? null : Math.max(0, Math.floor((clock.nowMs() - oldest) / 1_000)),
        };
      }),
    );
  }

  function rosterRow(record: SolverRecord, liveKeys: number): RosterRow {
    const { id, name, disabled, firstSeenAtMs, lastQuoteAtMs } = record;
    const entry = roster.entry(id);
    const nowMs = clock.nowMs();
    const until = entry?.breaker.openUntil(nowMs);
    const seenAtMs = firstSeenAtMs ?? entry?.firstSeenAtMs ?? null;
    const quotedAtMs = Math.max(lastQuoteAtMs ?? 0, entry?.lastQuoteAtMs ?? 0);
    return {
      id,
      name,
      disabled,
      status: entry?.status ?? 'offline',
      note: entry?.note ?? null,
      connections: entry?.sessions.length ?? 0,
      liveKeys,
      firstSeenAt: seenAtMs === null ? null : toIso(seenAtMs),
      lastQuoteAt: quotedAtMs === 0 ? null : toIso(quotedAtMs),
      settled: entry?.settled ?? 0,
      faded: entry?.faded ?? 0,
      breaker: {
        openUntil: until === undefined ? null : toIso(until),
        reason: entry?.breaker.reason() ?? null,
        underWatch: entry?.breaker.underWatch(nowMs) ?? false,
      },
      onboarding:
        quotedAtMs > 0 ? 'done' : seenAtMs !== null ? 'quote' : liveKeys > 0 ? 'connect' : 'issue_key',
    };
  }

  return {
    orders: createOpenOrders(deps),
    async roster() {
      const [records, keys] = await Promise.all([store.listSolvers(), store.listKeys()]);
      const keysOf = (id: string) =>
        keys.filter(({ solverId, revokedAtMs }) => solverId === id && revokedAtMs === null).length;
      return records.map((record) => rosterRow(record, keysOf(record.id)));
    },
    async chains() {
      const open = await store.openOrders(MOST_COUNTED);
      return Promise.all(
        [...chains.values()].map(async (port) => {
          const head = port.head();
          const nowMs = clock.nowMs();
          return {
            id: port.chain.id,
            slug: port.chain.slug,
            head: head === undefined ? null : head.number.toString(),
            headAgeSeconds:
              head === undefined ? null : Math.max(0, Math.floor((nowMs - port.headSeenAtMs()) / 1_000)),
            stale: isStale(port, nowMs),
            issue: port.healthIssue()?.note ?? null,
            openOrders: open.filter(({ originChainId }) => originChainId === port.chain.id).length,
            relayers: await relayersOn(port),
          };
        }),
      );
    },
    queues: () =>
      queues().map((depth) => ({
        ...depth,
        oldestDueSeconds: Math.floor(depth.oldestDueSeconds),
        behind: depth.oldestDueSeconds > BEHIND_SECONDS,
      })),
    limits: () => rates,
  };
}
