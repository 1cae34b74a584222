/** The status of the LP for an operator, before and after its start. */

import { isDecline } from '../../domain/decline.ts';
import type { LpNodeDeps, LpStatus } from './interface.ts';
import type { NodeBase } from './setup.ts';
import type { LpParts } from './parts.ts';

export function statusOf(
  parts: LpParts | undefined,
  { lpChains, prices }: NodeBase,
  { shared, shadow }: Pick<LpNodeDeps, 'shared' | 'shadow'>,
): LpStatus {
  const market = prices.market();
  const sources = market.sources();
  const missing = (symbol: string): string | null => {
    const all = sources.filter(({ price }) => price === symbol);
    const lost = all.filter(({ trouble }) => trouble !== undefined);
    const named = lost.map(({ feed, symbol: name, trouble }) => `${feed}|${name} ${trouble}`);
    return lost.length === 0 ? null : `${lost.length} of ${all.length} sources missing: ${named.join(', ')}`;
  };
  const state = parts?.standby.status() ?? { status: 'standby' as const, note: 'not running' };
  return {
    ...state,
    shadow: shadow !== undefined,
    replica: shared === undefined ? null : { name: shared.replica, leads: parts?.lead.mine() ?? false },
    reasons: parts?.standby.reasons() ?? [],
    pairs: parts?.standby.pairs() ?? [],
    liveQuotes: parts?.ledger.live ?? 0,
    openAwards: parts?.awards.open().length ?? 0,
    venues: parts?.sessions.map(({ name, welcome }) => ({ name, welcome })) ?? [],
    signals: parts?.signals.list() ?? [],
    chains: lpChains.map(({ port, chain }) => ({
      chainId: chain.id,
      slug: chain.slug,
      head: port.head()?.number ?? null,
      final: parts?.followers.get(chain.id)?.cursor().block ?? 0n,
      gasSymbol: chain.native.symbol,
      gasWei: parts?.states.get(chain.id)?.native ?? null,
    })),
    prices: market.symbols.map((symbol) => {
      const mid = market.mid(symbol);
      return isDecline(mid)
        ? { symbol, usd: null, detail: mid.detail ?? null }
        : { symbol, usd: mid.value, detail: missing(symbol) };
    }),
    sources,
  };
}
