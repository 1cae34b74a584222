/** Trade history as CSV (RFC 4180). No cell is a formula in a spreadsheet. */

import type { TradeRow } from '../../ports/stores/trades.ts';
import type { TradeItem } from '../../protocol/api/trades.ts';
import { fullName, type Names, tradeItem } from './item.ts';

/** Every string is guarded. Amounts and prices are never negative, so none starts like a formula. */
type Cell = string | number | null | undefined;

/** Base units when the venue no longer lists the token. */
const amountOf = ({ decimalAmount, rawAmount }: TradeItem['route']['input']): Cell =>
  decimalAmount ?? rawAmount;

const COLUMNS: readonly (readonly [name: string, cell: (item: TradeItem, row: TradeRow) => Cell])[] = [
  ['orderId', ({ orderId }) => orderId],
  ['createdAt', ({ createdAt }) => createdAt],
  ['sourceChain', ({ sourceChain }) => sourceChain],
  ['destChain', ({ destChain }) => destChain],
  ['inputSymbol', ({ route }) => route.input.asset.symbol],
  ['inputAmount', ({ route }) => amountOf(route.input)],
  ['inputAsset', ({ route }) => route.input.asset.assetId],
  ['outputSymbol', ({ route }) => route.output.asset.symbol],
  ['outputAmount', ({ route }) => amountOf(route.output)],
  ['outputAsset', ({ route }) => route.output.asset.assetId],
  ['amountUsd', ({ amountUsd }) => amountUsd],
  ['lpName', ({ lpName }) => lpName],
  ['lpSource', ({ lpSource }) => lpSource],
  ['routingPath', ({ routingPath }) => routingPath.type],
  ['orderKind', ({ orderKind }) => orderKind],
  ['status', ({ status }) => status],
  ['settlementStatus', ({ settlementStatus }) => settlementStatus],
  ['executionPrice', ({ executionPrice }) => executionPrice?.value],
  ['slippageBps', ({ slippageBps }) => slippageBps],
  ['settlementSpeedMs', ({ settlementSpeedMs }) => settlementSpeedMs],
  ['platformFeeBps', (_, { terms }) => terms.platformFeeBps],
  ['lpSpreadBps', (_, { terms }) => terms.lpSpreadBps],
  ['submitTxHash', (_, { state }) => state.submitTx],
  ['fillTxHash', (_, { state }) => state.fillTx],
  ['finaliseTxHash', (_, { state }) => state.finaliseTx],
  ['refundTxHash', (_, { state }) => state.refundTx],
];
const MEMBER_COLUMNS: typeof COLUMNS = [
  ['memberName', ({ member }) => member && fullName(member)],
  ['memberEmail', ({ member }) => member?.email],
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
  if (typeof cell !== 'string') return String(cell ?? '');
  const guarded = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}
