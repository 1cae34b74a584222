/** The taker's balances, allowances and nonce in one batch, and the taker's signature. */

import { max } from '../../domain/amount.ts';
import type { Bytes32, Hex } from '../../domain/hex.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Recovery } from '../../ports/signer.ts';
import { invalid } from '../../protocol/errors.ts';
import { chooseLock, type FundingState, type LockChoice } from '../../settlement/funding.ts';
import type { VerifiedQuote } from '../quoting/sealing.ts';
import { isWrapped, normalSignature } from './signatures.ts';

export interface TakerState {
  funding: FundingState;
  choice: LockChoice;
  nonceUsed: boolean;
  escrowAllowance: bigint;
  /** The time in Unix seconds; null when no withdrawal is pending. */
  withdrawableAt: number | null;
}

/** Reads the taker at the latest block of the node that answers, or at block `at`. */
export async function readTaker(
  port: ChainPort,
  { order, inputToken, inputAmount }: VerifiedQuote,
  at?: bigint,
): Promise<TakerState> {
  const { escrow, permit2 } = port.chain;
  const [user, token] = [order.user, inputToken.address];
  const [
    ledger,
    pending,
    deferred,
    tokenBalance,
    hasCode,
    permit2TokenAllowance,
    grant,
    escrowAllowance,
    nonceUsed,
  ] = await Promise.all([
    port.ledgerBalance(user, token, at),
    port.pendingWithdrawal(user, token, at),
    port.ledgerDeferred(user, token, at),
    port.tokenBalance(user, token, at),
    port.hasCode(user, at),
    port.allowance(user, token, permit2, at),
    port.permit2Allowance(user, token, escrow, at),
    port.allowance(user, token, escrow, at),
    port.isNonceUsed(user, order.nonce, at),
  ]);
  const funding: FundingState = {
    amount: inputAmount,
    ledgerAvailable: max(ledger - pending.amount - deferred, 0n),
    tokenBalance,
    hasEip3009: inputToken.eip3009 !== null,
    takerHasCode: hasCode,
    permit2TokenAllowance,
    permit2Grant: grant,
    fillDeadline: order.fillDeadline,
  };
  return {
    funding,
    choice: chooseLock(funding),
    nonceUsed,
    escrowAllowance,
    withdrawableAt: pending.amount > 0n ? pending.availableAt : null,
  };
}

/** Returns the signature in its stored form. Throws 422 unless it binds the order's user. */
export async function verifyTakerSignature(
  { port, recovery }: { port: ChainPort; recovery: Recovery },
  user: Hex,
  digest: Bytes32,
  { signature, scheme, loc }: { signature: Hex; scheme: 'EIP712' | 'EIP1271'; loc: readonly string[] },
): Promise<Hex> {
  if (isWrapped(signature))
    throw invalid(
      'wallet_not_deployed',
      loc,
      'This is an ERC-6492 signature of a wallet that is not deployed. Deploy the wallet, then sign with it.',
    );
  if (scheme === 'EIP712') {
    const normal = normalSignature(signature);
    if (!normal || recovery.recover(digest, normal) !== user)
      throw invalid(
        'invalid_signature',
        loc,
        `The signature is not ${user}'s over exactly this payload (65 bytes or compact, low s). Sign the payload as it was received.`,
      );
    return normal;
  }
  if (!(await port.hasCode(user)))
    throw invalid(
      'invalid_signature',
      loc,
      'No contract is deployed at the taker address, so EIP1271 cannot verify it. Deploy the wallet or sign with EIP712.',
    );
  if (!(await port.isValidSignature(user, digest, signature)))
    throw invalid(
      'invalid_signature',
      loc,
      'The wallet contract does not accept this signature over this payload.',
    );
  return signature;
}

/**
 * Returns the refusal for a quote whose nonce is used. A taker whose own transaction used it must not trade
 * again.
 */
export async function nonceUsed(port: ChainPort, { orderId }: VerifiedQuote): Promise<Error> {
  const isOnChain = (await port.orderStatus(orderId)) !== 'none';
  return invalid(
    'nonce_used',
    ['body', 'quoteResponse', 'order'],
    isOnChain
      ? `This order is on chain already, by a transaction that was sent before the submission: the trade was made as signed. Do not repeat it. It is not in the venue's history: order ${orderId} on the escrow shows it. Next time submit first, then send \`settlementBroadcast\`.`
      : 'The order nonce has been used or cancelled on chain. Ask for a new quote.',
  );
}
