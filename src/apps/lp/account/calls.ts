/** The calls by which an owner acts: on escrow and bond, or through the `LpAccount` that acts there. */

import type { BondTerms } from '../../../domain/bond.ts';
import type { Address, Hex } from '../../../domain/hex.ts';
import { requestTakeBackCall, setBondTermsCall, takeBackCall } from '../../../settlement/bond-call.ts';
import {
  limitOperatorCall,
  requestWithdrawalCall,
  setOperatorCall,
  withdrawCall,
} from '../../../settlement/call.ts';
import { accountCall, moverCall } from '../../../settlement/lp-account.ts';

export interface Call {
  to: Address;
  data: Hex;
}

/** Amounts in base units; windows in seconds. */
export interface AccountCalls {
  requestWithdrawal(token: Address, amount: bigint): Call;
  /** An `LpAccount` withdraws to itself, whatever `to` is. */
  withdraw(token: Address, to: Address): Call;
  setOperator(operator: Address, allowed: boolean): Call;
  limitOperator(operator: Address, token: Address, most: bigint, windowSeconds: number): Call;
  requestTakeBack(bond: Address, token: Address, amount: bigint): Call;
  /** An `LpAccount` takes the bond back to itself, whatever `to` is. */
  takeBack(bond: Address, token: Address, to: Address): Call;
  setBondTerms(bond: Address, terms: BondTerms): Call;
}

export const plainCalls = (escrow: Address): AccountCalls => ({
  requestWithdrawal: (token, amount) => ({ to: escrow, data: requestWithdrawalCall(token, amount) }),
  withdraw: (token, to) => ({ to: escrow, data: withdrawCall(token, to) }),
  setOperator: (operator, allowed) => ({ to: escrow, data: setOperatorCall(operator, allowed) }),
  limitOperator: (operator, token, most, windowSeconds) => ({
    to: escrow,
    data: limitOperatorCall(operator, token, most, windowSeconds),
  }),
  requestTakeBack: (bond, token, amount) => ({ to: bond, data: requestTakeBackCall(token, amount) }),
  takeBack: (bond, token, to) => ({ to: bond, data: takeBackCall(token, to) }),
  setBondTerms: (bond, terms) => ({ to: bond, data: setBondTermsCall(terms) }),
});

/** Calls that bear the name of the escrow's or the bond's have its arguments too. */
export const lpAccountCalls = (account: Address): AccountCalls => ({
  requestWithdrawal: (token, amount) => ({ to: account, data: moverCall.requestWithdrawal(token, amount) }),
  withdraw: (token) => ({ to: account, data: moverCall.withdraw(token) }),
  setOperator: (operator, allowed) => ({ to: account, data: setOperatorCall(operator, allowed) }),
  limitOperator: (operator, token, most, windowSeconds) => ({
    to: account,
    data: limitOperatorCall(operator, token, most, windowSeconds),
  }),
  requestTakeBack: (_, token, amount) => ({ to: account, data: requestTakeBackCall(token, amount) }),
  takeBack: (_, token) => ({ to: account, data: moverCall.takeBack(token) }),
  setBondTerms: (_, { fillWindowSeconds, wallets }) => ({
    to: account,
    data: accountCall.setBondTerms(fillWindowSeconds, wallets),
  }),
});
