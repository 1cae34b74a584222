/** Trade history as CSV. */

import { formatTokens } from '../../domain/amount.ts';
import { parseAssetId } from '../../domain/asset.ts';
import { tokenOf } from '../../domain/chain.ts';
import { type CsvCell, csvLineOf } from '../../protocol/csv.ts';
import type { TradeRow } from '../../ports/stores/trades.ts';
import type { TradeItem } from '../../protocol/api/trades/trades.ts';
import { fullName, type Names, tradeItem } from './item.ts';
import { legFeesText, legsText } from './legs.ts';

/** Writes whole tokens, or base units when the venue no longer lists the token. */
const amountOf = ({ decimalAmount, rawAmount }: TradeItem['route']['input']): CsvCell =>
  decimalAmount ?? rawAmount;

const COLUMNS: readonly (readonly [name: string, cell: (item: TradeItem, row: TradeRow) => CsvCell])[] = [
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

/** Last, so that the columns before keep their places. */
const routeColumns = ({ chains }: Pick<Names, 'chains'>): typeof COLUMNS => [
  ['legs', (_, { terms }) => legsText(terms)],
  ['legFees', (_, { terms }) => legFeesText(terms, (fee) => feeText(fee, chains))],
];

/** Writes a fee, such as "0.3 USDC". */
function feeText({ asset, amount }: { asset: string; amount: string }, chains: Names['chains']): string {
  const found = parseAssetId(asset);
  const chain = found && chains.get(found.chainId);
  const token = chain && tokenOf(chain, found.token);
  return token ? formatTokens(BigInt(amount), token) : `${amount} of ${asset}`;
}

const columnsFor = (names: Names) => [
  ...COLUMNS,
  ...(names.members ? MEMBER_COLUMNS : []),
  ...routeColumns(names),
];

export const csvHeader = (names: Names): string =>
  `${columnsFor(names)
    .map(([name]) => name)
    .join(',')}\r\n`;

export function csvLine(row: TradeRow, names: Names): string {
  const item = tradeItem(row, names);
  return `${csvLineOf(columnsFor(names).map(([, cell]) => cell(item, row)))}\r\n`;
}
