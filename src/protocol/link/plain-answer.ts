/**
 * The quick way to read a quote: one arrives from every solver of every request, and what an LP of ours sends
 * is spelled canonically. Like `plainRfq`, it only ever says yes to what the schema would return unchanged.
 */

import type { OrderMessage } from '../../domain/order.ts';
import { MAX_UINT32 } from '../../domain/time.ts';
import type { LinkQuote } from './link.ts';
import { fieldsOf, isPlainAddress, isPlainHex, isPlainWord, isText, isUnits, isWhole } from './plain.ts';

/** undefined: not certain, ask the schema. */
export function plainAnswer(json: object): LinkQuote | undefined {
  const quote = json as LinkQuote;
  const { commitment } = quote;
  const sure =
    quote.type === 'quote' &&
    (quote.more === undefined
      ? fieldsOf(quote) === 9
      : fieldsOf(quote) === 10 && typeof quote.more === 'boolean') &&
    isText(quote.rfqId, 64) &&
    isPlainWord(quote.quoteId) &&
    isPlainOrder(quote.order) &&
    isWhole(quote.validUntil, 0, MAX_UINT32) &&
    (quote.eta === null || isWhole(quote.eta, 0)) &&
    isWhole(quote.lpSpreadBps) &&
    isUnits(quote.amountBeforeFees) &&
    typeof commitment === 'object' &&
    commitment !== null &&
    fieldsOf(commitment) === 3 &&
    isPlainAddress(commitment.lp) &&
    isWhole(commitment.deadline, 0, MAX_UINT32) &&
    isPlainHex(commitment.signature);
  return sure ? quote : undefined;
}

/** One input and one output, as every whole quote has. */
function isPlainOrder(order: OrderMessage): boolean {
  return (
    typeof order === 'object' &&
    order !== null &&
    fieldsOf(order) === 8 &&
    isPlainAddress(order.user) &&
    isUnits(order.nonce) &&
    isUnits(order.originChainId) &&
    isWhole(order.expires, 0, MAX_UINT32) &&
    isWhole(order.fillDeadline, 0, MAX_UINT32) &&
    isPlainAddress(order.inputOracle) &&
    Array.isArray(order.inputs) &&
    order.inputs.length === 1 &&
    isPlainInput(order.inputs[0]) &&
    Array.isArray(order.outputs) &&
    order.outputs.length === 1 &&
    isPlainOutput(order.outputs[0])
  );
}

const isPlainInput = (row: unknown): boolean =>
  Array.isArray(row) && row.length === 2 && isUnits(row[0]) && isUnits(row[1]);

function isPlainOutput(output: OrderMessage['outputs'][number] | null | undefined): boolean {
  return (
    typeof output === 'object' &&
    output !== null &&
    fieldsOf(output) === 8 &&
    isPlainWord(output.oracle) &&
    isPlainWord(output.settler) &&
    isUnits(output.chainId) &&
    isPlainWord(output.token) &&
    isUnits(output.amount) &&
    isPlainWord(output.recipient) &&
    isPlainHex(output.callbackData) &&
    isPlainHex(output.context)
  );
}
