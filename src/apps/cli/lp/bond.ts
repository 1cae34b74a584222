/** `firmquote lp bond`: what the account answers with for its quotes, signed with the owner's key. */

import { formatUnits, parseUnits } from '../../../domain/amount.ts';
import { coveredBy } from '../../../domain/bond.ts';
import { dateOf } from '../../lp/account/change.ts';
import type { OwnerStep } from '../../lp/account/sender.ts';
import { badRequest } from '../../wiring/bad-request.ts';
import { readAddress, secondsOf } from '../option-values.ts';
import { answer, onChain, type OwnerOptions, chainTokenOf } from './owner.ts';

export async function showBond(options: OwnerOptions): Promise<void> {
  await onChain({ ...options, dryRun: true }, async ({ port, account }) => {
    const { chain } = port;
    const [terms, shareBps] = await Promise.all([port.bondTerms(account), port.bondShareBps()]);
    if (terms === undefined || shareBps === undefined)
      throw badRequest(`The configuration names no bond contract on ${chain.slug} (networks, quoteBond).`);
    const bonds = await Promise.all(
      chain.tokens.map(async (token) => ({ token, bond: await port.bond(account, token.address) })),
    );
    const shown = bonds.flatMap(({ token, bond }) => {
      if (bond === undefined) return [];
      const whole = (amount: bigint) => formatUnits(amount, token.decimals);
      return [
        {
          token: token.symbol,
          bond: whole(bond.amount),
          leaving: whole(bond.leaving),
          availableAt: bond.leaving > 0n ? dateOf(bond.availableAt) : null,
          covers: whole(coveredBy(bond, shareBps)),
        },
      ];
    });
    const across =
      terms.fillWindowSeconds === 0
        ? 'It answers for no orders across chains (firmquote lp bond terms).'
        : `Across chains it answers for orders open ${terms.fillWindowSeconds} s before their deadline that deliver ${terms.wallets ? 'anywhere' : 'into the ledger'}.`;
    answer(options, { steps: [], bonds: shown, terms }, [
      ...shown.map(
        ({ token, bond, leaving, availableAt, covers }) =>
          `${token}: a bond of ${bond}${availableAt === null ? '' : `, of which ${leaving} can be taken back from ${availableAt}`}; it covers a quote of ${covers}`,
      ),
      `A failed promise costs ${formatUnits(2n * shareBps, 2)} % of it: half for the taker, half is forfeited.`,
      across,
    ]);
  });
}

export async function postBond({ amount, ...options }: OwnerOptions & { amount: string }): Promise<void> {
  await onChain(options, async ({ port, owner }) => {
    const token = chainTokenOf(port, options.token);
    answer(options, { steps: await owner.postBond(token, parseUnits(amount, token.decimals)) }, []);
  });
}

export async function takeBondBack({
  amount,
  complete,
  cancel,
  to,
  ...options
}: OwnerOptions & { amount?: string; complete?: boolean; cancel?: boolean; to?: string }): Promise<void> {
  if ([amount !== undefined, complete, cancel].filter(Boolean).length !== 1)
    throw badRequest('Give one of --amount (ask), --complete (take) and --cancel.');
  const receiver = readAddress(to);
  await onChain(options, async ({ port, owner, account }) => {
    const token = chainTokenOf(port, options.token);
    const act = async (): Promise<OwnerStep[]> => {
      if (complete) return owner.takeBondBack(token, receiver ?? account);
      if (cancel || amount === undefined) return owner.cancelBondBack(token);
      const all = async () => (await port.bond(account, token.address))?.amount ?? 0n;
      return owner.requestBondBack(
        token,
        amount === 'all' ? await all() : parseUnits(amount, token.decimals),
      );
    };
    answer(options, { steps: await act() }, []);
  });
}

export async function setBondTerms({
  fillWindow,
  wallets = false,
  ...options
}: OwnerOptions & { fillWindow: string; wallets?: boolean }): Promise<void> {
  const fillWindowSeconds = fillWindow === '0' ? 0 : secondsOf(fillWindow);
  if (fillWindowSeconds === undefined)
    throw badRequest(`"${fillWindow}" is no time: write such as 30s or 2m, or 0 to answer for none.`);
  await onChain(options, async ({ owner, config, port }) => {
    const steps = await owner.setBondTerms({ fillWindowSeconds, wallets });
    // This LP fills an order only when it is open at depth, and in time for the fill to be mined.
    const { depth, blockTimeMs } = port.chain;
    const least = Math.ceil((depth * blockTimeMs) / 1_000) + config.lp.quoting.fillMarginSeconds;
    answer(
      options,
      { steps, leastFillWindowSeconds: least },
      fillWindowSeconds === 0 || fillWindowSeconds >= least
        ? []
        : [
            `WARNING: with its depth and fill margin this LP needs at least ${least} s to fill an order of ${port.chain.slug}. A taker who opens ${fillWindowSeconds} s before the deadline is not served, and may claim.`,
          ],
    );
  });
}
