/** Failure messages for takers: what happened to the trade and the money, and what comes next. */

import type { Failure, FailureCode } from '../../../domain/fact.ts';
import type { OrderRecord } from '../../../ports/stores/store.ts';
import type { Revert } from '../../../settlement/revert.ts';

export function explainFailure(
  code: FailureCode,
  { order }: Pick<OrderRecord, 'order'>,
  refusal: Revert | undefined,
): Failure {
  const why = refusal ? ` The chain's reason: ${refusal.text}.` : '';
  const refundable = `The input can be refunded from ${new Date((order.expires + 1) * 1_000).toISOString()} on; the venue does it then, and anybody may.`;
  switch (code) {
    case 'not_opened':
      return {
        code,
        message:
          'The order was not opened in time, or its nonce was used or invalidated. Nothing was taken; ask for a new quote.',
      };
    case 'not_broadcast':
      return {
        code,
        message:
          'The settlement transaction did not appear on chain before the fill deadline. Nothing was taken; ask for a new quote and broadcast it in time.',
      };
    case 'funding_failed':
      return {
        code,
        message: `The input could not be collected before the fill deadline.${why} Nothing was taken; check balance, allowance and lock, then ask for a new quote.`,
      };
    case 'settlement_reverted':
      return {
        code,
        message: `The chain refused the settlement until the fill deadline.${why} Nothing was taken; ask for a new quote.`,
      };
    case 'expired_unfilled':
      return { code, message: `The output was not delivered before the fill deadline. ${refundable}` };
    case 'solver_released':
      return { code, message: 'The solver released the order. The input went back to the taker.' };
  }
}
