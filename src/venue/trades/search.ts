/** A caller's search as a query, without what the role may not search. */

import type { Chain } from '../../domain/chain.ts';
import { corridorOf, parseCorridor } from '../../domain/corridor.ts';
import type { Member } from '../../ports/stores/members.ts';
import type { ApiKey } from '../../ports/stores/store.ts';
import { ORDER_KINDS, type TradeBook, type TradeGroup, type TradeQuery } from '../../ports/stores/trades.ts';
import { TRADE_SORTS, type TradesFilter, type TradeSort } from '../../protocol/api/trades/query.ts';
import { type OrderStage, STAGES } from '../../settlement/lifecycle.ts';
import { fullName, lpName, type Names, slugOf } from './item.ts';

export const isPrivileged = ({ role }: ApiKey): boolean => role === 'owner' || role === 'admin';

export type TradeBucket = Exclude<NonNullable<TradesFilter['status']>, 'all'>;

/** Each stage is in one bucket. */
const BUCKETS: Record<TradeBucket, readonly OrderStage[]> = {
  pending: ['awaiting_escrow', 'escrowed', 'delivered', 'proven'],
  settled: ['settled'],
  failed: ['failed', 'refund_pending'],
  refunded: ['refunded'],
};

export const bucketOf = (stage: OrderStage): TradeBucket =>
  (Object.keys(BUCKETS) as TradeBucket[]).find((bucket) => BUCKETS[bucket].includes(stage)) as TradeBucket;

export function tradeQuery(book: TradeBook, filter: TradesFilter, names: Names): TradeQuery {
  const {
    status = 'all',
    createdAfter,
    createdBefore,
    minAmountUsd,
    maxAmountUsd,
    direction = 'desc',
  } = filter;
  return {
    book,
    matches: matcher(filter, names),
    stages: status === 'all' ? null : new Set(BUCKETS[status]),
    createdFromMs: createdAfter === undefined ? null : Math.ceil(createdAfter),
    createdToMs: createdBefore === undefined ? null : Math.floor(createdBefore),
    minUsd: minAmountUsd ?? null,
    maxUsd: maxAmountUsd ?? null,
    sort: sortOf(filter.sort, names),
    direction,
  };
}

function matcher({ corridor, member, lp, routingPath }: TradesFilter, names: Names): TradeQuery['matches'] {
  // There are no brokers yet.
  if (routingPath === 'via_broker') return () => false;
  const chains = corridor === undefined ? undefined : parseCorridor(corridor, names.chains.values());
  if (corridor !== undefined && !chains) return () => false;
  const fitsLp = lp === undefined ? undefined : searcher(lp);
  const people = member === undefined || !names.members ? undefined : matchingMembers(member, names.members);
  return (family) =>
    (!chains || (family.sourceChainId === chains.source.id && family.destChainId === chains.dest.id)) &&
    (!fitsLp || fitsLp(family.lp) || fitsLp(lpName(family.lp, names))) &&
    (!people || (family.memberId !== null && people.has(family.memberId)));
}

function searcher(term: string): (text: string) => boolean {
  const wanted = term.toLowerCase();
  return (text) => text.toLowerCase().includes(wanted);
}

function matchingMembers(term: string, members: ReadonlyMap<string, Member>): ReadonlySet<string> {
  const fits = searcher(term);
  return new Set(
    [...members.values()]
      .filter((member) => fits(fullName(member)) || fits(member.email))
      .map(({ id }) => id),
  );
}

function sortOf(asked: string | undefined, names: Names): TradeQuery['sort'] {
  const sort: TradeSort = TRADE_SORTS.find((each) => each === asked) ?? 'created_at';
  switch (sort) {
    case 'created_at':
    case 'amount_usd':
    case 'settlement_speed_ms':
    case 'order_id':
      return { by: sort };
    case 'member': {
      const { members } = names;
      // The order alone would reveal who traded together.
      return members
        ? { by: 'group', key: ({ memberId }) => nameOf(memberId, members) }
        : { by: 'created_at' };
    }
    case 'corridor':
      return { by: 'group', key: (group) => corridorText(group, names) };
    case 'lp_name':
      return { by: 'group', key: ({ lp }) => `${lpName(lp, names).toLowerCase()} ${lp}` };
    case 'routing_path':
      return { by: 'group', key: ({ orderKind }) => ORDER_KINDS.indexOf(orderKind) };
    case 'settlement_status':
      return { by: 'group', key: ({ stage }) => STAGES.indexOf(stage) };
  }
}

function nameOf(id: string | null, members: ReadonlyMap<string, Member>): string {
  const member = id === null ? undefined : members.get(id);
  return member ? `${fullName(member).toLowerCase()} ${member.id}` : '';
}

function corridorText({ sourceChainId, destChainId }: TradeGroup, names: Names): string {
  const chain = (id: number): Pick<Chain, 'slug'> => ({ slug: slugOf(id, names) });
  return corridorOf(chain(sourceChainId), chain(destChainId));
}
