/** Runs one replica: it leads or stands by, and follows the orders of all replicas. */

import type { Bytes32 } from '../../domain/hex.ts';
import type { Ledger } from '../../inventory/ledger.ts';
import type { Log } from '../../ports/log.ts';
import type { AwardStage, LpAward, LpStore } from '../../ports/stores/lp-store.ts';
import type { Transactor } from '../../ports/transactor.ts';
import type { Chain } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import type { Accounts } from '../accounting/accounts.ts';
import type { Awards } from '../settlement/awards.ts';
import type { Follower } from '../chain/follow.ts';
import type { Lead } from './leadership.ts';
import { holdOf, ownSlice } from '../routes/order.ts';
import type { Sharing } from './sharing.ts';

interface ReplicaDeps {
  store: Pick<LpStore, 'epoch' | 'award' | 'awardsBut' | 'putAward'>;
  lead: Lead;
  sharing: Sharing;
  awards: Awards;
  ledger: Ledger;
  followers: ReadonlyMap<number, Pick<Follower, 'port' | 'cursor'>>;
  chains: ReadonlyMap<number, Chain>;
  transactors: ReadonlyMap<number, Transactor>;
  accounts: Pick<Accounts, 'start' | 'stepDown'>;
  log: Log;
  advance(): void;
}

export interface Replica {
  /** Reads the awards of these orders that another replica stored. Rejects when the store does. */
  learn(orderIds: readonly Bytes32[]): Promise<void>;
  /**
   * Takes, keeps or hands over the lead, joins the shared inventory, reads new awards. Rejects when the store
   * does.
   */
  tick(): Promise<void>;
}

export function createReplica(
  {
    store,
    lead,
    sharing,
    awards,
    ledger,
    followers,
    chains,
    transactors,
    accounts,
    log,
    advance,
  }: ReplicaDeps,
  { account }: { account: Address },
): Replica {
  let acting: number | undefined;

  async function act(): Promise<void> {
    acting = store.epoch();
    await Promise.all([...transactors.values()].map((transactor) => transactor.start()));
    await accounts.start(acting);
    // Write what the previous leader may not have written, by what the chains show.
    awards.rewrite();
    advance();
  }

  async function stepDown(): Promise<void> {
    if (acting === undefined) return;
    acting = undefined;
    // The leader owns the operator's nonces.
    await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
    await accounts.stepDown();
  }

  /** Returns how the order ended at the block that this replica has read; undefined while it is open. */
  async function endOf({ orderId, order }: LpAward): Promise<AwardStage | undefined> {
    const origin = followers.get(Number(order.originChainId));
    for (;;) {
      const state = ledger.quote(orderId)?.state;
      if (state === 'received') return 'finalised';
      if (state === 'failed') return 'failed';
      const at = origin?.cursor().block;
      if (origin === undefined || at === undefined) return undefined;
      const status = await origin.port.orderStatus(orderId, at);
      // The ledger advanced during the read, so the answer is of an older block.
      if (origin.cursor().block !== at) continue;
      return status === 'claimed' ? 'finalised' : status === 'refunded' ? 'failed' : undefined;
    }
  }

  async function take(award: LpAward): Promise<void> {
    const slice = ownSlice(award.order, account, chains);
    if (slice === undefined || awards.get(award.orderId) !== undefined) return;
    const end = await endOf(award);
    if (end !== undefined) {
      if (lead.mine()) await store.putAward({ ...award, stage: end });
      return;
    }
    if (awards.get(award.orderId) !== undefined) return;
    if (ledger.quote(award.orderId) === undefined)
      ledger.apply({
        type: 'restored',
        request: holdOf(slice, award.order, award.orderId, { pair: 'restored', side: 'buy', notional: 0n }),
      });
    else ledger.apply({ type: 'accepted', orderId: award.orderId });
    awards.heard(award);
  }

  return {
    async learn(orderIds) {
      for (const orderId of orderIds) {
        const award = await store.award(orderId);
        if (award !== undefined && (award.stage === 'committed' || award.stage === 'filled'))
          await take(award);
      }
    },
    async tick() {
      await lead.tick();
      if (acting !== undefined && (!lead.mine() || store.epoch() !== acting)) await stepDown();
      if (acting === undefined && lead.mine()) await act();
      await sharing.tick();
      const fresh = await store.awardsBut(awards.open().map(({ orderId }) => orderId));
      for (const award of fresh)
        await take(award).catch((error: unknown) =>
          log.warn(
            { orderId: award.orderId, error },
            'an award of another replica could not be read; the next tick tries again',
          ),
        );
      if (fresh.length > 0) advance();
    },
  };
}
