/** Trade history as CSV (RFC 4180). No cell is a formula in a spreadsheet. */

import type { TradeRow } from '../../ports/stores/trades.ts';
import type { TradeItem } from '../../protocol/api/trades.ts';
import { fullName, type Names, tradeItem } from './item.ts';

type Cell = { text: string | null } | { number: number | string | null };

const text = (value: string | null | undefined): Cell => ({ text: value ?? null });
const number = (value: number | string | null | undefined): Cell => ({ number: value ?? null });

/** Base units when the venue no longer lists the token. */
const amountOf = ({ decimalAmount, rawAmount }: TradeItem['route']['input']): Cell =>
  number(decimalAmount ?? rawAmount);

const COLUMNS: readonly (readonly [name: string, cell: (item: TradeItem, row: TradeRow) => Cell])[] = [
  ['orderId', ({ orderId }) => text(orderId)],
  ['createdAt', ({ createdAt }) => text(createdAt)],
  ['sourceChain', ({ sourceChain }) => text(sourceChain)],
  ['destChain', ({ destChain }) => text(destChain)],
  ['inputSymbol', ({ route }) => text(route.input.asset.symbol)],
  ['inputAmount', ({ route }) => amountOf(route.input)],
  ['inputAsset', ({ route }) => text(route.input.asset.assetId)],
  ['outputSymbol', ({ route }) => text(route.output.asset.symbol)],
  ['outputAmount', ({ route }) => amountOf(route.output)],
  ['outputAsset', ({ route }) => text(route.output.asset.assetId)],
  ['amountUsd', ({ amountUsd }) => number(amountUsd)],
  ['lpName', ({ lpName }) => text(lpName)],
  ['lpSource', ({ lpSource }) => text(lpSource)],
  ['routingPath', ({ routingPath }) => text(routingPath.type)],
  ['orderKind', ({ orderKind }) => text(orderKind)],
  ['status', ({ status }) => text(status)],
  ['settlementStatus', ({ settlementStatus }) => text(settlementStatus)],
  ['executionPrice', ({ executionPrice }) => number(executionPrice?.value)],
  ['slippageBps', ({ slippageBps }) => number(slippageBps)],
  ['settlementSpeedMs', ({ settlementSpeedMs }) => number(settlementSpeedMs)],
  ['platformFeeBps', (_, { terms }) => number(terms.platformFeeBps)],
  ['lpSpreadBps', (_, { terms }) => number(terms.lpSpreadBps)],
  ['submitTxHash', (_, { state }) => text(state.submitTx)],
  ['fillTxHash', (_, { state }) => text(state.fillTx)],
  ['finaliseTxHash', (_, { state }) => text(state.finaliseTx)],
  ['refundTxHash', (_, { state }) => text(state.refundTx)],
];
const MEMBER_COLUMNS: typeof COLUMNS = [
  ['memberName', ({ member }) => text(member && fullName(member))],
  ['memberEmail', ({ member }) => text(member?.email)],
];

const columnsFor = ({ members }: Names) => (members ? [...COLUMNS, ...MEMBER_COLUMNS] : COLUMNS);

export const csvHeader = (names: Names): string =>
  `${columnsFor(names)
    .map(([name]) => name)
    .join(',')}\r\n`;

export function csvLine(row: TradeRow, names: Names): string {
  const item = tradeItem(row, names);
  return `${columnsFor(names)
    .map(([, cell]) => write(cell(item, row)))
    .join(',')}\r\n`;
}

/** Also after a full-width sign. */
const FORMULA = /^[=+\-@\t\r\n\0\uFF1D\uFF0B\uFF0D\uFF20]/u;

function write(cell: Cell): string {
  if ('number' in cell) return cell.number === null ? '' : String(cell.number);
  const guarded = cell.text === null ? '' : FORMULA.test(cell.text) ? `'${cell.text}` : cell.text;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
