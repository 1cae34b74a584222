/**
 * Direct DEX liquidity on a real chain: what was quoted is what arrives, to the unit; and what happens when
 * the pools move.
 */

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { DexKind } from '../../src/adapters/dex/pools.ts';
import type { TokenInfo } from '../../src/domain/chain.ts';
import { isDecline } from '../../src/domain/decline.ts';
import type { Address, Hex } from '../../src/domain/hex.ts';
import { orderId as orderIdOf } from '../../src/domain/order.ts';
import type { Receipt } from '../../src/ports/chain.ts';
import type { RouteAsk, RouteQuote, RouteVenue } from '../../src/ports/route-venue.ts';
import { openForCall, settleThroughCall } from '../../src/settlement/call.ts';
import { decodeRevert } from '../../src/settlement/revert.ts';
import { routeFees } from '../../src/venue/router/route-fees.ts';
import { routeOrder } from '../../src/venue/router/route-order.ts';
import { account, type Devnet, startDevnet, type TestAccount, type TestChain } from '../support/devnet.ts';
import { startDex, type TestDex } from '../support/dex.ts';
import { fund, random32 } from '../support/trade.ts';

const FEE_BPS = 7;
const relayFee = (gas: bigint): bigint => gas / 1_000n;
const KINDS: readonly DexKind[] = ['constant_product', 'concentrated'];

let devnet: Devnet;
let chain: TestChain;
let third: TokenInfo;
let dex: TestDex;
let taker: TestAccount;
let takers = 8_100;
const relayer = account(8_050);

beforeAll(async () => {
  devnet = await startDevnet([31_441], { landingMarginSeconds: 20, moreTokens: 2 });
  [chain] = devnet.chains as [TestChain];
  third = chain.deployment.tokens[2] as TokenInfo;
  const fourth = chain.deployment.tokens[3] as TokenInfo;
  const [par, eth] = [2_500_000n, 1_000n];
  const pools = [null, 3_000, 500].flatMap((fee) => [
    {
      tokens: [chain.usdc.address, chain.weth.address] as const,
      fee,
      amounts: [par * 10n ** 6n, eth * 10n ** 18n] as const,
    },
    {
      tokens: [chain.weth.address, third.address] as const,
      fee,
      amounts: [eth * 10n ** 18n, par * 10n ** 18n] as const,
    },
    {
      tokens: [third.address, fourth.address] as const,
      fee,
      amounts: [par * 10n ** 18n, par * 10n ** 18n] as const,
    },
  ]);
  // The direct way to the third token is dear.
  const dear = [null, 10_000].map((fee) => ({
    tokens: [chain.usdc.address, third.address] as const,
    fee,
    amounts: [100_000n * 10n ** 6n, 90_000n * 10n ** 18n] as const,
  }));
  dex = await startDex(chain, [...pools, ...dear]);
  await chain.fund(relayer.address, 0n);
});
afterAll(() => devnet.stop());
beforeEach(async () => {
  taker = account(takers++);
  await chain.fund(taker.address, 100_000n);
});

async function ask(outputToken: TokenInfo, change: Partial<RouteAsk> = {}): Promise<RouteAsk> {
  const block = await chain.anvil.rpc<{ number: string; hash: Hex; timestamp: string }>(
    'eth_getBlockByNumber',
    ['latest', false],
  );
  const at = { number: BigInt(block.number), hash: block.hash, timestamp: Number(block.timestamp) };
  return {
    origin: chain.chain,
    dest: chain.chain,
    inputToken: chain.usdc,
    outputToken,
    side: 'exactInput',
    amount: 1_000_000_000n,
    taker: taker.address,
    receiver: account(8_060).address,
    at: { origin: at, dest: at },
    validity: { from: at.timestamp + 1, to: at.timestamp + 60 },
    fees: routeFees(FEE_BPS, relayFee),
    signal: new AbortController().signal,
    ...change,
  };
}

async function quoted(venue: RouteVenue, request: RouteAsk): Promise<RouteQuote> {
  const answer = await venue.quote(request);
  if (isDecline(answer)) throw new Error(`declined: ${answer.declined} ${answer.detail ?? ''}`);
  return answer;
}

type Through = Extract<RouteQuote['execution'], { kind: 'through' }>;

function signed(request: RouteAsk, quote: RouteQuote) {
  const { filler, data, gas } = quote.execution as Through;
  const order = routeOrder({
    settlement: 'wallet',
    ...request,
    nonce: BigInt(random32()),
    platformFeeBps: FEE_BPS,
    relayFee: relayFee(gas),
    landingMarginSeconds: chain.chain.landingMarginSeconds,
    quote,
  });
  const { funding } = fund(chain, taker, order, 'eip3009');
  return {
    order,
    funding,
    call: settleThroughCall(order, funding, filler, data),
    land: () =>
      chain.send(relayer.address, chain.chain.escrow, settleThroughCall(order, funding, filler, data)),
  };
}

const held = (owner: Address, { address }: TokenInfo) => chain.port.tokenBalance(owner, address);

interface Frame {
  to: Address;
  gasUsed: Hex;
  calls?: Frame[];
}
/** What the filler itself used of the transaction, from the node's own trace. */
async function gasOf(txHash: Hex, filler: Address): Promise<bigint> {
  const frame = await chain.anvil.rpc<Frame>('debug_traceTransaction', [txHash, { tracer: 'callTracer' }]);
  const own = frame.calls?.find(({ to }) => to.toLowerCase() === filler);
  if (!own) throw new Error('the filler was not called');
  return BigInt(own.gasUsed);
}

describe.each(KINDS)('%s', (kind) => {
  test('the quoted amount arrives to the unit, and the gas was shown', async () => {
    for (const outputToken of [chain.weth, third, chain.deployment.tokens[3] as TokenInfo]) {
      // Pairs and pools write down how long a price stood: dearest when time has passed.
      await chain.anvil.advance(5);
      const request = await ask(outputToken);
      const quote = await quoted(dex.venue(kind), request);
      const before = await held(request.receiver, outputToken);
      const { filler, data, gas } = quote.execution as Through;
      // In millionths of what goes into each pool, as the path names it; each step rounds up.
      const goesIn = [
        request.fees.handedOver(quote.inputAmount, gas),
        ...quote.via.map(({ amount }) => amount),
      ];
      const rateOf = (hop: number) =>
        kind === 'concentrated' ? BigInt(`0x${data.slice(42 + 46 * hop, 48 + 46 * hop)}`) : 3_000n;
      expect(quote.fees).toHaveLength(goesIn.length);
      quote.fees.forEach((fee, hop) => {
        const beyond = (fee?.amount ?? 0n) - ((goesIn[hop] as bigint) * rateOf(hop)) / 1_000_000n;
        expect(fee?.in).toBe('input');
        expect(beyond >= 0n && beyond <= 4n, `${beyond}`).toBe(true);
      });
      const used = await gasOf(await signed(request, quote).land(), filler);
      expect((await held(request.receiver, outputToken)) - before).toBe(quote.outputAmount);
      expect(used).toBeLessThanOrEqual(gas);
      expect(used * 3n).toBeGreaterThan(gas);
    }
  });

  test('a tolerance lowers the guaranteed amount, not the delivered one', async () => {
    const request = await ask(chain.weth);
    const [strict, lenient] = [
      await quoted(dex.venue(kind), request),
      await quoted(dex.venue(kind, { toleranceBps: 30 }), request),
    ];
    expect(lenient.outputAmount).toBe(strict.outputAmount);
    expect(lenient.minimumOutput).toBe((strict.outputAmount * 9_970n + 9_999n) / 10_000n);
    const before = await held(request.receiver, chain.weth);
    const { order, land } = signed(request, lenient);
    const { blockNumber } = (await chain.port.receipt(await land())) as Receipt;
    expect((await held(request.receiver, chain.weth)) - before).toBe(strict.outputAmount);
    const surplus = await chain.port.surplus(
      (lenient.execution as Through).filler,
      orderIdOf({ chainId: chain.chain.id, escrow: chain.chain.escrow }, order),
      blockNumber,
    );
    expect(surplus).toBe(strict.outputAmount - lenient.minimumOutput);
  });

  test('exact output takes the least input, with room for the tolerance', async () => {
    const wanted = 3n * 10n ** 17n;
    const request = await ask(chain.weth, { side: 'exactOutput', amount: wanted });
    const quote = await quoted(dex.venue(kind), request);
    const less = await quoted(dex.venue(kind), {
      ...request,
      side: 'exactInput',
      amount: quote.inputAmount - 1n,
    });
    expect(less.outputAmount).toBeLessThanOrEqual(wanted);
    const lenient = await quoted(dex.venue(kind, { toleranceBps: 100 }), request);
    expect(lenient.inputAmount).toBeGreaterThan(quote.inputAmount);
    const before = await held(request.receiver, chain.weth);
    await signed(request, quote).land();
    const got = (await held(request.receiver, chain.weth)) - before;
    expect(got).toBeGreaterThanOrEqual(wanted);
    // One unit of USDC is worth 4e8 of it.
    expect(got - wanted).toBeLessThan(10n ** 9n);
  });

  test('uses the better route and names its pools', async () => {
    const small = await quoted(dex.venue(kind), await ask(third));
    expect(small.via.map(({ token }) => token)).toEqual([chain.weth.address]);
    const venue = dex.venue(kind);
    expect((small.execution as Through).data).toContain(chain.weth.address.slice(2));
    // Nothing leads back, out of the list, or further than three pools.
    const pair = (from: Address, to: Address) => ({
      input: { chainId: chain.chain.id, token: from },
      output: { chainId: chain.chain.id, token: to },
    });
    expect(venue.serves(pair(chain.usdc.address, (chain.deployment.tokens[3] as TokenInfo).address))).toBe(
      true,
    );
    expect(venue.serves(pair(chain.usdc.address, chain.usdc.address))).toBe(false);
    expect(venue.serves(pair(chain.usdc.address, relayer.address))).toBe(false);
  });

  test('pools that moved cost nothing, and the same order settles when they return', async () => {
    const request = await ask(chain.weth);
    const { order, call, land } = signed(request, await quoted(dex.venue(kind), request));
    const id = orderIdOf({ chainId: chain.chain.id, escrow: chain.chain.escrow }, order);
    const before = await held(taker.address, chain.usdc);
    const pools = dex.listed.flatMap(({ fee, tokens }, index) =>
      (fee === null) === (kind === 'constant_product') &&
      tokens[0] === chain.usdc.address &&
      tokens[1] === chain.weth.address
        ? [index]
        : [],
    );
    for (const pool of pools) await dex.trade(pool, chain.usdc.address, 20_000_000_000n);
    const refused = await chain.port.simulate({ from: relayer.address, to: chain.chain.escrow, data: call });
    expect(refused.ok ? undefined : decodeRevert(refused.data).name).toBe('BelowFloor');
    await expect(land()).rejects.toThrow('reverted');
    expect([await held(taker.address, chain.usdc), await chain.port.orderStatus(id)]).toEqual([
      before,
      'none',
    ]);
    for (const pool of pools) await dex.trade(pool, chain.weth.address, 9n * 10n ** 18n);
    await land();
    expect([await held(taker.address, chain.usdc), await chain.port.orderStatus(id)]).toEqual([
      before - request.amount,
      'claimed',
    ]);
  });

  test('a third party cannot lock the input by opening the order', async () => {
    const request = await ask(chain.weth);
    const { order, funding, land } = signed(request, await quoted(dex.venue(kind), request));
    const opened = await chain.port.simulate({
      from: relayer.address,
      to: chain.chain.escrow,
      data: openForCall(order, funding),
    });
    expect(opened.ok ? undefined : decodeRevert(opened.data).name).toBe('ProofWindowTooShort');
    await land();
  });

  test('pools are read once per block, however many requests need them', async () => {
    let reads = 0;
    let blocks = 0;
    const port = {
      ...chain.port,
      read: (...question: Parameters<typeof chain.port.read>) => ((reads += 1), chain.port.read(...question)),
      block: (number: bigint) => ((blocks += 1), chain.port.block(number)),
    };
    const { factory, filler } = kind === 'constant_product' ? dex.constantProduct : dex.concentrated;
    const pools = dex.listed.flatMap(({ tokens, fee }) =>
      (fee === null) === (kind === 'constant_product') ? [{ tokens, fee }] : [],
    );
    const venue = dex.venue(kind, { places: [{ chain: port, factory, filler, pools }] });
    const request = await ask(third);
    const answers = await Promise.all(Array.from({ length: 20 }, () => quoted(venue, request)));
    const [readsOfOne, blocksOfOne] = [reads, blocks];
    expect(new Set(answers.map(({ outputAmount }) => outputAmount)).size).toBe(1);
    await quoted(venue, { ...request, amount: request.amount / 2n });
    expect([reads, blocks]).toEqual([readsOfOne, blocksOfOne]);
    expect(blocks).toBe(1);
    await chain.anvil.mine();
    await quoted(venue, await ask(third));
    // Places, spacings and ticks are known by now.
    expect(reads - readsOfOne).toBeLessThan(readsOfOne);
  });

  test('a replaced block is not used for prices', async () => {
    const venue = dex.venue(kind);
    const snapshot = await chain.anvil.rpc('evm_snapshot');
    await dex.trade(
      dex.listed.findIndex(({ fee }) => (fee === null) === (kind === 'constant_product')),
      chain.weth.address,
      10n ** 18n,
    );
    const request = await ask(chain.weth);
    await chain.anvil.rpc('evm_revert', [snapshot]);
    await chain.anvil.advance(77);
    await chain.anvil.mine(3);
    expect(await venue.quote(request)).toMatchObject({ declined: 'stale_price' });
    // And is not remembered as anything.
    expect(isDecline(await venue.quote(await ask(chain.weth)))).toBe(false);
  });

  test('a configured pool that does not exist is skipped', async () => {
    const { factory, filler } = kind === 'constant_product' ? dex.constantProduct : dex.concentrated;
    const fee = kind === 'constant_product' ? null : 3_000;
    const nowhere = { tokens: [chain.usdc.address, relayer.address] as const, fee };
    const venue = dex.venue(kind, {
      places: [
        {
          chain: chain.port,
          factory,
          filler,
          pools: [nowhere, { tokens: [chain.usdc.address, chain.weth.address], fee }],
        },
      ],
    });
    expect(isDecline(await venue.quote(await ask(chain.weth)))).toBe(false);
    expect(await venue.quote(await ask({ ...third, address: relayer.address }))).toMatchObject({
      declined: 'pair',
    });
  });
});
