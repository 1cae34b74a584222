/** Parts of a large request: the ladder, slices that no solver may sign, and one that it may. */

import { setTimeout as sleep } from 'node:timers/promises';
import { systemRandom } from '../../../adapters/system/random.ts';
import { encodeContext } from '../../../domain/context.ts';
import { type Address, addressToBytes32, type Bytes32 } from '../../../domain/hex.ts';
import {
  type MandateOutput,
  nonceGroupOf,
  orderId,
  orderToMessage,
  type StandardOrder,
} from '../../../domain/order.ts';
import { type LinkPartial, recipientFor, type Rfq, type SliceRequest } from '../../../protocol/link/link.ts';
import type { CertifyContext, SizedPair } from '../context.ts';
import { commitmentFault } from '../inspect.ts';
import type { LinkAnswer } from '../venue.ts';
import { chainIn, tokenIn } from '../world.ts';

const BPS = 10_000n;
/** Times the balance: more than the account can pay alone. */
const TOO_MUCH = 2n;
const LATE_MS = 300;
const RULES_OF_SPLITS = ['ladder', 'slice', 'commit'] as const;

type SliceAnswer = Extract<LinkAnswer, { type: 'commit' | 'decline' }>;

export async function checkSplits(context: CertifyContext, sized: SizedPair): Promise<void> {
  const { findings, venue } = context;
  const first = await offered(context, sized);
  if (first === undefined) {
    for (const rule of RULES_OF_SPLITS) findings.skip(rule, 'the solver offers no parts');
    return;
  }
  const answers = new Map<Bytes32, (answer: SliceAnswer) => void>();
  venue.onAnswer((answer) => {
    if ((answer.type === 'commit' || answer.type === 'decline') && answer.quoteId !== undefined)
      answers.get(answer.quoteId)?.(answer);
  });
  const ask = (slice: SliceRequest) =>
    new Promise<SliceAnswer | undefined>((resolve) => {
      answers.set(slice.quoteId, resolve);
      venue.send(slice);
      void sleep(slice.deadlineMs + LATE_MS, undefined, { ref: false }).then(() => resolve(undefined));
    });
  const { rfq } = first;
  const plan = planSlice(context, sized, rfq, first.partial);
  if (plan === undefined) return findings.skip('slice', 'no size of the ladder is a share of the request');
  await Promise.all(
    UNFAIR.map(async ([says, change]) => {
      const answer = await ask(message(rfq, plan, change(plan.order)));
      if (answer?.type === 'commit')
        findings.fail('slice', `the solver committed to a slice although ${says}`);
      else findings.pass('slice', `${UNFAIR.length} unfair slices were not signed`);
    }),
  );
  // A solver may forget its ladders quickly.
  const second = await offered(context, sized);
  const good = second && planSlice(context, sized, second.rfq, second.partial);
  if (second === undefined || good === undefined)
    return findings.skip('commit', 'the solver offers no parts any more');
  const answer = await ask(message(second.rfq, good, good.order));
  if (answer?.type !== 'commit')
    return findings.skip(
      'commit',
      `the solver ${answer ? `declined its slice: ${answer.reason}` : 'did not answer its slice'}`,
    );
  judgeCommit(context, sized, second.rfq, good, answer);
}

/** A ladder for a request that is too large for the account. */
async function offered(
  context: CertifyContext,
  sized: SizedPair,
): Promise<{ rfq: Rfq; partial: LinkPartial } | undefined> {
  const { asking } = context;
  const amount = sized.give(1) * TOO_MUCH;
  const rfq = asking.request(sized.pair, 'exactInput', amount, { maxSplitParts: 4 });
  const { partial } = await asking.ask(rfq);
  if (partial === undefined) return undefined;
  checkLadder(context, partial);
  return { rfq, partial };
}

function checkLadder({ findings }: CertifyContext, { ladder }: LinkPartial): void {
  const rises = ladder.every(
    ([input, output], at) =>
      at === 0 ||
      (BigInt(input) > BigInt(ladder[at - 1]?.[0] ?? 0) &&
        BigInt(output) >= BigInt(ladder[at - 1]?.[1] ?? 0)),
  );
  if (rises) findings.pass('ladder', `${ladder.length} sizes that rise`);
  else findings.fail('ladder', 'the sizes of a partial do not rise');
}

interface PlannedSlice {
  order: StandardOrder;
  account: Address;
  operator: Address;
  validUntil: number;
  output: bigint;
}

/** The solver's output is the first; a stranger has the rest. undefined when the share rounds to nothing. */
function planSlice(
  { world, venue }: CertifyContext,
  { pair }: SizedPair,
  rfq: Rfq,
  { ladder, validUntil }: LinkPartial,
): PlannedSlice | undefined {
  const [origin, dest] = [chainIn(world, pair.input).chain, chainIn(world, pair.output).chain];
  const signer = venue.accountOn(origin.id);
  const [input, output] = (ladder[Math.floor(ladder.length / 2)] ?? ['0', '0']).map(BigInt) as [
    bigint,
    bigint,
  ];
  const whole = BigInt(rfq.amount);
  const portion = (input * BPS) / whole;
  if (signer === undefined || portion === 0n || portion >= BPS) return undefined;
  const share = (whole * portion) / BPS;
  const { skeleton } = rfq;
  const fillDeadline = validUntil + skeleton.landingMarginSeconds;
  const outputOf = (account: Address, portionBps: number, amount: bigint): MandateOutput => ({
    oracle: addressToBytes32(skeleton.outputOracle),
    settler: addressToBytes32(skeleton.settler),
    chainId: BigInt(dest.id),
    token: addressToBytes32(tokenIn(pair.output)),
    amount,
    ...recipientFor(rfq),
    context: encodeContext({
      exclusiveFor: account,
      startTime: fillDeadline + 1,
      portionBps,
      feeBps: rfq.platformFeeBps,
      relayFee: 0n,
    }),
  });
  // The ladder's price for the share, rounded in the solver's favour.
  const paid = (output * share * 999n) / (input * 1_000n);
  const stranger: Address = `0x${systemRandom.bytes32().slice(-40)}`;
  return {
    ...signer,
    validUntil,
    output: paid,
    order: {
      user: rfq.taker,
      nonce: BigInt(skeleton.nonce),
      originChainId: BigInt(origin.id),
      expires: fillDeadline + skeleton.proofWindowSeconds,
      fillDeadline,
      inputOracle: skeleton.inputOracle,
      inputs: [[BigInt(tokenIn(pair.input)), whole]],
      outputs: [
        outputOf(signer.account, Number(portion), paid),
        outputOf(stranger, Number(BPS - portion), (output * (whole - share)) / input),
      ],
    },
  };
}

function withFirst(
  order: StandardOrder,
  change: (output: MandateOutput) => Partial<MandateOutput>,
): StandardOrder {
  const [first, ...rest] = order.outputs as [MandateOutput, ...MandateOutput[]];
  return { ...order, outputs: [{ ...first, ...change(first) }, ...rest] };
}

/** The position of the input's share in a context, in hex digits. */
const SHARE_AT = 2 + 37 * 2;

const UNFAIR: readonly (readonly [string, (order: StandardOrder) => StandardOrder])[] = [
  ['its output is doubled', (order) => withFirst(order, ({ amount }) => ({ amount: amount * 2n }))],
  [
    'its share of the input is a ten-thousandth',
    (order) =>
      withFirst(order, ({ context }) => ({
        context:
          `${context.slice(0, SHARE_AT)}0001${context.slice(SHARE_AT + 4)}` as MandateOutput['context'],
      })),
  ],
  [
    'the oracle of its output is a stranger',
    (order) =>
      withFirst(order, () => ({ oracle: addressToBytes32(`0x${systemRandom.bytes32().slice(-40)}`) })),
  ],
  [
    'the input is another token',
    (order) => ({
      ...order,
      inputs: [[BigInt(`0x${systemRandom.bytes32().slice(-40)}`), order.inputs[0]?.[1] ?? 0n]],
    }),
  ],
];

const message = (rfq: Rfq, { validUntil }: PlannedSlice, order: StandardOrder): SliceRequest => ({
  type: 'slice',
  rfqId: rfq.rfqId,
  quoteId: systemRandom.bytes32(),
  order: orderToMessage(order) as SliceRequest['order'],
  outputIndex: 0,
  validUntil,
  deadlineMs: rfq.deadlineMs,
});

function judgeCommit(
  { world, findings, promises }: CertifyContext,
  { dest, token }: SizedPair,
  rfq: Rfq,
  { order, account, operator, output }: PlannedSlice,
  { quoteId, commitment }: Extract<SliceAnswer, { type: 'commit' }>,
): void {
  const { chain } = chainIn(world, rfq.input);
  const domain = { chainId: chain.id, escrow: chain.escrow };
  const fault = commitmentFault(domain, commitment, {
    account,
    operator,
    orderId: orderId(domain, order),
    quoteId,
    fillDeadline: order.fillDeadline,
  });
  if (fault) return findings.fail('commit', fault.seen);
  findings.pass('commit', 'the commitment is over the order of the slice');
  promises.add({
    quoteId,
    group: nonceGroupOf(chain.id, rfq.taker, rfq.skeleton.nonce),
    chainId: dest.chain.id,
    account,
    token,
    amount: output,
    until: order.fillDeadline,
  });
}
