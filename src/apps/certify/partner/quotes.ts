/** Prices: the fixed side, limits, validity, hours, the block that counts, and what may be promised. */

import type * as z from 'zod';
import type { PARTNER_OPERATIONS } from '../../../protocol/partner/messages.ts';
import { backing, tokenIn } from '../world.ts';
import { type AssetId, parseAssetId } from '../../../domain/asset.ts';
import { blockOf, type PartnerContext, quoteFields, type QuoteFields } from './context.ts';

type QuoteAnswer = z.output<(typeof PARTNER_OPERATIONS)['quote']['answer']>;

/** Share of the ledger balance that most requests ask for. */
const SMALL = 2_000n;
/** How many promises are asked for. Each takes a quarter of the balance, so the fifth is one too many. */
const PROMISES = 6n;
const QUARTER = 4n;

const priced = (answer: QuoteAnswer | undefined) => (answer && !('declined' in answer) ? answer : undefined);

interface Sized {
  /** What the partner's account holds of the output. */
  balance: bigint;
  /** A small amount of the output. */
  small: bigint;
}

/** undefined when the account has too little to trade with. */
export async function sizeOf({ dest, account, pair }: PartnerContext): Promise<Sized | undefined> {
  const balance = await backing(dest, account, tokenIn(pair.output as AssetId));
  return balance < SMALL ? undefined : { balance, small: balance / SMALL };
}

/** Checks that there is a price; returns false when there is none. */
export async function checkPrices(context: PartnerContext, { small }: Sized): Promise<boolean> {
  const { asking, findings, pair } = context;
  const fields = await quoteFields(context, 'exactOutput', small);
  const first = priced(await asking.ask('quote', fields));
  if (!first) {
    findings.fail('schema', `there is no price for ${small} of ${pair.output}`);
    return false;
  }
  judgeFixed(context, fields, first);
  const again = priced(await asking.ask('quote', fields));
  if (again?.amountIn === first.amountIn && again.amountOut === first.amountOut)
    findings.pass('same-price', 'the same request got the same amounts twice');
  else
    findings.fail(
      'same-price',
      `the same request got ${first.amountIn}, then ${again?.amountIn ?? 'nothing'}`,
    );

  const byInput = await quoteFields(context, 'exactInput', BigInt(first.amountIn));
  judgeFixed(context, byInput, priced(await asking.ask('quote', byInput)));
  await checkLimits(context);
  await checkTimes(context, small);
  return true;
}

function judgeFixed(
  { findings }: PartnerContext,
  { side, amount }: QuoteFields,
  quote: ReturnType<typeof priced>,
): void {
  if (!quote) return findings.fail('fixed-side', `there is no price for ${side} ${amount}`);
  const fixed = side === 'exactInput' ? quote.amountIn : quote.amountOut;
  if (fixed === amount) findings.pass('fixed-side', 'the fixed amounts were kept');
  else findings.fail('fixed-side', `${side} of ${amount} got ${fixed}`);
}

async function checkLimits(context: PartnerContext): Promise<void> {
  const { asking, findings, pair } = context;
  const [least, most] = [BigInt(pair.minAmountIn), BigInt(pair.maxAmountIn)];
  for (const amount of [...(least > 1n ? [least - 1n] : []), most + 1n]) {
    const quote = priced(await asking.ask('quote', await quoteFields(context, 'exactInput', amount)));
    if (quote) findings.fail('limits', `${amount} is outside ${least} to ${most}, and was quoted`);
    else findings.pass('limits', 'amounts outside the limits were declined');
  }
}

async function checkTimes(context: PartnerContext, small: bigint): Promise<void> {
  const { asking, findings, origin, terms } = context;
  const { timestamp } = await blockOf(origin);
  const within = async (validFrom: number, validTo: number) => {
    const fields = await quoteFields(context, 'exactOutput', small, { validFrom, validTo });
    const answer = await asking.ask('quote', fields);
    const quote = priced(answer);
    if (quote && (quote.validUntil < validFrom || quote.validUntil > validTo))
      findings.fail('validity', `valid until ${quote.validUntil}, asked for ${validFrom} to ${validTo}`);
    else if (quote) findings.pass('validity', 'each quote was valid within the requested seconds');
    return { answer, quote };
  };
  await within(timestamp + 120, timestamp + 125);
  await within(timestamp + 3, timestamp + 6);
  const open = terms.hours?.find(({ from, cutOff }) => from <= timestamp && timestamp <= cutOff);
  const last = terms.hours?.at(-1);
  if (!open || !last) return findings.skip('cut-off', 'the partner is always open, or closed now');
  const late = await within(open.cutOff - 5, open.cutOff + 600);
  const after = await within(last.cutOff + 1, last.cutOff + 600);
  if (late.quote && late.quote.validUntil > open.cutOff)
    findings.fail('cut-off', `a quote is valid ${late.quote.validUntil - open.cutOff} s after the cut-off`);
  else if (!after.answer || !('declined' in after.answer) || after.answer.declined !== 'closed')
    findings.fail('cut-off', 'a request for a time after the last cut-off was not answered with closed');
  else findings.pass('cut-off', 'no quote was valid after the cut-off');
}

/**
 * Names the last block before the account had its money: only a partner that reads another block has a price.
 */
export async function checkBlock(context: PartnerContext, { small }: Sized): Promise<void> {
  const { asking, findings } = context;
  const destBlock = await lastWithout(context);
  if (destBlock === undefined) return findings.skip('same-block', 'the account has always had its money');
  const fields = await quoteFields(context, 'exactOutput', small, { destBlock: destBlock.toString() });
  const answer = await asking.ask('quote', fields);
  if (answer && 'declined' in answer) findings.pass('same-block', 'no price at a block without its money');
  else findings.fail('same-block', 'there is a price at a block at which the account had nothing');
}

async function lastWithout({ dest, account, pair }: PartnerContext): Promise<bigint | undefined> {
  const has = (block: bigint) =>
    dest.views.ledgerBalance(account, tokenIn(pair.output as AssetId), block).then(
      (held) => held > 0n,
      () => false,
    );
  let [low, high] = [0n, (await blockOf(dest)).number];
  if (await has(low)) return undefined;
  while (high - low > 1n) {
    const middle = (low + high) / 2n;
    if (await has(middle)) high = middle;
    else low = middle;
  }
  return low === 0n ? undefined : low;
}

/** Asks for more than there is, and has it reserved. Comes last: the money stays reserved. */
export async function checkReserve(context: PartnerContext, { balance }: Sized): Promise<void> {
  const { asking, findings, origin } = context;
  let promised = 0n;
  for (let n = 0n; n < PROMISES; n++) {
    const fields = await quoteFields(context, 'exactOutput', balance / QUARTER);
    const quote = priced(await asking.ask('quote', fields));
    if (!quote) continue;
    const answer = await asking.ask('reserve', {
      quoteId: quote.quoteId,
      originChainId: origin.chain.id,
      nonce: (BigInt(fields.now) * 1_000n + n).toString(),
      fillDeadline: quote.validUntil + origin.chain.landingMarginSeconds,
    });
    if (answer?.reserved) promised += BigInt(quote.amountOut);
  }
  if (promised > balance)
    findings.fail('reserve', `${promised} is promised at one time; the account has ${balance}`);
  else if (promised === 0n) findings.skip('reserve', 'nothing of a quarter of the balance was reserved');
  else findings.pass('reserve', `${promised} of ${balance} was promised at one time, and no more`);
}

/** Both chains of the pair have the account that is asked for. */
export function accountOn({
  terms,
  pair,
}: Pick<PartnerContext, 'terms' | 'pair'>): `0x${string}` | undefined {
  const [from, to] = [pair.input, pair.output].map((asset) => {
    const chainId = parseAssetId(asset)?.chainId;
    return terms.accounts.find((each) => each.chainId === chainId)?.account;
  });
  return from !== undefined && from === to ? from : undefined;
}
