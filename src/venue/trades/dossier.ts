/** One trade in full, from its order, facts and captured gas. */

import { divUp } from '../../domain/amount.ts';
import { type Asset, assetId, parseAssetId } from '../../domain/asset.ts';
import { type NativeCurrency, nativeTokenUnitsUp } from '../../domain/chain.ts';
import { decodeContext } from '../../domain/context.ts';
import type { Evidence } from '../../domain/fact.ts';
import { toIso } from '../../domain/time.ts';
import type { Screened } from '../../ports/screening.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { TravelRuleRecord } from '../../ports/stores/travel-rule.ts';
import type { CapturedGas, TradeRow } from '../../ports/stores/trades.ts';
import type { Composite } from '../../protocol/api/router.ts';
import type { TradeDossier, TradeFee, TradeTransaction } from '../../protocol/api/trades/dossier.ts';
import { type Progress, lpReceived, receivedIn, settlementTxHash } from '../../settlement/lifecycle.ts';
import { complianceSection, intentSection, proofsSection, travelRuleSection } from './record-sections.ts';
import { wholeTokens } from '../../pricing/usd.ts';
import { shown } from '../market/prices.ts';
import { progressOf } from '../orders/status.ts';
import { deferralOf, lpName, memberOf, type Names, tradeItem } from './item.ts';
import { substatusOf } from './words.ts';

interface DossierParts {
  row: TradeRow;
  record: OrderRecord;
  route: readonly OrderRecord[];
  gas: readonly CapturedGas[];
  names: Names;
  /** Returns the native currency; undefined for a chain that is not configured any more. */
  native(chainId: number): NativeCurrency | undefined;
  /** undefined for roles that may not see it. */
  restricted: { screenedNow: Screened; travelRule: TravelRuleRecord | undefined } | undefined;
}

interface Quoted {
  preview?: {
    inputs?: { asset?: string; priceUsd?: number | null }[];
    outputs?: { asset?: string; amount?: string; minimumAmount?: string | null; priceUsd?: number | null }[];
  };
  composite?: Partial<Composite> | null;
}

export function tradeDossier(parts: DossierParts): TradeDossier {
  const { row, record, names, restricted } = parts;
  const progress = progressOf(record);
  const quoted = quotedOf(record);
  const legs = legsOf(parts, quoted);
  const fees = feesOf(parts, progress, legs);
  const { member, ...item } = tradeItem(row, names);
  return {
    trade: {
      ...item,
      ...(member !== undefined && { member }),
      filledAt: row.state.filledAtMs === null ? null : toIso(row.state.filledAtMs),
      slippageToleranceBps: tolerance(quoted),
    },
    settlement: settlementOf(parts, progress),
    lp: lpOf(parts, progress),
    ...(item.orderKind.startsWith('route') && { orderKind: item.orderKind }),
    ...substatusOf(record, progress, deferralOf(row, names.nowMs)),
    ...(legs.length > 1 && { legs }),
    ...(restricted && {
      member: names.members ? memberOf(row.memberId, names.members) : null,
      compliance: complianceSection(restricted.screenedNow),
      snapshotCompliance: record.screening && complianceSection(record.screening),
      travelRuleTransmission: travelRuleSection(record, restricted.travelRule),
      complianceProofs: proofsSection(record, names.chains),
      intent: intentSection(record, names.chains),
      ...(fees && { fees }),
    }),
  };
}

const quotedOf = ({ candidate }: OrderRecord): Quoted => JSON.parse(candidate) as Quoted;

function tolerance({ preview }: Quoted): number {
  const { amount, minimumAmount } = preview?.outputs?.[0] ?? {};
  if (amount === undefined || !minimumAmount || BigInt(amount) === 0n) return 0;
  return Number(divUp((BigInt(amount) - BigInt(minimumAmount)) * 10_000n, BigInt(amount)));
}

function settlementOf(
  { gas }: DossierParts,
  { opened, fills, attested, finalised, refunded }: Progress,
): TradeDossier['settlement'] {
  const at = (evidence: Evidence | undefined): TradeTransaction | null =>
    evidence ? transaction(evidence, gas) : null;
  const lastProof = attested.findLast(Boolean)?.evidence;
  const stages = {
    submit: at(opened),
    fill: at(fills.find(Boolean)?.evidence),
    proof: at(lastProof),
    finalise: at(finalised),
  };
  const every: [TradeDossier['settlement']['transactions'][number]['kind'], Evidence | undefined][] = [
    ['submit', opened],
    ...fills.map((fill) => ['fill', fill?.evidence] as ['fill', Evidence | undefined]),
    ...attested.map((proof) => ['proof', proof?.evidence] as ['proof', Evidence | undefined]),
    ['finalise', finalised],
    ['refund', refunded],
  ];
  const seen = new Set<string>();
  const transactions = every.flatMap(([kind, evidence]) => {
    // A transaction with several effects is listed under the first.
    const id = evidence && `${evidence.chainId} ${evidence.txHash}`;
    if (!evidence || !id || seen.has(id)) return [];
    seen.add(id);
    return [{ kind, ...transaction(evidence, gas) }];
  });
  return { stages, transactions };
}

function transaction(
  { chainId, txHash, blockNumber, at }: Evidence,
  gas: readonly CapturedGas[],
): TradeTransaction {
  const captured = gas.find((each) => each.chainId === chainId && each.txHash === txHash);
  return {
    txHash,
    chainId,
    blockNumber: Number(blockNumber),
    at: toIso(at * 1_000),
    gasUsed: captured?.gasUsed?.toString() ?? null,
    feeUsd: captured ? usdOf(captured) : null,
  };
}

const usdOf = ({ feeWei, nativeUsd }: CapturedGas): number | null =>
  feeWei === null || nativeUsd === null ? null : inUsd(feeWei, 18, nativeUsd);
const inUsd = (amount: bigint, decimals: number, price: number): number =>
  shown(wholeTokens(amount, decimals) * price);

function lpOf({ row, record, names }: DossierParts, { fills }: Progress): TradeDossier['lp'] {
  const { lp } = row.terms;
  return {
    id: lp,
    name: lpName(lp, names),
    kind: names.solvers.get(lp)?.kind ?? record.route?.kind ?? 'external',
    spreadBps: row.terms.lpSpreadBps,
    slices: record.order.outputs.map((output, index) => {
      const [solverId, fill] = [record.solverIds[index] ?? lp, fills[index]];
      return {
        solverId,
        name: lpName(solverId, names),
        account: record.commitments[index]?.lp ?? null,
        portionBps: decodeContext(output.context)?.portionBps ?? null,
        outputAmount: output.amount.toString(),
        deliveredAmount: fill ? receivedIn(fill).toString() : null,
      };
    }),
  };
}

function legsOf({ record, route }: DossierParts, { composite }: Quoted): NonNullable<TradeDossier['legs']> {
  const legs = composite?.legs ?? [];
  const atomic = composite?.executionModel !== 'sequential';
  return legs.map((leg, index) => {
    const order = atomic ? record : route[index];
    if (!order) return { ...leg, execution: null };
    const progress = progressOf(order);
    const last = !atomic || index === legs.length - 1;
    const delivered = (last ? lpReceived(progress)?.toString() : undefined) ?? null;
    return {
      ...leg,
      execution: {
        orderId: order.orderId,
        status: progress.status,
        settlementStatus: progress.stage,
        txHash: settlementTxHash(progress) ?? null,
        deliveredAmount: delivered,
      },
    };
  });
}

/**
 * Returns the fees; undefined for an order from before gas was captured. Only a settlement charges platform,
 * LP and relayer: an order that ended otherwise shows 0 for each.
 */
function feesOf(
  { record, row, route, gas, names, native }: DossierParts,
  { opened, fills, status }: Progress,
  legs: NonNullable<TradeDossier['legs']>,
): TradeDossier['fees'] {
  if (opened && gas.length === 0) return undefined;
  const { chains } = names;
  const previews = [record, ...route].flatMap((order) => {
    const { inputs = [], outputs = [] } = quotedOf(order).preview ?? {};
    return [...inputs, ...outputs];
  });
  const input = { chainId: row.terms.sourceChainId, token: row.terms.input.token };
  const output = { chainId: row.terms.destChainId, token: row.terms.output.token };
  const fee = (asset: Asset, due: bigint): TradeFee => {
    const id = assetId(asset);
    const amount = status === 'failed' ? 0n : due;
    // A first leg delivers another asset than its preview shows: the next leg's preview has that price.
    const price = previews.find((each) => each.asset === id && each.priceUsd != null)?.priceUsd;
    const decimals = chains
      .get(asset.chainId)
      ?.tokens.find(({ address }) => address === asset.token)?.decimals;
    return {
      amount: amount.toString(),
      asset: id,
      usd:
        amount === 0n ? 0 : price == null || decimals === undefined ? null : inUsd(amount, decimals, price),
    };
  };
  const { platform, relay } = sharesOf(record);
  const spread = BigInt(row.terms.lpSpreadBps ?? 0);
  const delivered = fills.every(Boolean)
    ? BigInt(row.state.delivered ?? row.terms.output.amount)
    : BigInt(row.terms.output.amount);
  return {
    gas: gasFee(gas, row.terms.sourceChainId, native),
    protocolFee: fee(input, platform),
    // The LP's spread in output, rounded down.
    solverFee: fee(output, (delivered * spread) / (10_000n - spread)),
    relayerTip: fee(input, relay),
    ...venueFeesOf(legs, record.orderId, fee),
  };
}

/**
 * Lists the venues' fees of the legs that this order executes. Absent where no venue says what it charges.
 */
function venueFeesOf(
  legs: NonNullable<TradeDossier['legs']>,
  orderId: string,
  fee: (asset: Asset, due: bigint) => TradeFee,
): { venueFees?: TradeFee[] } {
  const own = legs.filter(({ execution }) => execution?.orderId === orderId);
  const known = own.flatMap(({ fees }) => fees ?? []);
  if (own.every(({ fees }) => fees == null)) return {};
  return {
    venueFees: known.flatMap(({ asset, amount }) => {
      const parsed = parseAssetId(asset);
      return parsed ? [fee(parsed, BigInt(amount))] : [];
    }),
  };
}

/** Divides the input as the escrow does: the last slice takes the remainder. */
function sharesOf({ order }: OrderRecord): { platform: bigint; relay: bigint } {
  const amount = order.inputs[0]?.[1] ?? 0n;
  const last = order.outputs.length - 1;
  let left = amount;
  let [platform, relay] = [0n, 0n];
  order.outputs.forEach(({ context }, index) => {
    const terms = decodeContext(context);
    const slice = index === last ? left : (amount * BigInt(terms?.portionBps ?? 0)) / 10_000n;
    left -= slice;
    platform += (slice * BigInt(terms?.feeBps ?? 0)) / 10_000n;
    relay += terms?.relayFee ?? 0n;
  });
  return { platform, relay };
}

/** The native coins' numbers in SLIP-44, for CAIP-19. */
const SLIP44: Record<string, number> = { ETH: 60, POL: 966, BNB: 714, AVAX: 9000 };

/**
 * Returns the gas of the chains with the origin's native currency, in that currency, and the USD over all
 * chains.
 */
function gasFee(
  gas: readonly CapturedGas[],
  originChainId: number,
  native: DossierParts['native'],
): TradeFee {
  const own = native(originChainId);
  const wei = gas.reduce(
    (sum, { chainId, feeWei }) => (native(chainId)?.symbol === own?.symbol ? sum + (feeWei ?? 0n) : sum),
    0n,
  );
  const usd = gas.map(usdOf);
  return {
    // Where the currency is a token, its CAIP-19 id promises the token's own decimals.
    amount: ((own && nativeTokenUnitsUp(own, wei)) ?? wei).toString(),
    asset: nativeAsset(originChainId, own),
    usd: usd.every((value) => value !== null)
      ? usd.reduce((sum: number, value) => sum + (value ?? 0), 0)
      : null,
  };
}

function nativeAsset(chainId: number, native: NativeCurrency | undefined): string {
  if (native?.token) return assetId({ chainId, token: native.token.address });
  const symbol = native?.symbol ?? '';
  const coin = SLIP44[symbol.toUpperCase()];
  return coin === undefined ? `eip155:${chainId}/native:${symbol}` : `eip155:${chainId}/slip44:${coin}`;
}
