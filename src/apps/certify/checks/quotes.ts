/** Requests that a venue makes, and requests that no solver may sign. */

import { systemRandom } from '../../../adapters/system/random.ts';
import { recipientOf } from '../../../domain/delivery.ts';
import type { Address } from '../../../domain/hex.ts';
import type { Rfq } from '../../../protocol/link/link.ts';
import type { CertifyContext, SizedPair } from '../context.ts';
import { SMALL } from '../context.ts';
import type { FoundQuote } from '../inspect.ts';
import type { RuleId } from '../rules.ts';
import { chainIn, chainTime, isWithin } from '../world.ts';

/** Platform fee in ten-thousandths, and the share of the input that the relay fee is. */
const FEES = [
  [100, 10n],
  [50, 100n],
] as const;
/** A price may move between two requests by this, in ten-thousandths. */
const MOVED_BPS = 30n;
const LONG_SECONDS = 120;
const FOREVER_SECONDS = 86_400;

/** Sends every kind of request that the page describes, for one pair. */
export async function checkQuotes(context: CertifyContext, sized: SizedPair): Promise<void> {
  const { asking, findings } = context;
  const { pair, dest } = sized;
  const input = sized.give(SMALL);
  const ask = (more: Partial<Rfq> = {}) => asking.request(pair, 'exactInput', input, more);
  const plain = await asking.quote(ask());
  const now = await chainTime(dest);
  await asking.ask(ask({ minValidUntil: now + LONG_SECONDS }));
  await asking.ask(ask({ executionMode: 'walletBroadcast' }));
  const base = ask();
  const delivery = recipientOf({ settlement: 'ledger', account: base.receiver }, dest.chain.escrow);
  const recipient: Address = `0x${delivery.recipient.slice(-40)}`;
  const delivered = await asking.ask({
    ...base,
    skeleton: { ...base.skeleton, delivery: { recipient, callbackData: delivery.callbackData } },
  });
  if (delivered.signed.length === 0)
    findings.skip('delivery', 'the solver declines delivery into the ledger');
  await checkFees(context, sized, plain);
  // More fees than input: the escrow refuses such an order.
  await asking.ask(ask({ relayFee: (2n * input).toString() }));
  const tooLong = await asking.ask(ask({ minValidUntil: now + FOREVER_SECONDS }), { unlawful: true });
  if (tooLong.signed.length > 0)
    findings.fail('validity', 'a quote was signed that stays firm for a day, beyond any venue’s maximum');
}

/** A solver may decline fees that are out of proportion, so smaller ones are tried too. */
async function checkFees(
  { asking, findings }: CertifyContext,
  { pair, give }: SizedPair,
  plain: FoundQuote | undefined,
): Promise<void> {
  const input = give(SMALL);
  if (plain === undefined) return findings.skip('fees', 'there is no quote that holds');
  for (const [platformFeeBps, share] of FEES) {
    const relayFee = input / share;
    const fees = { platformFeeBps, relayFee: relayFee.toString() };
    const charged = await asking.quote(asking.request(pair, 'exactInput', input, fees));
    if (charged === undefined) continue;
    const left = input - (input * BigInt(platformFeeBps)) / 10_000n - relayFee;
    const most = (plain.output * left * (10_000n + MOVED_BPS)) / (input * 10_000n);
    return charged.output <= most
      ? findings.pass('fees', 'a request with higher fees was priced lower')
      : findings.fail(
          'fees',
          `for an input of ${input} the output is ${plain.output}, and still ${charged.output} when fees take ${input - left} of it`,
        );
  }
  findings.skip('fees', 'the solver declines requests with higher fees');
}

/** A frame of an unknown type must change nothing. */
export async function checkUnknownType(
  { asking, findings, venue }: CertifyContext,
  sized: SizedPair,
): Promise<void> {
  const before = venue.opened.length;
  venue.sendText(JSON.stringify({ type: 'weather', degrees: 21, of: [{ city: 'Basel' }] }));
  const { signed, decline } = await asking.ask(asking.request(sized.pair, 'exactInput', sized.give(SMALL)), {
    overload: true,
  });
  const works = (signed.length > 0 || decline !== undefined) && venue.opened.length === before;
  if (works) findings.pass('unknown-types', 'the solver went on after a frame of an unknown type');
  else findings.fail('unknown-types', 'after a frame of an unknown type the solver does not answer any more');
}

interface Unlawful {
  rule: RuleId;
  says: string;
  change(skeleton: Rfq['skeleton']): Partial<Rfq['skeleton']>;
}

const stranger = (): Address => `0x${systemRandom.bytes32().slice(-40)}`;

const FOREIGN: readonly Unlawful[] = [
  { rule: 'skeleton', says: 'inputOracle is a stranger', change: () => ({ inputOracle: stranger() }) },
  { rule: 'skeleton', says: 'outputOracle is a stranger', change: () => ({ outputOracle: stranger() }) },
  {
    rule: 'skeleton',
    says: 'both oracles are one stranger',
    change: () => {
      const oracle = stranger();
      return { inputOracle: oracle, outputOracle: oracle };
    },
  },
  { rule: 'skeleton', says: 'settler is a stranger', change: () => ({ settler: stranger() }) },
  {
    rule: 'skeleton',
    says: 'originChainId is not the chain of the input',
    change: ({ originChainId }) => ({ originChainId: originChainId + 1 }),
  },
];
const WITHIN: readonly Unlawful[] = [
  ...FOREIGN,
  {
    rule: 'window',
    says: 'proofWindowSeconds is 120 within one chain',
    change: () => ({ proofWindowSeconds: 120 }),
  },
];

/** No request here may be signed. */
export async function checkSkeletons(
  { asking, findings, world }: CertifyContext,
  sizes: readonly SizedPair[],
): Promise<void> {
  const variants = sizes.flatMap((sized) => {
    const { oracle } = chainIn(world, sized.pair.input).chain;
    const onlyWithin: readonly Unlawful[] = [
      ...WITHIN,
      {
        rule: 'skeleton',
        says: 'the oracles within one chain are not the escrow',
        change: () => ({ inputOracle: oracle, outputOracle: oracle }),
      },
    ];
    return (isWithin(sized.pair) ? onlyWithin : FOREIGN).map((variant) => ({ sized, ...variant }));
  });
  await Promise.all(
    variants.map(async ({ sized, rule, says, change }) => {
      const base = asking.request(sized.pair, 'exactInput', sized.give(SMALL));
      const rfq = { ...base, skeleton: { ...base.skeleton, ...change(base.skeleton) } };
      const { signed } = await asking.ask(rfq, { unlawful: true });
      if (signed.length > 0) findings.fail(rule, `a quote was signed although ${says}`);
      else if (rule === 'skeleton')
        findings.pass(rule, `${variants.length} foreign skeletons were not signed`);
    }),
  );
}
