/**
 * One of several replicas: it leads or stands ready, and either way knows every order that any of them was
 * awarded.
 */

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
import { holdOf, ownSlice } from '../quoting/order.ts';
import type { Sharing } from './sharing.ts';

export interface Replica {
  /** Orders in our name that the ledger does not know: takes in those that another replica wrote down. */
  learn(orderIds: readonly Bytes32[]): Promise<void>;
  /**
   * Takes, keeps or hands over the lead; joins the shared inventory; hears of awards. Throws what the store
   * throws.
   */
  tick(): Promise<void>;
  /** Acts no more. */
  rest(): Promise<void>;
}

export interface ReplicaDeps {
  store: Pick<LpStore, 'epoch' | 'award' | 'awardsBut' | 'putAward'>;
  lead: Lead;
  sharing: Sharing;
  awards: Awards;
  ledger: Ledger;
  followers: ReadonlyMap<number, Pick<Follower, 'port' | 'cursor'>>;
  chains: ReadonlyMap<number, Chain>;
  transactors: ReadonlyMap<number, Transactor>;
  accounts: Pick<Accounts, 'start' | 'rest'>;
  log: Log;
  /** There is something to look at. */
  advance(): void;
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
  /** The epoch of the lead that is acted on. */
  let acting: number | undefined;

  async function act(): Promise<void> {
    acting = store.epoch();
    await Promise.all([...transactors.values()].map((transactor) => transactor.start()));
    await accounts.start(acting);
    // What the last leader did not come to write is written now, as the chains show it.
    awards.rewrite();
    advance();
  }

  async function rest(): Promise<void> {
    if (acting === undefined) return;
    acting = undefined;
    // The one that leads needs the operator's nonces.
    await Promise.all([...transactors.values()].map((transactor) => transactor.stop()));
    await accounts.rest();
  }

  /** Is it over at the block up to which this replica has read, and how did it end? */
  async function endOf({ orderId, order }: LpAward): Promise<AwardStage | undefined> {
    const origin = followers.get(Number(order.originChainId));
    for (;;) {
      const stage = ledger.quote(orderId)?.stage;
      if (stage === 'finalised' || stage === 'failed') return stage;
      const at = origin?.cursor().block;
      if (origin === undefined || at === undefined) return undefined;
      const status = await origin.port.orderStatus(orderId, at);
      // Read meanwhile: the answer is of a block that the ledger has left behind.
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
      if (acting !== undefined && (!lead.mine() || store.epoch() !== acting)) await rest();
      if (acting === undefined && lead.mine()) await act();
      await sharing.tick();
      const fresh = await store.awardsBut(awards.open().map(({ orderId }) => orderId));
      for (const award of fresh)
        await take(award).catch((error: unknown) =>
          log.warn(
            { orderId: award.orderId, error },
            'an award of another replica could not be looked at: again in a moment',
          ),
        );
      if (fresh.length > 0) advance();
    },
    rest,
  };
}
