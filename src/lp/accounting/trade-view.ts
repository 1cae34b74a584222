/** One trade for a reader: what its entries moved, in whole tokens. */

import { formatUnits } from '../../domain/amount.ts';
import type { TokenInfo } from '../../domain/chain.ts';
import type { Money } from '../../inventory/event.ts';
import type { Posting, ProfitRow, ProfitTrade } from '../../ports/stores/accounting-store.ts';

export interface TradeView extends Omit<ProfitTrade, 'moved'> {
  /** Whole base tokens, and quote tokens per base token over the whole input; null before the fill. */
  quantity: string | null;
  base: string | null;
  price: string | null;
  quote: string | null;
  /** The fees that the escrow kept of the input, in whole tokens. */
  fee: string | null;
  feeToken: string | null;
}

/** A row as it is shown: with `trade` in whole tokens. */
export type ShownProfitRow = Omit<ProfitRow, 'trade'> & { trade?: TradeView };

type InfoOf = (money: Pick<Money, 'chainId' | 'token'>) => TokenInfo | undefined;

const PRICE_DIGITS = 18;

export function showTrade({ moved, ...trade }: ProfitTrade, infoOf: InfoOf): TradeView {
  const trading = moved.filter(({ account }) => account.startsWith('trading:'));
  const output = tokens(
    trading.find(({ amount }) => amount > 0n),
    infoOf,
  );
  const input = tokens(
    trading.find(({ amount }) => amount < 0n),
    infoOf,
  );
  const fees = moved.filter(({ account }) => /^expense:(?:platform|relay)-fee$/.test(account));
  const [base, quote] = trade.side === 'buy' ? [input, output] : [output, input];
  const fee = fees.reduce((sum, { amount }) => sum + amount, 0n);
  return {
    ...trade,
    quantity: base === undefined ? null : formatUnits(base.amount, base.decimals),
    base: base?.symbol ?? null,
    price: base === undefined || quote === undefined ? null : priceOf(base, quote),
    quote: quote?.symbol ?? null,
    fee: input === undefined ? null : formatUnits(fee, input.decimals),
    feeToken: input?.symbol ?? null,
  };
}

interface Tokens {
  amount: bigint;
  symbol: string;
  decimals: number;
}

function tokens(posting: Posting | undefined, infoOf: InfoOf): Tokens | undefined {
  if (posting === undefined || posting.token === 'native') return undefined;
  const info = infoOf({ chainId: posting.chainId, token: posting.token });
  const amount = posting.amount < 0n ? -posting.amount : posting.amount;
  return info && { amount, symbol: info.symbol, decimals: info.decimals };
}

/** Returns the price, rounded down. */
const priceOf = (base: Tokens, quote: Tokens): string =>
  formatUnits(
    (quote.amount * 10n ** BigInt(PRICE_DIGITS + base.decimals)) /
      (base.amount * 10n ** BigInt(quote.decimals)),
    PRICE_DIGITS,
  );
