/** Reads the balances with which the books of a chain, a token or an operator are opened. */

import type { Money } from '../../../inventory/event.ts';
import { idOf, type NativeMoney } from '../ledger/facts.ts';
import { operatorsOf } from './gas-facts.ts';
import { type BooksProgress, gasKey, infoOf, type OpeningBalances, type ReaderState } from './reading.ts';

/**
 * Returns the balances that the books do not have yet; undefined when nothing is missing or it must wait.
 * `patient`: wait rather than open the books without prices.
 */
export async function readOpening(
  state: ReaderState,
  { cursors, opened, gas, journal }: BooksProgress,
  chainId: number,
  patient: boolean,
): Promise<OpeningBalances | undefined> {
  const { deps, options } = state;
  const port = deps.chains.get(chainId);
  const missing = options.tokens.filter(
    (each) => each.chainId === chainId && !opened.has(idOf.opening(chainId, each.token)),
  );
  const all = await operatorsOf(state, chainId);
  const unknown = all.filter((operator) => !gas.has(gasKey({ chainId, operator })));
  const ofAll = journal.gasOfAll(chainId) !== 0n;
  const known = cursors.get(chainId);
  const final = deps.final(chainId);
  if (
    port === undefined ||
    final === undefined ||
    (known !== undefined &&
      ((missing.length === 0 && unknown.length === 0 && !ofAll) || known.block !== final.block))
  )
    return undefined;
  const unpriced = missing.filter((each) => deps.usd(infoOf(state, each)?.symbol ?? '') === undefined);
  if (unpriced.length > 0 && patient) return undefined;
  const balances = await Promise.all(
    missing.map(async ({ token }): Promise<Money> => ({
      chainId,
      token,
      amount: await port.ledgerBalance(options.account, token, final.block),
    })),
  );
  // A program without `GasCursor` books gas for all operators together. While the chain has no
  // `GasCursor`, that sum belongs to the first operator. Later it comes from such a program that runs
  // beside this one during an upgrade, with our operator.
  const legacyGasOperator = ofAll ? (unknown.length === all.length ? all[0] : options.operator) : undefined;
  const native = await Promise.all(
    unknown
      .filter((operator) => operator !== legacyGasOperator)
      .map(async (operator): Promise<NativeMoney> => ({
        chainId,
        token: 'native',
        operator,
        amount: await port.nativeBalance(operator, final.block),
      })),
  );
  return {
    cursor: known ?? { chainId, block: final.block, hash: final.hash, nonce: 0 },
    balances,
    native,
    legacyGasOperator,
    fresh: known === undefined,
  };
}
