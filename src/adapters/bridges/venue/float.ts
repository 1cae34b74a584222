/** Reads how much of a float may be promised: what it certainly holds, at a pinned block. */

import { max, min } from '../../../domain/amount.ts';
import type { Address } from '../../../domain/hex.ts';
import { outputHash } from '../../../domain/order.ts';
import type { Block, ChainPort } from '../../../ports/chain.ts';
import type { FloatBlock, FloatUse, OwedOutput } from '../../../ports/stores/floats.ts';
import { limitAt } from '../../../settlement/spending-limit.ts';

export interface Float {
  /** The most that promised quotes and unpaid orders together may take, base units. */
  most: bigint;
  /** What is held, whatever the operator may spend: the most that promises, orders and transfers may take. */
  held: bigint;
  /** The block of the reading, and the fills whose payments are already subtracted. */
  asOf: FloatBlock;
  /** The reason why the operator could fill nothing now, whatever is held. */
  issue?: string;
}

/** Base units that no quote, order or transfer needs; negative when they need more than there is. */
export const freeOfFloat = (
  { most, held }: Pick<Float, 'most' | 'held'>,
  { promised, open, moving }: FloatUse,
): bigint => min(most, held - moving) - promised - open;

export interface FloatKeeper {
  account: Address;
  /** Signs and pays for fills; the account itself, or its operator in the escrow. */
  operator: Address;
}

/** Gas and unsigned bytes of one fill, measured with the real contracts, with a margin. */
export const FILL = { gas: 130_000n, unsignedBytes: 900 };
/** Proof and claim of one order, in one transaction. */
const CLAIM = { gas: 150_000n, unsignedBytes: 1_700 };

/** Reads what one fill and one claim cost at the current fees, wei. */
export async function readGasCosts(chain: ChainPort, block: Block): Promise<{ fill: bigint; claim: bigint }> {
  const [{ baseFee, priorityFee }, rollup] = await Promise.all([
    chain.fees(),
    chain.rollupFees(block.number),
  ]);
  const wei = (transaction: typeof FILL) => (baseFee + priorityFee) * transaction.gas + rollup(transaction);
  return { fill: wei(FILL), claim: wei(CLAIM) };
}

/** Fills that the operator must be able to pay for, before any is promised. */
const FILLS_AHEAD = 5n;

/**
 * The balance is the smaller one of the pinned block and of the last final block before it, less the fills in
 * between: a credit counts once no reorganisation can take it back, and a debit counts immediately.
 * Withdrawals count as gone from their request on, and so do deferred deliveries to the account. `owed`: of
 * the account, read after the block was seen. Throws `UpstreamError`.
 */
export async function readFloat(
  chain: ChainPort,
  token: Address,
  block: Block,
  { account, operator, keep, fillWei }: FloatKeeper & { keep: bigint; fillWei: bigint },
  owed: readonly OwedOutput[],
): Promise<Float> {
  const at = block.number;
  const final = max(at - BigInt(chain.chain.depth), 0n);
  const other = operator !== account;
  const [now, before, pending, deferred, limit, acts, gas, paid, paidBefore] = await Promise.all([
    chain.ledgerBalance(account, token, at),
    chain.ledgerBalance(account, token, final),
    chain.pendingWithdrawal(account, token, at),
    chain.ledgerDeferred(account, token, at),
    other ? chain.operatorLimit(account, operator, token, at) : undefined,
    other ? chain.isOperator(account, operator, at) : true,
    chain.nativeBalance(operator, at),
    filledAt(chain, owed, at),
    filledAt(chain, owed, final),
  ]);
  const recent = paid.filter((each) => !paidBefore.includes(each));
  const spent = recent.reduce((sum, { output }) => sum + output.amount, 0n);
  const held = min(now, before - spent) - pending.amount - deferred - keep;
  const spendable = limit === undefined ? held : min(held, limitAt(limit, block.timestamp).left);
  const { slug } = chain.chain;
  return {
    most: max(spendable, 0n),
    held: max(held, 0n),
    asOf: { number: at, requested: pending.amount, paid },
    ...(!acts && { issue: `${operator} is no operator of the float ${account} on ${slug}` }),
    ...(gas < fillWei * FILLS_AHEAD && {
      issue: `${operator} cannot pay for the gas of ${FILLS_AHEAD} fills on ${slug}`,
    }),
  };
}

/** Returns the outputs that are filled as of block `at`. */
async function filledAt(
  chain: ChainPort,
  owed: readonly OwedOutput[],
  at: bigint,
): Promise<readonly OwedOutput[]> {
  const records = await Promise.all(
    owed.map(({ orderId, output }) => chain.fillRecord(orderId, outputHash(output), at)),
  );
  return owed.filter((_, index) => records[index] !== undefined);
}
