/** The owner's actions. Each step is simulated before it is sent. */

import type { BondTerms } from '../../../domain/bond.ts';
import type { TokenInfo } from '../../../domain/chain.ts';
import type { Address } from '../../../domain/hex.ts';
import type { ChainPort } from '../../../ports/chain.ts';
import { lpAccountCalls, plainCalls } from '../account/calls.ts';
import type { OwnerStep, Sender } from '../account/sender.ts';
import type { LpAccountState } from '../account/state.ts';
import { cancelBondBack, changeBondTerms, payBond, requestBondBack, takeBond } from './bond.ts';
import type { OwnerAccess } from './access.ts';
import { allowOperator, disallowOperator, limitOperator } from './operators.ts';
import { depositTokens } from './payments.ts';
import {
  cancelRequest,
  completeWithdrawal,
  pendingOf,
  type PendingWithdrawal,
  requestWithdrawal,
} from './withdrawal.ts';

/** The actions of an account's owner. Each refuses with a `RequestError` that says what to do. */
export interface Owner {
  /** Reads the pending withdrawal of a token; undefined when there is none. */
  pending(token: TokenInfo): Promise<PendingWithdrawal | undefined>;
  /** Deposits what lies on an `LpAccount` first, then what the owner's wallet has. */
  deposit(token: TokenInfo, amount: bigint): Promise<OwnerStep[]>;
  /** Pays into the bond contract from the owner's wallet. */
  postBond(token: TokenInfo, amount: bigint): Promise<OwnerStep[]>;
  /** Asks for a part of the bond; the delay begins. */
  requestBondBack(token: TokenInfo, amount: bigint): Promise<OwnerStep[]>;
  /** Keeps what was asked back. */
  cancelBondBack(token: TokenInfo): Promise<OwnerStep[]>;
  /** Takes what was asked back, after the delay. */
  takeBondBack(token: TokenInfo, to: Address): Promise<OwnerStep[]>;
  /** Says which orders across chains the bond answers for. */
  setBondTerms(terms: BondTerms): Promise<OwnerStep[]>;
  /** Requests a withdrawal; `replace` restarts the delay of a pending one. */
  request(token: TokenInfo, amount: bigint, replace: boolean): Promise<OwnerStep[]>;
  /** Cancels the pending withdrawal. */
  cancel(token: TokenInfo): Promise<OwnerStep[]>;
  /** Completes the pending withdrawal after the delay. */
  complete(token: TokenInfo, to: Address): Promise<OwnerStep[]>;
  /** Allows an operator without limits: it may spend all that the account has here. */
  allowOperator(operator: Address): Promise<OwnerStep[]>;
  /** Allows an operator within limits: it may spend nothing of a token that never got one. */
  limitOperator(
    operator: Address,
    limits: readonly { token: TokenInfo; most: bigint; windowSeconds: number }[],
  ): Promise<OwnerStep[]>;
  /** Revokes an operator immediately. */
  revokeOperator(operator: Address): Promise<OwnerStep[]>;
}

/** Makes the owner's actions. `lpAccount`: undefined for an account that is the owner's own address. */
export function createOwner(
  port: ChainPort,
  account: Address,
  sender: Sender,
  lpAccount: LpAccountState | undefined,
): Owner {
  const { chain } = port;
  const calls = lpAccount === undefined ? plainCalls(chain.escrow) : lpAccountCalls(account);
  const access: OwnerAccess = { port, chain, account, sender, lpAccount, calls };
  return {
    pending: (token) => pendingOf(access, token),
    deposit: (token, amount) => depositTokens(access, token, amount),
    postBond: (token, amount) => payBond(access, token, amount),
    requestBondBack: (token, amount) => requestBondBack(access, token, amount),
    cancelBondBack: (token) => cancelBondBack(access, token),
    takeBondBack: (token, to) => takeBond(access, token, to),
    setBondTerms: (terms) => changeBondTerms(access, terms),
    request: (token, amount, replace) => requestWithdrawal(access, token, amount, replace),
    cancel: (token) => cancelRequest(access, token),
    complete: (token, to) => completeWithdrawal(access, token, to),
    allowOperator: (operator) => allowOperator(access, operator),
    limitOperator: (operator, limits) => limitOperator(access, operator, limits),
    revokeOperator: (operator) => disallowOperator(access, operator),
  };
}
