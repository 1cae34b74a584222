/** Finds what the account of a new LP still lacks on its chains, and the commands that bring it about. */

import { formatUnits } from '../../../../domain/amount.ts';
import type { Address, Bytes32 } from '../../../../domain/hex.ts';
import type { LpAccountState } from '../../../lp/account/state.ts';
import type { LpAppConfig } from '../../../lp/config.ts';
import { probeAccount } from '../../../lp/init/probe.ts';
import { badRequest } from '../../../wiring/bad-request.ts';
import { expand, type SecretContext } from '../../../wiring/keys.ts';
import { chainOf } from '../../../wiring/networks.ts';
import { report } from './asker.ts';

/** A proposed limit lets the operator spend this part of the balance in an hour. */
const LIMIT_SHARE = 4n;
/** This word stands for a number in a proposed limit where the account has nothing yet. */
export const AMOUNT = 'AMOUNT';

/** Tells what the account has, and answers the commands to run before the LP can quote. */
export async function checkAccount(
  { networks, lp }: LpAppConfig,
  account: Address,
  {
    operator,
    config,
    secrets,
    isLpAccount,
    mover,
    salt,
  }: {
    operator: Address;
    config: string;
    secrets: SecretContext;
    /** The answers name an owner of an `LpAccount`, which may not be deployed yet. */
    isLpAccount: boolean;
    mover: Address | undefined;
    salt: Bytes32 | undefined;
  },
): Promise<string[]> {
  const todo: string[] = [];
  const owned = `--config ${config} --owner OWNER_KEYSTORE`;
  const states: (LpAccountState | undefined)[] = [];
  for (const network of networks) {
    const { lpAccount, operatorAllowed, operatorLimited, operatorGas, balances } = await probeAccount(
      expand(network.rpcUrls[0] ?? '', secrets),
      chainOf(network),
      account,
      operator,
    );
    states.push(lpAccount);
    const held = balances
      .filter(({ amount }) => amount > 0n)
      .map(({ symbol, decimals, amount }) => `${formatUnits(amount, decimals)} ${symbol}`);
    report(
      `${operatorAllowed && held.length > 0 ? '✓' : '·'} ${network.slug}: the account has ${held.join(', ') || 'nothing'} in the escrow; the operator ${operatorAllowed ? 'may sign' : 'may not sign yet'} and has ${formatUnits(operatorGas, 18)} of the chain's currency for gas`,
    );
    if (!operatorAllowed) {
      const limits = balances.map(
        ({ symbol, decimals, amount }) =>
          `--limit ${symbol}=${amount > 0n ? formatUnits(amount / LIMIT_SHARE, decimals) : AMOUNT}/1h`,
      );
      todo.push(
        `firmquote lp operator set --config ${config} --chain ${network.slug} ${limits.join(' ')} --owner OWNER_KEYSTORE`,
      );
    } else if (!operatorLimited)
      report(
        `\nWARNING: the operator has no limits on ${network.slug}. Whoever steals its key can sell all that the account has in the escrow. Give it limits: firmquote lp operator set --limit TOKEN=${AMOUNT}/1h`,
      );
    if (held.length === 0)
      todo.push(
        `firmquote lp deposit --config ${config} --chain ${network.slug} --token ${balances[0]?.symbol ?? 'USDC'} --amount 1000 --owner OWNER_KEYSTORE`,
      );
    const crosses = lp.chains.length > 1;
    if (crosses && operatorGas === 0n)
      todo.push(`send ${operator} some native currency of ${network.slug}, for the gas of cross-chain fills`);
  }
  if (!isLpAccount && states.every((state) => state === undefined)) {
    if (mover !== undefined)
      throw badRequest(
        'A plain account has no mover: its owner moves inventory by hand. Leave --mover out, or give --account-owner for an LpAccount.',
      );
    return todo;
  }
  const roles = `--treasury ADDRESS${mover === undefined ? '' : ` --mover config --mover-limit ${networks[0]?.tokens[0]?.symbol ?? 'USDC'}=${AMOUNT}`}`;
  const isDeployed = states.every((state) => state !== undefined);
  const isSetUp = states.every(
    (state) => state !== undefined && state.escrow !== null && state.treasury !== null,
  );
  return [
    ...(isDeployed
      ? []
      : [`firmquote lp account deploy ${owned}${salt === undefined ? '' : ` --salt ${salt}`}`]),
    ...(isSetUp && mover === undefined ? [] : [`firmquote lp account set ${roles} ${owned}`]),
    ...todo,
    ...(mover === undefined
      ? []
      : [`send ${mover}, the mover, some native currency of each chain, for the gas of its transactions`]),
    ...(isSetUp ? [] : [`firmquote lp account finish ${owned}`]),
  ];
}
