/** Orders: those that must be refused, those that must be delivered, and those that are given up. */

import { setTimeout as sleep } from 'node:timers/promises';
import { addressToBytes32, type Bytes32, type Hex } from '../../../domain/hex.ts';
import { type MandateOutput, orderToMessage, outputHash, type StandardOrder } from '../../../domain/order.ts';
import {
  type PartnerOrderState,
  type ReconciliationLine,
  zReconciliationLine,
} from '../../../protocol/partner/messages.ts';
import { openForCall } from '../../../settlement/call.ts';
import { rpc } from '../../demo/chains/anvil.ts';
import { becomesTrue } from '../waiting.ts';
import { jsonOf, newId, seconds } from './asking.ts';
import { reservedQuote, type ReservedQuote, orderIdOn, type PartnerContext } from './context.ts';
import { said } from './messages.ts';
import type { PartnerRule } from './rules.ts';

/** How long the check watches a partner that must not fill. */
const TOO_EARLY_MS = 2_500;
const STRANGER = `0x${'5e'.repeat(20)}` as const;

const outputOf = (order: StandardOrder): MandateOutput => {
  const [output] = order.outputs;
  if (!output) throw new Error('The order has no output.');
  return output;
};
const withOutput = (order: StandardOrder, change: Partial<MandateOutput>): StandardOrder => ({
  ...order,
  outputs: [{ ...outputOf(order), ...change }],
});

const accept = (
  context: PartnerContext,
  order: StandardOrder,
  orderId: Bytes32 = orderIdOn(context, order),
) =>
  context.asking.reply('accept', {
    orderId,
    originChainId: context.origin.chain.id,
    order: orderToMessage(order),
  });
const stateIn = (body: string | undefined): Partial<PartnerOrderState> =>
  (jsonOf(body ?? '') ?? {}) as Partial<PartnerOrderState>;

const isFilled = async ({ dest }: PartnerContext, orderId: Bytes32, order: StandardOrder): Promise<boolean> =>
  (await dest.views.fillRecord(orderId, outputHash(outputOf(order)))) !== undefined;

/** Orders that are not what was quoted. None may be accepted. */
export async function checkRefusals(context: PartnerContext, amountOut: bigint): Promise<void> {
  const { findings } = context;
  const firm = await reservedQuote(context, amountOut);
  const rules = ['order-id', 'source', 'match', 'reservation'] as const;
  if (!firm) return rules.forEach((rule) => findings.skip(rule, 'there is no firm quote'));
  const { order } = firm;
  const [[token, amount]] = order.inputs as [readonly [bigint, bigint]];
  const context57 = outputOf(order).context;
  const bad: [PartnerRule, string, StandardOrder, Bytes32?][] = [
    ['order-id', 'an order under the id of another', order, `0x${'7'.repeat(64)}`],
    [
      'source',
      "an output oracle that is not its destination's",
      withOutput(order, { oracle: addressToBytes32(STRANGER) }),
    ],
    ['source', "an input oracle that is not its origin's", { ...order, inputOracle: STRANGER }],
    ['source', 'an escrow of a stranger', withOutput(order, { settler: addressToBytes32(STRANGER) })],
    ['match', 'an input that is too small', { ...order, inputs: [[token, amount - amount / 10n]] }],
    ['match', 'an output that is too large', withOutput(order, { amount: outputOf(order).amount + 1n })],
    [
      'match',
      'a later deadline',
      { ...order, fillDeadline: order.fillDeadline + 1, expires: order.expires + 1 },
    ],
    [
      'match',
      'an order for another account',
      withOutput(order, {
        context: `${context57.slice(0, 28)}${STRANGER.slice(2)}${context57.slice(68)}` as Hex,
      }),
    ],
    ['match', 'a fee that takes half of it', withOutput(order, { context: withFee(context57, 5_000) })],
    ['reservation', 'a nonce that was never reserved', { ...order, nonce: order.nonce + 1n }],
  ];
  for (const [rule, what, changed, orderId] of bad) {
    const reply = await accept(context, changed, orderId);
    const { status } = stateIn(reply?.body);
    if (reply?.status === 200 && status !== 'refused')
      findings.fail(rule, `${what} was ${status ?? 'answered'}`);
    else if (reply?.status === 200) findings.pass(rule, `${what} was refused`);
    else findings.fail(rule, `${what} got ${said(reply)} in place of the state refused`);
  }
}

const withFee = (context: Hex, bps: number): Hex =>
  `${context.slice(0, 80)}${bps.toString(16).padStart(4, '0')}${context.slice(84)}` as Hex;

async function openOrder(
  { world: { taker }, origin }: PartnerContext,
  order: StandardOrder,
): Promise<boolean> {
  const { funding } = taker.sign(order);
  return (await taker.send(origin.chain.id, openForCall(order, funding))).succeeded;
}

interface Delivered extends ReservedQuote {
  orderId: Bytes32;
  fillTx: Bytes32;
}

/** Asks for a delivery before the input is in escrow, then puts it there and asks again. */
export async function checkEscrowedFill(
  context: PartnerContext,
  amountOut: bigint,
): Promise<Delivered | undefined> {
  const { findings, asking, fillMs } = context;
  const skip = (why: string) =>
    (['accept-twice', 'deposit', 'firm', 'status', 'delivered'] as const).forEach((rule) =>
      findings.skip(rule, why),
    );
  const firm = await reservedQuote(context, amountOut);
  if (!firm) return void skip('there is no firm quote');
  const { order } = firm;
  const orderId = orderIdOn(context, order);
  const first = stateIn((await accept(context, order))?.body);
  const second = stateIn((await accept(context, order))?.body);
  if (first.status !== 'accepted') {
    findings.fail('firm', `a reserved order was ${first.status ?? 'not answered'}: ${first.detail ?? ''}`);
    return void skip('the order was not accepted');
  }
  if (second.status === first.status) findings.pass('accept-twice', 'accepted twice, one state');
  else findings.fail('accept-twice', `accepted, then ${second.status ?? 'an error'}`);

  await asking.reply('deliver', { orderId });
  await sleep(TOO_EARLY_MS);
  if (await isFilled(context, orderId, order)) {
    findings.fail('deposit', 'the output was delivered before the input was in escrow');
  } else findings.pass('deposit', 'nothing was delivered while the input was not in escrow');
  if (!(await openOrder(context, order))) return void skip('the taker could not open the order');

  const filled = await becomesTrue(fillMs, async () => {
    await asking.reply('deliver', { orderId });
    await sleep(500);
    return isFilled(context, orderId, order);
  });
  if (!filled) {
    findings.fail('firm', 'a reserved order whose input is in escrow was not delivered');
    return void skip('nothing was delivered');
  }
  findings.pass('firm', 'a reserved order was delivered once its input was in escrow');
  return judgeState(context, { ...firm, orderId });
}

async function judgeState(
  { findings, asking, fillMs, dest }: PartnerContext,
  delivered: Omit<Delivered, 'fillTx'>,
): Promise<Delivered | undefined> {
  const { orderId } = delivered;
  let state: Partial<PartnerOrderState> = {};
  await becomesTrue(fillMs, async () => {
    state = stateIn((await asking.reply('status', { orderId }))?.body);
    return state.status === 'delivered';
  });
  const fillTx = state.fillTx ?? null;
  const receipt =
    fillTx && ((await rpc(dest.rpcUrl, 'eth_getTransactionReceipt', [fillTx])) as { status: Hex } | null);
  if (state.status !== 'delivered' || receipt?.status !== '0x1') {
    findings.fail(
      'status',
      `after the fill the state is ${state.status ?? 'none'} with fillTx ${fillTx ?? 'null'}`,
    );
    findings.skip('delivered', 'the order is never shown as delivered');
    return undefined;
  }
  findings.pass('status', 'the state names the transaction of the fill');
  const after = stateIn((await asking.reply('cancel', { orderId }))?.body);
  if (after.status === 'delivered') findings.pass('delivered', 'cancel left a delivered order as it is');
  else findings.fail('delivered', `after cancel a delivered order is ${after.status ?? 'not answered'}`);
  return { ...delivered, fillTx: fillTx as Bytes32 };
}

/** An order whose input is in escrow, and that the venue gives up. */
export async function checkCancel(context: PartnerContext, amountOut: bigint): Promise<void> {
  const { findings, asking, origin, fillMs } = context;
  const skip = (why: string) =>
    (['given-up', 'release'] as const).forEach((rule) => findings.skip(rule, why));
  const firm = await reservedQuote(context, amountOut);
  if (!firm) return skip('there is no firm quote');
  const orderId = orderIdOn(context, firm.order);
  if (stateIn((await accept(context, firm.order))?.body).status !== 'accepted')
    return skip('the order was not accepted');
  if (!(await openOrder(context, firm.order))) return skip('the taker could not open the order');
  const { status } = stateIn((await asking.reply('cancel', { orderId }))?.body);
  const isRefunded = () => origin.views.orderStatus(orderId).then((each) => each === 'refunded');
  if (await becomesTrue(fillMs, isRefunded))
    findings.pass('release', 'the input of a cancelled order went back at once');
  else findings.fail('release', 'the order was cancelled and its input stayed in escrow');
  await asking.reply('deliver', { orderId });
  await sleep(TOO_EARLY_MS);
  if (status !== 'cancelled') findings.fail('given-up', `after cancel the state is ${status ?? 'none'}`);
  else if (await isFilled(context, orderId, firm.order))
    findings.fail('given-up', 'a cancelled order was delivered');
  else findings.pass('given-up', 'a cancelled order was not delivered');
}

export async function checkUnknown({ asking, findings }: PartnerContext): Promise<void> {
  const reply = await asking.reply('status', { orderId: `0x${newId()}${newId()}` });
  if (reply?.code === 'unknown') findings.pass('unknown', 'an order that nobody has seen: unknown');
  else findings.fail('unknown', `the status of an order that nobody has seen got ${said(reply)}`);
}

export async function checkReconciliation(
  { asking, findings, pair }: PartnerContext,
  delivered: Delivered | undefined,
): Promise<void> {
  if (!delivered) return findings.skip('reconciliation', 'nothing was delivered');
  const { orderId, quote, fillTx } = delivered;
  const days = [
    ...new Set([seconds() - 60, seconds()].map((at) => new Date(at * 1_000).toISOString().slice(0, 10))),
  ];
  const lines: ReconciliationLine[] = [];
  for (const day of days) {
    const reply = await asking.reply('reconciliation', { day });
    if (reply?.status !== 200)
      return findings.fail('reconciliation', `the file of ${day} got ${said(reply)}`);
    for (const line of reply.body.split('\n').filter((each) => each !== '')) {
      const read = zReconciliationLine.safeParse(jsonOf(line));
      if (!read.success) return findings.fail('reconciliation', `a line that is none: ${line.slice(0, 200)}`);
      lines.push(read.data);
    }
  }
  const found = lines.filter((line) => line.orderId === orderId);
  const [line] = found;
  const holds =
    found.length === 1 &&
    line?.amountIn === quote.amountIn &&
    line.amountOut === quote.amountOut &&
    line.input === pair.input &&
    line.output === pair.output &&
    line.fillTx === fillTx;
  if (holds) findings.pass('reconciliation', 'the file has the delivered order, with its amounts');
  else
    findings.fail(
      'reconciliation',
      line
        ? `the line of the order is not what happened: ${JSON.stringify(line)}`
        : 'the file lacks a delivered order',
    );
}

export async function checkPayouts(
  { asking, findings, terms, world: { taker } }: PartnerContext,
  amount: bigint,
): Promise<void> {
  const [payout] = terms.payouts;
  if (!payout) return findings.skip('payouts', 'the partner offers no payouts');
  const wanted = {
    asset: payout.asset,
    currency: payout.currency,
    amount: amount.toString(),
    from: taker.address,
  };
  const offer = await asking.ask('payout-offer', wanted);
  if (!offer || 'declined' in offer)
    return findings.fail('payouts', `there is no offer for a payout that the terms name`);
  const said = { asset: offer.asset, currency: offer.currency, amount: offer.amount, from: offer.from };
  if (JSON.stringify(said) !== JSON.stringify(wanted))
    return findings.fail('payouts', 'the offer names another payout than was asked for');
  const state = await asking.ask('payout-status', { offerId: offer.offerId });
  const isOfOffer = state?.offerId === offer.offerId && state.asset === offer.asset;
  if (isOfOffer && state.status === 'waiting' && offer.validUntil <= offer.arrivesAt)
    findings.pass('payouts', 'an offer, and its state before the token comes');
  else findings.fail('payouts', 'the state of a new offer is not that it waits for the token');
}
