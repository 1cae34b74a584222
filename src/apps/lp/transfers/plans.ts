/** Plans what is worth moving between chains now, what it costs, and whether it begins by itself. */

import { formatUnits } from '../../../domain/amount.ts';
import { fromAttoDown, fromAttoUp, toAtto } from '../../../inventory/bucket.ts';
import type { Advice } from '../../../inventory/rebalance.ts';
import {
  begunUsdSince,
  type TransferPolicy,
  type WantedTransfer,
  whyEachByHand,
} from '../../../inventory/transfer-policy.ts';
import type { LpNode } from '../../../lp/node/interface.ts';
import type { BridgeMove } from '../../../ports/bridge.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { StoredTransfer, TransferStore } from '../../../ports/stores/transfers.ts';
import type { TransferPlan } from '../../../transfers/executor.ts';
import type { Moves, NamedRoute } from './moves.ts';

const DAY_MS = 86_400_000;
/** How many entries of the history are read for the sum of a day. */
const NEWEST = 500;
/** The reason of a transfer by policy begins with this word. */
export const AUTOMATIC = 'automatic';

/** Amounts are whole tokens, with the decimals of the chain where they are. */
export interface PlanView extends NamedRoute {
  amount: string;
  reason: string;
  /** `leastReceived` counts on the destination. */
  plan: { bridge: string; leastReceived: string; seconds: number } | { refused: string; detail: string };
  /** The most that the bridge keeps; null: no bridge carries it now. */
  fee: string | null;
  begins: 'by_itself' | 'by_hand';
  why: string;
}

interface PlansDeps {
  node: Pick<LpNode, 'inventory' | 'rebalancing'>;
  store: Pick<TransferStore, 'newest' | 'open'>;
  moves: Moves;
  clock: Pick<Clock, 'nowMs'>;
  plan(move: BridgeMove): Promise<TransferPlan>;
}

export function createPlans({ node, store, moves, clock, plan }: PlansDeps, policy: TransferPolicy) {
  async function begunToday(): Promise<number | undefined> {
    const newest = await store.newest(NEWEST);
    return begunUsdSince(
      clock.nowMs() - DAY_MS,
      newest.map(({ createdAtMs, reason, move }) => ({
        createdAtMs,
        isAutomatic: reason.startsWith(AUTOMATIC),
        usd: moves.worthUsd(move.from, move.amount),
      })),
      NEWEST,
    );
  }

  function obstacleOf(
    { account, amount, from }: BridgeMove,
    planned: TransferPlan,
    open: readonly StoredTransfer[],
  ): string | undefined {
    if ('refused' in planned) return planned.detail;
    const leaves = open.find(
      ({ move }) =>
        move.account === account && move.from.chainId === from.chainId && move.from.token === from.token,
    );
    if (leaves !== undefined) return `transfer ${leaves.id} of this token from this chain is not over`;
    const bucket = node.inventory().find((at) => at.chainId === from.chainId && at.token === from.token);
    return bucket === undefined || amount > bucket.free ? 'live quotes and open orders need it' : undefined;
  }

  async function planOf(advice: Advice, open: readonly StoredTransfer[]) {
    const { asset, from, to } = advice;
    const move = moves.moveOf({ asset, from, to }, (decimals) => fromAttoDown(advice.amount, decimals));
    const planned = await plan(move);
    const decimals = moves.tokenAt(move.from)?.decimals ?? 0;
    const destDecimals = moves.tokenAt(move.to)?.decimals ?? 0;
    const amount = toAtto(move.amount, decimals);
    const fee =
      'refused' in planned ? undefined : amount - toAtto(planned.estimate.leastReceived, destDecimals);
    const wanted: WantedTransfer = {
      ...{ asset, from, amount, decimals, fee: fee ?? 0n, cost: advice.cost },
      usd: moves.worthUsd(move.from, move.amount),
      obstacle: obstacleOf(move, planned, open),
    };
    const view: Omit<PlanView, 'begins' | 'why'> = {
      ...{ asset, from, to },
      amount: formatUnits(move.amount, decimals),
      reason: `draining ${to} costs ${tokensDown(advice.charges, destDecimals)} a day, the move ${tokensUp(advice.cost, decimals)}`,
      plan:
        'refused' in planned
          ? { refused: planned.refused, detail: planned.detail }
          : {
              bridge: planned.bridge,
              leastReceived: formatUnits(planned.estimate.leastReceived, destDecimals),
              seconds: planned.estimate.seconds,
            },
      fee: fee === undefined ? null : tokensUp(fee, decimals),
    };
    return { move, wanted, view };
  }

  /** Lists the plans in the order in which they begin. */
  return async function plans(): Promise<{ move: BridgeMove; view: PlanView }[]> {
    const [begunUsd, open] = [await begunToday(), await store.open()];
    const planned = await Promise.all(node.rebalancing().map((advice) => planOf(advice, open)));
    const whys = whyEachByHand(
      policy,
      planned.map(({ wanted }) => wanted),
      begunUsd,
    );
    return planned.map(({ move, view }, at) => {
      const why = whys[at];
      const begins = why === undefined ? 'by_itself' : 'by_hand';
      return { move, view: { ...view, begins, why: why?.detail ?? 'within the limits of transfers' } };
    });
  };
}

const tokensDown = (atto: bigint, decimals: number): string =>
  formatUnits(fromAttoDown(atto, decimals), decimals);
const tokensUp = (atto: bigint, decimals: number): string =>
  formatUnits(fromAttoUp(atto, decimals), decimals);
