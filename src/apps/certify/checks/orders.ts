/** Quotes that are taken: executed on chain, awarded, filled across chains, and resumed after a reconnect. */

import { setTimeout as sleep } from 'node:timers/promises';
import { outputHash } from '../../../domain/order.ts';
import type { Award } from '../../../protocol/link/link.ts';
import { openForCall, settleCall } from '../../../settlement/call.ts';
import { type CertifyContext, SMALL, type SizedPair } from '../context.ts';
import type { FoundQuote } from '../inspect.ts';
import { becomesTrue } from '../waiting.ts';
import { type CertifyTaker, chainIn } from '../world.ts';

/** How long the check watches a solver that must not fill yet. */
const TOO_EARLY_MS = 2_500;
/** The check waits for a fill until this long before its deadline. */
const FILL_SPARE_SECONDS = 5;
const NO_DEVNET = 'needs local chains: run without --venue';

/** A quote that this taker accepts, and the award of it. */
async function accepted(
  { asking }: CertifyContext,
  taker: CertifyTaker,
  sized: SizedPair,
): Promise<{ found: FoundQuote; award: Omit<Award, 'type'> } | undefined> {
  const found = await asking.quote(
    asking.request(sized.pair, 'exactInput', sized.give(SMALL), { taker: taker.address }),
  );
  if (found === undefined) return undefined;
  const { quote, order, id } = found;
  return {
    found,
    award: {
      orderId: id,
      quoteId: quote.quoteId,
      order: quote.order,
      ...taker.sign(order),
      commitment: quote.commitment,
      status: 'pending',
      stage: 'awaiting_escrow',
    },
  };
}

/** Executes a quote within one chain without telling the solver first, as anyone may. */
export async function checkBinding(context: CertifyContext, sized: SizedPair): Promise<void> {
  const { world, findings, venue, promises } = context;
  const { taker } = world;
  if (taker === undefined) return findings.skip('binding', NO_DEVNET);
  const trade = await accepted(context, taker, sized);
  if (trade === undefined) return findings.skip('binding', 'there is no quote that holds');
  const { found, award } = trade;
  const { chain, views } = chainIn(world, sized.pair.input);
  const { succeeded, txHash, blockNumber } = await taker.send(
    chain.id,
    settleCall(found.order, award.funding, award.quoteId, [award.commitment]),
  );
  const status = await views.orderStatus(found.id);
  if (!succeeded || status !== 'claimed')
    return findings.fail('binding', `the escrow refused to execute quote ${award.quoteId} (${txHash})`);
  promises.end(award.quoteId);
  findings.pass('binding', 'the escrow executed a quote, paid from the ledger balance of the account');
  venue.send({ type: 'award', ...award });
  venue.send({
    type: 'order',
    orderId: found.id,
    stage: 'settled',
    evidence: { chainId: chain.id, txHash, blockNumber: blockNumber.toString() },
  });
}

export interface UnseenOrder {
  found: FoundQuote;
  award: Omit<Award, 'type'>;
  sized: SizedPair;
}

/** Awards an order across chains, claims wrongly that its input is there, then puts it there. */
export async function checkDelivery(context: CertifyContext, sized: SizedPair): Promise<void> {
  const { world, findings, venue } = context;
  const { taker } = world;
  if (taker === undefined)
    return ['deposit', 'fill'].forEach((rule) => findings.skip(rule as 'fill', NO_DEVNET));
  const trade = await accepted(context, taker, sized);
  if (trade === undefined)
    return ['deposit', 'fill'].forEach((rule) =>
      findings.skip(rule as 'fill', 'there is no quote that holds'),
    );
  const { found, award } = trade;
  venue.send({ type: 'award', ...award });
  venue.send({ type: 'order', orderId: found.id, stage: 'escrowed', evidence: null });
  await sleep(TOO_EARLY_MS);
  if (await isFilled(context, found)) {
    findings.fail('deposit', 'the output was delivered before the input was in escrow');
    return findings.skip('fill', 'the output was delivered too early');
  }
  findings.pass('deposit', 'nothing was delivered while the input was not in escrow');
  if (await openOrder(context, taker, { found, award })) await judgeFill(context, 'fill', found);
  else findings.skip('fill', 'the taker could not open the order');
}

/** An order that the solver learns of only when it connects again. */
export async function openUnseen(
  context: CertifyContext,
  sized: SizedPair,
): Promise<UnseenOrder | undefined> {
  const { taker } = context.world;
  if (taker === undefined) return undefined;
  const trade = await accepted(context, taker, sized);
  if (trade === undefined || !(await openOrder(context, taker, trade, { tell: false }))) return undefined;
  return { ...trade, sized };
}

export async function checkResume(context: CertifyContext, order: UnseenOrder | undefined): Promise<void> {
  if (order === undefined)
    return context.findings.skip(
      'resume',
      context.world.taker === undefined ? NO_DEVNET : 'there is no quote across chains that holds',
    );
  if (context.findings.failed('resync'))
    return context.findings.skip('resume', 'the solver did not ask for its open orders');
  await judgeFill(context, 'resume', order.found);
}

async function openOrder(
  { world, venue }: CertifyContext,
  taker: CertifyTaker,
  { found, award }: Pick<UnseenOrder, 'found' | 'award'>,
  { tell = true } = {},
): Promise<boolean> {
  const { chain } = chainIn(world, found.rfq.input);
  const opened = await taker.send(chain.id, openForCall(found.order, award.funding));
  if (!opened.succeeded) return false;
  if (tell)
    venue.send({
      type: 'order',
      orderId: found.id,
      stage: 'escrowed',
      evidence: { chainId: chain.id, txHash: opened.txHash, blockNumber: opened.blockNumber.toString() },
    });
  return true;
}

async function judgeFill(context: CertifyContext, rule: 'fill' | 'resume', found: FoundQuote): Promise<void> {
  const { findings, venue, promises, fillMs } = context;
  const leftMs = (found.order.fillDeadline - FILL_SPARE_SECONDS) * 1_000 - Date.now();
  if (!(await becomesTrue(Math.min(leftMs, fillMs), () => isFilled(context, found))))
    return findings.fail(rule, `order ${found.id} was not delivered while its input was in escrow`);
  promises.end(found.quote.quoteId);
  findings.pass(
    rule,
    rule === 'fill'
      ? 'the output was delivered after the input was in escrow'
      : 'an order named only in the answer to resync was delivered',
  );
  venue.send({ type: 'order', orderId: found.id, stage: 'delivered', evidence: null });
}

async function isFilled({ world }: CertifyContext, { order, id, rfq }: FoundQuote): Promise<boolean> {
  const [output] = order.outputs;
  const { views } = chainIn(world, rfq.output);
  return output !== undefined && (await views.fillRecord(id, outputHash(output))) !== undefined;
}
