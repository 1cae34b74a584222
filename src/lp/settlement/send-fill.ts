/** Delivers the output of an award on its destination chain. */

import type { Address, Hex } from '../../domain/hex.ts';
import { outputHash } from '../../domain/order.ts';
import type { Block, ChainPort } from '../../ports/chain.ts';
import type { TxStatus } from '../../ports/transactor.ts';
import { fillCall } from '../../settlement/call.ts';
import { type AwardRunnerDeps, MOST_TRIES, recordStepSpan } from './award-steps.ts';
import type { OpenAward } from './awards.ts';
import { stepKey } from './step-key.ts';

/** `head`: the newest block of the destination when the award was looked at. */
export async function sendFill(
  deps: AwardRunnerDeps,
  account: Address,
  award: OpenAward,
  dest: ChainPort,
  head: Block,
): Promise<void> {
  const { awards, metrics, log } = deps;
  const { orderId, order, slice } = award;
  if (!award.stored) return;
  // The fill record exists as soon as the fill is mined, before its event arrives.
  if ((await dest.fillRecord(orderId, outputHash(slice.output))) !== undefined)
    return awards.update(orderId, { note: 'filled, its event is on its way' });
  const transactor = deps.transactors.get(dest.chain.id);
  if (transactor === undefined) return awards.update(orderId, { note: 'no sender on the destination' });
  const startMs = deps.clock.nowMs();
  for (let attempt = 0; attempt < MOST_TRIES; attempt += 1) {
    const key = stepKey([orderId], attempt === 0 ? 'fill' : `fill-${attempt}`);
    const sent = await transactor.submit({
      key,
      to: dest.chain.escrow,
      data: fillCall(orderId, slice.output, order.fillDeadline, account),
      notAfter: order.fillDeadline,
    });
    if (
      sent.state === 'mined' &&
      sent.receipt.status === 'reverted' &&
      sent.receipt.blockNumber < head.number
    ) {
      metrics.fills.add({ outcome: 'reverted' });
      log.error({ orderId, key }, 'the chain refused a fill');
      continue;
    }
    const reason = sent.state === 'void' ? sent.reason : undefined;
    recordStepSpan(deps, 'LP sends fill', orderId, startMs, dest.chain.id, reason);
    awards.update(orderId, { note: sent.state === 'void' ? `fill void: ${sent.reason}` : 'fill sent' });
    return deps.tell(orderId, 'fill_sent', newestHash(sent));
  }
  awards.update(orderId, { note: `the chain refused ${MOST_TRIES} fills` });
}

const newestHash = (sent: TxStatus): Hex | null =>
  sent.state === 'mined' ? sent.receipt.txHash : (sent.hashes.at(-1) ?? null);
