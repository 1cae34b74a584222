/** Compares the books with the chains and the inventory ledger, and reports every new difference. */

import { formatTokens } from '../../../domain/amount.ts';
import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import { idOf } from '../ledger/facts.ts';
import { type Bookkeeper, type Reconciled, type ReconciledGas, chainSlug } from './bookkeeper.ts';

export const NATIVE_DECIMALS = 18;

/** Compares once per interval; since `start` at first as soon as the books have read far enough. */
export async function compareWhenDue(keeper: Bookkeeper): Promise<void> {
  const { comparison, options } = keeper;
  const { clock, log } = keeper.deps;
  const [chainBehind] = unreadChains(keeper);
  if (keeper.stopped || keeper.lost || chainBehind !== undefined) return;
  if (comparison.due === undefined && clock.monotonicMs() - comparison.checkedMs < options.reconcileMs)
    return;
  comparison.checkedMs = clock.monotonicMs();
  const now = await Promise.all([reconcileTokens(keeper), reconcileGas(keeper)]).catch((error: unknown) =>
    log.warn({ error }, 'the books could not be compared with the chains; the next interval tries again'),
  );
  if (now === undefined) return;
  const before = new Map(comparison.checkedGas.map((row) => [gasNameOf(row), row.difference]));
  [comparison.checked, comparison.checkedGas] = now;
  comparison.due = undefined;
  // A transaction is mined some moments before its gas is booked.
  const lasting = comparison.checkedGas.filter((row) => before.get(gasNameOf(row)) === row.difference);
  for (const row of comparison.checked) reportDifference(keeper, { ...row, symbol: row.token });
  for (const row of lasting) reportDifference(keeper, { ...row, token: gasNameOf(row) });
}

const gasNameOf = ({ chain, operator }: ReconciledGas): string => `native of ${operator} on ${chain}`;

/** Logs a difference once, and once more when it is gone. */
function reportDifference(
  { deps: { log }, comparison: { saidDifferences } }: Bookkeeper,
  row: Pick<Reconciled, 'chain' | 'token' | 'decimals' | 'block' | 'journal' | 'chainSays' | 'difference'> & {
    symbol: string;
  },
): void {
  const { chain, token, symbol, decimals, block, journal, chainSays, difference } = row;
  const shownAs = (amount: bigint) => formatTokens(amount, { decimals, symbol });
  const said = saidDifferences.get(`${chain} ${token}`) ?? 0n;
  if ((difference ?? 0n) === said) return;
  saidDifferences.set(`${chain} ${token}`, difference ?? 0n);
  if (difference === null || chainSays === null) return;
  if (difference === 0n) log.warn({ chain, token, block }, 'books and chain agree again');
  else
    log.error(
      {
        ...{ chain, token, block },
        ...{ journal: shownAs(journal), chainSays: shownAs(chainSays), difference: shownAs(difference) },
      },
      'books and chain differ, and nothing is adjusted automatically: find what moved (docs/lp/reconcile.md)',
    );
}

export async function reconcileTokens(keeper: Bookkeeper): Promise<Reconciled[]> {
  const { deps, options, reader, books: held } = keeper;
  if (held === undefined) return [];
  const opened = options.tokens.filter(({ chainId, token }) => held.opened.has(idOf.opening(chainId, token)));
  return Promise.all(
    opened.map(async ({ chainId, token }): Promise<Reconciled> => {
      const block = held.cursors.get(chainId)?.block ?? 0n;
      // Read both before the first await: they must be of the same block.
      const journal = held.journal.inventory({ chainId, token });
      const ledger =
        deps.final(chainId)?.block === block ? (deps.ledger.bucket(chainId, token)?.onchain ?? null) : null;
      const chainSays =
        (await deps.chains.get(chainId)?.ledgerBalance(options.account, token, block)) ?? null;
      return {
        chain: chainSlug(keeper, chainId),
        token: reader.infoOf({ chainId, token })?.symbol ?? token,
        address: token,
        decimals: reader.infoOf({ chainId, token })?.decimals ?? null,
        block,
        journal,
        chainSays,
        ledger,
        difference: chainSays === null ? null : chainSays - journal,
      };
    }),
  );
}

/**
 * Compares the native currency of every operator. Transfers to it emit no event and show as a difference.
 */
export async function reconcileGas({ deps, books: held }: Bookkeeper): Promise<ReconciledGas[]> {
  if (held === undefined) return [];
  return Promise.all(
    [...held.gas.values()].flatMap(({ chainId, operator }) => {
      const port = deps.chains.get(chainId);
      const block = held.cursors.get(chainId)?.block ?? 0n;
      const journal = held.journal.gas(chainId, operator);
      const symbolOf = () => deps.nativeSymbol(chainId);
      return port === undefined ? [] : [compareGas(port, operator, { block, journal, symbolOf })];
    }),
  );
}

async function compareGas(
  port: ChainPort,
  operator: Address,
  { block, journal, symbolOf }: { block: bigint; journal: bigint; symbolOf(): string },
): Promise<ReconciledGas> {
  const chainSays = await port.nativeBalance(operator, block);
  return {
    ...{ chain: port.chain.slug, operator, symbol: symbolOf(), decimals: NATIVE_DECIMALS },
    ...{ block, journal, chainSays, difference: chainSays - journal },
  };
}

/** Chains that the books must read further before the first comparison, with the block. */
const unreadChains = ({ books, comparison: { due } }: Bookkeeper): [number, bigint][] =>
  [...(due ?? [])].filter(([chainId, block]) => (books?.cursors.get(chainId)?.block ?? 0n) < block);

/** Says what the books have not read or compared since `start`; undefined when nothing is left. */
export function behindOf(keeper: Bookkeeper): string | undefined {
  if (keeper.comparison.due === undefined || keeper.lost) return undefined;
  const [first] = unreadChains(keeper);
  if (first === undefined) return 'comparing the accounting ledger with the chains';
  const [chainId, block] = first;
  const blocks = block - (keeper.books?.cursors.get(chainId)?.block ?? 0n);
  return `${chainSlug(keeper, chainId)}: the accounting ledger has ${blocks} blocks to read before anything is signed`;
}
