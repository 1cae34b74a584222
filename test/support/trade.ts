/** Signed orders as the venue accepts them, made without the venue: what settlement tests start from. */

import { randomBytes } from 'node:crypto';
import { encodeContext } from '../../src/domain/context.ts';
import { commitmentDigest } from '../../src/domain/commitment.ts';
import { addressToBytes32, type Address, type Bytes32, type Hex } from '../../src/domain/hex.ts';
import { orderDigest, orderId as orderIdOf, type StandardOrder } from '../../src/domain/order.ts';
import { SAME_CHAIN_PROOF_SECONDS } from '../../src/domain/time.ts';
import type { NewOrder } from '../../src/ports/stores/store.ts';
import {
  eip3009Digest,
  encodeFunding,
  type Funding,
  permit2LockDigest,
} from '../../src/settlement/funding.ts';
import { fillCall } from '../../src/settlement/call.ts';
import type { TestAccount, TestChain } from './devnet.ts';

export interface TradeTerms {
  origin: TestChain;
  dest?: TestChain;
  taker: TestAccount;
  /** The LPs, with one slice each: equal parts of the output. */
  lps: readonly { account: TestAccount; operator?: TestAccount }[];
  lock?: Funding['mode'];
  inputAmount?: bigint;
  /** The WETH input beside the USDC; by `lock: 'resourceLock'` only. */
  wethInput?: bigint;
  outputAmount?: bigint;
  validForSeconds?: number;
  executionMode?: NewOrder['executionMode'];
  receiver?: Address;
  relayFee?: bigint;
  /** Seconds on the origin by now; its head's when absent. */
  now?: number;
}

export const random32 = (): Bytes32 => `0x${randomBytes(32).toString('hex')}`;

/** Makes an order of USDC in, WETH out. */
function makeOrder({
  origin,
  dest = origin,
  taker,
  lps,
  inputAmount = 2_500_000_000n,
  wethInput = 0n,
  outputAmount = 10n ** 18n,
  validForSeconds = 30,
  receiver,
  relayFee = 0n,
  now,
}: TradeTerms): StandardOrder {
  const validUntil = (now ?? origin.port.head()?.timestamp ?? 0) + validForSeconds;
  const fillDeadline = validUntil + origin.chain.landingMarginSeconds;
  const sameChain = origin === dest;
  const portion = Math.floor(10_000 / lps.length);
  return {
    user: taker.address,
    nonce: BigInt(random32()),
    originChainId: BigInt(origin.chain.id),
    fillDeadline,
    expires: fillDeadline + (sameChain ? SAME_CHAIN_PROOF_SECONDS : origin.chain.proofWindowSeconds),
    inputOracle: sameChain ? origin.chain.escrow : origin.chain.oracle,
    inputs: [
      [BigInt(origin.usdc.address), inputAmount],
      ...(wethInput === 0n ? [] : [[BigInt(origin.weth.address), wethInput] as const]),
    ],
    outputs: lps.map(({ account }, index) => ({
      oracle: addressToBytes32(sameChain ? dest.chain.escrow : dest.chain.oracle),
      settler: addressToBytes32(dest.chain.escrow),
      chainId: BigInt(dest.chain.id),
      token: addressToBytes32(dest.weth.address),
      amount: outputAmount / BigInt(lps.length) + BigInt(index),
      recipient: addressToBytes32(receiver ?? taker.address),
      callbackData: '0x',
      context: encodeContext({
        exclusiveFor: account.address,
        startTime: fillDeadline + 1,
        portionBps: index === lps.length - 1 ? 10_000 - portion * (lps.length - 1) : portion,
        feeBps: 2,
        relayFee,
      }),
    })),
  };
}

export function fund(
  origin: TestChain,
  taker: TestAccount,
  order: StandardOrder,
  mode: Funding['mode'],
): { funding: Hex; signature: Hex } {
  const escrow = { chainId: origin.chain.id, escrow: origin.chain.escrow };
  const orderSignature = taker.sign(orderDigest(escrow, order));
  const [, amount] = order.inputs[0] as readonly [bigint, bigint];
  switch (mode) {
    case 'eip3009': {
      const window = { validAfter: 0n, validBefore: BigInt(order.fillDeadline + 1), nonce: random32() };
      const digest = eip3009Digest(
        { chainId: origin.chain.id, address: origin.usdc.address, name: 'USD Coin', version: '2' },
        { from: taker.address, to: origin.chain.escrow, value: amount, ...window },
      );
      return {
        signature: orderSignature,
        funding: encodeFunding({ mode, orderSignature, ...window, authSignature: taker.sign(digest) }),
      };
    }
    case 'permit2Lock': {
      const deadline = BigInt(order.fillDeadline);
      const permitSignature = taker.sign(permit2LockDigest(escrow, origin.chain.permit2, order, deadline));
      return {
        signature: orderSignature,
        funding: encodeFunding({ mode, orderSignature, deadline, permitSignature }),
      };
    }
    case 'self':
      return { signature: orderSignature, funding: encodeFunding({ mode }) };
    default:
      return { signature: orderSignature, funding: encodeFunding({ mode, orderSignature }) };
  }
}

/** Makes a trade with all its signatures. */
export function makeTrade(terms: TradeTerms): NewOrder {
  const { origin, taker, lps, lock = 'eip3009', executionMode = 'apiSubmit' } = terms;
  const order = makeOrder(terms);
  const escrow = { chainId: origin.chain.id, escrow: origin.chain.escrow };
  const orderId = orderIdOf(escrow, order);
  const quoteId = random32();
  const { funding, signature } = fund(origin, taker, order, lock);
  return {
    orderId,
    quoteId,
    workspaceId: 'test',
    keyId: 'test',
    memberId: null,
    namespace: 'rfq',
    mode: 'test',
    executionMode,
    originChainId: origin.chain.id,
    destChainIds: [...new Set(order.outputs.map(({ chainId }) => Number(chainId)))],
    order,
    validUntil: order.fillDeadline - origin.chain.landingMarginSeconds,
    commitments: lps.map(({ account, operator = account }) => ({
      lp: account.address,
      deadline: order.fillDeadline,
      signature: operator.sign(
        commitmentDigest(escrow, { orderId, quoteId, lp: account.address, deadline: order.fillDeadline }),
      ),
    })),
    route: null,
    parentOrderId: null,
    solverIds: lps.map((_, index) => `lp-${index}`),
    signature,
    signScheme: 'EIP712',
    funding,
    candidate: '{}',
    referenceId: null,
    amountUsd: null,
    screening: null,
    travelRule: null,
    createdAtMs: Date.now(),
  };
}

/** Empties the ledger balance of USDC by the fastest way there is: a fill of nobody's order, to itself. */
export async function drainUsdc({ chain, port, usdc, send }: TestChain, owner: Address): Promise<void> {
  const output = {
    oracle: addressToBytes32(chain.oracle),
    settler: addressToBytes32(chain.escrow),
    chainId: BigInt(chain.id),
    token: addressToBytes32(usdc.address),
    amount: await port.ledgerBalance(owner, usdc.address),
    recipient: addressToBytes32(owner),
    callbackData: '0x',
    context: '0x',
  } as const;
  await send(owner, chain.escrow, fillCall(random32(), output, 0xffff_ffff, owner));
}
