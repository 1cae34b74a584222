/**
 * Makes an uninvited delivery into another account's ledger balance: an output of an order that no taker
 * placed.
 */

import { addressToBytes32, type Address } from '../../src/domain/hex.ts';
import { recipientOf, type Settlement } from '../../src/domain/delivery.ts';
import type { MandateOutput } from '../../src/domain/order.ts';
import { fillCall } from '../../src/settlement/call.ts';
import type { Bytes32 } from '../../src/domain/hex.ts';
import type { TestChain } from './devnet.ts';
import { random32 } from './trade.ts';

/** `from` pays, out of its wallet. Answers what names the delivery. */
export async function giveInto(
  chain: TestChain,
  {
    from,
    to,
    token,
    amount,
    settlement,
  }: {
    from: Address;
    to: Address;
    token: Address;
    amount: bigint;
    settlement: Exclude<Settlement, 'wallet'>;
  },
): Promise<{ orderId: Bytes32; output: MandateOutput }> {
  const { escrow, oracle, id } = chain.chain;
  const orderId = random32();
  const output: MandateOutput = {
    oracle: addressToBytes32(oracle),
    settler: addressToBytes32(escrow),
    chainId: BigInt(id),
    token: addressToBytes32(token),
    amount,
    ...recipientOf({ settlement, account: to }, escrow),
    context: '0x',
  };
  await chain.approve(from, token, escrow);
  await chain.send(from, escrow, fillCall(orderId, output, 2 ** 32 - 1, from));
  return { orderId, output };
}
