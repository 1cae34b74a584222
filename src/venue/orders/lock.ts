/** Chooses how the escrow collects the input: by the lock that the taker sent, or by a standing one. */

import { formatTokens } from '../../domain/amount.ts';
import type { Hex } from '../../domain/hex.ts';
import type { UnixSeconds } from '../../domain/time.ts';
import type { ChainPort } from '../../ports/chain.ts';
import type { Recovery } from '../../ports/signer.ts';
import { invalid } from '../../protocol/errors.ts';
import type { Eip3009Authorization, OrderSubmitRequest, Permit2Lock } from '../../protocol/api/submit.ts';
import { eip3009Digest, type Funding, permit2LockDigest } from '../../settlement/funding.ts';
import type { VerifiedQuote } from '../quoting/sealing.ts';
import { normalSignature } from './signatures.ts';
import type { TakerState } from './taker.ts';

interface LockDeps {
  port: ChainPort;
  recovery: Recovery;
  /** The chain time of the origin. */
  now: UnixSeconds;
}

const PERMIT2_AT = ['body', 'permit2Lock'] as const;
const EIP3009_AT = ['body', 'eip3009Authorization'] as const;

/** Throws `lock_required` or `lock_invalid`. */
export async function fundingFor(
  deps: LockDeps,
  opened: VerifiedQuote,
  taker: TakerState,
  { permit2Lock, eip3009Authorization }: Pick<OrderSubmitRequest, 'permit2Lock' | 'eip3009Authorization'>,
  orderSignature: Hex,
): Promise<Funding> {
  const { choice, funding } = taker;
  if (permit2Lock && eip3009Authorization)
    throw refused(EIP3009_AT, 'Two locks were sent for one input. Send the one that preflight asked for.');
  if (opened.executionMode === 'walletBroadcast') {
    if (permit2Lock || eip3009Authorization)
      throw refused(
        permit2Lock ? PERMIT2_AT : EIP3009_AT,
        'A walletBroadcast order is paid from an allowance; it has no lock.',
      );
    return { mode: 'self' };
  }
  if (eip3009Authorization) return eip3009(deps, opened, taker, eip3009Authorization, orderSignature);
  if (permit2Lock) {
    if (choice.mode === 'resourceLock' || choice.mode === 'permit2Grant')
      throw refused(
        PERMIT2_AT,
        'The input is covered by a standing lock, so preflight asked for no permit. Submit without permit2Lock.',
      );
    return permit2(deps, opened, taker, permit2Lock, orderSignature);
  }
  if (choice.mode === 'resourceLock') return { mode: 'resourceLock', orderSignature };
  const granted =
    funding.permit2Grant.amount >= funding.amount &&
    funding.permit2Grant.expiration >= funding.fillDeadline &&
    funding.permit2TokenAllowance >= funding.amount;
  if (granted) {
    requireBalance(opened, taker, ['body']);
    return { mode: 'permit2Grant', orderSignature };
  }
  throw invalid(
    'lock_required',
    ['body', choice.mode === 'eip3009' ? 'eip3009Authorization' : 'permit2Lock'],
    `Nothing lets the escrow pull the input yet. Run preflight: it asks for ${choice.mode === 'eip3009' ? 'an EIP-3009 authorization' : 'a Permit2 permit'}.`,
  );
}

async function permit2(
  { port, recovery }: LockDeps,
  opened: VerifiedQuote,
  taker: TakerState,
  { signature, deadline }: Permit2Lock,
  orderSignature: Hex,
): Promise<Funding> {
  const { order, origin } = opened;
  if (deadline < order.fillDeadline)
    throw refused(
      [...PERMIT2_AT, 'deadline'],
      `The permit ends before the order may still settle. Sign it with a deadline of at least ${order.fillDeadline}.`,
    );
  const digest = permit2LockDigest(
    { chainId: origin.id, escrow: origin.escrow },
    origin.permit2,
    order,
    BigInt(deadline),
  );
  const normal = normalSignature(signature);
  // Permit2 asks the code at the address first, so an account with delegated code must verify the signature
  // itself.
  const holds = taker.funding.takerHasCode
    ? await port.isValidSignature(order.user, digest, signature)
    : normal !== undefined && recovery.recover(digest, normal) === order.user;
  if (!holds)
    throw refused(
      [...PERMIT2_AT, 'signature'],
      'The permit is not signed by the taker over this order, escrow and deadline. Sign the typedData of preflight as received.',
    );
  if (taker.funding.permit2TokenAllowance < taker.funding.amount)
    throw invalid(
      'lock_required',
      PERMIT2_AT,
      'The token is not approved to Permit2 for this amount. Send the tokenApproval of preflight first.',
    );
  if (await port.permit2NonceUsed(order.user, order.nonce))
    throw invalid(
      'nonce_used',
      PERMIT2_AT,
      'The permit nonce of this order has been used or invalidated in Permit2. Ask for a new quote.',
    );
  requireBalance(opened, taker, PERMIT2_AT);
  return {
    mode: 'permit2Lock',
    orderSignature,
    deadline: BigInt(deadline),
    permitSignature: taker.funding.takerHasCode ? signature : (normal as Hex),
  };
}

async function eip3009(
  { port, recovery, now }: LockDeps,
  opened: VerifiedQuote,
  taker: TakerState,
  authorization: Eip3009Authorization,
  orderSignature: Hex,
): Promise<Funding> {
  const { order, origin, inputToken, inputAmount } = opened;
  if (!inputToken.eip3009)
    throw refused(EIP3009_AT, 'The input token has no EIP-3009. Run preflight for the lock that works.');
  const { signature, validAfter, validBefore, nonce } = authorization;
  if (validAfter >= now)
    throw refused(
      [...EIP3009_AT, 'validAfter'],
      'The authorization is not usable yet. Sign it with a validAfter in the past, such as 0.',
    );
  if (validBefore < order.fillDeadline)
    throw refused(
      [...EIP3009_AT, 'validBefore'],
      `The authorization ends before the order may still settle. Sign it with a validBefore of at least ${order.fillDeadline}.`,
    );
  const token = { chainId: origin.id, address: inputToken.address, ...inputToken.eip3009 };
  const digest = eip3009Digest(token, {
    from: order.user,
    to: origin.escrow,
    value: inputAmount,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
  });
  const normal = normalSignature(signature);
  if (!normal || recovery.recover(digest, normal) !== order.user)
    throw refused(
      [...EIP3009_AT, 'signature'],
      'The authorization is not signed by the taker for this escrow, amount, window and nonce. Sign the typedData of preflight as received.',
    );
  if (await port.authorizationUsed(inputToken.address, order.user, nonce))
    throw refused(
      [...EIP3009_AT, 'nonce'],
      'This authorization nonce has been used or cancelled. Sign with a fresh random one.',
    );
  requireBalance(opened, taker, EIP3009_AT);
  return {
    mode: 'eip3009',
    orderSignature,
    validAfter: BigInt(validAfter),
    validBefore: BigInt(validBefore),
    nonce,
    authSignature: normal,
  };
}

function requireBalance({ inputToken }: VerifiedQuote, { funding }: TakerState, loc: readonly string[]) {
  if (funding.tokenBalance < funding.amount)
    throw refused(
      loc,
      `The taker holds ${formatTokens(funding.tokenBalance, inputToken)} and the order needs ${formatTokens(funding.amount, inputToken)}. Fund the wallet, then submit again.`,
    );
}

const refused = (loc: Parameters<typeof invalid>[1], message: string) =>
  invalid('lock_invalid', loc, message);
