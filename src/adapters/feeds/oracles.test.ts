/**
 * Oracles on a real chain: an aggregator, an uptime feed, and the real Uniswap v3 core with liquidity and
 * trades.
 */

import { ETHER } from '../../domain/chain.ts';
import factoryArtifact from '@uniswap/v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json' with { type: 'json' };
import poolArtifact from '@uniswap/v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json' with { type: 'json' };
import {
  type Abi,
  decodeFunctionResult,
  encodeDeployData,
  encodeFunctionData,
  type EncodeDeployDataParameters,
} from 'viem';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startAnvil, type TestAnvil } from '../../../test/support/anvil.ts';
import { silentLog, silentMetrics } from '../../../test/support/silent.ts';
import type { Address, Hex } from '../../domain/hex.ts';
import type { Feed, FeedPrice, FeedTrouble, ReferencePrice, Sequencer } from '../../ports/feed.ts';
import { devAggregatorAbi } from '../evm/deploy/abi/dev-aggregator.ts';
import { devPoolTraderAbi } from '../evm/deploy/abi/dev-pool-trader.ts';
import { devTokenAbi } from '../evm/deploy/abi/dev-token.ts';
import { createChain, type EvmChain } from '../evm/chain/chain.ts';
import { systemClock } from '../system/clock.ts';
import { createChainlinkFeed } from './chainlink.ts';
import { createSequencer } from './sequencer.ts';
import { createUniswapV3TwapFeed } from './uniswap-v3-twap.ts';
import { creationCodeOf } from '../evm/deploy/creation-code.ts';

const NOBODY: Address = `0x${'9'.repeat(40)}`;
const poolAbi = poolArtifact.abi as Abi;
const factoryAbi = factoryArtifact.abi as Abi;

let anvil: TestAnvil;
let chain: EvmChain;
let sender: Address;
let aggregator: Address;

beforeAll(async () => {
  anvil = await startAnvil({ chainId: 8453 });
  [sender] = (await anvil.rpc<[Address]>('eth_accounts')) as [Address];
  const description = {
    id: 8453,
    slug: 'base',
    sandbox: true,
    escrow: NOBODY,
    oracle: NOBODY,
    permit2: NOBODY,
    depth: 1,
    blockTimeMs: 1_000,
    native: ETHER,
    tokens: [],
    landingMarginSeconds: 30,
    proofWindowSeconds: 60,
  };
  chain = createChain(description, {
    rpcUrls: [anvil.wsUrl],
    clock: systemClock,
    // The tests move chain time.
    maxClockSkewMs: 1e12,
    log: silentLog,
    metrics: silentMetrics,
  });
  await chain.start();
  aggregator = await create({
    abi: devAggregatorAbi,
    bytecode: creationCodeOf('devnet/DevAggregator'),
    args: ['ETH / USD', 8],
  });
}, 30_000);
afterAll(async () => {
  await chain.close();
  await anvil.stop();
});

const until = (check: () => void) => vi.waitFor(check, { timeout: 40_000, interval: 10 });

async function send(to: Address | null, data: Hex): Promise<{ contractAddress: Address }> {
  const hash = await anvil.rpc<Hex>('eth_sendTransaction', [
    { from: sender, ...(to && { to }), data, gas: '0xe4e1c0' },
  ]);
  const receipt = await vi.waitUntil(
    () => anvil.rpc<{ status: Hex; contractAddress: Address } | null>('eth_getTransactionReceipt', [hash]),
    { timeout: 40_000, interval: 10 },
  );
  if (receipt?.status !== '0x1') throw new Error('reverted');
  await caughtUp();
  return receipt;
}
/** Waits so that the next step sees everything that happened so far. */
async function caughtUp(): Promise<void> {
  const number = BigInt(await anvil.rpc<Hex>('eth_blockNumber'));
  await until(() => expect(chain.head()?.number).toBeGreaterThanOrEqual(number));
}
async function advance(seconds: number): Promise<void> {
  await anvil.advance(seconds);
  await caughtUp();
}
const create = async (parameters: EncodeDeployDataParameters) =>
  (await send(null, encodeDeployData(parameters))).contractAddress.toLowerCase() as Address;
const chainTime = async () =>
  Number((await anvil.rpc<{ timestamp: Hex }>('eth_getBlockByNumber', ['latest', false])).timestamp);
const push = (to: Address, answer: bigint) =>
  send(to, encodeFunctionData({ abi: devAggregatorAbi, functionName: 'push', args: [answer] }));
const setRound = (
  to: Address,
  args: [roundId: bigint, answer: bigint, startedAt: bigint, updatedAt: bigint, answeredInRound: bigint],
) => send(to, encodeFunctionData({ abi: devAggregatorAbi, functionName: 'setRound', args }));

let feed: Feed | undefined;
let quotes: FeedPrice[];
let references: ReferencePrice[];
let troubles: FeedTrouble[];
beforeEach(() => {
  [quotes, references, troubles] = [[], [], []];
});
afterEach(() => {
  feed?.stop();
  feed = undefined;
});
const listen = (started: Feed) => {
  feed = started;
  started.start({
    quote: (quote) => quotes.push(quote),
    reference: (reference) => references.push(reference),
    trouble: (trouble) => troubles.push(trouble),
  });
};

describe('Chainlink', () => {
  const follow = (sequencer?: Sequencer) =>
    listen(
      createChainlinkFeed(
        { clock: systemClock, chain, ...(sequencer && { sequencer }) },
        { source: 'chainlink', aggregators: { 'ETH/USD': aggregator } },
      ),
    );

  test("reads an answer with its decimals and its round's time, and again at the next head", async () => {
    await push(aggregator, 250_012_345_678n);
    const updatedAt = await chainTime();
    follow();
    await until(() =>
      expect(quotes.at(-1)).toEqual({
        source: 'chainlink',
        symbol: 'ETH/USD',
        bid: '2500.12345678',
        ask: '2500.12345678',
        exchangeTimeMs: updatedAt * 1_000,
        receivedMs: expect.any(Number),
        sequence: null,
      }),
    );
    await push(aggregator, 1n);
    await until(() => expect(quotes.at(-1)?.bid).toBe('0.00000001'));
    expect(troubles).toEqual([{ kind: 'connected' }]);
  });

  test('reads everything at one block', async () => {
    await push(aggregator, 100n);
    const [number] = [BigInt(await anvil.rpc<Hex>('eth_blockNumber'))];
    await push(aggregator, 200n);
    const answer = async (at?: bigint) =>
      decodeFunctionResult({
        abi: devAggregatorAbi,
        functionName: 'latestRoundData',
        data: (await chain.read(
          aggregator,
          encodeFunctionData({ abi: devAggregatorAbi, functionName: 'latestRoundData' }),
          at,
        )) as Hex,
      })[1];
    expect([await answer(number), await answer()]).toEqual([100n, 200n]);
  });

  test('refuses incomplete, negative, unanswered and future rounds', async () => {
    const now = BigInt(await chainTime());
    await setRound(aggregator, [10n, 0n, now, now, 10n]);
    follow();
    // At each block the round is refused again.
    const why = () =>
      troubles
        .flatMap((each) => (each.kind === 'refused' ? [each.why] : []))
        .filter((each, at, all) => each !== all[at - 1]);
    await until(() => expect(why()).toEqual(['empty']));
    await setRound(aggregator, [11n, -5n, now, now, 11n]);
    await anvil.mine(3);
    await setRound(aggregator, [12n, 5n, now, now, 11n]);
    await until(() => expect(why()).toEqual(['empty', 'out_of_order']));
    await setRound(aggregator, [13n, 5n, now, now + 1_000n, 13n]);
    await until(() => expect(why()).toEqual(['empty', 'out_of_order', 'future']));
    await setRound(aggregator, [14n, 5n, now, 0n, 14n]);
    await until(() => expect(why()).toEqual(['empty', 'out_of_order', 'future', 'empty']));
    expect(quotes).toEqual([]);
    await push(aggregator, 7n);
    await until(() => expect(quotes.at(-1)?.bid).toBe('0.00000007'));
  });

  test('logs an address without an aggregator for the operator to correct', async () => {
    listen(
      createChainlinkFeed(
        { clock: systemClock, chain },
        { source: 'chainlink', aggregators: { 'ETH/USD': NOBODY } },
      ),
    );
    await until(() =>
      expect(troubles).toContainEqual({
        kind: 'rejected',
        symbol: 'ETH/USD',
        detail: `${NOBODY} on base is no aggregator`,
      }),
    );
  });

  test('while its sequencer is not known to be up, a chain has no prices', async () => {
    let up = false;
    const sequencer: Sequencer = {
      chainId: 8453,
      state: () => (up ? { up, sinceMs: 0 } : { up: false, sinceMs: 0, detail: 'down' }),
      start() {},
      stop() {},
    };
    await push(aggregator, 5n);
    follow(sequencer);
    await until(() => expect(troubles).toContainEqual({ kind: 'refused', why: 'closed', symbol: 'ETH/USD' }));
    expect(quotes).toEqual([]);
    up = true;
    await anvil.mine();
    await until(() => expect(quotes.at(-1)?.bid).toBe('0.00000005'));
  });
});

describe("a rollup's sequencer", () => {
  const GRACE = 3_600;
  let sequencer: Sequencer | undefined;
  afterEach(() => sequencer?.stop());
  const watch = (address: Address, maxAgeMs = 60_000) => {
    sequencer = createSequencer({ clock: systemClock, chain }, { address, graceSeconds: GRACE, maxAgeMs });
    expect(sequencer.state()).toMatchObject({
      up: false,
      detail: expect.stringContaining('not been read yet'),
    });
    sequencer.start();
    return sequencer;
  };
  const deploy = () =>
    create({
      abi: devAggregatorAbi,
      bytecode: creationCodeOf('devnet/DevAggregator'),
      args: ['L2 Sequencer Uptime Status Feed', 0],
    });

  test('silent, down, back, and up after the grace period', async () => {
    const uptime = await deploy();
    const watched = watch(uptime);
    await until(() =>
      expect(watched.state()).toMatchObject({
        up: false,
        detail: 'the uptime feed of its sequencer has no answer yet',
      }),
    );
    await push(uptime, 1n);
    const downAt = await chainTime();
    await until(() =>
      expect(watched.state()).toEqual({
        up: false,
        sinceMs: downAt * 1_000,
        detail: `its sequencer is down since ${new Date(downAt * 1_000).toISOString()}`,
      }),
    );
    await advance(600);
    await push(uptime, 0n);
    await until(() =>
      expect(watched.state()).toMatchObject({
        up: false,
        detail: expect.stringMatching(/^its sequencer came back \d s ago: quoting resumes after 3600 s$/),
      }),
    );
    await advance(GRACE - 60);
    await until(() =>
      expect(watched.state()).toMatchObject({ up: false, detail: expect.stringContaining('came back 35') }),
    );
    await advance(61);
    await until(() => expect(watched.state()).toMatchObject({ up: true }));
  });

  test('a reading grows stale, and an address without a feed counts as down', async () => {
    const uptime = await deploy();
    await push(uptime, 0n);
    await advance(GRACE + 1);
    const watched = watch(uptime, 200);
    await until(() => expect(watched.state()).toMatchObject({ up: true }));
    await until(() =>
      expect(watched.state()).toMatchObject({
        up: false,
        detail: expect.stringContaining('could not be read'),
      }),
    );
    watched.stop();
    const empty = watch(NOBODY);
    await until(() =>
      expect(empty.state()).toMatchObject({ up: false, detail: `${NOBODY} is no uptime feed` }),
    );
  });
});

describe('Uniswap v3', () => {
  let [weth, usdc, pool, trader]: Address[] = [];
  let wethFirst: boolean;
  const view = async (functionName: string) =>
    decodeFunctionResult({
      abi: poolAbi,
      functionName,
      data: (await chain.read(pool as Address, encodeFunctionData({ abi: poolAbi, functionName }))) as Hex,
    }) as readonly unknown[];
  const tick = async () => Number((await view('slot0'))[1]);
  const priceAt = (at: number) => (wethFirst ? 1.0001 ** at * 1e12 : (1 / 1.0001 ** at) * 1e12);

  beforeAll(async () => {
    weth = await create({
      abi: devTokenAbi,
      bytecode: creationCodeOf('devnet/DevToken'),
      args: ['Wrapped Ether', 'WETH', 18],
    });
    usdc = await create({
      abi: devTokenAbi,
      bytecode: creationCodeOf('devnet/DevToken'),
      args: ['USD Coin', 'USDC', 6],
    });
    trader = await create({ abi: devPoolTraderAbi, bytecode: creationCodeOf('devnet/DevPoolTrader') });
    wethFirst = BigInt(weth) < BigInt(usdc);
    const factory = await create({ abi: factoryAbi, bytecode: factoryArtifact.bytecode as Hex });
    await send(
      factory,
      encodeFunctionData({ abi: factoryAbi, functionName: 'createPool', args: [weth, usdc, 3_000] }),
    );
    const found = await chain.read(
      factory,
      encodeFunctionData({ abi: factoryAbi, functionName: 'getPool', args: [weth, usdc, 3_000] }),
    );
    pool = `0x${(found as Hex).slice(26)}`;
    for (const token of [weth, usdc])
      await send(
        token,
        encodeFunctionData({ abi: devTokenAbi, functionName: 'mint', args: [trader, 10n ** 30n] }),
      );
    // token1 for token0 in base units: 2500e6 / 1e18, or the other way round.
    const root = BigInt(Math.round(Math.sqrt(wethFirst ? 2_500e-12 : 1 / 2_500e-12) * 2 ** 40)) << 56n;
    await send(pool, encodeFunctionData({ abi: poolAbi, functionName: 'initialize', args: [root] }));
    await send(
      pool,
      encodeFunctionData({ abi: poolAbi, functionName: 'increaseObservationCardinalityNext', args: [20] }),
    );
    await send(
      trader,
      encodeFunctionData({
        abi: devPoolTraderAbi,
        functionName: 'mint',
        args: [pool, -887_220, 887_220, 10n ** 16n],
      }),
    );
  }, 30_000);

  const buyWeth = (usd: bigint) =>
    send(
      trader as Address,
      encodeFunctionData({
        abi: devPoolTraderAbi,
        functionName: 'swap',
        args: [pool as Address, !wethFirst, usd * 10n ** 6n, wethFirst ? 1n << 159n : 4_295_128_740n],
      }),
    );
  const follow = (pools: Parameters<typeof createUniswapV3TwapFeed>[1]['pools']) =>
    listen(createUniswapV3TwapFeed({ clock: systemClock, chain }, { source: 'uniswap', pools }));

  test('the mean lags behind a trade: 100 s before and 20 s after it weigh by their duration', async () => {
    await advance(200);
    const before = await tick();
    expect(priceAt(before)).toBeCloseTo(2_500, 0);
    await buyWeth(20_000_000n);
    const tradedAt = await chainTime();
    const after = await tick();
    await advance(20);
    const seconds = (await chainTime()) - tradedAt;
    const mean = Math.floor((before * (120 - seconds) + after * seconds) / 120);
    expect(priceAt(after)).toBeGreaterThan(2_600);

    follow({
      'WETH/USDC': { address: pool as Address, base: weth as Address, windowSeconds: 120 },
      'USDC/WETH': { address: pool as Address, base: usdc as Address, windowSeconds: 120 },
    });
    await until(() =>
      expect(new Set(references.map(({ symbol }) => symbol))).toEqual(new Set(['USDC/WETH', 'WETH/USDC'])),
    );
    const said = Number(references.find(({ symbol }) => symbol === 'WETH/USDC')?.price);
    expect(said / priceAt(mean)).toBeCloseTo(1, 9);
    expect(said).toBeLessThan(priceAt(after) * 0.99);
    expect(Number(references.find(({ symbol }) => symbol === 'USDC/WETH')?.price) * said).toBeCloseTo(1, 9);
    expect(references[0]?.atMs).toBeLessThanOrEqual(Date.now());
    // Never a price to quote from, whatever happens.
    expect(quotes).toEqual([]);
  });

  test('a pool with too little history, a token it does not have, and no pool', async () => {
    follow({
      long: { address: pool as Address, base: weth as Address, windowSeconds: 1_000_000 },
      stranger: { address: pool as Address, base: NOBODY, windowSeconds: 60 },
      nothing: { address: NOBODY, base: weth as Address, windowSeconds: 60 },
    });
    await until(() => expect(troubles.filter(({ kind }) => kind === 'rejected')).toHaveLength(3));
    const details = Object.fromEntries(
      troubles.flatMap((each) => (each.kind === 'rejected' ? [[each.symbol, each.detail]] : [])),
    );
    expect(details).toEqual({
      long: expect.stringContaining('stores less than 1000000 s'),
      stranger: `${pool} on base is no pool of ${NOBODY}`,
      nothing: `${NOBODY} on base is no pool of ${weth}`,
    });
    expect(references).toEqual([]);
  });
});

test('logs once that a chain is unreachable, and once that it is back', async () => {
  const other = await startAnvil({ chainId: 8453 });
  const lonely = createChain(chain.chain, {
    rpcUrls: [other.url],
    clock: systemClock,
    log: silentLog,
    metrics: silentMetrics,
    timeoutMs: 300,
  });
  await lonely.start();
  let fail = false;
  const port = {
    ...lonely,
    read: (...args: Parameters<typeof lonely.read>) =>
      fail ? Promise.reject(new Error('gone')) : lonely.read(...args),
  };
  listen(createChainlinkFeed({ clock: systemClock, chain: port }, { source: 'chainlink', aggregators: {} }));
  await until(() => expect(troubles).toEqual([{ kind: 'connected' }]));
  feed?.stop();
  troubles.length = 0;
  listen(
    createChainlinkFeed(
      { clock: systemClock, chain: port },
      { source: 'chainlink', aggregators: { 'ETH/USD': NOBODY } },
    ),
  );
  await until(() => expect(troubles.map(({ kind }) => kind)).toEqual(['rejected', 'connected']));
  fail = true;
  await other.mine(2);
  await until(() =>
    expect(troubles.map(({ kind }) => kind)).toEqual(['rejected', 'connected', 'disconnected']),
  );
  fail = false;
  await other.mine();
  await until(() =>
    expect(troubles.map(({ kind }) => kind)).toEqual(['rejected', 'connected', 'disconnected', 'connected']),
  );
  feed?.stop();
  await lonely.close();
  await other.stop();
});
