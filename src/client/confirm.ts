/** Confirms on the chain that the escrow paid the order out and every remote output was filled. */

import { outputHash } from '../domain/order.ts';
import { DistrustError } from './errors.ts';
import type { Terms } from './terms.ts';
import { readEscrow, type Trust } from './trust.ts';

/** The state Claimed of the escrow's None, Deposited, Claimed, Refunded. */
const CLAIMED = 2;
const NO_RECORD = /^0x0*$/;
/** Two endpoints are rarely at the same block. */
const MOST_READS = 10;
const POLL_MS = 400;

export async function confirmSettled(
  trust: Trust,
  { domain, destChainId, order, orderId }: Terms,
): Promise<void> {
  for (let reads = 1; ; reads++) {
    if (await settled()) return;
    if (reads === MOST_READS)
      throw new DistrustError(
        'not_settled',
        `The venue says that ${orderId} is settled; the escrow on chain ${domain.chainId} does not show it.`,
        { orderId },
      );
    await new Promise((done) => setTimeout(done, POLL_MS));
  }

  async function settled(): Promise<boolean> {
    const origin = trust.chain(domain.chainId);
    const status = await readEscrow(origin.rpc, domain.escrow, 'orderStatus', [orderId]);
    if (status !== CLAIMED) return false;
    // On one chain, payout and delivery are one transaction.
    if (destChainId === domain.chainId) return true;
    const { rpc } = trust.chain(destChainId);
    const records = await Promise.all(
      order.outputs.map((output) =>
        readEscrow(rpc, `0x${output.settler.slice(26)}`, 'fillRecord', [orderId, outputHash(output)]),
      ),
    );
    return records.every((record) => !NO_RECORD.test(record));
  }
}
