/** Writes what a trade gives or gets, in whole tokens. */

import type { TradeItem } from '../../../../src/protocol/api/trades/trades.ts';
import { tokens } from '../../format.ts';

export const legText = ({ asset, rawAmount }: TradeItem['route']['input']): string =>
  asset.decimals === null ? rawAmount : `${tokens(rawAmount, asset.decimals)} ${asset.symbol ?? ''}`;
