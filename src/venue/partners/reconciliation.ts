/** Compares a route partner's file of a day with the venue's orders, whose fills the chains have shown. */

import { type AssetId, assetId } from '../../domain/asset.ts';
import { decodeContext } from '../../domain/context.ts';

import { type Address, type Bytes32, bytes32ToAddress } from '../../domain/hex.ts';
import { toIso, type UnixSeconds } from '../../domain/time.ts';
import type { OrderRecord } from '../../ports/stores/store.ts';
import type { ReconciliationLine } from '../../protocol/partner/messages.ts';
import { routeFees } from '../router/route-fees.ts';

/** The compared fields, in the form in which the file writes them. */
type Compared = Pick<
  ReconciliationLine,
  'input' | 'amountIn' | 'output' | 'amountOut' | 'fillTx' | 'filledAt'
>;
const COMPARED = ['input', 'amountIn', 'output', 'amountOut', 'fillTx', 'filledAt'] as const;

export interface FileDifference {
  orderId: Bytes32;
  /**
   * `missing`: the file lacks an order that was filled on the day. `unknown`: the venue has no such order.
   * `foreign`: it is not the partner's. `unfilled`: the chains have shown no fill. `other_day`: it was filled
   * on another day. `twice`: the file lists it again. Else the field that differs.
   */
  what: 'missing' | 'unknown' | 'foreign' | 'unfilled' | 'other_day' | 'twice' | (typeof COMPARED)[number];
  /** The value in the venue's records, and the value in the file; null when there is none. */
  venue: string | null;
  file: string | null;
}

/** Returns the day's bounds in UTC. `end` is the first second after it. */
export function secondsOfDay(day: string): { begin: UnixSeconds; end: UnixSeconds } {
  const begin = Date.parse(`${day}T00:00:00Z`) / 1_000;
  return { begin, end: begin + 86_400 };
}

/**
 * `orders`: those of the partner that were filled on the day, and those that the file names, as far as the
 * venue has them.
 */
export function compareReconciliation(
  { partner, day }: { partner: string; day: string },
  orders: ReadonlyMap<Bytes32, OrderRecord>,
  lines: readonly ReconciliationLine[],
): FileDifference[] {
  const { begin, end } = secondsOfDay(day);
  const isOfDay = (at: UnixSeconds): boolean => at >= begin && at < end;
  const seen = new Set<string>();
  const ofLines = lines.flatMap((line): FileDifference[] => {
    const orderId = line.orderId as Bytes32;
    const told = { orderId, venue: null, file: `${line.amountOut} in ${line.fillTx}` };
    if (seen.has(orderId)) return [{ ...told, what: 'twice' }];
    seen.add(orderId);
    const order = orders.get(orderId);
    if (order === undefined) return [{ ...told, what: 'unknown' }];
    if (order.route?.venueId !== partner)
      return [{ ...told, what: 'foreign', venue: order.solverIds.join(', ') }];
    const ours = comparedOf(order);
    if (ours === undefined) return [{ ...told, what: 'unfilled' }];
    if (!isOfDay(ours.filledAt))
      return [{ orderId, what: 'other_day', venue: shown(ours, 'filledAt'), file: shown(line, 'filledAt') }];
    return COMPARED.filter((field) => ours[field] !== line[field]).map((field) => ({
      ...{ orderId, what: field, venue: shown(ours, field), file: shown(line, field) },
    }));
  });
  const missing = [...orders.values()].flatMap((order): FileDifference[] => {
    const ours = order.route?.venueId === partner ? comparedOf(order) : undefined;
    return ours === undefined || seen.has(order.orderId) || !isOfDay(ours.filledAt)
      ? []
      : [
          {
            ...{ orderId: order.orderId, what: 'missing', file: null },
            venue: `${ours.amountOut} in ${ours.fillTx}`,
          },
        ];
  });
  return [...ofLines, ...missing];
}

const shown = (of: Compared, field: keyof Compared): string =>
  field === 'filledAt' ? toIso(of.filledAt * 1_000) : of[field];

/**
 * Returns the compared fields; undefined when no fill has been seen. A partner's order has one input and one
 * output.
 */
function comparedOf({ order, originChainId, facts }: OrderRecord): Compared | undefined {
  const fill = facts.map(({ fact }) => fact).find((fact) => fact.kind === 'filled');
  const [[token, given] = [0n, 0n], output] = [order.inputs[0], order.outputs[0]];
  if (fill === undefined || output === undefined) return undefined;
  const terms = decodeContext(output.context);
  const paid = routeFees(terms?.feeBps ?? 0, () => terms?.relayFee ?? 0n).handedOver(given, 0n);
  const input: Address = `0x${token.toString(16).padStart(40, '0')}`;
  const asset = (chainId: number, at: Address): AssetId => assetId({ chainId, token: at });
  return {
    input: asset(originChainId, input),
    amountIn: paid.toString(),
    output: asset(Number(output.chainId), bytes32ToAddress(output.token)),
    amountOut: fill.amount.toString(),
    fillTx: fill.evidence.txHash as Bytes32,
    filledAt: fill.evidence.at,
  };
}
