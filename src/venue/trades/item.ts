/** A trade as the list shows it. */

import { formatUnits } from '../../domain/amount.ts';
import { assetId } from '../../domain/asset.ts';
import { type Chain, tokenOf } from '../../domain/chain.ts';
import type { Address } from '../../domain/hex.ts';
import { toIso, toSeconds } from '../../domain/time.ts';
import type { Member } from '../../ports/stores/members.ts';
import type { OrderKind, TradeRow } from '../../ports/stores/trades.ts';
import type { TradeItem, TradeMember } from '../../protocol/api/trades/trades.ts';
import { type DeferredSettlement, deferredSettlement } from '../../settlement/deferred.ts';
import { orderStatusOf } from '../../settlement/lifecycle.ts';
import { priceText } from '../market/prices.ts';
import { lifecycleStatus } from './words.ts';

export interface Names {
  chains: ReadonlyMap<number, Chain>;
  solvers: ReadonlyMap<string, { name: string; kind: string }>;
  /** Display names of route venues, by id. */
  venues: ReadonlyMap<string, { name: string }>;
  /** undefined when the caller may not see them. */
  members: ReadonlyMap<string, Member> | undefined;
  nowMs: number;
}

const PATH_LABELS: Record<OrderKind, string> = {
  rfq_direct: 'Direct',
  rfq_split: 'Direct, split',
  route_dex: 'DEX',
  route_composite: 'Composite',
};

const VENUE_LABELS = { dex: 'DEX', bridge: 'Bridge', issuer: 'Issuer', fiat: 'Fiat rail' } as const;

function pathLabel({ orderKind, legs }: TradeRow['terms']): string {
  const kind = orderKind === 'route_dex' ? legs?.[0]?.kind : undefined;
  return kind === undefined || kind === 'rfq' ? PATH_LABELS[orderKind] : VENUE_LABELS[kind];
}

export function tradeItem(row: TradeRow, names: Names): TradeItem {
  const { terms, state } = row;
  const deferred = deferralOf(row, names.nowMs);
  return {
    orderId: row.orderId,
    createdAt: toIso(row.createdAtMs),
    sourceChain: slugOf(terms.sourceChainId, names),
    destChain: slugOf(terms.destChainId, names),
    route: {
      input: legOf(terms.sourceChainId, terms.input.token, terms.input.amount, names),
      output: legOf(terms.destChainId, terms.output.token, state.delivered ?? terms.output.amount, names),
    },
    amountUsd: row.amountUsd,
    lpName: lpName(terms.lp, names),
    lpSource: names.solvers.has(terms.lp) ? 'roster' : 'external',
    routingPathLabel: pathLabel(terms),
    status: orderStatusOf(state.stage),
    settlementStatus: state.stage,
    lifecycleStatus: lifecycleStatus(row, deferred),
    executionPrice: executionPrice(row, names),
    ...(names.members && { member: memberOf(row.memberId, names.members) }),
    routingPath: { type: 'direct', brokerWorkspaceId: null, brokerName: null },
    orderKind: terms.orderKind,
    deferredSettlement: deferred,
    settlementSpeedMs: row.speedMs,
    slippageBps: slippageBps(row),
  };
}

export const deferralOf = ({ orderId, state }: TradeRow, nowMs: number): DeferredSettlement | null =>
  state.credits.length === 0
    ? null
    : deferredSettlement(
        {
          orderId,
          outputs: 1 + Math.max(...state.credits.map(({ outputIndex }) => outputIndex)),
          credits: state.credits,
        },
        toSeconds(nowMs),
      );

export const lpName = (id: string, { solvers, venues }: Pick<Names, 'solvers' | 'venues'>): string =>
  solvers.get(id)?.name ?? venues.get(id)?.name ?? id;
export const slugOf = (chainId: number, { chains }: Pick<Names, 'chains'>): string =>
  chains.get(chainId)?.slug ?? `eip155:${chainId}`;
export const fullName = ({ firstName, lastName }: Pick<Member, 'firstName' | 'lastName'>): string =>
  `${firstName} ${lastName}`.trim();

export function memberOf(id: string | null, members: ReadonlyMap<string, Member>): TradeMember | null {
  const member = id === null ? undefined : members.get(id);
  if (!member) return null;
  const { firstName, lastName, email, role, kycStatus, joinedAtMs } = member;
  return { userId: member.id, firstName, lastName, email, role, kycStatus, joinedAt: toIso(joinedAtMs) };
}

function legOf(
  chainId: number,
  token: Address,
  rawAmount: string,
  { chains }: Names,
): TradeItem['route']['input'] {
  const chain = chains.get(chainId);
  const info = chain && tokenOf(chain, token);
  return {
    asset: {
      assetId: assetId({ chainId, token }),
      symbol: info?.symbol ?? null,
      resolutionStatus: info ? 'resolved' : 'unresolved',
      name: info?.name ?? null,
      decimals: info?.decimals ?? null,
      chainId,
      chainRef: `eip155:${chainId}`,
      address: token,
    },
    rawAmount,
    decimalAmount: info ? formatUnits(BigInt(rawAmount), info.decimals) : null,
  };
}

/**
 * Divides the quoted output by the input in whole tokens, cut after eighteen digits. null while a token is
 * unknown.
 */
function executionPrice({ terms }: TradeRow, { chains }: Names): TradeItem['executionPrice'] {
  const [source, dest] = [chains.get(terms.sourceChainId), chains.get(terms.destChainId)];
  const [base, quote] = [
    source && tokenOf(source, terms.input.token),
    dest && tokenOf(dest, terms.output.token),
  ];
  const paid = BigInt(terms.input.amount);
  if (!base || !quote || paid === 0n) return null;
  return {
    source: 'stored_quote_price',
    value: priceText([BigInt(terms.output.amount), quote.decimals], [paid, base.decimals], 18),
    baseSymbol: base.symbol,
    quoteSymbol: quote.symbol,
  };
}

/** Returns the slippage in basis points, rounded against the taker. null until delivered. */
function slippageBps({ terms, state }: TradeRow): number | null {
  const quoted = BigInt(terms.output.quoted ?? terms.output.amount);
  if (state.delivered === null || quoted === 0n) return null;
  const missing = (quoted - BigInt(state.delivered)) * 10_000n;
  const bps = missing / quoted;
  return Number(missing > 0n && bps * quoted !== missing ? bps + 1n : bps);
}
