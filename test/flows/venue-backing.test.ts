/**
 * A venue takes and submits no quote that outlives what stands behind it: the LP's money in the ledger, and
 * across chains the bond that it demands.
 */

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assetId } from '../../src/domain/asset.ts';
import type { ChainPort } from '../../src/ports/chain.ts';
import { postBondCall } from '../../src/settlement/bond-call.ts';
import { account, type TestAccount, type TestChain } from '../support/devnet.ts';
import { signPlan } from '../support/taker.ts';
import { type Json, startTestVenue, type TestVenue } from '../support/venue.ts';

const WETH_OUT = 400_000_000_000_000_000n;
const USDC_IN = 1_000_000_000n;
const BOND = 100_000_000n;
/** The escrow's delay on these chains. */
const WITHDRAWAL_SECONDS = 900;
/** The shortest that a bond contract of that escrow may have. */
const TAKE_BACK_SECONDS = WITHDRAWAL_SECONDS + 1;
const SOLVER = 41;
const [ORIGIN, DEST] = [31_461, 31_462];

let v: TestVenue;
let origin: TestChain;
let dest: TestChain;
let key: string;
let taker: TestAccount;
let lp: Awaited<ReturnType<TestVenue['solver']>>;
/** The time of the latest block that the venue sees on each chain. */
const blockTime = new Map<number, number>();
/** The fill deadline that the solver signs. */
let fillDeadline = 0;

/** The chain as the venue sees it: the blocks' time stands still, so that a second is a second. */
const frozen = (port: ChainPort): ChainPort => ({
  ...port,
  head() {
    const head = port.head();
    return head && { ...head, timestamp: blockTime.get(port.chain.id) ?? head.timestamp };
  },
  bondTakeBackDelay: async () => TAKE_BACK_SECONDS,
});

beforeAll(async () => {
  v = await startTestVenue({
    chainIds: [ORIGIN, DEST],
    minBond: { USDC: '100' },
    seen: frozen,
    // A quote that is refused on purpose opens no breaker here.
    breaker: { limit: 1_000 },
  });
  [origin, dest] = v.devnet.chains as [TestChain, TestChain];
  key = await v.key('service');
  taker = account(7_700);
  await origin.fund(taker.address, 10_000n);
  // Before the solver connects, so that the venue knows the bond from the start.
  const { address } = account(1_000 + SOLVER);
  const { quoteBond } = origin.deployment;
  await origin.fund(address, 1_000n);
  await origin.approve(address, origin.usdc.address, quoteBond, BOND);
  await origin.send(address, quoteBond, postBondCall(address, origin.usdc.address, BOND));
  lp = await v.solver(SOLVER, (rfq, make) =>
    make.quote(
      rfq,
      { output: rfq.output === assetOf(dest, 'usdc') ? USDC_IN : WETH_OUT },
      { now: fillDeadline - rfq.skeleton.landingMarginSeconds, validSeconds: 0 },
    ),
  );
});
afterAll(() => v.stop());

const assetOf = (chain: TestChain, token: 'usdc' | 'weth') =>
  assetId({ chainId: chain.chain.id, token: chain[token].address });
/** A time at which the longest lawful quote is not yet above the venue's own maximum of ten minutes. */
const someBlock = (): number => Math.floor(Date.now() / 1_000) - 400;

const ask = (there: TestChain, more: object = {}) =>
  v.call('POST', '/api/v1/rfq/quotes', {
    key,
    body: {
      taker: taker.address,
      input: { asset: assetOf(origin, 'usdc'), amount: USDC_IN.toString() },
      output: { asset: assetOf(there, 'weth') },
      ...more,
    },
  });
const quotes = async (there: TestChain) => (await ask(there)).json['quotes'] as unknown as Json[];
const preflight = (quoteResponse: Json) =>
  v.call('POST', '/api/v1/rfq/orders/preflight', { key, body: { quoteResponse } });
const refusal = ({ status, json }: { status: number; json: Json }) => [
  status,
  json['detail']?.[0]?.['type'],
  json['detail']?.[0]?.['loc'],
];
const REFUSED = [422, 'quote_expired', ['body', 'quoteResponse', 'order']];

interface Case {
  name: string;
  there: () => TestChain;
  /** The chain on which what stands behind the quote could leave. */
  chainId: number;
  /** The latest fill deadline, in seconds after that chain's latest block. */
  most: number;
}
const CASES: Case[] = [
  { name: "the LP's money, on one chain", there: () => origin, chainId: ORIGIN, most: WITHDRAWAL_SECONDS },
  {
    name: "the LP's money, on the chain that pays",
    there: () => dest,
    chainId: DEST,
    most: WITHDRAWAL_SECONDS,
  },
  {
    name: 'the demanded bond, which has to be there after the refund',
    there: () => dest,
    chainId: ORIGIN,
    // The proof window is 60 s on these chains.
    most: TAKE_BACK_SECONDS - 1 - 60,
  },
];

describe.each(CASES)('$name', ({ there, chainId, most }) => {
  function atBlock(time: number): void {
    for (const id of [ORIGIN, DEST]) blockTime.set(id, time + (id === chainId ? 0 : 300));
  }

  test('a quote that could outlive it is refused, and the solver is told; one second less is taken', async () => {
    const now = someBlock();
    atBlock(now);
    fillDeadline = now + most + 1;
    expect(await quotes(there())).toEqual([]);
    const { quoteId } = lp.said.findLast(({ type }) => type === 'quote') as { quoteId: string };
    const { code, message } = await lp.next('rejected', (each) => each.quoteId === quoteId);
    expect(code).toBe('times');
    expect(message).toContain('WITHDRAWAL_DELAY');
    expect(message).toContain('TAKE_BACK_DELAY');
    fillDeadline = now + most;
    expect(await quotes(there())).toHaveLength(1);
  });

  test('preflight and submission refuse it by what they see, and take it at the boundary', async () => {
    const now = someBlock();
    atBlock(now);
    fillDeadline = now + most;
    const [quote] = (await quotes(there())) as [Json];
    const plan = await preflight(quote);
    expect(plan.status).toBe(200);
    const body = await signPlan(taker, quote, plan.json);
    const submit = () => v.call('POST', '/api/v1/rfq/orders', { key, body });
    atBlock(now - 1);
    expect(refusal(await preflight(quote))).toEqual(REFUSED);
    expect(refusal(await submit())).toEqual(REFUSED);
    atBlock(now);
    expect((await preflight(quote)).status).toBe(200);
    expect((await submit()).status).toBe(200);
  });

  test('a taker who asks for more is told so, and no solver is asked', async () => {
    const now = someBlock();
    atBlock(now);
    const landing = origin.chain.landingMarginSeconds;
    const heard = () => lp.received.filter(({ type }) => type === 'rfq').length;
    const before = heard();
    const { json } = await ask(there(), { minValidUntil: now + most - landing + 1 });
    expect(json['productUnavailable']?.['code']).toBe('validity_unavailable');
    expect(json['productUnavailable']?.['message']).toContain(String(now + most - landing));
    expect(heard()).toBe(before);
  });
});

test('a bond that nobody demands limits no quote', async () => {
  const now = someBlock();
  for (const id of [ORIGIN, DEST]) blockTime.set(id, now);
  fillDeadline = now + WITHDRAWAL_SECONDS;
  const { json } = await ask(dest, {
    input: { asset: assetOf(origin, 'weth'), amount: WETH_OUT.toString() },
    output: { asset: assetOf(dest, 'usdc') },
  });
  expect(json['quotes']).toHaveLength(1);
});
