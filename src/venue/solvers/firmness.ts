/** Shows how a solver keeps its promises: its bonds, how its orders ended, and each order that it failed. */

import { LRUCache } from 'lru-cache';
import { assetId } from '../../domain/asset.ts';
import { coveredBy } from '../../domain/bond.ts';
import { tokenOf } from '../../domain/chain.ts';
import { FADE_CODES } from '../../domain/fact.ts';
import { toIso } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type {
  BondClaimRecord,
  FadedOrder,
  FirmnessStore,
  SolverAccount,
} from '../../ports/stores/firmness.ts';
import type { KeyMode } from '../../ports/stores/store.ts';
import type { Firmness } from '../../protocol/api/firmness.ts';
import type { VenueDeps } from '../deps.ts';
import { tradesOn } from '../market/markets.ts';
import { hourOf, quantileMs } from './answer-times.ts';

type Fade = Firmness['fades'][number];

const DAY_MS = 86_400_000;
const MONTH_MS = 30 * DAY_MS;
const MOST_FADES = 100;
/** More claims than this in 30 days are not summed. */
const MOST_CLAIMS = 10_000;
/** A view costs chain reads and counts of orders. */
const KEPT_MS = 10_000;
const MOST_KEPT = 1_000;

export interface FirmnessViews {
  /** Returns a view that is at most 10 s old. */
  view(solverId: string, mode: KeyMode): Promise<Firmness>;
}

export function createFirmness({
  store,
  chains,
  clock,
}: Pick<VenueDeps, 'chains' | 'clock'> & { store: FirmnessStore }): FirmnessViews {
  const kept = new LRUCache<string, { view: Promise<Firmness>; untilMs: number }>({ max: MOST_KEPT });

  async function bondsOf(accounts: readonly SolverAccount[]): Promise<Firmness['bonds']> {
    const found = await Promise.all(
      accounts.map(async ({ chainId, account }) => {
        const port = chains.get(chainId);
        const shareBps = await port?.bondShareBps();
        if (port === undefined || shareBps === undefined) return [];
        const { chain } = port;
        const bonds = await Promise.all(chain.tokens.map(({ address }) => port.bond(account, address)));
        return chain.tokens.flatMap(({ address: token, symbol }, at) => {
          const bond = bonds[at];
          if (bond === undefined || bond.amount === 0n) return [];
          return {
            ...{ asset: assetId({ chainId, token }), symbol, chain: chain.slug },
            amount: bond.amount.toString(),
            leaving: bond.leaving.toString(),
            covers: coveredBy(bond, shareBps).toString(),
          };
        });
      }),
    );
    return found.flat();
  }

  async function read(solverId: string, mode: KeyMode): Promise<Firmness> {
    const nowMs = clock.nowMs();
    const accounts = (await store.solverAccounts(solverId)).filter(({ chainId }) => {
      const port = chains.get(chainId);
      return port !== undefined && tradesOn(port.chain, mode);
    });
    const windowSince = async (sinceMs: number, claims: readonly BondClaimRecord[]) => {
      const [counts, answers] = await Promise.all([
        store.orderCounts(solverId, mode, sinceMs, FADE_CODES),
        store.answerCounts(solverId, hourOf(sinceMs)),
      ]);
      const recent = claims.filter(({ atMs }) => atMs >= sinceMs);
      return {
        ...counts,
        claims: { count: recent.length, paid: sumsOf(recent) },
        answerMs: { median: quantileMs(answers, 0.5), p99: quantileMs(answers, 0.99) },
      };
    };
    const [bonds, claims, faded] = await Promise.all([
      bondsOf(accounts),
      store.bondClaims(accounts, nowMs - MONTH_MS, MOST_CLAIMS),
      store.fadedOrders(solverId, mode, nowMs - MONTH_MS, FADE_CODES, MOST_FADES),
    ]);
    const [last24h, last30d] = await Promise.all([
      windowSince(nowMs - DAY_MS, claims),
      windowSince(nowMs - MONTH_MS, claims),
    ]);
    return {
      id: solverId,
      asOf: toIso(nowMs),
      ...{ bonds, last24h, last30d },
      fades: fadesOf(claims, faded, chains),
    };
  }

  return {
    view(solverId, mode) {
      const key = `${mode}:${solverId}`;
      const known = kept.get(key);
      if (known && known.untilMs > clock.monotonicMs()) return known.view;
      const view = read(solverId, mode);
      kept.set(key, { view, untilMs: clock.monotonicMs() + KEPT_MS });
      view.catch(() => kept.delete(key));
      return view;
    },
  };
}

function sumsOf(claims: readonly BondClaimRecord[]): { asset: string; amount: string }[] {
  const sums = new Map<string, bigint>();
  for (const claim of claims) sums.set(assetId(claim), (sums.get(assetId(claim)) ?? 0n) + claim.paid);
  return [...sums].map(([asset, amount]) => ({ asset, amount: amount.toString() }));
}

/** Lists fades. An order that failed and was claimed for is one fade. */
function fadesOf(
  claims: readonly BondClaimRecord[],
  orders: readonly FadedOrder[],
  chains: ReadonlyMap<number, ChainPort>,
): Fade[] {
  const fades = new Map<string, Fade>();
  for (const { orderId, quoteId, failureCode, createdAtMs } of orders)
    fades.set(orderId, {
      ...{ orderId, quoteId, at: toIso(createdAtMs), reason: failureCode as Fade['reason'] },
      claim: null,
    });
  for (const claim of claims) {
    const { chainId, orderId, quoteId, txHash, block, token, atMs, reason } = claim;
    const chain = chains.get(chainId)?.chain;
    if (chain === undefined || tokenOf(chain, token) === undefined) continue;
    const { at, reason: why } = fades.get(orderId) ?? { at: toIso(atMs), reason };
    fades.set(orderId, {
      ...{ orderId, quoteId, at, reason: why },
      claim: {
        ...{ chain: chain.slug, txHash, blockNumber: block.toString(), asset: assetId({ chainId, token }) },
        promised: claim.promised.toString(),
        paid: claim.paid.toString(),
        forfeited: claim.forfeited.toString(),
      },
    });
  }
  return [...fades.values()].toSorted((a, b) => (a.at < b.at ? 1 : -1)).slice(0, MOST_FADES);
}
