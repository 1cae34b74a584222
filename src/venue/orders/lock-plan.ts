/** Plans how the taker lets the escrow take the input, by the lock of its choice or ours. */

import { MAX_UINT256 } from '../../domain/amount.ts';
import type { ChainPort } from '../../ports/chain.ts';
import { invalid } from '../../protocol/errors.ts';
import type { Action, FundingLock, PreflightResponse } from '../../protocol/api/preflight.ts';
import { depositCall, permit2GrantCall } from '../../settlement/call.ts';
import { eip3009TypedData, type LockChoice, permit2LockTypedData } from '../../settlement/funding.ts';
import { chainNow } from '../market/chain-now.ts';
import type { VerifiedQuote } from '../quoting/sealing.ts';
import type { TakerState } from './taker.ts';
import { approvals, GAS, type PreflightDeps, signature, transaction } from './preflight-actions.ts';

/** Seconds by which locks outlive the last second of settlement, because clocks differ. */
const LOCK_MARGIN_SECONDS = 60;
/** `lockDetails.signature` before the taker has signed, and with a standing grant, which needs none. */
const UNSIGNED = '0x';
const GRANT_TRADES = 10n;

const GRANT_SECONDS = 30 * 24 * 3600;
const MAX_UINT160 = (1n << 160n) - 1n;

export function choiceOf({ funding, choice }: TakerState, asked: FundingLock | undefined): LockChoice {
  if (asked === undefined || asked === choice.lock) return choice;
  switch (asked) {
    case 'ResourceLock':
      return { lock: asked, mode: 'resourceLock', needsTokenApproval: false };
    case 'EIP-3009':
      if (!funding.hasEip3009 || funding.takerHasCode)
        throw invalid(
          'lock_invalid',
          ['body', 'fundingLock'],
          'EIP-3009 needs a token that has it and a taker without code. Leave fundingLock out to let preflight choose.',
        );
      return { lock: asked, mode: 'eip3009', needsTokenApproval: false };
    case 'Permit2': {
      const granted =
        funding.permit2Grant.amount >= funding.amount &&
        funding.permit2Grant.expiration >= funding.fillDeadline;
      return {
        lock: asked,
        mode: granted ? 'permit2Grant' : 'permit2Lock',
        needsTokenApproval: funding.permit2TokenAllowance < funding.amount,
      };
    }
  }
}

export async function lockPlan(
  deps: PreflightDeps,
  port: ChainPort,
  opened: VerifiedQuote,
  taker: TakerState,
  choice: LockChoice,
  submitTo: string,
): Promise<{
  lock: FundingLock;
  lockDetails: NonNullable<PreflightResponse['lockDetails']>;
  actions: Action[];
}> {
  const { order, origin, inputToken, inputAmount } = opened;
  const until = order.fillDeadline + LOCK_MARGIN_SECONDS;
  const escrow = { chainId: origin.id, escrow: origin.escrow };
  const approvePermit2 = async () =>
    choice.needsTokenApproval ? approvals(deps, port, opened, 'Permit2', MAX_UINT256) : [];
  switch (choice.mode) {
    case 'resourceLock': {
      const missing = inputAmount - taker.funding.ledgerAvailable;
      const actions: Action[] = [];
      if (missing > 0n) {
        if (taker.escrowAllowance < missing)
          actions.push(...(await approvals(deps, port, opened, 'escrow', missing)));
        actions.push(
          await transaction(deps, port, opened, {
            purpose: 'resourceLockDeposit',
            to: origin.escrow,
            data: depositCall(inputToken.address, missing),
            gas: GAS.deposit,
            after: ['rerunPreflight'],
            details: { token: inputToken.address, amount: missing.toString() },
          }),
        );
      }
      return {
        lock: 'ResourceLock',
        lockDetails: {
          token: inputToken.address,
          account: order.user,
          available: taker.funding.ledgerAvailable.toString(),
          withdrawableAt: taker.withdrawableAt,
        },
        actions,
      };
    }
    case 'eip3009': {
      const nonce = deps.random.bytes32();
      const token = {
        chainId: origin.id,
        address: inputToken.address,
        ...(inputToken.eip3009 as { name: string; version: string }),
      };
      const { typedData } = eip3009TypedData(token, {
        from: order.user,
        to: origin.escrow,
        value: inputAmount,
        validAfter: 0n,
        validBefore: BigInt(until),
        nonce,
      });
      const terms = { validAfter: 0, validBefore: until, nonce };
      return {
        lock: 'EIP-3009',
        lockDetails: { signature: UNSIGNED, ...terms },
        actions: [
          signature(opened, 'eip3009Authorization', typedData, submitTo, {
            resultIn: 'eip3009Authorization',
            ...terms,
          }),
        ],
      };
    }
    case 'permit2Grant':
      return {
        lock: 'Permit2',
        lockDetails: { signature: UNSIGNED, deadline: taker.funding.permit2Grant.expiration },
        actions: await approvePermit2(),
      };
    case 'permit2Lock': {
      const { typedData } = permit2LockTypedData(escrow, origin.permit2, order, BigInt(until));
      const amount = inputAmount * GRANT_TRADES < MAX_UINT160 ? inputAmount * GRANT_TRADES : MAX_UINT160;
      const expiration = chainNow(deps.clock, port) + GRANT_SECONDS;
      const grant = await transaction(deps, port, opened, {
        purpose: 'permit2Grant',
        to: origin.permit2,
        data: permit2GrantCall(inputToken.address, origin.escrow, amount, expiration),
        gas: GAS.permit2Grant,
        after: ['rerunPreflight'],
        details: { alternativeTo: 'permit2Lock', amount: amount.toString(), expiration },
      });
      const lockSignature = signature(opened, 'permit2Lock', typedData, submitTo, {
        resultIn: 'permit2Lock',
        deadline: until,
      });
      return {
        lock: 'Permit2',
        lockDetails: { signature: UNSIGNED, deadline: until },
        actions: [...(await approvePermit2()), grant, lockSignature],
      };
    }
  }
}
