/**
 * An LP and its venue, at the link: promises that verify, money that is never promised twice, and reasons
 * when there is no quote.
 */

import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRecovery } from '../../src/adapters/secp256k1/recovery.ts';
import { commitmentDigest } from '../../src/domain/commitment.ts';
import { decodeContext } from '../../src/domain/context.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import { orderId } from '../../src/domain/order.ts';
import type { LpNode } from '../../src/lp/node/interface.ts';
import type { LinkQuote } from '../../src/protocol/link/link.ts';
import { linkProofDigest } from '../../src/protocol/link/link-proof.ts';
import { orderFromMessage } from '../../src/protocol/wire.ts';
import { account, type TestChain } from '../support/devnet.ts';
import { startOneChainLp } from '../support/one-chain-lp.ts';
import { random32, request, type ScriptedVenue } from '../support/scripted-venue.ts';

const owner = account(21);
const operator = account(22);
const taker = account(23);
const USDC = 1_000_000n;
const WETH = 10n ** 18n;
const recovery = createRecovery();

let chain: TestChain;
let venue: ScriptedVenue;
let lp: LpNode;
let stop: () => Promise<void>;

beforeAll(async () => {
  ({ chain, venue, lp, stop } = await startOneChainLp({
    chainId: 41_001,
    devnet: { blockTimeSeconds: 1 },
    owner,
    operator,
    usdc: 100_000n * USDC,
    weth: 40n * WETH,
    schema: 'lp_quotes',
    config: {
      pricing: { calibration: { exploreShare: 1 } },
      prices: {
        USD: { fixed: '1' },
        ETH: { sources: [{ feed: 'constant', symbol: 'ETHUSD' }], maxAgeMs: 10_000 },
      },
    },
  }));
}, 60_000);

afterAll(() => stop?.());

const sell = (amount: bigint, rest: object = {}) =>
  request({
    from: chain.chain,
    to: chain.chain,
    give: chain.weth,
    take: chain.usdc,
    amount,
    taker: taker.address,
    ...rest,
  });
const buy = (amount: bigint, rest: object = {}) =>
  request({
    from: chain.chain,
    to: chain.chain,
    give: chain.usdc,
    take: chain.weth,
    amount,
    taker: taker.address,
    ...rest,
  });
const bucket = (symbol: 'usdc' | 'weth') =>
  lp.inventory().find(({ token }) => token === chain[symbol].address);

function signerOf({ order, quoteId, commitment }: LinkQuote) {
  const domain = { chainId: chain.chain.id, escrow: chain.chain.escrow };
  return recovery.recover(
    commitmentDigest(domain, {
      orderId: orderId(domain, orderFromMessage(order)),
      quoteId,
      lp: commitment.lp,
      deadline: commitment.deadline,
    }),
    commitment.signature,
  );
}

test('the LP connects with its key and proves its operator for the account on every chain', async () => {
  const hello = await venue.hello();
  expect(venue.keys[0]).toBe('fq_test_solver');
  expect(hello.corridors).toEqual(['chain1-chain1']);
  expect(hello.accounts.map(({ account: of, operator: by }) => [of, by])).toEqual([
    [owner.address, operator.address],
  ]);
  // The proof was over a nonce that only the server knows; any other recovers somebody else.
  const wrong = recovery.recover(
    linkProofDigest(
      { chainId: chain.chain.id, escrow: chain.chain.escrow },
      { nonce: random32(), venueId: 'scripted', solverId: 'lp-a', account: owner.address },
    ),
    hello.accounts[0]?.signature ?? '0x',
  );
  expect(wrong).not.toBe(operator.address);
  expect(venue.broken).toEqual([]);
});

test("a quote is a signed order around the LP's output, below mid, and the output is held", async () => {
  const before = bucket('usdc')?.free ?? 0n;
  const rfq = sell(2n * WETH, { relayFee: '1000000000000' });
  const quote = await venue.ask(rfq);
  if (quote.type !== 'quote') throw new Error(`no quote: ${JSON.stringify(quote)}`);
  const order = orderFromMessage(quote.order);
  const [output] = order.outputs;
  expect(signerOf(quote)).toBe(operator.address);
  expect(order.inputs).toEqual([[BigInt(chain.weth.address), 2n * WETH]]);
  expect(decodeContext(output?.context ?? '0x')).toEqual({
    exclusiveFor: owner.address,
    startTime: order.fillDeadline + 1,
    portionBps: 10_000,
    feeBps: 2,
    relayFee: 1_000_000_000_000n,
  });
  expect([order.fillDeadline - quote.validUntil, order.expires - order.fillDeadline]).toEqual([
    rfq.skeleton.landingMarginSeconds,
    rfq.skeleton.proofWindowSeconds,
  ]);
  expect(order.nonce.toString()).toBe(rfq.skeleton.nonce);
  const amount = output?.amount ?? 0n;
  expect(amount).toBeLessThan(5_000n * USDC - (5_000n * USDC * 2n) / 10_000n);
  expect(amount).toBeGreaterThan(4_900n * USDC);
  expect(bucket('usdc')?.free).toBe(before - amount);
  expect(quote.lpSpreadBps).toBeGreaterThan(0);
});

test('a ledger delivery is written as requested, and refused for any other receiver', async () => {
  const { skeleton } = sell(WETH);
  const to = (delivery: { recipient: Address; callbackData: Hex }) =>
    venue.ask(sell(WETH, { skeleton: { ...skeleton, nonce: BigInt(random32()).toString(), delivery } }));
  const { escrow } = chain.chain;
  const delivery = { recipient: escrow, callbackData: `0x0101${taker.address.slice(2)}` as Hex };
  const quote = await to(delivery);
  if (quote.type !== 'quote') throw new Error(`no quote: ${JSON.stringify(quote)}`);
  expect(orderFromMessage(quote.order).outputs).toMatchObject([
    { recipient: word(escrow), settler: word(escrow), callbackData: delivery.callbackData },
  ]);
  expect(signerOf(quote)).toBe(operator.address);
  const others = [
    { ...delivery, callbackData: `0x0101${owner.address.slice(2)}` as Hex },
    { ...delivery, callbackData: '0x' as Hex },
    { ...delivery, callbackData: `0x0201${taker.address.slice(2)}` as Hex },
    { recipient: owner.address, callbackData: '0x' as Hex },
    { recipient: taker.address, callbackData: '0x01' as Hex },
  ];
  for (const other of others)
    expect(await to(other), JSON.stringify(other)).toMatchObject({ type: 'decline', reason: 'pair' });
});

test('one request, two tenors: the shorter one pays more, and one nonce covers both', async () => {
  const before = bucket('usdc')?.held ?? 0n;
  const answers = await venue.askAll(sell(3n * WETH));
  const quotes = answers.filter((answer) => answer.type === 'quote');
  expect(quotes.map(({ more }) => more)).toEqual([true, false]);
  const [short, long] = quotes as [LinkQuote, LinkQuote];
  expect(long.validUntil - short.validUntil).toBe(5);
  expect(new Set(quotes.map(({ order }) => order.nonce)).size).toBe(1);
  expect(new Set(quotes.map(({ quoteId }) => quoteId)).size).toBe(2);
  for (const quote of quotes) {
    expect(signerOf(quote)).toBe(operator.address);
    expect(quote.commitment.deadline - quote.validUntil).toBe(chain.chain.landingMarginSeconds);
  }
  const outputs = quotes.map(({ order }) => BigInt(order.outputs[0]?.amount ?? 0)) as [bigint, bigint];
  expect(outputs[0]).toBeGreaterThan(outputs[1]);
  expect((bucket('usdc')?.held ?? 0n) - before).toBe(outputs[0]);
  // A floor above the shorter time is the first price itself; one above both leaves one.
  const now = Math.floor(Date.now() / 1000);
  const floored = (await venue.askAll(sell(WETH, { minValidUntil: now + 40 }))).map((answer) =>
    answer.type === 'quote' ? answer.validUntil : answer.type,
  );
  expect(floored).toEqual([now + 40]);
});

test('exact output: the taker gets the exact amount', async () => {
  const quote = await venue.ask(buy(1n * WETH, { side: 'exactOutput' }));
  if (quote.type !== 'quote') throw new Error(`no quote: ${JSON.stringify(quote)}`);
  expect(quote.order.outputs[0]?.amount).toBe(WETH.toString());
  expect(BigInt(quote.order.inputs[0]?.[1] ?? 0)).toBeGreaterThan(2_500n * USDC);
});

test('a taker that takes every live quote is paid: holds never exceed the balance', async () => {
  const answers = await Promise.all(Array.from({ length: 60 }, () => venue.ask(buy(5_000n * USDC))));
  const quotes = answers.filter((answer) => answer.type === 'quote');
  const promised = quotes.reduce((sum, { order }) => sum + BigInt(order.outputs[0]?.amount ?? 0), 0n);
  const declines = answers.filter((answer) => answer.type === 'decline');
  expect(quotes.length + declines.length).toBe(60);
  // A busy machine makes the LP decline some unread: those say nothing of its inventory.
  const read = declines.filter(({ code }) => code !== 'late' && code !== 'busy');
  expect(new Set(read.map(({ reason }) => reason))).toEqual(new Set(['no_inventory']));
  expect(promised).toBeLessThanOrEqual(await chain.port.ledgerBalance(owner.address, chain.weth.address));
  expect(quotes.length).toBeGreaterThan(15);
  expect(bucket('weth')?.held).toBeGreaterThanOrEqual(promised);
  // The last declines say what would still have fitted, in the taker's unit.
  const most = read.at(-1)?.maxAmount;
  expect(BigInt(most ?? -1)).toBeLessThan(5_000n * USDC);
});

test('an amount that is too large is offered in part, and a slice of exactly that part is signed', async () => {
  const rfq = sell(60n * WETH, { maxSplitParts: 4 });
  const partial = await venue.ask(rfq);
  if (partial.type !== 'partial') throw new Error(`no ladder: ${JSON.stringify(partial)}`);
  const [input, output] = (partial.ladder[1] as [string, string]).map(BigInt) as [bigint, bigint];
  const portionBps = Number((input * 10_000n) / (60n * WETH));
  const portion = (60n * WETH * BigInt(portionBps)) / 10_000n;
  const ours = (output * portion) / input;
  const other = account(29).address;
  const fillDeadline = partial.validUntil + rfq.skeleton.landingMarginSeconds;
  const slice = (amount: bigint, share = portionBps) => {
    const output1 = (exclusiveFor: string, bps: number, value: bigint) => ({
      oracle: word(rfq.skeleton.outputOracle),
      settler: word(rfq.skeleton.settler),
      chainId: String(chain.chain.id),
      token: word(chain.usdc.address),
      amount: value.toString(),
      recipient: word(taker.address),
      callbackData: '0x' as const,
      context:
        `0xe2${word(exclusiveFor).slice(2)}${(fillDeadline + 1).toString(16).padStart(8, '0')}${bps.toString(16).padStart(4, '0')}0002${'0'.repeat(32)}` as const,
    });
    return {
      type: 'slice' as const,
      rfqId: rfq.rfqId,
      quoteId: random32(),
      outputIndex: 0,
      validUntil: partial.validUntil,
      deadlineMs: 500,
      order: {
        user: taker.address,
        nonce: rfq.skeleton.nonce,
        originChainId: String(chain.chain.id),
        expires: fillDeadline + rfq.skeleton.proofWindowSeconds,
        fillDeadline,
        inputOracle: rfq.skeleton.inputOracle,
        inputs: [[BigInt(chain.weth.address).toString(), (60n * WETH).toString()] as [string, string]],
        outputs: [output1(owner.address, share, amount), output1(other, 10_000 - share, 7n * USDC)],
      },
    };
  };
  const ask = (message: ReturnType<typeof slice>) => {
    venue.send(message);
    return venue.answerTo(rfq.rfqId);
  };
  const elsewhere = slice(ours);
  expect(
    await ask({
      ...elsewhere,
      order: {
        ...elsewhere.order,
        outputs: elsewhere.order.outputs.map((each) => ({
          ...each,
          recipient: each.settler,
          callbackData: `0x0100${taker.address.slice(2)}` as '0x',
        })),
      },
    }),
  ).toMatchObject({ type: 'decline', reason: 'internal' });
  const greedy = await ask(slice(ours + ours / 100n));
  expect(greedy).toMatchObject({ type: 'decline', reason: 'internal' });
  const good = slice(ours);
  const commit = await ask(good);
  if (commit.type !== 'commit') throw new Error(`no commitment: ${JSON.stringify(commit)}`);
  const domain = { chainId: chain.chain.id, escrow: chain.chain.escrow };
  const digest = commitmentDigest(domain, {
    orderId: orderId(domain, orderFromMessage(good.order)),
    quoteId: good.quoteId,
    lp: owner.address,
    deadline: fillDeadline,
  });
  expect(recovery.recover(digest, commit.commitment.signature)).toBe(operator.address);
});

test('reasons: unknown pair, wrong escrow, validity too long, amount too small', async () => {
  const reason = async (rfq: ReturnType<typeof sell>) => {
    const answer = await venue.ask(rfq);
    return answer.type === 'decline' ? answer.reason : answer.type;
  };
  const rfq = sell(WETH / 10n);
  expect(await reason({ ...rfq, rfqId: 'a', input: rfq.output })).toBe('pair');
  expect(await reason({ ...rfq, rfqId: 'b', skeleton: { ...rfq.skeleton, settler: taker.address } })).toBe(
    'pair',
  );
  expect(await reason({ ...rfq, rfqId: 'c', minValidUntil: Math.floor(Date.now() / 1000) + 4_000 })).toBe(
    'validity',
  );
  expect(await reason({ ...rfq, rfqId: 'd', amount: '1' })).toBe('size_below_min');
  // The least amount that it names passes, one clearly smaller does not; the same where the output is fixed.
  for (const side of ['exactInput', 'exactOutput'] as const) {
    const relayFee = (WETH / 100n).toString();
    const at = (amount: string, n = 0) =>
      venue.ask({ ...rfq, rfqId: `d-${side}-${amount}-${n}`, side, relayFee, amount });
    const small = await at('1');
    expect(small).toMatchObject({ type: 'decline', reason: 'size_below_min', maxAmount: null });
    const least = BigInt((small as { minAmount?: string }).minAmount ?? 0);
    // Exploration, which here moves every price by a basis point up or down, does not move this bound.
    for (let n = 0; n < 5; n += 1) expect(await at(least.toString(), n)).toMatchObject({ type: 'quote' });
    expect(await at(((least * 9n) / 10n).toString())).toMatchObject({ reason: 'size_below_min' });
  }
  expect(await reason({ ...rfq, rfqId: 'e', minValidUntil: Math.floor(Date.now() / 1000) + 40 })).toBe(
    'quote',
  );
});

test('the kill switch: nothing more is signed, and the venue is notified', async () => {
  lp.pause('operator said so');
  expect(await venue.ask(sell(WETH / 10n))).toMatchObject({ type: 'decline', reason: 'standby' });
  await venue.until(({ status, note }) => status === 'standby' && note?.startsWith('paused: ') === true);
  expect(lp.status().note).toContain('operator said so');
  lp.resume();
  await venue.until(({ status }) => status === 'active');
  expect(await venue.ask(sell(WETH / 10n))).toMatchObject({ type: 'quote' });
});

test('the link reconnects and asks for awards it missed', async () => {
  const before = venue.resyncs;
  venue.drop();
  while (venue.resyncs === before) await new Promise((resolve) => setTimeout(resolve, 20));
  expect(await venue.ask(sell(WETH / 10n))).toMatchObject({ type: 'quote' });
});

const word = (address: string) => `0x${'0'.repeat(24)}${address.slice(2)}` as const;
