/** Orders from the LP's side: builds the order of a quote, and finds our slice in any order. */

import { decodeContext, encodeContext, FULL_PORTION_BPS, type OutputContext } from '../../domain/context.ts';
import type { Chain } from '../../domain/chain.ts';
import { addressToBytes32, bytes32ToAddress, type Address } from '../../domain/hex.ts';
import { type MandateOutput, nonceGroupOf, type StandardOrder } from '../../domain/order.ts';
import type { OrderTimes } from '../../domain/time.ts';
import type { HoldRequest, Money } from '../../inventory/event.ts';
import { recipientFor, type Rfq } from '../../protocol/link/link.ts';
import type { QuoteRoute } from './route.ts';

export function quoteOrder(
  rfq: Rfq,
  route: QuoteRoute,
  times: OrderTimes,
  amounts: { input: bigint; output: bigint; relayFee: bigint },
): StandardOrder {
  const { recipient, callbackData } = recipientFor(rfq);
  const context = encodeContext({
    exclusiveFor: route.account,
    startTime: times.fillDeadline + 1,
    portionBps: FULL_PORTION_BPS,
    feeBps: rfq.platformFeeBps,
    relayFee: amounts.relayFee,
  });
  return {
    user: rfq.taker,
    nonce: BigInt(rfq.skeleton.nonce),
    originChainId: route.originChainId,
    expires: times.expires,
    fillDeadline: times.fillDeadline,
    inputOracle: route.inputOracle,
    inputs: [[route.inputWord, amounts.input]],
    outputs: [
      {
        oracle: route.oracleWord,
        settler: route.settlerWord,
        chainId: route.destChainId,
        token: route.outputWord,
        amount: amounts.output,
        recipient,
        callbackData,
        context,
      },
    ],
  };
}

export interface OwnSlice {
  index: number;
  output: MandateOutput;
  context: OutputContext;
  originChainId: number;
  destChainId: number;
  pays: Money;
  /**
   * The amount that the origin's escrow credits us when it releases the input, divided exactly as the
   * contract does.
   */
  earns: Money;
  /** Our share of the input before fees. */
  portion: bigint;
}

/**
 * The one output of this order that only we may fill. undefined when there is none or more than one, or when
 * the order cannot come from our quotes (several inputs, other contexts, words that are not addresses).
 */
export function ownSlice(
  order: StandardOrder,
  account: Address,
  chains: ReadonlyMap<number, Pick<Chain, 'escrow'>>,
): OwnSlice | undefined {
  const contexts = order.outputs.map(({ context }) => decodeContext(context));
  const [input] = order.inputs;
  const mine = contexts.flatMap((context, index) => (context?.exclusiveFor === account ? [index] : []));
  const index = mine[0];
  if (input === undefined || order.inputs.length !== 1 || index === undefined || mine.length !== 1)
    return undefined;
  const output = order.outputs[index];
  const context = contexts[index];
  if (output === undefined || context === undefined || contexts.includes(undefined)) return undefined;
  if (
    order.originChainId > BigInt(Number.MAX_SAFE_INTEGER) ||
    output.chainId > BigInt(Number.MAX_SAFE_INTEGER) ||
    input[0] >> 160n !== 0n
  )
    return undefined;
  const originChainId = Number(order.originChainId);
  const destChainId = Number(output.chainId);
  const dest = chains.get(destChainId);
  if (
    dest === undefined ||
    output.settler !== addressToBytes32(dest.escrow) ||
    !output.token.startsWith(CLEAN)
  )
    return undefined;
  const portion = portionOf(input[1], contexts as OutputContext[], index);
  const earned = portion - (portion * BigInt(context.feeBps)) / BPS - context.relayFee;
  if (earned < 0n) return undefined;
  return {
    index,
    output,
    context,
    originChainId,
    destChainId,
    portion,
    pays: { chainId: destChainId, token: bytes32ToAddress(output.token), amount: output.amount },
    earns: { chainId: originChainId, token: `0x${input[0].toString(16).padStart(40, '0')}`, amount: earned },
  };
}

export function holdOf(
  slice: OwnSlice,
  order: StandardOrder,
  orderId: string,
  about: Pick<HoldRequest, 'pair' | 'side' | 'notional' | 'gapLoss'>,
): HoldRequest {
  return {
    orderId,
    ...slice.pays,
    input: slice.earns,
    group: nonceGroupOf(order.originChainId, order.user, order.nonce),
    lapsesAt: order.fillDeadline,
    taker: order.user,
    ...about,
  };
}

/** Like the contract: each slice is rounded down and the last one gets the rest. */
function portionOf(amount: bigint, contexts: readonly OutputContext[], index: number): bigint {
  const share = (at: number) => (amount * BigInt(contexts[at]?.portionBps ?? 0)) / BPS;
  if (index < contexts.length - 1) return share(index);
  return contexts.slice(0, -1).reduce((left, _, at) => left - share(at), amount);
}

const BPS = 10_000n;
const CLEAN = '0x000000000000000000000000';
